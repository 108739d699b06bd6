"""What learning is worth beyond the paper: behind refinement, on packages of other sizes, on a transformer that no training graph resembles."""

from _parts import Outcome, two
from _runs import table

from .jobs import BERT, NO_LIMIT, before_refining, best_of, bound_of
from .learning import METHODS, SPOKEN

SAMPLES = 200
JOBS = {
    "BERT, 36 chips": (),
    "BERT, 18 chips": (("machine.topology.chiplets", 18), ("strategy.stretch_policy", "true")),
    "BERT, 72 chips": (("machine.topology.chiplets", 72), ("strategy.stretch_policy", "true")),
    "Llama 2 7B, 36 chips": (("model", "llama2-7b"),),
}


def study(simulator):
    """Interval over the bound, and behind refinement: a row a search, two columns a job."""
    asked = {(method, name): (BERT, (*settings, *more, ("strategy.samples", SAMPLES), ("strategy.refine", "true"), NO_LIMIT)) for method, settings in METHODS.items() for name, more in JOBS.items()}
    asked |= {("contiguous", name): (BERT, (("strategy.search", "contiguous"), ("strategy.refine", "true"), NO_LIMIT, *[pair for pair in more if pair[0] != "strategy.stretch_policy"])) for name, more in JOBS.items()}
    found = dict(zip(asked, simulator.many(asked.values())))
    spoken = SPOKEN | {"contiguous": "contiguous"}
    lines = [(spoken[method], *[both(found[method, name]) for name in JOBS]) for method in spoken]
    gaps = {f"bound_gap_{method.replace('-', '_')}": two(before_refining(found[method, "BERT, 36 chips"]) / bound_of(found[method, "BERT, 36 chips"])) for method in METHODS}
    return Outcome(tables={"mcm-elsewhere": table(("search", *JOBS), lines)}, summary=gaps)


def both(result):
    bound = bound_of(result)
    return f"{two(before_refining(result) / bound)} ({two(best_of(result) / bound)})"
