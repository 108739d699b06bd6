"""What WATOS is measured against, with our collectives, placement, sets and overlap: figures 1, 2 and 6, weight streaming, and how far
the assumed constants move them."""

from _parts import Outcome, two
from _runs import table

from . import gpus, links, memory, offloading, sharding, streaming
from .jobs import MEGATRON, ON_THE_WAFER, by_constant

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
    jobs = {"MG-wafer": wafer, "MG-GPU (a)": gpus.TENSOR_ALONE, "off-loading": offloading.LOANS, "recomputation": offloading.RECOMPUTED,
            "streaming": streaming.FROM_HOST}
    pairs = (("MG-GPU (a)", "MG-wafer"), ("off-loading", "recomputation"), ("streaming", "MG-wafer"))
    lines = [(key, value, *[two(times[a] / times[b]) for a, b in pairs]) for key, value, times in by_constant(simulator, jobs)]
    return table(("constant", "value", *[f"{a} / {b}" for a, b in pairs]), lines)
