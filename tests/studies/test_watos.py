"""The study of WATOS: what its tables say of runs that were made up, and that its page is what it writes."""

import pathlib
import re
import tomllib
import unittest

from _watos import PARTS, lending, pipeline, shapes, wiring
from _watos.jobs import placed, stages_that_repeat

PS = 10**12
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "watos.md"


class Lists(unittest.TestCase):
    def test_settings_are_toml(self):
        both = dict(stages_that_repeat(3, 1, ["fc1", "activation"]))
        self.assertEqual(tomllib.loads(f"stages = {both['strategy.stages']}")["stages"], [{"recomputation": ["fc1", "activation"]}, {}, {}])
        self.assertEqual(tomllib.loads(f"tiles = {dict(placed('2x2 * 12', '1x4'))['strategy.placement.tiles']}")["tiles"], ["2x2 * 12", "1x4"])

    def test_rectangles_of_figure_11_cover_the_wafer_once(self):
        for name, places in wiring.PLACES.items():
            self.assertEqual(sorted(device for stage in places for device in stage), list(range(64)), name)


class Tables(unittest.TestCase):
    def test_hops_are_told_from_bytes_on_links(self):
        """A sequence more puts 22 hops of an activation and its gradient on links, and 12 of a loan of 100 B and its return, with
        questions of 8 B over 6 hops of each of the two pairs."""

        class Simulator:
            def many(self, jobs):
                found = []
                for _, settings in jobs:
                    batch, lends = dict(settings)["workload.global_batch"], dict(settings).get("strategy.loans") != "[]"
                    of_one = 22 * 2 * (2 * 2048 * 4096) + (12 * 2 * 100 + 12 * 8 if lends else 0)
                    found.append({"bytes_on_links": 10**6 + batch * of_one, "loans": [{"hops": 6, "bytes": 100}] * 16 if lends else []})
                return found

        self.assertEqual(wiring.hops(Simulator(), ()), (22, 12))

    def test_figure_8_counts_in_forward_passes(self):
        class Simulator:
            def many(self, jobs):
                return [{"mean_forward_ps": 5 * 2 * PS, "iteration_time_ps": 2 * units * PS} for units in (21, 24, 26, 29)]

        outcome = pipeline.study(Simulator())
        self.assertIn("| 3 | 28 | 29.00 |", outcome.tables["figure 8"])
        self.assertEqual(outcome.goals[0], (21, 21))

    def test_the_leading_cut_is_that_with_the_least_time_of_all_shapes(self):
        class Simulator:
            def many(self, jobs):
                return [{"iteration_time_ps": (1 if dict(settings)["strategy.tensor"] == 8 and "collectives.all_reduce" in dict(settings) else 2) * PS}
                        for _, settings in jobs]

            def summary(self, experiment, settings):
                return {"memory_of_stages": {0: (100e9, 70e9)}}

        outcome = shapes.study(Simulator())
        self.assertEqual(outcome.summary, {"tp4_leads": "0_of_12"})
        self.assertIn("| 30B on 8 x 4 | 64 | 2.00 | 2.00 | 2.00 | 2.00 | 2.00 | 1.00 | (8, 4) |", outcome.tables["figure 5"])
        self.assertIn("| 0 | 100.0 | 70.0 | 70 | 104 |", outcome.tables["figure 5 memory"])


class Page(unittest.TestCase):
    def test_it_has_a_place_for_each_table_and_its_cases(self):
        text = PAGE.read_text()
        self.assertEqual(list(PARTS), ["placement"])
        for name in ("figure 5", "figure 5 memory", "figure 7", "figure 8", "figure 11", "lending", "packets", "sensitivity"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")
        for case in lending.CASES:
            self.assertIn(f"| {case} |", text)
        over = max(float(share) for share in re.search(r"\| TP 4, PP 14, lending \| [\d.]+ \| \+([\d.]+) \| [\d.]+ \| \+([\d.]+) \|", text).groups())
        self.assertLessEqual(over, 2.0)  # lending costs at most 2 % over free memory


if __name__ == "__main__":
    unittest.main()
