"""What the parts of the study share: cells, the plans that are compared in them, and how they run."""

from dataclasses import dataclass, replace

from _parts import seconds

from . import paper

FILE = "primepar/layer.toml"
GPUS_PER_NODE = 4
BIT_COUNTS = {4: 2, 8: 3, 16: 4, 32: 5}  # of the device id, by GPUs
MODELS = {"opt-6.7b": ("OPT-6.7B", 32, 32), "llama2-7b": ("Llama2-7B", 32, 32), "bloom-7b1": ("BLOOM-7B1", 30, 32), "opt-175b": ("OPT-175B", 96, 96),
          "llama2-70b": ("Llama2-70B", 80, 8), "bloom-176b": ("BLOOM-176B", 70, 112)}  # title, layers, heads of keys and values


@dataclass(frozen=True)
class Cell:
    model: str
    gpus: int
    batch: int = 8
    algorithm: str = "ring"
    overlap: bool = False
    more: tuple = ()  # ("key", value) settings over all

    @property
    def nodes(self):
        return max(1, self.gpus // GPUS_PER_NODE)

    def settings(self, layers):
        return (("model.include", self.model), ("model.layers", layers), ("machine.topology.nodes", self.nodes), ("workload.global_batch", self.batch),
                ("collectives.all_reduce", self.algorithm), ("strategy.overlap_gradient_reduction", str(self.overlap).lower()), *self.more)


BASELINES = ("a", "b", "c")
HEADLINE = [Cell(model, gpus) for model in MODELS for gpus in BIT_COUNTS]


def changed(cells, **values):
    return [replace(cell, **values) for cell in cells]


def cut_by(degree):
    """Of all operators: so many bits of data parallelism, then so many of tensor parallelism."""
    return (("strategy.tensor", 2 ** degree[1]),)


def log2(value):
    return value.bit_length() - 1


def inside_nodes(cell):
    """Bits of replicas and of tensor parallelism in baseline (a)."""
    replicas = min(log2(cell.nodes), log2(cell.batch))
    return replicas, BIT_COUNTS[cell.gpus] - replicas


def most_tensor_bits(cell):
    """How often the heads of keys and values can be halved."""
    heads = MODELS[cell.model][2]
    return log2(heads & -heads)


def all_degrees(cell):
    """Of baseline (b)."""
    bits, most = BIT_COUNTS[cell.gpus], most_tensor_bits(cell)
    return [(replicas, bits - replicas) for replicas in range(bits + 1) if replicas <= log2(cell.batch) and bits - replicas <= most]


@dataclass
class Compared:
    """One cell's results; None: does not fit. No layers: not even one fits, or baseline (a) would cut heads."""

    cell: Cell
    layers: int
    a: dict  # baseline (a)
    b: dict
    degree: tuple  # of (b)
    c: dict
    primepar: dict

    def speedup(self, baseline):
        other = getattr(self, baseline)
        return seconds(other) / seconds(self.primepar) if other and self.primepar else None


class Bench:
    def __init__(self, simulator):
        self.simulator, self.known = simulator, {}

    def layers_that_fit(self, cells):
        """By cell, as many layers as fit with the cuts of baseline (a), up to the model's own: each takes as much as the other. None where
        it would cut heads."""
        cut = [cell for cell in cells if inside_nodes(cell)[1] <= most_tensor_bits(cell)]
        roomy = ("simulation.allow_oversubscription", "true")
        results = iter(self.simulator.many([job(cell, layers, (roomy, *cut_by(inside_nodes(cell)))) for cell in cut for layers in (1, 2)]))
        return {cell: 0 for cell in cells} | {cell: layers_in(cell, next(results), next(results)) for cell in cut}

    def compare_all(self, cells):
        """In two sweeps: how many layers fit, and with these all that is compared."""
        fresh = [cell for cell in dict.fromkeys(cells) if cell not in self.known]
        layers = self.layers_that_fit(fresh)
        jobs = {cell: compared_jobs(cell, layers[cell]) for cell in fresh}
        self.simulator.attempts([one for of_cell in jobs.values() for one in of_cell.values()])
        for cell, of_cell in jobs.items():
            self.known[cell] = compared(cell, layers[cell], dict(zip(of_cell, self.simulator.attempts(of_cell.values()))))
        return [self.known[cell] for cell in cells]


def job(cell, layers, settings=()):
    return FILE, (*cell.settings(layers), *settings)


def layers_in(cell, one, two):
    """From the results of one and of two layers."""
    each = two["peak_memory"] - one["peak_memory"]
    return max(0, min(MODELS[cell.model][1], 1 + (one["memory_capacity"] - one.get("memory_reserve", 0) - one["peak_memory"]) // each))


def compared_jobs(cell, layers):
    """By what is compared: "a", "c", "primepar", and the degrees of (b)."""
    if layers == 0:
        return {}
    ways = {"a": cut_by(inside_nodes(cell)), "c": (("strategy.temporal", "false"),), "primepar": ()}
    return {name: job(cell, layers, settings) for name, settings in (ways | {degree: cut_by(degree) for degree in all_degrees(cell)}).items()}


def compared(cell, layers, results):
    fit = {degree: results[degree] for degree in all_degrees(cell) if results.get(degree)}
    degree = min(fit, key=lambda each: seconds(fit[each]), default=None)
    return Compared(cell, layers, results.get("a"), fit.get(degree), degree, results.get("c"), results.get("primepar"))


def predicted(result):
    """Seconds."""
    return 1e-12 * result["predicted"]["all"]


def best_predicted(result):
    """Seconds of the plan that the search alone would have taken, which is the first that it simulates."""
    return 1e-12 * result["search"][0][1] if "search" in result else predicted(result)


def in_range(values, bounds=paper.THROUGHPUT):
    """Keys of the summary line for values that should lie between two bounds."""
    low, high = bounds
    inside = [low <= round(value, 2) <= high for value in values]
    return {"cells": len(values), "in_range": sum(inside), "below": sum(round(value, 2) < low for value in values), "above": sum(round(value, 2) > high for value in values)}


def range_keys(found, prefix=""):
    """The same of the speedups over each baseline, and the least that the search gains over (c) by its own prediction."""
    keys = {f"{prefix}{baseline}_{key}": value for baseline in BASELINES for key, value in in_range(speedups(found, baseline)).items()}
    return keys | {prefix + "predicted_over_c": f"{min(best_predicted(one.c) / best_predicted(one.primepar) for one in found if one.c and one.primepar):.3f}"}


def speedups(found, baseline):
    return [speedup for speedup in (one.speedup(baseline) for one in found) if speedup]


def marked(speedup):
    """As a table shows it: bold in the slides' range."""
    if not speedup:
        return "-"
    return f"**{speedup:.2f}**" if in_range([speedup])["in_range"] else f"{speedup:.2f}"


def nearest(value, bounds=paper.THROUGHPUT):
    """(bound, value): what the deviation to the nearest bound is taken over."""
    return (min(max(value, bounds[0]), bounds[1]), value)


def correlation(pairs):
    count = len(pairs)
    means = [sum(pair[i] for pair in pairs) / count for i in (0, 1)]
    across = sum((a - means[0]) * (b - means[1]) for a, b in pairs)
    spreads = [sum((pair[i] - means[i]) ** 2 for pair in pairs) ** 0.5 for i in (0, 1)]
    return across / (spreads[0] * spreads[1])
