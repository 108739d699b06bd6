"""attention_efficiency: the share of the peak that fused attention sustains, forward and backward together, since the cost model has one."""

from calibration.rates import LEAST, grouped, limited, together

KERNELS = {"forward": "attention", "backward": "attention dgrad"}  # as the simulator calls them


class Attention:
    """The efficiency, and what remains."""

    def __init__(self, simulator, rows, datatype, launch_ns):
        self.simulator, self.rows, self.datatype = simulator, list(rows), datatype
        # At the least efficiency that it takes the simulator gives the time of the matrix units, whatever the memory does.
        pure = {row: us * LEAST for row, us in zip(self.rows, self.price(LEAST, 0, 1))}
        found = together(grouped(self.rows, pure, way), launch_ns / 1000)
        self.rate = found and found[0]
        self.efficiency = None if found is None else limited(self.rate)

    def price(self, efficiency, launch_ns, memory):
        """Microseconds of the rows; one layer has the forward and the backward kernel of a shape."""
        cost = {"model": "tile", "attention_efficiency": efficiency, "memory_efficiency": memory, "launch_overhead": f"{launch_ns} ns"}
        layers = {}
        for row in self.rows:
            layer = layer_of(row)
            if layer not in layers:
                layers[layer] = dict(self.simulator.layer(row, self.datatype).microseconds(cost))
        return [layers[layer_of(row)][KERNELS[way(row)]] for row in self.rows]

    def modelled(self, launch_ns, memory):
        return dict(zip(self.rows, self.price(self.efficiency, launch_ns, memory))) if self.efficiency is not None else {}


def way(row):
    """Forward or backward."""
    return row.operation.split()[-1]


def layer_of(row):
    return row.batch, row.m, row.k, row.operation.startswith("causal")
