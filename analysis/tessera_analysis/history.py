"""What a search tried: the file of `tessera plan --history`. The schema is described in docs/results.md."""

from functools import cached_property

import pandas

from .file import ResultFile, attribute

MEASURES = COST, REWARD = "cost", "reward"  # what a curve may show: less is better of one, more of the other


def load_history(path):
    """Opens a history."""
    return History(path)


class History(ResultFile):
    """One history. `search` has a row a sample, in the order of the search."""

    FORMAT, KIND = "tessera history", "a history (tessera plan --history)"
    MAIN_TABLES = "search", "provenance/search"  # the second: of a search that goes on for a time

    @cached_property
    def names(self):
        """title, machine, model and strategy, as a dict."""
        with self._open() as file:
            return {name: attribute(file, name) or "" for name in ("title", "machine", "model", "strategy")}

    @property
    def title(self):
        return self.names["title"]

    @cached_property
    def search(self):
        return self.table(next(name for name in self.MAIN_TABLES if name in self.tables))


def measure(search):
    """What cost_ps is of these samples, in words."""
    runs = search[search["cost_ps"] > 0]
    repeats = not runs.empty and "interval_ps" in runs and (runs["interval_ps"] == runs["cost_ps"]).all()
    return "interval" if repeats else "iteration time"


def best_so_far(search, what=COST):
    """By number of samples, counted from 1: the least time in ps, NaN as long as nothing fits; or the greatest reward, 0 until then."""
    samples = pandas.RangeIndex(1, len(search) + 1, name="samples")
    values = search["cost_ps"].where(search["cost_ps"] > 0).cummin().ffill() if what == COST else search["reward"].cummax()
    return pandas.Series(values.to_numpy(dtype=float), index=samples)


def over_seeds(curves):
    """Curves of one method with other seeds: columns mean, deviation (of a sample; 0 of a single curve), least and greatest, by
    number of samples. As long as the shortest curve, and NaN where one of them has nothing yet."""
    each = pandas.concat(list(curves), axis=1, join="inner")
    whole = each.where(each.notna().all(axis=1))
    deviation = whole.std(axis=1, ddof=1) if whole.shape[1] > 1 else 0 * whole.iloc[:, 0]
    return pandas.DataFrame({"mean": whole.mean(axis=1), "deviation": deviation, "least": whole.min(axis=1),
                             "greatest": whole.max(axis=1)})
