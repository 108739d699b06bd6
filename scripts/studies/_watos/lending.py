"""GPT-175B on 56 dies of config 3: lent memory beside free memory, recomputation, and a cut that needs neither."""

from _parts import Outcome, seconds, three, two
from _runs import table

from .jobs import BOTH_WAYS, ROOM_FOR_ALL, by_constant, cut, placed

EXPERIMENT = "watos/offload.toml"
BATCHES = (64, 512)
NONE = (("strategy.loans", "[]"),)
CASES = {
    "TP 4, PP 14, lending": (),
    "the same, along rows first": (("strategy.routes", "machine"),),
    "with free memory": (*NONE, *ROOM_FOR_ALL),
    "all computed again": (*NONE, ("strategy.recomputation", "full")),
    "TP 8, PP 7": (*NONE, *cut(8, 7), *placed("1x8")),
    "TP 8, PP 7, 2 x 4 dies": (*NONE, *cut(8, 7), *placed("2x4 * 6", "1x8")),
    "TP 4, PP 14, lending, rings both ways": BOTH_WAYS,
    "TP 8, PP 7, 2 x 4 dies, rings both ways": (*NONE, *cut(8, 7), *placed("2x4 * 6", "1x8"), *BOTH_WAYS),
}
PACKETS = ("16 KiB", "64 KiB", "128 KiB", "256 KiB", "1 MiB")


def study(simulator):
    found = results(simulator)
    base = {batch: seconds(found["with free memory", batch]) for batch in BATCHES}
    lines = []
    for name in CASES:
        cells = [found[name, batch] for batch in BATCHES]
        times = [part for batch, cell in zip(BATCHES, cells) for part in (two(seconds(cell)), f"{100 * (seconds(cell) / base[batch] - 1):+.1f}")]
        first = cells[0]
        lines.append((name, *times, f"{max(peak for peak, _ in first['memory_of_stages'].values()) * 1e-9:.1f}",
                      f"{first.get('max_offload_ps', 0) * 1e-9:.2f}", f"{lent(first) * 1e-12:.2f}"))
    header = ("GPT-175B, 4,096 x 1", "batch 64 s", "%", "batch 512 s", "%", "fullest die GB", "waited ms", "lent TB")
    over = [100 * (seconds(found["TP 4, PP 14, lending", batch]) / base[batch] - 1) for batch in BATCHES]
    return Outcome(tables={"lending": table(header, lines), "packets": packets(simulator), "sensitivity": sensitivity(simulator)},
                   summary={"lending_over_free_pct": f"{max(over):.2f}"})


def results(simulator):
    jobs = {(name, batch): (EXPERIMENT, (*settings, ("workload.global_batch", batch))) for name, settings in CASES.items() for batch in BATCHES}
    return dict(zip(jobs, simulator.many(jobs.values())))


def lent(result):
    """B that go out in an iteration of 64 sequences."""
    return 64 * sum(loan["bytes"] for loan in result["loans"])


def packets(simulator):
    jobs = {(size, batch): (EXPERIMENT, (("machine.packet", size), ("workload.global_batch", batch))) for size in PACKETS for batch in BATCHES}
    found = dict(zip(jobs, simulator.many(jobs.values())))
    lines = [(size, *[three(seconds(found[size, batch])) for batch in BATCHES]) for size in PACKETS]
    return table(("packet", "batch 64 s", "batch 512 s"), lines)


def sensitivity(simulator):
    """Each assumed constant halved and doubled: of lending and of free memory, and the one over the other."""
    cases = {name: (EXPERIMENT, CASES[name]) for name in ("TP 4, PP 14, lending", "with free memory")}
    lines = []
    for key, value, times in by_constant(simulator, cases):
        lending, free = times.values()
        lines.append((key, value, two(lending), two(free), f"{100 * (lending / free - 1):+.2f}"))
    return table(("constant", "value", "lending s", "free memory s", "%"), lines)
