"""The study of partitions over chiplets: what its tables say of searches that were made up."""

import unittest

import pandas

from _mcm import PARTS, calibration, jobs

MS = 10**9


def result(costs, refined, bound=1.0):
    """A search that tried these ms, and what was refined; what is foretold is what is simulated, as on idle links."""
    rows = [{"candidate": f"sample {i}", "cost_ps": int(cost * MS), "predicted_ps": int(cost * MS), "most_memory_B": (i + 1) * 20_000_000} for i, cost in enumerate(costs)]
    rows.append({"candidate": "refined", "cost_ps": int(refined * MS), "predicted_ps": int(refined * MS), "most_memory_B": 10_000_000})
    best = min(value for value in (*costs, refined) if value > 0)
    return {"tried": pandas.DataFrame(rows), "plan": {"analytic interval": f"{best} ms ({best / bound:.3f} of the bound)", "nodes": "12", "chips": "3 of 4"},
            "interval_ps": int(best * MS), "iteration_time_ps": int(9 * MS), "busiest_link": 0.25, "peak_memory": 30_000_000}


class Simulator:
    """Every search finds 2 and 3 ms and refines to 1.5; on 32 MB annealing finds nothing."""

    def attempts(self, asked):
        return [None if ("strategy.search", "annealing") in settings and jobs.NO_LIMIT not in settings else result((3, 2), 1.5) for _, settings in asked]

    def many(self, asked):
        return [result((3, 2), 1.5) for _ in asked]

    def later(self, seeds):
        return self

    def summary(self, experiment, settings=()):
        return self.many([(experiment, settings)])[0]

    def seconds_of_plan(self, experiment, settings=()):
        samples = dict(settings)["strategy.samples"]
        return 0.1 + samples * (0.001 if dict(settings)["strategy.evaluator"] == "analytic" else 0.011)


def row(outcome, name, begin):
    return next(line for line in outcome.tables[name].splitlines() if line.startswith(f"| {begin}"))


class Mcm(unittest.TestCase):
    def test_every_table_has_its_place_on_the_page(self):
        page = (jobs.ROOT / "docs" / "validation" / "mcm.md").read_text()
        for part in PARTS.values():
            for name in part(Simulator()).tables:
                self.assertIn(f"<!-- {name} -->", page)

    def test_heuristics(self):
        outcome = PARTS["heuristics"](Simulator())
        # The bound is 1 ms; the best sample took 2 ms and held 40 MB, refined it takes 1.5 ms and holds 10.
        self.assertEqual(row(outcome, "mcm-bert", "contiguous"), "| contiguous | - | 2.00 | 2.00 | 1.50 | 10 | 2.00 | 2.00 | 1.50 | 10 |")
        self.assertIn("nothing fits", row(outcome, "mcm-bert", "annealing | uniform"))
        self.assertEqual(len(jobs.test_graphs()), 16)
        self.assertEqual(row(outcome, "mcm-graphs", "geometric mean").count("2.00 (1.50)"), len(jobs.SEARCHES))
        self.assertEqual(outcome.summary["bound_gap_equal_nodes"], "2.00")

    def test_tuning_takes_the_best_step_over_several_seeds(self):
        class Seeded(Simulator):
            """Bound 1 ms. A tenth of the nodes, sharpness 2, two chains: 2, 3 and 4 ms by seed; others 5 ms."""

            def __init__(self, seed=0):
                self.seed = seed

            def later(self, seeds):
                return Seeded(self.seed + seeds)

            def many(self, asked):
                best = {("strategy.annealing_nodes", 0.1), ("strategy.annealing_sharpness", 2), ("strategy.annealing_chains", 2)}
                return [result((2 + self.seed,) if best <= set(settings) else (5,), 9) for _, settings in asked]

        outcome = PARTS["tuning"](Seeded())
        self.assertEqual([outcome.summary[key] for key in ("tuned_nodes", "tuned_sharpness", "tuned_chains")], [0.1, 2, 2])
        # The geometric mean of 2, 3 and 4 is 2.884; they scatter by 1, so their mean by 0.577. Random search is 5 at every seed.
        self.assertEqual(row(outcome, "mcm-tuning", "0.1 | 2"), "| 0.1 | 2 | 5.000 | 2.884 | 5.000 | 5.000 |")
        self.assertEqual(row(outcome, "mcm-temperatures", "annealing, 0.1 to 0.001"), "| annealing, 0.1 to 0.001 | 2.884 | 0.577 |")
        self.assertEqual(row(outcome, "mcm-temperatures", "random search"), "| random search | 5.000 | 0.000 |")

    def test_calibration(self):
        # 100 partitions of 1 to 100 MB that take as long as is foretold: none of 64 MB and more is held by 64 MB.
        frame = pandas.DataFrame([{"predicted_ps": i * MS, "cost_ps": i * MS, "most_memory_B": i * 1_000_000} for i in range(1, 101)])
        self.assertAlmostEqual(calibration.pearson(frame), 1)
        self.assertEqual(calibration.invalid(frame, 64), 36)
        self.assertIsNone(calibration.pearson(frame.head(99)))
        outcome = PARTS["calibration"](Simulator())
        # Three rows of 20, 40 and 10 MB: one of them is too large for 32 MB.
        self.assertEqual(outcome.summary["invalid_pct_uniform"], "33.3")
        self.assertEqual(outcome.summary["pearson_sigma_1"], "-")

    def test_cost(self):
        outcome = PARTS["cost"](Simulator())
        self.assertEqual(row(outcome, "mcm-cost", "solver"), "| solver, and the analytical model | 1.00 |")
        self.assertEqual(row(outcome, "mcm-cost", "package"), "| package: program and simulation | 10.00 |")

    def test_beyond(self):
        outcome = PARTS["beyond"](Simulator())
        self.assertEqual(row(outcome, "mcm-beyond", "72 chips"), "| 72 chips | 3 of 4 | 1.50 | 1.50 | 25.0 | 30.0 |")
        self.assertEqual(row(outcome, "mcm-side-by-side", "both | contiguous"), "| both | contiguous | 3 of 4 | 1500 | 1.50 | 1500 | 25.0 | 30.0 |")


if __name__ == "__main__":
    unittest.main()
