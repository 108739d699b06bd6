"""What of the learning decides: each choice that the paper leaves open, or that it names, changed by itself, on the validation graphs."""

from _parts import Outcome, geomean, three
from _runs import table

from .jobs import NETWORK, SAMPLES, graphs_of

VARIANTS = {
    "as it is": (),
    "reward credited to what was drawn": (("strategy.learning.credit", "proposed"),),
    "SAMPLE for FIX": (("strategy.learning.solver", "sample"),),
    "no solver": (("strategy.learning.solver", "none"),),
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
SHOWN = (100, 200, 500, 1000)


def study(simulator):
    graphs = graphs_of("validation")
    base = (("strategy.search", "ppo"), ("strategy.samples", SAMPLES), ("simulation.allow_oversubscription", "true"))
    jobs = [(NETWORK, (*base, *settings, ("model", graph))) for settings in VARIANTS.values() for graph in graphs]
    found = simulator.attempts(jobs)
    lines, ends = [], {}
    for number, name in enumerate(VARIANTS):
        results = found[number * len(graphs):(number + 1) * len(graphs)]
        if any(result is None for result in results):
            lines.append((name, *["nothing valid"] * (len(SHOWN) + 1)))
            continue
        rewards = [result["tried"]["reward"] for result in results]
        best = [geomean([float(reward[:count].max()) for reward in rewards]) for count in SHOWN]
        ends[name] = best[-1]
        lines.append((name, *[three(value) for value in best], three(geomean([float(reward[-100:].mean()) for reward in rewards]))))
    head = ("", *[f"best of {count}" for count in SHOWN], "mean of the last 100")
    return Outcome(tables={"mcm-ablation": table(head, lines)}, summary={"credit_ratio": three(ends["as it is"] / ends["reward credited to what was drawn"])})
