"""The parts of the study of PrimePar on a made-up simulator."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import _parts
import made_up
import primepar
from _primepar import PARTS, bench, mlp, optimum, prediction, three_d
from _primepar.bench import BIT_COUNTS, Bench, Cell, all_degrees, in_range, cut_by, inside_nodes, layers_in, nearest
from tessera_analysis.plot import save
from tessera_analysis.primepar_figures import brief, lane_of, places, slices_of, square_slices, steps_of

RANGE = ["cells", "in_range", "below", "above"]


def ranges(prefix):
    """Of a table's speedups over each baseline, and what its search says of itself."""
    return [*[f"{prefix}{baseline}_{key}" for baseline in "abc" for key in RANGE], f"{prefix}predicted_over_c"]


KEYS = {  # of the summary line, by part
    "throughput": [*RANGE, *ranges(""), *[f"{end}_{baseline}" for baseline in "abc" for end in ("min", "max")], *[f"memory_{key}" for key in RANGE]],
    "algorithms": [key for table in ("ring_", "ring_overlapped_", "hierarchical_", "hierarchical_overlapped_") for key in ranges(table)],
    "batches": [key for batch in (1, 2, 4, 16, 32) for key in ranges(f"batch_{batch}_")],
    "sensitivity": ranges(""),
    "mlp": [*RANGE, "mlp_speedup", "mlp_collectives", "mlp_bytes_baseline", "mlp_bytes_primepar"],
    "3d": [*[f"speedup_3d_{model}" for model in ("opt-175b", "llama2-70b", "bloom-176b")], "too_large_3d"],
    "wafer": ["wafer_over_c"],
    "fused": ["over_c_apart", "over_c_fused", "fused_predicted_pct"],
    "optimum": ["optimum_plans", "optimum_least_pct", "optimum_greatest_pct", "optimum_gain_pct"],
    "prediction": ["plans", "correlation", "within_5_pct", "least_pct", "greatest_pct"],
}


def outcome_of(name):
    with contextlib.redirect_stdout(io.StringIO()):
        return _parts.run(PARTS, Bench(made_up.Simulator()), [name])


class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.correlation, prediction.correlation = prediction.correlation, lambda pairs: 1.0  # all predictions are equal
        cls.outcomes = {name: outcome_of(name) for name in PARTS}
        prediction.correlation = cls.correlation

    def test_every_table_and_picture_has_its_place_in_the_page(self):
        page = primepar.PAGE.read_text() + _parts.notebook_of(primepar.PAGE).read_text()
        for name, outcome in self.outcomes.items():
            self.assertTrue(outcome.tables or outcome.pictures, name)
            places = [f"<!-- {place} -->" for place in outcome.tables] + [f"(primepar/{picture}.svg)" for picture in outcome.pictures]
            self.assertEqual([place for place in places if place not in page], [], name)

    def test_every_picture_beside_the_page_has_a_part_that_draws_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for outcome in self.outcomes.values():
                for name, (draw, values) in outcome.pictures.items():
                    self.assertTrue(save(pathlib.Path(folder) / f"{name}.svg", draw, *values))
            drawn = sorted(path.name for path in pathlib.Path(folder).iterdir())
            self.assertEqual(sorted(path.name for path in primepar.PAGE.with_suffix("").iterdir()), drawn)

    def test_a_part_has_its_own_keys(self):
        for name, outcome in self.outcomes.items():
            line = _parts.summary("primepar", outcome, name)
            keys = [word.partition("=")[0] for word in line.removeprefix("summary: ").split()]
            goals = ["mean_abs_deviation_pct", "max_abs_deviation_pct"] if name in ("throughput", "mlp", "3d") else []
            self.assertEqual(keys, ["study", "part", *goals, *KEYS.get(name, [])])


class Pages(unittest.TestCase):
    def test_they_are_short_and_so_are_their_lines(self):
        for page in (primepar.PAGE, _parts.notebook_of(primepar.PAGE)):
            lines = page.read_text().splitlines()
            self.assertLess(len(lines), 250, page.name)
            self.assertEqual([line for line in lines if len(line) > 200], [], page.name)


class Writing(unittest.TestCase):
    def test_a_table_goes_to_the_page_that_has_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "study.md"
            page.write_text("<!-- one -->old<!-- end one -->")
            _parts.notebook_of(page).write_text("<!-- two -->old<!-- end two -->")
            _parts.write(_parts.Outcome(tables={"one": "new", "two": "newer"}), page)
            self.assertEqual(page.read_text(), "<!-- one -->new<!-- end one -->")
            self.assertEqual(_parts.notebook_of(page).read_text(), "<!-- two -->newer<!-- end two -->")
            with self.assertRaises(SystemExit):
                _parts.write(_parts.Outcome(tables={"three": "new"}), page)


class Cells(unittest.TestCase):
    def test_baseline_a_is_tensor_parallel_inside_nodes_and_replicates_across(self):
        self.assertEqual(inside_nodes(Cell("opt-175b", 32)), (3, 2))
        self.assertEqual(inside_nodes(Cell("opt-175b", 4)), (0, 2))
        self.assertEqual(inside_nodes(Cell("opt-175b", 32, batch=2)), (1, 4))  # two sequences: two replicas
        self.assertEqual(cut_by(inside_nodes(Cell("opt-175b", 32))), (("strategy.tensor", 4),))

    def test_baseline_b_is_every_degree_that_sequences_and_heads_allow(self):
        self.assertEqual(all_degrees(Cell("opt-175b", 32)), [(0, 5), (1, 4), (2, 3), (3, 2)])  # 8 sequences; 96 heads are 32 x 3
        self.assertEqual(all_degrees(Cell("llama2-70b", 32)), [(2, 3), (3, 2)])  # 8 heads of keys and values
        self.assertEqual(all_degrees(Cell("opt-6.7b", 4, batch=1)), [(0, 2)])

    def test_layers_are_as_many_as_fit(self):
        # A layer takes 1 GB of 32; BLOOM-7B1 has no more than 30, and 8 heads cannot be cut over 16 GPUs.
        cells = {Cell("opt-175b", 8): 32, Cell("bloom-7b1", 8): 30, Cell("llama2-70b", 16, batch=1): 0}
        self.assertEqual(Bench(made_up.Simulator()).layers_that_fit(cells), cells)
        self.assertEqual(layers_in(Cell("opt-175b", 8), *[{"peak_memory": peak, "memory_capacity": 10} for peak in (4, 6)]), 4)

    def test_cells_are_compared_in_two_sweeps(self):
        class Counting(made_up.Simulator):
            sweeps = 0

            def attempts(self, jobs):
                self.sweeps += 1
                return super().attempts(jobs) if self.sweeps < 3 else [{}] * len(jobs)

            many = attempts

        simulator = Counting()
        one, none = Bench(simulator).compare_all([Cell("opt-175b", 32), Cell("llama2-70b", 16, batch=1)])
        self.assertEqual((one.layers, none.layers, none.primepar), (32, 0, None))
        asked = [job for job in simulator.jobs if job["model.layers"] == 32]
        self.assertEqual([job.get("strategy.tensor") for job in asked[:7]], [4, None, None, 32, 16, 8, 4])
        self.assertEqual([job.get("strategy.temporal") for job in asked[:3]], [None, "false", None])

    def test_ranges_hold_what_rounds_into_them(self):
        self.assertEqual(in_range([1.104, 1.106, 1.68, 1.69, 1.0]), {"cells": 5, "in_range": 2, "below": 2, "above": 1})
        self.assertEqual([nearest(value)[0] for value in (1.0, 1.2, 2.0)], [1.11, 1.2, 1.68])


class Ways(unittest.TestCase):
    def test_a_pipeline_has_every_degree_that_sequences_and_heads_allow(self):
        ways = three_d.given_ways(made_up.Simulator())
        self.assertEqual(sorted({stages for _, stages in ways}), [1, 2, 4, 8])
        self.assertIn(three_d.Way(8, 16, 4), ways["llama2-70b", 8])
        self.assertIn(three_d.Way(1, 1, 2), ways["llama2-70b", 1])
        self.assertNotIn(three_d.Way(1, 1, 1), ways["llama2-70b", 1])  # 16 sequences
        self.assertNotIn(three_d.Way(8, 16, 2), ways["llama2-70b", 8])  # a micro-batch of one sequence
        self.assertNotIn(three_d.Way(1, 4, 32), ways["llama2-70b", 1])  # eight heads of keys and values
        self.assertIn(three_d.Way(1, 4, 32), ways["opt-175b", 1])  # 96 heads
        self.assertEqual(sum(map(len, ways.values())), 78)

    def test_a_row_has_the_fastest_of_each_side_and_searches_what_the_given_ones_are_best_with(self):
        simulator = made_up.Simulator()
        one = next(one for one in three_d.compare(simulator) if (one.model, one.stages) == ("opt-175b", 4))
        own = [job for job in simulator.jobs if (job["model.include"], job["strategy.pipeline"]) == ("opt-175b", 4)]
        self.assertLessEqual(one.b[1]["iteration_time_ps"], one.a[1]["iteration_time_ps"])
        self.assertEqual(one.a[0].tensor, 4)  # in the node
        searched = {job["strategy.micro_batches"] for job in own if "strategy.temporal" in job}
        self.assertEqual(searched, {one.b[0].micro_batches, max(4, one.b[0].micro_batches // 2)})
        self.assertEqual({job["model.layers"] for job in own if "strategy.temporal" in job}, {three_d.LAYERS})


class Draws(unittest.TestCase):
    def test_a_drawn_plan_uses_all_bits_and_is_the_same_again(self):
        bits = {"P(2x2)": 2, "P(4x4)": 4}
        for gpus, count in prediction.SHARES.items():
            for number in range(count):
                plan = prediction.draw(gpus, number)
                self.assertEqual(plan, prediction.draw(gpus, number))
                for text in plan.values():
                    self.assertEqual(sum(bits.get(part, 1) for part in text.strip("{}").split(", ")), BIT_COUNTS[gpus])

    def test_there_are_p_4x4_across_nodes_and_reversed_layouts(self):
        plans = [prediction.draw(16, number) for number in range(prediction.SHARES[16])]
        self.assertGreaterEqual(sum("{P(4x4)}" in plan.values() for plan in plans), 40)
        self.assertEqual(sum(prediction.SHARES.values()), prediction.PLANS)

    def test_correlation(self):
        self.assertAlmostEqual(bench.correlation([(1, 2), (2, 4), (3, 6)]), 1)
        self.assertAlmostEqual(bench.correlation([(1, 1), (2, -1), (3, 1), (4, -1)]), -0.4472, places=4)

    def test_near_the_optimum_are_plans_within_5_percent_that_can_run(self):
        result = {"iteration_time_ps": 980, "plan": {}, "search": [("search", 1000, 1000), ("search", 1050, 980), ("search", 1051, 900), ("tensor parallel", 1000, 0)]}
        self.assertEqual(optimum.near(result), [(1000, 1000), (1050, 980)])
        self.assertAlmostEqual(optimum.gain(result), 1000 / 980)

    def test_ranks_are_shared_by_equals(self):
        self.assertEqual(optimum.ranks([5, 3, 5, 1]), [2.5, 1, 2.5, 0])
        self.assertEqual(optimum.rank_correlation([(1, 4), (2, 3), (3, 1)]), "-1.00")
        self.assertEqual(optimum.rank_correlation([(1, 4), (2, 4), (3, 4)]), "-")


class Transfers(unittest.TestCase):
    def test_they_begin_with_their_step_and_take_as_long_as_with_nothing_beside_them(self):
        result = {"intervals": [("fc1", 0.0, 5.0), ("fc1", 5.0, 9.0), ("fc1 ring", 9.0, 9.5), ("fc2 dgrad", 20.0, 30.0)]}
        free = {"intervals": [("fc1", 0.0, 0.0), ("fc1 ring", 0.0, 2.0), ("fc1", 2.0, 2.0), ("fc1 ring", 2.0, 3.0), ("fc2 dgrad", 3.0, 3.0), ("fc2 dgrad ring", 3.0, 7.0)]}
        self.assertEqual(mlp.transfers(result, free), [(0.0, 2.0), (5.0, 6.0), (20.0, 24.0)])


class Tiles(unittest.TestCase):
    def products(self, phase, step):
        names = {"forward": "mnk", "backward": "mkn"}[phase]
        rows = []
        for row in range(4):
            slices = [square_slices(phase, row, column, step, 4) for column in range(4)]
            rows.append([tuple(each[name] for name in names) for each in slices])
        return rows

    def test_the_last_step_of_the_forward_pass_is_the_slides(self):
        # "O00 += I03 x W30, O01 += I00 x W01, ...": the first and the third row
        found = self.products("forward", 3)
        self.assertEqual(found[0], [(0, 3, 0), (0, 0, 1), (0, 1, 2), (0, 2, 3)])
        self.assertEqual(found[2], [(2, 1, 0), (2, 2, 1), (2, 3, 2), (2, 0, 3)])

    def test_every_product_is_computed_once_a_phase(self):
        for phase in ("forward", "backward", "gradient"):
            found = {tuple(square_slices(phase, r, c, t, 8).values()) for r in range(8) for c in range(8) for t in range(8)}
            self.assertEqual(len(found), 8**3)

    def test_every_product_of_a_partition_is_computed_once_a_phase(self):
        for partition, count in (([2], 4**3), (["N", 1], 2 * 2**3), ([1, "K", "M"], 2 * 2 * 2**3), ([1, 1], 4**3)):
            devices = len(places(partition))
            for phase in ("forward", "backward", "gradient"):
                found = {tuple(slices_of(partition, device, phase, step).values()) for device in range(devices) for step in range(steps_of(partition))}
                self.assertEqual(len(found), count)
                self.assertEqual(devices * steps_of(partition), count)

    def test_a_dimension_before_a_square_is_the_upper_half_of_the_slice(self):
        # {N, P(2x2)}, device 101: N's bit is 1, row 0, column 1; forward at t = 0: n = 2 * 1 + (0 + 1), k = 1
        self.assertEqual(slices_of(["N", 1], 0b101, "forward", 0), {"m": 0, "n": 3, "k": 1})
        self.assertEqual(len(set(places(["N", 1]))), 8)

    def test_the_last_step_of_the_gradient_phase_is_the_slides(self):
        # dW00 += I03^T dO30, dW11 += I13^T dO31: m = 3, and n, k as in the first step of the forward pass
        found = [square_slices("gradient", 0, column, 3, 4) for column in range(4)]
        self.assertEqual([(each["n"], each["k"], each["m"]) for each in found], [(0, 0, 3), (1, 1, 3), (2, 2, 3), (3, 3, 3)])


class Lanes(unittest.TestCase):
    def test_what_is_drawn_where(self):
        self.assertEqual(lane_of("fc2 O all-reduce", "baseline"), "all-reduce inside nodes")
        self.assertEqual(lane_of("fc2 dW all-reduce", "baseline"), "all-reduce across nodes")
        self.assertEqual(lane_of("fc2 O all-reduce", "PrimePar"), "all-reduce across nodes")
        self.assertEqual(brief("fc2 wgrad"), "fc2\ndW")
        self.assertEqual([lane_of(label, "PrimePar") for label in ("fc1 wgrad ring", "fc1 to activation", "fc1 wgrad", "gelu")],
                         ["ring", "redistribution", "computing", "computing"])


if __name__ == "__main__":
    unittest.main()
