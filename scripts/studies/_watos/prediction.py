"""Figure 10(b): how far roofline, and a network that has learnt the times of `dataflow`, are from these on products that nobody has learnt
from; and in an iteration."""

import pathlib
import tempfile

import h5py
from _parts import Outcome, seconds, three
from _runs import table

from .dataflow import DATAFLOW, GPT

TRAINING = "watos/predictor.toml"


def study(simulator):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "predictor.h5"
        took = simulator.train(TRAINING, file)
        errors = errors_in(file)
        iterations = dict(zip(("dataflow", "predictor", "roofline"), simulator.many([(GPT[0], (*GPT[1], *more)) for more in (DATAFLOW, predicted_by(file), ())])))
    rows = [(row["of"], *[f"{100 * row[name]:.2f}" for name in ("mean", "median", "nine_tenths", "most")]) for row in errors]
    times = [(name, three(seconds(result)), three(seconds(result) / seconds(iterations["dataflow"]))) for name, result in iterations.items()]
    return Outcome(tables={"figure 10b": table(("off by, %", "mean", "median", "nine in ten", "most"), rows),
                           "figure 10b iteration": table(("cost model", "iteration s", "over dataflow"), times)},
                   claims=[("figure 10(b): a network is nearer than a roofline", "yes", f"{100 * errors[0]['mean']:.1f} and {100 * errors[1]['mean']:.1f} % off", errors[0]["mean"] < errors[1]["mean"])],
                   summary={"predictor_mean_pct": f"{100 * errors[0]['mean']:.2f}", "training_seconds": f"{took:.0f}"})


def predicted_by(file):
    return ("cost.model", "predictor"), ("cost.file", str(file))


def errors_in(file):
    """Rows of the table `errors` as dicts, the predictor's first."""
    with h5py.File(file) as opened:
        rows = opened["errors"][:]
        return [{name: row[name].decode() if isinstance(row[name], bytes) else row[name] for name in rows.dtype.names} for row in rows]
