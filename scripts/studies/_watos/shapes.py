"""Figure 5: (TP, PP) by shape of group, and the memory of stages."""

from _parts import Outcome, seconds, share, two
from _runs import table

from .jobs import BOTH_WAYS, cut, placed

BATCHES = (64, 256, 512)
MODELS = {  # (TP, PP), rows, cycle; the paper's best and Megatron's choice
    "30B on 8 x 4": ("watos/figure-5-30b.toml", (((4, 8), "4x1", "2x2"), ((8, 4), "8x1", "4x2"))),
    "70B on 8 x 8": ("watos/figure-5-70b.toml", (((4, 16), "4x1", "2x2"), ((8, 8), "8x1", "4x2"))),
}
OF_THE_PEAK = 70  # %, the paper's activations on stage 0
VOCABULARIES = ((), (("model.vocabulary", 1024),))


def study(simulator):
    jobs = {}
    for name, (experiment, cuts) in MODELS.items():
        for vocabulary in VOCABULARIES:
            for batch in BATCHES:
                for degrees, line, square in cuts:
                    settings = (*cut(*degrees), *vocabulary, ("workload.global_batch", batch))
                    shapes = (placed(line, order="rows"), placed(square), (*placed(square), *BOTH_WAYS))
                    jobs |= {(name, bool(vocabulary), batch, degrees, i): (experiment, (*settings, *shape)) for i, shape in enumerate(shapes)}
    found = dict(zip(jobs, simulator.many(jobs.values())))
    lines = []
    for name, (_, cuts) in MODELS.items():
        for small in (False, True):
            for batch in BATCHES:
                times = [seconds(found[name, small, batch, degrees, i]) for degrees, *_ in cuts for i in range(3)]
                best = f"{cuts[0 if min(times[:3]) < min(times[3:]) else 1][0]}"
                lines.append((name + (", vocabulary 1,024" if small else ""), batch, *map(two, times), best))
    header = ("model", "batch", *[f"{degree}, {shape}" for degree in ("TP 4", "TP 8") for shape in ("rows", "cycles", "both ways")], "leads")
    first = sum(line[-1].startswith("(4,") for line in lines)
    stages, of_the_peak = memory(simulator)
    return Outcome(tables={"figure 5": table(header, lines), "figure 5 memory": stages}, summary={"tp4_leads": f"{first}_of_{len(lines)}"},
                   claims=[("figure 5: TP 4 is faster than TP 8", "all", share(first, len(lines)), first == len(lines)),
                           ("figure 5(c): activations of the peak of stage 0", f"over {OF_THE_PEAK} %", f"{of_the_peak:.0f} %", of_the_peak > OF_THE_PEAK)])


def memory(simulator):
    """Figure 5(c): 30B, TP 4, PP 8, sequences of 4,096, micro-batches of four; the table, and % that activations are of stage 0's peak."""
    settings = (*cut(4, 8), ("workload.sequence", 4096), ("strategy.micro_batch", 4), ("machine.device.memory_capacity", "1 TB"))
    result = simulator.summary("watos/figure-5-30b.toml", settings)
    lines = [(stage, f"{peak * 1e-9:.1f}", f"{activations * 1e-9:.1f}", f"{100 * activations / peak:.0f}", f"{100 * peak / 96e9:.0f}")
             for stage, (peak, activations) in result["memory_of_stages"].items()]
    peak, activations = result["memory_of_stages"][0]
    return table(("stage", "peak GB", "activations GB", "of the peak %", "of 96 GB %"), lines), 100 * activations / peak
