"""The parts `faults`, `strategies` and `fused` of the study of WATOS: what their tables say of runs that were made up, and that their pages
are what they write."""

import pathlib
import re
import tempfile
import tomllib
import unittest

import pandas
from _parts import Outcome, claims_of
from _watos import faults, fused, strategies
from _watos.planned import at_places, settings_of

PS = 10**12
PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "validation"
PLAN = """[strategy]
name = "watos"
tensor = 2
spare_devices = "idle"
[strategy.search]
step = "memory"
[[strategy.stages]]
devices = [0, 1]
recomputation = ["none"]
[[strategy.stages]]
devices = [2, 3]
"""


def result(time, bound=1.0, candidate="TP 8, PP 7, 2x4"):
    parts = {f"mean_{one}_ps": PS for one in ("forward", "backward", "recomputation", "tensor_communication", "waiting", "bubble")}
    return {"iteration_time_ps": round(time * PS), "predicted": {"bound": round(bound * PS)}, "tried": pandas.DataFrame([{"candidate": candidate, "accepted": 1}]), **parts}


class Planned(unittest.TestCase):
    def test_a_plan_is_settings_without_its_search_and_can_stand_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.toml"
            path.write_text(PLAN)
            settings = settings_of(path)
        self.assertEqual([key for key, _ in settings], ["strategy.tensor", "strategy.spare_devices", "strategy.stages"])
        self.assertEqual(dict(settings)["strategy.spare_devices"], '"idle"')
        moved = tomllib.loads(f"stages = {dict(at_places(settings, [[3, 2], [1, 0]]))['strategy.stages']}")["stages"]
        self.assertEqual(moved, [{"devices": [3, 2], "recomputation": ["none"]}, {"devices": [1, 0]}])
        with self.assertRaises(ValueError):
            at_places(settings, [[0, 1]])


class Faults(unittest.TestCase):
    def test_a_fault_is_one_line_of_toml(self):
        said = tomllib.loads("fault = " + dict(faults.fault("devices", "25 %", 3))["machine.fault"])["fault"]
        self.assertEqual(said, [{"among": "devices", "rate": 0.2, "draw": 3, "speed": "25 %"}])
        self.assertIn("dead = true", dict(faults.fault("links", "dead", 1))["machine.fault"])

    def test_draws_that_cut_dies_off_are_counted_and_replaced(self):
        def draw_of(settings):
            number = int(re.search(r"draw = (\d+)", dict(settings)["machine.fault"])[1])
            if number == 2:
                raise SystemExit("no route from die (0,0) to die (3,3)")
            return None if number == 3 else faults.Draw(number, 2 * number, None, 0.5)

        found, cut_off = faults.drawn(draw_of, "links", "dead", 3)
        self.assertEqual([one.searched for one in found], [1, 4, 5])
        self.assertEqual(cut_off, 2)

        def broken(settings):
            raise SystemExit("something else")

        with self.assertRaisesRegex(SystemExit, "something else"):
            faults.drawn(broken, "links", "dead", 3)

    def test_gains_are_of_throughput_and_their_means_geometric(self):
        """Twice and half as fast are as fast in the mean; 1.21 is 1.1 times 1.1."""
        one, other = faults.Draw(10, 20, 12.1, 8), faults.Draw(10, 5, 10, 8)
        self.assertAlmostEqual(one.gain, 100)
        self.assertAlmostEqual(faults.mean_of([one.gain, other.gain]), 0)
        rows = {("links", "50 %"): ([one, other], 0), ("devices", "50 %"): ([one], 2), ("links", "dead"): ([faults.Draw(4, 5, None, 2)], 1)}
        self.assertIn("| links | 50 % | -50.0 | +0.0 | +100.0 | +0.0 | +10.0 | +21.0 | +18 |", faults.gains(rows))
        self.assertIn("| links | dead | 1 | 1 | 2.00 | 4.00 | 0.50 | 5.00 |  |", faults.times(rows))
        self.assertEqual(faults.claims(rows)[1][1:], ("+35 %", "+100.0 %; +21.0 % over the plan where it stands", True))
        self.assertFalse(faults.claims(rows)[0][3])
        self.assertEqual(faults.summary(rows), {"gain_links_pct": "0.0", "gain_dies_pct": "100.0", "losses": 1})


class Strategies(unittest.TestCase):
    def test_groups_of_seven_fill_the_wafer_and_have_a_cycle_over_six(self):
        places = strategies.sevens()
        self.assertEqual(sorted(die for place in places for die in place), list(range(56)))
        beside = lambda a, b: abs(a % 7 - b % 7) + abs(a // 7 - b // 7) == 1
        for place in places:
            cycle = [*place[:3], *place[4:]]
            self.assertTrue(all(beside(a, b) for a, b in zip(cycle, cycle[1:] + cycle[:1])), place)
            self.assertTrue(beside(place[2], place[3]))

    def test_tiles_in_two_dimensions_fit_the_wafer(self):
        self.assertEqual({size: strategies.rows_of(size) for size in strategies.SIZES}, {2: [], 4: [2], 7: [], 8: [2, 4], 14: [2, 7], 16: [4, 8]})

    def test_2d_is_last_where_every_other_way_is_faster(self):
        time = {strategies.RING: 10, strategies.SYNTHESISED: 11, strategies.SQUARE: 12}
        best = {(size, way): result(time[way] + abs(size - 8) / 100) if way in time else None for size in strategies.SIZES for way in strategies.WAYS}
        for size in (2, 7):
            best[size, strategies.SQUARE] = None
        self.assertEqual(strategies.last(best), (4, 4))
        self.assertEqual(strategies.leads(best), {strategies.RING: 8, strategies.SYNTHESISED: 8, strategies.SQUARE: 8})
        text = claims_of(Outcome(claims=strategies.claims(best)))
        self.assertIn("| 2D TP is the worst | all | 4 of 4 | yes |", text)
        self.assertIn("| unmoved | bidirectional-ring 8, synthesised 8, 2D TP 8 | yes |", text)
        self.assertIn("| all | 0 of 2 | no |", text)
        self.assertIn("| 8 | 10.00 (0.10) |  | 11.00 (0.09) | 12.00 (0.08) | 1.00 |", strategies.times(best))
        best[16, strategies.SYNTHESISED] = result(13)
        self.assertEqual(strategies.last(best), (3, 4))

    def test_odd_groups_alone_take_ring_bi_odd(self):
        sizes = [size for size, way, _ in strategies.all_jobs() if way == strategies.ODD]
        self.assertEqual(sizes, [7])


class Fused(unittest.TestCase):
    def test_chunks_are_measured_at_the_size_that_leads_without_them(self):
        found = {(size, way): result(size + (0 if way == fused.IN_CHUNKS else 1)) for size in fused.SIZES for way in fused.WAYS}
        self.assertEqual(fused.best(found), 4)
        self.assertAlmostEqual(fused.gain(found, 4), 25)
        self.assertIn("| 4 | 3.00 | 2.00 | 5.00 | 5.00 | 4.00 | +25.0 |", fused.times({size: (3, 2) for size in fused.SIZES}, found))
        self.assertIn("| 8 | in turn | 3.00 | 1.00 | 1.00 | 1.00 |", fused.where(found))


class Pages(unittest.TestCase):
    def test_the_pages_have_places_for_all_tables_with_rows(self):
        for page, places in {"faults": ("figure 22", "figure 22 gains"), "strategies": ("figure 21 cuts", "figure 21 plans", "figure 21 sevens"), "fused": ("fused", "fused time")}.items():
            text = (PAGES / f"watos-{page}.md").read_text()
            for place in places:
                self.assertRegex(text, rf"<!-- {place} -->\n\n\|.*\|\n\|---(.|\n)*\n\n<!-- end {place} -->")
            self.assertLess(text.count("\n"), 250)


if __name__ == "__main__":
    unittest.main()
