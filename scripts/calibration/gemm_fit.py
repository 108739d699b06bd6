"""The constants of GEMMs of cost model "tile", and what single shapes deviate by.

Fitted by the mean of |log(modelled / measured)|: matrix_efficiency, operand_bytes_per_clock and tile_latency, one after the other, a step
up or down as long as that helps. Shapes of use "point" and "return" become gemm_deviations; those of use "return" take no part in fitting.
"""

import math
import sys

from calibration.simulator import NEUTRAL

START = {"matrix_efficiency": 0.88, "operand_bytes_per_clock": 40, "tile_latency": 1000}
STEPS = ({"matrix_efficiency": 0.02, "operand_bytes_per_clock": 4, "tile_latency": 400},
         {"matrix_efficiency": 0.01, "operand_bytes_per_clock": 2, "tile_latency": 200},
         {"matrix_efficiency": 0.005, "operand_bytes_per_clock": 1, "tile_latency": 100})
FACTORS = (4, 2, 1.2)
FAR = 0.35  # a mean |log| that no GPU has at START (A100 0.08, V100 0.29); a CPU has it, and single steps would take too long to get there
LIMITS = {"matrix_efficiency": (0.01, 1), "operand_bytes_per_clock": (1, 10**6), "tile_latency": (1, 10**9)}  # of the simulator
RATIOS = 0.1, 10  # of gemm_deviations that the simulator takes


class Pricer:
    """What the simulator says of all GEMMs, one after the other on one device."""

    def __init__(self, simulator, rows, datatype, given):
        self.rows, self.given = list(rows), given
        self.job = simulator.gemms(self.rows, datatype)

    def microseconds(self, constants, deviations=None):
        """By row. `deviations`: ratios by (m, n, k)."""
        found = self.job.microseconds(cost(constants, self.given, deviations or {}))
        return {row: us for row, (_, us) in zip(self.rows, found)}


def cost(constants, given, deviations):
    """As [cost] has them; a limit of the machine file does not count."""
    return {**NEUTRAL, "stores": "exposed", "matrix_limit": 1, **given, **constants, "tile_latency": f"{constants['tile_latency']} ns",
            "gemm_deviations": f"[{', '.join(as_toml(deviations))}]"}


def as_toml(deviations):
    """The list gemm_deviations."""
    return [f"{{ m = {m}, n = {n}, k = {k}, ratio = {ratio} }}" for (m, n, k), ratio in deviations.items()]


def mean(values):
    return sum(values) / len(values)


def off(modelled, measured):
    """The mean deviation: modelled and measured times by row."""
    return mean([abs(math.log(modelled[row] / measured[row])) for row in measured])


def fit(pricer, measured):
    """The constants that fit best; `measured`: times by row, of those that take part."""

    known = {}  # many constants are tried again with other steps

    def error(constants):
        tried = tuple(constants.values())
        if tried not in known:
            known[tried] = off(pricer.microseconds(constants), measured)
        return known[tried]

    best, least = dict(START), error(START)
    if least > FAR:
        for factor in FACTORS:
            best, least = descend(error, best, least, lambda key, value, by=factor: (scaled(key, value, by), scaled(key, value, 1 / by)))
            tell(best, least)
    for steps in STEPS:
        best, least = descend(error, best, least, lambda key, value, by=steps: (round(value + by[key], 4), round(value - by[key], 4)))
        tell(best, least)
    return best


def descend(error, best, least, changes):
    """Each constant in turn takes the first change that helps, until none does."""
    improved = True
    while improved:
        improved = False
        for key, (lowest, highest) in LIMITS.items():
            for value in changes(key, best[key]):
                if not lowest <= value <= highest:
                    continue
                tried = {**best, key: value}
                found = error(tried)
                if found < least - 1e-5:
                    best, least, improved = tried, found, True
                    break
    return best, least


def scaled(key, value, by):
    return round(value * by, 4) if key == "matrix_efficiency" else round(value * by)


def tell(best, least):
    print(f"mean deviation {100 * least:.2f} % with {best}", file=sys.stderr, flush=True)


def limit(rows, peak):
    """The share of the peak that the fastest of them reaches from start to end, rounded up; None where they exceed it."""
    share = math.ceil(max(2 * row.batch * row.m * row.n * row.k / (row.us * 1e-6) for row in rows) / peak * 1000) / 1000
    return share if share <= 1 else None


def deviations(rows, modelled):
    """Measured over modelled time of what is to be returned, by (m, n, k), and the rows that are too far off for the simulator."""
    ratios = {row: round(row.us / modelled[row], 4) for row in sorted(rows, key=lambda row: row.shape) if row.use != "fit"}
    kept = {row.shape: ratio for row, ratio in ratios.items() if RATIOS[0] <= ratio <= RATIOS[1]}
    return kept, [row for row in ratios if row.shape not in kept]
