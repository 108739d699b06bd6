"""One quantity of the points of a sweep against another, and the front of those than which no other is better in both."""

import matplotlib.pyplot as pyplot

from . import style
from .points import TIME, front
from .scale import MOST_TICKS, Scale, free_scale, named, unit_of

MOST_NAMES = 12


def draw(points, x, y=TIME):
    """None when fewer than two points have both, or all the same x."""
    rows = points.frame[points.known(x) & points.known(y)]
    if rows[x].nunique() < 2:
        return None
    (x_unit, x_size), (y_unit, y_size) = (unit_of(points.units[name], rows[name].abs().max()) for name in (x, y))
    xs, ys = rows[x].to_numpy(dtype=float) / x_size, rows[y].to_numpy(dtype=float) / y_size
    more_x, more_y = points.more_is_better(x), points.more_is_better(y)
    best = front(xs, ys, more_x, more_y)

    figure, axes = pyplot.subplots(figsize=style.size(8, 5.2), layout="constrained")
    style.title(figure, f"{style.sentence(named(y))} against {named(x)}: {points.title}")
    axes.scatter(xs, ys, s=20, color="#B0B0B0", label=f"{len(rows):,} points")
    axes.plot(xs[best], ys[best], "-o", drawstyle="steps-post", color="#D55E00", markersize=6,
              label=f"front ({'high' if more_y else 'low'} {named(y)}, {'high' if more_x else 'low'} {named(x)})")
    for number, index in enumerate(best[:MOST_NAMES], 1):
        axes.annotate(f"{number}", (xs[index], ys[index]), xytext=(5, 5), textcoords="offset points", fontsize=style.points(9),
                      color="#D55E00")
    _scale_x(axes, rows, x, xs, points.units[x])
    free_scale(axes, "y", ys)
    axes.set_xlabel(named(x) + (f" in {x_unit}" if x_unit else ""))
    axes.set_ylabel(named(y) + (f" in {y_unit}" if y_unit else ""))
    axes.grid(color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=1 if style.is_narrow(figure) else 2)
    style.note(figure, "\n".join([*_list(_names(points, rows.iloc[best])), *_missing(points, points.frame.drop(rows.index))]))
    return figure


def _missing(points, others):
    """What the points are that have no place in the picture."""
    may_run = points.may_run[others.index]
    parts = [f"{count:,} {words}" for count, words in ((may_run.sum(), "not simulated"), ((~may_run).sum(), "that cannot be carried out")) if count]
    return ["not drawn: " + ", ".join(parts)] if parts else []


def _scale_x(axes, rows, x, xs, units):
    """Of a few whole numbers, such as devices, each has its tick."""
    scale = Scale(rows, x, units)
    if units == "1" and len(scale.values) <= MOST_TICKS and rows[x].dtype.kind == "i":
        scale.apply(axes, "x")
    else:
        free_scale(axes, "x", xs)


def _names(points, rows):
    """What the points are: of the axes those that differ among them, since the others tell nothing apart."""
    axes = [name for name in points.axes["column"] if name in rows and rows[name].nunique() > 1]
    scales = [Scale(rows, name, points.units[name]) for name in axes]
    if not axes:
        return [row["name"] if "name" in row else f"row {row.name}" for _, row in rows.iterrows()]
    return [", ".join(scale.name(row[scale.column]) for scale in scales) for _, row in rows.iterrows()]


def _list(names):
    """What the points of the front are, by the numbers that stand at them."""
    lines = [f"{number}: {name}" for number, name in enumerate(names[:MOST_NAMES], 1)]
    return lines + ([f"and {len(names) - MOST_NAMES} more on the front"] if len(names) > MOST_NAMES else [])
