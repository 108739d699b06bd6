"""Figure 18: what a GPU reads from its DRAM and writes to it, sequential and with T3-MCA."""

from _parts import Outcome, geomean, three, two
from _runs import table
from tessera_analysis import t3_figures
from tessera_analysis.bars import Row

from . import paper
from .bench import SMALL, place

CLASSES, FEWER = t3_figures.TRAFFIC, t3_figures.FEWER


def study(bench):
    pairs, totals, fewer = found(bench)
    return Outcome(
        tables={"t3-traffic": accesses(pairs, totals), "t3-movement": movement(totals, fewer)},
        pictures={"figure-18": (t3_figures.data_movement, (access_rows(pairs), fewer_rows(totals, fewer), stated()))},
        summary=summary(bench))


def found(bench):
    """Traffic of each case, sequential and with T3-MCA; all of it over that of sequential; factors by TP degree."""
    runs = bench.runs(SMALL, ("sequential", "t3-mca"))
    pairs = {case: [runs[case, name]["traffic"] for name in ("sequential", "t3-mca")] for case in SMALL}
    totals = [sum(fused.values()) / sum(base.values()) for base, fused in pairs.values()]
    fewer = {tp: fewer_by([pairs[case] for case in SMALL if tp in ("both", case[2])]) for tp in (8, 16, "both")}
    return pairs, totals, fewer


def summary(bench):
    _, totals, fewer = found(bench)
    return {"rs_reads_tp8": three(fewer[8]["RS reads"]), "rs_reads_tp16": three(fewer[16]["RS reads"]),
            "total_traffic_geomean": three(geomean(totals))}


def fewer_by(pairs):
    """Sequential over T3-MCA, by kind of access."""
    counts = {"GEMM reads": ("gemm_read",), "RS reads": ("reduce_scatter_read",),
              "GEMM and RS writes": ("gemm_write", "reduce_scatter_write")}
    return {name: geomean([sum(base[key] for key in keys) / sum(fused[key] for key in keys) for base, fused in pairs])
            for name, keys in counts.items()}


def accesses(pairs, totals):
    rows = [(*case, *[f"{base[key] / 1e6:.0f} / {fused[key] / 1e6:.0f}" for key in CLASSES], f"{100 * (total - 1):+.0f} %")
            for (case, (base, fused)), total in zip(pairs.items(), totals)]
    return table(("model", "sub-layer", "TP", *[key.replace("_", " ") for key in CLASSES], "all"), rows)


def movement(totals, fewer):
    values = [("all, geomean", f"{100 * (paper.TRAFFIC_GEOMEAN - 1):+.0f} %", f"{100 * (geomean(totals) - 1):+.0f} %"),
              ("all, greatest", f"{100 * (paper.TRAFFIC_GREATEST - 1):+.0f} %", f"{100 * (min(totals) - 1):+.0f} %")]
    values += [(f"{name}{at(tp)}, fewer by", f"{paper.FEWER[name][tp]:g}", three(fewer[tp][name])) for tp in fewer for name in fewer[tp]]
    return table(("DRAM traffic of a GPU", "paper", "simulated"), values)


def at(tp):
    return "" if tp == "both" else f" at TP {tp}"


def access_rows(pairs):
    return [Row(*place(case), {"sequential": base, "t3-mca": fused}) for case, (base, fused) in pairs.items()]


def fewer_rows(totals, fewer):
    return [Row("all accesses", "geomean", {FEWER: 1 / geomean(totals)}), Row("all accesses", "greatest", {FEWER: 1 / min(totals)}),
            *[Row(name, label(tp), {FEWER: fewer[tp][name]}) for name in paper.FEWER for tp in fewer]]


def stated():
    values = {("all accesses", "geomean"): {FEWER: 1 / paper.TRAFFIC_GEOMEAN}, ("all accesses", "greatest"): {FEWER: 1 / paper.TRAFFIC_GREATEST}}
    return values | {(name, label(tp)): {FEWER: factor} for name, factors in paper.FEWER.items() for tp, factor in factors.items()}


def label(tp):
    return tp if tp == "both" else f"TP {tp}"
