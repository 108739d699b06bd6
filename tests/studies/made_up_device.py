"""A simulator of kernels with a few lines of formulas, tables of a device that it knows to the last digit, and what scripts/calibrate.py refuses."""

import contextlib
import io
import re

from calibration.table import STREAMING, Row

import calibrate

SHARES = {"norm": 0.52, "softmax": 0.47, "elementwise": 0.71, "fused": 0.58, "dropout": 0.42, "reduction": 0.66, "copy": 0.88, "embedding": 0.35, "optimizer": 0.81}
CONSTANTS = {"matrix_efficiency": 0.8, "operand_bytes_per_clock": 44, "tile_latency": 1800}
ATTENTION, RAMP, LAUNCH = 0.43, 250, 3100  # share of the peak, keys, ns
CACHE = 40e6
GEMMS = [(m, n, k) for m in (512, 2048, 8192) for n in (512, 4096) for k in (512, 4096)]


class Simulator:
    """In the place of calibration.simulator.Simulator: 1 TB/s, 100 TFLOP/s."""

    def __init__(self):
        self.asked = 0

    def cache(self):
        return CACHE

    def peak(self, datatype):
        return 100e12

    def bandwidth(self):
        return 1e12

    def cores(self):
        return 100

    def gemms(self, rows, datatype):
        return Job(self, lambda cost: [("gemm", gemm(row, cost)) for row in rows])

    def streaming(self, rows):
        return Job(self, lambda cost: [("compute", number(cost["launch_overhead"]) / 1000 + row.bytes / 1e6 / cost["memory_efficiency"]) for row in rows])

    def layer(self, row, datatype):
        def kernels(cost):
            keys = (row.n + 1) / 2 if row.operation.startswith("causal") else row.n
            flops = 4 * row.batch * row.m * row.k * (keys + cost["attention_ramp"])
            launch = number(cost["launch_overhead"]) / 1000
            memory = 8 * row.batch * row.m * row.k / 1e6 / cost["memory_efficiency"]
            return [(name, launch + max(memory, products * flops / 1e8 / cost["attention_efficiency"]))
                    for name, products in (("attention", 1), ("attention dgrad", 2.5))]

        return Job(self, kernels)


class Job:
    def __init__(self, simulator, kernels):
        self.simulator, self.kernels = simulator, kernels

    def microseconds(self, cost):
        self.simulator.asked += 1
        return self.kernels(cost)


def number(text):
    return float(text.split()[0])


def gemm(row, cost):
    main = row.m * row.n * row.k / (1e8 * cost["matrix_efficiency"]) + (row.m + row.n) * row.k / (1e5 * cost["operand_bytes_per_clock"])
    ratio = re.search(f"m = {row.m}, n = {row.n}, k = {row.k}, ratio = ([0-9.]+)", cost.get("gemm_deviations", ""))
    return (main + (number(cost["tile_latency"]) + number(cost["launch_overhead"])) / 1000) * (float(ratio[1]) if ratio else 1)


def measured(row, **cost):
    """The row with the time that the device takes for it."""
    simulator, launch = Simulator(), {"launch_overhead": f"{LAUNCH} ns"}
    if row.kind == "launch":
        us = LAUNCH / 1000
    elif row.kind == "gemm":
        us = gemm(row, launch | CONSTANTS | {"tile_latency": f"{CONSTANTS['tile_latency']} ns"})
    elif row.kind == "attention":
        found = dict(simulator.layer(row, "").kernels(launch | {"attention_efficiency": ATTENTION, "attention_ramp": RAMP, "memory_efficiency": 1}))
        us = found["attention dgrad" if row.operation.endswith("backward") else "attention"]
    else:
        us = simulator.streaming([row]).kernels(launch | {"memory_efficiency": SHARES[row.kind]})[0][1]
    return Row(**vars(row) | {"us": us} | cost)


def table():
    """Some of every kind."""
    rows = [Row("launch", "add", m=size) for size in (256, 1024, 4096)]
    rows += [Row("gemm", "", m, n, k, datatype="bf16", use="point" if m == 2048 else "fit") for m, n, k in GEMMS]
    rows += [Row("attention", f"causal {way}", length, length, 128, 64, "bf16") for length in (1024, 4096) for way in ("forward", "backward")]
    rows += [Row(kind, "copy" if kind == "copy" else "some", read=size, written=size) for kind in STREAMING for size in (10**8, 3 * 10**8, 10**9)]
    return [measured(row) for row in rows]


def refused(*arguments):
    """What scripts/calibrate.py says when it ends with exit code 1: one line."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        code = calibrate.main(arguments)
    lines = errors.getvalue().splitlines()
    if code != 1 or len(lines) != 1:
        raise AssertionError(f"exit code {code}: {lines}")
    return lines[0]
