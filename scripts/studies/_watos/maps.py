"""Figure 17: what plans of GPT-175B use of each die where TP 8 does not fit without recomputation; TP 4 and 8 by the search, and MG-wafer."""

from _parts import Outcome, seconds, two
from _runs import table
from tessera_analysis import watos_figures

from .cells import FEW, LARGEST, WAYS, Cell, plan_of

CELL = Cell(LARGEST, 4096, 2, 512)
PLANS = {"WATOS, TP 4": (*FEW, ("strategy.tensor", 4)), "WATOS, TP 8": (*FEW, ("strategy.tensor", 8)), "MG-wafer (a)": WAYS["MG-wafer (a)"]}


def study(simulator):
    found = dict(zip(PLANS, simulator.searched([CELL.job(*settings) for settings in PLANS.values()])))
    lines = [(name, plan_of(result), two(seconds(result)), *[f"{mean(result, column):.0f}" for column in (2, 3)], f"{mean(result, 4):.1f}") for name, result in found.items()]
    header = ("plan", "cut and tile", "iteration s", "computing %", "memory full, mean %", "links sending, mean %")
    return Outcome(tables={"figure 17 maps": table(header, lines)}, pictures={"figure-17": (watos_figures.figure_17, ({name: result["dies"] for name, result in found.items()},))})


def mean(result, column):
    """Over all dies of the wafer's plan."""
    return sum(die[column] for die in result["dies"]) / len(result["dies"])
