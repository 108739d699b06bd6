"""The parts of the study of WATOS. A part is a function that takes a Simulator and returns an Outcome; adding one is one function in one
file of this folder and one entry here."""

from functools import partial

from . import cells, configurations, dies, faults, fused, long, models, overall, placement, quick, rivals, search, strategies, systems, template, wafers, works

PARTS = {"placement": placement.study, "rivals": rivals.study, "template": template.study, "search": search.study,
         "configurations": configurations.study, "overall": overall.study, "models": models.study, "works": works.study,
         "strategies": strategies.study, "faults": faults.study, "systems": systems.study, "wafers": wafers.study, "dies": dies.study,
         "fused": fused.study, "quick": quick.study}
WHEN_NAMED = {"long": long.study} | {f"long-{file}": partial(long.study, models=(name,)) for name, file in cells.MODELS.items()}  # hours
