"""Memory of the fullest device, of inputs/measured/memory.csv, without what the allocator and the driver keep for themselves."""

from _parts import Outcome
from _runs import deviation, max_abs, mean_abs, table

from .rows import rows_in

EXPERIMENT = "measured/memory.toml"
MICRO_BATCHES = 4  # of a replica
GIB = 1 << 30
HEADER = ("source", "model", "sequence", "cut", "measured GiB", "simulated GiB", "deviation %")


def read():
    return rows_in("memory.csv")


def settings(row):
    model = [("name", row["model"]), *[(key, row[key]) for key in ("layers", "hidden", "heads", "kv_heads")], ("ffn_hidden", row["ffn"])]
    strategy = (("tensor", row["tp"]), ("pipeline", row["pp"]), ("data", row["dp"]), ("sequence_parallel", "true" if row["tp"] != "1" else "false"))
    if row["cp"] != "1":
        strategy += (("context_parallel", row["cp"]), ("context_exchange", "all-to-all"))
    return (*[("model." + key, value) for key, value in model], ("workload.sequence", row["seq"]), ("workload.global_batch", MICRO_BATCHES * int(row["dp"])), *[("strategy." + key, value) for key, value in strategy])


def study(simulator):
    rows = read()
    return outcome(rows, [result["peak_memory"] for result in simulator.many([(EXPERIMENT, settings(row)) for row in rows])])


def outcome(rows, simulated):
    off = [deviation(held / GIB, float(row["gib"])) for row, held in zip(rows, simulated)]
    lines = [(row["source_id"], row["model"], row["seq"], cut(row), row["gib"], f"{held / GIB:.2f}", f"{off[i]:+.1f}") for i, (row, held) in enumerate(zip(rows, simulated))]
    return Outcome(tables={"measured-memory": table(HEADER, lines), "measured-memory-mean": f"{mean_abs(off):.1f}"},
                   summary={"memory_mean_pct": f"{mean_abs(off):.1f}", "memory_signed_pct": f"{sum(off) / len(off):.1f}", "memory_most_pct": f"{max_abs(off):.1f}"})


def cut(row):
    return " ".join(f"{name}{row[key]}" for name, key in (("t", "tp"), ("p", "pp"), ("c", "cp"), ("d", "dp")) if row[key] != "1")
