"""What WATOS is measured against, with our collectives, placement, sets and overlap: figures 1, 2 and 6, weight streaming, and how far
the assumed constants move them."""

from _parts import Outcome, seconds, two
from _runs import table

from . import gpus, links, memory, offloading, sharding, streaming
from .jobs import CONSTANTS, MEGATRON, ON_THE_WAFER

STUDIES = (links.study, gpus.study, sharding.study, offloading.study, streaming.study, memory.study)


def study(simulator):
    whole = Outcome()
    for one in STUDIES:
        whole.add(one(simulator))
    whole.tables["rivals sensitivity"] = sensitivity(simulator)
    return whole


def sensitivity(simulator):
    """Each assumed constant halved and doubled: of each rival its time, over that of what it is compared with."""
    wafer = (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *MEGATRON))
    pairs = {"MG-GPU (a) / MG-wafer": (gpus.TENSOR_ALONE, wafer), "off-loading / recomputation": (offloading.LOANS, offloading.RECOMPUTED),
             "streaming / MG-wafer": (streaming.FROM_HOST, wafer)}
    jobs = {(key, value, name, i): (experiment, (*settings, (key, value)))
            for key, values in CONSTANTS.items() for value in values for name, pair in pairs.items() for i, (experiment, settings) in enumerate(pair)}
    found = dict(zip(jobs, simulator.many(jobs.values())))
    lines = [(key, value, *[two(seconds(found[key, value, name, 0]) / seconds(found[key, value, name, 1])) for name in pairs])
             for key, values in CONSTANTS.items() for value in values]
    return table(("constant", "value", *pairs), lines)
