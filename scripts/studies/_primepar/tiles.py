"""The slides' own pictures of P, and of fc2 in their MLP: what each device multiplies in each step."""

from _parts import Outcome
from tessera_analysis import primepar_figures


def study(_):
    return Outcome(pictures={"p-4x4": (primepar_figures.tiles, ([2],)), "n-p-2x2": (primepar_figures.tiles, (["N", 1],))})
