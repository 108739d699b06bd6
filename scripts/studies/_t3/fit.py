"""The one value that the paper does not give and that is fitted: the fixed time of a work-group, to two ideal speedups. What lies
between two trials is taken as linear."""

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
    low, high = 8, 14  # us
    trials = [bench.speedups(list(paper.IDEAL_SPEEDUPS), IDEAL, ((WORK_GROUP, f"{us} us"),)) for us in (low, high)]
    slopes = [(b - a) / (high - low) for a, b in zip(*trials)]
    errors = [goal - a for goal, a in zip(paper.IDEAL_SPEEDUPS.values(), trials[0])]
    return Fitted(round(low + sum(s * e for s, e in zip(slopes, errors)) / sum(s * s for s in slopes)))
