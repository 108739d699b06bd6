"""Figure 6: the longer of GEMM and all-reduce, each on its share of 80 CUs."""

from _parts import Outcome, geomean, two
from _runs import table
from tessera_analysis import t3_figures
from tessera_analysis.bars import Row

from . import paper
from .bench import SUBLAYERS, TITLES, speedup

CASES = [(model, sub, 8) for model in ("mega-gpt2", "t-nlg") for sub in ("op", "fc2")]
SPLITS = ("ideal", "72-8", "64-16")  # CUs of GEMM and all-reduce; ideal: each has all


def study(bench):
    found = splits(bench)
    return Outcome(tables={"t3-cus": summary(found)},
                   pictures={"figure-6": (t3_figures.cu_sharing, (picture_rows(found), stated()))})


def splits(bench):
    """By split, for each case: times of GEMM and all-reduce over those of the ideal, and the speedup of overlapping them."""
    runs = {((at["model"], at["strategy.sublayer"], 8), at["strategy"]): result for at, result in bench.sweep("cu-sharing")}
    times = {key: split_seconds(result) for key, result in runs.items()}

    def of(case, name):
        slower = [own / alone for own, alone in zip(times[case, name], times[case, "ideal"])]
        return {"gemm": slower[0], "all-reduce": slower[1], "speedup": speedup(runs, case, name)}

    return {name: {case: of(case, name) for case in CASES} for name in SPLITS}


def split_seconds(result):
    """GEMM, and reduce-scatter with all-gather, of cu-split."""
    gemm = [row for row in result["kernels"] if row["stream"] == 0]
    copies = [row for row in result["kernels"] if row["stream"] == 1]
    return [sum(row["end_ps"] - row["begin_ps"] for row in rows) * 1e-12 for rows in (gemm, copies)]


def geomeans(values):
    return {key: geomean([value[key] for value in values.values()]) for key in ("gemm", "all-reduce", "speedup")}


def summary(found):
    rows = []
    for name, values in found.items():
        mean = geomeans(values)
        rows.append((name, two(paper.OVERLAP_SPEEDUP[name]), two(mean["speedup"]), f"{100 * (mean['gemm'] - 1):.0f} %",
                     f"{100 * (mean['all-reduce'] - 1):.0f} %"))
    return table(("CUs, GEMM-AR", "paper", "simulated", "GEMM slower by", "AR slower by"), rows)


def picture_rows(found):
    rows = []
    for name, values in found.items():
        rows += [Row(name, f"{TITLES[model]}\n{SUBLAYERS[sub]}", values[model, sub, tp]) for model, sub, tp in CASES]
        rows.append(Row(name, "geomean", geomeans(values)))
    return rows


def stated():
    return {(name, "geomean"): {key: values[name] for key, values in (("gemm", paper.GEMM_SLOWDOWN), ("all-reduce", paper.AR_SLOWDOWN),
                                                                     ("speedup", paper.OVERLAP_SPEEDUP)) if name in values}
            for name in SPLITS}
