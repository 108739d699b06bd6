"""Simulated against predicted near the optimum, where plans differ by less than the prediction is wrong: the plans that searches
simulate."""

from _parts import Outcome, seconds, two
from _runs import table

from .bench import MODELS, Cell, best_predicted, correlation, job

LAYERS, CANDIDATES = 2, 16
NEAR = 1.05  # times what is predicted of the best
CELLS = [Cell(model, gpus, algorithm=algorithm, overlap=overlap) for model in ("opt-6.7b", "opt-175b") for gpus in (8, 16)
         for algorithm, overlap in (("ring", False), ("hierarchical", False), ("ring", True))]


def study(bench):
    found = bench.simulator.many([job(cell, LAYERS, (("strategy.simulated", CANDIDATES),)) for cell in CELLS])
    gains = [gain(one) for one in found]
    deviations = [each for one in found for each in all_deviations(near(one))]
    keys = {"optimum_plans": len(deviations), "optimum_least_pct": f"{min(deviations):.2f}", "optimum_greatest_pct": f"{max(deviations):.2f}",
            "optimum_gain_pct": f"{100 * (max(gains) - 1):.1f}"}
    header = ("model", "GPUs", "all-reduce", "plans", "within 5 %", "rank correlation", "least", "greatest", "predicted first, ms", "fastest, ms", "gain")
    return Outcome(tables={"primepar-optimum": table(header, [row(cell, one) for cell, one in zip(CELLS, found)])}, summary=keys)


def row(cell, one):
    pairs = near(one)
    deviations = all_deviations(pairs)
    name = cell.algorithm + (", overlapped" if cell.overlap else "")
    return (MODELS[cell.model][0], cell.gpus, name, len(one["search"]), len(pairs), rank_correlation(pairs), f"{min(deviations):+.1f} %", f"{max(deviations):+.1f} %",
            f"{1e-9 * one['search'][0][2]:.1f}", f"{1e3 * seconds(one):.1f}", two(gain(one)))


def near(result):
    """(predicted, simulated) of the plans near the best predicted one, which is among them."""
    return [(predicted, simulated) for _, predicted, simulated in result["search"] if simulated and predicted <= NEAR * 1e12 * best_predicted(result)]


def gain(result):
    """What simulating them saves over taking the one that is predicted best."""
    return 1e-12 * result["search"][0][2] / seconds(result)


def all_deviations(pairs):
    return [100 * (simulated / predicted - 1) for predicted, simulated in pairs]


def rank_correlation(pairs):
    """Spearman's; equal values share their ranks."""
    if len(pairs) < 3 or any(len({pair[i] for pair in pairs}) == 1 for i in (0, 1)):
        return "-"
    return two(correlation(list(zip(*[ranks([pair[i] for pair in pairs]) for i in (0, 1)]))))


def ranks(values):
    return [sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2 for value in values]
