"""Axes of figures: units that read well, ticks at the values, logarithms where values are geometric."""

import numpy
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from . import style

MOST_TICKS = 12
PREFIXES = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


def unit_of(units, value):
    """(unit in words, its size) in which a value reads well: of "B/s" and 3e11 ("GB/s", 1e9)."""
    if units == "ps":
        return style.time_unit(value)
    if units in ("B", "B/s", "FLOP", "FLOP/s", "Hz"):
        for prefix, size in PREFIXES:
            if value >= size:
                return prefix + units, size
    if units == "um":
        return "mm", 1000.0
    return ("" if units in ("1", "text") else units), 1.0


WORDS = {"bound_ps": "lower bound of the iteration time", "estimate_ps": "estimate of the iteration time"}


def named(column):
    """A column in words: without the end that says its unit, and what tells an axis from a result of the same name."""
    if column in WORDS:
        return WORDS[column]
    return style.spaced(column.removesuffix("_ps").removeprefix("axis_"))


def short(number):
    """Three digits, zeros at the end as well: 1.10 beside 1.09; or all of those before the point."""
    if number == round(number) or abs(number) >= 999.5:
        return f"{number:,.0f}"
    return f"{number:#.3g}".rstrip(".") if abs(number) >= 1e-4 else f"{number:.3g}"


class Scale:
    """How the values of a column are put on an axis. Texts stand in order of appearance, numbers where they are."""

    def __init__(self, frame, column, units):
        self.column = column
        self.is_text = units == "text"
        self.values = list(dict.fromkeys(frame[column])) if self.is_text else sorted(set(frame[column].dropna()))
        # 75 to 1,200 GB/s, and not 0.075 to 1.2 TB/s.
        least = min((abs(value) for value in self.values if value), default=0) if not self.is_text else 0
        self.unit, self.size = unit_of(units, least)

    @property
    def label(self):
        return named(self.column) + (f" in {self.unit}" if self.unit else "")

    @property
    def logarithmic(self):
        """Whether the steps of the values differ less as factors than as differences."""
        if self.is_text or len(self.values) < 3 or min(self.values) <= 0:
            return False
        values = numpy.array(self.values, dtype=float)
        steps, factors = numpy.diff(values), numpy.diff(numpy.log(values))
        return steps.max() / steps.min() > 1.2 * factors.max() / factors.min()

    def place(self, values):
        """Where values of the column stand on an axis."""
        if self.is_text:
            return numpy.array([self.values.index(value) for value in values], dtype=float)
        return numpy.asarray(values, dtype=float) / self.size

    def text(self, value):
        return str(value) if self.is_text else f"{value / self.size:.4g}"

    def name(self, value):
        """A value with its axis: "nodes 8", "bandwidth 75 GB/s"."""
        return f"{named(self.column)} {self.text(value)}" + (f" {self.unit}" if self.unit else "")

    def apply(self, axes, axis):
        """Label, ticks and scale of the `axis`, "x" or "y", of `axes`."""
        target = getattr(axes, f"{axis}axis")
        getattr(axes, f"set_{axis}label")(self.label)
        if self.logarithmic:
            getattr(axes, f"set_{axis}scale")("log")
        if self.is_text or len(self.values) <= MOST_TICKS:
            texts = {float(place): self.text(value) for place, value in zip(self.place(self.values), self.values)}
            target.set_major_locator(FixedLocator(list(texts)))
            target.set_major_formatter(FuncFormatter(lambda place, _: texts.get(float(place), f"{place:.4g}")))
            target.set_minor_locator(NullLocator())


def free_scale(axes, axis, values):
    """A measured quantity: logarithmic where its values lie far from one another; plain numbers at the ticks."""
    values = numpy.asarray(values, dtype=float)
    target = getattr(axes, f"{axis}axis")
    if len(values) > 1 and values.min() > 0 and values.max() / values.min() >= 8:
        getattr(axes, f"set_{axis}scale")("log")
        target.set_minor_formatter(FuncFormatter(lambda value, _: at_2_and_5(value)))
    target.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))


def at_2_and_5(value):
    """Text of those ticks of a logarithmic axis that have room for one."""
    digit = f"{value:.0e}"[0]
    return f"{value:.4g}" if digit in "25" else ""


class Value:
    """What is shown of the points: its numbers in a unit that reads well."""

    def __init__(self, points, column):
        self.column, self.known = column, points.known(column)
        self.better = "max" if points.more_is_better(column) else "min"
        self.unit, self.size = unit_of(points.units[column], points.frame.loc[self.known, column].abs().max())
        self.label = named(column) + (f" in {self.unit}" if self.unit else "")

    def of(self, rows):
        return rows[self.column].to_numpy(dtype=float) / self.size

    def best(self, rows):
        numbers = self.of(rows)
        return numbers.max() if self.better == "max" else numbers.min()
