"""The part `search` of the study of WATOS: what its tables say of searches that were made up, and that its page is what it writes."""

import pathlib
import re
import unittest

import pandas
from _watos import search_omega, search_plans, search_predictor, search_steps

PS = 10**12
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "validation" / "watos-search.md"


def row(origin, predicted, simulated, accepted=0, candidate="TP 8, PP 7, 2x4", reason="slower"):
    return {"origin": origin, "predicted_ps": round(predicted * PS), "cost_ps": round(simulated * PS), "accepted": accepted, "candidate": candidate, "reason": reason}


def searched(*rows):
    taken = next(one for one in rows if one["accepted"])
    return {"tried": pandas.DataFrame(rows), "iteration_time_ps": taken["cost_ps"]}


class Steps(unittest.TestCase):
    def test_each_step_is_a_search_of_its_own_and_one_that_hurts_is_counted(self):
        asked = []

        class Simulator:
            def searched(self, jobs):
                found = []
                for _, settings in jobs:
                    settings = dict(settings)
                    asked.append(settings)
                    step, is_fixed = settings["strategy.search.step"], "strategy.tensor" in settings
                    time = {"scheduler": 4.0 if is_fixed else 3.0, "recomputation": 2.0, "memory": 2.5, "genetic": 2.0}[step]
                    found.append(searched(row("memory" if step == "genetic" else step, time, time, accepted=1, candidate="TP 2")))
                return found

        outcome = search_steps.study(Simulator())
        self.assertEqual(len(asked), 5 * len(search_steps.MODELS))
        self.assertTrue(all(settings["strategy.search.rivals"] == "false" for settings in asked))
        self.assertIn("| GPT-175B | 4.000 | 3.000 | 2.000 | 2.500 | 2.000 | +33.3 | +100.0 | +60.0 | +100.0 |", outcome.tables["figure 18"])
        self.assertIn("| GPT-175B | TP 2 | TP 2 | TP 2 | TP 2 | TP 2 (memory) |", outcome.tables["figure 18 plans"])
        self.assertEqual(outcome.summary, {"steps_that_hurt": len(search_steps.MODELS)})


class Plans(unittest.TestCase):
    ROWS = (row("genetic", 9.9, 10.0, accepted=1, reason=""), row("memory", 9.8, 10.5), row("MG-wafer (a)", 11.0, 11.0, candidate="by rule"),
            row("MG-wafer (b)", 12.0, 0, candidate="not run", reason="struck out by its bound"), row("cuts", 1.0, 0, reason="needs 76.3 GB"))

    def test_of_each_kind_the_best_counts_and_what_was_struck_out_is_said(self):
        text = search_plans.rivals({(64, 1): self.ROWS, (64, 2): self.ROWS})
        for line in ("| 64 | 1 | the search | TP 8, PP 7, 2x4 | 9.900 | 10.000 | +0.00 |", "| 64 | 1 | MG-wafer (a) | by rule | 11.000 | 11.000 | +10.00 |",
                     "| 64 | 2 | MG-wafer (b) | not run | 12.000 | bound is slower | +20.00 |", "| 64 | 1 | bar of the trial |  |  | 11.230 | +12.30 |"):
            self.assertIn(line, text)
        self.assertEqual(text.count("bar of the trial"), 1)

    def test_predictions_are_judged_on_random_plans_and_the_choice_against_all(self):
        drawn = [row("random", 10 + number, 10 + 1.01 * number, candidate=f"TP {1 + number % 2}") for number in range(24)]
        faster = row("random", 9.5, 9.6, candidate="TP 1")
        outcome = search_plans.predictions([*self.ROWS, *drawn, faster])
        self.assertEqual(outcome.summary["correlation"], "1.0000")
        self.assertEqual(outcome.summary["near_rank_correlation"], "1.000")
        self.assertEqual(outcome.summary["chosen_within_pct"], "4.17")  # 10.0 over 9.6
        self.assertIn("| the plan that is predicted to be the fastest % | 0.00 |", outcome.tables["predictions"])
        self.assertIn("| TP 2 | 12 | 11.010 |", outcome.tables["predictions by cut"])


class Omega(unittest.TestCase):
    def test_fitness_is_relative_to_the_best_of_all_at_the_generation_of_each_curve(self):
        curve = lambda at_30, last: [8.0] * 30 + [at_30] * 70 + [last]
        outcome = search_omega.outcome_of({(0.0, 0): curve(4, 2), (0.0, 1): curve(6, 2), (1.0, 0): curve(3, 3), (1.0, 1): curve(3, 5)})
        self.assertIn("| 0.0 | 4.00 +- 0.00 | 4.00 +- 0.00 | 2.50 +- 0.71 | 1.00 +- 0.00 |", outcome.tables["omega"])
        self.assertIn("- Lowest mean at generation 30: omega 1.0.", outcome.tables["omega best"])
        self.assertEqual(outcome.summary, {"best_omega": "0.0"})

    def test_what_the_genetic_search_begins_and_ends_with_is_told_apart(self):
        class Simulator:
            def searched(self, jobs):
                return [searched(row("genetic", 12.0, 12.1), row("memory", 11.9, 12.0, accepted=1))]

        text = search_omega.by_fitness(Simulator())
        self.assertIn("| product | begins with | 11.900 | 12.000 |", text)
        self.assertIn("| time | ends with | 12.000 | 12.100 |", text)


class Predictor(unittest.TestCase):
    def test_both_plans_are_carried_out_with_what_the_network_has_learnt_from(self):
        class Simulator:
            def train(self, experiment, file):
                self.file = file

            def under(self, costs, experiment, settings):
                assert dict(costs) == {"cost.model": "dataflow"}
                is_predicted = dict(settings)["cost.model"] == "predictor"
                return {"iteration_time_ps": (101 if is_predicted else 100) * PS // 10, "devices": 56, "stages": [{}] * (14 if is_predicted else 7)}

        outcome = search_predictor.study(Simulator())
        self.assertIn("| plan found under predictor | TP 4, PP 14 | 10.100 | +1.00 |", outcome.tables["predictor"])
        self.assertEqual(outcome.summary, {"predictor_slower_pct": "1.00"})


class Page(unittest.TestCase):
    def test_it_has_a_place_for_each_table_and_its_cases(self):
        text = PAGE.read_text()
        for name in ("figure 18", "figure 18 plans", "rivals", "predictions", "predictions by cut", "omega", "fitness", "predictor"):
            self.assertRegex(text, rf"(?s)<!-- {name} -->\n\n\|.*\|\n\n<!-- end {name} -->")
        self.assertRegex(text, r"(?s)<!-- omega best -->\n\n- .*\n\n<!-- end omega best -->")
        for model in search_steps.MODELS:
            times = [float(time) for time in re.search(rf"\| {model} \|((?: [\d.]+ \|){{5}})", text).group(1).split("|")[:5]]
            self.assertEqual(times, sorted(times, reverse=True), model)  # no step hurts
        for omega in search_omega.OMEGAS:
            self.assertIn(f"| {omega:.1f} |", text)

    def test_it_reaches_what_the_issue_asks_for(self):
        text = PAGE.read_text()
        value = lambda name: float(re.search(rf"\| {re.escape(name)} \| ([-+\d.]+) \|", text).group(1))
        self.assertGreaterEqual(value("correlation"), 0.97)
        self.assertLessEqual(value("median deviation %"), 5.0)
        self.assertLessEqual(value("the search's plan over the fastest of all that were simulated %"), 2.0)
        self.assertLessEqual(float(re.search(r"\| plan found under predictor \| [^|]+ \| [\d.]+ \| ([-+\d.]+) \|", text).group(1)), 1.0)
        for batch, micro_batch in search_plans.BARS:
            over = float(re.search(rf"\| {batch} \| {micro_batch} \| bar of the trial \|  \|  \| [\d.]+ \| ([-+\d.]+) \|", text).group(1))
            self.assertGreaterEqual(over, 0.0)  # the bar is no faster than the chosen plan


if __name__ == "__main__":
    unittest.main()
