"""The part `systems` of the study of WATOS: which jobs its rivals are, what its tables say of runs that were made up, and that its page is
what it writes."""

import pathlib
import re
import tomllib
import unittest

import pandas
from _watos import streams, systems, systems_rivals, systems_stacked, systems_switch
from _watos.cells import Cell, with_bound

PS = 10**12
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "validation" / "watos-systems.md"
TABLES = ("mesh-switch", "mesh-switch gains", "mesh-switch shares", "mesh-switch plans", "stacking")
CELL = Cell("GPT-175B", 4096, 2, 64, "mesh-switch-config3")


def took(seconds):
    return {"iteration_time_ps": round(seconds * PS)}


def searched(seconds, bound):
    plan = pandas.DataFrame([{"candidate": "TP 8, PP 7", "accepted": 1}])
    return took(seconds) | {"predicted": {"bound": round(bound * PS)}, "tried": plan, "mean_recomputation_ps": 0, "loans": []}


class AcrossMeshes(unittest.TestCase):
    def test_cuts_use_all_dies_and_share_out_the_batch(self):
        self.assertEqual(systems_switch.cuts(CELL), [(3, 2), (6, 1)])  # 32 micro-batches are no multiple of 3 or 6 replicas

    def test_groups_are_two_meshes_as_a_ring(self):
        stages = tomllib.loads(f"stages = {systems_switch.devices(3, 2)}")["stages"]
        self.assertEqual([len(one["devices"]) for one in stages], [16, 16, 16])
        self.assertEqual(sorted(die for one in stages for die in one["devices"]), list(range(48)))
        self.assertEqual(stages[0]["devices"][:8], [0, 1, 3, 2, 4, 5, 7, 6])

    def test_the_fewest_stages_that_fit_count_with_the_least_that_runs_again(self):
        class Simulator:
            def attempts(self, jobs):
                asked = [dict(settings) for _, settings in jobs]
                return [None if one["strategy.pipeline"] == 3 or one["strategy.recomputation"] == "none" else one for one in asked]

        found = systems_switch.across(Simulator(), CELL, ())
        self.assertEqual((found["strategy.pipeline"], found["strategy.data"], found["strategy.recomputation"]), (6, 1, "selective"))

    def test_where_nothing_fits_there_is_no_result(self):
        class Simulator:
            def attempts(self, jobs):
                return [None for _ in jobs]

        self.assertIsNone(systems_switch.across(Simulator(), CELL, ()))


class Rivals(unittest.TestCase):
    def test_the_first_set_that_fits_counts_of_each_place_and_then_the_fastest(self):
        """From the dies nothing has to run again, and takes 3 s; from hosts all of it, and takes 2 s."""
        asked = []

        class Simulator:
            def attempts(self, jobs):
                asked.extend(dict(settings) for _, settings in jobs)
                repeats, on_dies = (lambda one: one["strategy.recomputed_sections"]), (lambda one: "strategy.weight_streaming" in one)
                return [took(3) if on_dies(one) and repeats(one) == "[]" else took(2) if repeats(one) == '["full"]' else None for one in (dict(settings) for _, settings in jobs)]

        found = streams.fastest(Simulator(), {"a cell": CELL.settings()}, (streams.cut(4, 14, "2x2"),))
        self.assertEqual(found, {"a cell": took(2)})
        self.assertEqual(len(asked), len(streams.SETS) + 1)
        self.assertTrue(all(one["strategy.tensor"] == 4 and one["workload.sequence"] == 4096 and one["collectives.all_gather"] == "bidirectional-ring" for one in asked))

    def test_gpus_that_hold_no_cut_have_no_result_and_other_errors_end_the_study(self):
        class Simulator:
            def __init__(self, code):
                self.code = code

            def fastest(self, experiment, settings):
                raise SystemExit(f"tessera plan\nexit code {self.code}\nwhy")

        self.assertIsNone(systems_rivals.on_gpus(Simulator(3), (), ()))
        with self.assertRaises(SystemExit):
            systems_rivals.on_gpus(Simulator(2), (), ())

    def test_what_fits_is_before_what_does_not(self):
        self.assertEqual(systems_rivals.ordered([(took(1), took(2)), (took(2), took(2)), (took(3), took(2)), (took(1), None), (None, took(1)), (None, None)]), "3/5")
        self.assertEqual(systems_rivals.over(took(3), took(2)), "1.50")
        self.assertEqual(systems_rivals.over(None, took(2)), "")
        self.assertEqual(with_bound(searched(4, 3)), "4.00 (0.75)")

    def test_shares_are_of_the_iteration(self):
        result = took(10) | {"mean_recomputation_ps": PS, "mean_tensor_communication_ps": 2 * PS, "mean_data_communication_ps": 0, "mean_bubble_ps": PS, "mean_waiting_ps": PS // 2}
        self.assertEqual(systems_rivals.shares(result), ["10.0", "20.0", "0.0", "15.0"])


class Stacked(unittest.TestCase):
    def test_a_line_has_each_rival_over_ours(self):
        found = {(name, (cell, machine)): searched(2, 1.5) if name == "WATOS" else took(3) for name in ("WATOS", *systems_stacked.RIVALS)
                 for cell in systems_stacked.CELLS for machine in systems_stacked.MACHINES}
        self.assertIn("| GPT-175B | 4,096 x 2 | on top | 1.50 | 2.00 | 3.00 | 1.50 | 3.00 | 1.50 | 3.00 | 1.50 | TP 8, PP 7 | 0.0 | 0 |", systems_stacked.times(found))
        self.assertEqual(systems_stacked.counts(found)["stacked_over_a"], "4/4")

    def test_links_have_all_of_the_edge_and_dram_what_four_chiplets_have(self):
        settings = dict(systems_stacked.STACKED)
        self.assertEqual(settings["machine.topology.bandwidth"], f"{12_000 // 2 // 4} GB/s")
        self.assertEqual(settings["machine.device.memory_capacity"], f"{4 * 24} GB")
        self.assertEqual(settings["machine.device.memory_bandwidth"], f"{4 * 819.2} GB/s")


class Found(unittest.TestCase):
    def test_a_sentence_comes_out_where_all_of_its_comparisons_do(self):
        lines = systems.sentences({"a": "3/4", "b": "4/4"}, {"both": ("a", "b"), "one": ("b",)})
        self.assertEqual(lines, [("both", "all", "7 of 8", False), ("one", "all", "4 of 4", True)])


class Page(unittest.TestCase):
    def test_it_has_a_place_for_each_table(self):
        text = PAGE.read_text()
        for name in TABLES:
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")

    def test_no_plan_is_ahead_of_its_first_order_bound(self):
        """1F1B may be by less than p / 2n, a few percent."""
        text = PAGE.read_text()
        rows = re.findall(r"\| (?:GPT-175B|Llama3-70B) \| [\d,]+ x \d \| (?:[\d.]+|beside|on top) \| ([\d.]+) \| ([\d.]+) \|", text)
        self.assertEqual(len(rows), 16 + 8)
        for bound, ours in rows:
            self.assertLessEqual(float(bound), 1.03 * float(ours))


if __name__ == "__main__":
    unittest.main()
