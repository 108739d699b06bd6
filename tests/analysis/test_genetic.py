"""Genetic searches by generation: of tables as strategy `watos` writes them."""

import unittest

import pandas
from matplotlib import pyplot
from tessera_analysis import genetic_figure, style


class Made:
    """A result of a search with these curves by cut."""

    title, tables = "made up", {"genetic"}

    def __init__(self, curves):
        self.curves = curves

    def table(self, name):
        assert name == "genetic"
        rows = [(number, cut, generation, fitness) for number, (cut, curve) in enumerate(self.curves) for generation, fitness in enumerate(curve)]
        return pandas.DataFrame(rows, columns=["candidate", "cut", "generation", "fitness"])


def drawn(results):
    with style.styled():
        return genetic_figure.draw(results)


class Genetic(unittest.TestCase):
    def setUp(self):
        self.addCleanup(pyplot.close, "all")

    def test_each_candidate_has_a_line_with_its_fitness_by_generation(self):
        (axes,) = drawn(Made([("TP 4, PP 14, 2x2", [9.0, 4.0, 3.0]), ("TP 8, PP 7, 2x4", [8.0, 8.0, 2.0])])).axes
        self.assertEqual([list(line.get_ydata()) for line in axes.lines], [[9.0, 4.0, 3.0], [8.0, 8.0, 2.0]])
        self.assertEqual([line.get_label() for line in axes.lines], ["TP 4, PP 14, 2x2", "TP 8, PP 7, 2x4"])
        self.assertEqual(axes.get_yscale(), "linear")

    def test_candidates_of_one_cut_are_two_lines(self):
        (axes,) = drawn(Made([("TP 1, PP 2", [3.0, 2.0]), ("TP 1, PP 2", [4.0, 1.0])])).axes
        self.assertEqual(len(axes.lines), 2)

    def test_fitness_over_orders_of_magnitude_is_logarithmic_unless_there_is_none(self):
        for least, scale in ((1e19, "log"), (0.0, "linear")):
            (axes,) = drawn(Made([("one stage", [1e22, least])])).axes
            self.assertEqual(axes.get_yscale(), scale)

    def test_where_nothing_was_bred_there_is_no_picture(self):
        nothing = Made([])
        self.assertIsNone(drawn(nothing))
        nothing.tables = set()
        self.assertIsNone(drawn(nothing))


if __name__ == "__main__":
    unittest.main()
