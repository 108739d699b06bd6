#!/usr/bin/env python3
"""Runs every broken experiment NAME.toml of this folder and compares what tessera says with NAME.expected.

The first lines of NAME.expected are directives, up to an empty line; the rest is standard error to the letter:

    exit: 2                          exit code of every rank
    arguments: --set a.b=1           optional, behind the experiment
    experiment: other.toml           optional, instead of NAME.toml
    output: folder/out.h5            optional, instead of out.h5
    command: sweep                   optional, instead of run; --list in the place of `tessera check`
    ranks: 2 4                       optional, instead of 1 and 3
    check: no                        optional: `tessera check` does not see it (it shows only on the way, or is no option of check);
                                     anything else is given to it as well

Each case runs in a folder of its own that holds this folder's TOML and JSON files and inputs/. On each number of ranks: same exit code, one message, no hang,
no file left behind. `tessera check` has to refuse the same with the same words. What it refuses is found while files are read, which all ranks do
alike: of these cases one in four runs on 3 ranks, with --all each.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 60


def without_launcher_notices(text):
    """Standard error without the blocks that mpirun itself prints between lines of dashes or equal signs."""
    kept, inside = [], False
    for line in text.splitlines():
        if re.fullmatch(r"\s*(-{20,}|={20,})\s*", line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return kept


def read_case(path):
    head, _, body = path.read_text().partition("\n\n")
    case = {"name": path.stem, "experiment": path.stem + ".toml", "arguments": "", "output": "out.h5", "command": "run", "ranks": "", "check": ""}
    for line in head.splitlines():
        key, _, value = line.partition(":")
        if key not in case and key != "exit":
            sys.exit(f"{path}: unknown directive '{key}'")
        case[key] = value.strip()
    case["lines"] = body.splitlines()
    return case


def run(command, folder, environment):
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
        return done.returncode, without_launcher_notices(done.stderr), done.stdout
    except subprocess.TimeoutExpired:
        return "timeout", [f"hangs: not done after {TIMEOUT} s"], ""


def contents(folder):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*"))


def commands(case, options):
    """(description, command) of every way in which a case is run."""
    arguments = [case["experiment"], *shlex.split(case["arguments"])]
    for ranks in case["ranks"].split() or (("1", "3") if case["on three"] else ("1",)):
        # One rank needs no mpirun: that is a way of starting which has to work as well.
        launcher = [] if ranks == "1" else [*shlex.split(options.launcher), options.ranks_flag, ranks]
        run_it = [options.tessera, case["command"], *arguments, "-o", case["output"], "--progress", "off"]
        yield f"on {ranks} rank(s)", [*launcher, *run_it]
    if case["command"] == "sweep":
        yield "in tessera sweep --list", [options.tessera, "sweep", *arguments, "--list"]
    elif case["check"] != "no":
        yield "in tessera check", [options.tessera, "check", *arguments, *shlex.split(case["check"]), "-o", case["output"]]


def problems_of(case, options):
    environment = {**os.environ, "TESSERA_INPUTS": "inputs"}
    problems = []
    for description, command in commands(case, options):
        with tempfile.TemporaryDirectory(prefix="tessera-bad-") as folder:
            for source in [*HERE.glob("*.toml"), *HERE.glob("*.json")]:
                shutil.copy(source, folder)
            shutil.copytree(HERE / "inputs", pathlib.Path(folder) / "inputs")
            (pathlib.Path(folder) / "a-folder").mkdir()
            (pathlib.Path(folder) / "a-file").write_text("not a result\n")
            before = contents(folder)
            code, lines, _ = run(command, folder, environment)
            left = [name for name in contents(folder) if name not in before]
        where = f"{case['name']} {description}"
        if str(code) != case["exit"]:
            problems.append(f"{where}: exit code {code}, expected {case['exit']}; it says:\n    " + "\n    ".join(lines))
        elif lines != case["lines"]:
            problems.append(f"{where}: says\n    " + "\n    ".join(lines) + "\n  expected\n    " + "\n    ".join(case["lines"]))
        if left:
            problems.append(f"{where}: leaves {', '.join(left)}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", required=True, help="the program")
    parser.add_argument("--launcher", default="mpirun", help="how ranks are started")
    parser.add_argument("--ranks-flag", default="-n")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time")
    parser.add_argument("--all", action="store_true", help="every case on 3 ranks as well")
    parser.add_argument("names", nargs="*", help="cases; all when none is named")
    options = parser.parse_args()
    paths = sorted(HERE.glob("*.expected"))
    if "TESSERA_FEW_CASES" in os.environ:  # a second build of what has been tested (scripts/test-mpich.sh)
        paths = paths[::4]
    cases = [read_case(path) for path in paths if not options.names or path.stem in options.names]
    for number, case in enumerate(cases):
        case["on three"] = options.all or bool(options.names) or case["check"] == "no" or number % 4 == 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        problems = [problem for found in pool.map(lambda case: problems_of(case, options), cases) for problem in found]
    for problem in problems:
        print(problem)
    print(f"{len(cases)} broken experiments, {len(problems)} problems")
    sys.exit(1 if problems or not cases else 0)


if __name__ == "__main__":
    main()
