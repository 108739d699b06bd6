"""The launch overhead, and the share of the memory bandwidth that each kind of streaming kernel sustains.

time = launch overhead + bytes / (share x bandwidth), of kernels beyond the cache. Robust: an outlier pulls no more than any other row.
"""

import math
import statistics

from calibration.table import STREAMING

# A kernel that is measured over and over finds in the cache what the last call left there. A cache that replaces at random keeps a fifth of
# what is twice its size and 2 % of what is four times its size (h = exp(-(1 - h) size / cache)).
CACHES = 4
LEAST = 0.01  # share that the simulator takes
PLAIN = "plain copy"  # what memory gives to a kernel with nothing else to do, as the operands of a GEMM come


def is_plain_copy(row):
    return row.kind == "copy" and row.operation in ("", "copy")


def launch_overhead(rows):
    """Of the smallest kernels, in ns; None where none was measured."""
    times = [row.us for row in rows if row.kind == "launch"]
    return round(1000 * statistics.median(times)) if times else None


def beyond_cache(rows, cache):
    return [row for row in rows if cache is None or row.bytes >= CACHES * cache]


def robust(pure, measured, overhead):
    """The rate r for which the mean of |log((overhead + pure / r) / measured)| is least, times in us; among those that a row has exactly, where that
    minimum lies but for rounding. None where no row takes longer than the overhead."""
    rates = [least / (us - overhead) for least, us in zip(pure, measured) if us > overhead]

    def error(rate):
        return sum(abs(math.log((overhead + least / rate) / us)) for least, us in zip(pure, measured))

    return min(rates, key=error, default=None)


def limited(rate):
    """As the simulator takes it, with three digits."""
    return min(1.0, max(LEAST, float(f"{rate:.3g}")))


class Shares:
    """Shares by kind, and of all kinds together, as far as the table has them."""

    def __init__(self, simulator, rows, launch_ns):
        """`rows`: streaming kernels, in the cache or not; a simulator without any of them has nothing to price."""
        cache = simulator.cache() if rows else None
        self.cache, self.launch = cache, launch_ns
        self.rows = beyond_cache(rows, cache)
        self.in_cache = [row for row in rows if row not in self.rows]
        self.simulator = simulator
        self.found, self.unlimited = {}, {}
        if not self.rows:
            return
        pure = dict(zip(self.rows, self.price(self.rows, 1, 0)))
        for kind in ("all", *STREAMING, PLAIN):
            chosen = [row for row in self.rows if kind in ("all", row.kind) or (kind == PLAIN and is_plain_copy(row))]
            rate = robust([pure[row] for row in chosen], [row.us for row in chosen], launch_ns / 1000)
            if rate is not None:
                self.found[kind], self.unlimited[kind] = limited(rate), rate

    def price(self, rows, share, launch_ns):
        """Microseconds of the rows."""
        cost = {"model": "tile", "memory_efficiency": share, "elementwise_memory_efficiency": share, "launch_overhead": f"{launch_ns} ns"}
        return [us for _, us in self.simulator.streaming(rows).microseconds(cost)]

    def modelled(self):
        """Microseconds by row, of rows beyond the cache."""
        times = {}
        for kind in STREAMING:
            rows = [row for row in self.rows if row.kind == kind]
            if rows and kind in self.found:
                times.update(zip(rows, self.price(rows, self.found[kind], self.launch)))
        return times
