"""Section 6.4: sub-layers of models of 175 to 540 billion parameters on 32 GPUs."""

from _parts import Outcome, geomean, three, two
from _runs import table

from . import paper
from .bench import IDEAL, OWN_GEMM, speedup

HIDDEN = {"GPT-3": 12288, "PALM": 18432, "MT-NLG": 20480}  # table 2; all layers as it takes them, whatever the models' own are
DEPTHS = {"op": 1, "fc2": 4, "fc1": 4, "ip": 3}  # in hidden sizes
TOKENS = 2048
CASES = [(model, sub, 32) for model in HIDDEN for sub in DEPTHS]
SPEEDUPS = (IDEAL, "t3-mca")


def study(bench):
    runs = bench.runs(CASES, ("sequential", *SPEEDUPS), layer=gemm)
    ideal, mca = [[speedup(runs, case, name) for case in CASES] for name in SPEEDUPS]
    rows = [(*case, two(ideal[i]), two(mca[i])) for i, case in enumerate(CASES)]
    rows += [("geomean", "", 32, two(geomean(ideal)), f"{two(geomean(mca))} (paper {two(paper.LARGE_GEOMEAN)})"),
             ("maximum", "", 32, two(max(ideal)), f"{two(max(mca))} (paper {two(paper.LARGE_MAXIMUM)})")]
    return Outcome(tables={"t3-large": table(("model", "sub-layer", "TP", *SPEEDUPS), rows)},
                   summary={"geomean_large": three(geomean(mca)), "max_large": three(max(mca))},
                   goals=[(paper.LARGE_GEOMEAN, geomean(mca)), (paper.LARGE_MAXIMUM, max(mca))])


def gemm(case):
    """Settings of the GEMM of one GPU."""
    model, sub, tp = case
    return (*OWN_GEMM, ("strategy.m", TOKENS), ("strategy.n", HIDDEN[model]),
            ("strategy.k", DEPTHS[sub] * HIDDEN[model] // tp), ("machine.topology.devices", tp))
