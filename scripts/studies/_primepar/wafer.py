"""Beyond the slides: the same search on a wafer's mesh."""

from _parts import Outcome, seconds, two
from _runs import in_pairs, table

from .bench import MODELS, Cell, all_degrees, partitions

FILE = "primepar/wafer.toml"
DIES, ROWS, LAYERS = 32, 8, 2
CHOSEN = ("opt-175b", "llama2-70b", "bloom-176b")


def study(bench):
    found = in_pairs(lambda model: (model, *run(bench, model)), CHOSEN)
    rows = [(MODELS[model][0], milliseconds(b), milliseconds(c), milliseconds(ours), two(seconds(b) / seconds(ours)), two(seconds(c) / seconds(ours)), f"`{ours['plan']['fc1']}`", f"`{ours['plan']['fc2']}`")
            for model, b, c, ours in found]
    return Outcome(tables={"primepar-wafer": table(("model", "(b) ms", "(c) ms", "PrimePar ms", "over (b)", "over (c)", "fc1", "fc2"), rows)},
                   summary={"wafer_over_c": ",".join(two(seconds(c) / seconds(ours)) for _, _, c, ours in found)})


def run(bench, model):
    settings = (("model.include", model), ("model.layers", LAYERS), ("machine.topology.rows", ROWS))

    def result(*more):
        return bench.simulator.attempt(FILE, (*settings, *more))

    degrees = [result(*partitions(*degree)) for degree in all_degrees(Cell(model, DIES))]
    best = min((one for one in degrees if one), key=seconds)
    return best, result(("strategy.temporal", "false")), result()


def milliseconds(one):
    return f"{1e3 * seconds(one):.1f}"
