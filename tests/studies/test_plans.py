"""The study of the fastest cuts: what its tables say of searches and runs that were made up."""

import unittest

import pandas

from _plans import PARTS, cuts

PS = 10**12


def candidate(point, fate, time=0, bound=0, **keys):
    return {"point": point, "fate": fate, "iteration_time_ps": int(time * PS), "bound_ps": int(bound * PS)} | keys


class Simulator:
    """The published cut takes 12 s; the fastest 10 s, of which 7 s compute, or without a word on recomputation 8 s."""

    def __init__(self):
        self.asked = []

    def many(self, jobs):
        return [{"iteration_time_ps": 12 * PS, "peak_memory": 60 * 10**9, "mean_forward_ps": 9 * PS, "mean_bubble_ps": 3 * PS} for _ in jobs]

    def fastest(self, experiment, settings=(), limits=()):
        self.asked.append((experiment, dict(settings)["strategy.recomputation"], limits))
        best = 8 if dict(settings)["strategy.recomputation"] == "any" else 10
        frame = pandas.DataFrame([candidate(0, "does not fit", tensor=1), candidate(1, "struck out by its bound", bound=best + 1, tensor=2),
                                  candidate(2, "left", bound=best - 0.1, tensor=4), candidate(3, "simulated", best + 0.5, best - 1, tensor=8),
                                  candidate(4, "simulated", best, best - 2, tensor=16)])
        return {"iteration_time_ps": best * PS, "peak_memory": 70 * 10**9, "mean_forward_ps": (best - 3) * PS, "mean_recomputation_ps": 3 * PS}, frame, 61.4


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.simulator = Simulator()
        cls.outcome = PARTS["1t"](cls.simulator)

    def row(self, table, begin):
        return next(line for line in self.outcome.tables[f"1t {table}"].splitlines() if line.startswith(f"| {begin}"))

    def test_each_model_is_searched_in_both_published_ways_and_with_all_open(self):
        self.assertEqual(list(PARTS), ["22b", "175b", "530b", "1t"])
        self.assertEqual(self.simulator.asked, [("plans/1t.toml", way, ("--within", "2%")) for way in ("full", "selective", "any")])

    def test_searches(self):
        # Of five candidates each fate but "cannot run" is there, two were simulated. What is left might take 9.9 s: 1 % less than 10 s.
        # The published 12 s are 20 % more than 10 s.
        self.assertEqual(self.row("searches", "selective"), "| selective | 5 | 1 | 0 | 1 | 1 | 2 | 1.0 | 10.00 | 12.00 | +20.0 | 61 |")
        # 7.9 s for 8 s: 1.25 %; nothing was published without a word on recomputation.
        self.assertEqual(self.row("searches", "any"), "| any | 5 | 1 | 0 | 1 | 1 | 2 | 1.2 | 8.00 | - | - | 61 |")
        self.assertEqual(self.outcome.summary, {"slower_pct_1t_full": "20.00", "slower_pct_1t_selective": "20.00"})

    def test_times(self):
        self.assertEqual(self.row("times", "full, published"), "| full, published | 9.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 3.00 | 60.0 |")
        self.assertEqual(self.row("times", "full, fastest"), "| full, fastest | 7.00 | 3.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 70.0 |")

    def test_cuts_of_those_that_were_simulated_the_fastest_first(self):
        lines = [line for line in self.outcome.tables["1t cuts"].splitlines() if line.startswith("| full")]
        self.assertEqual([line.split(" | ")[1:3] for line in lines], [["10.00", "16"], ["10.50", "8"]])

    def test_what_is_struck_out_leaves_no_gap(self):
        self.assertEqual(cuts.gap(pandas.DataFrame([candidate(0, "simulated", 3, 1), candidate(1, "struck out by its bound", bound=4)])), 0)


if __name__ == "__main__":
    unittest.main()
