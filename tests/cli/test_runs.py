"""Runs under mpirun: determinism, outputs, signals."""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import HERE, CliTest


class Determinism(CliTest):
    """The same bits on 1, 2, 3 and 4 ranks and with both synchronisers."""

    def check(self, experiment, *arguments):
        self.simulate(experiment, "reference.h5", *arguments)
        for ranks in (1, 2, 3, 4):
            for synchroniser in ("window", "null-message"):
                output = f"{synchroniser}-{ranks}.h5"
                self.simulate(experiment, output, "--sync", synchroniser, *arguments, ranks=ranks)
                self.assert_same_results("reference.h5", output)


@unittest.skipUnless(shutil.which("h5diff"), "h5diff is not installed (package hdf5-tools)")
class DeterminismOfExperiments(Determinism):
    def test_a_training_iteration_with_all_records(self):
        self.check("training.toml")

    def test_flows_that_share_links_on_a_wafer_with_faults(self):
        self.check("contention.toml")

    def test_kernels(self):
        for configuration in ("sequential", "t3", "t3-mca", "ideal-rs-nmc"):
            self.check("t3.toml", "--set", f"strategy.configuration={configuration}")
        for collective in ("ring-all-gather", "direct-all-gather"):
            self.check("t3.toml", "--set", f"strategy.collective={collective}")
        self.check("t3.toml", "--set", "strategy.reduction=atomics")
        for configuration in ("sequential", "t3"):
            self.check("t3.toml", "--set", "strategy.input=ring-all-gather", "--set", f"strategy.configuration={configuration}")
        self.check("t3-switch.toml")
        for collective in ("send", "all-to-all"):
            for configuration in ("sequential", "t3"):
                self.check("t3-switch.toml", "--set", "strategy.reduction=near-memory", "--set", f"strategy.collective={collective}",
                           "--set", f"strategy.configuration={configuration}")
        self.check("t3.toml", "--set", "strategy.following=near-memory", "--set", "strategy.configuration=t3")

    def test_kernels_among_operators(self):
        self.check("kernels-in-a-layer.toml")

    def test_operators_cut_in_space_and_time(self):
        self.check("primepar.toml")
        self.check("primepar-search.toml")
        stages = ("strategy.graph=layer", "model.layers=4", "strategy.pipeline=2", "strategy.micro_batches=4", "strategy.overlap_gradient_reduction=true",
                  "strategy.recomputation=true")
        self.check("primepar-search.toml", *[word for stage in stages for word in ("--set", stage)])

    def test_partitions_whose_sums_are_fused(self):
        self.check("primepar-fused.toml")

    def test_a_mixture_of_experts(self):
        self.check("mixture.toml")

    def test_prompt_and_generation(self):
        self.check("generation.toml", "--set", "workload.phase=prompt")
        self.check("generation.toml")

    def test_the_partition_is_no_result(self):
        self.simulate("training.toml", "auto.h5", ranks=2)
        for partition in ("block", "metis"):
            self.simulate("training.toml", f"{partition}.h5", "--set", f"simulation.partition={partition}", ranks=2)
            self.assert_same_results("auto.h5", f"{partition}.h5")

    def test_the_seed_is_one(self):
        self.simulate("mixture.toml", "one.h5", "--seed", 1)
        self.simulate("mixture.toml", "two.h5", "--seed", 2)
        with self.assertRaises(AssertionError):
            self.assert_same_results("one.h5", "two.h5")


class Outputs(CliTest):
    def test_an_existing_output_is_left_alone_without_force(self):
        (self.folder / "out.h5").write_text("precious")
        self.tessera("run", "training.toml", "-o", "out.h5", code=4, ranks=2)
        self.assertEqual((self.folder / "out.h5").read_text(), "precious")
        self.simulate("training.toml", "out.h5", ranks=2)
        self.tessera("show", "out.h5")

    def test_a_run_leaves_its_output_and_nothing_else(self):
        before = self.files()
        self.simulate("training.toml", "out.h5", ranks=3)
        self.assertEqual(self.files(), sorted([*before, "out.h5"]))

    def test_a_file_that_is_read_is_no_output_under_whatever_name(self):
        machine = "name = 'm'\ninclude = 'v100-ring'\n"
        (self.folder / "m.toml").write_text(machine)
        text = (self.folder / "training.toml").read_text()
        experiment = self.folder / "e.toml"
        experiment.write_text(text)
        os.link(experiment, self.folder / "hard.toml")
        os.symlink("e.toml", self.folder / "soft.toml")
        os.symlink("nowhere.h5", self.folder / "dangling.h5")
        before = self.files()
        for name in ("e.toml", "hard.toml", "soft.toml", str(experiment)):
            for command in ("run", "plan", "check"):
                said = self.tessera(command, "e.toml", "-o", name, "--force", code=4).stderr
                self.assertEqual(said, f"cannot write '{name}': it is 'e.toml', which is read\n")
        said = self.tessera("run", "e.toml", "-o", "dangling.h5", "--force", code=4).stderr
        self.assertEqual(said, "cannot write 'dangling.h5': it is a link to 'nowhere.h5', which does not exist\n")
        self.tessera("plan", "e.toml", "-o", "plan.toml")
        said = self.tessera("run", "e.toml", "--plan", "plan.toml", "-o", "plan.toml", "--force", code=4, ranks=2).stderr
        self.assertIn("cannot write 'plan.toml': it is 'plan.toml', which is read\n", said)
        self.assertEqual(experiment.read_text(), text)
        self.assertEqual(self.files(), sorted([*before, "plan.toml"]))

    def test_a_machine_and_a_model_that_are_included_are_no_outputs(self):
        shipped = HERE.parents[1] / "inputs"
        shutil.copy(shipped / "machines" / "v100-ring.toml", self.folder / "m.toml")
        shutil.copy(shipped / "models" / "gpt2.json", self.folder / "config.json")
        (self.folder / "e.toml").write_text('machine = "m.toml"\n[model]\nhugging_face = "config.json"\n[workload]\nsequence = 64\n'
                                            '[strategy]\nname = "megatron"\n')
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        for name in ("m.toml", "config.json"):
            said = self.tessera("run", "e.toml", "-o", name, "--force", code=4).stderr
            self.assertRegex(said, rf"^cannot write '{name}': it is '(\./)?{name}', which is read\n$")
        self.assertEqual({name: (self.folder / name).read_bytes() for name in self.files()}, before)

    def test_a_link_to_an_output_stays_one(self):
        (self.folder / "scratch").mkdir()
        (self.folder / "scratch" / "out.h5").write_text("old")
        os.symlink("scratch/out.h5", self.folder / "out.h5")
        self.tessera("run", "training.toml", "-o", "out.h5", code=4)
        self.simulate("training.toml", "out.h5", ranks=2)
        self.assertTrue((self.folder / "out.h5").is_symlink())
        self.assertEqual(os.listdir(self.folder / "scratch"), ["out.h5"])
        self.tessera("show", "scratch/out.h5")

    def test_a_job_that_does_not_fit_runs_when_it_may(self):
        small = ("--set", "machine.device.memory_capacity=10 MB")
        self.assertIn("needs 47.7 MB but has 10.0 MB", self.tessera("run", "training.toml", "-o", "out.h5", *small, code=3, ranks=2).stderr)
        done = self.simulate("training.toml", "out.h5", *small, "--allow-oversubscription", ranks=2)
        self.assertIn("warning:", done.stderr)


class Searches(CliTest):
    """Partitions that strategy primepar chooses by itself."""

    def plan(self, *arguments):
        """Partitions by operator, predicted and simulated seconds."""
        said = self.simulate("primepar-search.toml", "out.h5", "--force", *arguments).stdout
        partitions = dict(re.findall(r"(\w+)\s+(\{[^}]*\})", said))
        predicted, simulated = [float(re.search(name + r"\s+([\d.]+) ms", said)[1]) for name in ("predicted time", "iteration time")]
        return partitions, predicted, simulated

    def test_what_is_predicted_is_simulated(self):
        for arguments in ((), ("--set", "strategy.temporal=false"), ("--set", "workload.global_batch=1")):
            partitions, predicted, simulated = self.plan(*arguments)
            self.assertEqual(list(partitions), ["fc1", "activation", "fc2"])
            self.assertAlmostEqual(simulated / predicted, 1, delta=0.05)
            if "strategy.temporal=false" in arguments:
                self.assertNotIn("P", str(partitions))

    def test_gradients_summed_beside_the_backward_pass_change_the_plan(self):
        _, alone, _ = self.plan()
        _, beside, simulated = self.plan("--set", "strategy.overlap_gradient_reduction=true")
        self.assertLess(beside, alone)
        self.assertLess(simulated, alone)

    def test_a_forward_pass_again_is_predicted_and_simulated(self):
        _, once, _ = self.plan()
        _, again, simulated = self.plan("--set", "strategy.recomputation=true")
        self.assertGreater(again, once)
        self.assertAlmostEqual(simulated / again, 1, delta=0.05)

    def test_stages_of_a_pipeline_are_predicted_and_simulated(self):
        layers = ("--set", "strategy.graph=layer", "--set", "model.layers=4", "--set", "strategy.pipeline=2", "--set", "strategy.micro_batches=4")
        said = self.simulate("primepar-search.toml", "out.h5", *layers).stdout
        predicted, simulated = [float(re.search(name + r"\s+([\d.]+) ms", said)[1]) for name in ("predicted time", "iteration time")]
        self.assertAlmostEqual(simulated / predicted, 1, delta=0.15)  # stages wait for each other less than for the slowest
        self.assertIn("pipeline communication", said)

    def test_sums_at_transaction_level_are_predicted_and_simulated(self):
        times = {}
        for level in ("sequential", "t3", "t3-mca"):
            said = self.simulate("primepar-fused.toml", "out.h5", "--set", f"strategy.sublayers={level}").stdout
            times[level], predicted = [float(re.search(name + r"\s+([\d.]+) [mu]s", said)[1]) for name in ("iteration time", "predicted time")]
            self.assertAlmostEqual(times[level] / 1000 / predicted, 1, delta=0.05)
        self.assertLess(times["t3"], times["sequential"])

    def test_what_is_found_fits(self):
        roomy, fast, _ = self.plan()
        tight, slower, _ = self.plan("--set", "machine.device.memory_capacity=400 MB")
        self.assertNotEqual(roomy, tight)
        self.assertGreater(slower, fast)
        refused = self.tessera("run", "primepar-search.toml", "-o", "never.h5", "--set", "machine.device.memory_capacity=100 MB", code=3)
        self.assertIn("but has 100 MB", refused.stderr)

    def test_what_is_found_is_no_worse_than_what_is_given(self):
        _, best, _ = self.plan()
        for fc1 in ("{B, B}", "{K, K}", "{B, K}"):
            partitions, predicted, _ = self.plan("--set", f"strategy.partitions.fc1={fc1}")
            self.assertEqual(partitions["fc1"], fc1)
            self.assertGreaterEqual(predicted, best)


class Plans(CliTest):
    """tessera plan, and run --plan."""

    def plan(self, output, *arguments, ranks=None, code=0):
        return self.tessera("plan", "primepar-search.toml", "-o", output, *arguments, ranks=ranks, code=code)

    def refused(self, line, *arguments):
        """By run, in one line."""
        said = self.tessera("run", "primepar-search.toml", "--plan", "plan.toml", "-o", "never.h5", *arguments, code=2).stderr
        self.assertEqual(said, line + "\n")
        self.assertNotIn("never.h5", self.files())

    def test_a_plan_is_the_same_on_any_number_of_ranks_and_runs_as_the_search_does(self):
        said = self.plan("plan.toml", ranks=1).stdout
        text = (self.folder / "plan.toml").read_text()
        self.assertEqual(said, text)
        self.assertRegex(text, r'fc1 = "\{.*\}"')
        self.assertRegex(text, r'all = "[\d.]+ ms"')
        for ranks in (2, 3, 4):
            self.plan(f"plan-{ranks}.toml", ranks=ranks)
            self.assertEqual((self.folder / f"plan-{ranks}.toml").read_text(), text)
        self.simulate("primepar-search.toml", "searched.h5", ranks=2)
        self.simulate("primepar-search.toml", "planned.h5", "--plan", "plan.toml")
        self.assert_same_results("searched.h5", "planned.h5")

    def test_what_was_measured_before_changes_nothing(self):
        text = self.plan("plan.toml").stdout
        self.assertEqual(self.plan("kept.toml", "--cache", "new/cache", ranks=2).stdout, text)
        (kept,) = (self.folder / "new" / "cache").iterdir()
        lines = kept.read_text()
        self.assertIn("all-reduce", lines)
        self.assertEqual(self.plan("again.toml", "--cache", "new/cache", ranks=3).stdout, text)
        self.assertEqual(kept.read_text(), lines)
        kept.write_text(lines[:-20])  # is not believed, and replaced
        self.assertEqual(self.plan("cut.toml", "--cache", "new/cache").stdout, text)
        self.assertEqual(kept.read_text(), lines)
        self.plan("other.toml", "--cache", "new/cache", "--set", "machine.topology.nic_bandwidth=1 GB/s")
        self.assertEqual(len(list(kept.parent.iterdir())), 2)

    def test_settings_come_over_the_plan(self):
        self.plan("plan.toml")
        said = self.simulate("primepar-search.toml", "out.h5", "--plan", "plan.toml", "--set", "strategy.partitions.fc1={B, B}").stdout
        self.assertIn("fc1 {B, B}", said)

    def test_every_strategy_has_a_plan(self):
        self.tessera("plan", "training.toml", "-o", "plan.toml")
        self.simulate("training.toml", "as-given.h5")
        self.simulate("training.toml", "planned.h5", "--plan", "plan.toml")
        self.assert_same_results("as-given.h5", "planned.h5")

    def test_a_plan_for_something_else_is_refused(self):
        self.plan("plan.toml")
        made_for = "plan.toml:{}: the plan was made for another {} than the experiment's: for this one, tessera plan makes a new plan"
        self.refused(made_for.format("4:11", "machine"), "--set", "machine.topology.nvlink_bandwidth=49 GB/s")
        self.refused(made_for.format("5:9", "model"), "--set", "model.hidden=2048")
        self.simulate("primepar-search.toml", "out.h5", "--plan", "plan.toml", "--set", "workload.global_batch=2")

    def test_a_file_that_is_no_plan_is_refused(self):
        plan = self.folder / "plan.toml"
        self.refused("plan.toml: there is no such file")
        self.plan("plan.toml")
        text = plan.read_text()
        plan.write_text(text.replace("[plan]\n", "[plans]\n"))
        self.assertIn("[plan]", self.tessera("run", "primepar-search.toml", "--plan", "plan.toml", "-o", "never.h5", code=2).stderr)
        plan.write_text(text + "\n[machine]\nname = 'other'\n")
        self.refused(f'plan.toml:{len(text.splitlines()) + 2}:2: unknown key "machine" in a plan file, allowed: plan, strategy')
        plan.write_text("".join(line for line in text.splitlines(True) if not line.startswith("model = ")))
        self.refused("plan.toml:2:1: the plan names no model, and the experiment has one: for this one, tessera plan makes a new plan")
        plan.write_text(text.replace("machine = ", "machines = "))
        self.assertIn('unknown key "machines"', self.tessera("check", "primepar-search.toml", "--plan", "plan.toml", code=2).stderr)

    def test_what_does_not_fit_is_no_plan(self):
        self.assertIn("but has 100 MB", self.plan("plan.toml", "--set", "machine.device.memory_capacity=100 MB", code=3).stderr)
        self.assertNotIn("plan.toml", self.files())
        self.plan("plan.toml")
        self.assertIn("plan.toml", self.plan("plan.toml", code=4).stderr)  # exists; --force replaces it
        self.plan("plan.toml", "--force")


class Estimates(CliTest):
    """What check says of a run beforehand: events within a factor of two, messages and bytes as they are sent."""

    PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

    def number(self, pattern, text):
        found = re.search(pattern.replace("NUMBER", r"([\d.,]+) ?([kMGT]?)"), text)
        self.assertTrue(found, f"no {pattern} in\n{text}")
        return float(found[1].replace(",", "")) * self.PREFIXES[found[2]]

    def range(self, what, text):
        """What a line says: the least and the most, equal where it is one figure."""
        line = re.search(rf"{what} per rank +(.*)", text)[1]
        numbers = [self.number("NUMBER", part) for part in re.findall(r"\d[\d.]* ?[kMGT]?", line)]
        self.assertEqual(len(numbers), 1 if "up to" not in line and "unknown" not in line else 2, line)
        return numbers[0], numbers[-1]

    def measure(self, experiment, *arguments):
        """Events and peak resident memory of a run, as the summary and the operating system say."""
        with open(self.folder / "said.txt", "w") as said:
            process = subprocess.Popen(self.command(["run", experiment, "-o", "out.h5", "--progress", "off", "--force", *arguments]),
                                       cwd=self.folder, stdout=said, stderr=subprocess.PIPE, text=True)
            error = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
        process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, f"{experiment} {arguments}\n{error}")
        return self.number(r"s: NUMBER events", (self.folder / "said.txt").read_text()), 1024 * usage.ru_maxrss

    def compare(self, experiment, *arguments):
        """Within a factor of two of one figure, or of what lies between two."""
        said = self.tessera("check", experiment, *arguments).stdout
        for what, is_so in zip(("events", "memory"), self.measure(experiment, *arguments)):
            least, most = self.range(what, said)
            self.assertTrue(least / 2 <= is_so <= 2 * most, f"{experiment} {arguments}: {what} {least:.3g} to {most:.3g}, it takes {is_so:.3g}")
        return said

    def script(self, text, machine="v100-ring"):
        (self.folder / "script.toml").write_text(f'machine = "{machine}"\n[strategy]\nname = "script"\n' + text)
        return "script.toml"

    def test_experiments_that_come_along(self):
        inputs = HERE.parents[1] / "inputs" / "experiments"
        names = [f"collectives/{name}" for name in ("chained-ring-8", "hierarchical-a100", "mesh-32x32", "ring-64", "ring-8", "stage-to-stage")]
        for name in [*names, "megatron/22b-full", "megatron/22b-selective", "primepar/mlp", "t3/iteration"]:
            self.compare(inputs / f"{name}.toml")

    def test_experiments_of_these_tests(self):
        for name in ("contention", "generation", "kernels-in-a-layer", "mixture", "primepar-fused", "primepar", "t3-switch", "training"):
            self.compare(f"{name}.toml")

    def test_a_second_stream_makes_each_repeat_an_event(self):
        self.compare(self.script("""
            step = [{ op = "compute", devices = "0", stream = 1, flops = 1e9 },
                    { op = "compute", devices = "0", flops = 1e9, repeat = 300000 }]"""))
        said = self.compare("script.toml", "--set", "record.timeline=true")
        self.assertGreater(self.range("memory", said)[1], 40e6)

    def test_neither_a_slow_clock_nor_short_intervals_of_traffic_take_memory(self):
        for setting in ("machine.device.clock=1 Hz", "record.traffic_interval=1 ps"):
            self.compare("t3.toml", "--set", setting)

    def test_an_all_to_all_of_all_at_once(self):
        said = self.compare(self.script('step = [{ op = "all-to-all", group = "all", bytes = "1 MB" }]', "a100-80g-cluster"),
                            "--set", "machine.topology.nodes=28")
        self.assertGreater(self.range("memory", said)[1], 45e6)

    def test_what_depends_on_how_long_things_take_is_unknown(self):
        # Each message may have left before the next one is posted, or none.
        said = self.tessera("check", self.script("""
            block = [{ name = "pass", step = [{ op = "send", peer = 1, bytes = "1 kB" }, { op = "compute", flops = 1e9 }] }]
            step = [{ op = "run", devices = "0", block = "pass", repeat = 1000000 },
                    { op = "receive", devices = "1", peer = 0, bytes = "1 kB", repeat = 1000000 }]""")).stdout
        self.assertRegex(said, r"memory per rank +unknown, at least 32\.\d MB, at most \d+ MB")

    def test_what_cannot_fit_into_this_computer_is_refused_before_it_starts(self):
        # 300 million intervals of at least 32 B each.
        script = self.script("""
            step = [{ op = "compute", devices = "0", stream = 1, flops = 1e9 },
                    { op = "compute", devices = "0", flops = 1e9, repeat = 300000000 }]""")
        limited = ["bash", "-c", 'ulimit -v 4000000 && exec "$@"', "bash"]
        command = self.command(["run", script, "-o", "out.h5", "--progress", "off", "--set", "record.timeline=true"])
        start = time.monotonic()
        done = subprocess.run([*limited, *command], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, r"^the simulation needs at least \d\.\d\d GB on this computer, which has 4\.10 GB \(ulimit -v\): use more ranks")
        self.assertLess(time.monotonic() - start, 20)
        self.assertNotIn("out.h5", self.files())
        check = subprocess.run([*limited, *self.command(["check", script, "--set", "record.timeline=true"])], cwd=self.folder,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0)
        self.assertIn("warning: the simulation needs at least", check.stderr)

    def test_memory_that_runs_out_on_the_way_is_no_internal_error(self):
        # Half of what is expected fits; 1 million intervals of 32 B, copied once while the vector grows, do not.
        script = self.script("""
            step = [{ op = "compute", devices = "0", stream = 1, flops = 1e9 },
                    { op = "compute", devices = "0", flops = 1e9, repeat = 1000000 }]""")
        command = self.command(["run", script, "-o", "out.h5", "--progress", "off", "--set", "record.timeline=true"])
        done = subprocess.run(["bash", "-c", 'ulimit -d 70000 && exec "$@"', "bash", *command], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertNotIn("internal error", done.stderr)
        self.assertNotIn("out.h5", self.files())

    def test_64000_devices_are_checked_in_seconds(self):
        inputs = HERE.parents[1] / "inputs" / "experiments"
        many = ("--set", "machine.topology.nodes=8000")
        start = time.monotonic()
        self.tessera("check", inputs / "gpt3-175b.toml", *many, "--set", "workload.global_batch=64000", "--ranks", 1000)
        self.tessera("check", inputs / "collectives" / "hierarchical-a100.toml", *many)
        self.assertLess(time.monotonic() - start, 120)  # 5 s on an idle machine

    def test_a_sublayer_at_transaction_level(self):
        sublayer = HERE.parents[1] / "inputs" / "experiments" / "t3" / "sublayer.toml"
        for configuration, reduced in (("sequential", 2048), ("t3-mca", 8192)):
            said = self.compare(sublayer, "--set", f"strategy.configuration={configuration}")
            # 8,192 x 4,256 elements of 2 B: 7/8 of them leave each of the eight GPUs twice, reduced and gathered. A copying
            # kernel sends 2 KiB at a time, a fused GEMM a wavefront's share of a tile, 8 KiB.
            sent = 2 * 7 * 8192 * 4256 * 2
            self.assertAlmostEqual(self.number(r"bytes sent +NUMBERB in", said) / sent, 1, delta=0.01)
            self.assertAlmostEqual(self.number(r"in NUMBER messages", said) / (sent / 2 / reduced + sent / 2 / 2048), 1, delta=0.02)

    def test_small_kernels(self):
        for configuration in ("sequential", "t3-mca"):
            self.compare("t3.toml", "--set", f"strategy.configuration={configuration}")


class Launchers(CliTest):
    def test_processes_that_are_alone_in_mpi_are_refused_by_the_first_of_them(self):
        # As srun leaves them without --mpi=pmix.
        first = self.tessera("run", "training.toml", "-o", "out.h5", code=2,
                             environment={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"})
        self.assertIn("2 processes were started, but each is alone in MPI", first.stderr)
        other = self.tessera("run", "training.toml", "-o", "out.h5", code=2,
                             environment={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"})
        self.assertEqual(other.stderr, "")
        self.assertNotIn("out.h5", self.files())


class Signals(CliTest):
    def test_a_search_ends_at_once_and_leaves_no_file(self):
        before = self.files()
        for ranks in (None, 2):
            process = subprocess.Popen(self.command(["plan", "primepar-search.toml", "-o", "plan.toml", "--set", "machine.topology.nodes=32"], ranks),
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            time.sleep(2)
            self.assertIsNone(process.poll(), "the search is over before it is interrupted")
            process.send_signal(signal.SIGTERM)
            start = time.monotonic()
            process.wait(timeout=60)
            self.assertLess(time.monotonic() - start, 5)
            self.assertEqual(self.files(), before)
            if ranks is None:
                self.assertEqual(process.returncode, -signal.SIGTERM)

    @staticmethod
    def rank_processes(launcher):
        """Processes that mpirun has started and that run the program itself, by number."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rpartition(")")[2].split()[1])
                with open(f"/proc/{entry}/cmdline") as words:
                    runs = "run\0long.toml" in words.read()
            except (OSError, ValueError, IndexError):
                continue
            if runs and parent == launcher:
                found.append(int(entry))
        return sorted(found)

    def interrupted(self, ranks, sent, experiment="long.toml", of_ranks=None):
        """Starts a run of minutes, waits until it simulates, sends the signal to what was started, or to some of its ranks; returns the exit code."""
        before = self.files()
        command = self.command(["run", experiment, "-o", "out.h5", "--progress", "bar"], ranks)
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        shown = b""
        while b"simulated" not in shown:
            part = os.read(process.stderr.fileno(), 4096)
            self.assertTrue(part, "the run ended before it was interrupted: " + shown.decode())
            shown += part
        targets = [process.pid] if of_ranks is None else self.rank_processes(process.pid)[of_ranks]
        self.assertTrue(targets)
        for target in targets:
            os.kill(target, sent)
        start = time.monotonic()
        process.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(self.files(), before)
        return process.returncode

    def test_sigterm_to_mpirun_ends_all_ranks_and_leaves_no_file(self):
        code = self.interrupted(2, signal.SIGTERM)
        # MPICH's launcher reports 0 for a job that it was told to end, whatever the ranks say.
        if "mpich" not in os.environ.get("TESSERA_LAUNCHER", ""):
            self.assertNotEqual(code, 0)

    @unittest.skipIf("mpich" in os.environ.get("TESSERA_LAUNCHER", ""), "ranks are started by a helper of mpiexec's")
    def test_a_signal_to_one_rank_ends_all_with_the_documented_code(self):
        self.assertEqual(self.interrupted(2, signal.SIGTERM, of_ranks=slice(1, 2)), 4)
        self.assertEqual(self.interrupted(2, signal.SIGKILL, of_ranks=slice(0, 1)), 128 + signal.SIGKILL)

    def test_sigterm_without_mpirun(self):
        self.assertNotEqual(self.interrupted(None, signal.SIGTERM), 0)

    def test_sigint_without_mpirun(self):
        self.assertNotEqual(self.interrupted(None, signal.SIGINT), 0)

    def test_sigterm_while_one_step_repeats_without_an_event(self):
        for ranks in (None, 2):
            start = time.monotonic()
            self.interrupted(ranks, signal.SIGTERM, "repeats.toml")
            self.assertLess(time.monotonic() - start, 30)  # all repeats take minutes


@unittest.skipUnless(shutil.which("h5diff"), "h5diff is not installed (package hdf5-tools)")
class Counters(CliTest):
    """Sums beyond 2^63, which a long run reaches in time."""

    def test_flop_of_eight_hours_and_more(self):
        # 20 x 10^18 FLOP a device at 100 TFLOP/s and an efficiency of 1 take 55.6 h; 2^63 is 9.2 x 10^18.
        said = self.simulate("large-sums.toml", "out.h5").stdout
        self.assertRegex(said, r"iteration time +200000 s")
        checked = self.tessera("check", "large-sums.toml").stdout
        self.assertRegex(checked, r"FLOP executed +160 E\n")
        self.assertRegex(checked, r"bytes sent +24\.0 EB in 24 messages")
        # Three messages of 1 EB from each of eight devices.
        self.assertRegex(said, r"ring +16 +24 EB")
        dump = subprocess.run(["h5dump", "-d", "/devices", "out.h5"], cwd=self.folder, capture_output=True, text=True).stdout
        self.assertEqual(dump.count("2e+19"), 8)
        self.assertEqual(dump.count("3e+18"), 16)  # sent and received
        self.simulate("large-sums.toml", "three.h5", ranks=3)
        self.assert_same_results("out.h5", "three.h5")


if __name__ == "__main__":
    unittest.main()
