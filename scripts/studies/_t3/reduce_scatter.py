"""Figure 14: the reduce-scatter alone on 4 GPUs, against the closed form."""

from _parts import Outcome, two
from _runs import table
from tessera_analysis import t3_figures

from .bench import kernel_seconds


def study(bench):
    points = bench.simulator.sweep("t3/reduce-scatter")
    sizes = [at["strategy.m"] // 1024 for at, _ in points]  # MiB: rows of 1 KiB
    found = [(size, closed_form(size), kernel_seconds(result)[0]) for size, (_, result) in zip(sizes, points)]
    rows = [(f"{size} MiB", f"{1e6 * expected:.1f}", f"{1e6 * ours:.1f}", f"{100 * (ours / expected - 1):+.2f} %")
            for size, expected, ours in found]
    worst = max(abs(ours / expected - 1) for _, expected, ours in found)
    return Outcome(tables={"t3-passes": table(("reduce-scatter on 4 GPUs", "closed form us", "simulated us", "difference"), rows)},
                   pictures={"figure-14": (t3_figures.reduce_scatter, (found,))},
                   summary={"rs_closed_form_pct": two(100 * worst)})


def closed_form(megabytes):
    """The last reduction reads two chunks and writes one; the L2 keeps what half of it holds, beside what it has read."""
    size = megabytes * 2**20
    written = max(0, size / 4 - 8 * 2**20)
    return 3 * (500e-9 + size / 4 / 75e9) + (2 * size / 4 + written) / 1.024e12
