"""What of the learning decides: each choice that the paper leaves open, or that it names, changed by itself, on the validation graphs; what
going on from a policy takes; and what a prior that all sides are told leaves to be learnt."""

from _parts import Outcome, geomean, three
from _runs import table

from .jobs import BERT, NETWORK, NO_LIMIT, POLICY, SAMPLES, graphs_of

VARIANTS = {
    "as it is": (),
    "reward credited to what was drawn": (("strategy.learning.credit", "proposed"),),
    "SAMPLE for FIX": (("strategy.learning.solver", "sample"),),
    "no solver": (("strategy.learning.solver", "none"),),
    "no second bound on ratios": (("strategy.learning.most_ratio", 1000000),),
    "T = 2": (("strategy.learning.iterations", 2),),
    "T = 3": (("strategy.learning.iterations", 3),),
    "baseline: the value function": (("strategy.learning.baseline", "value"),),
    "nodes in topological order": (("strategy.order", "topological"),),
    "template levels": (("strategy.template", "levels"),),
    "entropy 0": (("strategy.learning.entropy", 0),),
    "entropy x 4": (("strategy.learning.entropy", 0.04),),
    "step x 1/4": (("strategy.learning.step", 0.000125),),
    "step x 4": (("strategy.learning.step", 0.002),),
    "random search": (("strategy.search", "random"),),
    "annealing": (("strategy.search", "annealing"),),
}
GOING_ON = {
    "as it is": (),
    "step x 1/4": (("strategy.learning.fine_tuning_step", 0.000025),),
    "step x 2": (("strategy.learning.fine_tuning_step", 0.0002),),
    "step x 5, as from scratch": (("strategy.learning.fine_tuning_step", 0.0005),),
    "reward credited to what was drawn": (("strategy.learning.credit", "proposed"),),
    "SAMPLE for FIX": (("strategy.learning.solver", "sample"),),
    "entropy x 5": (("strategy.learning.entropy", 0.05),),
}
SHOWN = (20, 100, 200, 500, 1000)
SIGMAS = (0, 1, 0.5, 0.25)
SEARCHES = {"random": "random", "annealing": "annealing", "RL from scratch": "ppo"}
BERT_SAMPLES = 700


def study(simulator):
    choices, ends = variants_table(simulator, VARIANTS, ())
    going_on, ends_from_policy = variants_table(simulator, GOING_ON, (("strategy.policy", POLICY),))
    priors, margins = margins_table(simulator)
    return Outcome(tables={"mcm-ablation": choices, "mcm-going-on": going_on, "mcm-margins": priors},
                   summary={"credit_ratio": three(ends["as it is"] / ends["reward credited to what was drawn"]),
                            "fine_tuned_over_scratch": three(ends_from_policy["as it is"] / ends["as it is"]),
                            **{f"rl_over_random_sigma_{sigma}": f"{margin:.1f}" for sigma, margin in margins.items()}})


def variants_table(simulator, variants, common):
    """A row a variant: best rewards by samples and the mean of the last, as geometric means over the validation graphs; and the best of each."""
    graphs = graphs_of("validation")
    base = (("strategy.search", "ppo"), ("strategy.samples", SAMPLES), ("simulation.allow_oversubscription", "true"), *common)
    # A sweep a variant: one keeps the graphs of all of its points in memory.
    found = {name: simulator.attempts([(NETWORK, (*base, *settings, ("model", graph))) for graph in graphs]) for name, settings in variants.items()}
    lines, ends = [], {}
    for name, results in found.items():
        if any(result is None for result in results):
            none = sum(result is None for result in results)
            lines.append((name, f"nothing valid on {none} of {len(graphs)} graphs, of {SAMPLES} each", *["-"] * len(SHOWN)))
            continue
        rewards = [result["tried"]["reward"] for result in results]
        best = [geomean([max(float(reward[:count].max()), 1e-9) for reward in rewards]) for count in SHOWN]
        ends[name] = best[-1]
        lines.append((name, *[three(value) for value in best], three(geomean([max(float(reward[-100:].mean()), 1e-9) for reward in rewards]))))
    return table(("", *[f"best of {count}" for count in SHOWN], "mean of the last 100"), lines), ends


def margins_table(simulator):
    """How much more a policy finds than searches that begin with the same prior: the validation graphs, BERT, and BERT with longer sequences."""
    lines, margins = [], {}
    for sigma in SIGMAS:
        common = (("strategy.samples", SAMPLES), ("simulation.allow_oversubscription", "true"), *prior(sigma))
        ends = {name: geomean(best_rewards(simulator, [(NETWORK, (("model", graph), ("strategy.search", search), *common)) for graph in graphs_of("validation")]))
                for name, search in SEARCHES.items()}
        margins[sigma] = 100 * (ends["RL from scratch"] / ends["random"] - 1)
        lines.append(margin_row("validation graphs", sigma, ends))
    for name, sigma, more in (*[("BERT", sigma, ()) for sigma in SIGMAS], ("BERT, sequence 384", 0, (("workload.sequence", 384),))):
        jobs = [(BERT, (("strategy.samples", BERT_SAMPLES), ("strategy.search", search), *prior(sigma), NO_LIMIT, *more)) for search in SEARCHES.values()]
        lines.append(margin_row(name, sigma, dict(zip(SEARCHES, best_rewards(simulator, jobs)))))
    head = ("", "sigma", *SEARCHES, "RL over random %", "RL over annealing %")
    return table(head, lines), margins


def prior(sigma):
    return (("strategy.sigma", sigma),) if sigma else ()  # a search that has been asked for is known


def best_rewards(simulator, jobs):
    return [float(result["tried"]["reward"].max()) for result in simulator.many(jobs)]


def margin_row(name, sigma, ends):
    over = [f"{100 * (ends['RL from scratch'] / ends[other] - 1):.1f}" for other in ("random", "annealing")]
    return (name, sigma or "uniform", *[three(value) for value in ends.values()], *over)
