"""Figures 12 and 24(b): how the best fitness of the genetic search falls by generation at each omega, the share that is taken by rank."""

import statistics

from _parts import Outcome, three
from _runs import table
from tessera_analysis import watos_figures

from .jobs import ONE_FOR_CERTAIN, SEARCHED, cut

OMEGAS = (0.0, 0.1, 0.3, 0.5, 0.7, 1.0)
SEEDS = 10
FITNESSES = ("product", "time")
PS = 1e12
GENERATIONS = (1, 10, 30, 100)
ONE = (*cut(4, 14), ("strategy.search.rivals", "false"), ("strategy.search.candidates", 1), *ONE_FOR_CERTAIN)  # one candidate that needs loans


def study(simulator):
    jobs = {(omega, seed): (SEARCHED, (*ONE, ("strategy.search.elitism", omega), ("simulation.seed", simulator.seed + seed))) for omega in OMEGAS for seed in range(SEEDS)}
    curves = {job: curve_of(result) for job, result in zip(jobs, simulator.searched(jobs.values()))}
    whole = outcome_of(curves)
    whole.tables["fitness"] = by_fitness(simulator)
    return whole


def by_fitness(simulator):
    """The same candidate bred by each fitness: the plan that the genetic search begins with, and that it ends with."""
    lines = []
    for name in FITNESSES:
        (result,) = simulator.searched([(SEARCHED, (*ONE, ("strategy.search.fitness", name)))])
        for what, origin in (("begins with", "memory"), ("ends with", "genetic")):
            row = next(row for row in result["tried"].to_dict("records") if row["origin"] == origin)
            lines.append((name, what, three(row["predicted_ps"] / PS), three(row["cost_ps"] / PS) if row["cost_ps"] else "bound is slower"))
    return table(("fitness", "the search", "predicted s", "simulated s"), lines)


def curve_of(result):
    return [float(value) for value in result["genetic"]["fitness"]]


def outcome_of(curves):
    """Of curves by (omega, seed), each a fitness by generation."""
    best = min(curve[-1] for curve in curves.values())
    lines, last, drawn = [], {}, {}
    for omega in dict.fromkeys(omega for omega, _ in curves):
        own = [[value / best for value in curve] for (other, _), curve in curves.items() if other == omega]
        means = [(statistics.mean(at), statistics.stdev(at)) for at in ([curve[generation] for curve in own] for generation in GENERATIONS)]
        last[omega] = means
        drawn[omega] = [statistics.mean(at) for at in zip(*own)]
        lines.append((f"{omega:.1f}", *[f"{mean:.2f} +- {spread:.2f}" for mean, spread in means]))
    differ = [column for column in range(len(GENERATIONS)) if len({means[column][0] for means in last.values()}) > 1]
    fastest = {GENERATIONS[column]: min(last, key=lambda omega: last[omega][column][0]) for column in differ}
    said = "\n".join(f"- Lowest mean at generation {generation}: omega {omega:.1f}." for generation, omega in fastest.items())
    return Outcome(tables={"omega": table(("omega", *[f"generation {generation}" for generation in GENERATIONS]), lines), "omega best": said},
                   pictures={"figure-24b": (watos_figures.figure_24b, (drawn,))}, summary={"best_omega": f"{fastest[max(fastest)]:.1f}"},
                   claims=[("figure 24(b): tournaments alone end better than elitism alone", "yes", f"{last[0.0][-1][0]:.2f} and {last[1.0][-1][0]:.2f} of the best", last[0.0][-1][0] < last[1.0][-1][0])])
