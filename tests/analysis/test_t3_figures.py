"""The figures of T3 on made-up rows: what is drawn, how high, and where the paper's values stand."""

import unittest

import matplotlib
import matplotlib.pyplot as pyplot

from tessera_analysis import bars, style, t3_figures
from tessera_analysis.bars import Row


class Figures(unittest.TestCase):
    def setUp(self):
        self.enterContext(style.styled())
        self.addCleanup(pyplot.close, "all")

    def heights(self, axes):
        """Of the bars, from left to right, the lower before the higher."""
        patches = sorted(axes.patches, key=lambda bar: (round(bar.get_x(), 6), bar.get_y()))
        return [round(bar.get_height(), 6) for bar in patches]

    def notes(self, axes):
        return [text.get_text() for text in axes.texts]

    def marks(self, axes):
        """Heights of the lines for stated values."""
        return [round(float(line.get_ydata()[0]), 6) for line in axes.lines]

    def labels(self, axes):
        return [label.get_text() for label in axes.get_xticklabels()]


class Chart(Figures):
    def test_groups_stand_apart(self):
        rows = [Row("a", "1", {}), Row("a", "2", {}), Row("b", "1", {})]
        self.assertEqual(bars.places(rows), [0, 1, 2 + bars.BETWEEN_GROUPS])

    def test_bars_of_a_row_are_centred(self):
        self.assertEqual(bars.offset(0, 1), 0)
        self.assertAlmostEqual(bars.offset(0, 2), -bars.offset(1, 2))

    def test_each_group_is_named_once(self):
        times = {"gemm": 1, "reduce-scatter": 1, "all-gather": 1}
        figure = t3_figures.sublayer_time([Row("a", "OP", times), Row("a", "IP", times), Row("b", "OP", times)])
        self.assertEqual(self.labels(figure.axes[0]), ["OP", "IP", "OP"])
        self.assertEqual(self.notes(figure.axes[0]), ["a", "b"])


class SubLayers(Figures):
    def test_time_is_drawn_in_shares(self):
        figure = t3_figures.sublayer_time([Row("T-NLG, TP 8", "OP", {"gemm": 1.0, "reduce-scatter": 2.0, "all-gather": 1.0})])
        self.assertEqual(self.heights(figure.axes[0]), [25, 50, 25])

    def test_iterations_have_other_operations_as_well(self):
        figure = t3_figures.iteration_time([Row("training", "T-NLG, TP 8", {"gemm": 1.0, "reduce-scatter": 1.0, "all-gather": 1.0, "other": 5.0})],
                                           {("training", "T-NLG, TP 8"): 0.43})
        self.assertEqual(self.heights(figure.axes[0]), [12.5, 12.5, 12.5, 62.5])
        self.assertEqual(self.marks(figure.axes[0]), [55.5])  # the GEMM's 12.5, and 43
        self.assertIn("43 %", self.notes(figure.axes[0]))

    def test_speedups_begin_at_one_and_near_memory_stands_out_over_the_ideal(self):
        values = {"t3": 1.2, "t3-mca": 1.3, "ideal-gemm-rs-overlap": 1.4, "ideal-rs-nmc": 1.45}
        figure = t3_figures.sublayer_speedups([Row("T-NLG, TP 8", "OP", values)], {("T-NLG, TP 8", "OP"): {"t3": 1.25, "ideal-gemm-rs-overlap": 1.5}})
        axes = figure.axes[0]
        self.assertEqual(sorted(self.heights(axes)), [0.2, 0.3, 0.4, 0.45])
        self.assertEqual({bar.get_y() for bar in axes.patches}, {1.0})
        self.assertEqual(self.marks(axes), [1.25, 1.5])
        self.assertEqual(self.notes(axes)[:2], ["1.20 (1.25)", "1.40 (1.50)"])
        self.assertEqual(axes.get_ylim()[0], 1)

    def test_a_slowdown_is_visible(self):
        figure = t3_figures.iteration_speedups([Row("training", "T-NLG, TP 8", {"t3": 0.9, "t3-mca": 1.1})], {})
        self.assertLessEqual(figure.axes[0].get_ylim()[0], 0.9)
        self.assertEqual(self.heights(figure.axes[0]), [-0.1, 0.1])

    def test_what_the_paper_does_not_state_is_not_marked(self):
        figure = t3_figures.iteration_speedups([Row("training", "T-NLG, TP 8", {"t3": 1.05, "t3-mca": 1.1})], {("training", "geomean"): {"t3": 1.07}})
        self.assertEqual(self.marks(figure.axes[0]), [])


class Traffic(Figures):
    def test_accesses_stand_in_pairs_with_their_change(self):
        before, after = ({name: size for name in t3_figures.TRAFFIC} for size in (20e6, 15e6))
        figure = t3_figures.data_movement([Row("T-NLG, TP 8", "OP", {"sequential": before, "t3-mca": after})],
                                          [Row("RS reads", "TP 8", {"fewer": 2.4})], {("RS reads", "TP 8"): {"fewer": 2.5}})
        accesses, fewer = figure.axes
        self.assertEqual(self.heights(accesses), [20] * 6 + [15] * 6)
        self.assertIn("-25 %", self.notes(accesses))
        self.assertEqual((self.heights(fewer), self.marks(fewer)), ([2.4], [2.5]))
        self.assertIn("2.40 (2.50)", self.notes(fewer))

    def test_rates_over_time(self):
        # 5 us each: 1 MB of reads are 200 GB/s, 0.5 MB of reads with 0.5 MB of the reduce-scatter on top the same in all
        alone = [(0, "gemm_read", 10**6), (5 * 10**6, "gemm_write", 10**6)]
        fused = [(0, "gemm_read", 5 * 10**5), (0, "reduce_scatter_write", 5 * 10**5), (0, "all_gather_read", 10**9)]
        figure = t3_figures.traffic_over_time([alone, fused, fused], [100.0, 117.0, 110.0], 5)
        tops = [[area.get_paths()[0].vertices[:, 1].max() for area in axes.collections] for axes in figure.axes]
        self.assertEqual(tops, [[200, 200, 200, 200], [100, 100, 100, 200], [100, 100, 100, 200]])
        self.assertIn("(+17 %)", figure.axes[1].get_title(loc="left"))
        self.assertIn("(+10 %)", figure.axes[2].get_title(loc="left"))
        self.assertEqual([axes.lines[0].get_xdata()[0] for axes in figure.axes], [100, 117, 110])


class Machine(Figures):
    def test_cu_sharing_shows_times_and_speedups_apart(self):
        rows = [Row("72-8", "geomean", {"gemm": 1.1, "all-reduce": 1.2, "speedup": 1.3})]
        figure = t3_figures.cu_sharing(rows, {("72-8", "geomean"): {"all-reduce": 1.41, "speedup": 1.18}})
        times, speedups = figure.axes
        self.assertEqual((self.heights(times), self.marks(times)), ([1.1, 1.2], [1.41]))
        self.assertEqual((self.heights(speedups), self.marks(speedups)), ([0.3], [1.18]))

    def test_more_cus_have_their_numbers_and_the_words_of_the_paper(self):
        figure = t3_figures.more_cus([Row("T-NLG, TP 8", "OP", {"80 CUs": 1.3, "160 CUs": 1.17})], {("T-NLG, TP 8", "OP"): "paper: gains less"})
        self.assertEqual(self.heights(figure.axes[0]), [0.3, 0.17])
        self.assertEqual(self.notes(figure.axes[0])[1:], ["1.30", "1.17", "paper: gains less"])

    def test_reduce_scatter_against_closed_form(self):
        figure = t3_figures.reduce_scatter([(6, 100e-6, 101e-6), (12, 200e-6, 200e-6)])
        times, errors = figure.axes
        self.assertEqual(self.notes(times), ["6 MiB", "12 MiB"])
        self.assertEqual(errors.lines[0].get_ydata().round(6).tolist(), [1, 0])


class Looks(Figures):
    def test_what_stands_together_differs_in_grey_or_in_hatch(self):
        groups = [t3_figures.KERNELS, [*t3_figures.KERNELS, "other"], t3_figures.TRAFFIC, ("80 CUs", "160 CUs"), ("gemm", "all-reduce"),
                  [name for bar in t3_figures.T3_BARS for name in bar]]
        for names in groups:
            seen = []
            for name in names:
                red, green, blue, _ = matplotlib.colors.to_rgba(t3_figures.LOOKS[name]["facecolor"])
                grey, hatch = 0.299 * red + 0.587 * green + 0.114 * blue, t3_figures.LOOKS[name].get("hatch")
                for other, other_grey, other_hatch in seen:
                    self.assertTrue(hatch != other_hatch or abs(grey - other_grey) > 0.15, (name, other))
                seen.append((name, grey, hatch))


if __name__ == "__main__":
    unittest.main()
