"""The part `template` of the study of WATOS: what its tables say of runs that were made up, and that its page is what it writes."""

import pathlib
import re
import unittest

from _watos import collectives, dataflow, template_points

PS = 10**12
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "validation" / "watos-template.md"


class Wafers(unittest.TestCase):
    def test_of_each_wafer_the_fastest_cut_that_fits_counts(self):
        """Wafer 2 has half the memory of wafer 1 and holds the smallest model alone; TP 2 is the faster cut everywhere."""
        machine = {"device": {"peak": {"fp16": "500 TFLOP/s"}, "memory_capacity": "16 GB", "memory_bandwidth": "600 GB/s"},
                   "topology": {"columns": 5, "rows": 7, "bandwidth": "1250 GB/s"}}

        class Simulator:
            def sweep(self, name):
                points = []
                for wafer in template_points.WAFERS:
                    for model in template_points.MODELS:
                        for tensor in (1, 2):
                            values = {"machine.template": wafer, "model.include": model, "strategy": f"tp{tensor}", "strategy.recomputation": "none"}
                            fits = wafer != "wafer-2" or model == "llama2-7b"
                            points.append((values, {"iteration_time_ps": 4 * PS // tensor, "devices": 34, "peak_memory": 8, "memory_capacity": 16, "mean_bubble_ps": PS // 10,
                                                    "mean_tensor_communication_ps": PS // 5, "mean_pipeline_communication_ps": 0, "mean_data_communication_ps": 0} if fits else None))
                return points

        outcome = template_points.figure_4(Simulator(), lambda number: machine)
        self.assertIn("| wafer-0 | 35 | 17.50 | 0.45 | 560 | 0.60 | 1,250 |", outcome.tables["figure 4"])  # 35 x 500 TFLOP/s on 39,204 mm2
        self.assertIn("| wafer-2 | 2.00 | TP2 | 34 | 10.0 | 5.0 | 50 | does not fit |", outcome.tables["figure 4 runs"])
        self.assertIn("By run, wafer 2 beside wafer 1: 7B takes 1.00 times as long, 30B fits wafer 1 alone, 70B fits wafer 1 alone.", outcome.tables["figure 4 trade-offs"])
        self.assertEqual(outcome.summary, {"wafers_for_70b": "01"})

    def test_what_the_template_refuses_of_table_2_is_said(self):
        machine = {"device": {"peak": {"fp16": "661 TFLOP/s"}, "memory_capacity": "64 GB", "memory_bandwidth": "1500 GB/s"},
                   "topology": {"columns": 7, "rows": 7, "bandwidth": "1125 GB/s"}}
        outcome = template_points.table_2(None, lambda number: "rows of dies: too many" if number >= 12 else machine)
        self.assertIn("| 2 | 7 x 8 | 7 x 7 | 7 x 7 | 708 | 661 | 4.50 | 4.50 |", outcome.tables["table II"])
        self.assertIn("- configuration 3: rows of dies: too many", outcome.tables["table II refused"])
        self.assertEqual(outcome.summary, {"d2d_as_table_2": "2_of_4"})  # configurations 1 and 2 have 4.5 TB/s


class Collectives(unittest.TestCase):
    def test_groups_are_the_squarest_rectangles_listed_along_a_cycle(self):
        self.assertEqual([collectives.shape(size) for size in (2, 4, 7, 9, 12, 15)], [(2, 1, 0), (2, 2, 0), (2, 4, 1), (3, 3, 0), (3, 4, 0), (3, 5, 0)])
        for columns, rows in ((2, 4), (3, 4), (4, 4)):
            places = collectives.cycle(columns, rows, 0)
            self.assertEqual(len(set(places)), columns * rows)
            for (x, y), (to_x, to_y) in zip(places, places[1:] + places[:1]):
                self.assertEqual(abs(x - to_x) + abs(y - to_y), 1)  # neighbours, the last one and the first as well

    def test_2d_is_last_where_all_others_are_faster(self):
        times = {"ring": 3, "bidirectional-ring": 2, "ring-bi-odd": 2, "mesh": 5, "mesh-scatter": 4, "multitree": 2, "synthesised": 1}
        found = {("b", size, one): time for size in collectives.SIZES for one, time in times.items()}
        self.assertEqual(collectives.last_2d(found, "b"), (12, 12))
        found["b", 16, "mesh-scatter"] = 1.5
        self.assertEqual(collectives.last_2d(found, "b"), (11, 12))


class Dataflows(unittest.TestCase):
    def test_a_line_has_what_each_dataflow_moves_and_which_was_taken(self):
        def row(flow, moved, taken):
            return {"operator": "fc1", "dataflow": flow, "batch": 1, "m": 8, "n": 16, "k": 32, "read_bytes": moved, "written_bytes": 10**6, "taken": taken, "operand_bytes": 2 * 10**6,
                    "time_ps": 3 * 10**6, "least_ps": 2 * 10**6}

        rows = [row("output-stationary", 4 * 10**6, 0), row("weight-stationary", 2 * 10**6, 1)]
        self.assertEqual(dataflow.line_of("fc1", "fc1", rows), ("fc1", "8 x 16 x 32", "2.0", "5.0", "3.0", "", "", "weight", "3.0", "2.0"))

    def test_a_nest_that_moves_other_bytes_than_its_formula_ends_the_study(self):
        class Simulator:
            def summary(self, experiment, settings):
                return {"dataflow": [{"operator": "fc1", "dataflow": "output-stationary", "read_bytes": 2, "written_bytes": 1, "formula_read_bytes": 3, "formula_written_bytes": 1}]}

        with self.assertRaisesRegex(SystemExit, "fc1, output-stationary: the nest moves other bytes"):
            dataflow.accesses(Simulator())


class Page(unittest.TestCase):
    def test_it_has_a_place_for_each_table(self):
        text = PAGE.read_text()
        for name in ("figure 4", "figure 4 runs", "table II", "figure 10", "figure 10b", "figure 10b iteration", "figure 14", "cores sensitivity", "figure 21 50.3 MB", "figure 21 1 MB", "figure 21 additions"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")
        for name in ("figure 4 trade-offs", "table II refused", "figure 21 ranking"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n.*\n\n<!-- end {name} -->")
        off = float(re.search(r"\| predictor \| ([\d.]+) \|", text).group(1))
        self.assertLessEqual(off, 5.0)  # the bar, in percent of a product's time


if __name__ == "__main__":
    unittest.main()
