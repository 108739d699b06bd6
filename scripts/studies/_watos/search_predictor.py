"""The plan that is found where a network predicts how long products take, beside that found with what the network has learnt from; both
simulated with the latter."""

import pathlib
import tempfile

from _parts import Outcome, seconds, three
from _runs import table

from .dataflow import DATAFLOW
from .jobs import SEARCHED
from .prediction import TRAINING, predicted_by


def study(simulator):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "predictor.h5"
        simulator.train(TRAINING, file)
        times = {name: simulator.under(DATAFLOW, SEARCHED, costs) for name, costs in (("dataflow", DATAFLOW), ("predictor", predicted_by(file)))}
    return outcome_of({name: seconds(result) for name, result in times.items()}, {name: plan_of(result) for name, result in times.items()})


def plan_of(result):
    stages = result["stages"]
    return f"TP {result['devices'] // len(stages)}, PP {len(stages)}"


def outcome_of(times, plans):
    slower = 100 * (times["predictor"] / times["dataflow"] - 1)
    lines = [(f"plan found under {name}", plans[name], three(time), f"{100 * (time / times['dataflow'] - 1):+.2f}") for name, time in times.items()]
    return Outcome(tables={"predictor": table(("simulated under dataflow", "cut", "iteration s", "over dataflow's plan %"), lines)}, summary={"predictor_slower_pct": f"{slower:.2f}"})
