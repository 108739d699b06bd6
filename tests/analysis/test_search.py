"""What a search tried, as a picture: candidates that are out before the first one is looked at, those that a bound strikes out, predictions."""

import unittest

import pandas
from matplotlib import pyplot
from tessera_analysis import search_figure, style


class Made:
    """A result of a search: rows of (predicted s, simulated s, reason), the first one accepted."""

    title = "made up"

    def __init__(self, rows):
        ps = 10**12
        self.search = pandas.DataFrame([{"fidelity": "simulated" if cost else "estimate", "predicted_ps": predicted * ps, "cost_ps": cost * ps, "best_ps": 10 * ps if cost else 0,
                                         "accepted": int(cost == 10), "reason": reason} for predicted, cost, reason in rows])


def drawn(rows):
    with style.styled():
        return search_figure.draw(Made(rows)).axes[0]


def marks(axes):
    """Places of the marks by label."""
    return {points.get_label(): [tuple(place) for place in points.get_offsets().tolist()] for points in axes.collections}


class Search(unittest.TestCase):
    TRIED = [(11, 10, ""), (12, 13, "slower"), (14, 0, "struck out by its bound"), (0, 0, "needs 80 GB")]

    def setUp(self):
        self.addCleanup(pyplot.close, "all")

    def test_predictions_stand_beside_what_was_simulated_and_a_bound_is_no_lack_of_memory(self):
        axes = drawn(self.TRIED)
        self.assertEqual(marks(axes), {"simulated, accepted": [(0, 10)], "simulated": [(1, 13)], "predicted": [(0, 11), (1, 12)], "struck out by its bound": [(2, 9.8)],
                                       "does not fit, or cannot run": [(3, 9.8)]})
        self.assertEqual(axes.get_xlabel(), "candidate, in the order of the search")

    def test_many_that_are_out_before_the_first_one_is_looked_at_are_counted_and_not_drawn(self):
        axes = drawn([(0, 0, "needs 80 GB")] * (search_figure.MANY + 1) + self.TRIED)
        self.assertEqual(marks(axes)["does not fit, or cannot run"], [(search_figure.MANY + 4, 9.8)])
        self.assertEqual(axes.get_xlabel(), "candidate, in the order of the search; 201 before the first one are out")
        few = drawn([(0, 0, "needs 80 GB")] * search_figure.MANY + self.TRIED)
        self.assertEqual(len(marks(few)["does not fit, or cannot run"]), search_figure.MANY + 1)


if __name__ == "__main__":
    unittest.main()
