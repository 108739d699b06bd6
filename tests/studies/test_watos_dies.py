"""The part `dies` of the study of WATOS: sizes by hand, the objective and its classes, and that its page is what it writes."""

import pathlib
import re
import unittest

import matplotlib.pyplot as pyplot
from _watos import dies
from tessera_analysis import watos_figures

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "validation" / "watos-dies.md"
SQUARE, HIGH, LARGE = dies.Die(200, 1), dies.Die(350, 1.4), dies.Die(400, 1)


class Sizes(unittest.TestCase):
    def test_sides_stacks_and_classes(self):
        self.assertEqual(SQUARE.sides(), (14.142, 14.142))
        self.assertEqual(HIGH.sides(), (15.811, 22.136))
        self.assertEqual([die.stacks() for die in (SQUARE, HIGH, LARGE)], [1, 2, 2])
        self.assertEqual([die.kind() for die in (SQUARE, HIGH, LARGE)], ["small square", "small rectangle", "large square"])
        self.assertEqual(dict(LARGE.settings()), {"machine.template.die.width": "20.0 mm", "machine.template.die.height": "20.0 mm", "machine.template.dram.chiplets": 2})
        self.assertEqual(len(set(dies.DIES)), 36)
        self.assertEqual({die.kind() for die in dies.DIES}, set(dies.CLASSES))

    def test_a_job_is_a_die_and_a_workload(self):
        experiment, settings = dies.job(LARGE, ("Llama3-70B", 4096, 2), ("strategy.tensor", 4))
        self.assertEqual((experiment, dict(settings)["model.include"], dict(settings)["strategy.micro_batch"], dict(settings)["strategy.tensor"]), ("watos/dies.toml", "llama3-70b", 2, 4))


class Objective(unittest.TestCase):
    def test_capacity_times_throughput_over_the_best(self):
        workload = ("Llama2-30B", 2048, 1)
        self.assertEqual(dies.throughput(2.0, workload), 64 * 2048 / 2)
        machines = {SQUARE: {"capacity": 2e12}, LARGE: {"capacity": 3e12}, HIGH: {"capacity": 4e12}}
        self.assertEqual(dies.objectives({SQUARE: 1.0, LARGE: 3.0, HIGH: None}, machines, workload), {SQUARE: 1.0, LARGE: 0.5, HIGH: 0.0})

    def test_shares_of_the_wafer(self):
        cores, silicon, dram = dies.shares({"dies": 98, "cores": 100}, SQUARE)
        self.assertAlmostEqual(cores, 98 * 100 * 1.918 / 39204)
        self.assertAlmostEqual(silicon, 98 * 200 / 39204)
        self.assertAlmostEqual(dram, 98 * 110 / 39204)

    def test_a_class_is_led_by_its_best_die(self):
        overall = {die: 0 for die in dies.DIES} | {SQUARE: 0.9, LARGE: 1.0}
        values = {workload: dict(overall) for workload in dies.WORKLOADS}
        text = dies.by_class(values, overall)
        self.assertIn("| small square | 8 | 1 | 14.1 x 14.1 mm (1) | 0.90 | 0.11 | 0.90 |", text)  # 0.9 / 8
        self.assertIn("| large square | 10 | 1 | 20 x 20 mm (2) | 1.00 | 0.10 | 1.00 |", text)


class Picture(unittest.TestCase):
    def test_each_class_has_its_points_and_nothing_is_no_picture(self):
        points = {kind: [(1.0 + number, 2000.0)] for number, kind in enumerate(dies.CLASSES)}
        figure = watos_figures.figure_25(points)
        self.assertEqual([text.get_text() for text in figure.axes[0].get_legend().get_texts()], list(dies.CLASSES))
        pyplot.close(figure)
        self.assertIsNone(watos_figures.figure_25({kind: [] for kind in dies.CLASSES}))


class Page(unittest.TestCase):
    def test_it_has_each_table_and_a_line_for_each_die(self):
        text = PAGE.read_text()
        for name in ("figure 25", "figure 25 best", "figure 25 wafers", "figure 25 dies"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")
        every = re.search(r"(?s)<!-- figure 25 dies -->(.*)<!-- end figure 25 dies -->", text).group(1)
        for die in dies.DIES:
            self.assertIn(f"| {die.named()} | {die.kind()} |", every)
        self.assertTrue((PAGE.parent / "watos" / "figure-25.svg").exists())


if __name__ == "__main__":
    unittest.main()
