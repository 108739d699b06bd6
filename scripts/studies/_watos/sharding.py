"""Figure 6(a): FSDP against tensor parallelism on the wafer, by what their links do."""

from _parts import Outcome, seconds, three, two
from _runs import table

from .jobs import MEGATRON, ON_THE_WAFER, cut, placed

EXPERIMENT = "watos/fsdp.toml"  # 56 replicas on one ring through the wafer
SIZE = (("workload.global_batch", 56),)
FULL = (("strategy.recomputation", "full"),)
BY_ROWS = (("strategy.stages", "[]"),)  # each row of dies, then the next one: from its end seven links back
CASES = {
    "FSDP, a ring through the wafer": (EXPERIMENT, ()),
    "FSDP, dies row by row": (EXPERIMENT, BY_ROWS),
    "TP 8, PP 7": (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *MEGATRON, *SIZE)),
    "TP 8, PP 7, all computed again": (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *MEGATRON, *FULL, *SIZE)),
    "TP 4, PP 14, all computed again": (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *cut(4, 14), *placed("2x2 * 12", "1x4"), *FULL, *SIZE)),
}


def study(simulator):
    found = dict(zip(CASES, simulator.many(CASES.values())))
    lines = []
    for name, result in found.items():
        mean, most = result["use_of_links"]["d2d"]
        exposed = sum(result[f"mean_{one}_communication_ps"] for one in ("tensor", "data", "pipeline")) * 1e-9
        lines.append((name, f"{result['peak_memory'] * 1e-9:.1f}", f"{result['bytes_on_links'] * 1e-12:.0f}", f"{100 * mean:.1f}", f"{100 * most:.1f}",
                      f"{exposed:.0f}", f"{result['mean_waiting_ps'] * 1e-9:.0f}", f"{result['mean_bubble_ps'] * 1e-9:.0f}", three(seconds(result))))
    header = ("GPT-175B, 56 sequences", "fullest die GB", "on links TB", "use of links %", "busiest %", "exposed ms", "waiting ms", "bubbles ms", "iteration s")
    use = {name: result["use_of_links"]["d2d"][0] for name, result in found.items()}
    used = use["FSDP, a ring through the wafer"] / use["TP 8, PP 7"]
    return Outcome(tables={"figure 6a": table(header, lines)}, claims=[("figure 6(a): FSDP's use of links, of tensor parallelism's", "0.6 to 0.8", two(used), 0.6 <= used <= 0.8)])
