"""What the studies of WATOS set in an experiment."""

import json

from _parts import seconds


def placed(*tiles, order="cycle", path="serpentine-columns"):
    return (("strategy.placement.tiles", json.dumps(list(tiles))), ("strategy.placement.order", order), ("strategy.placement.path", path))


SEARCHED = "watos/gpt-175b.toml"  # what the search is tried on
ONE_FOR_CERTAIN = (("strategy.search.simulated", 1),)  # of the others those that its time does not strike out by their bounds
BOTH_WAYS = tuple((f"collectives.{kind}", "bidirectional-ring") for kind in ("all_reduce", "reduce_scatter", "all_gather"))
ROOM_FOR_ALL = (("machine.device.memory_capacity", "1 TB"),)  # to see what a plan would take if memory cost nothing


CONSTANTS = {  # half, as assumed, double or the peak
    "cost.matrix_efficiency": (0.4, 0.8, 1.0),
    "cost.attention_efficiency": (0.3, 0.6, 1.0),
    "cost.memory_efficiency": (0.425, 0.85, 1.0),
    "cost.matrix_ramp": ("2 us", "4 us", "8 us"),
    "cost.launch_overhead": ("450 ns", "900 ns", "1800 ns"),
}


def cut(tensor, pipeline):
    return (("strategy.tensor", tensor), ("strategy.pipeline", pipeline))


def stages_that_repeat(stages, count, what):
    """The first `count` of so many stages run `what` again."""
    own = "{recomputation = " + json.dumps(list(what)) + "}"
    return (("strategy.stages", "[" + ", ".join(own if stage < count else "{}" for stage in range(stages)) + "]"),)


ON_THE_WAFER = ("watos/mg-gpu.toml", (("machine.include", "wafer-config3"), ("machine.packet", "128 KiB")))  # the rivals' job there
MEGATRON = (*cut(8, 7), *placed("2x4 * 6", "1x8"))  # its rule: tensor parallelism as far as it goes, at most 8


def by_constant(simulator, jobs):
    """Seconds of (experiment, settings) jobs by name, at each value of each assumed constant: rows (constant, value, {name: seconds})."""
    all_jobs = {(key, value, name): (experiment, (*settings, (key, value)))
                for key, values in CONSTANTS.items() for value in values for name, (experiment, settings) in jobs.items()}
    found = dict(zip(all_jobs, simulator.many(all_jobs.values())))
    return [(key, value, {name: seconds(found[key, value, name]) for name in jobs}) for key, values in CONSTANTS.items() for value in values]
