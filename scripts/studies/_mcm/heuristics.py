"""Every search without learning, on BERT and the 16 test graphs: how far above the bound, with and without refinement."""

from _parts import Outcome, geomean, two
from _runs import table

from .jobs import BERT, NETWORK, NO_LIMIT, SEARCHES, before_refining, best_of, bound_of, searched, test_graphs

PRIORS = {"uniform": 0, "sigma 1": 1, "sigma 0.5": 0.5, "sigma 0.25": 0.25}
SAMPLING = ("random", "annealing")


def study(simulator):
    bert = on_bert(simulator)
    graphs, gaps = on_graphs(simulator)
    summary = {f"bound_gap_{search.replace('-', '_')}": two(geomean(values)) for search, values in gaps.items()}
    return Outcome(tables={"mcm-bert": bert, "mcm-graphs": graphs}, summary=summary)


def on_bert(simulator):
    """On 32 MB, and without a limit."""
    rows = [(search, prior) for search in SEARCHES for prior in (PRIORS if search in SAMPLING else ("-",))]
    jobs = [(BERT, searched(search, ("strategy.sigma", PRIORS.get(prior, 0)), *memory)) for search, prior in rows for memory in ((), (NO_LIMIT,))]
    found = simulator.attempts(jobs)
    lines = [(search, prior, *of_bert(limited), *of_bert(free)) for (search, prior), limited, free in zip(rows, found[::2], found[1::2])]
    return table(("search", "prior", "32 MB: interval ms", "of the bound", "refined", "MB", "no limit: interval ms", "of the bound", "refined", "MB"), lines)


def of_bert(result):
    if result is None:
        return ("nothing fits", "-", "-", "-")
    bound, plain = bound_of(result), before_refining(result)
    memory = f"{best_of(result, 'most_memory_B') / 1e6:.0f}"
    if plain is None:
        return ("-", "-", two(best_of(result) / bound), memory)
    return (f"{plain * 1e-9:.2f}", two(plain / bound), two(best_of(result) / bound), memory)


def on_graphs(simulator):
    """A row a graph of what each search has, and refined, of the bound."""
    graphs = test_graphs()
    jobs = [(NETWORK, searched(search, ("model", graph), ("simulation.allow_oversubscription", "true"))) for graph in graphs for search in SEARCHES]
    found = dict(zip([(graph, search) for graph in graphs for search in SEARCHES], simulator.many(jobs)))
    plain, refined = {search: [] for search in SEARCHES}, {search: [] for search in SEARCHES}
    lines = []
    for graph in graphs:
        for search in SEARCHES:
            result = found[graph, search]
            plain[search].append(before_refining(result) / bound_of(result))
            refined[search].append(best_of(result) / bound_of(result))
        lines.append((graph, found[graph, SEARCHES[0]]["plan"]["nodes"], *[f"{plain[search][-1]:.2f} ({refined[search][-1]:.2f})" for search in SEARCHES]))
    lines.append(("geometric mean", "", *[f"{geomean(plain[search]):.2f} ({geomean(refined[search]):.2f})" for search in SEARCHES]))
    return table(("graph", "nodes", *SEARCHES), lines), plain
