"""One small cell of the grid, searched on two wafers and beside Megatron's cuts: what a test can repeat to see that the pages still say what
the program does."""

from dataclasses import replace

from _parts import Outcome, seconds, summary, three
from _runs import table

from .cells import WAYS, Cell, bound_of, plan_of

CELL = Cell("Llama2-30B", 2048, 4, 64)
NAMES = {"WATOS": "watos", "MG-wafer (a)": "mg_wafer_a", "MG-wafer (b)": "mg_wafer_b"}
JOBS = {("WATOS", "wafer-config2"): WAYS["WATOS"], **{(way, "wafer-config3"): settings for way, settings in WAYS.items()}}


def study(simulator):
    jobs = {(way, wafer): replace(CELL, wafer=wafer).job(*settings) for (way, wafer), settings in JOBS.items()}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    lines = [(way, wafer, plan_of(result), three(seconds(result)), three(bound_of(result))) for (way, wafer), result in found.items()]
    outcome = Outcome(tables={"quick": table(("plan", "wafer", "cut and tile", "simulated s", "bound s"), lines)},
                      summary={f"{NAMES[way]}_on_{wafer[-1]}": three(seconds(result)) for (way, wafer), result in found.items()})
    outcome.tables["quick summary"] = f"- `{summary('watos', outcome, 'quick')}`"
    return outcome
