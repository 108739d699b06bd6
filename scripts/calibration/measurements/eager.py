"""The smallest kernels and some GEMMs, launched by the host one by one: time against launches."""

import dataclasses
import statistics

from calibration.measurements import Measurement
from calibration.shapes import launches
from calibration.table import Row

COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
SAMPLES = 5


def measure(bench, budget):
    def one(row, call, _):
        bench.timer.warm_up(call)
        found = []
        for count in COUNTS:
            samples = [bench.device.launched(call, count) for _ in range(SAMPLES)]
            found.append(dataclasses.replace(row, us=1e6 * statistics.median(samples), condition="eager", launches=count))
        return found

    gemms = [Row("gemm", "linear", *shape, datatype=bench.datatype) for shape in bench.sizes.eager]
    # What a GEMM takes without the host's launches says whether these or its own time decides. So small a shape moves no constant.
    alone = bench.plain([dataclasses.replace(row, use="return") for row in gemms], budget)
    return alone + bench.each(launches(bench.sizes, bench.datatype) + gemms, budget, one)


MEASUREMENT = Measurement("eager", "small kernels launched one by one: time against launches", 2, measure)
