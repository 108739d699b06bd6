"""Figure 17: DRAM traffic over time, of the GEMM alone, of T3 and of T3-MCA; FC-2 of T-NLG on 8 GPUs with 4K tokens."""

from _parts import Outcome, three
from tessera_analysis import t3_figures

INTERVAL_US = 5


def study(bench):
    runs = [result for _, result in bench.sweep("traffic", (("record.traffic_interval", f"{INTERVAL_US} us"),))]  # the GEMM, T3, T3-MCA
    ends = [run["kernels"][0]["computed_ps"] * 1e-6 for run in runs]
    arguments = ([run["traffic_over_time"] for run in runs], ends, INTERVAL_US)
    return Outcome(pictures={"figure-17": (t3_figures.traffic_over_time, arguments)},
                   summary={"gemm_slowdown_fc2_4k": three(ends[1] / ends[0])})
