"""Figure 7: what the analytical model foretells of random partitions of BERT, what the package does, and how many fit."""

from _parts import Outcome, two
from _runs import table
from tessera_analysis import mcm_figures

from .jobs import BERT, NO_LIMIT

SAMPLES = 2000  # the paper's
PRIORS = {"uniform": 0, "sigma_1": 1, "sigma_0.5": 0.5, "sigma_0.25": 0.25}
SRAM = (16, 32, 64, 128, 256, 512)  # MB
ENOUGH = 100  # partitions, for a correlation
BUFFERS = {"depth 2, two to send from": (2, 2), "depth 2, one": (2, 1), "depth 1, one": (1, 1)}


def study(simulator):
    jobs = [(BERT, (("strategy.search", "random"), ("strategy.samples", SAMPLES), ("strategy.sigma", sigma), NO_LIMIT)) for sigma in PRIORS.values()]
    tried = dict(zip(PRIORS, [result["tried"] for result in simulator.many(jobs)]))
    summary = {f"pearson_{prior}": three_or_dash(pearson(frame)) for prior, frame in tried.items()}
    summary |= {f"invalid_pct_{prior}": f"{invalid(frame, 32):.1f}" for prior, frame in tried.items()}
    tables = {"mcm-invalid": table(("prior", *[f"{size} MB" for size in SRAM]), [(spoken(prior), *[f"{invalid(frame, size):.1f}" for size in SRAM]) for prior, frame in tried.items()]),
              "mcm-pearson": table(("prior", "partitions", "least ms", "median ms", "R without limit", *[f"R on {size} MB" for size in SRAM]),
                                   [correlations(prior, frame) for prior, frame in tried.items()])}
    tables["mcm-buffers"] = buffers(simulator)
    return Outcome(tables=tables, pictures={"calibration": (mcm_figures.calibration, ({spoken(prior): frame for prior, frame in tried.items()},))}, summary=summary)


def buffers(simulator):
    """What the share that does not fit owes to buffers between chips."""
    jobs = [(BERT, (("strategy.search", "random"), ("strategy.samples", SAMPLES // 4), ("strategy.sigma", 0.5), NO_LIMIT, ("strategy.depth", depth), ("strategy.send_buffers", rooms)))
            for depth, rooms in BUFFERS.values()]
    frames = [result["tried"] for result in simulator.many(jobs)]
    lines = [(name, *[f"{invalid(frame, size):.1f}" for size in SRAM], two(frame["cost_ps"].median() * 1e-9)) for name, frame in zip(BUFFERS, frames)]
    return table(("sigma 0.5, buffers", *[f"{size} MB" for size in SRAM], "median ms"), lines)


def spoken(prior):
    return prior.replace("_", " ")


def invalid(frame, megabytes):
    """Percent that no chip of so much SRAM can hold."""
    return 100 * float((frame["most_memory_B"] > megabytes * 1e6).mean())


def pearson(frame):
    """Of throughputs, foretold and simulated; None of too few."""
    return None if len(frame) < ENOUGH else float((1 / frame["predicted_ps"]).corr(1 / frame["cost_ps"]))


def correlations(prior, frame):
    fitting = [three_or_dash(pearson(frame[frame["most_memory_B"] <= size * 1e6])) for size in SRAM]
    return (spoken(prior), len(frame), two(frame["cost_ps"].min() * 1e-9), two(frame["cost_ps"].median() * 1e-9), three_or_dash(pearson(frame)), *fitting)


def three_or_dash(value):
    return "-" if value is None else f"{value:.4f}"
