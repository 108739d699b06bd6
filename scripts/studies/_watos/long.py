"""The whole grid: four models, sequences of 2,048, 4,096 and 8,192, micro-batches of 1, 2 and 4, batches of 64 and 512, on all four wafers and
beside Megatron's cuts. It takes hours, and runs only when it is named, of one model where that is named too."""

from _parts import Outcome, two
from _runs import table

from . import configurations
from .cells import MODELS, WAYS, Cell, of_bound, ratio, with_bound
from .configurations import WAFERS, leader
from .far import explained

SEQUENCES, MICRO_BATCHES, BATCHES = (2048, 4096, 8192), (1, 2, 4), (64, 512)
RIVALS = ("MG-wafer (a)", "MG-wafer (b)")
BEST = "config 3"


def study(simulator, models=tuple(MODELS)):
    rows = [Cell(model, sequence, micro_batch, batch) for model in models for batch in BATCHES for sequence in SEQUENCES for micro_batch in MICRO_BATCHES]
    found = configurations.searched(simulator, rows)
    jobs = {(name, row): row.job(*WAYS[name]) for name in RIVALS for row in rows}
    rivals = dict(zip(jobs, simulator.searched(jobs.values())))
    tables = {f"long {name}": table_of(name, rows, found, rivals) for name in models}
    tables |= {f"long {name} far": explained({(*row.named(), wafer): result for (way, wafer, row), result in found.items() if way == "with" and row.model == name}) for name in models}
    return Outcome(tables=tables, summary=counts(rows, found, rivals))


def table_of(model, rows, found, rivals):
    lines = []
    for row in (row for row in rows if row.model == model):
        lines.append((*row.named()[1:], *[with_bound(found["with", wafer, row]) for wafer in WAFERS], leader("with", row, found) or "", leader("without", row, found) or "",
                      *[two(over) if (over := over_ours(name, row, found, rivals)) else "does not fit" for name in RIVALS]))
    return table(("sequences", "batch", *[f"{wafer} s" for wafer in WAFERS], "leads", "without", *[f"{name} / ours" for name in RIVALS]), lines)


def over_ours(name, row, found, rivals):
    return ratio(rivals[name, row], found["with", BEST, row])


def counts(rows, found, rivals):
    own = [over for name in RIVALS for row in rows if (over := over_ours(name, row, found, rivals))]
    reached = [of_bound(result) for result in found.values() if result]
    return {f"leads_{way}": f"{sum(leader(way, row, found) == BEST for row in rows)}/{len(rows)}" for way in configurations.WAYS} | {
        "least_over_mg_wafer": two(min(own)), "most_over_mg_wafer": two(max(own)), "least_of_bound": two(min(reached)), "most_of_bound": two(max(reached))}
