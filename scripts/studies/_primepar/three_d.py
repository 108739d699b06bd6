"""3D parallelism on 32 GPUs: a row for each number of pipeline stages, with so few layers that memory is in nobody's way: tensor
parallelism inside the node, the best tensor x data parallelism, and the search without and with P. Searches are not held to the
memory either, so that what little may not fit is seen: plans that take more than a GPU has are counted."""

from dataclasses import dataclass

from _parts import Outcome, seconds, two
from _runs import in_pairs, table

from . import paper
from .bench import GPUS_PER_NODE, MODELS, Cell, log2, most_tensor_bits, partitions

GPUS, BATCH = 32, 16
STAGES = (1, 2, 4, 8)
LAYERS = max(STAGES)  # one a stage in the longest pipeline, the same work in all
IN_FLIGHT = (1, 2, 4)  # micro-batches, as multiples of the stages
CANDIDATES = 4  # plans of a search that are simulated
ROOMY = (("machine.device.memory_capacity", "64 GB"),)
CAPACITY = 32 * 10**9
SHORT = 8  # GPUs a stage: seconds; on 32 a minute


@dataclass(frozen=True)
class Way:
    stages: int
    micro_batches: int
    degree: tuple = ()  # bits of replicas and tensor parallelism; empty: searched
    temporal: bool = True

    def settings(self):
        how = partitions(*self.degree) if self.degree else (("strategy.temporal", str(self.temporal).lower()), ("strategy.simulated", CANDIDATES))
        return (("strategy.pipeline", self.stages), ("strategy.micro_batches", self.micro_batches), *how)

    def text(self):
        """Replicas, tensor parallelism, micro-batches."""
        degree = f"DP {2 ** self.degree[0]}, TP {2 ** self.degree[1]}, " if self.degree else ""
        return f"{degree}{self.micro_batches}"


@dataclass
class Compared:
    """One number of stages: (way, result) of each side, None where nothing fits."""

    model: str
    stages: int
    a: tuple
    b: tuple
    c: tuple
    primepar: tuple

    def speedup(self, side):
        other = getattr(self, side)
        return seconds(other[1]) / seconds(self.primepar[1]) if other else None

    def sides(self):
        return [pair for pair in (self.a, self.b, self.c, self.primepar) if pair]

    def memory(self, side):
        other = getattr(self, side)
        return self.primepar[1]["peak_memory"] / other[1]["peak_memory"] if other else None


def study(bench):
    found = [compare(bench, Cell(model, GPUS, BATCH), stages) for model in paper.THREE_D for stages in STAGES]
    of_model = {model: [one for one in found if one.model == model] for model in paper.THREE_D}
    best = {model: [min((getattr(one, side) for one in of_model[model]), key=lambda pair: seconds(pair[1])) for side in ("b", "primepar")] for model in of_model}
    speedups = {model: seconds(base[1]) / seconds(ours[1]) for model, (base, ours) in best.items()}
    header = ("model", "stages", "(a) ms", "(b)", "(b) ms", "(c) ms", "PrimePar ms", "over (a)", "over (b)", "over (c)", "memory of (a)", "of (b)", "fc1", "fc2")
    bests = ("model", "(b)", "ms", "PrimePar", "ms", "speedup", "slides")
    return Outcome(tables={"primepar-3d": table(header, [row(one) for one in found]), "primepar-3d-best": table(bests, [best_row(model, *best[model], speedups[model]) for model in best])},
                   summary={f"speedup_3d_{model}": two(speedup) for model, speedup in speedups.items()} | {"too_large_3d": sum(pair[1]["peak_memory"] > CAPACITY for one in found for pair in one.sides())},
                   goals=[(paper.THREE_D[model], speedup) for model, speedup in speedups.items()])


def compare(bench, cell, stages):
    ways = given_ways(cell, stages)
    results = dict(zip(ways, in_pairs(lambda way: bench.run(cell, LAYERS, (*ROOMY, *way.settings())), ways)))
    in_node = [way for way in ways if way.degree[1] == log2(GPUS_PER_NODE)]
    a, b = fastest(results, in_node), fastest(results, ways)
    # The micro-batches that (b) is best with; in short searches half as many too: larger ones are what P gains by.
    counts = {b[0].micro_batches} | ({max(stages, b[0].micro_batches // 2)} if GPUS // stages <= SHORT else set())
    searches = [Way(stages, count, temporal=temporal) for temporal in (False, True) for count in sorted(counts)]
    results |= dict(zip(searches, in_pairs(lambda way: bench.run(cell, LAYERS, (*ROOMY, *way.settings())), searches)))
    c, ours = (fastest(results, [way for way in searches if way.temporal == temporal]) for temporal in (False, True))
    return Compared(cell.model, stages, a, b, c, ours)


def given_ways(cell, stages):
    """No more replicas than a micro-batch has sequences, no heads cut."""
    bits = log2(GPUS // stages)
    return [Way(stages, stages * times, (replicas, bits - replicas)) for times in IN_FLIGHT for replicas in range(bits + 1)
            if replicas <= log2(cell.batch // (stages * times)) and bits - replicas <= most_tensor_bits(cell)]


def fastest(results, ways):
    return min(((way, results[way]) for way in ways if results[way]), key=lambda pair: seconds(pair[1]), default=None)


def milliseconds(pair):
    return f"{1e3 * seconds(pair[1]):,.0f}" if pair else "-"


def ratio(value):
    return two(value) if value else "-"


def share(value):
    return f"{100 * value:.0f} %" if value else "-"


def row(one):
    ours = one.primepar
    return (MODELS[one.model][0], one.stages, milliseconds(one.a), one.b[0].text(), milliseconds(one.b), milliseconds(one.c), milliseconds(ours), *[ratio(one.speedup(side)) for side in "abc"],
            share(one.memory("a")), share(one.memory("b")), *[f"`{ours[1]['plan'][name]}`" for name in ("fc1", "fc2")])


def best_row(model, base, ours, speedup):
    way = base[0]
    return (MODELS[model][0], f"{way.stages} stages ({way.text()})", milliseconds(base), f"{ours[0].stages} stages ({ours[0].text()})", milliseconds(ours), two(speedup), two(paper.THREE_D[model]))
