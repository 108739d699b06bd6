"""Whole iterations: Table 5, where their time goes, and what replicas add (section 6.3)."""

from _parts import Outcome, seconds
from _runs import deviation, max_abs, mean_abs, table

# Seconds an iteration: full recomputation; sequence parallelism with selective recomputation.
MEASURED = {"22b": (1.42, 1.10), "175b": (18.13, 13.75), "530b": (49.05, 37.83), "1t": (94.42, 71.49)}
WAYS = ("full", "selective")
ROWS = [(model, way) for model in MEASURED for way in WAYS]
ACTIVITIES = ("forward", "backward", "recomputation", "optimizer", "tensor_communication", "pipeline_communication", "waiting", "bubble", "idle")
REPLICATED = 39.15  # section 6.3: 530B with data parallelism of 8


def measured(row):
    return MEASURED[row[0]][WAYS.index(row[1])]


def file_of(row):
    return f"megatron/{row[0]}-{row[1]}.toml"


def job(row, settings=()):
    return file_of(row), settings


def study(simulator):
    found = dict(zip(ROWS, simulator.many([job(row) for row in ROWS])))
    goals = [(measured(row), seconds(found[row])) for row in ROWS]
    deviations = [deviation(ours, theirs) for theirs, ours in goals]
    mean, most = f"{mean_abs(deviations):.2f}", f"{max_abs(deviations):.2f}"
    tables = {"rows": rows_table(found, deviations), "shares": shares_table(found), "mean in short": mean, "max in short": most, "mean": mean, "max": most}
    return Outcome(tables=tables, goals=goals, summary={"rows": len(ROWS)})


def rows_table(found, deviations):
    lines = []
    for (row, summary), off in zip(found.items(), deviations):
        lines.append((row[0].upper(), row[1], f"{measured(row):.2f}", f"{seconds(summary):.2f}", f"{off:+.2f}",
                      f"{100 * summary['model_flops_utilisation']:.1f}", f"{summary['peak_memory'] / 1e9:.1f}"))
    return table(("model", "recomputation", "measured s", "simulated s", "deviation %", "model FLOP/s of peak %", "peak memory GB"), lines)


def shares_table(found):
    """Where the time of an average device goes, in percent."""
    lines = []
    for row, summary in found.items():
        shares = [100 * summary[f"mean_{name}_ps"] / summary["iteration_time_ps"] for name in ACTIVITIES]
        lines.append((row[0].upper(), row[1], *[f"{share:.1f}" for share in shares]))
    return table(("model", "recomputation", *[name.replace("_", " ") for name in ACTIVITIES]), lines)


def replicas(simulator):
    """What eight replicas add to an iteration: it does not depend on the number of micro-batches, so few will do."""
    batches = {"megatron/530b-selective.toml": 70, "megatron/530b-2240.toml": 560}
    one, eight = map(seconds, simulator.many([(file, (("workload.global_batch", batch),)) for file, batch in batches.items()]))
    added = REPLICATED - measured(("530b", "selective"))
    line = ("added to an iteration", f"{added:.2f}", f"{eight - one:.2f}", f"{deviation(eight - one, added):+.0f}")
    return Outcome(tables={"replicas": table(("530B, 8 replicas", "measured s", "simulated s", "deviation %"), [line])})
