"""What iterations depend on: constants halved and doubled, and other choices than ours."""

from _parts import Outcome, seconds
from _runs import deviation, table

from .iterations import ROWS, job, measured

SMALL = [row for row in ROWS if row[0] in ("22b", "175b")]
HEADER = [f"{model.upper()} {way} %" for model, way in SMALL]
CONSTANTS = {  # key, value, half and double
    "`cost.tile_latency`": ("cost.tile_latency", "2300 ns", ("1150 ns", "4600 ns")),
    "`cost.launch_overhead`": ("cost.launch_overhead", "900 ns", ("450 ns", "1800 ns")),
    "`cost.operand_bytes_per_clock`": ("cost.operand_bytes_per_clock", "36", ("18", "72")),
    "`cost.kernel_floor`": ("cost.kernel_floor", "6 us", ("3 us", "12 us")),
    "`cost.issue_interval`": ("cost.issue_interval", "11 us", ("5500 ns", "22 us")),
    "`cost.matrix_power`": ("cost.matrix_power", "422 W", ("211 W", "844 W")),
    "`cost.idle_power`": ("cost.idle_power", "88 W", ("44 W", "176 W")),
    "`cost.memory_power`": ("cost.memory_power", "216 W", ("108 W", "432 W")),
    "`cost.fused_memory_efficiency` (double: 1)": ("cost.fused_memory_efficiency", "0.56", ("0.28", "1.0")),
    "`cost.dropout_memory_efficiency`": ("cost.dropout_memory_efficiency", "0.41", ("0.205", "0.82")),
    "`strategy.exchange_overhead`": ("strategy.exchange_overhead", "380 us", ("190 us", "760 us")),
    "`packet`": ("machine.packet", "64 KiB", ("32 KiB", "128 KiB")),
}
CHOICES = {
    "ours": (),
    "stores overlap with the next tiles": (("cost.stores", "overlapped"),),
    "all memory-bound kernels as fast as copies": tuple((f"cost.{kind}_memory_efficiency", "0.85") for kind in (
        "elementwise", "fused", "dropout", "norm", "softmax", "reduction", "copy", "embedding", "optimizer")),
    "no limit of GEMMs": (("cost.matrix_limit", "1"),),
    "no limit of power": (("cost.power_limit", "1 MW"),),
    "all-reduces by ring": (("collectives.all_reduce", "ring"),),
    "GEMM main loop at 0.80 of peak": (("cost.matrix_efficiency", "0.80"),),
    "GEMM main loop at 0.9255 of peak (1,305 of 1,410 MHz)": (("cost.matrix_efficiency", "0.9255"),),
    "NVLink at 300 GB/s, additions cost memory time": (("machine.topology.nvlink_efficiency", "1.0"),
                                                     ("collectives.reduction", "memory")),
    "gradients added by a kernel of their own": (("strategy.fused_gradient_accumulation", "false"),),
}


def times(simulator, choices):
    """Seconds of the small rows with each of these settings."""
    found = iter(simulator.many([job(row, settings) for settings in choices for row in SMALL]))
    return [[seconds(next(found)) for _ in SMALL] for _ in choices]


def constants(simulator):
    """Changes of the iteration when a constant is halved or doubled."""
    changed = {(f"{label} = {value}", word): ((key, other),) for label, (key, value, others) in CONSTANTS.items()
               for word, other in zip(("half", "double"), others)}
    base, *found = times(simulator, ((), *changed.values()))
    lines = [(*names, *[f"{deviation(ours, before):+.2f}" for ours, before in zip(own, base)]) for names, own in zip(changed, found)]
    return Outcome(tables={"sensitivity": table(("constant", "", *HEADER), lines)})


def variants(simulator):
    """Deviations from what was measured."""
    lines = [(name, *[f"{deviation(ours, measured(row)):+.2f}" for ours, row in zip(own, SMALL)])
             for name, own in zip(CHOICES, times(simulator, CHOICES.values()))]
    return Outcome(tables={"variants": table(("choice", *HEADER), lines)})
