"""What all measurements work with: the device, the sizes, the timer, and what the table will say beside its rows."""

import dataclasses
import statistics

from calibration.clocks import Clocks
from calibration.devices import FAILURES, Unavailable
from calibration.shapes import footprint
from calibration.timer import Timer

EVERY = 10  # rows from one look at the clocks to the next
LATE = "no time was left for it"


class Bench:
    def __init__(self, device, sizes, effort, tell):
        self.device, self.sizes, self.effort, self.tell = device, sizes, effort, tell
        self.timer, self.clocks = Timer(device, effort), Clocks(device)
        self.spreads = {}  # by row, of its median
        self.missing = {}  # {(kind and operation, reason): how many rows}
        self.gone = []  # "measurement x: reason", as a whole

    @property
    def datatype(self):
        return self.device.datatype

    def leave_out(self, what, reason):
        self.missing[what, str(reason)] = self.missing.get((what, str(reason)), 0) + 1

    def make(self, row):
        """The row's call; Unavailable where it cannot be had."""
        free = self.device.free_memory()
        if free is not None and footprint(row) > 0.9 * free:
            raise Unavailable("it does not fit into the free memory")
        return attempt(lambda: self.device.make(row))

    def each(self, rows, budget, measure):
        """What measure(row, call, seconds) gives for the rows that can be had, a list each. The time that is left is dealt out evenly."""
        found = []
        for number, row in enumerate(rows):
            try:
                if budget.left() <= 0:
                    raise Unavailable(LATE)
                call = self.make(row)
                found += attempt(lambda: measure(row, call, budget.share(len(rows) - number)))
            except Unavailable as reason:
                self.leave_out(f"{row.kind} {row.operation}", reason)
                continue
            self.tell(f"{number + 1} of {len(rows)}: {found[-1].kind} {found[-1].name} {found[-1].condition or 'alone'} {found[-1].us:.6g} us")
        return found

    def plain(self, rows, budget):
        """The rows with their times: again and again, nothing beside."""
        def measure(row, call, seconds):
            samples = self.timer.measure(call, self.effort.within(seconds), self.clocks.sample if len(self.spreads) % EVERY == 0 else None)
            us = 1e6 * statistics.median(samples)
            self.spreads[row] = (max(samples) - min(samples)) * 1e6 / us
            return [dataclasses.replace(row, us=us)]

        return self.each(rows, budget, measure)


def attempt(function):
    """What it gives; Unavailable where the library fails."""
    try:
        return function()
    except FAILURES as error:
        raise Unavailable((str(error).splitlines() or [type(error).__name__])[0]) from None
