"""Figure 8: a pipeline of three stages whose first ones compute again."""

from _parts import Outcome, seconds, two
from _runs import table

from .jobs import stages_that_repeat

EXPERIMENT = "watos/figure-8.toml"
MICRO_BATCHES = 5
PAPER = {0: 21, 1: 24, 2: 26, 3: 28}  # units of a forward pass, by hand: (p - 1 + n)(F + B) and what is on the longest path


def study(simulator):
    jobs = [(EXPERIMENT, stages_that_repeat(3, stages, ["full"])) for stages in PAPER]
    found = simulator.many(jobs)
    unit = found[0]["mean_forward_ps"] * 1e-12 / MICRO_BATCHES
    lines, goals = [], []
    for (stages, units), result in zip(PAPER.items(), found):
        goals.append((units, seconds(result) / unit))
        lines.append((stages, units, two(seconds(result) / unit)))
    return Outcome(tables={"figure 8": table(("stages that compute again", "by hand", "simulated"), lines)}, goals=goals,
                   claims=[("figure 8: units of a forward pass", ", ".join(map(str, PAPER.values())), ", ".join(two(ours) for _, ours in goals), all(abs(ours - units) < 0.01 for units, ours in goals))])
