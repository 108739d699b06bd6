"""What a sample costs, by phase: the difference between searches with many samples and with few."""

from _parts import Outcome
from _runs import table

from .jobs import BERT, NO_LIMIT

FEW, MANY = 10, 510
PAPER = 26.97  # seconds a sample on hardware, as the paper's section 5.3 has it


def study(simulator):
    analytic = seconds(simulator, "analytic")
    package = seconds(simulator, "package")
    lines = [("solver, and the analytical model", f"{1e3 * analytic:.2f}"), ("package: program and simulation", f"{1e3 * (package - analytic):.2f}"),
             ("together", f"{1e3 * package:.2f}"), ("hardware, the paper's", f"{1e3 * PAPER:,.0f}")]
    return Outcome(tables={"mcm-cost": table(("a sample of BERT", "ms"), lines)}, summary={"ms_analytic": f"{1e3 * analytic:.2f}", "ms_package": f"{1e3 * package:.2f}"})


def seconds(simulator, evaluator):
    def of(samples):
        return simulator.seconds_of_plan(BERT, (("strategy.search", "random"), ("strategy.samples", samples), ("strategy.evaluator", evaluator), NO_LIMIT))

    return (of(MANY) - of(FEW)) / (MANY - FEW)
