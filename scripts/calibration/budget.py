"""Time that a measurement may take."""

import time


class Budget:
    """So many seconds from now on. What is left over nobody misses: the runner deals it out again."""

    def __init__(self, seconds, clock=time.monotonic):
        self.seconds, self.clock = seconds, clock
        self.end = clock() + seconds

    def left(self):
        return max(0.0, self.end - self.clock())

    def share(self, parts):
        """Of what is left, for the next of so many parts."""
        return self.left() / parts


def deal(measurements, seconds, measure, clock=time.monotonic):
    """measure(measurement, budget) for one after the other; each is dealt its share of the time that those before it left."""
    end, shares = clock() + seconds, sum(measurement.share for measurement in measurements)
    for measurement in measurements:
        measure(measurement, Budget(max(0.0, end - clock()) * measurement.share / shares, clock))
        shares -= measurement.share
