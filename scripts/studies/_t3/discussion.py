"""Section 7: what the paper discusses without figures, on T-NLG's GEMMs and 8 GPUs."""

from _parts import Outcome, seconds, two
from _runs import table

from . import end_to_end
from .bench import IDEAL, OWN_GEMM, TWICE_THE_PEAK, speedup

TOKENS, HIDDEN, GPUS = 8192, 4256, 8
CONFIGURATIONS = ("sequential", "t3", "t3-mca", IDEAL)


def gemm(m, n, k, **settings):
    return (*OWN_GEMM, ("strategy.m", m), ("strategy.n", n), ("strategy.k", k),
            *((f"strategy.{key}", value) for key, value in settings.items()))


FC2 = (TOKENS, HIDDEN, 4 * HIDDEN // GPUS)
CASES = {
    "FC-2, as elsewhere on this page": gemm(*FC2),
    "all-gather of what the GEMM makes (7.1)": gemm(TOKENS, HIDDEN // GPUS, HIDDEN, collective="ring-all-gather"),
    "all-gather of what the GEMM needs (7.2)": gemm(TOKENS, 4 * HIDDEN // GPUS, HIDDEN, collective="local", input="ring-all-gather"),
    "FC-2, whose result goes to the experts of others (7.2)": gemm(*FC2, collective="all-to-all"),
    "FC-2, whose result goes to the next stage of a pipeline (7.2)": gemm(*FC2, collective="send"),
    "weight gradient of FC-2, over 8 replicas (7.2)": gemm(4 * HIDDEN // GPUS, HIDDEN, TOKENS),
    "FC-2, 16 new tokens (7.3)": gemm(16, *FC2[1:]),
    "FC-2, 256 new tokens (7.3)": gemm(256, *FC2[1:]),
    "FC-2 with system-wide atomics (7.4)": gemm(*FC2, reduction="atomics"),
    "FC-2 in FP8, twice the peak (7.5)": (*gemm(*FC2), ("workload.phase", "prompt"), ("workload.datatype", "fp8"), ("machine.device.peak.fp8", TWICE_THE_PEAK)),
    "FC-2 and a residual, added by CUs (7.6)": gemm(*FC2, following="cus"),
    "FC-2 with split-K of 2 (7.7)": gemm(*FC2, split_k=2),
    "FC-2 over links of 25 GB/s and 5 us (7.8)": (*gemm(*FC2), ("machine.topology.bandwidth", "25 GB/s"), ("machine.topology.latency", "5 us")),
}
ADDED = [gemm(*FC2, following=by) for by in ("cus", "near-memory")]


def study(bench):
    runs, added = bench.runs_of([bench.jobs(CASES, CONFIGURATIONS, layer=CASES.get), bench.jobs(ADDED, ("t3-mca",), layer=tuple)])
    rows = [(case, f"{1e6 * seconds(runs[case, 'sequential']):.0f}", *[two(speedup(runs, case, name)) for name in CONFIGURATIONS[1:]])
            for case in CASES]
    return Outcome(tables={"t3-discussion": table(("GEMM and what it communicates", "sequential us", *CONFIGURATIONS[1:]), rows),
                           "t3-pairs": pairs(bench, added)})


def pairs(bench, added):
    """Near-memory additions for what follows (7.6): milliseconds of two runs."""
    layer = (("model.layers", 1), ("strategy.sublayers", "t3-mca"))
    whole, cut = bench.simulator.many([end_to_end.job_of(bench, *end_to_end.ONE, (*layer, ("strategy.sequence_parallel", value)))
                                       for value in ("false", "true")])
    rows = [("FC-2 with T3-MCA; a residual added by CUs behind the all-gather, near memory before it (7.6)",
             *added.values()),
            ("one layer of Mega-GPT-2; what follows a sum cut along the sequence (7.6)", whole, cut)]
    return table(("", "first, ms", "second, ms"), [(name, *[f"{1e3 * seconds(one):.3f}" for one in both]) for name, *both in rows])
