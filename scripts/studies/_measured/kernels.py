"""Kernels that others measured: the rates of fused attention that machine files are fitted to, and grouped products of experts."""

import math
import tomllib

from _parts import Outcome, seconds
from _runs import ROOT, deviation, max_abs, mean_abs, table

from .rows import MACHINES, rows_in

EXPERIMENT = "measured/grouped-gemm.toml"
LIBRARIES = {"fa1": "flash-attention-1", "fa2": "flash-attention-2", "triton": "flash-attention-triton", "cudnn": "cudnn"}  # of the table, as [cost] calls them
RAMPS = range(0, 1001, 10)


def causal_rates():
    """{(GPU, library, head_dim): {tokens: TFLOP/s}} of forward and backward pass together with a causal mask."""
    rates = {}
    for row in rows_in("attention.csv"):
        rates.setdefault((row["gpu"], row["library"], int(row["head_dim"]), row["causal"] == "yes"), {})[int(row["sequence"])] = float(row["tflops"])
    found = {key[:3]: own for key, own in rates.items() if key[3] and key[1] in LIBRARIES}
    for (gpu, library, head_dim, causal), own in rates.items():
        if library == "cudnn" and not causal:  # with a mask its forward pass was published alone
            forward, masked = (rates[gpu, "cudnn-forward", head_dim, mask] for mask in (False, True))
            found[gpu, library, head_dim] = {tokens: rate * masked[tokens] / forward[tokens] for tokens, rate in own.items() if tokens in forward}
    return found


def peak(gpu):
    """Of FP16, TFLOP/s."""
    return float(machine_of(gpu)["device"]["peak"]["fp16"].split()[0])


def machine_of(gpu):
    name = next(name for kind, name in MACHINES.items() if kind.startswith(gpu))
    return tomllib.loads((ROOT / "inputs" / "machines" / f"{name}.toml").read_text())["machine"]


def fit(rates, peak_rate):
    """(efficiency, ramp, deviations in %) of the least mean deviation. A query sees half of the tokens, and one key more, in the mean."""
    best = None
    for ramp in RAMPS:
        shares = {tokens: 1 / (1 + 2 * ramp / (tokens + 1)) for tokens in rates}
        logs = [math.log(rate / (peak_rate * shares[tokens])) for tokens, rate in rates.items()]
        efficiency = math.exp(sum(logs) / len(logs))
        off = [deviation(peak_rate * efficiency * shares[tokens], rate) for tokens, rate in rates.items()]
        if best is None or mean_abs(off) < mean_abs(best[2]):
            best = efficiency, ramp, off
    return best


def attention_lines():
    lines = []
    for (gpu, library, head_dim), rates in sorted(causal_rates().items()):
        efficiency, ramp, off = fit(rates, peak(gpu))
        lines.append((f"{gpu}, {LIBRARIES[library]}", head_dim, f"{efficiency:.3f}", ramp, f"{mean_abs(off):.1f}", f"{max_abs(off):.1f}"))
    return lines


def step(row, single):
    count = f'repeat = {row["experts"]}' if single else f'batch = {row["experts"]}'
    return f'[{{op = "gemm", m = {row["rows"]}, n = {row["n"]}, k = {row["k"]}, {count}}}]'


def study(simulator):
    rows = rows_in("grouped-gemms.csv")
    jobs = [(EXPERIMENT, (("strategy.step", step(row, single)),)) for row in rows for single in (False, True)]
    times = [seconds(result) for result in simulator.many(jobs)]
    return outcome(rows, list(zip(times[::2], times[1::2])))


def outcome(rows, simulated):
    """(one kernel, one after another) of each row."""
    lines = [(row["source_id"], row["experts"], row["rows"], f"{row['k']} to {row['n']}", *[f"{rate(row, time):.0f}" for time in (float(row["seconds"]), *times)],
              *[f"{deviation(time, float(row['seconds'])):+.1f}" for time in times]) for row, times in zip(rows, simulated)]
    header = ("source", "experts", "rows of each", "columns", "measured TFLOP/s", "in one kernel", "one after another", "time off by %", "and by %")
    return Outcome(tables={"measured-attention": table(("kernels", "head_dim", "efficiency", "ramp", "mean deviation %", "greatest %"), attention_lines()),
                           "measured-grouped": table(header, lines)})


def rate(row, time):
    return 2e-12 * math.prod(int(row[key]) for key in ("experts", "rows", "n", "k")) / time
