"""The kernels of a Transformer's layer one after the other, and the sum of what each takes alone."""

import statistics

from calibration import shapes
from calibration.bench import LATE, attempt
from calibration.devices import Unavailable
from calibration.measurements import Measurement
from calibration.table import Row


def measure(bench, budget):
    rows = []
    for number, (tokens, hidden, heads) in enumerate(bench.sizes.layers):
        try:
            if budget.left() <= 0:
                raise Unavailable(LATE)
            apart, together = times(bench, shapes.layer(tokens, hidden, heads, bench.datatype), budget.share(len(bench.sizes.layers) - number))
        except Unavailable as reason:
            bench.gone.append(f"a layer of {tokens} tokens, {hidden} wide: {reason}")
            continue
        rows += [Row("layer", operation, tokens, hidden, heads, datatype=bench.datatype, us=1e6 * seconds)
                 for operation, seconds in (("together", together), ("apart", apart))]
    return rows


def times(bench, kernels, seconds):
    """(apart, together), in seconds. A kernel that cannot be had is in neither."""
    calls, apart = [], 0.0
    effort = bench.effort.within(seconds / (len(kernels) + 1))
    for row in kernels:
        try:
            call = bench.make(row)
            apart += statistics.median(attempt(lambda: bench.timer.measure(call, effort)))
            calls.append(call)
        except Unavailable as reason:
            bench.leave_out(f"{row.kind} {row.operation} of a layer", reason)
    if not calls:
        raise Unavailable("none of its kernels can be had")

    def together(i):
        for call in calls:
            call(i)

    return apart, statistics.median(attempt(lambda: bench.timer.measure(together, effort)))


MEASUREMENT = Measurement("layer", "a layer's kernels one after the other, and their sum", 2, measure)
