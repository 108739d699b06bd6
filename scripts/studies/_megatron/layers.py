"""One layer of the 22B model, forward and backward (Table 4, column Combined): six layers against five."""

from _parts import Outcome
from _runs import deviation, mean_abs, table

LAYER = {  # milliseconds, by the names of inputs/sweeps/megatron/layer.toml
    "tensor parallel": 19.6,
    "and sequence parallel": 19.0,
    "tensor parallel, full recomputation": 27.2,
    "tensor parallel, selective recomputation": 20.9,
    "and sequence parallel, selective recomputation": 20.3,
}


def study(simulator):
    found = {(at["strategy"], at["model.layers"]): result for at, result in simulator.sweep("megatron/layer")}
    lines, deviations = [], []
    for name, measured in LAYER.items():
        simulated = milliseconds(found[name, 6], found[name, 5])
        deviations.append(deviation(simulated, measured))
        lines.append((name, f"{measured:.1f}", f"{simulated:.1f}", f"{deviations[-1]:+.1f}"))
    return Outcome(tables={"layers": table(("22B layer", "measured ms", "simulated ms", "deviation %"), lines), "layer mean": f"{mean_abs(deviations):.1f}"})


def milliseconds(six, five):
    """Without the optimizer."""
    all_of_it, optimizer = [six[key] - five[key] for key in ("iteration_time_ps", "mean_optimizer_ps")]
    return (all_of_it - optimizer) * 1e-9
