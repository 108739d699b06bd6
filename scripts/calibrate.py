#!/usr/bin/env python3
"""Fits the constants of cost model "tile" to measured GEMMs, and prints the [machine.calibration.cost] that they make.

  scripts/calibrate.py inputs/measured/a100-gemms.csv --machine a100-80g-cluster --datatype bf16 --memory-efficiency 0.85

The table has columns m, n, k, us and use; lines with # are comments. The simulator itself prices the shapes, so there is one model.
Fitted, by the mean of |log(modelled / measured)|: matrix_efficiency, operand_bytes_per_clock and tile_latency.
Shapes of use "point" become gemm_deviations as well; those of use "return" do without taking part in the fit.
What is printed goes into a machine file as it stands.
"""

import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAUNCH = "900 ns"  # from the end of one kernel to the start of the next: Gray 2019, "Getting started with CUDA graphs"
START = {"matrix_efficiency": 0.88, "operand_bytes_per_clock": 40, "tile_latency": 1000}
STEPS = ({"matrix_efficiency": 0.02, "operand_bytes_per_clock": 4, "tile_latency": 400},
         {"matrix_efficiency": 0.01, "operand_bytes_per_clock": 2, "tile_latency": 200},
         {"matrix_efficiency": 0.005, "operand_bytes_per_clock": 1, "tile_latency": 100})
SHARES = ("matrix_efficiency",)  # at most 1


def read(path):
    """{(m, n, k): us}, the set of those that are to be returned exactly, and of those that constants are fitted to."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    shapes = {tuple(int(row[key]) for key in "mnk"): float(row["us"]) for row in rows}

    def of_use(*uses):
        return {tuple(int(row[key]) for key in "mnk") for row in rows if row["use"] in uses}

    return shapes, of_use("point", "return"), of_use("point", "fit")


class Pricer:
    """What the simulator says of all shapes, one after the other on one device."""

    def __init__(self, options, shapes, folder):
        self.tessera, self.copies, self.shapes = options.tessera, options.memory_efficiency, list(shapes)
        self.experiment, self.out = folder / "gemms.toml", folder / "gemms.h5"
        step = '[[strategy.step]]\nop = "gemm"\ndevices = "0"\nm = {}\nn = {}\nk = {}\ndatatype = "{}"\n'
        text = f'[machine]\ninclude = "{options.machine}"\n[record]\ntimeline = true\n[strategy]\nname = "script"\n'
        self.experiment.write_text(text + "".join(step.format(*shape, options.datatype) for shape in self.shapes), encoding="utf-8")

    def microseconds(self, constants, deviations=None):
        command = [self.tessera, "run", str(self.experiment), "-o", str(self.out), "--force", "--progress", "off"]
        for key, value in cost(constants, self.copies, deviations or {}).items():
            command += ["--set", f"cost.{key}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        with h5py.File(self.out) as file:
            rows = file["timeline"][:]
        rows = rows[rows["device"] == 0]
        return dict(zip(self.shapes, (rows["end_ps"] - rows["begin_ps"]) * 1e-6))


def cost(constants, copies, deviations):
    """As [cost] has them."""
    return {"model": "tile", "stores": "exposed", "launch_overhead": LAUNCH, "gemm_memory_efficiency": copies, **constants,
            "tile_latency": f"{constants['tile_latency']} ns", "gemm_deviations": f"[{', '.join(as_toml(deviations))}]"}


def mean(values):
    return sum(values) / len(values)


def fit(pricer, measured, fitted):
    """Each constant in turn, one step up or down as long as that helps; then with smaller steps."""

    def error(constants):
        modelled = pricer.microseconds(constants)
        return mean([abs(math.log(modelled[shape] / measured[shape])) for shape in sorted(fitted)])

    best, least = dict(START), error(START)
    for steps in STEPS:
        improved = True
        while improved:
            improved = False
            for key, step in steps.items():
                for change in (step, -step):
                    tried = {**best, key: round(best[key] + change, 4)}
                    if tried[key] <= 0 or (key in SHARES and tried[key] > 1):
                        continue
                    found = error(tried)
                    if found < least - 1e-5:
                        best, least, improved = tried, found, True
                        break
        print(f"mean deviation {100 * least:.2f} % with {best}", file=sys.stderr, flush=True)
    return best


def as_toml(deviations):
    """The list gemm_deviations."""
    return [f"{{ m = {m}, n = {n}, k = {k}, ratio = {ratio} }}" for (m, n, k), ratio in deviations.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="measured GEMMs, CSV")
    parser.add_argument("--machine", required=True, help="whose peak, memory bandwidth, clock and cores count")
    parser.add_argument("--datatype", default="fp16", help="of the operands (default fp16)")
    parser.add_argument("--memory-efficiency", type=float, default=0.85, help="share of the memory bandwidth that a copy reaches (default 0.85)")
    parser.add_argument("--tessera", default=str(ROOT / "build" / "bin" / "tessera"))
    options = parser.parse_args()
    measured, points, fitted = read(options.table)
    with tempfile.TemporaryDirectory() as folder:
        pricer = Pricer(options, measured, pathlib.Path(folder))
        best = fit(pricer, measured, fitted)
        modelled = pricer.microseconds(best)
        deviations = {point: round(measured[point] / modelled[point], 4) for point in sorted(points)}
        corrected = pricer.microseconds(best, deviations)
    others = [shape for shape in measured if shape not in points]

    def off(times, shapes):
        return 100 * mean([abs(math.log(times[shape] / measured[shape])) for shape in shapes])

    print(f"# {len(measured)} GEMMs of {pathlib.Path(options.table).name}: {off(modelled, fitted):.1f} % mean deviation by the constants alone "
          f"over the {len(fitted)} that they are fitted to; the {len(others)} that are no")
    print(f"# points: {off(corrected, others):.1f} % with the deviations of their neighbours")
    for key, value in cost(best, options.memory_efficiency, {}).items():
        if key != "gemm_deviations":
            text = f"{key} = " + (f'"{value}"' if isinstance(value, str) else f"{value}")
            print(f"{text:<38} # " + (f"fitted to {pathlib.Path(options.table).name}" if key in START else "given"))
    print("gemm_deviations = [")
    for deviation in as_toml(deviations):
        print(f"  {deviation},")
    print("]")


if __name__ == "__main__":
    main()
