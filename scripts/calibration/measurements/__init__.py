"""What `measure` measures, in order: what needs a cool device first, heat last. Adding one is one file and its line here.

measure(bench, budget) gives rows of the table. What it cannot have it leaves out, by bench.leave_out or by raising Unavailable.
"""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Measurement:
    name: str
    about: str  # one line of help
    share: float  # of the time, relative to those of the others
    measure: typing.Callable
    needs: tuple = ()  # of what device.read() gives


def registry():
    from calibration.measurements import beside, burst, decode, eager, fp8, heat, idle, kernels, layer
    return [module.MEASUREMENT for module in (idle, burst, eager, layer, kernels, fp8, decode, beside, heat)]
