"""Figure 1: Llama3-70B on the wafer and on as many GPUs of an NVL72 with the same compute and memory; their links alone differ."""

from _parts import Outcome, geomean, three, two
from _runs import table

from .jobs import BOTH_WAYS, cut, placed

EXPERIMENT = "watos/figure-1.toml"
CUTS = {  # (replicas, TP, PP): tiles
    (1, 4, 14): ("2x2 * 12", "1x4"),
    (1, 8, 7): ("2x4 * 6", "1x8"),
    (2, 4, 7): ("2x2 * 12", "1x4"),
    (2, 2, 14): ("1x2",),
}
PAPER = 2.62  # times less communication
EXPOSED = ("tensor_communication", "data_communication", "pipeline_communication")
LATE = ("waiting", "bubble")


def study(simulator):
    jobs = {}
    for degrees, tiles in CUTS.items():
        settings = (*cut(*degrees[1:]), ("strategy.placement.tiles", "[]"))
        jobs |= {(degrees, "wafer, rows"): (EXPERIMENT, settings), (degrees, "wafer, tiles"): (EXPERIMENT, (*settings, *placed(*tiles))),
                 (degrees, "the same, rings both ways"): (EXPERIMENT, (*settings, *placed(*tiles), *BOTH_WAYS)),
                 (degrees, "NVL72"): (EXPERIMENT, (*settings, ("machine.include", "blackwell-ultra-56")))}
    found = dict(zip(jobs, simulator.many(jobs.values())))
    lines, ratios = [], {}
    for (degrees, machine), result in found.items():
        exposed = milliseconds(result, EXPOSED)
        ratio = milliseconds(found[degrees, "NVL72"], EXPOSED) / exposed
        ratios.setdefault(machine, []).append(ratio)
        lines.append(("D{} T{} P{}".format(*degrees), machine, *[f"{milliseconds(result, [one]):.1f}" for one in EXPOSED], f"{exposed:.1f}",
                      "" if machine == "NVL72" else two(ratio), f"{milliseconds(result, LATE):.0f}", three(result["iteration_time_ps"] * 1e-12)))
    header = ("cut", "machine", "tensor ms", "data ms", "pipeline ms", "exposed ms", "NVL72 over it", "waiting and bubbles ms", "iteration s")
    less, both_ways = (geomean(ratios[name]) for name in ("wafer, tiles", "the same, rings both ways"))
    return Outcome(tables={"figure 1": table(header, lines)},
                   claims=[("figure 1: times less exposed communication than an NVL72", two(PAPER), f"{two(less)}; {two(both_ways)} with rings both ways", both_ways >= 0.95 * PAPER)],
                   summary={"less_communication": two(less), "both_ways": two(both_ways), "paper": two(PAPER)})


def milliseconds(result, activities):
    """Of a device, in the mean."""
    return sum(result[f"mean_{one}_ps"] for one in activities) * 1e-9
