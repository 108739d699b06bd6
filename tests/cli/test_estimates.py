"""What check says of a run, beside the run."""

import os
import re
import subprocess
import time
import unittest

from harness import HERE, CliTest


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
        """Within a factor of two of one figure, or of what lies between two; with every round of every loop."""
        arguments = (*arguments, "--set", "simulation.laws=rings")
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
        for name in ("contention", "generation", "kernels-in-a-layer", "mixture", "primepar", "t3-switch", "training"):
            self.compare(f"{name}.toml")
        self.tessera("plan", "primepar-fused.toml", "-o", "plan.toml")  # nothing is known of what is still to be searched
        self.compare("primepar-fused.toml", "--plan", "plan.toml")

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

    def test_large_messages_of_all_to_all_at_once(self):
        # 126 messages of 254 kB in line at each device, eight NICs a node: queues of hundreds of MB, 5 events a packet and link.
        said = self.compare(self.script('step = [{ op = "all-to-all", group = "all", bytes = "32 MB" }]', "a100-80g-cluster"),
                            "--set", "machine.topology.nodes=16")
        self.assertRegex(said, r"memory per rank +unknown, at least \d+\.\d MB, at most \d+ MB")

    def test_messages_to_itself_and_a_billion_steps_without_an_event(self):
        self.compare(self.script("""
            step = [{ op = "send", shift = 0, bytes = "1 kB", repeat = 50000 }, { op = "receive", shift = 0, bytes = "1 kB", repeat = 50000 }]"""))
        self.compare(self.script('step = [{ op = "allocate", devices = "0", bytes = "1 B", repeat = 100000000 }]'))

    def test_devices_that_do_not_do_what_their_neighbours_do(self):
        # Even devices of 1024 multiply: 512 x 2 x 4096^3 FLOP. The last one alone sends, ten times.
        said = self.tessera("check", self.script("""
            step = [{ op = "gemm", devices = "0-1023/2", m = 4096, n = 4096, k = 4096 },
                    { op = "send", devices = "1023", peer = 0, bytes = "1 MB", repeat = 10 },
                    { op = "receive", devices = "0", peer = 1023, bytes = "1 MB", repeat = 10 }]"""), "--set", "machine.topology.devices=1024").stdout
        self.assertAlmostEqual(self.number("FLOP executed +about NUMBER", said) / (512 * 2 * 4096**3), 1, delta=0.01)
        self.assertAlmostEqual(self.number("bytes sent +about NUMBERB", said) / 1e7, 1, delta=0.01)
        self.assertNotIn("about", self.tessera("check", "training.toml").stdout)

    def test_what_depends_on_how_long_things_take_is_unknown(self):
        # Each message may have left before the next one is posted, or none.
        said = self.tessera("check", self.script("""
            block = [{ name = "pass", step = [{ op = "send", peer = 1, bytes = "1 kB" }, { op = "compute", flops = 1e9 }] }]
            step = [{ op = "run", devices = "0", block = "pass", repeat = 1000000 },
                    { op = "receive", devices = "1", peer = 0, bytes = "1 kB", repeat = 1000000 }]""")).stdout
        self.assertRegex(said, r"memory per rank +unknown, at least 32\.\d MB, at most \d+ MB")

    def test_what_cannot_fit_into_this_computer_is_refused_before_it_starts(self):
        # 300 million intervals of 64 B each.
        script = self.script("""
            step = [{ op = "compute", devices = "0", stream = 1, flops = 1e9 },
                    { op = "compute", devices = "0", flops = 1e9, repeat = 300000000 }]""")
        limited = ["bash", "-c", 'ulimit -v 4000000 && exec "$@"', "bash"]
        command = self.command(["run", script, "-o", "out.h5", "--progress", "off", "--set", "record.timeline=true"])
        start = time.monotonic()
        done = subprocess.run([*limited, *command], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr, r"^the simulation needs at least 5\.\d+ GB on this computer, which has 4\.10 GB \(ulimit -v\): use more ranks")
        self.assertLess(time.monotonic() - start, 20)
        self.assertNotIn("out.h5", self.files())
        check = subprocess.run([*limited, *self.command(["check", script, "--set", "record.timeline=true"])], cwd=self.folder,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0)
        self.assertIn("warning: the simulation needs at least", check.stderr)

    def test_memory_that_runs_out_on_the_way_is_no_internal_error(self):
        # What is surely needed (some 36 MB) fits; 1,000,000 intervals of 64 B do not.
        script = self.script("""
            step = [{ op = "compute", devices = "0", stream = 1, flops = 1e9 },
                    { op = "compute", devices = "0", flops = 1e9, repeat = 1000000 }]""")
        command = self.command(["run", script, "-o", "out.h5", "--progress", "off", "--set", "record.timeline=true"])
        done = subprocess.run(["bash", "-c", 'ulimit -d 50000 && exec "$@"', "bash", *command], cwd=self.folder, capture_output=True, text=True, timeout=120)
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
        # Of the eight sequences that come along; a quarter of them is as much work for a test as it needs.
        batch = 8 if "TESSERA_MANY_CASES" in os.environ else 2
        for configuration, reduced in (("sequential", 2048), ("t3-mca", 8192)):
            said = self.compare(sublayer, "--set", f"strategy.configuration={configuration}", "--set", f"workload.global_batch={batch}")
            # 1,024 x 4,256 elements of 2 B a sequence: 7/8 of them leave each of the eight GPUs twice, reduced and gathered. A
            # copying kernel sends 2 KiB at a time, a fused GEMM a wavefront's share of a tile, 8 KiB.
            sent = 2 * 7 * batch * 1024 * 4256 * 2
            self.assertAlmostEqual(self.number(r"bytes sent +NUMBERB in", said) / sent, 1, delta=0.01)
            self.assertAlmostEqual(self.number(r"in NUMBER messages", said) / (sent / 2 / reduced + sent / 2 / 2048), 1, delta=0.02)

    def test_small_kernels(self):
        for configuration in ("sequential", "t3-mca"):
            self.compare("t3.toml", "--set", f"strategy.configuration={configuration}")


if __name__ == "__main__":
    unittest.main()
