"""Simulated against predicted: plans drawn at random, P(4x4) across nodes and layouts that are each other's reverse among them."""

import random

from _parts import Outcome, seconds, three
from _runs import table
from tessera_analysis import primepar_figures

from .bench import BIT_COUNTS, Cell, correlation, job, predicted

PLANS = 200
SHARES = {8: 80, 16: 120}  # by GPUs
LINEAR, ATTENTION, STREAM = "BMNK", "BHMNK", "BMHR"
DIMENSIONS = {"attention_norm": STREAM, "qkv": LINEAR, "scores": ATTENTION, "softmax": "BHMR", "context": ATTENTION, "projection": LINEAR,
              "attention_residual": STREAM, "mlp_norm": STREAM, "fc1": LINEAR, "activation": "BMFR", "fc2": LINEAR, "mlp_residual": STREAM}


def study(bench):
    drawn = [(gpus, number) for gpus, count in SHARES.items() for number in range(count)]
    found = bench.simulator.many([job_of(*one) for one in drawn])
    pairs = [(predicted(one), seconds(one)) for one in found]
    deviations = [100 * (simulated / expected - 1) for expected, simulated in pairs]
    within = sum(abs(deviation) <= 5 for deviation in deviations)
    keys = {"plans": len(pairs), "correlation": f"{correlation(pairs):.4f}", "within_5_pct": within, "least_pct": f"{min(deviations):.2f}", "greatest_pct": f"{max(deviations):.2f}"}
    rows = [(gpus, *of(gpus, drawn, pairs)) for gpus in SHARES]
    return Outcome(tables={"primepar-prediction": table(("GPUs", "plans", "correlation", "within 5 %", "least", "greatest"), rows)},
                   pictures={"prediction": (primepar_figures.prediction, (pairs,))}, summary=keys)


def of(gpus, drawn, pairs):
    own = [pair for (each, _), pair in zip(drawn, pairs) if each == gpus]
    deviations = [100 * (simulated / expected - 1) for expected, simulated in own]
    return (len(own), three(correlation(own)), sum(abs(one) <= 5 for one in deviations), f"{min(deviations):+.1f} %", f"{max(deviations):+.1f} %")


def job_of(gpus, number):
    given = tuple((f"strategy.partitions.{name}", text) for name, text in draw(gpus, number).items())
    return job(Cell("opt-6.7b", gpus), 2, (("simulation.allow_oversubscription", "true"), *given))


def draw(gpus, number):
    """A partition of each operator, the same for the same number. On 16 GPUs every third plan cuts a product by P(4x4); in every
    fourth each operator has the reverse of the cut that the one before has of it, where it can."""
    draws = random.Random(f"primepar {gpus} {number}")
    plan, bits = {}, BIT_COUNTS[gpus]
    for name, dimensions in DIMENSIONS.items():
        plan[name] = sequence(draws, dimensions, bits)
    if gpus == 16 and number % 3 == 0:
        plan[draws.choice(("qkv", "scores", "context", "projection", "fc1", "fc2"))] = ["P(4x4)"]
    if number % 4 == 0:
        names = list(plan)
        for before, name in zip(names, names[1:]):
            turned = plan[before][::-1]
            if draws.random() < 0.5 and all(each in DIMENSIONS[name] for each in turned):
                plan[name] = turned
    return {name: "{" + ", ".join(parts) + "}" for name, parts in plan.items()}


def sequence(draws, dimensions, bits):
    parts = []
    while bits > 0:
        squares = ["P(2x2)"] * (bits >= 2) + ["P(4x4)"] * (bits >= 4) if "N" in dimensions else []
        part = draws.choice([each for each in dimensions if parts.count(each) < 3] + squares)
        parts.append(part)
        bits -= {"P(2x2)": 2, "P(4x4)": 4}.get(part, 1)
    return parts
