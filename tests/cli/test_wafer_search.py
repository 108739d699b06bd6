"""Plans that strategy watos finds: the same however they are searched, and never behind the rivals'."""

import pathlib
import re
import unittest

from harness import CliTest

EXPERIMENT = "watos-search.toml"


class WaferSearch(CliTest):
    def plan(self, output, *arguments, ranks=None, code=0):
        return self.tessera("plan", EXPERIMENT, "-o", output, "--progress", "off", "--force", *arguments, ranks=ranks, code=code)

    def test_a_plan_is_the_same_on_any_number_of_ranks_with_a_cache_and_without(self):
        self.plan("plan.toml")
        plan = (self.folder / "plan.toml").read_text()
        for ranks in (1, 2, 3, 4):
            self.plan("again.toml", ranks=ranks)
            self.assertEqual(plan, (self.folder / "again.toml").read_text(), f"{ranks} ranks")
        for _ in ("fills it", "reads it"):
            self.plan("again.toml", "--cache", "cache", ranks=2)
            self.assertEqual(plan, (self.folder / "again.toml").read_text())
        self.assertRegex(plan, r"\[\[strategy.loans\]\]\n(.+\n)+lenders = ")  # it has to lend, and does so die by die
        self.assertIn("recomputation", plan)

    def test_results_and_tables_are_the_same_on_any_number_of_ranks_with_both_synchronisers(self):
        self.simulate(EXPERIMENT, "out.h5")
        for ranks in (1, 2, 3, 4):
            self.simulate(EXPERIMENT, "again.h5", ranks=ranks)
            self.assert_same_results("out.h5", "again.h5")
        self.simulate(EXPERIMENT, "again.h5", "--sync", "null-message", ranks=2)
        self.assert_same_results("out.h5", "again.h5")

    def test_the_plan_runs_in_the_time_that_the_search_has_simulated_and_no_rival_is_faster(self):
        self.plan("plan.toml")
        self.simulate(EXPERIMENT, "searched.h5")
        self.simulate(EXPERIMENT, "planned.h5", "--plan", "plan.toml")
        simulated = {}
        for line in self.tessera("show", "searched.h5", "--table", "search").stdout.splitlines():
            found = re.search(r"^ *\d+ +(.*?) +simulated +(\d+) +(\d+) ", line)
            if found and int(found[3]) > 0:
                simulated.setdefault(found[1], []).append(int(found[3]))
        fastest = min(min(times) for times in simulated.values())
        for file in ("searched.h5", "planned.h5"):
            summary = self.tessera("show", file, "--table", "summary").stdout
            self.assertRegex(summary, rf"\b{fastest}\b")
        self.assertIn("MG-wafer (a)", simulated)

    def test_what_all_stages_run_again_may_be_given(self):
        self.plan("plan.toml", "--set", "strategy.recomputation=full")
        given = (self.folder / "plan.toml").read_text()
        self.assertEqual(set(re.findall(r"recomputation = (\[.*)", given)), {'["full"]'})
        # Nothing again takes more memory than there is, even if all is lent.
        self.plan("plan.toml", "--set", "strategy.recomputation=none", "--set", "machine.device.memory_capacity=30 MB", code=3)

    def test_a_given_number_of_rows_leaves_cuts_of_that_many_alone(self):
        for rows in (1, 2):
            self.plan("plan.toml", "--set", "strategy.tensor=4", "--set", f"strategy.tensor_rows={rows}")
            plan = (self.folder / "plan.toml").read_text()
            self.assertIn(f"\ntensor_rows = {rows}\n", plan)
            simulated = [line for line in plan.splitlines() if "predicted, " in line and " simulated" in line]
            self.assertEqual({"HxK 2x2" in line for line in simulated}, {rows == 2}, simulated)
        self.plan("plan.toml", "--set", "strategy.tensor=4", "--set", "strategy.tensor_rows=1", "--set", "strategy.sequence_parallel=false")
        self.assertIn("\nsequence_parallel = false\n", (self.folder / "plan.toml").read_text())

    def test_plans_of_megatron_alone_are_no_faster_than_the_search(self):
        times = {}
        for take in ("fastest", "megatron-rule", "megatron-best"):
            self.simulate(EXPERIMENT, f"{take}.h5", "--set", f"strategy.search.take={take}")
            said = self.tessera("show", f"{take}.h5", "--table", "predicted").stdout
            times[take], bound = (int(re.search(rf"{what} +(\d+)", said)[1]) for what in ("all", "bound"))
            self.assertGreaterEqual(times[take], bound)
            table = self.tessera("show", f"{take}.h5", "--table", "search").stdout
            origins = set(re.findall(r"MG-wafer \(.\)|\bgenetic\b|\bscheduler\b", table))
            if take == "fastest":
                self.assertLess({"MG-wafer (a)", "genetic"}, origins)
            else:
                self.assertEqual(origins, {"MG-wafer (a)"} if take == "megatron-rule" else {"MG-wafer (a)", "MG-wafer (b)"})
        self.assertLessEqual(times["fastest"], times["megatron-best"])
        self.assertLessEqual(times["megatron-best"], times["megatron-rule"])

    def test_a_slow_die_is_found_by_the_probe(self):
        self.simulate(EXPERIMENT, "out.h5")
        said = self.tessera("show", "out.h5", "--table", "health").stdout
        self.assertRegex(said, r"die \(1,1\) +slow +0\.(7|6999)")
        self.assertEqual(said.count("die ("), 1)

    def test_a_die_that_is_too_slow_is_left_out(self):
        """At a tenth of its speed it would hold up its group; eleven dies are left."""
        self.simulate(EXPERIMENT, "out.h5", "--set", 'machine.fault=[{die=[1,1],speed="10 %"}]')
        taken = [line for line in self.tessera("show", "out.h5", "--table", "search").stdout.splitlines() if "1 slow die left out" in line]
        self.assertTrue(taken)
        placed = self.tessera("show", "out.h5", "--table", "placement").stdout
        places = re.findall(r"(?m)^ *\d+ +\d+ +\d+ +\d+ +\d+ +(\d+) +(\d+) *$", placed)
        self.assertTrue(places, placed)
        self.assertNotIn(("1", "1"), places)

    def test_layers_by_time_that_do_not_fit_are_dealt_out_evenly(self):
        """The last stage has a head worth three layers, so that by time the first one has five of eight; its memory is enough for four."""
        job = ("strategy.tensor=2", "strategy.pipeline=2", "strategy.data=3", "strategy.recomputation=none", "strategy.search.rivals=false", "model.vocabulary=16384", "machine.fault=[]")
        for memory, layers in (("200 MB", "5 x 1, 3 x 1"), ("150 MB", "4")):
            settings = (*job, f"machine.device.memory_capacity={memory}")
            said = self.simulate(EXPERIMENT, "out.h5", *[word for setting in settings for word in ("--set", setting)]).stdout
            self.assertIn(f"layers a stage {layers},", said)

    def test_of_two_wafers_each_has_whole_stages(self):
        """Four stages of two replicas on two wafers of four dies: sums over the replicas would be held up by the joint between them."""
        topology = ("kind=wafers", "wafers=2", "columns=2", "rows=2", "wafer_bandwidth=2 GB/s", "wafer_latency=500 ns")
        cut = ("strategy.tensor=1", "strategy.pipeline=4", "strategy.data=2", "strategy.search.rivals=false", "machine.device.memory_capacity=90 MB", "machine.fault=[]")
        for fitness in ("product", "time"):
            settings = (*[f"machine.topology.{key}" for key in topology], *cut, f"strategy.search.fitness={fitness}")
            said = self.simulate(EXPERIMENT, "out.h5", *[word for setting in settings for word in ("--set", setting)]).stdout
            self.assertRegex(said, r"(memory|genetic) \(taken\)")  # steps behind the scheduler spoil nothing
            placed = re.findall(r"^ +(\d+) +\d+ +\d+ +\d+ +(\d+) ", self.tessera("show", "out.h5", "--table", "placement").stdout, re.M)
            wafers = {stage: {int(die) // 4 for of, die in placed if of == stage} for stage, _ in placed}
            self.assertEqual([len(found) for found in wafers.values()], 4 * [1])

    def test_replicas_leave_a_wafer_that_does_not_hold_them_all(self):
        """Of two wafers of 2 x 2 dies the first has a dead one: places are taken wafer by wafer, so four replicas start on both, and stand on the second in the end."""
        settings = ("machine.topology.kind=wafers", "machine.topology.wafers=2", "machine.topology.columns=2", "machine.topology.rows=2", "machine.topology.wafer_bandwidth=2 GB/s", "machine.topology.wafer_latency=500 ns",
                    "strategy.tensor=1", "strategy.pipeline=1", "strategy.data=4", "strategy.search.rivals=false", "machine.device.memory_capacity=1 GB", "machine.fault=[{device = 0, dead = true}]")
        self.simulate(EXPERIMENT, "out.h5", *[word for setting in settings for word in ("--set", setting)])
        placed = re.findall(r"^ +\d+ +\d+ +\d+ +\d+ +(\d+) ", self.tessera("show", "out.h5", "--table", "placement").stdout, re.M)
        self.assertEqual({int(die) for die in placed}, {4, 5, 6, 7})

    def test_what_is_wrong_takes_one_line(self):
        refused = [
            (("--set", "machine.device.memory_capacity=8 MB"), 3, r"none of \d+ cuts fits into memory; the nearest, TP \d+, PP \d+.*: .* of 8.00 MB"),
            (("--set", "strategy.tensor=13"), 3, r"none of \d+ cuts can be; the first, TP 13, PP 1: 13 dies, and 12 work"),
            (("--set", "strategy.context_parallel=2"), 2, "context_parallel: the search of name = \"watos\" knows no sequences on several ranks, allowed: 1"),
            (("--set", "strategy.stages=[{devices=[0]}]"), 2, "stages: the search finds it"),
            (("--set", "strategy.tensor=4", "--set", "strategy.tensor_rows=3"), 3, "none of [0-9]+ cuts can be; the first, .*: no 3 places of 4 live dies in 3 rows and two columns"),
            (("--set", "strategy.tensor=1", "--set", "strategy.tensor_rows=2"), 3, "none of [0-9]+ cuts can be"),
            (("--set", "strategy.tensor_rows=2", "--set", "strategy.sequence_parallel=false"), 2, "tensor_rows = 2 cuts tokens as well, allowed: sequence_parallel = true"),
            (("--set", "model.prediction_depth=1"), 2, "strategy watos knows no modules that predict further ahead \\(prediction_depth\\)"),
            (("--set", "workload.phase=prompt"), 2, 'strategy watos plans training, allowed: workload.phase = "training"'),
            (("--set", "strategy.tensr=2"), 2, 'unknown key "tensr".*did you mean "tensor"'),
            (("--set", "strategy.search.elitism=2"), 2, '"elitism"'),
            (("--set", "strategy.search.take=megatron-best", "--set", "strategy.search.rivals=false"), 2, "search.rivals: false leaves out .* that search.take takes, allowed: true"),
            (("--set", "strategy.tensor=4", "--set", "strategy.pipeline=4"), 3, "none of [0-9]+ cuts can be; the first, TP 4, PP 4: 16 dies, and 12 work"),
        ]
        for settings, code, text in refused:
            said = self.plan("plan.toml", *settings, code=code).stderr
            self.assertRegex(said, text)
            self.assertEqual(said.count("\n"), 1, said)
            self.assertFalse((self.folder / "plan.toml").exists())

    def test_a_reason_is_whole_though_no_key_of_the_search_has_a_place_in_a_file(self):
        experiment = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "experiments" / "watos" / "gpt-175b.toml"
        said = self.tessera("run", experiment, "-o", "out.h5", "--set", "model.include=deepseek-v2-lite", "--set", "strategy.tensor_rows=2", "--set", "strategy.tensor=4", code=3).stderr
        self.assertIn("HxK 2x2, 2x2: experts are not cut in two dimensions, allowed: tensor_rows = 1", said)
        self.assertEqual(said.count("\n"), 1, said)

    def test_a_plan_that_was_changed_or_is_for_another_wafer_is_refused(self):
        self.plan("plan.toml")
        text = (self.folder / "plan.toml").read_text()
        smaller = self.tessera("run", EXPERIMENT, "--plan", "plan.toml", "-o", "out.h5", "--set", "machine.topology.columns=2", code=2).stderr
        self.assertRegex(smaller, "devices, but machine small wafer has|there is no device")
        devices = re.findall(r"devices = \[(.*)\]", text)
        (self.folder / "plan.toml").write_text(text.replace(f"devices = [{devices[1]}]", f"devices = [{devices[0]}]"))
        twice = self.tessera("run", EXPERIMENT, "--plan", "plan.toml", "-o", "out.h5", code=2).stderr
        self.assertIn("is in stage 0 and in stage 1", twice)
        broken = text.replace('routes = "unused-first"', 'routes = "machine"').replace(
            "[strategy]\n", '[strategy]\nways = [{from = 0, to = 11, what = "activations", through = [5]}]\n', 1)
        (self.folder / "plan.toml").write_text(broken)
        said = self.tessera("run", EXPERIMENT, "--plan", "plan.toml", "-o", "out.h5", code=2).stderr
        self.assertIn("there is no link from", said)

    def test_a_plan_for_the_sound_wafer_is_laid_over_the_live_dies(self):
        self.plan("sound.toml", "--set", "machine.fault=[]")
        said = self.simulate(EXPERIMENT, "out.h5", "--set", "strategy.healthy_plan=sound.toml").stdout
        searched = self.simulate(EXPERIMENT, "searched.h5").stdout
        time = [float(re.search(r"iteration time +([\d.]+) ms", text)[1]) for text in (said, searched)]
        self.assertGreaterEqual(time[0], time[1])
        none = self.tessera("run", EXPERIMENT, "-o", "out.h5", "--force", "--set", f"strategy.healthy_plan={EXPERIMENT}", code=2).stderr
        self.assertIn("no plan of strategy watos", none)

    def test_pairs_are_laid_over_with_their_stages(self):
        """The sound wafer's plan lends die by die; on the same wafer each lends from and to the same place of the same stage, now elsewhere."""
        sound = ("--set", "machine.fault=[]")
        self.plan("sound.toml", *sound)
        self.simulate(EXPERIMENT, "own.h5", *sound, "--plan", "sound.toml")
        self.simulate(EXPERIMENT, "laid.h5", *sound, "--set", "strategy.healthy_plan=sound.toml")
        own, laid = ([re.findall(r"\d+", line) for line in self.tessera("show", file, "--table", "loans").stdout.splitlines() if re.match(r" +\d", line)] for file in ("own.h5", "laid.h5"))
        self.assertGreater(len(own), 0)
        number_stages_and_bytes = lambda row: (*row[:3], row[6])
        self.assertEqual([number_stages_and_bytes(row) for row in own], [number_stages_and_bytes(row) for row in laid])
        self.assertNotEqual(own, laid)

    def test_replicas_are_laid_over_as_many_as_live(self):
        """12 dies in tensor groups and pipelines of two: three replicas. With four dies dead there is room for two, and the batch is dealt out to three or one."""
        cut = ("--set", "strategy.tensor=2", "--set", "strategy.pipeline=2", "--set", "strategy.data=3", "--set", "machine.device.memory_capacity=1 GB")
        self.plan("sound.toml", *cut, "--set", "machine.fault=[]")
        for dead, replicas in (([], 3), ([0, 1, 2, 3], 1)):
            faults = ", ".join(f"{{die = [{column}, 0], dead = true}}" for column in dead)
            said = self.simulate(EXPERIMENT, "out.h5", *cut, "--set", f"machine.fault=[{faults}]", "--set", "strategy.healthy_plan=sound.toml").stdout
            self.assertRegex(said, rf"pipeline parallel 2, data parallel {replicas}\b")

    def test_products_are_laid_over_as_they_are_cut(self):
        """In two dimensions, and with whole tokens, where the plan has them so."""
        sized = ("--set", "strategy.tensor=4", "--set", "machine.device.memory_capacity=1 GB")
        for cut, said in (("tensor_rows=2", r"tensor all-gather, ring +2 "), ("sequence_parallel=false", "sequence parallel no")):
            self.plan("sound.toml", *sized, "--set", f"strategy.{cut}", "--set", "machine.fault=[]")
            self.assertRegex(self.simulate(EXPERIMENT, "out.h5", *sized, "--set", "strategy.healthy_plan=sound.toml").stdout, said)
        plan = self.folder / "sound.toml"  # that tokens are whole need not be said, as in every table of strategy megatron
        plan.write_text(plan.read_text().replace("sequence_parallel = false\n", ""))
        self.assertRegex(self.simulate(EXPERIMENT, "out.h5", *sized, "--set", "strategy.healthy_plan=sound.toml").stdout, said)


if __name__ == "__main__":
    unittest.main()
