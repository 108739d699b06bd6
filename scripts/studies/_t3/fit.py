"""The one value that the paper does not give and that is fitted: the fixed time of a work-group, to two ideal speedups."""

import re

from _runs import ROOT

from . import paper
from .bench import IDEAL, WORK_GROUP


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
    return Fitted(min(range(3, 15), key=lambda us: squares(bench, us)))


def squares(bench, us):
    """Of the differences from the two ideal speedups."""
    found = bench.speedups(list(paper.IDEAL_SPEEDUPS), IDEAL, ((WORK_GROUP, f"{us} us"),))
    return sum((ours - goal) ** 2 for ours, goal in zip(found, paper.IDEAL_SPEEDUPS.values()))
