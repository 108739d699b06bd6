"""Groups of bars, one beside the other or stacked, and marks for the values that a paper states."""

from itertools import groupby
from typing import NamedTuple

import matplotlib.patheffects as patheffects
import matplotlib.pyplot as pyplot
from matplotlib.lines import Line2D

WIDTH = 0.84  # of all bars of a row; rows are 1 apart
BETWEEN_GROUPS = 0.7
OUTLINED = [patheffects.withStroke(linewidth=3, foreground="white")]


class Row(NamedTuple):
    group: str
    label: str
    values: dict  # a number by series; for stacks, numbers by part by series


class Chart:
    """Rows of bars along the x axis. `looks` gives every series, or part of a stack, its colour and perhaps a hatch."""

    def __init__(self, axes, rows, looks):
        self.axes, self.rows, self.looks = axes, rows, looks
        self.xs = places(rows)
        axes.set_xlim(self.xs[0] - 0.6, self.xs[-1] + 0.6)
        axes.grid(axis="y", color="#E4E4E4", linewidth=0.8)
        axes.set_axisbelow(True)

    def name_rows(self, size=9):
        """Labels of the rows, and below them those of their groups."""
        self.axes.set_xticks(self.xs, [row.label for row in self.rows], fontsize=size)
        self.axes.tick_params(axis="x", length=0)
        lines = 1 + max(row.label.count("\n") for row in self.rows)
        for group, members in groupby(zip(self.xs, self.rows), key=lambda pair: pair[1].group):
            xs = [x for x, _ in members]
            self.axes.annotate(group, ((xs[0] + xs[-1]) / 2, 0), xycoords=("data", "axes fraction"), xytext=(0, -8 - 1.4 * size * lines),
                               textcoords="offset points", ha="center", va="top", fontsize=size + 1, color="#303030",
                               annotation_clip=False)

    def beside(self, bars, base=0.0):
        """Each bar is a tuple of series: the second shows where it stands out over the first."""
        for number, bar in enumerate(bars):
            for name in reversed(bar):
                heights = [row.values[name] - base for row in self.rows]
                self._bars(number, len(bars), heights, name, [base] * len(heights))

    def stacked(self, series, parts):
        for number, name in enumerate(series):
            tops = [0.0] * len(self.rows)
            for part in parts:
                heights = [row.values[name][part] for row in self.rows]
                self._bars(number, len(series), heights, part, tops)
                tops = [top + height for top, height in zip(tops, heights)]

    def state(self, bars, stated):
        """A line where the paper has the end of a bar; above both, our value and in brackets the paper's. `stated` holds values by
        series by (group, label)."""
        rotation = 0 if len(bars) == 1 else 90  # of several bars none is wide enough for the text
        for number, bar in enumerate(bars):
            for x, row in zip(self.xs, self.rows):
                theirs = stated.get((row.group, row.label), {})
                for name in (series for series in bar if series in theirs):
                    centre, top = x + offset(number, len(bars)), max(theirs[name], *[row.values[each] for each in bar])
                    self._line(centre, WIDTH / len(bars), theirs[name])
                    self.note(centre, top, f"{row.values[name]:.2f} ({theirs[name]:.2f})", rotation)

    def mark(self, x, value, text):
        """A line across a row of single bars, and what it says above it."""
        self._line(x, WIDTH, value)
        self.note(x, value, text)

    def note(self, x, y, text, rotation=0):
        self.axes.annotate(text, (x, y), xytext=(0, 4), textcoords="offset points", ha="center", va="bottom", rotation=rotation, fontsize=8)

    def _line(self, x, width, value):
        self.axes.plot([x - width / 2, x + width / 2], [value, value], color="black", linewidth=2, solid_capstyle="butt",
                       path_effects=OUTLINED)

    def _bars(self, number, count, heights, name, bottoms):
        xs = [x + offset(number, count) for x in self.xs]
        self.axes.bar(xs, heights, width=WIDTH / count, bottom=bottoms, edgecolor="white", linewidth=0.6, **self.looks[name])


def places(rows):
    """Where the rows stand: 1 apart, and further where a group ends."""
    xs = []
    for i, row in enumerate(rows):
        new = i > 0 and row.group != rows[i - 1].group
        xs.append(xs[-1] + 1 + (BETWEEN_GROUPS if new else 0) if xs else 0.0)
    return xs


def offset(number, count):
    """Of one of `count` bars, from the middle of its row."""
    return WIDTH * ((number + 0.5) / count - 0.5)


def handles(looks, names, stated=False):
    """For a legend: names by series, and the mark of what the paper states; `stated` may say what it is."""
    found = [pyplot.Rectangle((0, 0), 1, 1, edgecolor="white", label=text, **looks[name]) for name, text in names.items()]
    if stated:
        text = stated if isinstance(stated, str) else "stated in the paper (in brackets)"
        found.append(Line2D([], [], color="black", linewidth=2, label=text))
    return found
