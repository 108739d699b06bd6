"""3D parallelism on 32 GPUs: pipeline, data and tensor parallelism at their best, against a pipeline whose stages are cut as the
search says."""

from dataclasses import dataclass

from _parts import Outcome, seconds, two
from _runs import in_pairs, table

from . import paper
from .bench import MODELS, Cell, log2, most_tensor_bits, partitions

GPUS, BATCH = 32, 32
STAGES, MICRO_BATCHES = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32)
SPARING = (8, 32, (0, 2))  # stages, micro-batches, (replicas, tensor bits): what takes least memory


@dataclass(frozen=True)
class Way:
    stages: int
    micro_batches: int
    degree: tuple = ()  # bits of replicas and tensor parallelism; empty: searched

    def settings(self):
        given = partitions(*self.degree) if self.degree else ()
        return (("strategy.pipeline", self.stages), ("strategy.micro_batches", self.micro_batches), *given)

    def text(self):
        tensor = f", DP {2 ** self.degree[0]}, TP {2 ** self.degree[1]}" if self.degree else ""
        return f"{self.stages} stages, {self.micro_batches} micro-batches{tensor}"


def study(bench):
    found = [(model, *compare(bench, Cell(model, GPUS, BATCH))) for model in paper.THREE_D]
    rows = [row(*one) for one in found]
    speedups = {model: seconds(base) / seconds(ours) for model, _, (_, base), (_, ours) in found}
    return Outcome(tables={"primepar-3d": table(("model", "layers", "baseline", "s", "PrimePar", "s", "speedup", "slides", "fc1"), rows)},
                   summary={f"speedup_3d_{model}": two(speedup) for model, speedup in speedups.items()},
                   goals=[(paper.THREE_D[model], speedup) for model, speedup in speedups.items()])


def compare(bench, cell):
    """Layers, and (way, result) of the fastest on both sides."""
    layers = layers_that_fit(bench, cell)
    return (layers, fastest(bench, cell, layers, baseline_ways(cell)), fastest(bench, cell, layers, [Way(p, m) for p in STAGES for m in MICRO_BATCHES]))


def layers_that_fit(bench, cell):
    """The greatest multiple of the most stages, so that every number of stages has as many layers each."""
    stages, micro_batches, degree = SPARING
    layers = stages
    while layers + stages <= MODELS[cell.model][1] and bench.run(cell, layers + stages, Way(stages, micro_batches, degree).settings()):
        layers += stages
    return layers


def baseline_ways(cell):
    """No more replicas than a micro-batch has sequences, no heads cut."""
    ways = []
    for stages in STAGES:
        bits = log2(GPUS // stages)
        for micro_batches in MICRO_BATCHES:
            for replicas in range(bits + 1):
                if replicas <= log2(BATCH // micro_batches) and bits - replicas <= most_tensor_bits(cell):
                    ways.append(Way(stages, micro_batches, (replicas, bits - replicas)))
    return ways


def fastest(bench, cell, layers, ways):
    results = in_pairs(lambda way: bench.run(cell, layers, way.settings()), ways)
    return min(((way, result) for way, result in zip(ways, results) if result), key=lambda pair: seconds(pair[1]))


def row(model, layers, base, ours):
    speedup = seconds(base[1]) / seconds(ours[1])
    return (MODELS[model][0], layers, base[0].text(), two(seconds(base[1])), ours[0].text(), two(seconds(ours[1])), two(speedup), two(paper.THREE_D[model]),
            f"`{ours[1]['plan']['fc1']}`")
