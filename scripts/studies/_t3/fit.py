"""Two values that the paper does not give: the fixed time of a work-group, to two ideal speedups, and the memory's efficiency,
to one speedup of T3-MCA. What lies between two trials is taken as linear."""

import re

from _parts import geomean
from _runs import ROOT

from . import paper
from .bench import IDEAL, MEMORY, SMALL, WORK_GROUP


class Fitted:
    def __init__(self, work_group, efficiency):
        self.work_group, self.efficiency = work_group, efficiency

    def settings(self):
        return ((WORK_GROUP, f"{self.work_group} us"), (MEMORY, self.efficiency))

    def table(self):
        return f"work_group_time = {self.work_group} us, memory_efficiency = {self.efficiency}"

    def summary(self):
        return f"work_group_time_us:{self.work_group},memory_efficiency:{self.efficiency}"

    def missing(self):
        """Lines that the machine file, which runs without this script, should hold and does not."""
        held = (ROOT / "inputs" / "machines" / "v100-ring.toml").read_text()
        lines = (f'work_group_time = "{self.work_group} us"', f"memory_efficiency = {self.efficiency}")
        return [line for line in lines if line not in held]


def held():
    """Both values as the machine file holds them."""
    text = (ROOT / "inputs" / "machines" / "v100-ring.toml").read_text()
    return Fitted(int(re.search(r'work_group_time = "(\d+) us"', text)[1]), float(re.search(r"memory_efficiency = ([\d.]+)", text)[1]))


def fit(bench):
    work_group = fit_work_group(bench)
    return Fitted(work_group, fit_efficiency(bench, (WORK_GROUP, f"{work_group} us")))


def fit_work_group(bench):
    low, high = 8, 14  # us
    trials = [bench.speedups(list(paper.IDEAL_SPEEDUPS), IDEAL, ((WORK_GROUP, f"{us} us"),)) for us in (low, high)]
    slopes = [(b - a) / (high - low) for a, b in zip(*trials)]
    errors = [goal - a for goal, a in zip(paper.IDEAL_SPEEDUPS.values(), trials[0])]
    return round(low + sum(s * e for s, e in zip(slopes, errors)) / sum(s * s for s in slopes))


def fit_efficiency(bench, fixed):
    low, high = 0.5, 0.65
    at_low, at_high = [geomean(bench.speedups(SMALL, "t3-mca", (fixed, (MEMORY, value)))) for value in (low, high)]
    return round(low + (high - low) * (paper.GEOMEAN["t3-mca"] - at_low) / (at_high - at_low), 2)
