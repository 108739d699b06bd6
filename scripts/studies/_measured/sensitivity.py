"""What iterations and collectives depend on: each constant of the machines, of their library and of the stacks halved and doubled."""

import tomllib

from _parts import Outcome, seconds
from _runs import ROOT, as_toml, deviation, table

from . import collectives
from .rows import MACHINES, read, settings

JOBS = {  # by machine and by what the table calls it: source, model, GPUs
    "h100-cluster": {"175B": ("dgxc-24.11", "GPT-3 175B", "128"), "15B": ("dgxc-24.11", "Nemotron-4 15B", "256"), "8B": ("dgxc-25.01", "Llama 3.1 8B", "8"), "1.7B": ("mcore-0.8", "GPT 1.7B", "48"),
                     "MPT 1B": ("llm-foundry", "MPT 1B", "8")},
    "a100-80g-cluster": {"18B": ("narayanan21-t1", "GPT 18.4B", "256"), "1.5B": ("zerobubble-t4", "GPT 1.5B", "8"), "4B": ("vocabpar-t5", "GPT ~4B V=32k", "8"), "MPT 1B": ("llm-foundry", "MPT 1B", "8")}}
COLLECTIVES = {  # nodes, kind, bytes
    "h100-cluster": {"1 MiB": ("1", "all-reduce", "1048576"), "256 MiB": ("1", "all-reduce", "268435456"), "8 GiB over nodes": ("16", "reduce-scatter", "8589934592")},
    "a100-80g-cluster": {"8 KiB": ("1", "all-reduce", "8192"), "32 MiB": ("1", "all-reduce", "33554432"), "2 GiB over nodes": ("2", "all-reduce", "2147483648")}}
OF_COST = ("kernel_floor", "launch_overhead", "idle_power", "matrix_power", "memory_power", "operand_bytes_per_clock", "tile_latency", "copy_memory_efficiency", "fused_memory_efficiency")
OF_ATTENTION = ("efficiency", "ramp")
OF_TOPOLOGY = ("nic_efficiency", "fabric_loss", "nvlink_efficiency")
OF_PROTOCOLS = (("start",), ("step",), ("step_across",), ("most", "most_across"))
INTERVAL = "11 us"  # of the recipes
WAYS = {"half": 0.5, "double": 2}


def columns(machine):
    """(experiment, settings) by what the table calls it; the first row of a source where several are alike."""
    rows = {(row.source, row["model"], row["gpus"]): row for row in reversed(read()) if MACHINES[row["gpu"]] == machine}
    of_collectives = {(row["nodes"], row["op"], row["bytes"]): row for row in collectives.read() if row["machine"] == machine}
    return {**{name: (rows[key].file, settings(rows[key])) for name, key in JOBS[machine].items()},
            **{name: (collectives.EXPERIMENT, collectives.settings(of_collectives[key])) for name, key in COLLECTIVES[machine].items()}}


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


def changes(machine, factor):
    """(constant, settings) of each."""
    of = tomllib.loads((ROOT / "inputs" / "machines" / f"{machine}.toml").read_text())["machine"]["calibration"]
    cost, topology = of["cost"], of["topology"]
    found = [(f"`cost.{key}` = {cost[key]}", [(f"cost.{key}", times(cost[key], factor))]) for key in OF_COST]
    for key in OF_ATTENTION:
        whole = f"attention_{key}"
        found.append((f"`cost.{whole}` = {cost[whole]}, and of libraries", [(f"cost.{whole}", times(cost[whole], factor)), ("cost.attention_kernels", scaled(cost["attention_kernels"], (key,), factor))]))
    found.append((f"`cost.issue_interval` = {INTERVAL}", [("cost.issue_interval", times(INTERVAL, factor))]))
    found += [(f"`topology.{key}` = {topology[key]}", [(f"machine.topology.{key}", times(topology[key], factor))]) for key in OF_TOPOLOGY if key in topology]
    return found + [(f"`{'`, `'.join(keys)}` of protocols", [("collectives.protocols", scaled(of["collectives"]["protocols"], keys, factor))]) for keys in OF_PROTOCOLS]


def study(simulator):
    outcome = Outcome()
    for machine in JOBS:
        outcome.add(of_machine(simulator, machine))
    return outcome


def of_machine(simulator, machine):
    jobs, by_way = columns(machine), [changes(machine, factor) for factor in WAYS.values()]
    changed = [(name, way, own) for both in zip(*by_way) for way, (name, own) in zip(WAYS, both)]
    settings_of = [(), *[own for _, _, own in changed]]
    found = iter([seconds(result) for result in simulator.many([(file, (*given, *applied(own, file))) for own in settings_of for file, given in jobs.values()])])
    return outcome_of(machine, list(jobs), changed, [[next(found) for _ in jobs] for _ in settings_of])


def applied(own, file):
    """A collective alone has no stack that launches it."""
    return () if file == collectives.EXPERIMENT and dict(own).keys() == {"cost.issue_interval"} else own


def outcome_of(machine, names, changed, found):
    """Changes in percent of what was simulated with the machine as it is, the first of `found`."""
    lines = [(name, way, *[f"{deviation(ours, before):+.2f}" for ours, before in zip(own, found[0])]) for (name, way, _), own in zip(changed, found[1:])]
    return Outcome(tables={f"measured-sensitivity-{machine.split('-')[0]}": table(("constant", "", *[f"{name} %" for name in names]), lines)})
