#!/usr/bin/env python3
"""Calibrates a machine of your own on its kernels: measures them with PyTorch, and fits the [machine.calibration] of its machine file.

  scripts/calibrate.py measure -o kernels.csv                                       # within ten minutes; --quick: a few small shapes
  scripts/calibrate.py fit kernels.csv --machine my-machine.toml -o calibration.toml
  scripts/calibrate.py fit inputs/measured/a100-gemms.csv --machine a100-80g-cluster --datatype bf16

measure needs PyTorch; scripts/calibration/measurements has what it measures. fit needs h5py and the simulator, which prices all kernels itself,
so there is one model. scripts/calibration/table.py says what a table has; those that other programs measured can be fitted as well.
docs/calibration.md has the recipe.
"""

import argparse
import pathlib
import re
import sys
import tempfile

from calibration import Refused, measure, output, table
from calibration.fitting import fit_table
from calibration.measurements import registry
from calibration.simulator import Simulator

ROOT = pathlib.Path(__file__).resolve().parents[1]
LAUNCH = "900 ns"  # from the end of one kernel to the start of the next: Gray 2019, "Getting started with CUDA graphs"


def nanoseconds(text):
    found = re.fullmatch(r"([0-9.]+) ?(ns|us)", text)
    try:
        return round(float(found[1]) * {"ns": 1, "us": 1000}[found[2]])
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(f'expected a time such as "{LAUNCH}" or "3.8 us", not "{text}"') from None


def number(least, most, what=""):
    """The type of an option: a number between these."""
    def read(text):
        try:
            if least <= float(text) <= most:
                return float(text)
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f'expected {least:g} to {most:g}{what}, not "{text}"')

    return read


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """One line, as of the simulator."""
        self.exit(2, f"error: {message}; {self.prog} --help says more\n")


def parse(arguments):
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="measure|fit")
    measuring = commands.add_parser("measure", help="times kernels on a device of this computer and writes the table")
    measuring.add_argument("-o", "--output", required=True, help="the table, CSV")
    measuring.add_argument("--device", help="as PyTorch calls it: cuda, cuda:1, xpu, mps, cpu (default: the first accelerator, or the CPU); "
                           "numpy: the processor without PyTorch, which shows that the way works")
    measuring.add_argument("--datatype", choices=("fp16", "bf16", "fp32", "tf32"), help="of the operands (default bf16, on a processor fp32)")
    measuring.add_argument("--minutes", type=number(0.01, 600, " minutes"), default=10, help="that it takes at most, but for the kernel that runs at their end (default 10)")
    measuring.add_argument("--only", type=lambda text: text.split(","),
                           help=f"some of the measurements: {', '.join(measurement.name for measurement in registry())}")
    measuring.add_argument("--quick", action="store_true", help="a few small shapes with fewer samples: shows that it works, calibrates nothing")
    measuring.add_argument("--force", action="store_true", help="replaces a table that is there")
    fitting = commands.add_parser("fit", help="fits the cost model's constants to a table and prints [machine.calibration]")
    fitting.add_argument("table", help="measured kernels, CSV")
    fitting.add_argument("--machine", required=True, help="name or file of the machine whose peak, memory bandwidth, cache, clock and cores count")
    fitting.add_argument("-o", "--output", help="for the [machine.calibration]; standard output gets its comments alone then")
    fitting.add_argument("--datatype", help="of the products to fit (default: the table's, or fp16)")
    fitting.add_argument("--memory-efficiency", type=number(0.01, 1), default=0.85, help="of GEMMs, where the table has no copies (default 0.85)")
    fitting.add_argument("--launch-overhead", type=nanoseconds, default=LAUNCH, help=f'where the table has no kernels of kind launch (default "{LAUNCH}")')
    fitting.add_argument("--tessera", default=str(ROOT / "build" / "bin" / "tessera"))
    return parser.parse_args(arguments)


def run_measure(options):
    rows, remarks = measure.run(options, lambda line: print(line, file=sys.stderr, flush=True))
    print(*remarks, f"{len(rows)} rows are in {options.output}", sep="\n")


def run_fit(options):
    rows, name = table.read(options.table), pathlib.Path(options.table).name
    with tempfile.TemporaryDirectory() as folder:
        fit = fit_table(Simulator(options.tessera, options.machine, folder), rows, options, name)
    lines = output.toml(fit, name)
    if options.output is None:
        print(*lines, sep="\n")
        return
    try:
        pathlib.Path(options.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise Refused(f"{options.output}: {error.strerror}") from None
    print(*(line for line in lines if line.startswith("#")), sep="\n")


def main(arguments=None):
    options = parse(arguments)
    try:
        {"measure": run_measure, "fit": run_fit}[options.command](options)
    except Refused as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
