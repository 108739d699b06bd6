"""What the parts ask for: BERT on the simulated package, networks by the analytical model, and what their searches tried."""

import tomllib

from _runs import ROOT

BERT, NETWORK, TWO_NETWORKS, TRAINING = "mcm/bert.toml", "mcm/network.toml", "mcm/two-networks.toml", "mcm/train.toml"
SAMPLES = 1000
SEARCHES = ("contiguous", "equal-nodes", "equal-time", "fill", "random", "annealing")
POLICY = str(ROOT / "inputs" / "policies" / "mcm-36.h5")
NO_LIMIT = ("machine.device.memory_capacity", "100 GB")


def graphs_of(which, split="random"):
    """Of a split, "random" (the paper's kind) or "by-family": "training", "validation" or "test"."""
    return tomllib.loads((ROOT / "inputs" / "graphs" / "splits" / f"{split}.toml").read_text())[which]


def test_graphs():
    return graphs_of("test")


def searched(search, *settings):
    return (("strategy.search", search), ("strategy.samples", SAMPLES), ("strategy.refine", "true"), *settings)


def bound_of(result):
    """ps: what no partition is faster than, as the plan says it, from the best that was found."""
    times = result["plan"]["analytic interval"].split(" (")[1].split()[0]
    return best_of(result, "predicted_ps") / float(times)


def best_of(result, column="cost_ps"):
    """Of what the search found last to be the best, a column of its row."""
    tried = result["tried"]
    feasible = tried[tried["cost_ps"] > 0]
    return int(feasible.loc[feasible["cost_ps"].idxmin(), column])


def before_refining(result):
    """ps: the least cost without what refining made of it; None where nothing fitted."""
    tried = result["tried"]
    feasible = tried[(tried["cost_ps"] > 0) & (tried["candidate"] != "refined")]
    return int(feasible["cost_ps"].min()) if len(feasible) else None
