"""Pictures of the candidates of a search, most of which are never simulated: what is known of them is drawn."""

import pathlib
import tempfile
import unittest

import made_up_points
import tessera_analysis
from made_up_points import left, simulated, struck_out, too_large
from tessera_analysis import axes_figure, pareto_figure, plot, style


def texts_of(figure):
    """What stands in the cells, by (tensor, pipeline)."""
    axes = figure.axes[0]
    x, y = ([int(label.get_text()) for label in labels] for labels in (axes.get_xticklabels(), axes.get_yticklabels()))
    return {(x[int(text.get_position()[0])], y[int(text.get_position()[1])]): text.get_text() for text in axes.texts}


class Candidates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def points(self, *candidates):
        return tessera_analysis.load_points(made_up_points.write(self.folder / "all.h5", candidates))

    def draw(self, points, column="iteration_time_ps"):
        with style.styled():
            return axes_figure.draw(points, column)

    def some(self):
        """(1, 1) has times of 1.5 and 1.75 s, and one whose bound struck it out. (1, 2): two bounds, and one that does not fit, so nothing
        there takes less than the lower bound, 3.5 s. (2, 2): one may take any time. (2, 1): none fits."""
        return self.points(simulated(1, 1, 1.75, 1.6), simulated(1, 1, 1.5, 1.25), struck_out(1, 1, 2.25), struck_out(1, 2, 4.5), struck_out(1, 2, 3.5),
                           too_large(1, 2), struck_out(2, 2, 2.5), left(2, 2), too_large(2, 1), too_large(2, 1))

    def test_a_cell_has_its_best_time_or_what_it_takes_at_least_or_why_nothing_fits(self):
        figure = self.draw(self.some())
        self.assertEqual(texts_of(figure), {(1, 1): "1.50", (1, 2): "≥ 3.50", (2, 2): "not sim-\nulated", (2, 1): "does not\nfit"})
        self.assertEqual(" ".join(figure._supxlabel.get_text().split()),  # however its lines are folded
                         "grey: not simulated (1 cell) grey: not simulated, at least the time given (1 cell) "
                         "hatched: does not fit into memory (1 cell), such as: some device needs at least 99 GB but has 80.0 GB "
                         "data is given by tensor and pipeline in these points")

    def test_all_bounds_are_drawn_not_only_those_of_what_was_simulated(self):
        points = self.some()
        self.assertEqual(int(points.known("bound_ps").sum()), 6)
        figure = self.draw(points, points.number("bound"))
        self.assertEqual(texts_of(figure), {(1, 1): "1.25", (1, 2): "3.50", (2, 2): "2.50", (2, 1): "does not\nfit"})
        self.assertEqual(figure._suptitle.get_text(), "Lower bound of the iteration time: A made-up search")

    def test_of_a_search_in_which_nothing_was_finished_bounds_are_drawn(self):
        points = self.points(struck_out(1, 1, 2.25), struck_out(1, 2, 3.5), left(2, 1), too_large(2, 2))
        paths = plot.plot_points(points, str(self.folder))
        self.assertEqual([pathlib.Path(path).name for path in paths], ["axes.png"])
        self.assertEqual(texts_of(self.draw(points, points.told)), {(1, 1): "2.25", (1, 2): "3.50", (2, 1): "not sim-\nulated", (2, 2): "does not\nfit"})

    def test_bounds_are_bounds_of_the_time_alone(self):
        figure = self.draw(self.some(), "peak_memory")
        self.assertEqual(texts_of(figure), {(1, 1): "10", (1, 2): "not sim-\nulated", (2, 2): "not sim-\nulated", (2, 1): "does not\nfit"})

    def test_a_curve_has_triangles_at_bounds_and_crosses_where_nothing_fits(self):
        figure = self.draw(self.points(simulated(1, 1, 2.5, 2), struck_out(2, 1, 3.5), too_large(4, 1), struck_out(8, 1, 4), left(8, 1)))
        axes = figure.axes[0]
        marks = {(line.get_marker(), float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in axes.lines[1:]}
        self.assertEqual(marks, {("^", 2, 3.5), ("x", 4, 0.03), ("x", 8, 0.03)})
        self.assertEqual([text.get_text() for text in axes.texts], ["does not fit", "not simulated"])
        self.assertEqual([line.split(" (")[0] for line in figure._supxlabel.get_text().split("\n")[:3]],
                         ["crosses: not simulated", "triangles: not simulated, at least the time given", "crosses: does not fit into memory"])

    def test_the_front_says_what_differs_and_how_many_have_no_place(self):
        points = self.points(simulated(1, 1, 1, 1, 3 * 10**10), simulated(1, 2, 2, 1, 2 * 10**10), simulated(1, 4, 3, 1, 4 * 10**10), struck_out(2, 2, 4), too_large(2, 1))
        with style.styled():
            figure = pareto_figure.draw(points, "peak_memory")
        # Those on the front both have tensor 1; 3 s with 40 GB loses against both.
        self.assertEqual(figure._supxlabel.get_text().split("\n"),
                         ["1: pipeline 2, data 4", "2: pipeline 1, data 8", "not drawn: 1 not simulated, 1 that cannot be carried out"])

    def test_on_one_machine_the_cost_is_the_time_over_again(self):
        points = self.some()
        self.assertEqual([pathlib.Path(path).name for path in plot.plot_points(points, self.folder / "out")], ["axes.png"])
        # Two machines: 8 x 2 s and 16 x 1.5 s.
        larger = {**simulated(2, 1, 1.5, 1), "devices": 16}
        drawn = plot.plot_points(self.points(simulated(1, 1, 2, 1), larger), self.folder / "two")
        self.assertIn("front_cost.png", [pathlib.Path(path).name for path in drawn])


if __name__ == "__main__":
    unittest.main()
