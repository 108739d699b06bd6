"""Memory that messages use as well: what it adds to plans on the wafer, and the packet of its turns."""

from _parts import Outcome, seconds, three
from _runs import table

from .jobs import MEGATRON, ON_THE_WAFER, cut, placed

SHARED = (("cost.memory_traffic", "shared"),)
LONG = (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *cut(4, 14), *placed("2x2 * 12", "1x4"), ("strategy.routes", "unused-first")))
CASES = {
    "TP 4, PP 14": LONG,
    "TP 8, PP 7": (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *MEGATRON)),
    "TP 4, PP 14, lending (4,096 x 1)": ("watos/offload.toml", ()),
    "FSDP, a ring through the wafer": ("watos/fsdp.toml", ()),
}
PACKETS = ("16 KiB", "32 KiB", "64 KiB", "128 KiB", "1 MiB")


def study(simulator):
    jobs = {(name, shared): (experiment, (*settings, *shared)) for name, (experiment, settings) in CASES.items() for shared in ((), SHARED)}
    found = dict(zip(jobs, simulator.many(jobs.values())))
    lines = []
    for name in CASES:
        apart, shared = (seconds(found[name, how]) for how in ((), SHARED))
        lines.append((name, three(apart), three(shared), f"{100 * (shared / apart - 1):+.2f}"))
    sizes = simulator.many([(LONG[0], (*LONG[1], *SHARED, ("cost.memory_packet", size))) for size in PACKETS])
    packets = table(("packet of the memory", "iteration s"), [(size, f"{seconds(result):.4f}") for size, result in zip(PACKETS, sizes)])
    return Outcome(tables={"memory": table(("GPT-175B", "memory apart s", "shared s", "%"), lines), "memory packets": packets})
