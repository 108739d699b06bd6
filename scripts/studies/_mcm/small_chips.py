"""BERT on chips of 32 MB, where hardly a sample fits: how many do, and when the first one comes."""

from _parts import Outcome, two
from _runs import table

from .jobs import BERT, best_of, bound_of
from .learning import METHODS, SPOKEN

PRIORS = {"uniform": 0, "sigma 0.5": 0.5}
SEEDS, SAMPLES = (0, 1), 700


def study(simulator):
    """Each search from each start, two seeds."""
    rows = [(prior, method) for prior in PRIORS for method in METHODS]
    jobs = [(BERT, (*METHODS[method], ("strategy.samples", SAMPLES), ("strategy.sigma", PRIORS[prior]))) for prior, method in rows]
    by_seed = [simulator.later(seed).attempts(jobs) for seed in SEEDS]
    lines, summary = [], {}
    for (prior, method), *found in zip(rows, *by_seed):
        lines.append((SPOKEN[method], prior, *[column(result) for column in (valid, first, distance) for result in found]))
        summary[f"first_valid_{method.replace('-', '_')}_{prior.replace(' ', '_')}"] = "/".join(map(first, found))
    head = ("search", "start", *[f"{what}, seed {seed + 1}" for what in (f"valid of {SAMPLES}", "the first one", "best of the bound") for seed in SEEDS])
    return Outcome(tables={"mcm-small-chips": table(head, lines)}, summary=summary)


def fitting(result):
    """Numbers of the samples that fitted, from 1 on."""
    return [] if result is None else [i + 1 for i, cost in enumerate(result["tried"]["cost_ps"]) if cost > 0]


def valid(result):
    return str(len(fitting(result)))


def first(result):
    return str(next(iter(fitting(result)), "never"))


def distance(result):
    return "-" if result is None else two(best_of(result) / bound_of(result))
