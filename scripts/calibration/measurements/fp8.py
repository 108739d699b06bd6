"""GEMMs with operands of FP8."""

from calibration import shapes
from calibration.measurements import Measurement


def measure(bench, budget):
    return bench.plain(shapes.fp8(bench.sizes), budget)


MEASUREMENT = Measurement("fp8", "GEMMs with operands of FP8", 2, measure)
