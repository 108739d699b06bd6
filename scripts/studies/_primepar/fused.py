"""Beyond the slides: the same search where T3 fuses all-reduces with the products that they sum."""

from _parts import Outcome, seconds, two
from _runs import deviation, max_abs, table

from .bench import MODELS, predicted

RING, NODES = "primepar/fused.toml", "primepar/layer.toml"
MEMORY = (("channels", 32), ("ccdwl", 4), ("bank_groups", 4), ("l2_banks", 64), ("granularity", "512 B"), ("l2_line", "256 B"), ("work_group_time", "8 us"))  # as inputs/machines/v100-ring.toml says, at the clock that gives the machine's own memory bandwidth
MACHINES = (
    ("T3's ring of 4", RING, ()),
    ("T3's ring of 8", RING, (("machine.topology.devices", 8),)),
    ("two nodes of 4", NODES, tuple((f"machine.device.transaction.{key}", value) for key, value in MEMORY)),
)
CHOSEN = ("opt-6.7b", "llama2-7b")
LEVELS = ("sequential", "t3-mca")
BATCH, PLANS = 2, 2  # work at transaction level: with eight sequences a search takes an hour


def study(bench):
    keys = [(machine, model) for machine in MACHINES for model in CHOSEN]
    results = iter(bench.simulator.many([job for key in keys for job in jobs(*key)]))
    found = [(key, *[{level: next(results) for level in LEVELS} for _ in ("c", "PrimePar")]) for key in keys]
    rows, plans, gaps = [], [], []
    for (machine, model), c, ours in found:
        rows.append((machine[0], MODELS[model][0], *[cell for level in LEVELS for cell in (milliseconds(c[level]), milliseconds(ours[level]), two(seconds(c[level]) / seconds(ours[level])))],
                     two(seconds(ours["sequential"]) / seconds(ours["t3-mca"]))))
        plans.append((machine[0], MODELS[model][0], *[f"`{ours[level]['plan'][name]}`" for level in LEVELS for name in ("qkv", "fc1", "fc2")]))
        gaps += [deviation(seconds(side[level]), predicted(side[level])) for side in (c, ours) for level in LEVELS]
    head = ("machine", "model", "(c) ms", "PrimePar ms", "over (c)", "fused (c) ms", "fused PrimePar ms", "over (c)", "fusing gains")
    plan_head = ("machine", "model", *[f"{when} {name}" for when in ("not fused:", "fused:") for name in ("qkv", "fc1", "fc2")])
    return Outcome(tables={"primepar-fused": table(head, rows), "primepar-fused-plans": table(plan_head, plans)},
                   summary={f"over_c_{name}": ",".join(two(seconds(c[level]) / seconds(ours[level])) for _, c, ours in found) for name, level in zip(("apart", "fused"), LEVELS)}
                   | {"fused_predicted_pct": f"{max_abs(gaps):.1f}"})


def jobs(machine, model):
    """The search without P at each level, and with it."""
    _, file, settings = machine
    settings = (("model.include", model), ("model.layers", 1), ("workload.global_batch", BATCH), ("strategy.simulated", PLANS), *settings)
    return [(file, (*settings, ("strategy.sublayers", level), *how)) for how in ((("strategy.temporal", "false"),), ()) for level in LEVELS]


def milliseconds(one):
    return f"{1e3 * seconds(one):.2f}"
