#!/usr/bin/env python3
"""What jobs cost that are a step aside of others: events, processor seconds, memory, and how they grow.

    bench/cliffs.py BUILD_DIRECTORY [ROW ...] [--set KEY=VALUE ...] [--grow KEY=FACTOR] [--runs 3] [--limit 600]

Runs the jobs of bench/cliffs and of inputs/experiments that docs/performance.md speaks of, one after another on one
rank, and prints the least processor time of the runs. Where a row has jobs of several sizes, the last column is the
exponent by which processor time grows with what is varied. With --grow the first job of each row is run as it is and
with a number of its experiment so many times as large, such as workload.global_batch=4 or model.layers=2.
"""
import argparse
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import tomllib

import h5py

ROOT = pathlib.Path(__file__).resolve().parent.parent
OWN, GIVEN = ROOT / "bench" / "cliffs", ROOT / "inputs" / "experiments"


def of_size(experiment, sizes, settings):
    """Jobs of several sizes: (name, size, file, settings of that size)."""
    return [(f"{experiment.stem}, {size}", size, experiment, settings(size)) for size in sizes]


def nodes(size, *more):
    return [f"machine.topology.nodes={size}", *more]


ROWS = {
    "shared-rings": of_size(OWN / "shared-rings.toml", [128, 512], lambda d: nodes(d // 8, f"workload.global_batch={d}")),
    "rings-over-two-nodes": of_size(OWN / "rings-over-two-nodes.toml", [8, 32], lambda b: [f"workload.global_batch={b}"]),
    "flat-ring": of_size(OWN / "flat-ring.toml", [256, 1024], lambda n: nodes(n // 8)),
    "one-nic": of_size(OWN / "one-nic.toml", [4, 5, 12, 64], lambda d: nodes(d, f"workload.global_batch={d}"))
    + [("one-nic, 70B on 512", None, OWN / "one-nic.toml", nodes(64, "model.include=llama2-70b", "workload.global_batch=64",
                                                            "simulation.allow_oversubscription=true"))],
    "all-to-all": [("all-to-all, 256", 256, OWN / "all-to-all.toml", []),
                   ("all-to-all, 1024", 1024, OWN / "all-to-all-1024.toml", [])],
    "slow-gpu": of_size(OWN / "slow-gpu.toml", [16, 128], lambda n: nodes(n // 8, f"workload.global_batch={4 * n}"))
    + [("1T on 512, one slow GPU", None, GIVEN / "megatron/1t-selective.toml", ["machine.fault=[{device = 0, speed = 0.9}]"])],
    "one-ring": of_size(OWN / "shared-rings.toml", [256, 1024],
                        lambda d: nodes(d // 8, f"workload.global_batch={d}", "collectives.rings=1")),
    "overlapped-405b": [("405B on 16,384, overlapped", None, GIVEN / "megatron/405b-16384.toml",
                         ["strategy.overlap_gradient_reduction=true"])],
    "timeline": [("1T on 512, timeline", None, GIVEN / "megatron/1t-selective.toml", ["record.timeline=true"])],
    "primepar-wafer": [("primepar/wafer, plan and run", None, GIVEN / "primepar/wafer.toml", [])],
    "1t": [("1T on 512", None, GIVEN / "megatron/1t-selective.toml", [])],
}


def measured(program, experiment, settings, limit):
    """Events, processor seconds, bytes at most of one run, or None where it takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "out.h5"
        command = [program, "run", experiment, "-o", output, "--progress", "off"]
        for setting in settings:
            command += ["--set", setting]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True, env=dict(os.environ, TESSERA_INPUTS=str(ROOT / "inputs")),
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
        errors = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode < 0:
            return None
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{errors}")
        with h5py.File(output) as file:
            events = int(file["/provenance/run"]["events"][0])
        return events, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def value_of(program, experiment, settings, key):
    """A number of an experiment with all that it includes, or None where it has none."""
    command = [program, "check", experiment, "--set", "simulation.allow_oversubscription=true"]
    for setting in settings:
        command += ["--set", setting]
    text = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env=dict(os.environ, TESSERA_INPUTS=str(ROOT / "inputs"))).stdout
    value = tomllib.loads(text)
    for name in key.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def print_grown(options, key, factor):
    print(f"| job | {key} | events | processor seconds | exponent of events | of seconds |\n|---|---:|---:|---:|---:|---:|")
    program = options.build / "bin" / "tessera"
    for row in options.rows or ROWS:
        name, _, experiment, settings = ROWS[row][0]
        value = value_of(program, experiment, settings, key)
        if not isinstance(value, int):
            continue
        before = None
        for size in (value, value * factor):
            more = [*settings, *options.set, f"{key}={size}", "simulation.allow_oversubscription=true"]
            runs = [measured(program, experiment, more, options.limit) for _ in range(options.runs)]
            if None in runs:
                print(f"| {name} | {size} | | above {options.limit} | | |", flush=True)
                break
            events, seconds, _ = min(runs, key=lambda run: run[1])
            grows = ["", ""] if before is None else [f"{math.log(grown / first) / math.log(factor):.1f}"
                                                     for grown, first in zip((events, seconds), before)]
            print(f"| {name} | {size} | {events:,} | {seconds:.2f} | {grows[0]} | {grows[1]} |", flush=True)
            before = (events, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"one of {', '.join(ROWS)}; all of them when absent")
    parser.add_argument("--set", action="append", default=[], help="a setting for all jobs, such as simulation.fold=none")
    parser.add_argument("--grow", help="a number of the experiments, and how many times as large it becomes: KEY=FACTOR")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=600, help="processor seconds of a run at most")
    options = parser.parse_args()
    unknown = [row for row in options.rows if row not in ROWS]
    if unknown:
        parser.error(f'unknown row "{unknown[0]}", allowed: {", ".join(ROWS)}')
    if options.grow:
        key, factor = options.grow.split("=")
        return print_grown(options, key, int(factor))
    print("| job | events | processor seconds | MB | exponent |\n|---|---:|---:|---:|---:|")
    for row in options.rows or ROWS:
        before = None
        for name, size, experiment, settings in ROWS[row]:
            runs = [measured(options.build / "bin" / "tessera", experiment, settings + options.set, options.limit)
                    for _ in range(options.runs)]
            if None in runs:
                print(f"| {name} | | above {options.limit} | | |", flush=True)
                before = None
                continue
            events, seconds, memory = min(runs, key=lambda run: run[1])
            exponent = math.log(seconds / before[1]) / math.log(size / before[0]) if before and size else None
            grows = "" if exponent is None else f"{exponent:.1f}"
            print(f"| {name} | {events:,} | {seconds:.2f} | {memory / 1e6:.0f} | {grows} |", flush=True)
            before = (size, seconds) if size else None


if __name__ == "__main__":
    main()
