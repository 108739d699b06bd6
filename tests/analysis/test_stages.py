"""Wafer maps: of a real result with placed stages and loans."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import tessera_analysis
from tessera_analysis import stages_figure, style

LENDING = pathlib.Path(__file__).resolve().parents[1] / "cli" / "lending.toml"

TWO_WAFERS = """
[machine]
name = "two wafers"
packet = "4 KiB"
[machine.device]
name = "die"
peak.fp16 = "10 TFLOP/s"
memory_bandwidth = "500 GB/s"
memory_capacity = "4 GB"
[machine.topology]
kind = "wafers"
wafers = 2
columns = 2
rows = 2
bandwidth = "20 GB/s"
latency = "100 ns"
wafer_bandwidth = "5 GB/s"
wafer_latency = "1 us"
[model]
name = "small"
layers = 2
hidden = 64
heads = 4
vocabulary = 256
max_positions = 64
[workload]
sequence = 64
global_batch = 4
[strategy]
name = "megatron"
tensor = 4
pipeline = 2
placement.tiles = ["2x2"]
"""


class Stages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "out.h5")
        subprocess.run([os.environ["TESSERA"], "run", str(LENDING), "-o", cls.path, "--progress", "off"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_dies_stages_and_pairs_are_where_the_plan_has_them(self):
        results = tessera_analysis.load(self.path)
        with style.styled():
            figure = stages_figure.draw(results)
        stages, memory = figure.axes[:2]
        # Three rows of three dies from the top to the bottom, then the last column: stage 3.
        numbers = {tuple(text.get_position()): text.get_text() for text in stages.texts}
        self.assertEqual([numbers[0, 0], numbers[2, 1], numbers[1, 2], numbers[3, 0], numbers[3, 2]], ["0", "1", "2", "3", "3"])
        self.assertEqual(len(numbers), 12)
        # Three ways to the next stage, and three pairs of stages: 0 and 3, 1 and 3, 1 and 2.
        arrows = [patch for patch in stages.patches if hasattr(patch, "get_arrowstyle")]
        self.assertEqual(len(arrows), 3 + 3)
        self.assertIn("lends 50 to 270 kB", stages.get_legend().get_texts()[1].get_text())
        # Every link between two dies once each way: 3 x 3 along rows, 4 x 2 along columns.
        self.assertEqual(len(memory.collections[0].get_segments()), 2 * (3 * 3 + 4 * 2))

    def test_what_is_lent_to_a_host_has_no_arrow(self):
        results = tessera_analysis.load(self.path)
        loans = results.table("loans")
        to_host = loans.assign(to_stage=loans["to_stage"].where(loans["from_stage"] > 0, -1))
        results.table = lambda name, table=results.table: to_host if name == "loans" else table(name)
        with style.styled():
            figure = stages_figure.draw(results)
        arrows = [patch for patch in figure.axes[0].patches if hasattr(patch, "get_arrowstyle")]
        self.assertEqual(len(arrows), 3 + 2)
        self.assertIn("to hosts: stage 0)", figure.axes[0].get_legend().get_texts()[1].get_text())

    def test_meshes_stand_side_by_side_with_their_links_between(self):
        """Two of 2 x 2 dies, one device of each moved by the figure alone: columns 0, 1 and 3, 4."""
        job = os.path.join(self.folder.name, "two.toml")
        pathlib.Path(job).write_text(TWO_WAFERS)
        out = os.path.join(self.folder.name, "two.h5")
        subprocess.run([os.environ["TESSERA"], "run", job, "-o", out, "--progress", "off"], check=True, stdout=subprocess.DEVNULL)
        results = tessera_analysis.load(out)
        with style.styled():
            stages, memory = stages_figure.draw(results).axes[:2]
        numbers = {tuple(text.get_position()): text.get_text() for text in stages.texts}
        self.assertEqual({x for x, _ in numbers}, {0, 1, 3, 4})
        self.assertEqual((numbers[0, 0], numbers[4, 1]), ("0", "1"))
        # Four links each way on each wafer, and two between them from column 1 to 3.
        segments = memory.collections[0].get_segments()
        self.assertEqual(len(segments), 2 * (4 + 4 + 2))
        self.assertEqual(sum(abs(end[0] - start[0]) == 2 for start, end in segments), 2 * 2)

    def test_devices_on_no_mesh_are_no_picture(self):
        results = tessera_analysis.load(self.path)
        flat = type("Flat", (), {"tables": results.tables, "table": lambda self, name: results.table(name).assign(y=0), "devices": results.devices})()
        self.assertIsNone(stages_figure.draw(flat))
