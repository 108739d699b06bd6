"""Tables of many runs: what `tessera merge` writes of a sweep. The schema is described in docs/results.md."""

from functools import cached_property

import numpy

from .file import ResultFile, ResultsError, attribute, format_of

DONE, TIME = 0, "iteration_time_ps"
BOUND, ESTIMATE = "bound_ps", "estimate_ps"  # of a search's candidates, also of those that were not simulated; 0: not known
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

    @cached_property
    def may_run(self):
        """Rows of which nothing says that they cannot be carried out, with or without a time, as a mask."""
        return self.frame["code"] == DONE if "code" in self.frame else self.frame[TIME] >= 0

    def known(self, column):
        """Rows that have a value in the column, as a mask: most columns are known of what has been simulated alone."""
        values = self.frame[column]
        if column in (BOUND, ESTIMATE):
            return values > 0
        if column in set(self.axes["column"]):
            return values.notna()
        return self.done & values.notna()

    @property
    def told(self):
        """The column that says most: the time, or where nothing has one what is known of it, its lower bound."""
        return BOUND if BOUND in self.frame and not self.known(TIME).any() and self.known(BOUND).any() else TIME

    @property
    def cost_says_more(self):
        """Whether the cost is not the iteration time over again, as it is of machines with as many devices each."""
        rows = self.frame[self.done]
        ratios = rows[COST] / rows[TIME]
        return bool(ratios.max() - ratios.min() > 1e-9 * ratios.abs().max())

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

    @property
    def varied(self):
        """Columns of the axes that have several values, in the asker's order; of axes that move together the first, and
        none that others before it give, as tensor and pipeline give data on so many devices."""
        return self._varied[0]

    @property
    def given(self):
        """Of each column of an axis that others give, these."""
        return self._varied[1]

    @cached_property
    def _varied(self):
        chosen, given = [], {}
        for _, axis in self.axes.iterrows():
            name = axis["column"]
            if name not in self.frame:
                raise self._cannot_read(f"the file is damaged: /points has no column '{name}'")
            if axis["follows"] or self.frame[name].nunique() < 2:
                continue
            if any(_moves_with(self.frame, name, other) for other in chosen):
                continue
            if len(chosen) > 1 and self.frame.groupby(chosen, sort=False)[name].nunique().max() == 1:
                given[name] = tuple(each for each in chosen if _needs(self.frame, name, chosen, each))
            else:
                chosen.append(name)
        return chosen, given

    def more_is_better(self, column):
        return column in MORE_IS_BETTER or self.units[column] in MORE_IS_BETTER_UNITS


def _moves_with(frame, name, other):
    """Whether each value of one belongs to one value of the other."""
    pairs = len(frame[[name, other]].drop_duplicates())
    return pairs == frame[name].nunique() == frame[other].nunique()


def _needs(frame, name, chosen, each):
    """Whether the column is given by those that were chosen no more when one is missing."""
    others = [other for other in chosen if other != each]
    return frame.groupby(others, sort=False)[name].nunique().max() > 1


def front(x, y, more_x=False, more_y=False):
    """Indices of the points than which none is at least as good in both and better in one, in order of x."""
    x, y = (-x if more_x else x), (-y if more_y else y)
    best, chosen = numpy.inf, []
    for index in numpy.lexsort((y, x)):
        if y[index] < best:
            best = y[index]
            chosen.append(index)
    return chosen
