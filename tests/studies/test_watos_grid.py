"""The parts `configurations` and `overall` of the study of WATOS: what their tables say of results that were made up."""

import unittest

import matplotlib.pyplot as pyplot
import pandas
from _watos import PARTS, WHEN_NAMED, analytic, configurations, far, models, overall
from _watos.cells import LARGEST, MODELS, cells, performances
from tessera_analysis import watos_figures
from tessera_analysis.bars import Row

PS = 10**12


def result(time, bound=None, again=0.0, candidate="TP 8, PP 7, 2x4"):
    """One that takes so many seconds, of which so many are computed again."""
    return {"iteration_time_ps": round(time * PS), "predicted": {"bound": round((bound or time) * PS)}, "mean_recomputation_ps": round(again * PS), "hardware_flops": 6e18,
            "mean_forward_ps": round(0.2 * time * PS), "mean_backward_ps": round(0.4 * time * PS), "bounds": [{"candidate": "TP 8, PP 7, 2x4", "iteration_ps": round(0.8 * time * PS)}],
            **{f"mean_{what}_ps": round(0.05 * time * PS) for what in far.WHERE if what != "recomputation"},
            "tried": pandas.DataFrame([{"accepted": 0, "candidate": "another"}, {"accepted": 1, "candidate": candidate}])}


class Grid(unittest.TestCase):
    def test_the_short_grid_has_three_points_a_model_and_a_second_batch_of_the_largest(self):
        self.assertEqual(len(cells()), 3 * (len(MODELS) + 1))
        self.assertEqual({cell.batch for cell in cells() if cell.model == LARGEST}, {64, 512})

    def test_positions_grow_with_the_sequence(self):
        settings = dict(cells()[1].settings())
        self.assertEqual((settings["model.max_positions"], settings["workload.sequence"]), (4096, 4096))


def drawn(test, draw, *values):
    """The first axes of a picture, which is closed after the test."""
    figure = draw(*values)
    test.addCleanup(pyplot.close, figure)
    return figure.axes[0]


class Pictures(unittest.TestCase):
    def test_performance_is_over_the_slowest_and_what_does_not_fit_has_none(self):
        """2 s beside 3 s: 1.5 times as fast."""
        row = performances("", "a model", {"one": result(2.0), "two": result(3.0), "three": None})
        self.assertEqual(row.values, {"one": 1.5, "two": 1.0, "three": 0})
        axes = drawn(self, watos_figures.performance, "Figure 0: a test", {"": [row, row]})
        self.assertEqual(sorted(bar.get_height() for bar in axes.patches), [0, 0, 1.0, 1.0, 1.5, 1.5])

    def test_gains_stand_beside_the_papers_line(self):
        axes = drawn(self, watos_figures.figure_22, [Row("links", "50 %", {"laid over": 3.2, "where it stands": 0.2})], {("links", "50 %"): 18})
        self.assertEqual([bar.get_height() for bar in axes.patches], [3.2, 0.2])
        self.assertEqual(list(axes.lines[0].get_ydata()), [18, 18])

    def test_generations_have_a_line_for_each_omega(self):
        axes = drawn(self, watos_figures.figure_24b, {0.0: [2.0, 1.5], 1.0: [2.0, 1.25]})
        self.assertEqual([list(line.get_ydata()) for line in axes.lines], [[2.0, 1.5], [2.0, 1.25]])


class Long(unittest.TestCase):
    def test_one_model_has_the_whole_grid_of_its_own(self):
        """3 sequences x 3 micro-batches x 2 batches on 4 wafers, and two rivals of each; nothing runs again."""
        asked = []

        class Simulator:
            def searched(self, jobs):
                jobs = list(jobs)
                asked.extend(jobs)
                return [result(2.0) for _ in jobs]

        outcome = WHEN_NAMED[f"long-{MODELS[LARGEST]}"](Simulator())
        self.assertEqual(len(asked), 18 * (4 + 2))
        self.assertEqual(list(outcome.tables), [f"long {LARGEST}", f"long {LARGEST} far"])
        self.assertFalse(set(PARTS) & set(WHEN_NAMED))


class Configurations(unittest.TestCase):
    def test_a_plan_that_runs_nothing_again_is_searched_once(self):
        asked = []

        class Simulator:
            def searched(self, jobs):
                jobs = [dict(settings) for _, settings in jobs]
                asked.extend(jobs)
                again = lambda job: 1.0 if job["machine.include"] == "wafer-config1" and job["model.include"] == MODELS[LARGEST] else 0.0
                return [result(2.0, again=again(job)) for job in jobs]

        rows = cells()
        found = configurations.searched(Simulator(), rows)
        self.assertEqual(len(found), 2 * 4 * len(rows))
        without = [job for job in asked if job.get("strategy.recomputation") == "none"]
        self.assertEqual(len(without), sum(row.model == LARGEST for row in rows))  # on the first wafer alone
        self.assertEqual(len(asked), 4 * len(rows) + len(without))

    def test_one_that_fits_alone_is_before_the_other(self):
        """Without recomputation configuration 4 fits every cell and 2 none; with it 2 takes 1 s, 3 takes 2 s, 4 takes 3 s."""
        rows = cells()
        time = {"config 1": 4.0, "config 2": 1.0, "config 3": 2.0, "config 4": 3.0}
        found = {("with", wafer, row): result(time[wafer]) for wafer in time for row in rows}
        found |= {("without", wafer, row): result(time[wafer]) if wafer != "config 2" else None for wafer in time for row in rows}
        three, three_with, four, two, model = configurations.sentences(rows, found, {"config 3": 1, "config 4": 2})
        self.assertEqual((three[2:], three_with[2:]), (("15 of 15", True), ("0 of 15", False)))
        self.assertEqual((four[2:], two[2:]), (("15 of 15", True), ("15 of 15", True)))
        self.assertEqual(model[2:], ("2 of 3", False))

    def test_the_analytic_model_adds_missing_memory_to_computing(self):
        """Eight dies have 8 GB for 14 GB of weights and states and what is kept: each byte that is missing costs as many FLOP as a forward pass
        has for one that is kept."""
        wafer = analytic.Wafer(dies=8, flops=1e12, capacity=1e9, memory=1e12, links=1e12)
        cell = cells()[0]
        model = {"hidden": 8192, "layers": 48}
        with_room, missing_none = analytic.time(cell, model, analytic.Wafer(8, 1e12, 1e15, 1e12, 1e12), 3e15, 1e9)
        crowded, missing = analytic.time(cell, model, wafer, 3e15, 1e9)
        kept = 34 * 2048 * 8192 * 48  # B of a micro-batch in flight: one stage, so one of them
        self.assertEqual((missing_none, missing), (0, 14e9 + kept - 8e9))
        self.assertAlmostEqual(crowded - with_room, missing * (1e15 / kept) / 8e12, places=6)


class Far(unittest.TestCase):
    def test_what_is_within_a_tenth_below_its_bound_is_not_explained(self):
        results = {("30B", "2,048 x 1", 64, "near"): result(1.0, 0.95), ("30B", "2,048 x 1", 64, "slow"): result(1.0, 0.5, again=0.25), ("30B", "2,048 x 1", 64, "fast"): result(1.0, 1.01),
                   ("30B", "2,048 x 1", 64, "none"): None}
        text = far.explained(results)
        self.assertNotIn("near", text)
        self.assertIn("| 30B | 2,048 x 1 | 64 | slow | TP 8, PP 7, 2x4 | 0.50 | 1.60 | 1.25 | 5.0 | 5.0 | 5.0 | 5.0 | 5.0 | 5.0 | 25.0 |", text)
        self.assertIn("| fast |", text)
        self.assertEqual(far.explained({}), "None.")


class Overall(unittest.TestCase):
    def test_sentences_of_the_paper_are_judged_by_the_most_of_all_cells(self):
        rows = cells()
        found = {("WATOS", row): result(1.0, 0.9, again=0.1) for row in rows}
        for name, time in (("MG-wafer (a)", 3.0), ("MG-wafer (b)", 1.0), ("streamed weights", 1.1), ("streamed from hosts", 1.3), ("MG-GPU", 1.2)):
            found |= {(name, row): result(time, again=0.2) for row in rows}
        lines = {line[0]: line[1:] for line in overall.sentences(rows, found)}
        self.assertEqual(lines["time of MG-wafer (a) over ours"], ("up to 2.45", "3.00 in the mean, 3.00 at most; 3.33 over the bound", True))
        self.assertFalse(lines["time of streamed weights over ours"][2])
        self.assertTrue(lines["time of weights streamed from hosts alone, over ours"][2])
        self.assertEqual(lines["gain over streaming, most at batch 64"], ("187 %", "10 %; 30 % from hosts alone", False))
        self.assertFalse(lines["gain over streaming, sequences of 2,048 before 4,096, in micro-batches of as many tokens"][2])  # 1.1 and 1.1
        self.assertEqual(lines["ours is first or equal against MG-wafer, whose plans are among ours"][1:], ("15 of 15, first by over 0.5 % in 0", True))
        self.assertEqual(lines["FLOP that ours executes a second, over MG-GPU"], ("1.92", "1.20 in the mean, 1.20 at most", False))
        self.assertEqual(lines["recomputation, of MG-wafer's"][1:], ("50 %; within it 15 of 15", True))


class Models(unittest.TestCase):
    def test_a_gain_of_half_a_percent_is_none_and_a_rival_without_room_does_not_count(self):
        found = {("WATOS", model): result(1.0, 0.9) | {"parameters": 7e9} for model in models.MODELS}
        found |= {("MG-wafer (a)", model): result(1.2) for model in models.MODELS} | {("MG-wafer (b)", model): result(1.004) for model in models.MODELS}
        found["MG-wafer (b)", models.MODELS[0]] = None
        ((_, _, said, holds),) = models.claims(found)
        self.assertEqual((said, holds), ("over MG-wafer (a) 1.20 to 1.20; over MG-wafer (b) 1.00 to 1.00", False))
        self.assertIn("| 7.000 | 4,096 | 0.9000 | 1.0000 | 0.90 | 1.2000 | does not fit | 1.200 |  | 1.333 |  |", models.times(found))


if __name__ == "__main__":
    unittest.main()
