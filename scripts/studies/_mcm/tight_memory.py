"""What was tried so that a search from a policy finds partitions that fit: the validation graphs, on chips as full as BERT's 32 MB are."""

from _parts import Outcome
from _runs import table

from .jobs import BERT, NETWORK, NO_LIMIT, POLICY, graphs_of
from .small_chips import fitting

SEEDS, SAMPLES = (0, 1), 300
PACKAGE = ("strategy.evaluator", "package")
VARIANTS = {
    "as it is": (),
    "reward credited to what was drawn": (("strategy.learning.credit", "proposed"),),
    "SAMPLE for FIX": (("strategy.learning.solver", "sample"),),
    "entropy 0, steps x 5": (("strategy.learning.entropy", 0), ("strategy.learning.fine_tuning_step", 0.0005)),
    "entropy x 5": (("strategy.learning.entropy", 0.05),),
}


def study(simulator):
    """How full `contiguous` makes a chip says how large the chips are: as BERT's to 32 MB."""
    graphs = graphs_of("validation")
    contiguous = (("strategy.search", "contiguous"), NO_LIMIT)
    whole, *each = simulator.many([(BERT, contiguous), *[(NETWORK, (*contiguous, PACKAGE, ("model", graph))) for graph in graphs]])
    room = 32e6 / whole["peak_memory"]
    capacity = {graph: int(room * result["peak_memory"]) for graph, result in zip(graphs, each)}
    lines = []
    for name, settings in VARIANTS.items():
        base = (("strategy.search", "ppo"), ("strategy.policy", POLICY), ("strategy.samples", SAMPLES), PACKAGE, *settings)
        jobs = [(NETWORK, (*base, ("model", graph), ("machine.device.memory_capacity", f"{capacity[graph]} B"))) for graph in graphs]
        by_seed = [simulator.later(seed).attempts(jobs) for seed in SEEDS]
        lines.append((name, *["/".join(f"{len(fits)} ({fits[0] if fits else 'never'})" for fits in map(fitting, found)) for found in zip(*by_seed)]))
    head = ("fine-tuned", *[f"{graph}, {capacity[graph] / 1e6:.1f} MB" for graph in graphs])
    return Outcome(tables={"mcm-tight-memory": table(head, lines)}, summary={"room_of_contiguous": f"{room:.2f}"})
