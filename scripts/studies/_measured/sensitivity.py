"""What iterations and collectives on H100s depend on: each constant of the machine, of its library and of the stacks halved and doubled."""

import tomllib

from _parts import Outcome, seconds
from _runs import ROOT, as_toml, deviation, table

from . import collectives
from .rows import read, settings

MACHINE = "h100-cluster"
JOBS = {"175B": ("dgxc-24.11", "GPT-3 175B", "128"), "15B": ("dgxc-24.11", "Nemotron-4 15B", "256"), "8B": ("dgxc-25.01", "Llama 3.1 8B", "8"), "1.7B": ("mcore-0.8", "GPT 1.7B", "48"),
        "MPT 1B": ("llm-foundry", "MPT 1B", "8")}
COLLECTIVES = {"1 MiB": ("1", "all-reduce", "1048576"), "256 MiB": ("1", "all-reduce", "268435456"), "8 GiB over nodes": ("16", "reduce-scatter", "8589934592")}
OF_COST = ("kernel_floor", "launch_overhead", "idle_power", "matrix_power", "memory_power", "operand_bytes_per_clock", "tile_latency", "copy_memory_efficiency", "fused_memory_efficiency")
OF_ATTENTION = ("efficiency", "ramp")
OF_TOPOLOGY = ("nic_efficiency", "fabric_loss", "nvlink_efficiency")
OF_PROTOCOLS = (("start",), ("step",), ("step_across",), ("most", "most_across"))
INTERVAL = "11 us"  # of the recipes


def columns():
    """(experiment, settings) by what the table calls it."""
    rows = {(row.source, row["model"], row["gpus"]): row for row in read() if row["gpu"] == "H100 SXM"}
    of_collectives = {(row["nodes"], row["op"], row["bytes"]): row for row in collectives.read() if row["machine"] == MACHINE}
    return {**{name: (rows[key].file, settings(rows[key])) for name, key in JOBS.items()},
            **{name: (collectives.EXPERIMENT, collectives.settings(of_collectives[key])) for name, key in COLLECTIVES.items()}}


def times(value, factor):
    """A number, or a quantity, of a machine file; shares end at 1."""
    if isinstance(value, str):
        number, unit = value.split()
        return f"{float(number) * factor:g} {unit}"
    return round(value * factor) if isinstance(value, int) else min(value * factor, 1.0)


def scaled(tables, keys, factor):
    """Inline tables with some of their values changed."""
    lines = [[f"{key} = {as_toml(times(value, factor) if key in keys else value)}" for key, value in one.items()] for one in tables]
    return "[" + ", ".join("{ " + ", ".join(line) + " }" for line in lines) + "]"


def changes(factor):
    """(constant, settings) of each."""
    of = tomllib.loads((ROOT / "inputs" / "machines" / f"{MACHINE}.toml").read_text())["machine"]["calibration"]
    cost, topology = of["cost"], of["topology"]
    found = [(f"`cost.{key}` = {cost[key]}", [(f"cost.{key}", times(cost[key], factor))]) for key in OF_COST]
    for key in OF_ATTENTION:
        whole = f"attention_{key}"
        found.append((f"`cost.{whole}` = {cost[whole]}, and of libraries", [(f"cost.{whole}", times(cost[whole], factor)), ("cost.attention_kernels", scaled(cost["attention_kernels"], (key,), factor))]))
    found.append((f"`cost.issue_interval` = {INTERVAL}", [("cost.issue_interval", times(INTERVAL, factor))]))
    found += [(f"`topology.{key}` = {topology[key]}", [(f"machine.topology.{key}", times(topology[key], factor))]) for key in OF_TOPOLOGY]
    return found + [(f"`{'`, `'.join(keys)}` of protocols", [("collectives.protocols", scaled(of["collectives"]["protocols"], keys, factor))]) for keys in OF_PROTOCOLS]


def study(simulator):
    jobs, changed = columns(), [(name, word, own) for word, factor in (("half", 0.5), ("double", 2)) for name, own in changes(factor)]
    settings_of = [(), *[own for _, _, own in changed]]
    found = iter([seconds(result) for result in simulator.many([(file, (*given, *applied(own, file))) for own in settings_of for file, given in jobs.values()])])
    return outcome(list(jobs), changed, [[next(found) for _ in jobs] for _ in settings_of])


def applied(own, file):
    """A collective alone has no stack that launches it."""
    return () if file == collectives.EXPERIMENT and dict(own).keys() == {"cost.issue_interval"} else own


def outcome(names, changed, found):
    """Changes in percent of what was simulated with the machine as it is, the first of `found`."""
    lines = [(name, word, *[f"{deviation(ours, before):+.2f}" for ours, before in zip(own, found[0])]) for (name, word, _), own in zip(changed, found[1:])]
    lines.sort(key=lambda line: [name for name, _, _ in changed].index(line[0]))
    return Outcome(tables={"measured-sensitivity": table(("constant", "", *[f"{name} %" for name in names]), lines)})
