"""Section VI-E, "3D stacking variants": configuration 3, and the same dies with DRAM on top and all of their edges for links."""

from _parts import Outcome, two
from _runs import table

from . import streams
from . import systems_rivals as rivals
from .cells import Cell, bound_of, of_bound, plan_of, text

STACKS, STACK_GB, STACK_GB_S = 4, 24, 819.2  # of HBM3 on each die, as in inputs/sweeps/watos/template.toml
EDGE_GB_S, EDGES = 6000, 4  # one way
STACKED = (("machine.device.memory_capacity", f"{STACKS * STACK_GB} GB"), ("machine.device.memory_bandwidth", f"{STACKS * STACK_GB_S} GB/s"),
           ("machine.topology.bandwidth", f"{EDGE_GB_S // EDGES} GB/s"))
MACHINES = {"beside": (), "on top": STACKED}
CELLS = [Cell(model, *point, 64) for model in ("GPT-175B", "Llama3-70B") for point in ((4096, 2), (2048, 1))]
STREAMED = "streamed weights"
RIVALS = ("MG-wafer (a)", "MG-wafer (b)", STREAMED)


def study(simulator):
    cells = {(cell, machine): (cell, settings) for cell in CELLS for machine, settings in MACHINES.items()}
    found = rivals.by_search(simulator, cells)
    streamed = streams.fastest(simulator, {name: (*cell.settings(), *settings) for name, (cell, settings) in cells.items()})
    found |= {(STREAMED, name): result for name, result in streamed.items()}
    return Outcome(tables={"stacking": times(found)}, summary=counts(found))


def times(found):
    lines = []
    for cell in CELLS:
        for machine in MACHINES:
            ours, others = found["WATOS", (cell, machine)], [found[name, (cell, machine)] for name in RIVALS]
            again = f"{100 * ours['mean_recomputation_ps'] / ours['iteration_time_ps']:.1f}"
            lines.append((*cell.named()[:2], machine, two(bound_of(ours)), text(ours), *[part for one in others for part in (text(one), rivals.over(one, ours))],
                          plan_of(ours), again, len(ours["loans"])))
    header = ("model", "sequences", "DRAM", "bound s", "WATOS s", *[part for name in RIVALS for part in (f"{name} s", "over")], "plan", "again %", "loans")
    return table(header, lines)


def counts(found):
    names = [(cell, "on top") for cell in CELLS]
    first = {f"stacked_{key}": rivals.ordered((found["WATOS", name], found[rival, name]) for name in names)
             for key, rival in zip(("over_a", "over_b", "over_streaming"), RIVALS)}
    reached = [of_bound(found["WATOS", name]) for name in names]
    return first | {"stacked_least_of_bound": two(min(reached)), "stacked_most_of_bound": two(max(reached))}
