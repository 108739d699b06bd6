"""Collectives alone, of inputs/measured/collectives.csv: one step of a script on the stock machine, with what the machine file chooses."""

from _parts import Outcome, seconds
from _runs import deviation, max_abs, mean_abs, table

from .rows import rows_in

EXPERIMENT = "measured/collective.toml"
MIB = 1 << 20
SMALL = MIB  # B; up to there latencies count
PCIE = (("machine.topology.pcie_bandwidth", "63 GB/s"),)  # generation 5, 16 lanes: 32 GT/s x 16 x 128 / 130 / 8; where GPUs share NICs


def read():
    return rows_in("collectives.csv")


def settings(row):
    topology = [(f"machine.topology.{key}", row[key]) for key in ("nodes", "gpus_per_node", "nics_per_node")]
    asked = ', algorithm = "ring"' if "ring asked for" in row["taken"] else ""
    step = f'[{{op = "{row["op"]}", group = "all", bytes = "{row["bytes"]} B", element = "4 B"{asked}}}]'
    shared = PCIE if row["nics_per_node"] != row["gpus_per_node"] else ()
    return (("machine.include", row["machine"]), *topology, *shared, ("strategy.step", step))


def study(simulator):
    rows = read()
    return outcome(rows, [seconds(result) for result in simulator.many([(EXPERIMENT, settings(row)) for row in rows])])


def outcome(rows, simulated):
    found = [deviation(time, float(row["seconds"])) for row, time in zip(rows, simulated)]
    lines = [(row["source_id"], where(row), row["op"], size_of(row), *[f"{bus(row, time):.0f}" for time in (float(row["seconds"]), simulated[i])], f"{found[i]:+.1f}" + (" fitted" if is_fitted(row) else ""))
             for i, row in enumerate(rows)]
    counted = [(int(row["bytes"]), off) for row, off in zip(rows, found) if not is_fitted(row)]
    small, large = [off for size, off in counted if size <= SMALL], [off for size, off in counted if size > SMALL]
    header = ("source", "GPUs", "collective", "size", "measured GB/s", "simulated GB/s", "time off by %")
    values = {"small": small, "large": large}
    return Outcome(tables={"measured-collectives": table(header, lines)},
                   summary={f"collectives_{name}_{kind}_pct": f"{of(own):.1f}" for name, own in values.items() if own for kind, of in (("mean", mean_abs), ("most", max_abs))})


def is_fitted(row):
    """Such a row says nothing of how right the machine is."""
    return "fitted to" in row["taken"]


def size_of(row):
    size = int(row["bytes"])
    return f"{size / MIB:,.0f} MiB" if size >= MIB else f"{size // 1024} KiB"


def where(row):
    """"4 x 8 H100", and NICs where GPUs share them."""
    shares = f", {row['nics_per_node']} NICs" if row["nics_per_node"] != row["gpus_per_node"] else ""
    return f"{row['nodes']} x {row['gpus_per_node']} {row['machine'].split('-')[0].upper()}{shares}"


def bus(row, time):
    """Bus bandwidth, GB/s: what a ring's links carry."""
    members = int(row["nodes"]) * int(row["gpus_per_node"])
    passes = 2 if row["op"] == "all-reduce" else 1
    return int(row["bytes"]) * passes * (members - 1) / members / time / 1e9
