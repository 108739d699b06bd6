"""GEMMs on a device that is hot, each for as long as the power is averaged, with the clock and the power that it holds."""

import dataclasses
import statistics
import time

from calibration.measurements import Measurement
from calibration.shapes import heated

AT_MOST = 0.4  # of the time for heating up
CHUNK = 0.05  # seconds between two looks at the host's clock
LEAST = 3  # chunks


def measure(bench, budget):
    rows = heated(bench.sizes, bench.datatype)
    largest = bench.make(max(rows, key=lambda row: row.m * row.n * row.k))
    hold(bench, largest, min(bench.sizes.heat, AT_MOST * budget.left()))

    def one(row, call, seconds):
        # The rest of its time is for the look.
        samples, run = hold(bench, call, min(bench.sizes.hold, 0.8 * seconds))
        read = bench.timer.look(run, bench.device.read)
        return [dataclasses.replace(row, us=1e6 * statistics.median(samples[len(samples) // 2:]), condition="heat",
                                    **{key: read.get(key, 0.0) for key in ("mhz", "watts", "limit_watts")})]

    return bench.each(rows, budget, one)


def hold(bench, call, seconds):
    """The call for so long without a pause: seconds of one by chunk, and what runs a chunk."""
    run, calls = bench.timer.sample(call, CHUNK, bench.timer.warm_up(call, dataclasses.replace(bench.effort, warm_up=0)))
    end, samples = time.monotonic() + seconds, []
    while len(samples) < LEAST or time.monotonic() < end:
        samples.append(bench.timer.seconds(run) / calls)
    return samples, run


MEASUREMENT = Measurement("heat", "GEMMs after half a minute of heat, with clock and power", 30, measure)
