"""The first-order analytic model of figure 15's footnote: one sum for a whole wafer, which no plan stands behind."""

import tomllib
from dataclasses import dataclass

from _parts import two
from _runs import ROOT, table

TENSOR = 8  # the cut that it takes: as many stages as there are groups of eight dies
BYTES_A_PARAMETER, ELEMENT = 14, 2
KEPT = 34  # B of each token and each of the hidden dimension that a layer keeps, with fused attention (Korthikanti et al. 2022, eq. (2))
TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True)
class Wafer:
    dies: int
    flops: float  # FLOP/s of a die
    capacity: float  # B of a die
    memory: float  # B/s of a die
    links: float  # B/s of a die, all four edges


def wafer_of(name):
    """From inputs/machines."""
    machine = tomllib.loads((ROOT / "inputs" / "machines" / f"{name}.toml").read_text())
    device, topology = machine["machine"]["device"], machine["machine"]["topology"]
    return Wafer(topology["columns"] * topology["rows"], quantity(device["peak"]["fp16"]), quantity(device["memory_capacity"]),
                 quantity(device["memory_bandwidth"]), 4 * quantity(topology["bandwidth"]))


def quantity(text):
    number, unit = text.split()
    return float(number) * {"T": TERA, "G": GIGA}[unit[0]]


def model_of(name):
    """From inputs/models."""
    return tomllib.loads((ROOT / "inputs" / "models" / f"{name}.toml").read_text())


def time(cell, model, wafer, flops, parameters):
    """s of an iteration: max((C_comp + C_recomp) / power, C_access / DRAM) + C_comm / D2D, in sums over the wafer."""
    stages = wafer.dies // TENSOR
    tokens = cell.sequence * cell.batch
    a_layer = KEPT * cell.sequence * cell.micro_batch * model["hidden"]  # B of a micro-batch
    in_flight = a_layer * model["layers"] * (stages + 1) / 2
    needed = BYTES_A_PARAMETER * parameters + in_flight
    missing = max(0.0, needed - wafer.dies * wafer.capacity)
    eta = (flops / 3) / in_flight  # FLOP of a forward pass for each byte that is kept
    micro_batches = cell.batch / cell.micro_batch
    access = 3 * ELEMENT * parameters * micro_batches + 3 * KEPT * tokens * model["hidden"] * model["layers"]
    rings = 8 * ELEMENT * tokens * model["hidden"] * model["layers"] * (TENSOR - 1)  # four gathers and four scatters a layer
    computing = max((flops + missing * eta) / (wafer.dies * wafer.flops), access / (wafer.dies * wafer.memory))
    return computing + rings / (wafer.dies * wafer.links), missing


def beside(rows, wafers):
    """What the model says of cells, in brackets TB that are missing, and how many of the cells it gives to each wafer. `rows`: (cell,
    model, FLOP of an iteration, parameters); `wafers`: machine files by name."""
    lines, favoured = [], dict.fromkeys(wafers, 0)
    for cell, *job in rows:
        said = {name: time(cell, job[0], wafer_of(file), *job[1:]) for name, file in wafers.items()}
        best = min(said, key=lambda name: said[name][0])
        favoured[best] += 1
        lines.append((*cell.named(), *[f"{two(seconds)} ({missing / TERA:.2f})" for seconds, missing in said.values()], best))
    return table(("analytic model, s", "sequences", "batch", *wafers, "favours"), lines), favoured
