"""The parts of the study of T3 on a made-up simulator, and how reproduce.sh takes their names."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

import _parts
import _runs
import numpy
import made_up
import t3
from _t3 import PARTS, cu_sharing, data_movement, end_to_end, fit, reduce_scatter
from _t3.bench import WORK_GROUP, Bench
from tessera_analysis.plot import save
from tessera_analysis.t3_figures import TRAFFIC

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = {  # of the summary line, by part
    "sublayers": ["geomean_ideal", "geomean_t3", "max_t3", "geomean_t3_mca", "max_t3_mca", "rs_reads_tp8",
                  "rs_reads_tp16", "total_traffic_geomean"],
    "large-models": ["geomean_large", "max_large"],
    "data-movement": ["rs_reads_tp8", "rs_reads_tp16", "total_traffic_geomean"],
    "end-to-end": ["geomean_training_t3", "geomean_training_t3_mca", "geomean_prompt_t3", "geomean_prompt_t3_mca"],
    "reduce-scatter": ["rs_closed_form_pct"],
    "traffic": ["gemm_slowdown_fc2_4k"],
}


def quietly(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return function(*arguments)


def names(folder):
    return sorted(path.name for path in folder.glob("*"))


def keys(line):
    return [word.partition("=")[0] for word in line.removeprefix("summary: ").split()]


class Parts(unittest.TestCase):
    def test_every_table_and_picture_has_its_place_in_the_page(self):
        page = t3.PAGE.read_text() + t3.PAGE.with_name("t3-notebook.md").read_text()
        for name, part in PARTS.items():
            outcome = part(Bench(made_up.Simulator()))
            self.assertTrue(outcome.tables or outcome.pictures, name)
            places = [f"<!-- {place} -->" for place in outcome.tables] + [f"(t3/{picture}.svg)" for picture in outcome.pictures]
            self.assertEqual([place for place in places if place not in page], [], name)

    def test_every_picture_beside_the_page_has_a_part_that_draws_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for part in PARTS.values():
                for name, (draw, values) in part(Bench(made_up.Simulator())).pictures.items():
                    self.assertTrue(save(pathlib.Path(folder) / f"{name}.svg", draw, *values))
            self.assertEqual(names(t3.PAGE.with_suffix("")), names(pathlib.Path(folder)))

    def test_a_part_has_its_own_keys_and_deviations_only_where_the_paper_has_goals(self):
        for name in PARTS:
            outcome = quietly(t3.run, Bench(made_up.Simulator()), [name])
            goals = ["mean_abs_deviation_pct", "max_abs_deviation_pct"] if name in ("sublayers", "large-models", "end-to-end") else []
            self.assertEqual(keys(_parts.summary("t3", outcome, name)), ["study", "part", *goals, *KEYS.get(name, [])])

    def test_the_whole_study_has_all_keys(self):
        outcome = quietly(t3.run_all, made_up.Simulator())
        every = {key for part in KEYS.values() for key in part}
        self.assertCountEqual(keys(_parts.summary("t3", outcome, None)), ["study", "mean_abs_deviation_pct", "max_abs_deviation_pct", *every, "fitted"])

    def test_only_the_whole_study_fits(self):
        simulator = made_up.Simulator()
        quietly(t3.run, Bench(simulator), ["sublayers"])
        self.assertFalse([job for job in simulator.jobs if WORK_GROUP in job])
        fitted = fit.Fitted(12)
        quietly(t3.run, Bench(simulator, fitted.settings()), ["future"])
        self.assertEqual(simulator.jobs[-1][WORK_GROUP], "12 us")

    def test_a_part_says_which_fitted_value_it_takes(self):
        outcome = quietly(t3.run_part, made_up.Simulator(), "future")
        self.assertRegex(_parts.summary("t3", outcome, "future"), r" fitted=work_group_time_us:\d+$")
        self.assertEqual(fit.held().missing(), [])

    def test_values_that_the_machine_file_lacks_are_named(self):
        self.assertEqual(fit.Fitted(99).missing(), ['work_group_time = "99 us"'])

    def test_tables_and_pictures_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "t3.md"
            page.write_text("<!-- t3-passes -->\nold\n<!-- end t3-passes -->\n")
            _parts.write(quietly(t3.run, Bench(made_up.Simulator()), ["reduce-scatter"]), page)
            self.assertIn("| 192 MiB |", page.read_text())
            self.assertNotIn("old", page.read_text())
            self.assertIn("<svg", (page.with_suffix("") / "figure-14.svg").read_text())


class Numbers(unittest.TestCase):
    def test_fewer_by_is_the_geomean_of_sequential_over_fused(self):
        # on 8 GPUs the reduce-scatter reads 15 eighths of the matrix, fused 6; it writes 8, fused 7; the mean of equals is the same
        base, fused = {name: 8.0 for name in TRAFFIC}, {name: 7.0 for name in TRAFFIC}
        base["reduce_scatter_read"], fused["reduce_scatter_read"] = 15.0, 6.0
        found = data_movement.fewer_by([(base, fused)] * 2)
        self.assertAlmostEqual(found["RS reads"], 2.5)
        self.assertAlmostEqual(found["GEMM and RS writes"], 8 / 7)

    def test_closed_form_of_the_reduce_scatter(self):
        # 24 MiB: 3 x (0.5 us + 6 MiB / 75 GB/s) = 253.158 us; two chunks are read at 1.024 TB/s, nothing is written: 12.288 us
        self.assertAlmostEqual(1e6 * reduce_scatter.closed_form(24), 253.158 + 12.288, places=3)
        # 48 MiB: the L2 keeps 8 of 12 MiB
        self.assertAlmostEqual(1e6 * reduce_scatter.closed_form(48), 504.816 + 24.576 + 4.096, places=3)

    def test_cu_split_adds_up_each_stream(self):
        kernels = [{"stream": 0, "begin_ps": 0, "end_ps": 7}, {"stream": 1, "begin_ps": 1, "end_ps": 4}, {"stream": 1, "begin_ps": 4, "end_ps": 9}]
        self.assertEqual([round(1e12 * time) for time in cu_sharing.split_seconds({"kernels": kernels})], [7, 8])

    def test_sub_layers_stand_for_their_products_and_their_share_of_the_all_reduces(self):
        # 3 layers with 4 sums each and the logits': 12 of 13 all-reduces of 1 s
        labels = {"projection": 1, "fc2": 2, "fc1 dgrad": 3, "qkv dgrad": 4, "fc1": 50, "logits dgrad": 60, "tensor all-reduce": 13}
        found = end_to_end.replaced_seconds({"seconds_by_label": labels}, end_to_end.PHASES["training"], 3)
        self.assertAlmostEqual(found, 1 + 2 + 3 + 4 + 12)
        del labels["logits dgrad"]  # prompt: 6 sums, all of them
        found = end_to_end.replaced_seconds({"seconds_by_label": labels | {"tensor all-reduce": 6}}, end_to_end.PHASES["prompt"], 3)
        self.assertAlmostEqual(found, 1 + 2 + 6)

    def test_seconds_by_label_are_those_of_the_first_stream_of_device_0(self):
        kind = [("device", int), ("stream", int), ("label", int), ("begin_ps", int), ("end_ps", int)]
        rows = numpy.array([(0, 0, 1, 0, 3e12), (0, 0, 1, 4e12, 5e12), (0, 1, 1, 0, 9e12), (1, 0, 0, 0, 9e12)], dtype=kind)
        self.assertEqual(_runs.seconds_by_label(rows, ["a", "b"]), {"b": 4})

    def test_traffic_over_time_is_that_of_the_own_memory_of_device_0(self):
        rows = [{"device": device, "memory": memory, "begin_ps": 5, "traffic": "gemm_read", "bytes": 7 + device + 2 * memory}
                for device in (0, 1) for memory in (0, 1)]
        self.assertEqual(_runs.own_traffic(rows), [(5, "gemm_read", 7)])


class Names(unittest.TestCase):
    """Refused before anything is built."""

    def refused(self, *arguments):
        run = subprocess.run([ROOT / "scripts" / "reproduce.sh", *arguments], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stderr

    def test_a_wrong_part_is_one_line_with_the_right_names(self):
        self.assertEqual(self.refused("t3", "sublayer"), f"error: study 't3' has no part 'sublayer'; allowed: {' '.join(PARTS)}\n")

    def test_a_part_of_another_study_and_a_wrong_study(self):
        self.assertEqual(self.refused("megatron", "sublayers"), "error: study 'megatron' has no part 'sublayers'; allowed: iterations layers replicas sensitivity variants\n")
        self.assertEqual(self.refused("t4"), "error: no study 't4'; allowed: mcm mcm_learning measured megatron plans primepar t3 watos\n")
        self.assertIn("usage", self.refused("t3", "sublayers", "more"))

    def test_the_program_lists_its_parts(self):
        run = subprocess.run([sys.executable, ROOT / "scripts" / "studies" / "t3.py", "--parts"], capture_output=True, text=True)
        self.assertEqual(run.stdout.split(), list(PARTS))


if __name__ == "__main__":
    unittest.main()
