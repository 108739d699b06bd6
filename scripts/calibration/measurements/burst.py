"""GEMMs at full clock: some milliseconds after a pause, too short for the power to be averaged."""

import dataclasses
import statistics
import time

from calibration.measurements import Measurement
from calibration.shapes import bursts

SECONDS = 0.003
SAMPLES = 5
PAUSE = 0.15  # seconds: what is averaged over 10 ms or 100 has forgotten the last burst


def measure(bench, budget):
    def one(row, call, seconds):
        run, calls = bench.timer.sample(call, SECONDS, bench.timer.warm_up(call, dataclasses.replace(bench.effort, warm_up=0)))
        pause, samples = min(PAUSE, seconds / (2 * SAMPLES)), []
        for _ in range(SAMPLES):
            time.sleep(pause)
            bench.timer.seconds(lambda: call(0))  # wakes what sleeps
            samples.append(bench.timer.seconds(run) / calls)
        return [dataclasses.replace(row, us=1e6 * statistics.median(samples), condition="burst")]

    return bench.each(bursts(bench.sizes, bench.datatype), budget, one)


MEASUREMENT = Measurement("burst", "GEMMs for some milliseconds after a pause, at full clock", 16, measure)
