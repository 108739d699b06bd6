"""Figure 20: seven earlier works that explore designs, each our search with what section VI-A and table I of the paper leave it."""

from _parts import Outcome, share, two
from _runs import table
from tessera_analysis import watos_figures

from . import generation, works_plans
from .cells import WAYS, Cell, performance_of
from .jobs import ONE_FOR_CERTAIN, ROOM_FOR_ALL
from .works_plans import BEST, FEW, ONE_DIMENSION, SETS, TOPOLOGIES

CELLS = tuple(Cell(model, 4096, 2, 64) for model in ("GPT-175B", "Llama3-70B", "Llama2-30B"))
OURS, FIRST, LAST, MORE, LESS = "WATOS", "WATOS", "Timeloop", "Calculon", "DFModel"
BLIND, PRODUCT = "DFModel, blind", "Gemini, access x time"
# Ticks of table I: computing, memory, D2D, knows recomputation, the wafer's constraints, its co-design. Then cuts, what runs again, where.
READ = {
    "Timeloop": ("✓ × × × × ×", "by Megatron's rule", "nothing or all", "config 3"),
    "DFModel": ("✓ × × × × ×", "the fastest", "nothing or all", "config 3"),
    "Calculon": ("✓ ✓ × ✓ × ×", "the fastest", "nothing, selective or all", "config 3"),
    "Hecaton": ("✓ ✓ ✓ × × ×", "the fastest in two dimensions", "nothing or all", "config 3"),
    "Gemini": ("✓ ✓ ✓ × × ×", "the least DRAM access", "nothing or all", "config 3"),
    "PD": ("✓ × ✓ × ✓ ✓", "the fastest, places by Eq. (2)", "nothing or all", "its best topology"),
    "WSC-LLM": ("low × × × ✓ ✓", "the fastest", "nothing or all", "its best configuration at generation"),
    OURS: ("✓ ✓ ✓ ✓ ✓ ✓", "all, also in two dimensions", "a set of each stage, memory lent", "config 3"),
}


def study(simulator):
    served = {cell: generation.served(simulator, cell) for cell in CELLS}
    found = first_runs(simulator, served)
    runs = {cell: works_plans.of_cell(cell, {key: result for (of, key), result in found.items() if of == cell}, served[cell], simulator) for cell in CELLS}
    return outcome_of(runs, served)


def first_runs(simulator, served):
    """Searches that wait for no other, by cell and key."""
    jobs = {}
    for cell in CELLS:
        jobs |= {(cell, "whole"): cell.job(*ONE_FOR_CERTAIN), (cell, "rule"): cell.job(*ONE_DIMENSION, *WAYS["MG-wafer (a)"]), (cell, "calculon"): cell.job(*ONE_DIMENSION, *BEST),
                 (cell, "room"): cell.job(*SETS["none"], *FEW, *ROOM_FOR_ALL)}
        for again, setting in SETS.items():
            jobs[cell, ("all", again)] = cell.job(*setting, *FEW)
            for place in (*TOPOLOGIES, generation.chosen(served[cell])):
                jobs[cell, ("uniform", place, again)] = works_plans.at(cell, place, *setting, *ONE_DIMENSION, *BEST)
    return dict(zip(jobs, simulator.searched(jobs.values())))


def outcome_of(runs, served):
    """`runs`: (s, s of the bound, plan) by work, with what else stands in tables, by cell."""
    return Outcome(tables={"figure 20 read": table(("work", "table I", "cuts", "runs again", "machine"), [(name, *what) for name, what in READ.items()]),
                           "figure 20": per_cell(runs, lambda run, own: f"{two(run.seconds)} ({two(run.bound / run.seconds)})"),
                           "figure 20 gains": per_cell(runs, lambda run, own: two(run.seconds / own[OURS].seconds)),
                           "figure 20 plans": per_cell(runs, lambda run, own: run.plan),
                           "figure 20 shares": per_cell(runs, lambda run, own: ", ".join(f"{share:.1f}" for share in run.shares)),
                           "figure 20 topologies": topologies(runs), "figure 20 generation": generated(served)},
                   summary=counts(runs), claims=sentences(counts(runs)),
                   pictures={"figure-20": (watos_figures.performance, ("Figure 20: performance of eight works", {"": [bars(cell, own) for cell, own in runs.items()]}))})


def sentences(held):
    of = {f"figure 20: {FIRST} is first": "watos_first", f"figure 20: {LAST} is last": "timeloop_last", f"figure 20: {MORE} is faster than {LESS}": "calculon_over_dfmodel"}
    return [(sentence, "all", share(held[key], held["cells"]), held[key] == held["cells"]) for sentence, key in of.items()]


def per_cell(runs, text):
    lines = [(name, *[text(own[name], own) if own.get(name) else "does not fit" for own in runs.values()]) for name in (*READ, BLIND, PRODUCT)]
    return table(("work", *[title(cell) for cell in runs]), lines)


def bars(cell, own):
    """A row of a chart."""
    return performance_of("", title(cell), {name: own[name].seconds for name in READ if own.get(name)}, READ)


def title(cell):
    return ", ".join(map(str, cell.named()))


def topologies(runs):
    """Of PD by topology, and of the whole search where PD goes."""
    text = lambda run: f"{two(run.seconds)} ({two(run.bound / run.seconds)})" if run else "does not fit"
    names = [*TOPOLOGIES, works_plans.WHOLE_THERE]
    return table(("s (of its bound)", *[title(cell) for cell in runs]), [(name, *[text(own["topologies"].get(name)) if name in own["topologies"] else "it takes the mesh" for own in runs.values()]) for name in names])


def generated(served):
    """In brackets how much of its bound each reaches."""
    wafers = list(next(iter(served.values())))
    text = lambda speed: f"{speed.tokens:,.0f} ({two(speed.tokens / speed.most)})" if speed else "does not fit"
    return table(("tokens a second (of the bound)", *wafers, "taken"), [(cell.model, *[text(own[wafer]) for wafer in wafers], generation.chosen(own)) for cell, own in served.items()])


def counts(runs):
    """How many cells have the paper's orderings. A tie is no lead; what does not fit is behind what does."""
    time = lambda own, name: own[name].seconds if own.get(name) else float("inf")
    others = lambda own, name: [time(own, other) for other in READ if other != name]
    reached = [own[name].bound / own[name].seconds for own in runs.values() for name in READ if own.get(name)]
    ratio = lambda own: time(own, LESS) / time(own, MORE)
    return {"cells": len(runs), "watos_first": sum(time(own, FIRST) < min(others(own, FIRST)) for own in runs.values()),
            "watos_first_or_equal": sum(time(own, FIRST) <= min(others(own, FIRST)) for own in runs.values()),
            "timeloop_last": sum(time(own, LAST) > max(others(own, LAST)) for own in runs.values()),
            "calculon_over_dfmodel": sum(ratio(own) > 1 for own in runs.values()), "calculon_equals_dfmodel": sum(ratio(own) == 1 for own in runs.values()),
            "least_of_bound": two(min(reached)), "most_of_bound": two(max(reached))}
