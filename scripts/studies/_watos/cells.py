"""Cells of the grids of figures 15 to 17: a model, its sequences and batch, and a wafer; and what plans make of it."""

from dataclasses import dataclass

from .jobs import SEARCHED

MODELS = {"Llama2-30B": "llama2-30b", "Llama3-70B": "llama3-70b", "GShard-137B": "gshard-137b", "GPT-175B": "gpt3-175b"}
LARGEST = "GPT-175B"  # the one that also has a batch of 512
POINTS = ((2048, 1), (4096, 2), (2048, 4))  # tokens of a sequence, sequences of a micro-batch
FEW = (("strategy.search.candidates", 4), ("strategy.search.simulated", 3))  # predictions are 0.1 % off in the median
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


def cells(wafer="wafer-config3"):
    """The short grid."""
    return [Cell(model, *point, batch, wafer) for model in MODELS for batch in ((64, 512) if model == LARGEST else (64,)) for point in POINTS]


def plan_of(result):
    """Cut and tile of the plan that was taken."""
    return next(row["candidate"] for row in result["tried"].to_dict("records") if row["accepted"])


def bound_of(result):
    """s: what no plan beats to first order."""
    return result["predicted"]["bound"] * 1e-12
