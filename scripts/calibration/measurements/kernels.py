"""Each kernel of a Transformer's sizes on its own: what the constants of GEMMs, attention and memory are fitted to."""

from calibration.measurements import Measurement
from calibration.shapes import shapes


def measure(bench, budget):
    return bench.plain(shapes(bench.sizes, bench.datatype), budget)


MEASUREMENT = Measurement("kernels", "some 300 kernels, each again and again: GEMMs, attention, memory, the smallest launches", 47, measure)
