"""Beyond the slides: the same search on a wafer's mesh."""

from _parts import Outcome, seconds, two
from _runs import table

from .bench import MODELS, Cell, all_degrees, cut_by

FILE = "primepar/wafer.toml"
DIES, ROWS, LAYERS = 32, 8, 2
CHOSEN = ("opt-175b", "llama2-70b", "bloom-176b")


def study(bench):
    wanted = {model: jobs(model) for model in CHOSEN}
    results = iter(bench.simulator.attempts([job for own in wanted.values() for job in own]))
    found = [(model, *sides([next(results) for _ in own])) for model, own in wanted.items()]
    rows = [(MODELS[model][0], milliseconds(b), milliseconds(c), milliseconds(ours), two(seconds(b) / seconds(ours)), two(seconds(c) / seconds(ours)), f"`{ours['plan']['fc1']}`", f"`{ours['plan']['fc2']}`")
            for model, b, c, ours in found]
    return Outcome(tables={"primepar-wafer": table(("model", "(b) ms", "(c) ms", "PrimePar ms", "over (b)", "over (c)", "fc1", "fc2"), rows)},
                   summary={"wafer_over_c": ",".join(two(seconds(c) / seconds(ours)) for _, _, c, ours in found)})


def jobs(model):
    """All degrees of (b), the search without P, and with it."""
    settings = (("model.include", model), ("model.layers", LAYERS), ("machine.topology.rows", ROWS))
    ways = [*map(cut_by, all_degrees(Cell(model, DIES))), (("strategy.temporal", "false"),), ()]
    return [(FILE, (*settings, *way)) for way in ways]


def sides(results):
    """The best of (b), (c), PrimePar."""
    *degrees, c, ours = results
    return min((one for one in degrees if one), key=seconds), c, ours


def milliseconds(one):
    return f"{1e3 * seconds(one):.1f}"
