"""Cells of the grids of figures 15 to 17: a model, its sequences and batch, and a wafer; and what plans make of it."""

from dataclasses import dataclass

from _parts import seconds, two
from tessera_analysis.bars import Row

from .jobs import ONE_FOR_CERTAIN, SEARCHED

MODELS = {"Llama2-30B": "llama2-30b", "Llama3-70B": "llama3-70b", "GShard-137B": "gshard-137b", "GPT-175B": "gpt3-175b"}
LARGEST = "GPT-175B"  # the one that also has a batch of 512
POINTS = ((2048, 1), (4096, 2), (2048, 4))  # tokens of a sequence, sequences of a micro-batch
FEW = (("strategy.search.candidates", 4), *ONE_FOR_CERTAIN)
WAYS = {"WATOS": FEW, "MG-wafer (a)": (("strategy.search.take", "megatron-rule"),), "MG-wafer (b)": (("strategy.search.take", "megatron-best"),)}
NOTHING_AGAIN = (*FEW, ("strategy.recomputation", "none"))


@dataclass(frozen=True)
class Cell:
    model: str
    sequence: int
    micro_batch: int
    batch: int
    wafer: str = "wafer-config3"

    def settings(self):
        """But for the machine."""
        return (("model.include", MODELS[self.model]), ("model.max_positions", self.sequence), ("workload.sequence", self.sequence),
                ("strategy.micro_batch", self.micro_batch), ("workload.global_batch", self.batch))

    def job(self, *settings):
        return SEARCHED, (*self.settings(), ("machine.include", self.wafer), *settings)

    def named(self):
        return self.model, f"{self.sequence:,} x {self.micro_batch}", self.batch


def one_plan(step):
    """Of a search up to that step: one cut that goes on and one plan that is simulated, without Megatron's."""
    return (("strategy.search.step", step), ("strategy.search.candidates", 1), *ONE_FOR_CERTAIN, ("strategy.search.rivals", "false"))


def cells():
    """The short grid."""
    return [Cell(model, *point, batch) for model in MODELS for batch in ((64, 512) if model == LARGEST else (64,)) for point in POINTS]


def plan_of(result):
    """Cut and tile of the plan that was taken."""
    return next(row["candidate"] for row in result["tried"].to_dict("records") if row["accepted"])


def bound_of(result):
    """s: what no plan beats to first order."""
    return result["predicted"]["bound"] * 1e-12


def of_bound(result):
    return bound_of(result) / seconds(result)


def fastest(results):
    """None where nothing fits."""
    return min((result for result in results if result), key=seconds, default=None)


def ratio(rival, ours):
    """Its time over ours; None where one does not fit."""
    return seconds(rival) / seconds(ours) if rival and ours else None


def performances(group, label, results):
    """A row of a chart: how fast each of the results by name is, 1 the slowest; 0 where a plan does not fit."""
    return performance_of(group, label, {name: seconds(result) for name, result in results.items() if result}, results)


def performance_of(group, label, times, names, slowest=None):
    """The same of seconds, of those names that have some. `slowest`: what is 1, where that is not among them."""
    slowest = slowest or max(times.values(), default=1)
    return Row(group, label, {name: slowest / times[name] if name in times else 0 for name in names})


def text(result):
    return two(seconds(result)) if result else "does not fit"


def with_bound(result):
    """Seconds, and in brackets how much of its first-order bound it reaches."""
    return f"{text(result)} ({two(of_bound(result))})" if result else text(result)
