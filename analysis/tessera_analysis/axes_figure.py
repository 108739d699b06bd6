"""What the axes of a sweep do: a curve of one, a heat map of two, small multiples of three."""

import matplotlib.pyplot as pyplot
import numpy
import pandas
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle

from . import style
from .points import TIME
from .scale import Scale, at_2_and_5, free_scale, named, short, unit_of

COLOURS = {"min": "viridis_r", "max": "viridis"}  # the best is the brightest
MOST_NUMBERS = 150  # cells of a heat map that have their value written in them
MOST_APART = 2000  # cells that have a line between them
MOST_PANELS = 12
MOST_NAMED = 24  # values of an axis of a heat map
NOT_DONE = "#D55E00"
WORDS = {0: "not simulated", 2: "refused", 3: "cannot be carried out", 4: "failed", 5: "failed"}


def draw(points, value=TIME):
    """None when no axis has more than one value."""
    varied = points.varied
    if not varied or not points.done.any():
        return None
    draw_them = _curve if len(varied) == 1 else _map if len(varied) == 2 else _multiples
    return draw_them(points, value, varied)


class _Value:
    """What is shown of the points: its numbers in a unit that reads well."""

    def __init__(self, points, column):
        self.column = column
        self.better = "max" if points.more_is_better(column) else "min"
        self.unit, self.size = unit_of(points.units[column], points.frame.loc[points.done, column].abs().max())
        self.label = named(column) + (f" in {self.unit}" if self.unit else "")

    def of(self, rows):
        return rows[self.column].to_numpy(dtype=float) / self.size

    def best(self, rows):
        numbers = self.of(rows)
        return numbers.max() if self.better == "max" else numbers.min()


def _codes(points, rows):
    """Exit codes of rows without a time; 0: nothing has been simulated."""
    return rows["code"] if "code" in rows else rows[points.column(TIME)] * 0


def _best_over(hidden):
    """What the axes are that a figure has no place for."""
    if not hidden:
        return ""
    return f", best over {' and '.join(named(name) for name in hidden)}" if len(hidden) <= 2 else f", best over {len(hidden)} other axes"


def _heading(figure, points, value, hidden):
    style.title(figure, f"{named(value.column).capitalize()}{_best_over(hidden)}: {points.title}")


def _curve(points, column, varied):
    value, scale = _Value(points, column), Scale(points.frame, varied[0], points.units[varied[0]])
    rows, others = points.frame[points.done], points.frame[~points.done]
    figure, axes = pyplot.subplots(figsize=(8, 4.6), layout="constrained")
    _heading(figure, points, value, [])
    best = pandas.Series({each: value.best(of_value) for each, of_value in rows.groupby(varied[0], sort=False)})
    best = best.reindex(scale.values)  # the curve has a gap where nothing is done
    axes.plot(scale.place(best.index), best, "o" if scale.is_text else "-o", color="#0072B2", zorder=3)
    free_scale(axes, "y", best.dropna())
    if axes.get_yscale() == "linear":
        axes.set_ylim(0, 1.08 * best.max())
    scale.apply(axes, "x")
    axes.set_ylabel(value.label)
    axes.grid(color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    for code, marked in others.groupby(_codes(points, others)):
        axes.plot(scale.place(marked[varied[0]]), [0.03] * len(marked), "x", color=NOT_DONE, markersize=9,
                  markeredgewidth=2, transform=axes.get_xaxis_transform(), clip_on=False, zorder=4)
        for place in sorted(set(scale.place(marked[varied[0]]))):
            axes.annotate(f"{code}", (place, 0.03), xycoords=axes.get_xaxis_transform(), xytext=(0, 8), color=NOT_DONE,
                          textcoords="offset points", ha="center", fontsize=9)
    _say_codes(figure, points, "crosses")
    return figure


def _map(points, column, varied):
    value = _Value(points, column)
    figure, axes = pyplot.subplots(figsize=_size(points, varied, 1), layout="constrained")
    _heading(figure, points, value, [])
    image = _cells(axes, points, points.frame, value, varied, _norm(points, value))
    _finish(figure, [axes], image, points, value, varied)
    return figure


def _multiples(points, column, varied):
    """A heat map for each value of the axis that has the fewest; axes beyond the third show their best."""
    shown, hidden = varied[:3], varied[3:]
    apart = min(reversed(shown), key=lambda name: points.frame[name].nunique())
    flat = [name for name in shown if name != apart]
    value, scale = _Value(points, column), Scale(points.frame, apart, points.units[apart])
    values = scale.values[:MOST_PANELS]
    columns = min(len(values), 3)
    rows = -(-len(values) // columns)
    width, height = _size(points, flat, columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(width, height * rows), layout="constrained", squeeze=False,
                                   sharex=True, sharey=True)
    _heading(figure, points, value, hidden)
    norm = _norm(points, value)
    panels = grid.flatten()
    for axes, each in zip(panels, values):
        image = _cells(axes, points, points.frame[points.frame[apart] == each], value, flat, norm)
        axes.set_title(scale.name(each))
    for axes in panels:
        axes.label_outer()
    for axes in panels[len(values):]:
        axes.set_visible(False)
    _finish(figure, panels[:len(values)], image, points, value, shown)
    return figure


def _size(points, varied, panels):
    across, up = (points.frame[name].nunique() for name in varied)
    return min(max(6.5, panels * (0.8 * across + 1.2) + 1.6), 18), min(max(3.4, 0.5 * up + 1.9), 12)


def _norm(points, value):
    numbers = value.of(points.frame[points.done])
    wide = numbers.min() > 0 and numbers.max() / numbers.min() >= 8
    return (LogNorm if wide else Normalize)(numbers.min(), numbers.max())


def _cells(axes, points, frame, value, varied, norm):
    """A cell for each pair of values, though no point may have it; those without a time are hatched, with their code."""
    x, y = (Scale(points.frame, name, points.units[name]) for name in varied)
    numbers = numpy.full((len(y.values), len(x.values)), numpy.nan)
    done = frame[points.done[frame.index]]
    for cell, number in _by_cell(done, done[value.column], x, y, value.better).items():
        numbers[cell] = number / value.size
    others = frame.drop(done.index)
    codes = {cell: code for cell, code in _by_cell(others, _codes(points, others), x, y, "max").items()
             if numpy.isnan(numbers[cell])}
    image = axes.pcolormesh(numbers, cmap=COLOURS[value.better], norm=norm, edgecolor="white",
                            linewidth=1 if numbers.size <= MOST_APART else 0)
    for (row, column), code in codes.items():
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor="#EFEFEF", edgecolor=NOT_DONE, hatch="////", linewidth=0))
        axes.text(column + 0.5, row + 0.5, f"{code}", ha="center", va="center", color=NOT_DONE, fontweight="bold",
                  bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    if numbers.size <= MOST_NUMBERS:
        _write_numbers(axes, numbers, norm, image.cmap)
    for scale, set_ticks in ((x, axes.set_xticks), (y, axes.set_yticks)):
        shown = range(0, len(scale.values), 1 + len(scale.values) // MOST_NAMED)
        set_ticks([at + 0.5 for at in shown], [scale.text(scale.values[at]) for at in shown])
    if max(len(x.text(each)) for each in x.values) > 7:
        axes.tick_params(axis="x", rotation=30)
    axes.tick_params(length=0)
    axes.set_xlabel(x.label)
    axes.set_ylabel(y.label)
    return image


def _by_cell(rows, numbers, x, y, which):
    """The least or the greatest number of the rows of each cell, by row and column of the cell."""
    at_x, at_y = ({value: at for at, value in enumerate(scale.values)} for scale in (x, y))
    cells = numbers.groupby([rows[y.column].map(at_y), rows[x.column].map(at_x)]).agg(which)
    return {(int(row), int(column)): number for (row, column), number in cells.items()}


def _write_numbers(axes, numbers, norm, colours):
    for (row, column), number in numpy.ndenumerate(numbers):
        if numpy.isnan(number):
            continue
        red, green, blue, _ = colours(norm(number))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        axes.text(column + 0.5, row + 0.5, short(number), ha="center", va="center", fontsize=9,
                  color="white" if dark else "black")


def _finish(figure, panels, image, points, value, varied):
    bar = figure.colorbar(image, ax=list(panels), shrink=0.9, pad=0.02)
    bar.set_label(value.label)
    bar.ax.yaxis.set_major_formatter(lambda number, _: short(number))
    if _has_few_powers(image):
        bar.ax.yaxis.set_minor_formatter(lambda number, _: at_2_and_5(number))
    cells = numpy.prod([points.frame[name].nunique() for name in varied])
    _say_codes(figure, points, "hatched", len(points.frame[varied].drop_duplicates()) < cells)


def _has_few_powers(image):
    """Whether a logarithmic bar has so few powers of ten that its other ticks need their numbers."""
    return isinstance(image.norm, LogNorm) and image.norm.vmax / image.norm.vmin < 100


def _say_codes(figure, points, mark, blank=False):
    """Below everything: what the marked points are, by exit code, and what stands nowhere."""
    others = points.frame[~points.done]
    counts = _codes(points, others).value_counts().sort_index()
    words = ", ".join(f"{code} {WORDS.get(code, 'failed')} ({count:,} {'point' if count == 1 else 'points'})"
                      for code, count in counts.items())
    parts = ([f"{mark}: {words}"] if words else []) + (["blank: no such point"] if blank else [])
    if parts:
        figure.supxlabel("; ".join(parts), x=0.01, ha="left", fontsize=9, color=NOT_DONE)
