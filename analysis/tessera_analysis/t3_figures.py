"""The figures of Pati et al., "T3" (ASPLOS 2024), in their own form: ours, and beside it what the paper's text states. Rows come
from scripts/studies/_t3."""

import matplotlib.pyplot as pyplot
import numpy
from matplotlib.ticker import ScalarFormatter

from . import style
from .bars import Chart, handles, offset

TRAFFIC = ("gemm_read", "gemm_write", "reduce_scatter_read", "reduce_scatter_write", "all_gather_read", "all_gather_write")
DURING_GEMM = TRAFFIC[:4]
FEWER = "fewer"  # the series of factors beside figure 18
BLUE, ORANGE, YELLOW, GREEN = ({"facecolor": colour} for colour in ("#0072B2", "#E69F00", "#F0E442", "#009E73"))  # in grey far apart
HATCHED = {"hatch": "////"}
LOOKS = {
    "gemm": BLUE, "reduce-scatter": ORANGE, "all-reduce": ORANGE, "all-gather": YELLOW,
    "other": {"facecolor": "#B0B0B0", "hatch": ".."},
    "gemm_read": BLUE, "gemm_write": BLUE | HATCHED,
    "reduce_scatter_read": ORANGE, "reduce_scatter_write": ORANGE | HATCHED,
    "all_gather_read": YELLOW, "all_gather_write": YELLOW | HATCHED,
    "t3": ORANGE, "t3-mca": BLUE, "ideal-gemm-rs-overlap": YELLOW, "ideal-rs-nmc": GREEN | HATCHED,
    "80 CUs": ORANGE, "160 CUs": BLUE, "speedup": GREEN, FEWER: GREEN,
}
KERNELS = {"gemm": "GEMM", "reduce-scatter": "reduce-scatter", "all-gather": "all-gather"}
T3_BARS = (("t3",), ("t3-mca",), ("ideal-gemm-rs-overlap", "ideal-rs-nmc"))
T3_NAMES = {"t3": "T3", "t3-mca": "T3-MCA", "ideal-gemm-rs-overlap": "ideal GEMM-RS overlap", "ideal-rs-nmc": "ideal RS+NMC, in addition"}


def traffic_name(name):
    return name.replace("gemm", "GEMM").replace("reduce_scatter", "RS").replace("all_gather", "AG").replace("_", " ") + "s"


def legend(axes, names, stated=False):
    axes.legend(handles=handles(LOOKS, names, stated), loc="lower left", bbox_to_anchor=(0, 1.0), ncol=len(names) + bool(stated),
                handlelength=1.4, columnspacing=1.6, borderaxespad=0.2)


def sublayer_time(rows):
    """Figure 15: rows of seconds by kernel."""
    figure, axes = pyplot.subplots(figsize=(10, 3.6), layout="constrained")
    style.title(figure, "Sub-layers, sequential: runtime by kernel")
    _shares(axes, rows, KERNELS)
    return figure


def _shares(axes, rows, parts, size=9):
    shares = [row._replace(values={"": {part: 100 * value / sum(row.values.values()) for part, value in row.values.items()}}) for row in rows]
    chart = Chart(axes, shares, LOOKS)
    chart.stacked(("",), parts)
    chart.name_rows(size)
    axes.set_ylim(0, 100)
    axes.set_ylabel("share of the runtime")
    style.percent_axis(axes.yaxis)
    legend(axes, parts)
    return chart


def sublayer_speedups(rows, stated):
    """Figure 16: rows of speedups over sequential, by configuration."""
    figure, axes = pyplot.subplots(figsize=(12, 4.4), layout="constrained")
    style.title(figure, "Sub-layers: speedup over sequential")
    _speedups(axes, rows, T3_BARS, stated).name_rows()
    legend(axes, T3_NAMES, stated=True)
    return figure


def _speedups(axes, rows, bars, stated):
    """Bars begin at 1, where nothing is gained."""
    chart = Chart(axes, rows, LOOKS)
    chart.beside(bars, base=1.0)
    chart.state(bars, stated)
    values = [values[name] for values in (*[row.values for row in rows], *stated.values()) for bar in bars for name in bar if name in values]
    axes.set_ylim(min(1, *values), max(values) + 0.35 * (max(values) - 1))
    axes.set_ylabel("speedup")
    return chart


def data_movement(rows, factors, stated):
    """Figure 18: rows of B by class, sequential and with T3-MCA; factors by which accesses become fewer."""
    figure, (accesses, fewer) = pyplot.subplots(2, 1, figsize=(12, 7.4), height_ratios=(1.5, 1), layout="constrained")
    style.title(figure, "DRAM accesses of a GPU: left bars sequential, right bars T3-MCA")
    scaled = [row._replace(values={name: {key: value / 1e6 for key, value in parts.items()} for name, parts in row.values.items()})
              for row in rows]
    chart = Chart(accesses, scaled, LOOKS)
    chart.stacked(("sequential", "t3-mca"), TRAFFIC)
    chart.name_rows()
    for x, row in zip(chart.xs, scaled):
        before, after = (sum(row.values[name].values()) for name in ("sequential", "t3-mca"))
        chart.note(x, max(before, after), f"{100 * (after / before - 1):+.0f} %")
    accesses.margins(y=0.12)
    accesses.set_ylabel("DRAM accesses in MB")
    legend(accesses, {name: traffic_name(name) for name in TRAFFIC})
    _factors(fewer, factors, stated)
    return figure


def _factors(axes, rows, stated):
    chart = Chart(axes, rows, LOOKS)
    chart.beside(((FEWER,),))
    chart.state(((FEWER,),), stated)
    chart.name_rows()
    axes.set_ylim(0, 1.25 * max(row.values[FEWER] for row in rows))
    axes.set_ylabel("fewer by the factor")
    legend(axes, {FEWER: "sequential over T3-MCA"}, stated=True)


def cu_sharing(rows, stated):
    """Figure 6: rows of times over those on all CUs, and of the speedup of overlapping them."""
    figure, (times, speedups) = pyplot.subplots(2, 1, figsize=(12, 6.4), layout="constrained")
    style.title(figure, "CUs shared by GEMM and all-reduce (number of each), TP 8")
    bars = (("gemm",), ("all-reduce",))
    chart = Chart(times, rows, LOOKS)
    chart.beside(bars)
    chart.state(bars, stated)
    chart.name_rows(size=7.5)
    times.set_ylim(0, 1.5 * max(row.values[name] for row in rows for (name,) in bars))
    times.set_ylabel("time over that on 80 CUs")
    legend(times, {"gemm": "GEMM", "all-reduce": "all-reduce"}, stated=True)
    _speedups(speedups, rows, (("speedup",),), stated).name_rows(size=7.5)
    legend(speedups, {"speedup": "potential speedup by overlap"}, stated=True)
    return figure


def more_cus(rows, notes):
    """Figure 20: rows of speedups of T3-MCA by number of CUs; notes say in words what the paper does."""
    figure, axes = pyplot.subplots(figsize=(7.5, 4), layout="constrained")
    style.title(figure, "T3-MCA on twice the CUs: speedup over sequential")
    names = ("80 CUs", "160 CUs")
    chart = _speedups(axes, rows, [(name,) for name in names], {})
    chart.name_rows()
    for x, row in zip(chart.xs, rows):
        for number, name in enumerate(names):
            chart.note(x + offset(number, len(names)), row.values[name], f"{row.values[name]:.2f}")
        axes.annotate(notes[row.group, row.label], (x, 0.98), xycoords=("data", "axes fraction"), ha="center", va="top", fontsize=9)
    legend(axes, dict(zip(names, names)))
    return figure


def reduce_scatter(points):
    """Figure 14: (MiB, seconds of the closed form, seconds simulated)."""
    sizes, expected, simulated = numpy.array(points).T
    figure, (times, errors) = pyplot.subplots(2, 1, figsize=(6.5, 5.6), height_ratios=(2.4, 1), sharex=True, layout="constrained")
    style.title(figure, "Reduce-scatter on 4 GPUs: simulated against closed form")
    ends = [0.7 * 1e6 * expected.min(), 1.5 * 1e6 * expected.max()]
    times.loglog(ends, ends, color="#606060", linestyle=":", label="equal")
    times.loglog(1e6 * expected, 1e6 * simulated, "o", color="#0072B2", label="simulated")
    for size, x, y in zip(sizes, 1e6 * expected, 1e6 * simulated):
        times.annotate(f"{size:.0f} MiB", (x, y), xytext=(7, -4), textcoords="offset points", va="top", fontsize=9)
    times.set_ylabel("simulated in us")
    times.legend(loc="upper left")
    errors.semilogx(1e6 * expected, 100 * (simulated / expected - 1), "o", color="#0072B2")
    errors.axhline(0, color="#606060", linestyle=":")
    errors.margins(y=0.3)
    errors.set_ylabel("difference")
    style.percent_axis(errors.yaxis)
    for axis in (times.xaxis, times.yaxis):
        axis.set_major_formatter(ScalarFormatter())
    errors.set_xlabel("closed form in us")
    return figure


def traffic_over_time(runs, ends, interval):
    """Figure 17, and a panel more: (begin_ps, class, B) of the GEMM alone, of T3 and of T3-MCA, where each GEMM ends, and the
    interval, both in us."""
    edges = interval * numpy.arange(int(1.02 * max(ends) / interval) + 1)
    figure, panels = pyplot.subplots(3, 1, figsize=(10, 8), sharex=True, sharey=True, layout="constrained")
    style.title(figure, "DRAM traffic of a GPU: FC-2 of T-NLG, TP 8, 4K tokens")
    for axes, run, end in zip(panels, runs, ends):
        _traffic(axes, run, edges, interval)
        axes.axvline(end, color="black", linestyle="--", linewidth=1)
        axes.set_ylabel("traffic in GB/s")
    panels[0].set_xlim(0, edges[-1])
    panels[0].set_ylim(bottom=0)
    panels[0].set_title(f"(a) GEMM alone: ends at {ends[0]:.0f} us", pad=26)
    for axes, name, end in zip(panels[1:], ("(b) T3", "T3-MCA (not in the paper's figure)"), ends[1:]):
        axes.set_title(f"{name}: GEMM ends at {end:.0f} us ({100 * (end / ends[0] - 1):+.0f} %)")
    panels[-1].set_xlabel("time in us")
    legend(panels[0], {name: traffic_name(name) for name in DURING_GEMM})
    return figure


def _traffic(axes, run, edges, interval):
    rates = {name: numpy.zeros(len(edges)) for name in DURING_GEMM}
    for begin, name, moved in run:
        number = round(begin * 1e-6 / interval)
        if name in rates and number < len(edges):
            rates[name][number] += moved / (interval * 1e3)  # B/us are MB/s
    base = numpy.zeros(len(edges))
    for name in DURING_GEMM:
        axes.fill_between(edges, base, base + rates[name], step="post", linewidth=0, edgecolor="white", **LOOKS[name])
        base = base + rates[name]


def iteration_time(rows, stated):
    """Figure 4: rows of seconds by kernel, and of "other" operations; the greatest share of communication that the paper states, by
    (group, label) of a row."""
    figure, axes = pyplot.subplots(figsize=(13, 3.6), layout="constrained")
    style.title(figure, "Iterations, sequential: runtime by kernel")
    parts = {**KERNELS, "other": "other operations"}
    chart = _shares(axes, rows, parts, size=7.5)
    for x, row in zip(chart.xs, rows):
        if (row.group, row.label) not in stated:
            continue
        share = stated[row.group, row.label]
        chart.mark(x, 100 * (row.values["gemm"] / sum(row.values.values()) + share), f"{100 * share:.0f} %")
    legend(axes, parts, stated="where communication would end with the paper's greatest share (as marked)")
    return figure


def iteration_speedups(rows, stated):
    """Figure 19: rows of speedups over sequential, of T3 and T3-MCA."""
    figure, axes = pyplot.subplots(figsize=(13, 4), layout="constrained")
    style.title(figure, "Iterations: speedup over sequential")
    names = ("t3", "t3-mca")
    _speedups(axes, rows, [(name,) for name in names], stated).name_rows(size=7.5)
    legend(axes, {name: T3_NAMES[name] for name in names}, stated=True)
    return figure
