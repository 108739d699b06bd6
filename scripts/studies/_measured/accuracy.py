"""What the simulator's summary says of measured jobs like the one at hand: inputs/measured/accuracy.toml, a table for each recipe, device and kind of model."""

import tomllib

from _megatron import iterations
from _runs import EXPERIMENTS, ROOT, deviation, max_abs, mean_abs

from .rows import settings

FILE = ROOT / "inputs" / "measured" / "accuracy.toml"
HEAD = ("# How far simulated training iterations are from measured ones, by recipe, device and kind of model: mean and greatest absolute deviation in percent.\n"
        "# Written by `scripts/reproduce.sh measured`.\n")


def deviations(rows, simulated):
    """(kind, deviation in %) of rows of inputs/measured/iterations.csv."""
    return [(kind(row.file, settings(row)), deviation(time, row.seconds)) for row, time in zip(rows, simulated)]


def of_megatron(simulator):
    """The same of docs/validation/megatron.md, whose rows are its own."""
    jobs = [iterations.job(row) for row in iterations.ROWS]
    times = [result["iteration_time_ps"] * 1e-12 for result in simulator.many(jobs)]
    return [(kind(*job), deviation(time, iterations.measured(row))) for row, job, time in zip(iterations.ROWS, jobs, times)]


def kind(file, values):
    """(recipe, device, whether the model has experts) of an experiment file and what is set over it."""
    written, own = tomllib.loads((EXPERIMENTS / file).read_text()), dict(values)
    machine = own.get("machine.include", written["machine"]["include"] if isinstance(written["machine"], dict) else written["machine"])
    return own.get("recipe", written["recipe"]), stock("machines", machine)["machine"]["device"]["name"], has_experts(written["model"])


def stock(folder, name):
    return tomllib.loads((ROOT / "inputs" / folder / f"{name}.toml").read_text())


def has_experts(model):
    name = model if isinstance(model, str) else model.get("include")
    return (isinstance(model, dict) and "experts" in model) or (name is not None and "experts" in stock("models", name))


def text(found):
    """The file, of (kind, deviation in %)."""
    kinds = {}
    for one, off in found:
        kinds.setdefault(one, []).append(off)
    return HEAD + "".join(entry(*item) for item in sorted(kinds.items()))


def entry(one, off):
    recipe, name, experts = one
    return (f'\n[[measured]]\nrecipe = "{recipe}"\ndevice = "{name}"\nexperts = {str(experts).lower()}\njobs = {len(off)}\n'
            f"mean = {mean_abs(off):.1f}\ngreatest = {max_abs(off):.1f}\n")
