"""What the paper does not ask: other packages, links, latency, longer sequences, a network from ONNX, two networks side by side."""

from _parts import Outcome, two
from _runs import ROOT, table

from .jobs import BERT, NETWORK, NO_LIMIT, SAMPLES, TWO_NETWORKS, best_of, bound_of

ONNX = ROOT / "tests" / "workload" / "networks" / "resnet50.onnx"
LATENCY = ("strategy.objective", "latency")
VARIANTS = {
    "as it is": (BERT, ()),
    "18 chips of 64 MB": (BERT, (("machine.topology.chiplets", 18), ("machine.device.memory_capacity", "64 MB"))),
    "72 chips": (BERT, (("machine.topology.chiplets", 72),)),
    "144 chips": (BERT, (("machine.topology.chiplets", 144),)),
    "links of 8 GB/s": (BERT, (("machine.topology.bandwidth", "8 GB/s"),)),
    "links of 128 GB/s": (BERT, (("machine.topology.bandwidth", "128 GB/s"),)),
    "links of 1 GB/s": (BERT, (("machine.topology.bandwidth", "1 GB/s"),)),
    "sequence 384": (BERT, (("workload.sequence", 384), NO_LIMIT)),
    # As PyTorch exports it, in FP32, at half the rate of BF16.
    "ResNet-50 from ONNX, 64 MB": (NETWORK, (("model", ONNX), ("strategy.evaluator", "package"), ("machine.device.peak.fp32", "1 TFLOP/s"), ("machine.device.memory_capacity", "64 MB"))),
}


# An input of both is one of each.
SIDE_BY_SIDE = {
    ("ResNet-50 alone", "contiguous"): (TWO_NETWORKS, (("model", "resnet-50"), ("strategy.chips", 18))),
    ("MobileNetV2 alone", "contiguous"): (TWO_NETWORKS, (("model", "mobilenet-v2"), ("strategy.chips", 18))),
    ("both", "contiguous"): (TWO_NETWORKS, ()),
    ("both", "equal-nodes"): (TWO_NETWORKS, (("strategy.search", "equal-nodes"),)),
    ("both", "equal-time"): (TWO_NETWORKS, (("strategy.search", "equal-time"),)),
    ("both", "random, sigma 1"): (TWO_NETWORKS, (("strategy.search", "random"), ("strategy.sigma", 1), ("strategy.samples", SAMPLES))),
}


def study(simulator):
    names = list(VARIANTS)
    found = simulator.attempts([VARIANTS[name] for name in names])
    lines = [(name, *(row(result) if result else ("nothing fits", "-", "-", "-", "-"))) for name, result in zip(names, found)]
    searches = ("contiguous", "equal-time", "random")
    late = simulator.many([(BERT, (LATENCY, NO_LIMIT, ("strategy.search", search), ("strategy.samples", 200))) for search in searches])
    one = simulator.summary(BERT, (LATENCY, NO_LIMIT, ("strategy.chips", 1)))
    times = [(search, two(result["iteration_time_ps"] * 1e-9)) for search, result in zip((*searches, "one chip"), (*late, one))]
    beside = [(*name, *(shared(result) if result else ("nothing fits", "-", "-", "-", "-", "-")))
              for name, result in zip(SIDE_BY_SIDE, simulator.attempts(SIDE_BY_SIDE.values()))]
    return Outcome(tables={"mcm-beyond": table(("package", "chips", "interval ms", "of the bound", "busiest link %", "peak MB"), lines),
                           "mcm-side-by-side": table(("networks", "search", "chips", "analytic us", "of the bound", "interval us", "busiest link %", "peak MB"), beside),
                           "mcm-latency": table(("one input, search", "ms"), times)})


def shared(result):
    foretold = best_of(result, "predicted_ps")
    return (result["plan"]["chips"], f"{foretold * 1e-6:.0f}", two(foretold / bound_of(result)), f"{result['interval_ps'] * 1e-6:.0f}",
            f"{100 * result['busiest_link']:.1f}", f"{result['peak_memory'] / 1e6:.1f}")


def row(result):
    return (result["plan"]["chips"], two(result["interval_ps"] * 1e-9), two(best_of(result) / bound_of(result)), f"{100 * result['busiest_link']:.1f}", f"{result['peak_memory'] / 1e6:.1f}")
