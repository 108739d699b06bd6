"""What a policy learns beside searches that learn nothing, from the same start: Figures 5 and 6, Tables 2 and 3."""

import math
import pathlib
import tempfile

import pandas

from _parts import Outcome, geomean, two
from _runs import table
from tessera_analysis import learning_figure

from .jobs import BERT, NETWORK, NO_LIMIT, POLICY, TRAINING, bound_of, graphs_of



def methods_from(policy):
    """Settings of each search; the last two begin with this policy."""
    return {
        "random": (("strategy.search", "random"),),
        "annealing": (("strategy.search", "annealing"),),
        "ppo": (("strategy.search", "ppo"),),
        "zero-shot": (("strategy.search", "zero-shot"), ("strategy.policy", policy)),
        "fine-tuned": (("strategy.search", "ppo"), ("strategy.policy", policy)),
    }


METHODS = methods_from(POLICY)
SPOKEN = {"random": "Random", "annealing": "annealing", "ppo": "RL from scratch", "zero-shot": "RL zero-shot", "fine-tuned": "RL fine-tuned"}
NEVER = math.inf
SEEDS = (0, 1, 2)  # above the study's own

# The paper's samples to its levels (Tables 2 and 3).
TABLE_2 = {"random": (305, 915, 3612), "annealing": (255, 979, NEVER), "ppo": (330, 676, 1496), "zero-shot": (196, 600, 3652), "fine-tuned": (171, 503, 1362)}
LEVELS_2, SHARES_2 = (1.60, 1.70, 1.80), (0.84, 0.90, 0.95)
TABLE_3 = {"random": (447, NEVER, NEVER), "annealing": (576, NEVER, NEVER), "ppo": (112, 423, 607), "zero-shot": (NEVER, NEVER, NEVER), "fine-tuned": (20, 20, 161)}
LEVELS_3, SHARES_3 = (2.55, 2.60, 2.65), (0.93, 0.95, 0.97)


def best_so_far(result, samples):
    """Best reward by sample, of a search's table; what was not asked for any more is as good as what was."""
    best = list(result["tried"]["reward"].cummax())
    return best + best[-1:] * (samples - len(best))


def curves(simulator, experiment, graphs, seeds, samples, more, methods=METHODS):
    """Of each method and seed the geometric mean over graphs of the best reward by sample."""
    found = {}
    for seed in seeds:
        asked = {(method, seed, graph): (experiment, (*settings, ("strategy.samples", samples), *graph, *more)) for method, settings in methods.items() for graph in graphs}
        found |= zip(asked, simulator.later(seed).many(asked.values()))
    rewards = {key: best_so_far(result, samples) for key, result in found.items()}
    geometric = {(method, seed): [geomean([max(rewards[method, seed, graph][i], 1e-9) for graph in graphs]) for i in range(samples)]
                 for method in METHODS for seed in seeds}
    return geometric, found


def frame_of(geometric, method, seeds):
    """Mean and deviation over seeds by sample, as learning_figure draws it."""
    runs = pandas.DataFrame({seed: geometric[method, seed] for seed in seeds}, index=range(1, len(geometric[method, seeds[0]]) + 1))
    return pandas.DataFrame({"mean": runs.mean(axis=1), "deviation": runs.std(axis=1).fillna(0)})


def samples_to(curve, level):
    reached = [i + 1 for i, value in enumerate(curve) if value >= level]
    return reached[0] if reached else NEVER


def median(values):
    """Over seeds; "never" is more than any number."""
    return sorted(values)[len(values) // 2]


def spoken(count):
    return "never" if count == NEVER else str(count)


def reached(geometric, seeds, levels):
    return {method: [median([samples_to(geometric[method, seed], level) for seed in seeds]) for level in levels] for method in METHODS}


def ends(geometric, seeds):
    return {method: [geometric[method, seed][-1] for seed in seeds] for method in METHODS}


def picture(geometric, seeds, title):
    return learning_figure.draw_means, ({SPOKEN[method]: frame_of(geometric, method, seeds) for method in METHODS}, title)


def levels_table(geometric, seeds, levels, shares, paper=None):
    """A row a method: its end, and samples to the paper's levels and to shares of RL's end; in brackets the paper's, where it has them."""
    end = ends(geometric, seeds)
    rl = sum(end["ppo"]) / len(seeds)
    own = reached(geometric, seeds, [share * rl for share in shares])
    absolute = reached(geometric, seeds, levels)
    lines = []
    for method in METHODS:
        values = pandas.Series(end[method])
        lines.append((SPOKEN[method], f"{values.mean():.3f}" + (f" +- {values.std():.3f}" if len(values) > 1 else ""), *[spoken(count) for count in absolute[method]],
                      *[spoken(count) + (f" ({spoken(paper[method][i])})" if paper else "") for i, count in enumerate(own[method])]))
    head = ("search", "best reward", *[f"to {level:.2f}" for level in levels],
            *[f"to {share:.2f} of RL's end: {share * rl:.3f}" + (f" (paper: {levels[i]:.2f})" if paper else "") for i, share in enumerate(shares)])
    return table(head, lines), own, end


def summary_of(own, end, shares):
    mean = {method: sum(values) / len(values) for method, values in end.items()}
    values = {"rl_over_random": f"{100 * (mean['ppo'] / mean['random'] - 1):.2f}", "rl_over_annealing": f"{100 * (mean['ppo'] / mean['annealing'] - 1):.2f}"}
    speedups = [own["ppo"][i] / own["fine-tuned"][i] for i in range(len(shares)) if own["fine-tuned"][i] != NEVER and own["ppo"][i] != NEVER]
    values["finetune_speedup"] = two(max(speedups)) if speedups else "-"
    return values | {f"samples_{method.replace('-', '_')}_{share:.2f}": spoken(count) for method in METHODS for share, count in zip(shares, own[method])}


MEANS = "geometric mean of the best rewards"
ON_GRAPHS = (("simulation.allow_oversubscription", "true"),)


def on_test_graphs(simulator, seeds=SEEDS, samples=1000):
    """Figure 5 and Table 2: by the analytical model."""
    graphs = [(("model", graph),) for graph in graphs_of("test")]
    geometric, found = curves(simulator, NETWORK, graphs, seeds, samples, ON_GRAPHS)
    levels, own, end = levels_table(geometric, seeds, LEVELS_2, SHARES_2, TABLE_2)
    gaps = {method: geomean([found[method, seed, graph]["tried"]["cost_ps"].min() / bound_of(found[method, seed, graph]) for seed in seeds for graph in graphs]) for method in METHODS}
    lines = [(graph[0][1], *[two(sum(float(found[method, seed, graph]["tried"]["reward"].max()) for seed in seeds) / len(seeds)) for method in METHODS]) for graph in graphs]
    each = table(("graph", *SPOKEN.values()), lines)
    return Outcome(tables={"mcm-test-graphs": levels, "mcm-test-graphs-each": each}, pictures={"test-graphs": picture(geometric, seeds, f"{MEANS}, 16 test graphs")},
                   summary=summary_of(own, end, SHARES_2) | {f"bound_gap_{method.replace('-', '_')}": two(gap) for method, gap in gaps.items()})


def for_long(simulator, seeds=(0,), samples=4000, samples_by_family=1000):
    """The test graphs with as many samples as the paper's Table 2; and graphs of families that no policy has seen, by one that is trained here."""
    graphs = [(("model", graph),) for graph in graphs_of("test")]
    geometric, _ = curves(simulator, NETWORK, graphs, seeds, samples, ON_GRAPHS)
    levels, own, end = levels_table(geometric, seeds, LEVELS_2, SHARES_2, TABLE_2)
    with tempfile.TemporaryDirectory() as folder:
        policy = str(pathlib.Path(folder) / "by-family.h5")
        simulator.train(TRAINING, policy, (("training.split", "by-family"),))
        others = [(("model", graph),) for graph in graphs_of("test", "by-family")]
        by_family, _ = curves(simulator, NETWORK, others, seeds, samples_by_family, ON_GRAPHS, methods_from(policy))
    of_families, *_ = levels_table(by_family, seeds, (), SHARES_2)
    return Outcome(tables={"mcm-long": levels, "mcm-by-family": of_families},
                   pictures={"long": picture(geometric, seeds, f"{MEANS}, 16 test graphs"), "by-family": picture(by_family, seeds, f"{MEANS}, 16 graphs of other families")}, summary=summary_of(own, end, SHARES_2))


def smoke(simulator, seeds=(0,), samples=60):
    """Two small graphs: that all of it goes through."""
    graphs = [(("model", graph),) for graph in ("mobilenet-v1", "resnet-18")]
    geometric, _ = curves(simulator, NETWORK, graphs, seeds, samples, ON_GRAPHS)
    _, own, end = levels_table(geometric, seeds, LEVELS_2, SHARES_2)
    return Outcome(summary=summary_of(own, end, SHARES_2))


def on_bert(simulator, seeds=(0, 1, 2, 3, 4), samples=700):
    """Figure 6 and Table 3: by the simulated package, without a limit of memory."""
    geometric, found = curves(simulator, BERT, [()], seeds, samples, (NO_LIMIT,))
    levels, own, end = levels_table(geometric, seeds, LEVELS_3, SHARES_3, TABLE_3)
    at_22 = {method: sum(geometric[method, seed][21] for seed in seeds) / len(seeds) for method in METHODS}
    fullest = {method: min(found[method, seed, ()]["tried"]["most_memory_B"].min() for seed in seeds) * 1e-6 for method in METHODS}
    early = table(("search", "best reward of 22 samples (the paper's ten minutes)", "least peak of the fullest chip, MB"),
                  [(SPOKEN[method], f"{value:.3f}", f"{fullest[method]:.0f}") for method, value in at_22.items()])
    gaps = {method: geomean([found[method, seed, ()]["tried"]["cost_ps"].min() / bound_of(found[method, seed, ()]) for seed in seeds]) for method in METHODS}
    return Outcome(tables={"mcm-learning-bert": levels, "mcm-learning-early": early},
                   pictures={"bert": picture(geometric, seeds, "best reward, BERT on 36 chiplets")},
                   summary=summary_of(own, end, SHARES_3) | {f"bound_gap_{method.replace('-', '_')}": two(gap) for method, gap in gaps.items()})
