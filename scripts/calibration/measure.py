"""Deals the time out to the measurements, one after the other, and writes what they found as one table."""

import datetime
import os
import pathlib
import statistics

from calibration import Refused, devices, table
from calibration.bench import Bench, attempt
from calibration.budget import deal
from calibration.devices import Unavailable
from calibration.measurements import registry
from calibration.shapes import FULL, QUICK, TINY
from calibration.timer import Effort

CAREFUL, HASTY = Effort(0.2, 3, 0.02, 11), Effort(0.02, 1, 0.005, 3)


def run(options, tell):
    """The rows and comments of the table, which is written."""
    chosen = choose(options.only)
    check_place(options.output, options.force)
    device = devices.find(options.device, options.datatype)
    check_folder(options.output)
    bench = Bench(device, *sizes_and_effort(options, device), tell)
    rows = measure_all(bench, chosen, 60 * options.minutes)
    comments = [*about(options, device), *remarks(bench)]
    table.write(options.output, rows, comments)
    return rows, comments


def sizes_and_effort(options, device):
    if device.kind == devices.NUMPY:
        return TINY, HASTY
    return (QUICK, HASTY) if options.quick else (FULL, CAREFUL)


def choose(names):
    """The measurements of these names, in their own order; all without any."""
    known = registry()
    for name in names or ():
        if name not in [measurement.name for measurement in known]:
            raise Refused(f'--only: unknown measurement "{name}", allowed: {", ".join(measurement.name for measurement in known)}')
    return [measurement for measurement in known if not names or measurement.name in names]


def check_place(path, force):
    if os.path.exists(path) and not force:
        raise Refused(f"{path} exists; --force replaces it")


def check_folder(path):
    """Before ten minutes are spent."""
    folder = pathlib.Path(path).absolute().parent
    if not os.access(folder, os.W_OK):
        raise Refused(f"{path}: {folder} is no folder that can be written to")


def measure_all(bench, measurements, seconds):
    rows, reading = [], bench.device.read()

    def one(measurement, budget):
        bench.tell(f"{measurement.name}: {measurement.about}, within {budget.seconds:.0f} s")
        lacking = [need for need in measurement.needs if need not in reading]
        try:
            if lacking:
                raise Unavailable(f"no {' and '.join(lacking)} can be read")
            rows.extend(attempt(lambda: measurement.measure(bench, budget)))
        except Unavailable as reason:
            bench.gone.append(f"measurement {measurement.name}: {reason}")

    deal(measurements, seconds, one)
    if not rows:
        raise Refused(f"no kernel could be measured; the first reason: {[*bench.gone, *(reason for _, reason in bench.missing)][0]}")
    return rows


def about(options, device):
    """The environment."""
    words = ["measure", *(["--quick"] if options.quick else []), *(["--only", ",".join(options.only)] if options.only else [])]
    return [f"Kernels on {device.about()}: median time of one, us.",
            f"scripts/calibrate.py {' '.join(words)}, {options.minutes:g} minutes, {datetime.date.today()}, {device.library()}, "
            f"{device.datatype}, random operands.",
            *device.environment()]


def remarks(bench):
    """About clocks, spread and what was left out."""
    left_out = [*bench.gone, *(f"{count} of {what}: {reason}" for (what, reason), count in bench.missing.items())]
    return [*([bench.clocks.text(), spread_text(bench.spreads)] if bench.spreads else []), *(f"left out: {one}" for one in left_out), graph_text(bench)]


def spread_text(spreads):
    worst = max(spreads, key=spreads.get)
    return (f"from the fastest to the slowest sample of a row: {100 * statistics.median(spreads.values()):.1f} % of its median in the middle row, "
            f"at most {100 * spreads[worst]:.1f} % ({worst.kind} {worst.name})")


def graph_text(bench):
    if not bench.device.replays:
        return "called one after another by the host, whose time for a launch is in that of small kernels"
    others = bench.timer.without_graph
    return "replayed from CUDA graphs, without the host's launches" + (f", but for {others} that no graph takes" if others else "")
