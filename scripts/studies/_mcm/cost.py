"""What a sample costs, by phase: the difference between searches with many samples and with few; and what a training takes."""

import pathlib
import tempfile

from _parts import Outcome
from _runs import table

from .jobs import BERT, NO_LIMIT, POLICY, TRAINING

FEW, MANY = 10, 510
SEARCH = 700  # samples of the paper's search on BERT
PAPER = 26.97  # seconds a sample on hardware, as the paper's section 5.3 has it


def study(simulator):
    analytic = seconds(simulator, "analytic")
    package = seconds(simulator, "package")
    lines = [("solver, and the analytical model", f"{1e3 * analytic:.2f}"), ("package: program and simulation", f"{1e3 * (package - analytic):.2f}"),
             ("together", f"{1e3 * package:.2f}"), ("hardware, the paper's", f"{1e3 * PAPER:,.0f}")]
    return Outcome(tables={"mcm-cost": table(("a sample of BERT", "ms"), lines)}, summary={"ms_analytic": f"{1e3 * analytic:.2f}", "ms_package": f"{1e3 * package:.2f}"})


def learning(simulator):
    """A search that learns, on one rank, and the training of the policy that ships, on one and on two."""
    solver, drawn, judged, learnt = (seconds(simulator, *how) for how in
                                     (("analytic", "random"), ("analytic", "zero-shot", ("strategy.policy", POLICY)), ("package", "zero-shot", ("strategy.policy", POLICY)), ("package", "ppo")))
    with tempfile.TemporaryDirectory() as folder:
        one, two = (simulator.train(TRAINING, pathlib.Path(folder) / f"{ranks}.h5", ranks=ranks) for ranks in (1, 2))
    phases = [("solver and analytical model, of random search", solver), ("the same, of what the policy draws", drawn), ("package: program and simulation", judged - drawn),
              ("networks: gradients and steps", learnt - judged), ("together", learnt)]
    lines = [(name, f"{1e3 * value:.1f}", f"{SEARCH * value:.1f}") for name, value in phases]
    training = [(ranks, f"{value / 60:.1f}") for ranks, value in ((1, one), (2, two))]
    return Outcome(tables={"mcm-learning-cost": table(("a sample of BERT", "ms", f"s of a search of {SEARCH}"), lines), "mcm-training-cost": table(("ranks", "minutes of a training"), training)},
                   summary={"ms_a_sample": f"{1e3 * learnt:.1f}", "training_minutes": f"{two / 60:.1f}", "training_speedup": f"{one / two:.2f}"})


def seconds(simulator, evaluator, search="random", *more):
    def of(samples):
        return simulator.seconds_of_plan(BERT, (("strategy.search", search), ("strategy.samples", samples), ("strategy.evaluator", evaluator), NO_LIMIT, *more))

    return (of(MANY) - of(FEW)) / (MANY - FEW)
