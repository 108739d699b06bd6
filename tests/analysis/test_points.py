"""Tables of points: merged from made-up and from real runs, as data frames and as pictures."""

import contextlib
import csv
import io
import os
import pathlib
import tempfile
import types
import unittest
import warnings

import h5py
import numpy
import pandas

import made_up_sweep
import tessera_analysis
from made_up_sweep import head, row, tessera
from tessera_analysis import points as points_module
from tessera_analysis.__main__ import main
from tessera_analysis.scale import Scale

CLI = pathlib.Path(__file__).resolve().parents[1] / "cli"
NODES, BANDWIDTH, MACHINE, SEED = ({"key": key, "unit": unit} for key, unit in (
    ("machine.topology.nodes", ""), ("machine.topology.bandwidth", "B/s"), ("machine", "name"), ("simulation.seed", "")))


def command_line(*arguments):
    """As from a shell, but in this process: to start one takes seconds."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:  # argparse
            code = ended.code
    return types.SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=errors.getvalue())


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def merged(self, axes, rows, name="all"):
        path = self.folder / f"{name}.h5"
        made_up_sweep.write(self.folder / name, head(len(rows), axes), rows)
        done = tessera("merge", self.folder / name, "-o", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path

    def plot(self, path, *options):
        out = tempfile.mkdtemp(dir=self.folder)
        run = command_line("plot", path, "-o", out, *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(sorted(run.stdout.split()), sorted(os.path.join(out, name) for name in os.listdir(out)))
        return sorted(os.listdir(out))


def scaling(*nodes, axes=1):
    """8 devices a node; twice the nodes take half of the time. One node does not fit."""
    return [row(point, {"machine.topology.nodes": count}, code=0 if count > 1 else 3, time=10**12 // count, devices=8 * count,
                peak_memory=8 * 10**10 // count) for point, count in enumerate(nodes)]


class RealRuns(WithFolder):
    def test_a_row_says_what_the_result_of_its_run_says(self):
        paths = made_up_sweep.real_sweep(self.folder / "ring", (4, 8), (75, 150, 300))
        table, values = self.folder / "all.h5", self.folder / "all.csv"
        done = tessera("merge", self.folder / "ring" / "sweep", "-o", table, "--csv", values)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with h5py.File(table) as file:
            frame = pandas.DataFrame(file["points"][:])  # as it is
            self.assertEqual(len(file["points"].attrs["column_units"]), len(frame.columns))
        self.assertEqual(frame["point"].tolist(), list(range(6)))
        for point, path in paths.items():
            results = tessera_analysis.load(path)
            for column, value in results.summary.items():
                found = frame[column][point]
                self.assertEqual(found.decode() if isinstance(found, bytes) else found, value, column)
            self.assertAlmostEqual(frame["link_ring_mean_use"][point], results.links["utilisation"].mean())
        # 2 x 7 steps of 500 ns + 3 MB / 150 GB/s: 287 us; 2 x 3 of 500 ns + 6 MB / 300 GB/s: 123 us.
        times = dict(zip(zip(frame["machine_topology_devices"], frame["bandwidth"]), frame["iteration_time_ps"]))
        self.assertEqual(times[8, 150 * 10**9], 287 * 10**6)
        self.assertEqual(times[4, 300 * 10**9], 123 * 10**6)
        with open(values, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(each["iteration_time_ps"]) for each in rows], frame["iteration_time_ps"].tolist())
        self.assertEqual([float(each["link_ring_mean_use"]) for each in rows], frame["link_ring_mean_use"].tolist())
        shown = tessera("show", table).stdout
        self.assertRegex(shown, r"best points[^\n]*\n  2: devices=4 bandwidth=300000000000 +123\.0 us +1\.00")
        self.assertEqual(self.plot(table), ["axes.png", "front_cost.png", "front_devices.png"])


    def test_candidates_of_a_search_stand_beside_their_bounds(self):
        experiment, plan, table, result = (self.folder / name for name in ("open.toml", "plan.toml", "all.h5", "best.h5"))
        text = (CLI / "training.toml").read_text()
        experiment.write_text(text.replace("tensor = 2\npipeline = 2", 'tensor = "any"\npipeline = [1, 2, 4]'))
        done = tessera("plan", experiment, "-o", plan, "--all", table)
        self.assertEqual(done.returncode, 0, done.stderr)
        points = tessera_analysis.load_points(table)
        frame = points.frame
        self.assertEqual(points.axes["key"].tolist(), ["strategy.tensor", "strategy.pipeline"])
        self.assertEqual(len(set(zip(frame["tensor"], frame["pipeline"]))), len(frame))
        simulated, beaten = frame[frame["fate"] == "simulated"], frame[frame["fate"] == "struck out by its bound"]
        self.assertEqual(len(simulated) + len(beaten) + (frame["code"] == 3).sum(), len(frame))
        self.assertTrue((simulated["bound_ps"] <= simulated["iteration_time_ps"]).all())
        self.assertTrue((beaten["bound_ps"] > simulated["iteration_time_ps"].min()).all())
        # The row of the best says what the result of its own run says.
        best = simulated.sort_values("iteration_time_ps").iloc[0]
        self.assertEqual(tessera("run", experiment, "--plan", plan, "-o", result).returncode, 0)
        summary = tessera_analysis.load(result).summary
        for column in ("iteration_time_ps", "devices", "peak_memory", "model_flops_utilisation", "mean_forward_ps", "max_waiting_ps", "mean_bubble_ps"):
            self.assertEqual(best[column], summary[column], column)
        self.assertEqual(self.plot(table), ["axes.png", "front_memory.png"])  # on one machine the cost is the time over again


class Frames(WithFolder):
    def test_axes_units_and_titles(self):
        points = tessera_analysis.load_points(self.merged([NODES, BANDWIDTH], [
            row(0, {"machine.topology.nodes": 1, "machine.topology.bandwidth": 10**9}, devices=8),
            row(1, {"machine.topology.nodes": 2, "machine.topology.bandwidth": 10**9}, devices=16, time=2 * 10**12)]))
        self.assertEqual(points.title, "A made-up sweep")
        self.assertEqual((points.units["bandwidth"], points.units["iteration_time_ps"], points.units["name"]), ("B/s", "ps", "text"))
        self.assertEqual(points.frame["name"][1], "nodes=2 bandwidth=1000000000")
        self.assertEqual(points.varied, ["nodes"])
        self.assertEqual(points.frame["cost"][1], 32.0)  # 16 devices for 2 s

    def test_axes_that_move_together_count_once_and_those_that_follow_not_at_all(self):
        rows = [row(point, {"machine.topology.nodes": count, "machine.topology.bandwidth": count * 10**9, "simulation.seed": seed, "a.data": 8 * count})
                for point, (count, seed) in enumerate((count, seed) for count in (1, 2, 3) for seed in (1, 2))]
        path = self.merged([NODES, BANDWIDTH, SEED, {"key": "a.data", "unit": "", "set": True}], rows)
        self.assertEqual(tessera_analysis.load_points(path).varied, ["nodes", "seed"])

    def test_no_time_is_not_the_best_time(self):
        points = tessera_analysis.load_points(self.merged([NODES], scaling(1, 2, 4)))
        self.assertEqual(points.done.tolist(), [False, True, True])
        self.assertEqual(points.frame["iteration_time_ps"][0], 0)

    def test_a_front_leaves_out_what_another_beats_in_both(self):
        x, y = numpy.array([1, 2, 2, 3, 4]), numpy.array([9, 5, 7, 5, 1])
        # (2, 7) loses against (2, 5); (3, 5) has as much y for more x.
        self.assertEqual(points_module.front(x, y), [0, 1, 4])
        # More of both: only the last of each; (4, 1), (3, 5), (2, 7), (1, 9) beat one another in one of them.
        self.assertEqual(points_module.front(x, y, True, True), [4, 3, 2, 0])

    def test_geometric_values_stand_on_a_logarithmic_axis(self):
        def logarithmic(values):
            return Scale(pandas.DataFrame({"x": values}), "x", "1").logarithmic
        self.assertTrue(logarithmic([8, 16, 32, 64]))
        self.assertTrue(logarithmic([75, 150, 300, 600, 1200]))
        self.assertFalse(logarithmic([1, 2, 3, 4]))
        self.assertFalse(logarithmic([0, 1, 2, 4]))
        self.assertFalse(logarithmic([1, 1000]))
        self.assertFalse(Scale(pandas.DataFrame({"x": ["a", "b"]}), "x", "text").logarithmic)

    def test_values_are_named_in_units_that_read_well(self):
        scale = Scale(pandas.DataFrame({"bandwidth": [75e9, 1.2e12]}), "bandwidth", "B/s")
        self.assertEqual([scale.name(value) for value in scale.values], ["bandwidth 75 GB/s", "bandwidth 1200 GB/s"])
        scale = Scale(pandas.DataFrame({"latency_ps": [500_000, 2_000_000]}), "latency_ps", "ps")
        self.assertEqual((scale.label, scale.text(2_000_000)), ("latency in ns", "2000"))


class Figures(WithFolder):
    def test_a_curve_of_one_axis(self):
        path = self.merged([NODES], scaling(1, 2, 4, 8))
        # Half of the time on twice the devices costs as much: there is no front of it.
        self.assertEqual(self.plot(path), ["axes.png", "front_devices.png", "front_memory.png"])

    def test_maps_multiples_and_more_axes_than_three(self):
        axes = [NODES, BANDWIDTH, MACHINE, SEED]
        rows = [row(0, {})]
        for count in (2, 3, 4):
            values = [(nodes, gigabytes, machine, seed) for nodes in (1, 2, 4) for gigabytes in (75, 150)
                      for machine in ("a", "b")[:count - 1] for seed in ((1, 2) if count == 4 else (1,))]
            rows = [row(point, {"machine.topology.nodes": n, "machine.topology.bandwidth": g * 10**9, "machine": m, "simulation.seed": s},
                        code=2 if n == 1 else 0, time=10**12 // (n * g * s), devices=n) for point, (n, g, m, s) in enumerate(values)]
            path = self.merged(axes, rows, f"axes-{count}")
            self.assertEqual(len(tessera_analysis.load_points(path).varied), count)
            self.assertIn("axes.png", self.plot(path))

    def test_what_is_drawn_of_a_map_are_the_points(self):
        from tessera_analysis import axes_figure, style
        rows = [row(point, {"machine.topology.nodes": n, "machine.topology.bandwidth": g * 10**9}, code=3 if (n, g) == (1, 75) else 0,
                    time=(100 * n + g) * 10**9) for point, (n, g) in enumerate((n, g) for n in (1, 2) for g in (75, 150))]
        points = tessera_analysis.load_points(self.merged([NODES, BANDWIDTH], rows[:3]))  # the fourth is missing
        with style.styled():
            figure = axes_figure.draw(points)
        texts = [text.get_text() for text in figure.axes[0].texts]
        self.assertEqual(sorted(texts), ["250", "275", "3"])  # 1 x 100 + 150, 2 x 100 + 75 ms, and the code
        self.assertEqual(figure._supxlabel.get_text(), "hatched: 3 cannot be carried out (1 cell), such as: it does not fit\nblank: no such point")
        self.assertEqual(figure.axes[0].get_ylabel(), "bandwidth in GB/s")

    def test_a_curve_has_a_gap_and_a_cross_where_a_point_is_refused(self):
        from tessera_analysis import axes_figure, style
        rows = scaling(2, 4, 8, 16)
        rows[2] = {**row(2, {"machine.topology.nodes": 8}, code=2)}
        points = tessera_analysis.load_points(self.merged([NODES], rows))
        with style.styled():
            axes = axes_figure.draw(points).axes[0]
        curve, cross = axes.lines
        self.assertEqual(numpy.isnan(curve.get_ydata()).tolist(), [False, False, True, False])
        self.assertEqual((cross.get_marker(), cross.get_xdata().tolist()), ("x", [8.0]))
        self.assertEqual(axes.get_xscale(), "log")

    def test_any_columns_and_a_choice_of_figures_and_formats(self):
        path = self.merged([NODES], scaling(1, 2, 4, 8))
        self.assertEqual(self.plot(path, "--x", "devices", "--y", "peak_memory", "--format", "svg"), ["axes.svg", "front_devices.svg"])
        self.assertEqual(self.plot(path, "--only", "memory"), ["front_memory.png"])
        self.assertEqual(self.plot(path, "--x", "iteration_time", "--y", "devices", "--only", "axes"), ["axes.png"])

    def test_a_sweep_of_which_nothing_is_done_and_one_without_axes_have_nothing_to_draw(self):
        for name, rows in (("refused", [row(0, {"machine.topology.nodes": 1}, code=2), row(1, {"machine.topology.nodes": 2}, code=3)]),
                           ("single", [row(0, {"machine.topology.nodes": 1}, devices=8)])):
            path = self.merged([NODES], rows, name)
            run = command_line("plot", path, "-o", self.folder / "figures")
            self.assertEqual((run.returncode, run.stderr), (2, f"'{path}' has nothing to draw\n"))


class BadInput(WithFolder):
    def test_errors_are_one_line_with_an_exit_code(self):
        path = self.merged([NODES], scaling(1, 2, 4))
        result = self.folder / "ring" / "0.h5"
        made_up_sweep.real_sweep(self.folder / "ring", (4,), (75,))
        for arguments, code, message in (
                (["plot", path, "--y", "knots"], 2, "has no column 'knots', it has: point, name, nodes, "),
                (["plot", path, "--x", "name"], 2, "column 'name' holds texts, a number is needed"),
                (["plot", path, "--only", "timeline"], 2, "has no figure timeline, it has: axes, devices, memory, cost"),
                (["plot", result, "--only", "axes"], 2, "has no figure axes, it has: time, memory, "),
                (["plot", result, "--x", "devices"], 2, "is a result of one run: --x and --y are for tables of points"),
                (["compare", path, result], 2, "is not a result file of tessera run"),
                (["compare", result, self.folder / "none.h5"], 4, "No such file or directory"),
                (["compare", result, result, "-o", self.folder / "no" / "x.png"], 4, "cannot write")):
            run = command_line(*arguments)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertIn(message, run.stderr)
        self.assertEqual(command_line("compare", result, result, "-o", "picture").returncode, 2)

    def test_a_damaged_table_is_refused_by_both_readers_or_reads_as_before(self):
        path = self.merged([NODES], scaling(1, 2, 4))
        whole, bad = path.read_bytes(), self.folder / "bad.h5"
        shown = tessera("show", path).stdout
        before = tessera_analysis.load_points(path).frame.to_csv()
        refused = 0
        for place in range(7, len(whole), len(whole) // 97):
            bad.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1:])
            done = tessera("show", bad)
            self.assertIn(done.returncode, (0, 2, 4), (place, done.stderr))
            if done.returncode == 0:
                self.assertEqual(done.stdout, shown, place)
            refused += done.returncode != 0
            try:
                self.assertEqual(tessera_analysis.load_points(bad).frame.to_csv(), before, place)
            except tessera_analysis.ResultsError:
                pass
        self.assertGreater(refused, 20)


if __name__ == "__main__":
    unittest.main()
