"""3D parallelism on 32 GPUs: pipeline, data and tensor parallelism at their best, against a pipeline whose stages are cut as the
search says."""

from dataclasses import dataclass

from _parts import Outcome, seconds, two
from _runs import in_pairs, table

from . import paper
from .bench import MODELS, Cell, log2, most_tensor_bits, partitions

GPUS, BATCH, SMALL_BATCH = 32, 32, 8
STAGES = (1, 2, 4, 8)
SPARING = (8, (0, 2))  # stages, (replicas, tensor bits): what takes least memory, with micro-batches of one sequence


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
    small = [(model, *compare(bench, Cell(model, GPUS, SMALL_BATCH))) for model in paper.THREE_D]
    speedups = {model: seconds(base) / seconds(ours) for model, _, (_, base), (_, ours) in found}
    header = ("model", "layers", "baseline", "s", "PrimePar", "s", "speedup", "slides", "fc1")
    return Outcome(tables={"primepar-3d": table(header, [row(*one) for one in found]), "primepar-3d-small": table(header, [row(*one) for one in small])},
                   summary={f"speedup_3d_{model}": two(speedup) for model, speedup in speedups.items()},
                   goals=[(paper.THREE_D[model], speedup) for model, speedup in speedups.items()])


def compare(bench, cell):
    """Layers, and (way, result) of the fastest on both sides."""
    layers = layers_that_fit(bench, cell)
    return (layers, fastest(bench, cell, layers, baseline_ways(cell)), fastest(bench, cell, layers, [Way(p, m) for p in STAGES for m in micro_batches(cell)]))


def layers_that_fit(bench, cell):
    """The greatest multiple of the most stages, so that every number of stages has as many layers each."""
    stages, degree = SPARING
    layers = stages
    while layers + stages <= MODELS[cell.model][1] and bench.run(cell, layers + stages, Way(stages, cell.batch, degree).settings()):
        layers += stages
    return layers


def micro_batches(cell):
    return [2**i for i in range(log2(cell.batch) + 1)]


def baseline_ways(cell):
    """No more replicas than a micro-batch has sequences, no heads cut."""
    ways = []
    for stages in STAGES:
        bits = log2(GPUS // stages)
        for count in micro_batches(cell):
            for replicas in range(bits + 1):
                if replicas <= log2(cell.batch // count) and bits - replicas <= most_tensor_bits(cell):
                    ways.append(Way(stages, count, (replicas, bits - replicas)))
    return ways


def fastest(bench, cell, layers, ways):
    results = in_pairs(lambda way: bench.run(cell, layers, way.settings()), ways)
    return min(((way, result) for way, result in zip(ways, results) if result), key=lambda pair: seconds(pair[1]))


def row(model, layers, base, ours):
    speedup = seconds(base[1]) / seconds(ours[1])
    return (MODELS[model][0], layers, base[0].text(), two(seconds(base[1])), ours[0].text(), two(seconds(ours[1])), two(speedup), two(paper.THREE_D[model]),
            f"`{ours[1]['plan']['fc1']}`")
