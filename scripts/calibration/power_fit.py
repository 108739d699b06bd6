"""The power model: idle_power, matrix_power and memory_power, from kernels that were measured as a burst and hot.

At full clock a kernel draws idle + matrix_power x f + memory_power x b, where f and b are the shares of the peak and of the memory bandwidth that it
reaches as a burst. Hot it holds a share c of the clock, by which its time grows, and draws watts = idle + c^3 (matrix_power f + memory_power b).
So each kernel gives one equation, (watts - idle) / c^3 = matrix_power f + memory_power b, and the least squares of all give both.
"""

import dataclasses
import statistics

from calibration.shapes import BYTES


@dataclasses.dataclass(frozen=True)
class Power:
    limit: float
    idle: float
    matrix: float
    memory: float

    def clock(self, matrix_share, memory_share):
        """Of the full one, of a kernel that draws more than it may."""
        drawn = self.matrix * matrix_share + self.memory * memory_share
        return min(1, ((self.limit - self.idle) / drawn) ** (1 / 3)) if drawn > 0 else 1


@dataclasses.dataclass(frozen=True)
class Held:
    """A kernel that was measured both ways."""

    row: object  # hot
    burst_us: float
    matrix: float  # shares, as a burst
    memory: float

    @property
    def clock(self):
        return min(1, self.burst_us / self.row.us)


def held(rows, peak_of, bandwidth):
    """The kernels that have a burst and watts; peak_of(datatype): FLOP/s, None where the machine states none, so that its products tell nothing."""
    bursts = {row.kernel: row.us for row in rows if row.condition == "burst"}
    hot = [row for row in rows if row.condition == "heat" and row.watts > 0 and row.kernel in bursts]
    peaks = {datatype: peak_of(datatype) for datatype in {row.datatype for row in hot if flops(row)}}
    found = []
    for row in hot:
        seconds = bursts[row.kernel] * 1e-6
        if not flops(row) or peaks[row.datatype]:
            matrix = flops(row) / (seconds * peaks[row.datatype]) if flops(row) else 0
            found.append(Held(row, bursts[row.kernel], matrix, moved(row) / (seconds * bandwidth)))
    return found


def flops(row):
    return 2 * row.batch * row.m * row.n * row.k if row.kind == "gemm" else 0


def moved(row):
    """Bytes, each operand once."""
    return BYTES[row.datatype] * row.batch * (row.m * row.k + row.k * row.n + row.m * row.n) if row.kind == "gemm" else row.bytes


def fit(kernels, rows):
    """The constants; None where the table has no power at rest, no limit, or no kernel that tells."""
    idle = statistics.median([row.watts for row in rows if row.kind == "idle"] or [0])
    limit = max((one.row.limit_watts for one in kernels), default=0)
    if not 0 < idle < limit:
        return None
    matrix, memory = least_squares([(one.matrix, one.memory, (one.row.watts - idle) / one.clock**3) for one in kernels])
    return Power(limit, idle, matrix, memory) if matrix + memory > 0 else None


def least_squares(equations):
    """(x, y) of f x + b y = p for all (f, b, p), as well as they can be met by nothing below 0."""
    ff, fb, bb = (sum(one[i] * one[j] for one in equations) for i, j in ((0, 0), (0, 1), (1, 1)))
    fp, bp = (sum(one[i] * one[2] for one in equations) for i in (0, 1))
    determinant = ff * bb - fb * fb
    if determinant > 1e-9 * ff * bb:
        x, y = (fp * bb - bp * fb) / determinant, (bp * ff - fp * fb) / determinant
        if x >= 0 and y >= 0:
            return x, y
    # One of them explains nothing, so the other one stands alone: the one that leaves less.
    alone = [(max(0, fp / ff), 0) if ff else (0, 0), (0, max(0, bp / bb)) if bb else (0, 0)]
    return min(alone, key=lambda xy: sum((f * xy[0] + b * xy[1] - p) ** 2 for f, b, p in equations))


def modelled(power, kernels):
    """Microseconds of the hot kernels, from their bursts."""
    return {one.row: one.burst_us / power.clock(one.matrix, one.memory) for one in kernels}
