"""Attention of new tokens over keys and values that are kept."""

from calibration import shapes
from calibration.measurements import Measurement


def measure(bench, budget):
    return bench.plain(shapes.decodes(bench.sizes, bench.datatype), budget)


MEASUREMENT = Measurement("decode", "attention of new tokens over kept keys and values", 2, measure)
