"""The power of a device that does nothing."""

import time

from calibration.measurements import Measurement
from calibration.table import Row

SECONDS = 4  # the power is told as the mean of a second


def measure(bench, budget):
    bench.device.wait()
    seconds = min(SECONDS, budget.left())
    time.sleep(seconds)
    read = bench.device.read()
    return [Row("idle", us=1e6 * max(seconds, 1e-6), mhz=read.get("mhz", 0.0), watts=read["watts"], limit_watts=read.get("limit_watts", 0.0))]


MEASUREMENT = Measurement("idle", "the power of a device that does nothing", 1, measure, needs=("watts",))
