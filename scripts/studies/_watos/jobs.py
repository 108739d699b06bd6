"""What the studies of WATOS set in an experiment."""

import json


def placed(*tiles, order="cycle", path="serpentine-columns"):
    return (("strategy.placement.tiles", json.dumps(list(tiles))), ("strategy.placement.order", order), ("strategy.placement.path", path))


BOTH_WAYS = tuple((f"collectives.{kind}", "bidirectional-ring") for kind in ("all_reduce", "reduce_scatter", "all_gather"))
ROOM_FOR_ALL = (("machine.device.memory_capacity", "1 TB"),)  # to see what a plan would take if memory cost nothing


def cut(tensor, pipeline):
    return (("strategy.tensor", tensor), ("strategy.pipeline", pipeline))


def stages_that_repeat(stages, count, what):
    """The first `count` of so many stages run `what` again."""
    own = "{recomputation = " + json.dumps(list(what)) + "}"
    return (("strategy.stages", "[" + ", ".join(own if stage < count else "{}" for stage in range(stages)) + "]"),)
