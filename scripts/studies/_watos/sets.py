"""Figure 7: sets that differ in what they keep, repeat and send."""

from _parts import Outcome, seconds, three
from _runs import table

from .jobs import stages_that_repeat

EXPERIMENT = "watos/figure-7.toml"
STAGES = 16
TYPES = {"type 0: nothing": [], "type 1: the gate": ["activation"], "type 2: fc1": ["fc1"], "both": ["fc1", "activation"],
         "selective": ["selective"], "full": ["full"]}


def study(simulator):
    jobs = [(EXPERIMENT, stages_that_repeat(STAGES, STAGES if what else 0, what or ["none"])) for what in TYPES.values()]
    found = simulator.many(jobs)
    lines = []
    for name, result in zip(TYPES, found):
        stage = result["stages"][1]
        lines.append((name, f"{stage['kept_bytes'] * 1e-6:.0f}", f"{stage['repeated_ps'] * 1e-9:.2f}",
                      f"{stage['repeated_collectives_ps'] * 1e-9:.2f}", f"{result['bytes_on_links'] * 1e-12:.2f}",
                      f"{max(peak for peak, _ in result['memory_of_stages'].values()) * 1e-9:.1f}", three(seconds(result))))
    header = ("runs again", "kept MB", "operators ms", "collectives ms", "on links TB", "fullest die GB", "iteration s")
    return Outcome(tables={"figure 7": table(header, lines)})
