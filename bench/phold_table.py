#!/usr/bin/env python3
"""PHOLD on 1, 2 and 4 ranks beside the bare hold loops, all in one run, by turns, so that a noisy moment meets all of them.

    bench/phold_table.py BUILD_DIRECTORY [--repeats 5] [--sync window] [--wait-for-quiet]

Prints medians in million events per second, the ratios that docs/engine.md speaks of, and a last line for scripts.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

LPS = 131072
EVENTS = 8_000_000


def wait_until_quiet():
    """Returns when the processors were idle for a moment: others may use the machine as well."""
    def ticks():
        fields = [int(field) for field in open("/proc/stat").readline().split()[1:]]
        return fields[3], sum(fields)
    while True:
        idle, total = ticks()
        time.sleep(0.3)
        later_idle, later_total = ticks()
        if later_idle - idle > 0.95 * (later_total - total):
            return


def summary(command):
    """The key=value pairs of a program's last summary line."""
    environment = dict(os.environ, OMPI_MCA_mpi_yield_when_idle="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("summary:")]
    if done.returncode != 0 or not lines:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return dict(pair.split("=", 1) for pair in lines[-1].split()[1:])


def programs(build, case, sync):
    """Name of a column -> the command that measures it."""
    k, remote = case
    draws = ["--k", k, "--remote", remote, "--mean", 1.0, "--lookahead", 0.1]
    hold = [build / "hold", *draws, "--repeats", 1, "--operations", EVENTS]
    # Long enough that filling the set does not count for much.
    phold = [build / "phold", *draws, "--lps", LPS, "--sync", sync, "--end", max(60.0 / k, 12.0)]
    columns = {
        "heap 1e5": [*hold, "--pending", 100_000, "--set", "fixed-4-ary-heap"],
        "ladder": [*hold, "--pending", LPS * k, "--set", "ladder"],
    }
    for ranks in (1, 2, 4):
        columns[f"{ranks} rank" + "s" * (ranks > 1)] = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", ranks, *phold]
    return columns


def find(build, name):
    for path in (build / "bin" / name, build / name):
        if path.is_file():
            return path.parent
    sys.exit(f"{build} holds no {name}; build it first: cmake --build {build} --target bench_hold bench_phold")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--sync", default="window")
    parser.add_argument("--wait-for-quiet", action="store_true", help="before each measurement, until the processors are idle")
    arguments = parser.parse_args()
    build = find(arguments.build, "phold")
    print(f"{'case':14}" + "".join(f"{name:>10}" for name in ("heap 1e5", "ladder", "1 rank", "2 ranks", "4 ranks"))
          + f"{'overhead':>10}{'2/1':>7}{'4/2':>7}{'1/heap':>8}{'2/heap':>8}")
    values = []
    for case in ((1, 0.1), (1, 0.5), (16, 0.1), (16, 0.5)):
        columns = programs(build, case, arguments.sync)
        rates = {name: [] for name in columns}
        ratios = {name: [] for name in ("overhead", "2/1", "4/2", "1/heap", "2/heap")}
        for _ in range(arguments.repeats):
            turn = {}
            for name, command in columns.items():
                if arguments.wait_for_quiet:
                    wait_until_quiet()
                measured = summary(command)
                turn[name] = float(measured["events_per_second"]) / 1e6
                # Overhead in processor time: both run alone on one core.
                turn[name + " cpu"] = float(measured["cpu_seconds"]) / float(measured["events"])
                rates[name].append(turn[name])
            ratios["overhead"].append(turn["1 rank cpu"] / turn["ladder cpu"])
            ratios["2/1"].append(turn["2 ranks"] / turn["1 rank"])
            ratios["4/2"].append(turn["4 ranks"] / turn["2 ranks"])
            ratios["1/heap"].append(turn["1 rank"] / turn["heap 1e5"])
            ratios["2/heap"].append(turn["2 ranks"] / turn["heap 1e5"])
        rate = {name: statistics.median(of) for name, of in rates.items()}
        ratio = {name: statistics.median(of) for name, of in ratios.items()}
        print(f"K={case[0]:<3} R={case[1]:<6}" + "".join(f"{rate[name]:10.2f}" for name in columns)
              + f"{ratio['overhead']:10.2f}{ratio['2/1']:7.2f}{ratio['4/2']:7.2f}{ratio['1/heap']:8.2f}{ratio['2/heap']:8.2f}", flush=True)
        prefix = f"k{case[0]}_r{case[1]}"
        values += [f"{prefix}_one_rank={rate['1 rank']:.2f}", f"{prefix}_two_ranks={rate['2 ranks']:.2f}",
                   f"{prefix}_overhead={ratio['overhead']:.2f}"]
    print("rates in M events/s, medians; overhead = processor time an event, one rank over the bare ladder loop")
    print(f"summary: bench=phold-table repeats={arguments.repeats} sync={arguments.sync} " + " ".join(values))


main()
