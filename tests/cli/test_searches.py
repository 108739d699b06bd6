"""Searches of a strategy, and the plans that they leave."""

import re
import subprocess
import time
import unittest

from harness import CliTest


# Some 20,000 candidates, of which each takes seconds to simulate.
LARGE = """
title = "Llama 3 70B, 131,072 tokens, 128 H100s"
machine = { include = "h100-cluster", topology.nodes = 16 }
model = { include = "llama3-70b", max_positions = 131072 }
workload = { sequence = 131072, global_batch = 512, flash_attention = true, datatype = "bf16" }
[strategy]
name = "megatron"
tensor = [1, 2, 4, 8, 16, 32, 64]
pipeline = "any"
micro_batch = "any"
interleave = "any"
schedule = "any"
recomputation = "any"
sequence_parallel = "any"
distributed_optimizer = "any"
overlap_gradient_reduction = "any"
"""


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

    def test_the_plan_that_is_taken_is_no_slower_than_those_that_are_given_and_those_without_p(self):
        linears = {"baseline": ("{B,K}", "{B,F}", "{B,N}"), "all tensor parallel": ("{K,K}", "{F,F}", "{N,N}"), "P": ("{P(2x2)}", "{M,F}", "{P(2x2)}")}
        for more in ((), ("--set", "collectives.all_reduce=hierarchical"), ("--set", "strategy.overlap_gradient_reduction=true")):
            _, _, best = self.plan(*more)
            _, _, spatial = self.plan("--set", "strategy.temporal=false", *more)
            self.assertLessEqual(best, spatial)
            for name, texts in linears.items():
                given = [word for key, text in zip(("fc1", "activation", "fc2"), texts) for word in ("--set", f"strategy.partitions.{key}={text}")]
                _, _, simulated = self.plan(*given, *more)
                self.assertLessEqual(best, simulated, f"{name} {more}")
                if name != "P":
                    self.assertLessEqual(spatial, simulated, f"{name} {more}")

    def test_a_search_simulates_the_same_plans_on_any_number_of_ranks(self):
        self.simulate("primepar-search.toml", "one.h5")
        for ranks, synchroniser in ((1, "null-message"), (2, "window"), (3, "null-message"), (4, "window")):
            self.simulate("primepar-search.toml", "more.h5", "--sync", synchroniser, ranks=ranks)
            self.assert_same_results("one.h5", "more.h5")
        said = self.tessera("show", "one.h5").stdout
        self.assertIn("plans of the search, by simulated time", said)
        self.assertRegex(said, r"search.*\(taken\)")

    def test_no_plan_is_simulated_where_none_is_asked_for(self):
        said = self.simulate("primepar-search.toml", "out.h5", "--set", "strategy.simulated=0").stdout
        self.assertNotIn("plans of the search", said)
        _, predicted, _ = self.plan("--set", "strategy.simulated=0")
        first = self.tessera("plan", "primepar-search.toml", "-o", "plan.toml").stdout.split("[plan.candidates]")[1]
        self.assertAlmostEqual(float(re.search(r"([\d.]+) ms", first)[1]), predicted, delta=0.01 * predicted)

    def test_check_says_what_is_to_be_searched_and_does_not_search(self):
        # Every operator of a layer over 64 GPUs: a search of minutes.
        large = ("primepar-search.toml", "--set", "machine.topology.nodes=32", "--set", "strategy.graph=layer")
        start = time.monotonic()
        said = self.tessera("check", *large).stdout
        self.assertLess(time.monotonic() - start, 5)
        self.assertRegex(said, r"#   to be searched +partitions of 12 operators over 64 devices, \d+ to choose from")

    def test_what_the_machine_cannot_do_is_refused_before_the_search(self):
        large = ("primepar-search.toml", "--set", "machine.topology.nodes=32", "--set", "strategy.graph=layer")
        start = time.monotonic()
        said = self.tessera("check", *large, "--ranks", "65", code=2).stderr
        self.assertIn("65 ranks", said)
        (self.folder / "there.h5").touch()
        self.assertIn("there.h5", self.tessera("run", *large, "-o", "there.h5", code=4).stderr)
        self.assertLess(time.monotonic() - start, 10)

    def test_a_plan_to_compare_with_is_simulated(self):
        compared = [word for key, text in (("fc1", "{P(2x2)}"), ("activation", "{M,F}"), ("fc2", "{P(2x2)}")) for word in ("--set", f"strategy.compared.{key}={text}")]
        self.plan_file = self.tessera("plan", "primepar-search.toml", "-o", "compared.toml", *compared).stdout
        self.assertRegex(self.plan_file, r"compared: fc1 \{P\(2x2\)\}; activation \{M, F\}")

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
            self.assertAlmostEqual(times[level] / predicted, 1, delta=0.05)
        self.assertLess(times["t3"], times["sequential"])

    def test_small_sums_over_a_slow_link_are_not_free(self):
        # Gradients of 2 to 6 kB over eight dies, a link of 1.1 MB/s: 14 steps of 768 B take 9.6 ms, nine such sums most of the iteration.
        (self.folder / "slow.toml").write_text("""
            machine.include = "wafer-config1"
            machine.topology.columns = 8
            machine.topology.rows = 1
            machine.fault = [{ link = [[0, 0], [1, 0]], bandwidth = 1e-6 }]
            model = { name = "m", layers = 3, hidden = 32, heads = 4, ffn_hidden = 33, vocabulary = 1000, position = "rotary", gated_mlp = true }
            workload = { sequence = 16, global_batch = 64 }
            strategy = { name = "primepar", graph = "layer", micro_batches = 4, recomputation = true }""")
        said = self.simulate("slow.toml", "out.h5").stdout
        predicted, simulated = [float(re.search(name + r"\s+([\d.]+) ms", said)[1]) for name in ("predicted time", "iteration time")]
        self.assertGreater(simulated, 60)
        self.assertTrue(1 / 2 < predicted / simulated < 2, (predicted, simulated))

    def test_what_would_take_years_is_named(self):
        for bandwidth, where in (("25 B/s", 'operator "fc1", cut'), ("1 B/s", "the link from nic 0")):
            said = self.tessera("run", "primepar-search.toml", "-o", "never.h5", "--set", f"machine.topology.nic_bandwidth={bandwidth}", code=3).stderr
            self.assertIn("beyond 106 days", said)
            self.assertIn(where, said)
            self.assertEqual(said.count("\n"), 1)

    def test_what_is_found_fits(self):
        roomy, fast, _ = self.plan()
        tight, slower, _ = self.plan("--set", "machine.device.memory_reserve=0 B", "--set", "machine.device.memory_capacity=400 MB")
        self.assertNotEqual(roomy, tight)
        self.assertGreater(slower, fast)
        refused = self.tessera("run", "primepar-search.toml", "-o", "never.h5", "--set", "machine.device.memory_reserve=0 B", "--set", "machine.device.memory_capacity=100 MB", code=3)
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
        self.assertRegex(said, r"^# memory to spare: [\d.]+ GB, [^\n]*\n")
        self.assertEqual(said.split("\n", 1)[1], text[:text.index("\n[made_for")])  # which is for --plan
        self.assertRegex(text, r'fc1 = "\{.*\}"')
        self.assertRegex(text, r'all = "[\d.]+ ms"')
        for ranks in (2, 3, 4):
            self.plan(f"plan-{ranks}.toml", ranks=ranks)
            self.assertEqual((self.folder / f"plan-{ranks}.toml").read_text(), text)
        self.simulate("primepar-search.toml", "searched.h5", ranks=2)
        self.simulate("primepar-search.toml", "planned.h5", "--plan", "plan.toml")
        self.assert_same_results("searched.h5", "planned.h5", but=["/search"])  # which is of the search

    def test_what_was_measured_before_changes_nothing(self):
        text = self.plan("plan.toml").stdout
        self.assertEqual(self.plan("kept.toml", "--cache", "new/cache", ranks=2).stdout, text)
        (kept,) = (self.folder / "new" / "cache").iterdir()
        lines = kept.read_text()
        self.assertTrue(lines.startswith("# Tessera "))
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

    def test_a_plan_is_carried_out_for_something_else_with_a_warning_that_names_what(self):
        self.plan("plan.toml")
        for key, was, now in (("machine.topology.nvlink_bandwidth", '"50 GB/s"', '"49 GB/s"'), ("workload.global_batch", "1", "2")):
            for ranks in (1, 2):
                done = self.simulate("primepar-search.toml", "out.h5", "--plan", "plan.toml", "--set", f"{key}={now}", ranks=ranks)
                self.assertRegex(done.stderr, rf"^warning: plan\.toml:2:1: the plan was made for another experiment: {key} [^,\n]* -> {now};[^\n]*\n$")
        # Nothing differs: nothing is said. An earlier Tessera's plan does not say what it was made for.
        self.assertEqual(self.simulate("primepar-search.toml", "out.h5", "--plan", "plan.toml").stderr, "")
        text = (self.folder / "plan.toml").read_text()
        (self.folder / "plan.toml").write_text(text[:text.index("[made_for")])
        done = self.simulate("primepar-search.toml", "out.h5", "--plan", "plan.toml", "--set", "machine.topology.nvlink_bandwidth=49 GB/s")
        self.assertRegex(done.stderr, r"^warning: plan\.toml:4:11: the plan was made for another machine than the experiment's;[^\n]*\n$")

    def test_a_plan_for_other_layers_is_refused(self):
        self.plan("plan.toml")
        self.refused("plan.toml:5:9: the plan was made for another model than the experiment's: for this one, tessera plan makes a new plan",
                     "--set", "model.layers=7")

    def test_a_file_that_is_no_plan_is_refused(self):
        plan = self.folder / "plan.toml"
        self.refused("plan.toml: there is no such file")
        self.plan("plan.toml")
        text = plan.read_text()
        plan.write_text(text.replace("[plan]\n", "[plans]\n"))
        self.assertIn("[plan]", self.tessera("run", "primepar-search.toml", "--plan", "plan.toml", "-o", "never.h5", code=2).stderr)
        plan.write_text(text + "\n[machine]\nname = 'other'\n")
        self.refused(f'plan.toml:{len(text.splitlines()) + 2}:2: unknown key "machine" in a plan file, allowed: plan, strategy, made_for')
        plan.write_text("".join(line for line in text.splitlines(True) if not line.startswith("model = ")))
        self.refused("plan.toml:2:1: the plan names no model, and the experiment has one: for this one, tessera plan makes a new plan")
        plan.write_text(text.replace("machine = ", "machines = "))
        self.assertIn('unknown key "machines"', self.tessera("check", "primepar-search.toml", "--plan", "plan.toml", code=2).stderr)

    def test_what_does_not_fit_is_no_plan(self):
        self.assertIn("but has 100 MB", self.plan("plan.toml", "--set", "machine.device.memory_reserve=0 B", "--set", "machine.device.memory_capacity=100 MB", code=3).stderr)
        self.assertNotIn("plan.toml", self.files())
        self.plan("plan.toml")
        self.assertIn("plan.toml", self.plan("plan.toml", code=4).stderr)  # exists; --force replaces it
        self.plan("plan.toml", "--force")


class Cuts(CliTest):
    """Keys of strategy megatron that are left open."""

    def setUp(self):
        super().setUp()
        text = (self.folder / "training.toml").read_text().replace("tensor = 2\npipeline = 2", 'tensor = "any"\npipeline = [1, 2, 4]\nmicro_batch = "any"')
        (self.folder / "open.toml").write_text(text)

    def test_the_plan_its_table_and_its_result_are_the_same_on_any_number_of_ranks(self):
        said = self.tessera("plan", "open.toml", "-o", "one.toml", "--progress", "off").stdout
        self.assertIn("nothing is faster", said)
        self.simulate("open.toml", "one.h5")
        for ranks in (2, 3, 4):
            self.tessera("plan", "open.toml", "-o", f"{ranks}.toml", "--progress", "off", ranks=ranks)
            self.assertEqual((self.folder / f"{ranks}.toml").read_text(), (self.folder / "one.toml").read_text())
            self.simulate("open.toml", "more.h5", "--sync", "null-message" if ranks == 3 else "window", ranks=ranks)
            self.assert_same_results("one.h5", "more.h5")

    def test_the_plan_that_is_found_is_run_by_itself(self):
        self.tessera("plan", "open.toml", "-o", "plan.toml", "--progress", "off")
        self.simulate("open.toml", "found.h5")
        self.simulate("open.toml", "given.h5", "--plan", "plan.toml")
        self.assert_same_results("found.h5", "given.h5", but=("/search", "/predicted"))

    def test_what_is_cut_over_replicas_may_be_open(self):
        job = ("--set", "strategy.data_sharding=any", "--set", "strategy.distributed_optimizer=any", "--set", "record.timeline=false")
        for ranks in (None, 2):
            said = self.tessera("plan", "sharded.toml", "-o", f"{ranks}.toml", "--progress", "off", *job, ranks=ranks).stdout
            self.assertRegex(said, r"candidates +4\n")  # nothing, optimizer state, gradients too, parameters too
        self.assertEqual((self.folder / "None.toml").read_text(), (self.folder / "2.toml").read_text())
        self.simulate("sharded.toml", "found.h5", *job)
        self.simulate("sharded.toml", "given.h5", "--plan", "2.toml", "--set", "record.timeline=false")
        self.assert_same_results("found.h5", "given.h5", but=("/search", "/predicted"))

    def same_on_all_ranks(self, name, open_keys, **given):
        """What plan prints of a search of these keys, which finds the same on 1 to 4 ranks, and what run --plan runs."""
        closed = [word for key, value in given.items() for word in ("--set", f"strategy.{key}={value}")]
        settings = closed + [word for key, value in open_keys.items() for word in ("--set", f"strategy.{key}={value}")]
        said = self.tessera("plan", name, "-o", "1.toml", "--all", "1.h5", "--progress", "off", *settings).stdout
        for ranks in (2, 3, 4):
            self.tessera("plan", name, "-o", f"{ranks}.toml", "--all", f"{ranks}.h5", "--progress", "off", *settings, ranks=ranks)
            self.assertEqual((self.folder / f"{ranks}.toml").read_text(), (self.folder / "1.toml").read_text())
            self.assert_same_results("1.h5", f"{ranks}.h5")
        self.simulate(name, "found.h5", *settings, ranks=2)
        planned = self.simulate(name, "given.h5", "--plan", "1.toml", *closed)
        self.assertEqual(planned.stderr, "")  # no key that is found has no effect
        self.assert_same_results("found.h5", "given.h5", but=("/search", "/predicted"))
        return said

    def test_sets_of_sections_may_be_open(self):
        text = (self.folder / "training.toml").read_text().replace('recomputation = "selective"\n', "").replace("timeline = true", "timeline = false")
        (self.folder / "sets.toml").write_text(text)
        said = self.same_on_all_ranks("sets.toml", {"tensor": "[2, 4]", "recomputed_sections": "any", "recomputed_layers": "any"})
        self.assertRegex(said, r"search over tensor, recomputed_layers, recomputed_sections\n")
        # Nothing runs again where all of it fits, which is a set as well.
        self.assertIn('recomputed_sections = ["none"]', (self.folder / "1.toml").read_text())
        self.assertRegex(self.tessera("show", "1.h5").stdout, r"attention_core\+\w+")
        said = self.tessera("plan", "sets.toml", "-o", "listed.toml", "--progress", "off", "--set", 'strategy.recomputed_sections=[["fc1", "activation"], ["full"]]').stdout
        self.assertRegex(said, r"candidates +2\n")
        self.assertRegex(said, r"recomputed_sections fc1\+activation")

    def test_sets_of_sections_do_not_depend_on_what_was_refused_before(self):
        text = (self.folder / "training.toml").read_text().replace('recomputation = "selective"\n', "")
        (self.folder / "sets.toml").write_text(text)
        counts = []
        for schedules in ('["dualpipe", "1f1b"]', '["1f1b", "dualpipe"]'):  # the first one has other needs, which this cut has not
            said = self.tessera("check", "sets.toml", "--set", f"strategy.schedule={schedules}", "--set", "strategy.recomputed_sections=any").stdout
            counts.append(int(re.search(r"([\d,]+) candidates", said)[1]))
        self.assertEqual(counts[0], counts[1])
        self.assertGreater(counts[0], 5)
        # Groups of layers run none or all of a layer again, whatever beats that.
        said = self.tessera("check", "sets.toml", "--set", "strategy.recomputation_method=uniform", "--set", "strategy.recomputed_layers=2", "--set", "strategy.recomputed_sections=any").stdout
        self.assertRegex(said, r"\b[12] candidates?\b")

    def test_keys_of_experts_and_context_ranks_may_be_open(self):
        text = (self.folder / "mixture.toml").read_text().replace("expert_imbalance = 0.4\n", "")
        (self.folder / "experts.toml").write_text(text)
        self.same_on_all_ranks("experts.toml", {"pipeline": "[1, 3]", "context_parallel": "any", "context_exchange": "any", "expert_parallel": "any", "expert_tensor": "any", "expert_dispatch": "any"},
                               interleave=1, sequence_parallel="true")

    def test_keys_of_shards_may_be_open(self):
        self.same_on_all_ranks("sharded.toml", {"data_sharding": "any", "gather_ahead": "any", "reshard_after_forward": "any", "overlap_parameter_gathering": "any", "distributed_optimizer": "any"})

    def test_a_cut_is_carried_out_on_other_hardware_as_far_as_it_can_be(self):
        self.tessera("plan", "open.toml", "-o", "plan.toml", "--progress", "off")
        done = self.simulate("open.toml", "more.h5", "--plan", "plan.toml", "--set", "machine.topology.nodes=4", "--set", "workload.global_batch=32")
        self.assertRegex(done.stderr, r"^warning: plan\.toml:2:1: the plan was made for another experiment: machine\.topology\.nodes 2 -> 4, "
                                      r"workload\.global_batch 16 -> 32; its cut is carried out as it stands, and another may be faster here\n")
        # What cannot be carried out says why in its own words: memory, and devices that the cut does not divide.
        done = self.tessera("run", "open.toml", "-o", "never.h5", "--plan", "plan.toml", "--set", "machine.device.memory_reserve=0 B", "--set", "machine.device.memory_capacity=1 MB", code=3)
        self.assertRegex(done.stderr, r"needs .* but has 1\.00 MB")
        done = self.tessera("run", "open.toml", "-o", "never.h5", "--plan", "plan.toml", "--set", "workload.global_batch=17", code=2)
        self.assertRegex(done.stderr, r"17")

    def test_lists_of_candidates_say_once_what_is_the_same_for_all(self):
        # With a micro-batch of 1 alone the three cuts that are tried differ in their pipelines.
        said = self.tessera("plan", "open.toml", "-o", "plan.toml", "--all", "all.h5", "--history", "h.h5", "--progress", "off",
                            "--set", "strategy.micro_batch=[1]", "--budget", "3").stdout
        self.assertRegex(said, r"\n  all of the following +tensor 1, micro_batch 1\n")
        table = said[said.index("all of the following"):said.index("\n\n")].splitlines()[2:]
        self.assertEqual(len(table), 3)
        for line in table:
            self.assertRegex(line, r"  pipeline \d$")
        self.assertRegex(said, r'\nall = "tensor 1, micro_batch 1"\n001 = "[^"]*simulated[^"]*: pipeline \d"\n')
        self.assertIn("  all of them: tensor 1, micro_batch 1\n", self.tessera("show", "all.h5").stdout)
        self.assertIn("  all of them: tensor 1, micro_batch 1\n", self.tessera("show", "h.h5").stdout)

    def test_check_counts_and_a_plan_that_leaves_something_open_is_refused(self):
        self.assertRegex(self.tessera("check", "open.toml").stdout, r"to be searched +\d+ candidates for tensor, pipeline, micro_batch")
        self.tessera("plan", "open.toml", "-o", "plan.toml", "--progress", "off")
        done = self.tessera("check", "open.toml", "--plan", "plan.toml", "--set", "strategy.tensor=any", code=2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        done = self.tessera("check", "open.toml", "--set", "strategy.tensor=[2, 5, 0]", code=2)
        self.assertIn("0 is out of range", done.stderr)

    def test_the_table_of_all_candidates_is_the_same_on_any_number_of_ranks(self):
        for ranks in (1, 2, 3):
            self.tessera("plan", "open.toml", "-o", f"{ranks}.toml", "--all", f"{ranks}.h5", "--progress", "off", ranks=ranks)
            self.assert_same_results("1.h5", f"{ranks}.h5")
        said = self.tessera("show", "1.h5").stdout
        self.assertRegex(said, r"time by tensor +done +best +median")

    def test_collectives_that_their_groups_cannot_carry_out_are_no_candidates(self):
        # Every second die of a mesh is no rectangle: with tensor 2 and 8 the replicas' all-reduce has no such groups.
        (self.folder / "wafer.toml").write_text("""
            title = "mesh all-reduces on a wafer"
            model = "bert-large"
            machine = { include = "wafer-config1", topology.columns = 4, topology.rows = 4 }
            workload = { sequence = 64, global_batch = 16 }
            collectives.all_reduce = "mesh"
            strategy = { name = "megatron", tensor = [2, 8] }
            """)
        done = self.tessera("plan", "wafer.toml", "-o", "plan.toml", code=3)
        self.assertRegex(done.stderr, r"^none of 2 candidates can run, the first: all-reduce of group .*: mesh needs a full rectangle")
        said = self.tessera("plan", "wafer.toml", "-o", "plan.toml", "--set", "strategy.tensor=[4, 8]").stdout
        self.assertRegex(said, r"candidates +2\n")
        self.assertRegex(said, r"cannot run +1\n")

    def test_what_is_wrong_with_every_candidate_is_said_as_of_a_closed_cut(self):
        closed = self.tessera("run", "training.toml", "-o", "out.h5", "--set", "workload.datatype=fp8", code=2)
        opened = self.tessera("plan", "open.toml", "-o", "plan.toml", "--set", "workload.datatype=fp8", code=2)
        self.assertEqual(opened.stderr, closed.stderr)

    def test_limits_and_oversubscription_where_they_mean_nothing_are_refused(self):
        for arguments in (("plan", "training.toml", "--budget", "3"), ("run", "training.toml", "--within", "2%"), ("plan", "open.toml", "--allow-oversubscription")):
            done = self.tessera(*arguments, "-o", "out", code=2)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertRegex(done.stderr, r"open")

    def test_a_table_of_candidates_is_refused_at_once_where_there_are_none(self):
        done = self.tessera("plan", "training.toml", "-o", "plan.toml", "--all", "all.h5", code=2)
        self.assertRegex(done.stderr, r"^--all: there are no candidates.*\n$")
        done = self.tessera("plan", "open.toml", "-o", "same", "--all", "same", code=2)
        self.assertRegex(done.stderr, r"^tessera plan: .*name one file\n$")
        self.assertFalse((self.folder / "plan.toml").exists() or (self.folder / "same").exists())

    def test_budgets(self):
        said = self.tessera("plan", "open.toml", "-o", "plan.toml", "--progress", "off", "--budget", "8").stdout
        self.assertRegex(said, r"simulated +8\n")
        for option, value in (("--budget", "soon"), ("--within", "-1%")):
            done = self.tessera("plan", "open.toml", "-o", "other.toml", option, value, code=2)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_budget_of_time_ends_whatever_is_under_way(self):
        done = self.tessera("plan", "open.toml", "-o", "plan.toml", "--budget", "1 ns", code=3)
        self.assertRegex(done.stderr, r"^--budget: time was over [^\n]*\n$")
        self.assertNotIn("plan.toml", self.files())
        (self.folder / "large.toml").write_text(LARGE)
        for ranks in (1, 3):
            for seconds in (2, 6, 18, 54):  # a busy computer has no candidates listed by then: nothing can be planned
                began = time.monotonic()
                done = subprocess.run(self.command(("plan", "large.toml", "-o", f"{ranks}.toml", "--budget", f"{seconds} s", "--progress", "bar"), ranks),
                                      cwd=self.folder, capture_output=True, text=True)
                self.assertLess(time.monotonic() - began, 10 * seconds + 20)
                if done.returncode != 3:
                    break
                self.assertRegex(done.stderr, r"--budget: time was over ")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\n  proven +cut off by the budget of time: nothing")
            self.assertIn('proven = "cut off by the budget of time: nothing', (self.folder / f"{ranks}.toml").read_text())
            self.assertRegex(done.stderr, r"search: \d+ s, \d+ of \d+ candidates looked at")

    def test_time_that_is_enough_changes_nothing_but_what_is_recorded_of_the_search(self):
        self.tessera("plan", "open.toml", "-o", "plan.toml", "--all", "all.h5", "--progress", "off")
        for ranks in (1, 3):
            self.tessera("plan", "open.toml", "-o", f"{ranks}.toml", "--all", f"{ranks}.h5", "--progress", "off", "--budget", "1 h", ranks=ranks)
            timed, free = ((self.folder / name).read_text() for name in (f"{ranks}.toml", "plan.toml"))
            strategy = slice(free.index("[strategy]"), None)
            self.assertEqual(timed[timed.index("[strategy]"):], free[strategy])
            self.assertIn('proven = "nothing is faster"', timed)


if __name__ == "__main__":
    unittest.main()
