"""One quantity of the points of a sweep against another, and the front of those than which no other is better in both."""

import matplotlib.pyplot as pyplot

from . import style
from .points import TIME, front
from .scale import MOST_TICKS, Scale, free_scale, named, unit_of

MOST_NAMES = 12
NAME_LENGTH = 60


def draw(points, x, y=TIME):
    """None when fewer than two points have both, or all the same x."""
    rows = points.frame[points.done].dropna(subset=[x, y])
    if rows[x].nunique() < 2:
        return None
    (x_unit, x_size), (y_unit, y_size) = (unit_of(points.units[name], rows[name].abs().max()) for name in (x, y))
    xs, ys = rows[x].to_numpy(dtype=float) / x_size, rows[y].to_numpy(dtype=float) / y_size
    more_x, more_y = points.more_is_better(x), points.more_is_better(y)
    missing = len(points.frame) - len(rows)
    best = front(xs, ys, more_x, more_y)

    figure, (axes, names) = pyplot.subplots(1, 2, figsize=(11, 5), width_ratios=[1.5, 1], layout="constrained")
    style.title(figure, f"{named(y).capitalize()} against {named(x)}: {points.title}")
    axes.scatter(xs, ys, s=20, color="#B0B0B0", label=f"{len(rows):,} points" + (f", {missing:,} more have no time" if missing else ""))
    axes.plot(xs[best], ys[best], "-o", drawstyle="steps-post", color="#D55E00", markersize=6,
              label=f"front: {'high' if more_y else 'low'} {named(y)}, {'high' if more_x else 'low'} {named(x)}")
    for number, index in enumerate(best[:MOST_NAMES], 1):
        axes.annotate(f"{number}", (xs[index], ys[index]), xytext=(5, 5), textcoords="offset points", fontsize=9,
                      color="#D55E00")
    _scale_x(axes, rows, x, xs, points.units[x])
    free_scale(axes, "y", ys)
    axes.set_xlabel(named(x) + (f" in {x_unit}" if x_unit else ""))
    axes.set_ylabel(named(y) + (f" in {y_unit}" if y_unit else ""))
    axes.grid(color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=2)
    _list(names, [_name(rows.iloc[index]) for index in best])
    return figure


def _scale_x(axes, rows, x, xs, units):
    """Of a few whole numbers, such as devices, each has its tick."""
    scale = Scale(rows, x, units)
    if units == "1" and len(scale.values) <= MOST_TICKS and rows[x].dtype.kind == "i":
        scale.apply(axes, "x")
    else:
        free_scale(axes, "x", xs)


def _name(row):
    text = f"{row['point']}: {row['name']}" if "point" in row and "name" in row else f"row {row.name}"
    return text if len(text) <= NAME_LENGTH else text[:NAME_LENGTH - 3] + "..."


def _list(axes, names):
    """What the points of the front are, by the numbers that stand at them."""
    axes.axis("off")
    axes.set_title("On the front")
    lines = [f"{number}   {name}" for number, name in enumerate(names[:MOST_NAMES], 1)]
    if len(names) > MOST_NAMES:
        lines.append(f"and {len(names) - MOST_NAMES} more")
    axes.text(0, 0.97, "\n".join(lines), va="top", fontsize=8, linespacing=1.6, wrap=True)
