"""The study of WATOS: what its tables say of runs that were made up, and that its page is what it writes."""

import pathlib
import re
import tomllib
import unittest

from _watos import PARTS, lending, links, offloading, pipeline, sharding, shapes, streaming, wiring
from _watos.jobs import placed, stages_that_repeat

PS = 10**12
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "validation" / "watos-placement.md"
RIVALS = PAGE.with_name("watos-rivals.md")


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

    def test_exposed_communication_is_told_apart_from_waiting(self):
        class Simulator:
            def many(self, jobs):
                slower = {True: 2, False: 1}
                return [{"mean_tensor_communication_ps": 3e9 * slower[("machine.include", "blackwell-ultra-56") in settings], "mean_data_communication_ps": 1e9,
                         "mean_pipeline_communication_ps": 0, "mean_waiting_ps": 5e9, "mean_bubble_ps": 2e9, "iteration_time_ps": PS} for _, settings in jobs]

        outcome = links.study(Simulator())
        self.assertIn("| D2 T4 P7 | wafer, tiles | 3.0 | 1.0 | 0.0 | 4.0 | 1.75 | 7 | 1.000 |", outcome.tables["figure 1"])  # (6 + 1) / (3 + 1)
        self.assertEqual(outcome.summary["less_communication"], "1.75")

    def test_streaming_hides_from_the_first_batch_that_waits_for_less_than_a_hundredth(self):
        class Simulator:
            def many(self, jobs):
                waited = lambda settings: 0.5 if dict(settings).get("workload.global_batch", 64) < 84 else 1 / 200
                return [{"mean_data_communication_ps": waited(settings) * PS, "iteration_time_ps": PS, "peak_memory": 7e9} for _, settings in jobs]

        outcome = streaming.study(Simulator())
        self.assertEqual(outcome.summary, {"host_hides_from": 84, "dies_hide_from": "-"})
        self.assertIn("| host, 160 GB/s | 77 | 11 | 1.00 | 500 | 50.0 | 7.0 |", outcome.tables["streaming"])

    def test_a_host_of_another_bandwidth_is_toml(self):
        ((key, text),) = offloading.host(320)
        self.assertEqual(key, "machine.host")
        self.assertEqual(tomllib.loads(f"host = {text}")["host"][0]["bridge_bandwidth"], "320 GB/s")


class Page(unittest.TestCase):
    def test_each_part_has_a_place_and_every_place_is_filled(self):
        first = PAGE.with_name("watos.md")
        for part in PARTS:
            page = PAGE.with_name(f"watos-{part}.md")
            text = (page if page.exists() else first).read_text()
            names = re.findall(r"<!-- (?!end )(.+?) -->", text)
            self.assertTrue(names, part)
            for name in names:
                self.assertTrue(re.search(rf"(?s)<!-- {name} -->\n\n[|\-\d].*?\n\n<!-- end {name} -->", text), f"{part}: {name}")

    def test_it_has_a_place_for_each_table_and_its_cases(self):
        text = PAGE.read_text()
        for name in ("figure 5", "figure 5 memory", "figure 7", "figure 8", "figure 11", "lending", "packets", "sensitivity"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")
        for case in lending.CASES:
            self.assertIn(f"| {case} |", text)
        over = max(float(share) for share in re.search(r"\| TP 4, PP 14, lending \| [\d.]+ \| \+([\d.]+) \| [\d.]+ \| \+([\d.]+) \|", text).groups())
        self.assertLessEqual(over, 2.0)  # lending costs at most 2 % over free memory

    def test_rivals_have_a_page_with_a_place_for_each_table_and_its_cases(self):
        text = RIVALS.read_text()
        for name in ("figure 1", "figure 2", "figure 2 peak", "figure 6a", "figure 6b", "streaming", "streaming and pipelines", "memory", "memory packets",
                     "rivals sensitivity"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")
        for case in (*sharding.CASES, *streaming.BATCHES):
            self.assertIn(f"| {case} |", text)


if __name__ == "__main__":
    unittest.main()
