"""Figure 23: twelve meshes of 2 x 2 dies around a switch."""

import json

from _parts import Outcome, geomean, two
from _runs import table
from tessera_analysis import watos_figures

from . import streams
from . import systems_rivals as rivals
from .cells import Cell, bound_of, of_bound, performances, plan_of, ratio, text
from .jobs import SEARCHED

MACHINE = "mesh-switch-config3"
MESHES, DIES_OF_A_MESH = 12, 4
CELLS = [Cell(model, *point, 64, MACHINE) for model in ("GPT-175B", "Llama3-70B") for point in ((4096, 2), (2048, 1))]
BANDWIDTHS = {"0.4": "400 GB/s", "0.8": "800 GB/s", "1.6": "1600 GB/s", "3.2": "3200 GB/s"}  # TB/s of a mesh, each way
AS_IN_THE_PAPER = "1.6"
GPU_MACHINE = (("machine.include", "blackwell-ultra-8-scaled"),)
HOST = ('[{name = "host", memory_capacity = "4 TB", memory_bandwidth = "400 GB/s", bandwidth = "160 GB/s", latency = "1 us", links = ["switch"]}]')
ON_MESHES = (("machine.include", MACHINE), ("machine.host", HOST))
STREAMS = streams.cut(DIES_OF_A_MESH, MESHES, "2x2")
ACROSS = "TP 8 over two meshes"
STREAMED = "streamed weights"
RIVALS = ("MG-wafer (a)", "MG-wafer (b)", ACROSS, STREAMED)
TENSOR = 8
CYCLE = (0, 1, 3, 2)  # the dies of a mesh, each beside the next one
AGAIN = ("none", "selective", "full")


def study(simulator):
    cells = {(cell, bandwidth): (cell, switch(bandwidth)) for bandwidth in BANDWIDTHS for cell in CELLS}
    found = rivals.by_search(simulator, cells)
    for name, (cell, settings) in cells.items():
        found[ACROSS, name] = across(simulator, cell, settings)
    streamed = streams.fastest(simulator, {name: (*cell.settings(), *settings, *ON_MESHES) for name, (cell, settings) in cells.items()}, (STREAMS,))
    found |= {(STREAMED, name): result for name, result in streamed.items()}
    for cell in CELLS:
        for way, left_open in rivals.ON_GPUS.items():
            found[way, cell] = rivals.on_gpus(simulator, (*cell.settings(), *GPU_MACHINE), left_open)
    return Outcome(tables={"mesh-switch": times(found), "mesh-switch gains": gains(found), "mesh-switch shares": shares(found), "mesh-switch plans": plans(found)},
                   pictures={"figure-23": (watos_figures.performance, ("Figure 23: meshes round a switch", {"": bars(found)}))}, summary=counts(found))


def bars(found):
    shown = (*rivals.ON_GPUS, *RIVALS, "WATOS")
    of = lambda name, cell, bandwidth: found[(name, cell) if name in rivals.ON_GPUS else (name, (cell, bandwidth))]
    return [performances(f"{cell.model}, {cell.sequence:,} x {cell.micro_batch}", f"{bandwidth} TB/s", {name: of(name, cell, bandwidth) for name in shown})
            for cell in CELLS for bandwidth in BANDWIDTHS]


def switch(bandwidth):
    return (("machine.topology.switch_bandwidth", BANDWIDTHS[bandwidth]),)


def across(simulator, cell, settings):
    """Megatron's rule where no one knows of meshes: of the cuts with TP 8 the fewest stages that fit, with the least recomputation."""
    for stages, replicas in cuts(cell):
        placed = (("strategy.name", "megatron"), ("strategy.tensor", TENSOR), ("strategy.pipeline", stages), ("strategy.data", replicas),
                  ("strategy.stages", devices(stages, replicas)))
        jobs = [(SEARCHED, (*cell.settings(), ("machine.include", MACHINE), *settings, *placed, ("strategy.recomputation", again))) for again in AGAIN]
        fits = [result for result in simulator.attempts(jobs) if result]
        if fits:
            return fits[0]
    return None


def cuts(cell):
    """(stages, replicas) that use all dies and share out the batch, the fewest stages first."""
    groups = MESHES * DIES_OF_A_MESH // TENSOR
    micro_batches = cell.batch // cell.micro_batch
    return [(stages, groups // stages) for stages in range(1, groups + 1) if groups % stages == 0 and micro_batches % (groups // stages) == 0]


def devices(stages, replicas):
    """Those of each stage, group after group: two meshes each, in the order of a ring."""
    of_group = [[DIES_OF_A_MESH * mesh + die for mesh in (2 * group, 2 * group + 1) for die in CYCLE] for group in range(stages * replicas)]
    lists = [sum(of_group[stage * replicas:(stage + 1) * replicas], []) for stage in range(stages)]
    return "[" + ", ".join("{devices = " + json.dumps(one) + "}" for one in lists) + "]"


def times(found):
    lines = []
    for cell in CELLS:
        for bandwidth in BANDWIDTHS:
            ours = found["WATOS", (cell, bandwidth)]
            lines.append((*cell.named()[:2], bandwidth, two(bound_of(ours)), text(ours), *[text(found[name, (cell, bandwidth)]) for name in RIVALS]))
    return table(("model", "sequences", "switch TB/s", "bound s", "WATOS s", *[f"{name} s" for name in RIVALS]), lines)


def gains(found):
    """Means over the cells that fit."""
    lines = []
    for bandwidth in BANDWIDTHS:
        own = {name: [ratio(found[name, (cell, bandwidth)], found["WATOS", (cell, bandwidth)]) for cell in CELLS] for name in RIVALS}
        fits = {name: [value for value in values if value] for name, values in own.items()}
        lines.append((bandwidth, *[two(geomean(values)) if values else "" for values in fits.values()]))
    return table(("switch TB/s", *RIVALS), lines)


def shares(found):
    """Where the time of an iteration goes at the paper's bandwidth."""
    lines = [(*cell.named()[:2], name, *rivals.shares(found[name, (cell, AS_IN_THE_PAPER)])) for cell in CELLS for name in ("WATOS", ACROSS, STREAMED)]
    return table(("model", "sequences", "plan", *[f"{name} %" for name in rivals.SHARES]), lines)


def plans(found):
    lines = []
    for cell in CELLS:
        ours, ruled, wide = (found[name, (cell, AS_IN_THE_PAPER)] for name in ("WATOS", "MG-wafer (a)", ACROSS))
        on_gpus = [found[name, cell] for name in rivals.ON_GPUS]
        lines.append((*cell.named()[:2], plan_of(ours), plan_of(ruled) if ruled else "", rivals.gpu_cut(wide), *[part for one in on_gpus for part in (text(one), rivals.gpu_cut(one))],
                      rivals.over(on_gpus[-1], ours)))
    return table(("model", "sequences", "WATOS", "MG-wafer (a)", ACROSS, "GPUs (a) s", "cut", "GPUs (b) s", "cut", "(b) over WATOS"), lines)


def counts(found):
    names = [(cell, bandwidth) for cell in CELLS for bandwidth in BANDWIDTHS]
    first = {f"switch_{key}": rivals.ordered((found["WATOS", name], found[rival, name]) for name in names)
             for key, rival in zip(("over_a", "over_b", "over_tp8", "over_streaming"), RIVALS)}
    reached = [of_bound(found["WATOS", name]) for name in names]
    return first | {"switch_least_of_bound": two(min(reached)), "switch_most_of_bound": two(max(reached))}
