"""What the speedups depend on: network, efficiency, all-reduce, overlap; OPT-175B, batch 8."""

from dataclasses import replace

from _parts import Outcome
from _runs import table

from .bench import BASELINES, Cell, marked, range_keys

GPUS = (8, 16)
CHANGES = {
    "as in the headline": {},
    "NIC 6.25 GB/s": {"more": (("machine.topology.nic_bandwidth", "6.25 GB/s"),)},
    "NIC 25 GB/s": {"more": (("machine.topology.nic_bandwidth", "25 GB/s"),)},
    "NIC 50 GB/s": {"more": (("machine.topology.nic_bandwidth", "50 GB/s"),)},
    "NVLink 25 GB/s": {"more": (("machine.topology.nvlink_bandwidth", "25 GB/s"),)},
    "NVLink 100 GB/s": {"more": (("machine.topology.nvlink_bandwidth", "100 GB/s"),)},
    "matrix units at 0.4 of their peak": {"more": (("cost.matrix_efficiency", 0.4),)},
    "matrix units at 0.6 of their peak": {"more": (("cost.matrix_efficiency", 0.6),)},
    "hierarchical all-reduce": {"algorithm": "hierarchical"},
    "direct all-reduce, over all links of a node": {"algorithm": "direct"},
    "gradients overlapped": {"overlap": True},
    "batch 2": {"batch": 2},
    "batch 32": {"batch": 32},
}


def study(bench):
    cells = [replace(Cell("opt-175b", gpus), **change) for change in CHANGES.values() for gpus in GPUS]
    found = bench.compare_all(cells)
    rows = [(name, *[text(found[i * len(GPUS) + j]) for j in range(len(GPUS))]) for i, name in enumerate(CHANGES)]
    return Outcome(tables={"primepar-sensitivity": table(("over (a) / (b) / (c)", *[f"{gpus} GPUs" for gpus in GPUS]), rows)}, summary=range_keys(found))


def text(one):
    return " / ".join(marked(one.speedup(baseline)) for baseline in BASELINES) if one.primepar else "does not fit"
