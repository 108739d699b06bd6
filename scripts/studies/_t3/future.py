"""Figure 20: twice the CUs on the same network."""

from _parts import Outcome, three
from _runs import table
from tessera_analysis import t3_figures
from tessera_analysis.bars import Row

from . import paper
from .bench import place, speedups

CASES = [(model, sub, 8) for model in ("mega-gpt2", "t-nlg") for sub in ("op", "fc2")]


def study(bench):
    runs = {"80 CUs": {}, "160 CUs": {}}
    for at, result in bench.sweep("more-cus"):
        runs[at["machine.device"]][(at["model"], at["strategy.sublayer"], 8), at["strategy.configuration"]] = result
    once, twice = (speedups(own, CASES, "t3-mca") for own in runs.values())
    rows = [(*case[:2], three(a), three(b), f"gains {paper.GAINS_OF_MORE_CUS[case[1]]}", gain(a, b))
            for case, a, b in zip(CASES, once, twice)]
    bars = [Row(*place(case), {"80 CUs": a, "160 CUs": b}) for case, a, b in zip(CASES, once, twice)]
    notes = {place(case): f"paper:\ngains {paper.GAINS_OF_MORE_CUS[case[1]]}" for case in CASES}
    return Outcome(tables={"t3-future": table(("model", "sub-layer", "80 CUs", "160 CUs", "paper", "simulated"), rows)},
                   pictures={"figure-20": (t3_figures.more_cus, (bars, notes))})


def gain(once, twice):
    if abs(twice / once - 1) < 0.005:
        return "gains as much"
    return "gains less" if twice < once else "gains more"
