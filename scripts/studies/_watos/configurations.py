"""Figure 15: the four configurations of table II, with and without recomputation."""

from dataclasses import replace

from _parts import Outcome, seconds, share, two
from _runs import table
from tessera_analysis import watos_figures

from . import analytic
from .cells import FEW, LARGEST, MODELS, NOTHING_AGAIN, cells, of_bound, performances, plan_of, with_bound
from .far import explained

WAFERS = {f"config {number}": f"wafer-config{number}" for number in (1, 2, 3, 4)}
BYTES = {14: (), 16: (("strategy.master_weights", "fp32"), ("strategy.gradient_precision", "fp16")), 18: (("strategy.master_weights", "fp32"),)}  # a parameter
WAYS = ("without", "with")  # recomputation


def study(simulator):
    rows = cells()
    found = searched(simulator, rows)
    whole = Outcome()
    for way in WAYS:
        whole.tables[f"figure 15 {way}"] = times(way, rows, found)
    whole.tables["figure 15 plans"] = plans("with", rows, found)
    whole.tables["figure 15 analytic"], favours = analytic_model(rows, found)
    whole.tables["figure 15 far"] = explained({(*row.named(), wafer if way == "with" else f"{wafer}, {way}"): result for (way, wafer, row), result in found.items()
                                                  if way == "with" or result is not found["with", wafer, row]})
    whole.pictures["figure-15"] = watos_figures.performance, ("Figure 15: performance of four wafers", {f"{way} recomputation": bars(way, rows, found) for way in WAYS},)
    whole.tables["figure 15 bytes"] = by_bytes(simulator, next(row for row in rows if row.model == LARGEST))
    whole.claims = sentences(rows, found, favours)
    whole.summary = {f"config_{wafer[-1]}_leads_{way}": sum(leader(way, row, found) == wafer for row in rows) for way in WAYS for wafer in WAFERS}
    reached = [of_bound(result) for result in found.values() if result]
    whole.summary |= {"least_of_bound": two(min(reached)), "most_of_bound": two(max(reached))}
    return whole


def searched(simulator, rows):
    """Results by (way, wafer, cell). A plan that runs nothing again is that of both ways, and is searched once."""
    jobs = {("with", wafer, row): at(row, wafer).job(*FEW) for wafer in WAFERS for row in rows}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    again = {("without", wafer, row): at(row, wafer).job(*NOTHING_AGAIN) for (_, wafer, row), result in found.items()
             if result and result["mean_recomputation_ps"] > 0}
    kept = {("without", wafer, row): result for (_, wafer, row), result in found.items()}
    return found | kept | dict(zip(again, simulator.searched(again.values())))


def at(row, wafer):
    return replace(row, wafer=WAFERS[wafer])


def sentences(rows, found, favours):
    def before(way, one, other):
        """Cells that fit either, and those of them in which the one is faster, or fits alone."""
        both = [(found[way, one, row], found[way, other, row]) for row in rows if found[way, one, row] or found[way, other, row]]
        return sum(a is not None and (b is None or seconds(a) < seconds(b)) for a, b in both), len(both)

    leads = {way: sum(leader(way, row, found) == "config 3" for row in rows) for way in WAYS}
    four_first, two_first = before("without", "config 4", "config 2"), before("with", "config 2", "config 4")
    return [(f"config 3 is the fastest, {way} recomputation", "all", share(leads[way], len(rows)), leads[way] == len(rows)) for way in WAYS] + [
        ("config 4 before 2 without recomputation", "all", share(*four_first), four_first[0] == four_first[1]),
        ("config 2 before 4 with recomputation", "all", share(*two_first), two_first[0] == two_first[1]),
        ("the analytic model favours the most DRAM", "config 4", share(favours["config 4"], sum(favours.values())), favours["config 4"] == sum(favours.values()))]


def leader(way, row, found):
    fits = [wafer for wafer in WAFERS if found[way, wafer, row]]
    return min(fits, key=lambda wafer: found[way, wafer, row]["iteration_time_ps"]) if fits else None


def times(way, rows, found):
    lines = [(*row.named(), *[with_bound(found[way, wafer, row]) for wafer in WAFERS], leader(way, row, found) or "") for row in rows]
    return table(("model", "sequences", "batch", *WAFERS, "leads"), lines)


def by_bytes(simulator, row):
    """A row each count of bytes a parameter: seconds with recomputation."""
    jobs = {(count, wafer): at(row, wafer).job(*FEW, *settings) for count, settings in BYTES.items() for wafer in WAFERS}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    lines = [(count, *[with_bound(found[count, wafer]) for wafer in WAFERS]) for count in BYTES]
    return table((f"{row.model}, bytes a parameter", *WAFERS), lines)


def bars(way, rows, found):
    return [performances(row.model, f"{row.sequence:,} x {row.micro_batch}\nbatch {row.batch}", {wafer: found[way, wafer, row] for wafer in WAFERS}) for row in rows]


def plans(way, rows, found):
    return table(("model", "sequences", "batch", *WAFERS), [(*row.named(), *[plan_of(found[way, wafer, row]) if found[way, wafer, row] else "" for wafer in WAFERS]) for row in rows])


def analytic_model(rows, found):
    own = [(row, next(result for result in (found["with", wafer, row] for wafer in WAFERS) if result)) for row in rows if row.model == LARGEST]
    return analytic.beside([(row, analytic.model_of(MODELS[LARGEST]), result["model_flops"], result["parameters"]) for row, result in own], WAFERS)
