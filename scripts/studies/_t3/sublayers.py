"""Figures 15 and 16: what the time of the sub-layers consists of, and how much faster they become."""

from _parts import Outcome, geomean, three, two
from _runs import table
from tessera_analysis import t3_figures
from tessera_analysis.bars import Row

from . import data_movement, paper
from .bench import IDEAL, SMALL, kernel_seconds, place, speedups

SPEEDUPS = (IDEAL, "ideal-rs-nmc", "t3", "t3-mca")


def study(bench):
    runs = bench.sublayers()
    parts = {case: kernel_seconds(runs[case, "sequential"]) for case in SMALL}
    found = {name: speedups(runs, SMALL, name) for name in SPEEDUPS}
    ideal, t3, mca = found[IDEAL], found["t3"], found["t3-mca"]
    return Outcome(
        tables={"t3-sublayers": sublayers(parts, found), "t3-totals": totals(ideal, t3, mca)},
        pictures={"figure-15": (t3_figures.sublayer_time, (time_rows(parts),)),
                  "figure-16": (t3_figures.sublayer_speedups, (speedup_rows(found), stated()))},
        summary={"geomean_ideal": three(geomean(ideal)), "geomean_t3": three(geomean(t3)), "max_t3": three(max(t3)),
                 "geomean_t3_mca": three(geomean(mca)), "max_t3_mca": three(max(mca)), **data_movement.summary(bench)},
        goals=[(paper.GEOMEAN[IDEAL], geomean(ideal)), (paper.GEOMEAN["t3"], geomean(t3)), (paper.MAXIMUM["t3"], max(t3)),
               (paper.MAXIMUM["t3-mca"], max(mca))])


def sublayers(parts, found):
    rows = [(*case, *[f"{1e6 * length:.0f}" for length in parts[case]], *[two(found[name][i]) for name in SPEEDUPS],
             "ideal fitted" if case in paper.IDEAL_SPEEDUPS else "") for i, case in enumerate(SMALL)]
    return table(("model", "sub-layer", "TP", "GEMM us", "RS us", "AG us", *SPEEDUPS, ""), rows)


def totals(ideal, t3, mca):
    """The paper's figures of 6.1 beside ours."""
    values = [("ideal overlap, geomean", paper.GEOMEAN[IDEAL], geomean(ideal), ""),
              ("ideal overlap, maximum", paper.MAXIMUM[IDEAL], max(ideal), "fitted"),
              ("T3, geomean", paper.GEOMEAN["t3"], geomean(t3), ""), ("T3, maximum", paper.MAXIMUM["t3"], max(t3), ""),
              ("T3-MCA, geomean", paper.GEOMEAN["t3-mca"], geomean(mca), ""),
              ("T3-MCA, maximum", paper.MAXIMUM["t3-mca"], max(mca), ""),
              ("T3-MCA over T3, maximum", paper.MCA_OVER_T3_MAXIMUM, max(b / a for a, b in zip(t3, mca)), ""),
              ("T3-MCA over ideal overlap, geomean", paper.MCA_OVER_IDEAL, geomean(mca) / geomean(ideal), "")]
    rows = [(name, two(stated), two(ours), f"{ours - stated:+.2f}", note) for name, stated, ours, note in values]
    return table(("speedup", "paper", "simulated", "difference", ""), rows)


def time_rows(parts):
    return [Row(*place(case), dict(zip(("gemm", "reduce-scatter", "all-gather"), parts[case]))) for case in SMALL]


def speedup_rows(found):
    rows = [Row(*place(case), {name: found[name][i] for name in SPEEDUPS}) for i, case in enumerate(SMALL)]
    for label, over_all in (("geomean", geomean), ("max", max)):
        rows.append(Row("all", label, {name: over_all(found[name]) for name in SPEEDUPS}))
    return rows


def stated():
    """By (group, label) of a row, and series."""
    values = {place(case): {IDEAL: speedup} for case, speedup in paper.IDEAL_SPEEDUPS.items()}
    return {**values, ("all", "geomean"): paper.GEOMEAN, ("all", "max"): paper.MAXIMUM}
