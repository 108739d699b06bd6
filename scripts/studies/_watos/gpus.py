"""Figure 2, its first bars: Megatron on eight GPUs with the wafer's compute and memory, over Megatron on the wafer; and what of a wafer's
peak Megatron's cut reaches for Llama2-30B."""

from _parts import Outcome, seconds, three, two
from _runs import table

from .jobs import MEGATRON, ON_THE_WAFER, cut, placed

EXPERIMENT = "watos/mg-gpu.toml"
TENSOR_ALONE = (EXPERIMENT, ())
BATCHES = (64, 512)
CUTS = [(t, p) for t in (1, 2, 4, 8) for p in (1, 2, 4, 8) if t * p <= 8]  # the others of eight GPUs are replicas
MEMORIES = {"8 TB/s (figure 2)": (), "2 TB/s (V-C)": (("machine.device.memory_bandwidth", "2 TB/s"),)}
SMALL = (("model.include", "llama2-30b"),)
PEAK_FASTER = 80  # %, the paper's "gap between real and potential performance"
SMALL_CUTS = {"Megatron's rule: TP 8, PP 7": MEGATRON, "TP 4, PP 14": (*cut(4, 14), *placed("2x2 * 12", "1x4")),
              "TP 2, PP 28": (*cut(2, 28), *placed("1x2")), "TP 1, PP 56": (*cut(1, 56), *placed("1x1"))}


def study(simulator):
    lines = []
    for batch in BATCHES:
        size = (("workload.global_batch", batch),)
        wafer = seconds(simulator.summary(ON_THE_WAFER[0], (*ON_THE_WAFER[1], *MEGATRON, *size)))
        for name, memory in MEMORIES.items():
            jobs = {degrees: (EXPERIMENT, (*cut(*degrees), *memory, *size)) for degrees in CUTS}
            found = {degrees: seconds(result) for degrees, result in zip(jobs, simulator.attempts(jobs.values())) if result}
            best = min(found, key=found.get)
            replicas = 8 // (best[0] * best[1])
            lines.append((batch, name, two(wafer), two(found[8, 1]), two(found[8, 1] / wafer),
                          f"TP {best[0]}, PP {best[1]}" + (f", {replicas} replicas" if replicas > 1 else ""), two(found[best]), two(found[best] / wafer)))
    header = ("batch", "memory of a GPU", "MG-wafer s", "(a) TP 8 s", "over the wafer", "(b) best cut", "s", "over the wafer")
    peak, faster = of_the_peak(simulator)
    return Outcome(tables={"figure 2": table(header, lines), "figure 2 peak": peak},
                   claims=[("figure 2: the peak is faster than Llama2-30B at Megatron's cut by", f"{PEAK_FASTER} %", f"{faster:.0f} %", faster >= PEAK_FASTER)])


def of_the_peak(simulator):
    """Llama2-30B: a table of what is left of the wafer's peak, and by how many % the peak would be faster than Megatron's cut."""
    jobs = [(ON_THE_WAFER[0], (*ON_THE_WAFER[1], *SMALL, *settings)) for settings in SMALL_CUTS.values()]
    found = dict(zip(SMALL_CUTS, simulator.attempts(jobs)))
    lines = [(name, three(seconds(result)), f"{100 * result['model_flops_utilisation']:.1f}", f"{100 * (1 / result['model_flops_utilisation'] - 1):.0f}")
             if result else (name, "does not fit", "", "") for name, result in found.items()]
    faster = 100 * (1 / next(iter(found.values()))["model_flops_utilisation"] - 1)
    return table(("Llama2-30B on the wafer", "iteration s", "of the peak %", "the peak faster by %"), lines), faster
