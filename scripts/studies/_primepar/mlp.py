"""The MLP of OPT-175B on two nodes of four GPUs: what the slides' timelines show."""

from _parts import Outcome, seconds, three, two
from _runs import table
from tessera_analysis import primepar_figures

from . import paper
from .bench import in_range, predicted

FILE = "primepar/mlp.toml"
OPERATORS = ("fc1", "activation", "fc2")
PLANS = {  # partitions of fc1, activation and fc2; none: searched
    "baseline (a), `{B,K,K}`, `{B,N,N}`": ("{B,K,K}", "{B,F,F}", "{B,N,N}"),
    "PrimePar, `{K,P(2x2)}`, `{N,P(2x2)}`": ("{K,P(2x2)}", "{F,M,F}", "{N,P(2x2)}"),
    "PrimePar, searched": None,
    "without P, searched": None,
    "TP 8, `{K,K,K}`, `{N,N,N}`": ("{K,K,K}", "{F,F,F}", "{N,N,N}"),
    "TP 8, hierarchical all-reduce": ("{K,K,K}", "{F,F,F}", "{N,N,N}"),
}
BASE, OURS, SEARCHED, SPATIAL, FLAT, HIERARCHICAL = PLANS
EFFICIENCIES = (0.5, 0.6, 0.69, 0.8, 1.0)  # of the matrix units; 0.69: the machine's
# Computing that takes next to no time: what a step then waits for is how long its ring transfers take.
FREE = (("machine.device.peak.fp16", "1000000 TFLOP/s"), ("machine.device.memory_bandwidth", "10000 TB/s"), ("cost.model", "roofline"), ("cost.matrix_ramp", "1 ns"), ("cost.launch_overhead", "1 ns"))


def job(name, *more):
    return FILE, (*settings(name), *more)


def settings(name):
    if PLANS[name]:
        given = tuple((f"strategy.partitions.{operator}", text) for operator, text in zip(OPERATORS, PLANS[name]))
    else:
        given = (("strategy.partitions", "{}"), ("strategy.temporal", str(name != SPATIAL).lower()))
    return given + ((("collectives.all_reduce", "hierarchical"),) if name == HIERARCHICAL else ())


def study(bench):
    jobs = {name: job(name) for name in PLANS}
    by_efficiency = {(value, name): job(name, ("cost.matrix_efficiency", value)) for value in EFFICIENCIES for name in (BASE, OURS)}
    jobs |= {**by_efficiency, FREE: job(OURS, *FREE)}
    found = dict(zip(jobs, bench.simulator.many(jobs.values())))
    speedup, ratio = seconds(found[BASE]) / seconds(found[OURS]), collectives(found[OURS]) / collectives(found[BASE])
    efficiencies = [(value, found[value, BASE], found[value, OURS]) for value in EFFICIENCIES]
    return Outcome(
        tables={"primepar-mlp": table(("", "predicted ms", "simulated ms", "speedup of PrimePar", "computing", "tensor", "data", "waiting", "redistribution"), [row(name, found[name], found[OURS]) for name in PLANS]),
                "primepar-mlp-volumes": volumes(found[BASE], found[OURS]),
                "primepar-mlp-breakdown": breakdown(found[BASE], found[OURS]),
                "primepar-mlp-rings": rings(found[OURS]),
                "primepar-mlp-efficiency": table(("matrix_efficiency", "(a) ms", "PrimePar ms", "speedup", "collectives"),
                                                 [(value, milliseconds(seconds(a)), milliseconds(seconds(ours)), two(seconds(a) / seconds(ours)), two(collectives(ours) / collectives(a)))
                                                  for value, a, ours in efficiencies])},
        pictures={"mlp-timelines": (primepar_figures.timelines, ({"baseline": found[BASE]["intervals"], "PrimePar": found[OURS]["intervals"]}, {"PrimePar": transfers(found[OURS], found[FREE])}))},
        summary=in_range([ratio], paper.COLLECTIVES) | {
            "mlp_speedup": three(speedup), "mlp_collectives": three(ratio), "mlp_bytes_baseline": entering(found[BASE], 2), "mlp_bytes_primepar": entering(found[OURS], 2)},
        goals=[(paper.MLP_SPEEDUP, speedup), (paper.MLP_COLLECTIVES, ratio)])


def collectives(result):
    """Seconds of the worst device in all-reduces and waiting for them."""
    return 1e-12 * result["in_collectives_ps"]


def computing(result):
    return 1e-12 * (result["mean_forward_ps"] + result["mean_backward_ps"])


def entering(result, group):
    """B that a device puts into all-reduces of groups of that size."""
    return sum(size for _, members, size in result["collectives"] if members == group) // result["devices"]


def milliseconds(value):
    return f"{1e3 * value:.1f}"


def row(name, result, ours):
    parts = [1e-12 * result[f"max_{part}_ps"] for part in ("tensor_communication", "data_communication", "waiting", "redistribution")]
    return (name, milliseconds(predicted(result)), milliseconds(seconds(result)), two(seconds(result) / seconds(ours)), milliseconds(computing(result)), *map(milliseconds, parts))


def volumes(base, ours):
    def megabytes(value):
        return f"{value * 1e-6:,.1f}"

    rows = [("inside a node, into all-reduces of four, MB a device", "2 x 201.3", megabytes(entering(base, 4)), "0", megabytes(entering(ours, 4))),
            ("across nodes, into all-reduces of two, MB a device", "604.0", megabytes(entering(base, 2)), "201.3", megabytes(entering(ours, 2))),
            ("through a NIC and direction, MB", "2,416", megabytes(base["link_bytes"]["nic"]), "805", megabytes(ours["link_bytes"]["nic"]))]
    return table(("", "(a), slides", "(a), simulated", "PrimePar, slides", "PrimePar, simulated"), rows)


def breakdown(base, ours):
    rings = {name: sum(end - begin for label, begin, end in result["intervals"] if label.endswith(" ring")) for name, result in ((BASE, base), (OURS, ours))}
    rows = [("computing, ms", milliseconds(computing(base)), milliseconds(computing(ours)), f"{computing(ours) / computing(base):.3f}"),
            ("all-reduces, ms", milliseconds(collectives(base) - rings[BASE]), milliseconds(collectives(ours) - rings[OURS]),
             f"{(collectives(ours) - rings[OURS]) / (collectives(base) - rings[BASE]):.3f}"),
            ("ring transfers that a step waits for, GPU 0, ms", milliseconds(rings[BASE]), milliseconds(rings[OURS]), "")]
    return table(("", "(a)", "PrimePar", "ratio"), rows)


def rings(result):
    """What GPU 0 waits for behind each step of a product."""
    rows = []
    for name in ("fc1", "fc2"):
        for phase, suffix in PHASES:
            waits = behind_steps(result, name + suffix)
            rows.append((f"{name}, {phase}", len(waits), ", ".join(f"{1e3 * wait:.2f}" for wait in waits)))
    return table(("product", "steps", "waiting behind each, ms"), rows)


PHASES = (("forward", ""), ("backward", " dgrad"), ("gradient", " wgrad"))


def transfers(result, free):
    """(begin, end) in seconds of what comes to GPU 0 beside each step of a product: from the step's begin on, as long as it takes when
    there is nothing to hide it."""
    found = []
    for product in (name + suffix for name in ("fc1", "fc2") for _, suffix in PHASES):
        begins = [begin for label, begin, _ in result["intervals"] if label == product]
        found += [(begin, begin + wait) for begin, wait in zip(begins, behind_steps(free, product)) if wait > 0]
    return found


def behind_steps(result, product):
    """Seconds that GPU 0 waits for what the next step reads, or behind the last one for the weights on their way home."""
    waits = []
    for label, begin, end in result["intervals"]:
        if label == product:
            waits.append(0.0)
        elif label == product + " ring" and waits:
            waits[-1] += end - begin
    return waits
