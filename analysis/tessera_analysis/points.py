"""Tables of many runs: what `tessera merge` writes of a sweep. The schema is described in docs/results.md."""

from functools import cached_property

import numpy

from .file import ResultFile, ResultsError, attribute, format_of

DONE, TIME = 0, "iteration_time_ps"
# A device held for a second costs as much whatever it does; used where the table has no column of that name.
COST = "cost"
MORE_IS_BETTER_UNITS = ("1/s",)
MORE_IS_BETTER = ("model_flops_utilisation", "hardware_flops_utilisation")


def is_points(path):
    """Whether a file says that it is a table of points; ResultsError when it cannot be opened."""
    return format_of(path) == Points.FORMAT


def load_points(path):
    """Opens a table of points."""
    return Points(path)


class Points(ResultFile):
    """One table of points. `frame` has a row a point; `axes` says which of its columns were chosen."""

    FORMAT, MAIN_TABLES, KIND = "tessera points", ("points",), "a table of points (tessera merge)"

    @cached_property
    def title(self):
        with self._open() as file:
            return attribute(file, "title") or ""

    @cached_property
    def frame(self):
        """/points, and the cost of a point in device-seconds an iteration, where it has no column `cost`."""
        frame = self.table("points")
        if COST not in frame and {"devices", TIME} <= set(frame.columns):
            frame[COST] = frame["devices"] * frame[TIME] * 1e-12
            frame.attrs["units"][COST] = "device s"
            frame.attrs["columns"][COST] = "devices x iteration time"
        return frame

    @cached_property
    def axes(self):
        return self.table("axes")

    @cached_property
    def units(self):
        return self.frame.attrs["units"]

    @cached_property
    def done(self):
        """Rows that have a time, as a mask."""
        self.column(TIME)
        ended = self.frame["code"] == DONE if "code" in self.frame else True
        return ended & (self.frame[TIME] > 0)

    def column(self, name):
        """The column of that name, with or without the _ps of times; ResultsError when there is none."""
        for column in (name, f"{name}_ps"):
            if column in self.frame:
                return column
        raise ResultsError(f"'{self.path}' has no column '{name}', it has: " + ", ".join(self.frame.columns))

    def number(self, name):
        """As column(), of numbers alone."""
        column = self.column(name)
        if self.units[column] == "text":
            raise ResultsError(f"'{self.path}': column '{column}' holds texts, a number is needed")
        return column

    @cached_property
    def varied(self):
        """Columns of the axes that have several values, in the asker's order; of axes that move together the first."""
        chosen = []
        for _, axis in self.axes.iterrows():
            name = axis["column"]
            if name not in self.frame:
                raise self._cannot_read(f"the file is damaged: /points has no column '{name}'")
            if axis["follows"] or self.frame[name].nunique() < 2:
                continue
            if not any(_moves_with(self.frame, name, other) for other in chosen):
                chosen.append(name)
        return chosen

    def more_is_better(self, column):
        return column in MORE_IS_BETTER or self.units[column] in MORE_IS_BETTER_UNITS


def _moves_with(frame, name, other):
    """Whether each value of one belongs to one value of the other."""
    pairs = len(frame[[name, other]].drop_duplicates())
    return pairs == frame[name].nunique() == frame[other].nunique()


def front(x, y, more_x=False, more_y=False):
    """Indices of the points than which none is at least as good in both and better in one, in order of x."""
    x, y = (-x if more_x else x), (-y if more_y else y)
    best, chosen = numpy.inf, []
    for index in numpy.lexsort((y, x)):
        if y[index] < best:
            best = y[index]
            chosen.append(index)
    return chosen
