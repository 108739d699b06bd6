#!/usr/bin/env python3
"""Gives the program thousands of inputs that are nearly right, and checks that no answer is wrong in silence.

    fuzz.py --tessera build/bin/tessera [--seed 1] [--cases 1000]     # what ctest runs: two minutes
    fuzz.py --tessera build/bin/tessera --seed 7 --case 1234 --keep f # one case again; its files and commands stay in f

A case follows from the seed and its number alone. Each changes one file of corpus/ (an experiment, a machine, a model), or a plan or a
result file or the folder of a sweep that the program wrote at the start, by mutations that know what the file means or by its bytes (mutate.py). judge.py says what has to hold:
exit code 0, 2, 3 or 4, never a signal or a hang; a refusal is short, printable, names the file or option, and leaves no file; what check prints is an
experiment that checks to itself; what check accepts, run does not refuse as bad input; a run's result can be shown, its times are not
negative and add up, and two ranks give the same bits as one; of a damaged result file show and timeline say what they say of the whole
one, or refuse it. Runs are a sample (starting MPI takes longer than a check), and one that would be long is ended by SIGTERM, which has
to work. Plain Python; with h5py more is checked.
"""

import argparse
import concurrent.futures
import csv
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time

import formats
import judge
import mutate
from program import Program, Vocabulary

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
KINDS = ["experiment"] * 9 + ["machine"] * 4 + ["model"] * 3 + ["graph"] * 2 + ["plan"] * 1 + ["result"] * 3 + ["structure"] * 2 + ["rows"] * 1
RUN_SECONDS = 6                        # of simulation, then SIGTERM
MOST_EVENTS = 3e5                      # of a run that is to finish


class Corpus:
    """The files of corpus/, and what the program makes of them."""

    def __init__(self, program, folder):
        self.experiments = self.read("experiments/*.toml")
        self.machines = self.read("machines/*.toml")
        self.models = self.read("models/*")
        self.plans, self.results = {}, {}
        for name in ("primepar", "megatron"):
            self.make(program, folder, name, "plan", "plan.toml")
            self.plans[name] = (folder / "plan.toml").read_bytes()
        for name in ("megatron", "script", "t3"):
            self.make(program, folder, name, "run", "out.h5")
            shown = program.start(folder, ["show", "out.h5"])
            drawn = program.start(folder, ["timeline", "out.h5", "-o", "t.json", "--force"])
            if shown.code != 0 or drawn.code != 0:
                sys.exit(f"the result of {name} cannot be shown: {shown.stderr}{drawn.stderr}")
            self.results[name] = ((folder / "out.h5").read_bytes(), shown.stdout, (folder / "t.json").read_bytes())

        self.make_sweep(program, folder)

    def make_sweep(self, program, folder):
        """The files of a sweep's folder, and the lines of its table."""
        (folder / "k.toml").write_bytes(self.experiments["kernels"])
        (folder / "s.toml").write_text('experiment = "k.toml"\n[sweep]\naxes."simulation.seed" = [1, 2, 3]\naxes."machine.topology.devices" = [2, 3, 4]\n')
        for command in (["sweep", "s.toml", "-o", "s", "--keep", "summary", "--progress", "off"], ["merge", "s", "-o", "s.h5", "--csv", "s.csv"]):
            done = program.start(folder, command)
            if done.code != 0:
                sys.exit(f"{command}: {done.stderr}")
        (rows,) = (folder / "s" / "rows").iterdir()
        self.sweep = {"s/sweep.json": (folder / "s" / "sweep.json").read_bytes(), f"s/rows/{rows.name}": rows.read_bytes()}
        self.table = (folder / "s.csv").read_text().splitlines()

    def make(self, program, folder, name, command, output):
        (folder / "x.toml").write_bytes(self.experiments[name])
        done = program.start(folder, [command, "x.toml", "-o", output, "--force"])
        if done.code != 0:
            sys.exit(f"{command} of {name} in the corpus: {done.stderr}")

    @staticmethod
    def read(pattern):
        return {path.stem: path.read_bytes() for path in sorted(CORPUS.glob(pattern))}

    def all_files(self):
        return [*self.experiments.values(), *self.machines.values(), *self.models.values()]


def changed(rng, data, corpus, vocabulary, is_json=False):
    if rng.random() < 0.2:
        return mutate.as_bytes(rng, data, corpus.all_files())
    text = data.decode()
    return (mutate.json_text if is_json else mutate.toml)(rng, text, vocabulary).encode()


class Case:
    """One input: files in a folder, and the arguments that name them."""

    def __init__(self, seed, number, corpus, vocabulary):
        self.rng = random.Random(f"{seed}:{number}")
        self.kind = self.rng.choice(KINDS)
        self.files, self.arguments, self.places, self.name = {}, ["x.toml"], ["x.toml"], ""
        getattr(self, "make_" + self.kind)(corpus, vocabulary)

    def make_experiment(self, corpus, vocabulary):
        self.name = self.rng.choice(sorted(corpus.experiments))
        self.files["x.toml"] = changed(self.rng, corpus.experiments[self.name], corpus, vocabulary)
        if self.rng.random() < 0.2:
            section, key, value = vocabulary.parameter(self.rng)
            setting = f"{section}.{key}={value if self.rng.random() < 0.7 else mutate.literal(self.rng)}".replace("\0", "")[:100_000]
            self.arguments += ["--set", setting]
            self.places.append("--set")

    def make_machine(self, corpus, vocabulary):
        machine = self.rng.choice(sorted(corpus.machines))
        users = {"cluster": ["megatron", "primepar"], "ring": ["t3", "kernels"], "mesh": ["script"], "torus": ["generation"], "package": ["package"], "fat-tree": ["experts"], "rails": ["experts"]}
        self.name = self.rng.choice(users[machine])
        text = re.sub(rb'machine = "[\w-]+"', b'machine = "machine.toml"', corpus.experiments[self.name])
        self.files["x.toml"] = text
        self.files["machine.toml"] = changed(self.rng, corpus.machines[machine], corpus, vocabulary)
        self.places.append("machine.toml")

    def make_model(self, corpus, vocabulary):
        model = self.rng.choice(sorted(corpus.models))
        is_json = model != "small"
        file = "model.json" if is_json else "model.toml"
        self.name = self.rng.choice(["megatron", "generation", "experts", "primepar"])
        self.files["x.toml"] = re.sub(rb'model = "[\w-]+"', f'model = "{file}"'.encode(), corpus.experiments[self.name], count=1)
        self.files[file] = changed(self.rng, corpus.models[model], corpus, vocabulary, is_json)
        self.places.append(file)

    def make_plan(self, corpus, vocabulary):
        self.name = self.rng.choice(sorted(corpus.plans))
        self.files["x.toml"] = corpus.experiments[self.name]
        self.files["plan.toml"] = changed(self.rng, corpus.plans[self.name], corpus, vocabulary)
        self.arguments += ["--plan", "plan.toml"]
        self.places.append("plan.toml")

    def make_result(self, corpus, vocabulary):
        self.name = self.rng.choice(sorted(corpus.results))
        self.files["out.h5"] = mutate.as_bytes(self.rng, corpus.results[self.name][0], corpus.all_files())
        self.places = ["out.h5"]

    def make_graph(self, corpus, _):
        """A graph in JSON, or a network in ONNX, as the model."""
        file = self.rng.choice(["graph.json", "network.onnx"])
        self.name = "graph"
        text = corpus.experiments["graph"]
        if file == "graph.json":
            graph = corpus.models["graph"].decode()
            self.files[file] = mutate.json_graph(self.rng, graph).encode("utf-8", "replace") if self.rng.random() < 0.8 else mutate.as_bytes(self.rng, graph.encode(), corpus.all_files())
        else:
            whole = formats.onnx_network(self.rng.choice([1, 1, 1, 0, 2**63]))
            self.files[file] = mutate.as_bytes(self.rng, whole, corpus.all_files()) if self.rng.random() < 0.9 else whole
            dimensions = self.rng.choice(["{ N = 1 }", "{ N = 1 }", "{ N = 1 }", "{ N = 1000000000 }", "{ N = 0 }", "{ M = 1 }", "1", '{ N = "x" }'])
            text = text.replace(b'model = "graph"\n', b"") + f'\n[model]\ndatatype = "bf16"\ndimensions = {dimensions}\n'.encode()
        self.files["x.toml"] = text.replace(b'model = "graph"', f'model = "{file}"'.encode()) if file == "graph.json" else text + f'include = "{file}"\n'.encode()
        self.places.append(file)

    def make_structure(self, corpus, _):
        self.name = self.rng.choice(sorted(corpus.results))
        self.files["out.h5"] = corpus.results[self.name][0]
        self.places = ["out.h5"]

    def make_rows(self, corpus, _):
        self.name = "sweep"
        changed = self.rng.choice(sorted(corpus.sweep))
        self.files = {**corpus.sweep, changed: mutate.as_bytes(self.rng, corpus.sweep[changed], list(corpus.sweep.values()))}
        self.places = ["'s'", "s/", "s.h5"]

    def write(self, folder):
        for name, data in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        if self.kind == "structure" and formats.h5py is not None:
            formats.change_structure(self.rng, folder / "out.h5")


class Fuzzer:
    def __init__(self, options, program, corpus, vocabulary):
        self.options, self.program, self.corpus, self.vocabulary = options, program, corpus, vocabulary
        self.counts = {}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def try_case(self, number, keep=None):
        """The problem with this case, or nothing."""
        case = Case(self.options.seed, number, self.corpus, self.vocabulary)
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"tessera-fuzz-{number}-", dir=keep))
        case.write(folder)
        problem = None
        try:
            judges = {"result": self.judge_result, "structure": self.judge_structure, "rows": self.judge_rows}
            judges.get(case.kind, self.judge_experiment)(case, folder)
        except judge.Wrong as wrong:
            problem = f"case {number} ({case.kind}, {case.name}): {wrong}"
            if keep is None and self.options.failed:
                kept = pathlib.Path(self.options.failed) / f"{self.options.seed}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept, ignore_dangling_symlinks=True)
                (kept / "arguments").write_text("\n".join(case.arguments) + "\n")
        finally:
            if keep is None:
                shutil.rmtree(folder, ignore_errors=True)
        if keep is not None:
            print(f"{folder}: {' '.join(case.arguments)[:2000]}")
        return problem

    def judge_experiment(self, case, folder):
        before = sorted(path.name for path in folder.iterdir())
        # A search of partitions may rightly take minutes; nothing else may.
        searches = case.name == "primepar" or b"primepar" in case.files["x.toml"]
        done = self.program.start(folder, ["check", *case.arguments, "-o", "out.h5"], limit=20 if searches else 60, end_gently=searches)
        self.count("search ended" if done.ended_by_us else f"check {done.code}")
        if done.ended_by_us:
            if done.code in ("timeout", 0, 5):
                raise judge.Wrong(f"a search under SIGTERM: {judge.describe(done.code)}")
            return judge.left_nothing(folder, before, "a search under SIGTERM")
        judge.said_well(done, "check")
        judge.names_a_place(done, case.places, "check")
        judge.left_nothing(folder, before, "check")
        if done.code == 0:
            self.judge_resolved(done, folder)
        if case.rng.random() < (0.5 if done.code == 0 else 0.01) and self.may_run(done):
            self.judge_run(case, folder, done)

    def judge_resolved(self, done, folder):
        """What check prints is an experiment, and checks to itself."""
        (folder / "resolved.toml").write_bytes(done.stdout)
        again = self.program.start(folder, ["check", "resolved.toml", "-o", "out.h5"], limit=120)
        if again.code != 0:
            raise judge.Wrong(f"check refuses what check has printed: {again.stderr[-600:]}")
        if again.stdout != done.stdout:
            raise judge.Wrong("check prints something else for what it has printed")

    def may_run(self, done):
        """A sample, by the time that is left, of what is not long; a few long ones are ended by a signal."""
        if self.options.case is not None:
            return True
        if time.monotonic() > self.options.runs_until:
            return False
        said = re.search(rb"events per rank +(.*)", done.stdout)
        known = re.findall(r"([\d.]+)(?: ([kMGTPEZY]))?\b", said[1].decode()) if said else []
        if not said:
            return True
        if known and max(float(number) * 1000 ** " kMGTPEZY".index(prefix or " ") for number, prefix in known) <= MOST_EVENTS:
            return True
        self.count("long")
        return self.counts["long"] <= 6

    def judge_run(self, case, folder, checked):
        before = sorted(path.name for path in folder.iterdir())
        run = ["run", *case.arguments, "--progress", "off", "-o"]
        done = self.program.start(folder, [*run, "out.h5"], limit=RUN_SECONDS, end_gently=True)
        self.count("run ended" if done.ended_by_us else f"run {done.code}")
        if done.ended_by_us:
            if done.code in ("timeout", 0, 5):
                raise judge.Wrong(f"run under SIGTERM: {judge.describe(done.code)}")
            judge.left_nothing(folder, before, "run under SIGTERM")
            return
        judge.said_well(done, "run")
        judge.names_a_place(done, case.places, "run")
        if done.code == 2 and checked.code == 0:
            raise judge.Wrong(f"run refuses what check accepts: {done.stderr[-600:]}")
        if checked.code in (2, 3) and done.code != checked.code:
            raise judge.Wrong(f"check ends with {checked.code}, run with {done.code}: {done.stderr[-600:]}")
        if done.code != 0:
            return judge.left_nothing(folder, before, "run")
        judge.left_nothing(folder, sorted([*before, "out.h5"]), "run")
        shown = self.program.start(folder, ["show", "out.h5"])
        if shown.code != 0 or shown.stdout != done.stdout:
            raise judge.Wrong(f"show does not say what run has said: exit {shown.code} {shown.stderr[-300:]}")
        judge.adds_up(folder / "out.h5")
        if case.rng.random() < 0.3:
            self.judge_two_ranks(run, folder)

    def judge_two_ranks(self, run, folder):
        sync = random.Random(str(run)).choice(["window", "null-message"])
        done = self.program.start(folder, [*run, "two.h5", "--sync", sync], ranks=2, limit=60)
        self.count(f"run on 2 {done.code}")
        judge.said_well(done, "run on 2 ranks")
        if done.code == 0:
            judge.same_bits(folder / "out.h5", folder / "two.h5")
        elif not (done.code == 2 and "rank" in done.stderr) and done.code != 4:
            raise judge.Wrong(f"1 rank ends with 0, 2 ranks with {done.code}: {done.stderr[-600:]}")

    def judge_result(self, case, folder):
        _, shown, drawn = self.corpus.results[case.name]
        before = sorted(path.name for path in folder.iterdir())
        done = self.program.start(folder, ["show", "out.h5"])
        self.count(f"show {done.code}")
        judge.said_well(done, "show")
        judge.names_a_place(done, case.places, "show")
        if done.code == 0 and done.stdout != shown:
            raise judge.Wrong("show says something else of a damaged file, without a word")
        done = self.program.start(folder, ["timeline", "out.h5", "-o", "t.json"])
        self.count(f"timeline {done.code}")
        judge.said_well(done, "timeline")
        judge.names_a_place(done, case.places, "timeline")
        if done.code != 0:
            judge.left_nothing(folder, before, "timeline")
        elif (folder / "t.json").read_bytes() != drawn:
            raise judge.Wrong("timeline draws something else of a damaged file, without a word")


    def judge_structure(self, case, folder):
        """What is no longer what a checksum was computed of may say anything, but says it at once."""
        for command in (["show", "out.h5"], ["timeline", "out.h5", "-o", "t.json", "--force"], ["check", "x.toml", "--plan", "out.h5"]):
            done = self.program.start(folder, command, limit=20)
            self.count(f"{command[0]} of another structure {done.code}")
            judge.said_well(done, command[0])
            judge.names_a_place(done, [*case.places, "x.toml"], command[0])

    def judge_rows(self, case, folder):
        """A table has the rows that the whole one has, or says that some are missing; never another one."""
        done = self.program.start(folder, ["merge", "s", "-o", "s.h5", "--csv", "s.csv"])
        self.count(f"merge {done.code}")
        judge.said_well(done, "merge")
        judge.names_a_place(done, case.places, "merge")
        if done.code != 0:
            return
        lines = (folder / "s.csv").read_text().splitlines()
        if lines != self.corpus.table and "warning: " not in done.stderr:
            raise judge.Wrong("merge makes another table of damaged rows, without a word")
        whole = {row["point"]: row for row in csv.DictReader(self.corpus.table)}
        for row in csv.DictReader(lines):  # columns are those that any of its rows has
            if any(whole[row["point"]][column] != value for column, value in row.items()):
                raise judge.Wrong(f"merge makes up a row: {row}")


def parsed_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", required=True, help="the program")
    parser.add_argument("--launcher", default="mpirun -n", help="how ranks are started; their number follows")
    parser.add_argument("--seed", default=os.environ.get("TESSERA_FUZZ_SEED", "1"))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--case", type=int, help="this one alone")
    parser.add_argument("--keep", help="with --case: a folder for its files")
    parser.add_argument("--failed", help="a folder for the files of cases that fail")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--seconds", type=float, default=100, help="after which no more of the sample are run, only checked")
    options = parser.parse_args()
    options.tessera = str(pathlib.Path(options.tessera).resolve())
    options.runs_until = time.monotonic() + options.seconds
    return options


def main():
    options = parsed_options()
    environment = {**os.environ, "TESSERA_INPUTS": str(CORPUS)}
    program = Program(options.tessera, options.launcher, environment)
    with tempfile.TemporaryDirectory(prefix="tessera-fuzz-") as folder:
        folder = pathlib.Path(folder)
        fuzzer = Fuzzer(options, program, Corpus(program, folder), Vocabulary(program, folder))
    if options.case is not None:
        if options.keep:
            pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        problem = fuzzer.try_case(options.case, options.keep)
        print(problem or "nothing wrong")
        sys.exit(1 if problem else 0)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        problems = [problem for problem in pool.map(fuzzer.try_case, range(options.cases)) if problem]
    for problem in problems:
        print(problem)
    print(", ".join(f"{what}: {count}" for what, count in sorted(fuzzer.counts.items())))
    print(f"seed {options.seed}: {options.cases} cases, {len(problems)} problems, {time.monotonic() - began:.0f} s")
    if problems:
        print(f"one case again: {sys.argv[0]} --tessera {options.tessera} --seed {options.seed} --case NUMBER --keep FOLDER")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
