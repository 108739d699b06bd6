#!/usr/bin/env python3
"""Random experiments through the command line, each simulated in ways that must not change a bit of the result.

    differential.py --tessera build/bin/tessera [--seed 1] [--cases 12]       # what ctest runs
    differential.py --tessera build/bin/tessera --seed 7 --cases 2000 --failed f   # by hand; what differs stays in f
    differential.py --tessera build/bin/tessera --seed 7 --case 123 --keep f  # one case again; its files stay in f

The reference is one rank, every packet an event (laws = "none") and every device simulated (fold = "none"). Beside it stand all laws, a random
mixture of laws, fold, ranks (1 to 4), synchroniser and timeline on one rank, and one on several. All objects of the results are compared but
/provenance, which tells of the run, and /timeline where only one of the two has it. What does not end with exit code 0 ends with the same one however it is simulated;
folds that are refused and more ranks than devices are counted and left out."""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time

import judge
from experiments import experiment
from program import Program

LIMIT = 60  # seconds of a run


class Way:
    """How an experiment is simulated."""

    def __init__(self, laws="none", fold="none", ranks=1, sync="window", timeline=False):
        self.laws, self.fold, self.ranks, self.sync, self.timeline = laws, fold, ranks, sync, timeline

    def __str__(self):
        return f"laws {self.laws}, fold {self.fold}, {self.ranks} ranks, {self.sync}" + (", timeline" if self.timeline else "")

    def arguments(self, output):
        settings = {"simulation.laws": self.laws, "simulation.fold": self.fold, "record.timeline": str(self.timeline).lower()}
        return ["run", "x.toml", *[part for key, value in settings.items() for part in ("--set", f"{key}={value}")], "--sync", self.sync, "--progress", "off",
                *(["--mpi", "off"] if self.ranks == 1 else []), "-o", output]

OF_TIMELINES = ("/timeline", "/names/groups", "/names/streams")  # what only results with a timeline have


def ways(rng, text):
    """The reference, and what is compared with it. A script names no replicas, but its nodes may be folded."""
    def mixed(ranks):
        fold = rng.choice(["none", "auto", "replicas"] if 'name = "megatron"' in text else ["none", "auto"])
        return Way(rng.choice(["all", "all", "rings", "trains", "none"]), fold, ranks, rng.choice(["window", "null-message"]), rng.random() < 0.3)

    return Way(timeline=rng.random() < 0.3), [Way("all"), mixed(1), mixed(rng.randint(2, 4))]


class Differential:
    def __init__(self, options, program):
        self.options, self.program, self.counts = options, program, {}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def try_case(self, number):
        """The problem with this case, or nothing."""
        if time.monotonic() > self.options.until:
            return None
        self.count("cases")
        rng = random.Random(f"{self.options.seed}:{number}")
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"tessera-differential-{number}-", dir=self.options.keep))
        text = experiment(rng)
        (folder / "x.toml").write_text(text)
        problem = None
        try:
            self.compare(*ways(rng, text), folder)
        except judge.Wrong as wrong:
            problem = f"case {number}: {wrong}"
            if self.options.failed:
                shutil.copytree(folder, pathlib.Path(self.options.failed) / f"{self.options.seed}-{number}", dirs_exist_ok=True)
        if self.options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
        return problem

    def run(self, way, folder, output):
        done = self.program.start(folder, way.arguments(output), ranks=way.ranks if way.ranks > 1 else None, limit=LIMIT)
        judge.said_well(done, str(way))
        return done

    def compare(self, reference, others, folder):
        done = self.run(reference, folder, "reference.h5")
        self.count(f"exit {done.code}")
        for number, way in enumerate(others):
            other = self.run(way, folder, f"{number}.h5")
            if other.code == 2 and done.code != 2 and re.search("cannot be folded|start at most|no latency, but", other.stderr):
                self.count("refused: " + ("fold" if "cannot be folded" in other.stderr else "ranks"))
            elif other.code != done.code:
                raise judge.Wrong(f"{reference}: exit {done.code}; {way}: exit {other.code}: {(done.stderr + other.stderr)[-600:]}")
            elif done.code == 0:
                self.count("fold compared" if way.fold == "replicas" else f"{way.ranks} ranks compared")
                self.same(way, reference, folder, number)

    @staticmethod
    def same(way, reference, folder, number):
        try:
            judge.same_bits(folder / "reference.h5", folder / f"{number}.h5", () if way.timeline == reference.timeline else OF_TIMELINES)
        except judge.Wrong as wrong:
            raise judge.Wrong(f"{reference} and {way}: {wrong}") from wrong


def parsed_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", required=True, help="the program")
    parser.add_argument("--launcher", default="mpirun -n", help="how ranks are started; their number follows")
    parser.add_argument("--seed", default=os.environ.get("TESSERA_FUZZ_SEED", "1"))
    parser.add_argument("--cases", type=int, default=12)
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--keep", help="a folder in which the files of all cases stay")
    parser.add_argument("--failed", help="a folder for the files of cases that fail")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--seconds", type=float, default=1e9, help="after which no more cases begin")
    options = parser.parse_args()
    options.tessera = str(pathlib.Path(options.tessera).resolve())
    options.until = time.monotonic() + options.seconds
    return options


def main():
    options = parsed_options()
    if shutil.which("h5diff") is None:
        print("h5diff is missing: nothing is compared")
        sys.exit(0)
    for folder in (options.keep, options.failed):
        if folder:
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    differential = Differential(options, Program(options.tessera, options.launcher, dict(os.environ)))
    numbers = range(options.cases) if options.case is None else [options.case]
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        problems = [problem for problem in pool.map(differential.try_case, numbers) if problem]
    for problem in problems:
        print(problem)
    tried = differential.counts.pop("cases", 0)
    print(", ".join(f"{what}: {count}" for what, count in sorted(differential.counts.items())))
    print(f"seed {options.seed}: {tried} of {len(numbers)} cases, {len(problems)} problems, {time.monotonic() - began:.0f} s")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
