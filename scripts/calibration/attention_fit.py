"""attention_efficiency: the share of the peak that fused attention sustains over many keys, forward and backward together, since the cost model
has one; and attention_ramp: the keys for which it reaches half of that."""

from calibration.rates import LEAST, grouped, limited, together
from calibration.simulator import NEUTRAL

RAMPS = range(0, 4001, 10)
KERNELS = {"forward": "attention", "backward": "attention dgrad"}  # as the simulator calls them


class Attention:
    """The efficiency, the ramp, and what remains."""

    def __init__(self, simulator, rows, datatype, launch_ns):
        self.simulator, self.rows, self.datatype = simulator, list(rows), datatype
        self.ramp, self.rate = self.fit(launch_ns / 1000)
        self.efficiency = None if self.rate is None else limited(self.rate)

    def fit(self, overhead):
        """(ramp, rate) of the least mean deviation; with one length alone the ramp is 0, since nothing tells it from the rate."""
        # At the least efficiency that it takes the simulator gives the time of the matrix units, whatever the memory does. It grows in
        # proportion to the ramp, so two of its answers have all others between them; what is printed is priced again.
        flat, steep = self.price(LEAST, 0, 1, 0), self.price(LEAST, 0, 1, RAMPS[-1])
        best, least = (0, None), None
        for ramp in RAMPS if len({row.m for row in self.rows}) > 1 else RAMPS[:1]:
            pure = {row: LEAST * (a + (b - a) * ramp / RAMPS[-1]) for row, a, b in zip(self.rows, flat, steep)}
            found = together(grouped(self.rows, pure, way), overhead)
            if found is not None and (least is None or found[1] < least):
                best, least = (ramp, found[0]), found[1]
        return best

    def price(self, efficiency, launch_ns, memory, ramp):
        """Microseconds of the rows; one layer has the forward and the backward kernel of a shape."""
        cost = {**NEUTRAL, "attention_efficiency": efficiency, "attention_ramp": ramp, "memory_efficiency": memory,
                "launch_overhead": f"{launch_ns} ns"}
        layers = {}
        for row in self.rows:
            layer = layer_of(row)
            if layer not in layers:
                layers[layer] = dict(self.simulator.layer(row, self.datatype).microseconds(cost))
        return [layers[layer_of(row)][KERNELS[way(row)]] for row in self.rows]

    def modelled(self, launch_ns, memory):
        return dict(zip(self.rows, self.price(self.efficiency, launch_ns, memory, self.ramp))) if self.efficiency is not None else {}


def way(row):
    """Forward or backward."""
    return row.operation.split()[-1]


def layer_of(row):
    return row.batch, row.m, row.k, row.operation.startswith("causal")
