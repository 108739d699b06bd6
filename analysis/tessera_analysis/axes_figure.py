"""What the axes of a sweep do: a curve of one, a heat map of two, small multiples of three."""

import matplotlib.pyplot as pyplot
import pandas

from . import absent, style
from .cells import Cells, finish
from .points import TIME
from .scale import Scale, Value, free_scale, named

MOST_PANELS = 12


def draw(points, value=TIME):
    """None when no axis has more than one value, or nothing has a value."""
    varied = points.varied
    if not varied or not points.known(value).any():
        return None
    draw_them = _curve if len(varied) == 1 else _map if len(varied) == 2 else _multiples
    return draw_them(points, value, varied)


def _best_over(hidden):
    """What the axes are that a figure has no place for."""
    if not hidden:
        return ""
    return f", best over {' and '.join(named(name) for name in hidden)}" if len(hidden) <= 2 else f", best over {len(hidden)} other axes"


def _heading(figure, points, value, hidden):
    style.title(figure, f"{style.sentence(named(value.column))}{_best_over(hidden)}: {points.title}")


def _curve(points, column, varied):
    value, scale = Value(points, column), Scale(points.frame, varied[0], points.units[varied[0]])
    rows = points.frame[value.known]
    figure, axes = pyplot.subplots(figsize=style.size(8, 4.6), layout="constrained")
    _heading(figure, points, value, [])
    best = pandas.Series({each: value.best(of_value) for each, of_value in rows.groupby(varied[0], sort=False)})
    best = best.reindex(scale.values)  # the curve has a gap where nothing is done
    axes.plot(scale.place(best.index), best, "o" if scale.is_text else "-o", color="#0072B2", zorder=3)
    others = points.frame[points.frame[varied[0]].isin(best.index[best.isna()])]
    absents = {each: absent.judge(points, alike, column) for each, alike in others.groupby(varied[0], sort=False)}
    free_scale(axes, "y", [*best.dropna(), *(each.least / value.size for each in absents.values() if each.least)])
    if axes.get_yscale() == "linear":
        axes.set_ylim(0, 1.08 * max(best.max(), *(each.least / value.size for each in absents.values()), 0))
    scale.apply(axes, "x")
    axes.set_ylabel(value.label)
    axes.grid(color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    for place, each in zip(scale.place(list(absents)), absents.values()):
        _mark(axes, place, each, value)
    absent.say_below(figure, points, absents.values(), lambda each: "triangles" if each.least else "crosses", "point")
    return figure


def _mark(axes, place, each, value):
    """Of a point without a value: a triangle at the time that it takes at least, or a cross, and why, on the ground."""
    if each.least:
        axes.plot([place], [each.least / value.size], "^", color=absent.NOT_SIMULATED, markerfacecolor="none", zorder=3)
        return
    axes.plot([place], [0.03], "x", color=absent.NOT_DONE, markersize=9, markeredgewidth=2, transform=axes.get_xaxis_transform(), clip_on=False, zorder=4)
    text = each.text.replace("-\n", "").replace("\n", " ")
    axes.annotate(text, (place, 0.03), xycoords=axes.get_xaxis_transform(), xytext=(0, 8), color=absent.NOT_DONE, textcoords="offset points", ha="center",
                  va="bottom", rotation=0 if len(text) < 3 else 90, fontsize=style.points(9))


def _map(points, column, varied):
    value = Value(points, column)
    figure, axes = pyplot.subplots(figsize=style.size(*_size(points, varied, 1)), layout="constrained")
    _heading(figure, points, value, [])
    cells = Cells(points, value, varied, 1)
    cells.draw(axes, points.frame, figure)
    finish(figure, [axes], cells, points, varied)
    return figure


def _multiples(points, column, varied):
    """A heat map for each value of the axis that has the fewest; axes beyond the third show their best."""
    shown, hidden = varied[:3], varied[3:]
    apart = min(reversed(shown), key=lambda name: points.frame[name].nunique())
    flat = [name for name in shown if name != apart]
    value, scale = Value(points, column), Scale(points.frame, apart, points.units[apart])
    values = scale.values[:MOST_PANELS]
    columns = _columns(points, flat, len(values))
    rows = -(-len(values) // columns)
    width, height = _size(points, flat, columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=style.size(width, height * rows), layout="constrained", squeeze=False,
                                   sharex=True, sharey=True)
    _heading(figure, points, value, hidden)
    panels, cells = grid.flatten(), Cells(points, value, flat, columns)
    for axes, each in zip(panels, values):
        cells.draw(axes, points.frame[points.frame[apart] == each], figure)
        axes.set_title(scale.name(each))
    for axes in panels:
        axes.label_outer()
    for axes in panels[len(values):]:
        axes.set_visible(False)
    left = len(scale.values) - len(values)
    finish(figure, panels[:len(values)], cells, points, shown, [f"{left} more values of {named(apart)} have no place here"] if left else [])
    return figure


def _columns(points, flat, panels):
    """Three panels beside one another, or fewer where their cells would have no room for a number."""
    across, _ = (points.frame[name].nunique() for name in flat)
    room = style.size(*_size(points, flat, 3))[0] / (0.45 * across + 0.6)
    return max(1, min(panels, 3, int(room)))


def _size(points, varied, panels):
    across, up = (points.frame[name].nunique() for name in varied)
    return min(max(6.5, panels * (0.8 * across + 1.2) + 1.6), 18), min(max(3.4, 0.5 * up + 1.9), 12)
