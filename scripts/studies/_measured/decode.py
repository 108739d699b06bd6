"""Prompts and tokens behind them, of inputs/measured/decode.csv: a pass over the prompt, which makes the first token, and the generation of the others."""

from _parts import Outcome, seconds
from _runs import deviation, max_abs, mean_abs, table

from .rows import GPUS_PER_NODE, rows_in

EXPERIMENT = "measured/decode.toml"


def read():
    return rows_in("decode.csv")


def settings(row, phase):
    gpus = int(row["tp"]) * int(row["pp"])
    model = [(f"model.{key}", row[key]) for key in ("layers", "hidden", "heads")]
    workload = [("workload.phase", phase), ("workload.sequence", row["input"]), ("workload.global_batch", row["batch"])]
    if phase == "generation":
        workload.append(("workload.generated", int(row["output"]) - 1))
    return (("machine.topology.nodes", max(1, gpus // GPUS_PER_NODE)), ("machine.topology.gpus_per_node", min(gpus, GPUS_PER_NODE)), ("model.name", row["model"]), *model, *workload,
            ("strategy.tensor", row["tp"]), ("strategy.pipeline", row["pp"]), ("strategy.micro_batch", micro_batch(row)))


def micro_batch(row):
    """As FasterTransformer deals a batch out to stages: evenly, or where that does not come out even, whole."""
    batch, stages = int(row["batch"]), int(row["pp"])
    return batch // stages if batch % stages == 0 else batch


def study(simulator):
    rows = read()
    found = simulator.many([(EXPERIMENT, settings(row, phase)) for row in rows for phase in ("prompt", "generation")])
    times = [seconds(result) for result in found]
    return outcome(rows, list(zip(times[::2], times[1::2])))


def outcome(rows, simulated):
    off = [deviation(prompt + rest, float(row["seconds"])) for row, (prompt, rest) in zip(rows, simulated)]
    lines = [(row["source_id"], row["model"], f"t{row['tp']}" + (f" p{row['pp']}" if row["pp"] != "1" else ""), row["batch"], row["input"], row["output"], f"{float(row['seconds']):.3f}", f"{prompt + rest:.3f}",
              f"{1e3 * prompt:.1f}", f"{1e3 * rest / (int(row['output']) - 1):.2f}", f"{off[i]:+.1f}") for i, (row, (prompt, rest)) in enumerate(zip(rows, simulated))]
    header = ("source", "model", "cut", "batch", "prompt", "tokens", "measured s", "simulated s", "of it prompt ms", "a token ms", "deviation %")
    return Outcome(tables={"measured-decode": table(header, lines), "measured-decode-mean": f"{mean_abs(off):.1f}"},
                   summary={"decode_mean_pct": f"{mean_abs(off):.1f}", "decode_signed_pct": f"{sum(off) / len(off):.1f}", "decode_most_pct": f"{max_abs(off):.1f}"})
