"""Help, check, show, timeline and completion: everything that never starts MPI, and the round trips through a result file."""

import json
import os
import re
import shutil
import subprocess
import unittest

from harness import HERE, TESSERA, WITHOUT_MPI, CliTest

COMMANDS = ["run", "check", "show", "merge", "timeline", "list", "import", "help", "completion"]
# Memories that are too small for the reserve of a real GPU.
TIGHT = ("--set", "machine.device.memory_reserve=0 B", "--set", "machine.device.memory_capacity=10 MB")


class Help(CliTest):
    def test_every_command_has_help(self):
        overview = self.tessera("--help", environment=WITHOUT_MPI).stdout
        for command in COMMANDS:
            self.assertIn(command, overview)
            self.assertIn("Usage: tessera " + command, self.tessera(command, "--help", environment=WITHOUT_MPI).stdout)
        self.assertRegex(self.tessera("--version", environment=WITHOUT_MPI).stdout, r"^tessera \d+\.\d+\.\d+\n$")

    def test_options_of_run_are_those_of_the_documentation(self):
        text = self.tessera("run", "--help").stdout
        for option in ["-o,--output", "--set", "--sync", "--seed", "--progress", "--force", "--allow-oversubscription"]:
            self.assertIn(option, text)
        for choice in ["window", "null-message", "auto", "bar", "plain", "off"]:
            self.assertIn(choice, text)

    def test_every_section_of_help_prints_its_parameters(self):
        overview = self.tessera("help", environment=WITHOUT_MPI).stdout
        sections = re.findall(r"^  (\S+)  ", overview.partition("Sections:")[2].partition("\n\n")[0], re.MULTILINE)
        for expected in ["machine.gpu", "machine.topology.cluster", "model", "workload", "strategy.megatron", "strategy.script", "cost.roofline",
                         "collectives", "record", "simulation", "units"]:
            self.assertIn(expected, sections)
        for section in sections:
            self.assertTrue(self.tessera("help", section).stdout.startswith(section + ":"), section)
        both = self.tessera("help", "workload", "record").stdout
        self.assertIn("sequence: whole number, 1 to", both)
        self.assertIn("default 2048", both)
        self.assertIn("timeline: boolean", both)

    def test_a_path_without_parameters_of_its_own_prints_what_is_below_it(self):
        text = self.tessera("help", "strategy").stdout
        self.assertIn("strategy.megatron:", text)
        self.assertIn("strategy.script:", text)

    def test_a_key_that_is_called_as_a_section_is_told_of_first(self):
        text = self.tessera("help", "mixer").stdout
        self.assertTrue(text.startswith("[model]\n  mixer: "), text)
        self.assertIn("network.mixer:", text)

    def test_an_unknown_section_is_refused_with_a_suggestion(self):
        done = self.tessera("help", "machine.gpus", code=2)
        self.assertIn('unknown section or key "machine.gpus" (did you mean "machine.gpu"?)', done.stderr)

    def test_completion_is_a_script_that_completes_commands_and_options(self):
        script = self.tessera("completion", "bash", environment=WITHOUT_MPI).stdout
        def complete(words):
            ask = f'{script}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _tessera; echo "${{COMPREPLY[@]}}"'
            return subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(complete("tessera ti"), ["timeline"])
        self.assertEqual(complete("tessera timeline --dev"), ["--devices"])
        self.assertEqual(complete("tessera run --allow"), ["--allow-oversubscription"])
        self.assertEqual(complete("tessera list mo"), ["models"])
        self.assertEqual(complete("tessera help strategy.m"), ["strategy.mcm", "strategy.mcm.learning", "strategy.megatron", "strategy.megatron.loans",
                                                             "strategy.megatron.placement", "strategy.megatron.stages", "strategy.megatron.ways"])
        (self.folder / "somewhere.toml").write_text("")
        self.assertEqual(complete(f"tessera run {self.folder}/some"), [f"{self.folder}/somewhere.toml"])


class Check(CliTest):
    def test_every_shipped_experiment_takes_less_than_two_seconds(self):
        """Of processor time, half a second at most where no other program shares the core; searches are left to run and plan."""
        experiments = sorted((HERE.parents[1] / "inputs" / "experiments").rglob("*.toml"))
        self.assertGreater(len(experiments), 30)
        for experiment in experiments:
            before = os.times()
            self.tessera("check", experiment, environment=WITHOUT_MPI)
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            self.assertLess(spent, 2, f"{experiment.name}: {spent:.2f} s")

    def test_every_shipped_sweep_lists_its_points(self):
        """In 20 ms of processor time a point and a few seconds; each has a title, several points, and some that can run."""
        sweeps = sorted((HERE.parents[1] / "inputs" / "sweeps").rglob("*.toml"))
        self.assertGreater(len(sweeps), 9)
        listed = self.tessera("list", "sweeps", environment={**WITHOUT_MPI, "TESSERA_INPUTS": str(HERE.parents[1] / "inputs")}).stdout
        for sweep in sweeps:
            before = os.times()
            title, points, *_ = self.tessera("sweep", "--list", sweep, environment=WITHOUT_MPI).stdout.splitlines()
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            self.assertLess(spent, 5 + 0.02 * int(points.split()[0]), f"{sweep.name}: {spent:.2f} s")
            self.assertRegex(listed, rf"(?m)^{re.escape(str(sweep))} +{re.escape(title)}$")
            self.assertGreater(int(points.split()[0]), 2)

    def test_it_prints_an_experiment_that_checks_to_itself(self):
        first = self.tessera("check", "training.toml", environment=WITHOUT_MPI).stdout
        (self.folder / "resolved.toml").write_text(first)
        second = self.tessera("check", "resolved.toml").stdout
        self.assertEqual(first, second)

    def test_it_says_parameters_flops_bytes_memory_and_events(self):
        text = self.tessera("check", "training.toml", "--ranks", 2).stdout
        for figure in ["parameters", "FLOP per token", "bytes sent", "memory of the fullest device", "events per rank", "memory per rank"]:
            self.assertRegex(text, rf"(?m)^#   {figure}  +\d")
        self.assertIn("on 2 ranks", text)

    def test_the_job_comes_first_and_is_said_of_one_that_does_not_fit(self):
        self.assertTrue(self.tessera("check", "training.toml").stdout.startswith("# The job\n#   devices "))
        done = self.tessera("check", "training.toml", *TIGHT, code=3)
        self.assertRegex(done.stdout, r"(?m)^#   memory of the fullest device +47\.7 MB of 10\.0 MB on gpu 0")
        self.assertIn("needs 47.7 MB but has 10.0 MB", done.stderr)
        self.assertTrue(all(line.startswith("#") for line in done.stdout.split("\n") if line))
        more = self.tessera("check", "training.toml", *TIGHT, "--allow-oversubscription")
        self.assertIn("needs 47.7 MB but has 10.0 MB", more.stderr)
        self.assertIn("[machine]", more.stdout)

    def test_it_writes_nothing_and_refuses_an_output_that_run_would_refuse(self):
        before = self.files()
        self.tessera("check", "training.toml", "-o", "out.h5")
        self.assertEqual(self.files(), before)
        (self.folder / "out.h5").write_text("")
        self.tessera("check", "training.toml", "-o", "out.h5", code=4)
        self.tessera("check", "training.toml", "-o", "out.h5", "--force")

    def test_it_refuses_more_ranks_than_devices(self):
        self.tessera("check", "training.toml", "--ranks", 8)
        self.tessera("check", "training.toml", "--ranks", 9, code=2)

    def test_overrides_show_in_the_resolved_experiment(self):
        text = self.tessera("check", "training.toml", "--set", "workload.sequence=64", "--seed", 7, "--allow-oversubscription",
                            "--set", "machine.device.memory_capacity=20 GB").stdout
        for line in ["sequence = 64", "seed = 7", "allow_oversubscription = true", 'memory_capacity = "20 GB"']:
            self.assertRegex(text, rf"(?m)^{line}$")


    def test_it_says_what_is_to_spare(self):
        # 83.1 GB, which 85.0 GB less a reserve of 1.87 GB leave, less 47.7 MB.
        spare = r"(?m)^#   memory to spare +83\.1 GB, 99\.9 % of 83\.1 GB \(85\.0 GB less a reserve of 1\.87 GB\)$"
        self.assertRegex(self.tessera("check", "training.toml").stdout, spare)
        self.assertRegex(self.tessera("plan", "training.toml", "-o", "plan.toml").stdout, r"(?m)^# memory to spare: 83\.1 GB, 99\.9 % of ")
        self.assertRegex(self.simulate("training.toml", "out.h5").stdout, r"(?m)^  \(to spare\) +83\.1 GB +97\.7 %$")
        tight = self.tessera("check", "training.toml", *TIGHT, code=3)
        self.assertRegex(tight.stdout, r"(?m)^#   memory to spare +none: 37\.7 MB too much for 10\.0 MB$")

    def test_plan_warns_where_little_is_to_spare(self):
        # The fullest device holds 47.7 MB: of 48.3 MB that is all but 1.2 %, of 49.5 all but 3.6 %.
        for capacity, warned in (("48.3 MB", True), ("49.5 MB", False)):
            done = self.tessera("plan", "training.toml", "-o", "plan.toml", "--force", *TIGHT[:3], f"machine.device.memory_capacity={capacity}")
            self.assertEqual(bool(re.search(r"(?m)^warning: the plan leaves \d+ kB of memory on gpu 0, 1\.\d %: below 2 % it may not fit", done.stderr)), warned, done.stderr)


class RoundTrips(CliTest):
    def test_show_prints_what_run_printed(self):
        printed = self.simulate("training.toml", "out.h5", ranks=2).stdout
        self.assertIn("A small GPT", printed)
        self.assertEqual(self.tessera("show", "out.h5", environment=WITHOUT_MPI).stdout, printed)

    def test_a_batch_that_is_served(self):
        """The summary's times are those of its tables; what `check` says fits, fits, and one sequence more does not."""
        both = ("--set", "workload.phase=prompt-and-generation")
        self.simulate("generation.toml", "out.h5", *both)
        said = self.tessera("show", "out.h5", environment=WITHOUT_MPI).stdout
        self.assertIn("phase prompt of 256 tokens and generation of 16 tokens, batch 4 sequences,", said.replace("\n ", ""))
        first, token = re.search(r"  time to first token +([\d.]+) us    time per token +([\d.]+) us\n", said).groups()
        rate, largest = re.search(r"  tokens/s of a user +([\d,]+)    largest batch +([\d,]+)\n", said).groups()
        phases = {name: int(end) for name, end in re.findall(r"(prompt|generation) +(\d+) +\d+", self.tessera("show", "out.h5", "--table", "phases", environment=WITHOUT_MPI).stdout)}
        self.assertAlmostEqual(float(first) * 1e6, phases["prompt"], delta=1e5)
        self.assertAlmostEqual(float(token) * 1e6, (phases["generation"] - phases["prompt"]) / 15, delta=1e5)
        self.assertAlmostEqual(int(rate.replace(",", "")) * float(token) / 1e6, 1, places=3)
        batch = int(re.search(r"largest batch that fits +(\d+) sequences, 4 asked for", self.tessera("check", "generation.toml", *both, environment=WITHOUT_MPI).stdout)[1])
        self.assertEqual(batch, int(largest.replace(",", "")))
        self.tessera("check", "generation.toml", *both, "--set", f"workload.global_batch={batch}", environment=WITHOUT_MPI)
        self.tessera("check", "generation.toml", *both, "--set", f"workload.global_batch={batch + 1}", code=3, environment=WITHOUT_MPI)

    def test_show_writes_the_graph_of_a_model(self):
        said = self.tessera("show", "gpt2", "--graph", "g.dot", "--sequence", "64", environment=WITHOUT_MPI).stdout
        # Embedding and its sum, 12 layers of 12 operators, norm and logits; 124,439,808 parameters.
        self.assertRegex(said, r"^gpt2: 148 nodes in \d+ segments, \d+ edges, 124439808 parameters, [\d.]+ GFLOP forward\n$")
        drawn = (self.folder / "g.dot").read_text()
        self.assertIn('label="layer11.mlp_residual', drawn)
        self.tessera("show", "gpt2", "--graph", "g.dot", code=4)
        self.tessera("show", "gpt2", "--graph", "g.dot", "--force")
        self.assertIn("unknown model", self.tessera("show", "gpt-2", "--graph", "x.dot", code=2).stderr)
        self.assertFalse((self.folder / "x.dot").exists())

    def test_the_timeline_holds_every_device(self):
        self.simulate("generation.toml", "out.h5", "--set", "record.timeline=true", ranks=2)
        self.tessera("timeline", "out.h5", "-o", "t.json", environment=WITHOUT_MPI)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.assertEqual(sorted(names[pid] for pid in {event["pid"] for event in events if event["ph"] == "X"}),
                         ["gpu 0", "gpu 1", "gpu 2", "gpu 3"])
        self.tessera("timeline", "out.h5", "-o", "t.json", code=4)
        self.tessera("timeline", "out.h5", "-o", "t.json", "--force")

    def test_the_trace_says_what_for(self):
        """Streams by name, collectives by bytes and group, passes by micro-batch, messages as arrows: on 2 ranks as on one."""
        self.simulate("training.toml", "out.h5", ranks=2)
        self.tessera("timeline", "out.h5", "-o", "two.json", environment=WITHOUT_MPI)
        self.simulate("training.toml", "one.h5")
        self.tessera("timeline", "one.h5", "-o", "one.json", environment=WITHOUT_MPI)
        self.assertEqual((self.folder / "two.json").read_text(), (self.folder / "one.json").read_text())
        events = json.loads((self.folder / "one.json").read_text())["traceEvents"]
        threads = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertIn("main stream: stage 0", threads)
        slices = [event for event in events if event["ph"] == "X"]
        batches = {event["args"]["micro_batch"] for event in slices if "micro_batch" in event.get("args", {})}
        self.assertEqual(batches, set(range(len(batches))))
        self.assertGreater(len(batches), 1)
        groups = {event["args"]["group"] for event in slices if "group" in event.get("args", {})}
        self.assertTrue(all(group.startswith("gpu ") for group in groups) and groups)
        ends = {"s": {}, "f": {}}
        for before, event in zip(events, events[1:]):
            if event["ph"] in ends:
                self.assertNotIn(event["id"], ends[event["ph"]])
                ends[event["ph"]][event["id"]] = event
                # It is bound to the slice that begins with it.
                self.assertEqual([before[key] for key in ("ph", "tid", "ts")], ["X", event["tid"], event["ts"]])
                self.assertGreater(before["args"]["bytes"], 0)
        self.assertEqual(set(ends["s"]), set(ends["f"]))
        self.assertGreater(len(ends["s"]), 0)
        for key, sent in ends["s"].items():
            self.assertLessEqual(sent["ts"], ends["f"][key]["ts"])
            self.assertNotEqual(sent["pid"], ends["f"][key]["pid"])

    def trace(self, *arguments):
        """Slices, their processes, and counters of a part of out.h5's timeline."""
        self.tessera("timeline", "out.h5", "-o", "t.json", "--force", *arguments, environment=WITHOUT_MPI)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        slices = [event for event in events if event["ph"] == "X"]
        return slices, {event["pid"] - 1 for event in slices}, [event for event in events if event["ph"] == "C"]

    def test_a_part_of_the_timeline(self):
        self.simulate("training.toml", "out.h5", ranks=2)
        whole, devices, changes = self.trace()
        self.assertEqual(devices, set(range(8)))
        strip = lambda events: [{key: value for key, value in event.items() if key != "tid"} for event in events]
        chosen, devices, counters = self.trace("--devices", "6,1-2,2")
        self.assertEqual(devices, {1, 2, 6})
        self.assertEqual(strip(chosen), strip([event for event in whole if event["pid"] - 1 in devices]))
        self.assertEqual(counters, [event for event in changes if event["pid"] - 1 in devices])
        # By the whole trace: what has a moment in the second quarter, in microseconds.
        end = max(event["ts"] + event["dur"] for event in whole)
        first, last = int(end / 4), int(end / 2)
        chosen, _, counters = self.trace("--from", f"{first} us", "--to", f"{last} us")
        self.assertEqual(strip(chosen), strip([event for event in whole if event["ts"] < last and
                                               (event["ts"] + event["dur"] > first or event["ts"] == first)]))
        # Each device and category begins with the level that it has then.
        level = {}
        for event in changes:
            if event["ts"] < first:
                level[event["pid"], event["name"]] = event["args"]["bytes"]
        begins = {}
        for event in counters:
            self.assertTrue(first <= event["ts"] < last)
            if event["ts"] == first:
                begins.setdefault((event["pid"], event["name"]), event["args"]["bytes"])
        self.assertEqual(begins, level)

    def test_a_part_that_is_not_there_is_refused(self):
        self.simulate("training.toml", "out.h5")
        for arguments, said in ((("--devices", "0,8-15"), "there is no timeline of device 15"), (("--devices", "x"), 'is no device or range'),
                                (("--devices", "3-1"), 'is no device or range'), (("--devices", "1,"), 'is no device or range'),
                                (("--devices", "-1"), 'is no device or range'), (("--from", "2 ms", "--to", "1 ms"), "--to must be later"),
                                (("--from", "3"), "--from: "), (("--to", "1 GB"), "--to: "), (("--from", "1000 s"), "when all is over")):
            done = self.tessera("timeline", "out.h5", "-o", "t.json", *arguments, code=2)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertNotIn("t.json", self.files())
        said = self.tessera("timeline", "out.h5", "-o", "out.h5", "--force", code=4).stderr
        self.assertEqual(said, "cannot write 'out.h5': it is 'out.h5', which is read\n")

    def test_a_file_without_a_timeline_says_how_to_record_one(self):
        self.simulate("generation.toml", "out.h5")
        self.assertIn("timeline", self.tessera("timeline", "out.h5", "-o", "t.json", code=2).stderr)
        self.assertNotIn("t.json", self.files())

    def test_a_file_of_another_kind_is_refused(self):
        (self.folder / "other.h5").write_text("no HDF5")
        self.tessera("show", "nowhere.h5", code=4)
        self.assertIn(self.tessera_code("show", "other.h5"), (2, 4))

    def tessera_code(self, *arguments):
        return subprocess.run([TESSERA, *arguments], cwd=self.folder, capture_output=True).returncode

    @unittest.skipUnless(shutil.which("h5diff"), "h5diff is not installed (package hdf5-tools)")
    def test_the_resolved_experiment_gives_the_same_result(self):
        self.simulate("training.toml", "given.h5", "--set", "strategy.micro_batch=2")
        resolved = self.tessera("check", "training.toml", "--set", "strategy.micro_batch=2").stdout
        (self.folder / "resolved.toml").write_text(resolved)
        self.simulate("resolved.toml", "resolved.h5")
        self.assert_same_results("given.h5", "resolved.h5")


if __name__ == "__main__":
    unittest.main()
