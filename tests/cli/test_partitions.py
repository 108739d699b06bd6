"""Strategy mcm: graphs cut over the chips of a package, searched, kept as plans and simulated."""

import re
import subprocess
import unittest

from harness import CliTest

SEARCHES = ("contiguous", "equal-nodes", "equal-time", "fill", "random", "annealing", "ppo")


class Partitions(CliTest):
    @staticmethod
    def interval(said):
        return re.search(r"^  interval +(.*)$", said, re.MULTILINE)[1]

    def test_what_a_search_finds_is_a_plan_that_run_takes(self):
        for search in SEARCHES:
            chosen = ("--set", f"strategy.search={search}", "--set", "strategy.sigma=1", "--set", "strategy.refine=true", "--set", "strategy.learning.epochs=1")
            searched = self.simulate("mcm.toml", "searched.h5", *chosen).stdout
            self.tessera("plan", "mcm.toml", "-o", "plan.toml", "--force", "--progress", "off", *chosen)
            given = self.simulate("mcm.toml", "given.h5", "--plan", "plan.toml").stdout
            self.assertEqual(self.interval(searched), self.interval(given))
            self.assert_same_results("searched.h5", "given.h5", but=("/search", "/predicted", "/learning"))

    def test_plan_history_and_result_are_the_same_on_any_number_of_ranks(self):
        for search in ("random", "annealing", "ppo"):
            chosen = ("--set", f"strategy.search={search}", "--set", "strategy.template=levels", "--set", "strategy.refine=true", "--set", "strategy.learning.epochs=1")
            for ranks in (1, 2, 3, 4):
                self.tessera("plan", "mcm.toml", "-o", f"{ranks}.toml", "--history", f"{ranks}.h5", "--force", "--progress", "off", *chosen, ranks=ranks)
                self.assertEqual((self.folder / f"{ranks}.toml").read_bytes(), (self.folder / "1.toml").read_bytes())
                self.assert_same_results("1.h5", f"{ranks}.h5")
                self.simulate("mcm.toml", f"run{ranks}.h5", "--plan", "1.toml", "--sync", "window" if ranks % 2 else "null-message", ranks=ranks)
                self.assert_same_results("run1.h5", f"run{ranks}.h5")

    def seconds_of(self, name):
        """Of each row of /search when it was known."""
        dump = subprocess.run(["h5dump", "-y", "-d", "/provenance/search_seconds", name], cwd=self.folder, capture_output=True, text=True).stdout
        rows = re.findall(r"\{\s*(\d+),\s*([0-9.e+-]+)\s*\}", dump)
        self.assertEqual([int(row) for row, _ in rows], list(range(len(rows))))
        return [float(seconds) for _, seconds in rows]

    def test_a_history_says_when_each_sample_was_known(self):
        chosen = ("--set", "strategy.search=annealing", "--set", "strategy.samples=20")
        self.tessera("plan", "mcm.toml", "-o", "plan.toml", "--history", "history.h5", "--progress", "off", *chosen)
        self.simulate("mcm.toml", "run.h5", *chosen)
        for name in ("history.h5", "run.h5"):
            # Exactly the samples: the start, nine steps of two chains, and one chain's.
            seconds = self.seconds_of(name)
            self.assertEqual(len(seconds), 20)
            self.assertEqual(seconds, sorted(seconds))
            self.assertTrue(0 < seconds[0] <= seconds[-1] < 600)
        # A plan leaves nothing to search, so nothing has a time.
        self.simulate("mcm.toml", "given.h5", "--plan", "plan.toml")
        self.assertEqual(self.seconds_of("given.h5"), [])

    def test_a_history_can_be_shown_and_is_refused_where_nothing_is_searched(self):
        self.tessera("plan", "mcm.toml", "-o", "plan.toml", "--history", "history.h5", "--set", "strategy.search=random", "--progress", "off")
        said = self.tessera("show", "history.h5")
        self.assertRegex(said.stdout, r"random \d+ \(taken\)")
        self.assertRegex(said.stdout, r"and 54 more in /search")
        self.assertEqual(said.stderr, "")
        done = self.tessera("plan", "mcm.toml", "--plan", "plan.toml", "-o", "again.toml", "--history", "again.h5", code=2)
        self.assertEqual(done.stderr, "--history: nothing is searched, since [strategy] leaves nothing open\n")
        self.assertNotIn("again.h5", self.files())

    def test_a_search_that_finds_nothing_leaves_its_history(self):
        for ranks in (None, 2):
            done = self.tessera("plan", "mcm.toml", "-o", "plan.toml", "--history", "history.h5", "--force", "--set", "strategy.search=random",
                                "--set", "machine.device.memory_capacity=1.5 MB", "--progress", "off", ranks=ranks, code=3)
            self.assertIn("search random has found no partition that fits; the last of 60 that were tried: device chiplet", done.stderr)
            self.assertNotIn("--allow-oversubscription", done.stderr)
            self.assertNotIn("plan.toml", self.files())
            self.tessera("show", "history.h5")
            (self.folder / "history.h5").unlink()

    def test_a_history_of_the_analytical_model_is_shown(self):
        self.tessera("plan", "mcm.toml", "-o", "plan.toml", "--history", "history.h5", "--set", "strategy.evaluator=analytic", "--progress", "off")
        self.assertRegex(self.tessera("show", "history.h5").stdout, r"by the model it asks +predicted +estimated\n  contiguous \(taken\)")

    def test_latency_is_the_time_of_one_input(self):
        said = self.simulate("mcm.toml", "out.h5", "--set", "strategy.objective=latency").stdout
        self.assertRegex(said, r"inputs 1,")
        self.assertNotRegex(said, r"(?m)^  interval")
        one_chip = self.simulate("mcm.toml", "out.h5", "--set", "strategy.objective=latency", "--set", "strategy.chips=1").stdout
        self.assertRegex(one_chip, r"chips 1 of 1")

    def test_networks_side_by_side_are_planned_shown_and_simulated_as_one_graph(self):
        (self.folder / "pair.toml").write_text('side_by_side = ["squeezenet-1.1", "mobilenet-v3-small"]\n')
        self.assertRegex(self.tessera("show", "pair.toml", "--graph", "pair.dot").stdout, r"^SqueezeNet 1.1 \+ MobileNet v3 small: \d+ nodes")
        self.assertIn("squeezenet-1.1/", (self.folder / "pair.dot").read_text())
        own = ("--set", "workload.sequence=2048", "--set", "workload.datatype=fp16")  # the defaults: a graph has lengths and datatypes of its own
        chosen = ("--set", "model=pair.toml", *own)
        self.tessera("plan", "mcm.toml", "-o", "plan.toml", "--progress", "off", *chosen)
        self.assertIn("mobilenet-v3-small/", (self.folder / "plan.toml").read_text())
        for ranks in (1, 3):
            self.simulate("mcm.toml", f"run{ranks}.h5", "--plan", "plan.toml", *chosen, ranks=ranks)
        self.assert_same_results("run1.h5", "run3.h5")
        other = self.tessera("run", "mcm.toml", "-o", "other.h5", "--plan", "plan.toml", "--set", "model=squeezenet-1.1", *own, "--progress", "off", code=2)
        self.assertIn("model", other.stderr)

    def test_check_says_what_is_to_be_searched(self):
        said = self.tessera("check", "mcm.toml").stdout
        self.assertRegex(said, r"#   to be searched +partition of 370 nodes over 6 chips \(search contiguous\)")

    def test_a_partition_that_does_not_fit_is_an_outcome_or_a_warning(self):
        # The analytic model knows no memory: what it finds need not fit.
        small = ("--set", "machine.device.memory_capacity=2 MB", "--set", "strategy.evaluator=analytic", "--progress", "off")
        done = self.tessera("run", "mcm.toml", "-o", "out.h5", *small, code=3)
        self.assertRegex(done.stderr, r"^device chiplet \d needs .* but has 2.00 MB .*: weights .*, activations .*, buffers ")
        self.tessera("run", "mcm.toml", "-o", "out.h5", *small, "--allow-oversubscription")


if __name__ == "__main__":
    unittest.main()
