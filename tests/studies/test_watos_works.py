"""The part `works` of the study of WATOS: which plan each work takes of searches that were made up, and that its page is what it writes."""

import pathlib
import re
import unittest

import pandas
from _watos import access, generation, tiles, works, works_plans
from _watos.cells import Cell

PS = 10**12
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "validation" / "watos-works.md"
CELL = Cell("GPT-175B", 4096, 2, 64)


def searched(*rows, bound=5.0, **more):
    """Of (candidate, predicted s, simulated s) rows, of which the fastest simulated one was taken."""
    least = min((time for _, _, time in rows if time), default=0)
    table = [{"candidate": text, "predicted_ps": round(predicted * PS), "cost_ps": round(time * PS), "accepted": int(time == least)} for text, predicted, time in rows]
    return {"tried": pandas.DataFrame(table), "iteration_time_ps": round(least * PS), "predicted": {"bound": round(bound * PS)}, **more}


class Tiles(unittest.TestCase):
    def test_what_a_shape_leaves_others_fill(self):
        places = tiles.packed(7, 8, (2, 4))
        self.assertEqual(places, [(0, 0, (2, 4)), (2, 0, (2, 4)), (4, 0, (2, 4)), (0, 4, (2, 4)), (2, 4, (2, 4)), (4, 4, (2, 4)), (6, 0, (1, 8))])
        order = tiles.serpentine(places, (2, 4), 6)
        self.assertEqual([(x, y) for x, y, _ in order], [(0, 0), (2, 0), (4, 0), (4, 4), (2, 4), (0, 4)])
        self.assertEqual(tiles.dies_of((4, 4, (2, 4)), 7), [32, 33, 39, 40, 46, 47, 53, 54])


class Access(unittest.TestCase):
    def test_a_layer_and_an_iteration_by_hand(self):
        plain = {"heads": 4, "hidden": 8, "layers": 2}
        self.assertEqual(access.forward(plain, 2), 12 + 2 * 3 + 2 * 4 + 2 * 4 + 4 * 2)
        gated = plain | {"kv_heads": 1, "ffn_hidden": 24, "gated_mlp": True}
        self.assertEqual(access.forward(gated, 1), 12 + 2 * 1.5 + 2 * 6 + 2 * 3 + 4)
        cell = Cell("GPT-175B", 16, 2, 8)  # four micro-batches of 2 x 16 x 8 units of 2 B: 512 B
        self.assertEqual(access.accesses(plain, cell, 100, 2, 1, False), 4 * (3 * 2 * 512 * 42 + 12 * 100) + 28 * 100)
        self.assertEqual(access.accesses(plain, cell, 100, 2, 3, True), 4 * (4 * 2 * 512 * 42 + 14 * 100) + 28 * 100 * 3)


class Plans(unittest.TestCase):
    NONE = searched(("TP 24, PP 2, 3x8", 13.0, 13.1), ("TP 24, PP 2, HxK 3x8, 3x8", 15.0, 0), ("TP 8, PP 7, 2x4", 0, 0))
    FULL = searched(("TP 8, PP 7, 2x4", 16.0, 16.1), ("TP 8, PP 7, HxK 2x4, 2x4", 17.0, 0), ("TP 1, PP 56, 1x1", 30.0, 0), ("TP 1, PP 48, 1x1", 31.0, 0))
    FOUND = {("all", "none"): NONE, ("all", "full"): FULL, "room": searched(("TP 8, PP 1, DP 7, 2x4", 9.0, 9.1), ("TP 8, PP 7, 2x4", 11.0, 0), ("TP 24, PP 2, 3x8", 13.0, 0))}

    def test_a_cut_is_read_from_its_words(self):
        self.assertEqual(works_plans.cut_of("TP 8, PP 3, DP 2, HxK 2x4, 2x4"), works_plans.Cut(8, 3, 2, True, (2, 4)))
        self.assertEqual(works_plans.cut_of("TP 8, PP 7, 1x8, full, down columns"), works_plans.Cut(8, 7, 1, False, (1, 8)))
        self.assertIsNone(works_plans.cut_of("TP 5, PP 11, snake").tile)

    def test_least_access_is_little_tensor_parallelism_and_of_equals_the_fastest(self):
        plans = works_plans.predictions(self.FOUND)
        self.assertEqual(len(plans), 6)
        cut, again = works_plans.least_access(CELL, plans, 175e9, False)
        self.assertEqual((cut.size(), again), ((1, 56, 1), "full"))
        cut, again = works_plans.least_access(CELL, plans, 175e9, True)
        self.assertEqual((cut.size(), again), ((8, 7, 1), "full"))

    def test_blind_takes_the_next_cut_that_can_run(self):
        cut, again = works_plans.blind(self.FOUND, works_plans.predictions(self.FOUND))
        self.assertEqual((cut.size(), again), ((8, 7, 1), "full"))

    def test_two_dimensions_are_carried_out_die_by_die(self):
        (_, settings), words = works_plans.two_dimensions(CELL, works_plans.predictions(self.FOUND))
        settings = dict(settings)
        self.assertEqual(words, "TP 24, PP 2, HxK 3x8, none")
        self.assertEqual((settings["strategy.tensor"], settings["strategy.tensor_rows"], settings["strategy.recomputation"]), (24, 8, "none"))
        first, second = (list(map(int, dies.split(", "))) for dies in re.findall(r"devices = \[([\d, ]+)\]", settings["strategy.stages"]))
        self.assertEqual((first[:4], second[:4], len(first), len(second)), ([0, 1, 2, 7], [3, 4, 5, 10], 24, 24))

    def test_shares_are_of_the_iteration(self):
        times = {"iteration_time_ps": 200, "mean_recomputation_ps": 20, "mean_tensor_communication_ps": 10, "mean_data_communication_ps": 4, "mean_bubble_ps": 50}
        self.assertEqual(works_plans.shares_of(times), (10, 5, 2, 25))

    def test_generation_is_judged_by_tokens_a_second(self):
        self.assertEqual(generation.chosen({"config 1": None, "config 3": generation.Speed(2.0, 4.0), "config 4": generation.Speed(3.0, 4.0)}), "config 4")

    def test_generation_is_bound_by_weights_and_cache(self):
        """7 stages of 8 dies at 0.85 x 2 TB/s, micro-batches of 24. 56 G parameters: 2 GB a die. A quarter of the heads has keys and values: 4 B x 10 layers x
        1,024 x (2,048 + 64) / 4 = 21.6 MB a sequence, 9.27 MB a die for 24. A step of all takes 7 x 2.009 GB / 1.7 TB/s = 8.274 ms: 168 tokens."""
        model = {"heads": 8, "kv_heads": 2, "hidden": 1024, "layers": 10}
        self.assertAlmostEqual(generation.most_tokens(model, 56e9, "wafer-config3", 7), 168 / 8.2735e-3, delta=1)


class Orderings(unittest.TestCase):
    def test_a_tie_is_no_lead_and_what_does_not_fit_is_last(self):
        run = lambda time: works_plans.Run(time, 5.0, "")
        own = {name: run(8.0) for name in works.READ} | {"WATOS": run(6.0), "Calculon": run(7.5), "Timeloop": None, "topologies": {}}
        other = {name: run(8.0) for name in works.READ} | {"WATOS": run(8.0), "topologies": {}}
        self.assertEqual(works.counts({"a": own, "b": other}), {"cells": 2, "watos_first": 1, "watos_first_or_equal": 2, "timeloop_last": 1, "calculon_over_dfmodel": 1, "calculon_equals_dfmodel": 1,
                                                                "least_of_bound": "0.62", "most_of_bound": "0.83"})
        self.assertEqual([claim[2:] for claim in works.sentences(works.counts({"a": own, "b": other}))], [("1 of 2", False)] * 3)
        table = works.per_cell({CELL: own}, lambda run, of: f"{run.seconds / of['WATOS'].seconds:.2f}")
        self.assertIn("| work | GPT-175B, 4,096 x 2, 64 |", table)
        self.assertIn("| Timeloop | does not fit |", table)
        self.assertIn("| Calculon | 1.25 |", table)


class Page(unittest.TestCase):
    def test_it_has_each_table_and_a_line_for_each_work(self):
        text = PAGE.read_text()
        for name in ("figure 20 read", "figure 20", "figure 20 gains", "figure 20 plans", "figure 20 shares", "figure 20 topologies", "figure 20 generation"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")
        for work in (*works.READ, works.BLIND, works.PRODUCT):
            self.assertEqual(len(re.findall(rf"(?m)^\| {re.escape(work)} \|", text)), 5 if work in works.READ else 4, work)
        self.assertRegex(text, r"(?m)^\| WATOS \| 1\.00 \| 1\.00 \| 1\.00 \|$")


if __name__ == "__main__":
    unittest.main()
