"""What the systems of figures 23 and 24(a) share: their rivals, and how times are shown."""

from _parts import seconds, two

from .cells import WAYS, ratio
from .overall import GPUS, OPEN

ON_GPUS = {"GPUs (a)": OPEN[1:], "GPUs (b)": OPEN}  # TP 8, which the experiment has, or any
INFEASIBLE = "exit code 3"


def by_search(simulator, cells):
    """Results by (way, name of the cell): its plan, and those of Megatron. `cells`: (cell, settings) by name."""
    jobs = {(way, name): cell.job(*settings, *chosen) for way, chosen in WAYS.items() for name, (cell, settings) in cells.items()}
    return dict(zip(jobs, simulator.searched(jobs.values())))


def on_gpus(simulator, settings, left_open):
    """The proven fastest of the cuts that are left open; None where none fits."""
    try:
        return simulator.fastest(GPUS, (*settings, *left_open))[0]
    except SystemExit as refused:
        if INFEASIBLE not in str(refused):
            raise
        return None


def over(result, ours):
    value = ratio(result, ours)
    return two(value) if value else ""


def gpu_cut(result):
    """Its degrees."""
    if not result:
        return ""
    named = {"TP": "tensor parallel", "PP": "pipeline parallel", "DP": "data parallel"}
    return ", ".join([f"{short} {result['plan'][name]}" for short, name in named.items()] + [result["plan"]["recomputation"]])


SHARES = {"again": ("recomputation",), "tensor": ("tensor_communication",), "weights and gradients": ("data_communication",),
          "bubble and waiting": ("bubble", "waiting")}  # what an iteration goes into beside the model's own computing


def shares(result):
    """% of an iteration, the mean of all devices."""
    if not result:
        return [""] * len(SHARES)
    return [f"{100 * sum(result[f'mean_{part}_ps'] for part in parts) / result['iteration_time_ps']:.1f}" for parts in SHARES.values()]


def ordered(pairs):
    """How many of (faster, slower) are so or equal, of those of which one fits: it is before one that does not."""
    some = [(a, b) for a, b in pairs if a or b]
    return f"{sum(bool(a) and (not b or seconds(a) <= seconds(b)) for a, b in some)}/{len(some)}"
