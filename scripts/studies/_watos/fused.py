"""Beyond the paper: products in chunks whose sums and gathers run beside them, inside the stages of the wafer's plan."""

import pathlib
import tempfile

from _parts import Outcome, seconds, two
from _runs import table

from .cells import bound_of, one_plan
from .jobs import SEARCHED
from .planned import settings_of

SIZES = (4, 8, 14)
FEW = (*one_plan("memory"), ("strategy.uneven_width", "pad"), ("strategy.tensor_rows", 1))
FREE = (("machine.topology.bandwidth", "1000000 GB/s"), ("machine.topology.latency", "1 ps"), ("collectives.reduction", "free"))
IN_TURN, BESIDE, IN_CHUNKS = "in turn", "beside weight gradients", "in chunks beside their products"
WAYS = {IN_TURN: (("strategy.overlap_tensor_communication", "false"),), BESIDE: (), IN_CHUNKS: (("strategy.user_buffers", "true"),)}


def study(simulator):
    bounds = {size: [bound_of(one) for one in simulator.searched([search_of(size), search_of(size, FREE)])] for size in SIZES}
    jobs = {(size, way): (SEARCHED, (*plan_of(simulator, size), *settings)) for size in SIZES for way, settings in WAYS.items()}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    return Outcome(tables={"fused": times(bounds, found), "fused time": where(found)}, summary={"fused_gain_pct": f"{gain(found, best(found)):.1f}"})


def search_of(size, settings=()):
    return SEARCHED, (*FEW, ("strategy.tensor", size), *settings)


def plan_of(simulator, size):
    """Settings of the plan that is found where sums run beside weight gradients alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "plan.toml"
        simulator.plan(*search_of(size)[:1], path, search_of(size)[1], ranks=1)
        return settings_of(path)


def best(found):
    """The size that leads without chunks."""
    return min(SIZES, key=lambda size: seconds(found[size, BESIDE]))


def gain(found, size):
    """% of throughput by chunks."""
    return 100 * (seconds(found[size, BESIDE]) / seconds(found[size, IN_CHUNKS]) - 1)


def times(bounds, found):
    lines = [(size, *map(two, bounds[size]), *[two(seconds(found[size, way])) for way in WAYS], f"{gain(found, size):+.1f}") for size in SIZES]
    return table(("TP", "bound s", "bound, sums free s", *[f"{way} s" for way in WAYS], "by chunks %"), lines)


def where(found):
    """Of a die in the mean, s."""
    parts = {"computing": ("forward", "backward", "recomputation"), "tensor communication": ("tensor_communication",), "waiting": ("waiting",), "bubble": ("bubble",)}
    lines = [(size, way, *[two(sum(found[size, way][f"mean_{one}_ps"] for one in own) * 1e-12) for own in parts.values()]) for size in SIZES for way in WAYS]
    return table(("TP", "sums", *[f"{name} s" for name in parts]), lines)
