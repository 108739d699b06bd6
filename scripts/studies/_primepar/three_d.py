"""3D parallelism on 32 GPUs: a row for each number of pipeline stages, with so few layers that memory is in nobody's way: tensor
parallelism inside the node, the best tensor x data parallelism, and the search without and with P. Searches are not held to the
memory either, so that what little may not fit is seen: plans that take more than a GPU has are counted."""

from dataclasses import dataclass

from _parts import Outcome, seconds, two
from _runs import table

from . import paper
from .bench import GPUS_PER_NODE, MODELS, Cell, job

GIVEN = "primepar/3d"  # inputs/sweeps: the ways of (a) and (b), and what holds for the searches, too
GPUS, BATCH, LAYERS = 32, 16, 8
CANDIDATES = 4  # plans of a search that are simulated
ROOMY = (("machine.device.memory_capacity", "64 GB"),)
CAPACITY = 32 * 10**9
SHORT = 8  # GPUs a stage: seconds; on 32 a minute


@dataclass(frozen=True)
class Way:
    stages: int
    micro_batches: int
    tensor: int = 0  # 0: searched
    temporal: bool = True

    def searched(self, model):
        """The job."""
        return job(Cell(model, GPUS, BATCH), LAYERS, (*ROOMY, ("strategy.pipeline", self.stages), ("strategy.micro_batches", self.micro_batches),
                                                      ("strategy.temporal", str(self.temporal).lower()), ("strategy.simulated", CANDIDATES)))

    def text(self):
        """Replicas, tensor parallelism, micro-batches."""
        degree = f"DP {GPUS // (self.stages * self.tensor)}, TP {self.tensor}, " if self.tensor else ""
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
    found = compare(bench.simulator)
    of_model = {model: [one for one in found if one.model == model] for model in paper.THREE_D}
    best = {model: [min((getattr(one, side) for one in of_model[model]), key=lambda pair: seconds(pair[1])) for side in ("b", "primepar")] for model in of_model}
    speedups = {model: seconds(base[1]) / seconds(ours[1]) for model, (base, ours) in best.items()}
    header = ("model", "stages", "(a) ms", "(b)", "(b) ms", "(c) ms", "PrimePar ms", "over (a)", "over (b)", "over (c)", "memory of (a)", "of (b)", "fc1", "fc2")
    bests = ("model", "(b)", "ms", "PrimePar", "ms", "speedup", "slides")
    return Outcome(tables={"primepar-3d": table(header, [row(one) for one in found]), "primepar-3d-best": table(bests, [best_row(model, *best[model], speedups[model]) for model in best])},
                   summary={f"speedup_3d_{model}": two(speedup) for model, speedup in speedups.items()} | {"too_large_3d": sum(pair[1]["peak_memory"] > CAPACITY for one in found for pair in one.sides())},
                   goals=[(paper.THREE_D[model], speedup) for model, speedup in speedups.items()])


def compare(simulator):
    """By model and number of stages: first the ways that are given, then the searches that the best of them call for."""
    given = given_ways(simulator)
    jobs = {(model, way): way.searched(model) for (model, _), ways in given.items() for way in searches(fastest(ways)[0])}
    results = dict(zip(jobs, simulator.attempts(jobs.values())))
    return [compared(model, stages, ways, {way: results[model, way] for way in searches(fastest(ways)[0])}) for (model, stages), ways in given.items()]


def given_ways(simulator):
    """Results by way, by model and number of stages."""
    found = {}
    for at, result in simulator.sweep(GIVEN):
        way = Way(at["strategy.pipeline"], at["strategy.micro_batches"], at["strategy.tensor"])
        found.setdefault((at["model.include"], way.stages), {})[way] = result
    return found


def searches(b):
    """With the micro-batches that (b) is best with; in short searches half as many too: larger ones are what P gains by."""
    counts = {b.micro_batches} | ({max(b.stages, b.micro_batches // 2)} if GPUS // b.stages <= SHORT else set())
    return [Way(b.stages, count, temporal=temporal) for temporal in (False, True) for count in sorted(counts)]


def compared(model, stages, given, searched):
    a = fastest({way: result for way, result in given.items() if way.tensor == GPUS_PER_NODE})
    c, ours = (fastest({way: result for way, result in searched.items() if way.temporal == temporal}) for temporal in (False, True))
    return Compared(model, stages, a, fastest(given), c, ours)


def fastest(results):
    return min(((way, result) for way, result in results.items() if result), key=lambda pair: seconds(pair[1]), default=None)


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
