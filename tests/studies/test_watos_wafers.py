"""The part `wafers` of the study of WATOS: which jobs it asks for, and what its tables say of runs that were made up."""

import unittest

import pandas
from _watos import systems_rivals, wafers

PS = 10**12


def took(seconds):
    return {"iteration_time_ps": round(seconds * PS)}


def searched(seconds, bound):
    plan = pandas.DataFrame([{"candidate": "TP 8, PP 7", "accepted": 1}])
    return took(seconds) | {"predicted": {"bound": round(bound * PS)}, "tried": plan, "mean_recomputation_ps": 0}


class Wafers(unittest.TestCase):
    def test_both_links_carry_each_model(self):
        asked = []

        class Simulator:
            def searched(self, jobs):
                asked.extend(dict(settings) for _, settings in jobs)
                return [searched(number + 1, 1) for number in range(len(asked))]

        found = wafers.on_wafers(Simulator())
        self.assertEqual(found["WATOS-4", "GPT-175B"]["iteration_time_ps"], 1 * PS)  # the longest search begins
        for (link, model), one in found.items():
            settings = asked[one["iteration_time_ps"] // PS - 1]
            self.assertEqual(settings["machine.topology.wafer_bandwidth"], wafers.LINKS[link])
            self.assertEqual(settings["model.include"], wafers.MODELS[model].file)
            self.assertEqual(settings.get("strategy.expert_parallel"), 8 if model == "DeepSeek-V3" else None)
        self.assertEqual(len(found), 6)

    def test_gains_are_times_of_gpus_over_ours(self):
        found = {(link, model): searched(2, 1.5) for link in wafers.LINKS for model in wafers.MODELS}
        found |= {((way, memory), model): took(3) if memory == "490 GB" else None for way in systems_rivals.ON_GPUS for memory in wafers.MEMORIES for model in wafers.MODELS}
        self.assertIn("| Llama3-405B | 1.50 | 1.50 | 1.50 | 1.50 |  |  |  |  |", wafers.gains(found))
        self.assertIn("| GPT-175B | 1.50 | 2.00 | 1.50 | 2.00 | 3.00 | 3.00 | does not fit | does not fit |", wafers.times(found))
        self.assertEqual(wafers.counts(found)["wafers_gain_grows"], "0/4")  # all are equal

    def test_a_gain_grows_if_every_larger_model_has_more(self):
        self.assertTrue(wafers.grows_with_size([1.1, 1.2]))
        self.assertFalse(wafers.grows_with_size([1.1, None]))
        self.assertFalse(wafers.grows_with_size([1.1, 1.3, 1.2]))


if __name__ == "__main__":
    unittest.main()
