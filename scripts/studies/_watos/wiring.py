"""Figure 11: hops of pipeline and pairs, told from bytes on links."""

import json

from _parts import Outcome, two
from _runs import table

EXPERIMENT = "watos/figure-11.toml"
BATCHES = (64, 128)  # what differs between them is pipeline and loans
PAPER = {"serpentine along rows (a)": (22, 12), "serpentine down columns": (16, 8)}


def rectangle(x, y):
    return [8 * (y + j) + x + i for j in range(2) for i in range(4)]


PLACES = {
    "serpentine along rows (a)": [rectangle(x, y) for x, y in ((0, 0), (4, 0), (4, 2), (0, 2), (0, 4), (4, 4), (4, 6), (0, 6))],
    "serpentine down columns": [rectangle(0, y) for y in (0, 2, 4, 6)] + [rectangle(4, y) for y in (6, 4, 2, 0)],
}


def study(simulator):
    lines, goals = [], []
    for name, places in PLACES.items():
        stages = json.dumps([{"devices": devices} for devices in places]).replace('"devices":', "devices =")
        pipeline, lent = hops(simulator, (("strategy.stages", stages),))
        wanted = PAPER[name]
        goals += [(wanted[0], pipeline), (wanted[1], lent)]
        lines.append((name, wanted[0], two(pipeline), wanted[1], two(lent), wanted[0] + wanted[1], two(pipeline + lent)))
    header = ("placement", "pipeline", "simulated", "two pairs", "simulated", "in all", "simulated")
    sums = [(sum(PAPER[name]), float(line[-1])) for name, line in zip(PLACES, lines)]
    return Outcome(tables={"figure 11": table(header, lines)}, goals=goals,
                   claims=[("figure 11: hops, along rows and down columns", ", ".join(str(paper) for paper, _ in sums), ", ".join(f"{ours:g}" for _, ours in sums), all(paper == ours for paper, ours in sums))])


def hops(simulator, settings):
    """Of the pipeline, and of both pairs: bytes that a sequence more puts on links, by the bytes that are sent."""
    without = [(EXPERIMENT, (*settings, ("workload.global_batch", batch), ("strategy.loans", "[]"))) for batch in BATCHES]
    lending = [(EXPERIMENT, (*settings, ("workload.global_batch", batch))) for batch in BATCHES]
    found = simulator.many(without + lending)
    more = [(b["bytes_on_links"] - a["bytes_on_links"]) / (BATCHES[1] - BATCHES[0]) for a, b in (found[:2], found[2:])]
    message = 2 * 2048 * 4096  # an activation; on each boundary one goes on and its gradient comes back
    questions = 8 * sum(loan["hops"] for loan in found[2]["loans"]) / 8  # 8 B each, of one of the eight replicas
    lent = found[2]["loans"][0]["bytes"]
    return more[0] / (2 * message), (more[1] - more[0] - questions) / (2 * lent)
