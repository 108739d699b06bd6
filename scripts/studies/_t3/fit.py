"""The one value that the paper does not give and that is fitted: the fixed time of a work-group, to two ideal speedups."""

import re

from _runs import ROOT

from . import paper
from .bench import IDEAL, WORK_GROUP, speedup


class Fitted:
    def __init__(self, work_group):
        self.work_group = work_group

    def settings(self):
        return ((WORK_GROUP, f"{self.work_group} us"),)

    def table(self):
        return f"work_group_time = {self.work_group} us"

    def summary(self):
        return f"work_group_time_us:{self.work_group}"

    def missing(self):
        """Lines that the machine file, which runs without this script, should hold and does not."""
        held = (ROOT / "inputs" / "machines" / "v100-ring.toml").read_text()
        lines = (f'work_group_time = "{self.work_group} us"',)
        return [line for line in lines if line not in held]


def held():
    """The value as the machine file holds it."""
    text = (ROOT / "inputs" / "machines" / "v100-ring.toml").read_text()
    return Fitted(int(re.search(r'work_group_time = "(\d+) us"', text)[1]))


def fit(bench):
    """The whole number of microseconds with the least squares; the speedups are not linear in it."""
    tried = range(3, 15)
    runs = bench.runs_of([bench.jobs(paper.IDEAL_SPEEDUPS, ("sequential", IDEAL), ((WORK_GROUP, f"{us} us"),)) for us in tried])
    return Fitted(min(zip(tried, runs), key=lambda pair: squares(pair[1]))[0])


def squares(runs):
    """Of the differences from the two ideal speedups."""
    return sum((speedup(runs, case, IDEAL) - goal) ** 2 for case, goal in paper.IDEAL_SPEEDUPS.items())
