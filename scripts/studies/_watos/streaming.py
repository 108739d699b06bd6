"""Weight streaming: from which batch on a layer's weights hide behind computing, and what it takes beside a pipeline."""

from _parts import Outcome, seconds, three, two
from _runs import table

from .jobs import MEGATRON, ON_THE_WAFER

EXPERIMENT = "watos/streaming.toml"
FROM_HOST = (EXPERIMENT, ())
FULL = (("strategy.recomputed_sections", '["full"]'),)  # all sequences fit
MORE = (("strategy.recomputed_sections", '["attention_norm", "qkv", "mlp_norm", "fc1", "activation"]'),)
ON_DIES = (("strategy.weight_streaming", "devices"),)
NOT_AHEAD = (("strategy.gather_ahead", 0),)
REPLICAS = 7
BATCHES = {"host, 160 GB/s": ((), (28, 56, 77, 84, 91, 98, 105)), "host, not overlapped": (NOT_AHEAD, (56, 98)),
           "the dies' DRAM": (ON_DIES, (7, 14, 21, 28, 56)), "the dies' DRAM, not overlapped": ((*ON_DIES, *NOT_AHEAD), (14, 56))}
HIDDEN = 0.01  # of the iteration at most


def study(simulator):
    jobs = {(name, batch): (EXPERIMENT, (*settings, *FULL, ("workload.global_batch", batch))) for name, (settings, batches) in BATCHES.items() for batch in batches}
    found = dict(zip(jobs, simulator.many(jobs.values())))
    lines, hides = [], {}
    for (name, batch), result in found.items():
        exposed = result["mean_data_communication_ps"]
        if exposed < HIDDEN * result["iteration_time_ps"]:
            hides.setdefault(name, batch)
        lines.append((name, batch, batch // REPLICAS, two(seconds(result)), f"{exposed * 1e-9:.0f}", f"{100 * exposed / result['iteration_time_ps']:.1f}",
                      f"{result['peak_memory'] * 1e-9:.1f}"))
    header = ("weights from", "batch", "a replica", "iteration s", "weights and gradients waited for ms", "%", "fullest die GB")
    return Outcome(tables={"streaming": table(header, lines), "streaming and pipelines": beside(simulator)},
                   summary={"host_hides_from": hides.get("host, 160 GB/s", "-"), "dies_hide_from": hides.get("the dies' DRAM", "-")})


def beside(simulator):
    """With as little recomputation as fits, against the pipeline of Megatron's rule."""
    rows = {
        "streamed from the host": ((64, (EXPERIMENT, ())), (128, (EXPERIMENT, MORE))),
        "streamed from the dies": ((64, (EXPERIMENT, (*ON_DIES, *MORE))), (128, (EXPERIMENT, (*ON_DIES, *FULL)))),
        "TP 8, PP 7": tuple((batch, (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *MEGATRON))) for batch in (64, 128)),
    }
    lines = []
    for name, jobs in rows.items():
        found = simulator.many([(experiment, (*settings, ("workload.global_batch", batch))) for batch, (experiment, settings) in jobs])
        lines.append((name, *[part for result in found for part in (three(seconds(result)), f"{result['peak_memory'] * 1e-9:.1f}")]))
    return table(("GPT-175B, 2,048 x 1", "batch 64 s", "fullest die GB", "batch 128 s", "fullest die GB"), lines)
