"""Heat maps of the points of a sweep, a cell a pair of values."""

import numpy
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle

from . import absent, style
from .scale import Scale, at_2_and_5, short

COLOURS = {"min": "viridis_r", "max": "viridis"}  # the best is the brightest
MOST_NUMBERS = 150  # cells of a heat map that have their value written in them
MOST_APART = 2000  # cells that have a line between them
MOST_NAMED = 24  # values of an axis of a heat map
LEAST_LETTERS = 4.5  # points: smaller ones are left out
LONGEST = 8  # letters that every cell has room for, so that maps beside one another look alike


def _norm(numbers):
    wide = numbers.min() > 0 and numbers.max() / numbers.min() >= 8
    return (LogNorm if wide else Normalize)(numbers.min(), numbers.max())


class Cells:
    """Heat maps of two axes in one scale of colours: a cell for each pair of values, though no point may have it."""

    def __init__(self, points, value, varied, panels):
        self.points, self.value, self.panels = points, value, panels
        self.x, self.y = (Scale(points.frame, name, points.units[name]) for name in varied)
        self.norm = _norm(value.of(points.frame[value.known]))
        self.absents, self.image = [], None

    def draw(self, axes, frame, figure):
        """The best of each cell's points; those without a value say what is known of them."""
        known = frame[self.value.known[frame.index]]
        numbers = numpy.full((len(self.y.values), len(self.x.values)), numpy.nan)
        for cell, rows in self._by_cell(known):
            numbers[cell] = self.value.best(rows)
        absents = {cell: absent.judge(self.points, rows, self.value.column) for cell, rows in self._by_cell(frame.drop(known.index))
                   if numpy.isnan(numbers[cell])}
        width = 1 if numbers.size <= MOST_APART else 0
        self.image = axes.pcolormesh(numbers, cmap=COLOURS[self.value.better], norm=self.norm, edgecolor="white", linewidth=width)
        texts = {cell: short(number) for cell, number in numpy.ndenumerate(numbers) if not numpy.isnan(number)}
        texts |= {cell: f"≥ {short(each.least / self.value.size)}" if each.least else each.text for cell, each in absents.items()}
        letters = self._letters(texts.values(), figure) if numbers.size <= MOST_NUMBERS else 0
        for cell, each in absents.items():
            _mark_cell(axes, cell, each, width)
        for cell, text in texts.items() if letters >= LEAST_LETTERS else ():
            _write(axes, cell, text, absents.get(cell), letters, self.image.cmap(self.norm(numbers[cell])))
        self.absents += absents.values()
        self._name_axes(axes)

    def _by_cell(self, rows):
        """(row and column of the cell, its points)"""
        at_x, at_y = ({value: at for at, value in enumerate(scale.values)} for scale in (self.x, self.y))
        for (y, x), each in rows.groupby([self.y.column, self.x.column], sort=False):
            yield (at_y[y], at_x[x]), each

    def _letters(self, texts, figure):
        """Points of letters with which the widest text has room in a cell."""
        across = 72 * 0.78 * figure.get_figwidth() / self.panels / len(self.x.values)
        longest = max(LONGEST, *(len(line) for text in texts for line in text.split("\n")))
        return min(style.points(9), across / (0.62 * longest))

    def _name_axes(self, axes):
        for scale, set_ticks in ((self.x, axes.set_xticks), (self.y, axes.set_yticks)):
            shown = range(0, len(scale.values), 1 + len(scale.values) // MOST_NAMED)
            set_ticks([at + 0.5 for at in shown], [scale.text(scale.values[at]) for at in shown])
        if max(len(self.x.text(each)) for each in self.x.values) > 7:
            axes.tick_params(axis="x", rotation=30)
        axes.tick_params(length=0)
        axes.set_xlabel(self.x.label)
        axes.set_ylabel(self.y.label)


def _mark_cell(axes, cell, each, width):
    row, column = cell
    if not each.may_run:
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor="#F4F4F4", edgecolor=absent.NOT_DONE, hatch="////", linewidth=0))
    # The hatch has the colour of the edge, so the white line between cells is a patch of its own.
    colour = "#E4E4E4" if each.may_run else "none"
    axes.add_patch(Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="white", linewidth=width))


def _write(axes, cell, text, why, letters, colour):
    row, column = cell
    if why is None:
        red, green, blue, _ = colour
        look = {"color": "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"}
    elif why.may_run:
        look = {"color": "#303030"}
    else:
        look = {"color": absent.NOT_DONE, "fontweight": "bold", "linespacing": 1.0,
                "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.0}}
    axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=letters, **look)


def finish(figure, panels, cells, points, varied, more=()):
    """The bar of colours, and below everything what the marks mean."""
    bar = figure.colorbar(cells.image, ax=list(panels), shrink=min(0.9, 5 / figure.get_figheight()), pad=0.02)
    bar.set_label(cells.value.label)
    if isinstance(cells.norm, LogNorm):
        bar.ax.yaxis.set_major_formatter(lambda number, _: short(number))
        if cells.norm.vmax / cells.norm.vmin < 100:  # so few powers of ten that the other ticks need their numbers
            bar.ax.yaxis.set_minor_formatter(lambda number, _: at_2_and_5(number))
    else:
        bar.ax.yaxis.get_major_formatter().set_useOffset(False)
    count = numpy.prod([points.frame[name].nunique() for name in varied])
    blank = ["blank: no such point"] if len(points.frame[varied].drop_duplicates()) < count else []
    absent.say_below(figure, points, cells.absents, lambda each: "grey" if each.may_run else "hatched", "cell", [*blank, *more])
