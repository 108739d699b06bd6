"""The launch overhead, and the share of the memory bandwidth that each kind of streaming kernel sustains.

time = launch overhead and kernel floor + bytes / (share x bandwidth), of kernels beyond the cache.
"""

import statistics

from calibration.rates import grouped, limited, together
from calibration.simulator import NEUTRAL
from calibration.table import STREAMING

# A kernel that is measured over and over finds in the cache what the last call left there. A cache that replaces at random keeps a fifth of
# what is twice its size and 2 % of what is four times its size (h = exp(-(1 - h) size / cache)).
CACHES = 4


def launch_overhead(rows):
    """Of the smallest kernels, in ns; None where none was measured."""
    times = [row.us for row in rows if row.kind == "launch" and not row.condition]
    return round(1000 * statistics.median(times)) if times else None


def beyond_cache(rows, cache):
    return [row for row in rows if cache is None or row.bytes >= CACHES * cache]


def is_plain_copy(row):
    """What the memory gives to a kernel with nothing else to do: so come the operands of GEMMs, and collectives add."""
    return row.kind == "copy" and row.operation in ("", "copy")


class Shares:
    """Shares by kind, of plain copies, and of all kinds together, as far as the table has them."""

    def __init__(self, simulator, rows, launch_ns):
        """`rows`: streaming kernels, in the cache or not."""
        self.simulator, self.launch = simulator, launch_ns
        self.cache = simulator.cache() if rows else None
        self.rows = beyond_cache(rows, self.cache)
        self.in_cache = [row for row in rows if row not in self.rows]
        self.rates = {}  # by kind, as measured: above 1 where the machine file's bandwidth is too low
        pure = dict(zip(self.rows, self.price(self.rows, 1, 0))) if self.rows else {}
        for kind in STREAMING:
            self.add(kind, [row for row in self.rows if row.kind == kind], pure)
        self.copies = self.share_of([row for row in self.rows if is_plain_copy(row)], pure)
        self.all = self.share_of(self.rows, pure)

    def add(self, kind, rows, pure):
        rate = self.rate_of(rows, pure)
        if rate is not None:
            self.rates[kind] = rate

    def rate_of(self, rows, pure):
        found = together(grouped(rows, pure, lambda row: (row.kind, row.operation)), self.launch / 1000)
        return found and found[0]

    def share_of(self, rows, pure):
        rate = self.rate_of(rows, pure)
        return None if rate is None else limited(rate)

    @property
    def found(self):
        return {kind: limited(rate) for kind, rate in self.rates.items()}

    def price(self, rows, share, launch_ns):
        """Microseconds of the rows."""
        cost = {**NEUTRAL, "memory_efficiency": share, "elementwise_memory_efficiency": share, "launch_overhead": f"{launch_ns} ns"}
        return [us for _, us in self.simulator.streaming(rows).microseconds(cost)]

    def modelled(self):
        """Microseconds by row, of rows beyond the cache."""
        times = {}
        for kind, share in self.found.items():
            rows = [row for row in self.rows if row.kind == kind]
            times.update(zip(rows, self.price(rows, share, self.launch)))
        return times
