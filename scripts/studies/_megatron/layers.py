"""One layer of the 22B model, forward and backward (Table 4, column Combined): six layers against five."""

from _parts import Outcome
from _runs import deviation, mean_abs, table

LAYER = {  # milliseconds, recomputation, sequence parallel
    "tensor parallel": (19.6, "none", False),
    "and sequence parallel": (19.0, "none", True),
    "tensor parallel, full recomputation": (27.2, "full", False),
    "tensor parallel, selective recomputation": (20.9, "selective", False),
    "and sequence parallel, selective recomputation": (20.3, "selective", True),
}


def study(simulator):
    lines, deviations = [], []
    for name, (measured, recomputation, sequence) in LAYER.items():
        settings = (("strategy.recomputation", recomputation), ("strategy.sequence_parallel", str(sequence).lower()))
        simulated = milliseconds(simulator, settings)
        deviations.append(deviation(simulated, measured))
        lines.append((name, f"{measured:.1f}", f"{simulated:.1f}", f"{deviations[-1]:+.1f}"))
    return Outcome(tables={"layers": table(("22B layer", "measured ms", "simulated ms", "deviation %"), lines), "layer mean": f"{mean_abs(deviations):.1f}"})


def milliseconds(simulator, settings):
    """Without the optimizer."""
    six, five = simulator.many([("megatron/22b-full.toml", (*settings, ("model.layers", layers))) for layers in (6, 5)])
    all_of_it, optimizer = [six[key] - five[key] for key in ("iteration_time_ps", "mean_optimizer_ps")]
    return (all_of_it - optimizer) * 1e-9
