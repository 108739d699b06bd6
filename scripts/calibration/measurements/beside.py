"""GEMMs alone and while a copy holds some of the cores, as a collective does."""

import dataclasses
import statistics

from calibration.measurements import Measurement
from calibration.table import Row

SECONDS = 0.02  # of the GEMMs beside a copy
SAMPLES = 5


def measure(bench, budget):
    def one(row, call, _):
        count = max(1, round(SECONDS / bench.timer.warm_up(call)))
        found = []
        for cores in (0, bench.sizes.held_cores):
            samples = [bench.device.beside(call, count, cores) for _ in range(SAMPLES)]
            found.append(dataclasses.replace(row, us=1e6 * statistics.median(samples), condition="beside", cores=cores))
        return found

    return bench.each([Row("gemm", "linear", *shape, datatype=bench.datatype) for shape in bench.sizes.beside], budget, one)


MEASUREMENT = Measurement("beside", "GEMMs beside a copy that holds some of the cores", 4, measure)
