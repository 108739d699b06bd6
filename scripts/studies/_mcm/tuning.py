"""How annealing was tuned: what a step does, then temperatures, on the five validation graphs of the random split alone."""

import itertools
import statistics
import tomllib

from _parts import Outcome, geomean, three
from _runs import ROOT, table

from .jobs import NETWORK, SAMPLES, best_of, bound_of

SEEDS = 3  # from the study's own on
TOGETHER = 8  # choices in a sweep, which keeps the graphs of all of its points in memory
NODES, SHARPNESS, CHAINS = (0.01, 0.03, 0.1, 0.3), (1, 2, 4), (1, 2, 4, 8)
FIRST, LAST = 0.1, 0.001  # while the others are chosen
TEMPERATURES = ((FIRST, LAST), (1, 0.01), (0.01, 0.0001), (0.1, 0.1), (0.01, 0.01), (0.001, 0.001))


def study(simulator):
    steps = list(itertools.product(NODES, SHARPNESS, CHAINS))
    found = dict(zip(steps, distances(simulator, [annealing(*step, FIRST, LAST) for step in steps])))
    best = min(steps, key=lambda step: geomean(found[step]))
    lines = [(nodes, sharpness, *[three(geomean(found[nodes, sharpness, chains])) for chains in CHAINS]) for nodes, sharpness in itertools.product(NODES, SHARPNESS)]
    *heated, random = distances(simulator, [*[annealing(*best, *pair) for pair in TEMPERATURES], [("strategy.search", "random")]])
    rows = [(f"annealing, {first} to {last}", three(geomean(values)), three(error(values))) for (first, last), values in zip(TEMPERATURES, heated)]
    rows.append(("random search", three(geomean(random)), three(error(random))))
    return Outcome(tables={"mcm-tuning": table(("part of the nodes", "sharpness", *[f"{count} chain{'s' if count > 1 else ''}" for count in CHAINS]), lines),
                           "mcm-temperatures": table(("temperatures", "of the bound", "standard error"), rows)},
                   summary={"tuned_nodes": best[0], "tuned_sharpness": best[1], "tuned_chains": best[2], "tuned_of_the_bound": three(geomean(found[best]))})


def annealing(nodes, sharpness, chains, first, last):
    values = {"nodes": nodes, "sharpness": sharpness, "chains": chains, "first": first, "last": last}
    return [("strategy.search", "annealing"), *[(f"strategy.annealing_{key}", value) for key, value in values.items()]]


def distances(simulator, choices):
    """By choice the interval over the bound, by seed the geometric mean of the graphs."""
    seeds = [simulator.later(i) for i in range(SEEDS)]
    by_seed = [[mean for i in range(0, len(choices), TOGETHER) for mean in means(one, choices[i : i + TOGETHER])] for one in seeds]
    return list(zip(*by_seed))


def means(simulator, choices):
    graphs = tomllib.loads((ROOT / "inputs" / "graphs" / "splits" / "random.toml").read_text())["validation"]
    common = (("strategy.samples", SAMPLES), ("simulation.allow_oversubscription", "true"))
    found = simulator.many([(NETWORK, (*choice, *common, ("model", graph))) for choice in choices for graph in graphs])
    each = [best_of(result) / bound_of(result) for result in found]
    return [geomean(each[i : i + len(graphs)]) for i in range(0, len(each), len(graphs))]


def error(values):
    return statistics.stdev(values) / len(values) ** 0.5
