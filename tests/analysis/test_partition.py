"""The graph by device: layers of small graphs, solved by hand, and pictures of real results of strategy mcm."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zlib

import h5py
import numpy
import pandas

import tessera_analysis
from tessera_analysis import layers, partition_figure
from tessera_analysis.plot import save
from test_points import command_line

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "experiments" / "mcm"


class Layers(unittest.TestCase):
    def test_a_diamond_with_a_way_around(self):
        # 0 -> 1 -> 3 and 0 -> 2 -> 3 -> 4, and 0 -> 4: nodes 1 and 2 are side by side in layer 1, a lane apart, and the way from 0
        # to 4 has a place of its own in layers 1, 2 and 3, where 3's is another one.
        drawing = layers.draw(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (0, 4)])
        self.assertEqual(drawing.layer, [0, 1, 1, 2, 3])
        self.assertGreaterEqual(abs(drawing.height[1] - drawing.height[2]), 0.99)
        around = [piece for piece in drawing.pieces if piece[3] == 0 and piece[4] in (None, 4)]
        self.assertEqual([piece[0] for piece in around], [0, 1, 2])
        self.assertGreaterEqual(abs(around[1][2] - drawing.height[3]), 0.99)

    def test_readers_share_the_way_to_them(self):
        # 0 is read in layers 1, 2 and 3: one place in layer 1 and one in layer 2 besides the nodes there.
        drawing = layers.draw(4, [(0, 1), (1, 2), (2, 3), (0, 2), (0, 3)])
        self.assertEqual([piece[0] for piece in drawing.pieces if piece[4] is None], [0, 1])

    def test_what_a_single_reader_alone_needs_stands_before_it(self):
        # 0 -> 1 -> 2 -> 3 -> 4 and 5 -> 6 -> 4: the short chain ends beside 3, not beside 1.
        drawing = layers.draw(7, [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 4)])
        self.assertEqual((drawing.layer[5], drawing.layer[6], drawing.layer[4]), (2, 3, 4))

    def test_parts_stand_one_behind_the_other(self):
        self.assertEqual(layers.draw(5, [(0, 1), (2, 3), (3, 4)]).layer, [0, 1, 3, 4, 5])
        self.assertEqual(layers.draw(1, []).layer, [0])

    def test_heights_are_the_nearest_to_those_that_are_wanted(self):
        # Three that all want 0 stand at -1, 0 and 1; one that wants to be far away is.
        self.assertEqual(layers._apart(numpy.array([0.0, 0.0, 0.0])).tolist(), [-1, 0, 1])
        self.assertEqual(layers._apart(numpy.array([0.0, 0.0, 9.0])).tolist(), [-0.5, 0.5, 9])

    def test_a_cycle_and_an_edge_to_nowhere_are_refused(self):
        for edges, message in (([(0, 1), (1, 0)], "cycle"), ([(0, 2)], "an edge from node 0 to node 2 of 2")):
            with self.assertRaisesRegex(ValueError, message):
                layers.draw(2, edges)

    def test_a_long_graph_is_drawn_in_rows_that_fit(self):
        drawing = layers.draw(3000, [(i, i + 1) for i in range(2999)])
        rows = partition_figure._Rows(drawing)
        self.assertLessEqual(rows.scale * rows.lanes, partition_figure.HEIGHT)
        self.assertLessEqual(rows.scale * rows.length, partition_figure.WIDTH)
        self.assertGreater(len(rows.tops), 10)

    def test_a_way_crosses_as_far_as_somebody_on_another_device_reads(self):
        # 0 on device 0 is read by 2 on device 1 and, further on, by 3 on device 0, behind 1 and 2.
        drawing = layers.draw(4, [(0, 1), (1, 2), (2, 3), (0, 2), (0, 3)])
        crossing = partition_figure._crossing(drawing, numpy.array([0, 0, 1, 0]))
        said = {(piece[0], piece[3], piece[4]): crosses for piece, crosses in zip(drawing.pieces, crossing)}
        self.assertEqual(said, {(0, 0, 1): False, (1, 1, 2): True, (2, 2, 3): True, (0, 0, None): True, (1, 0, 2): True,
                                (1, 0, None): False, (2, 0, 3): False})


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.path = cls.run_of("network.toml", "squeezenet", "--set", "model=squeezenet-1.1")

    @classmethod
    def run_of(cls, experiment, name, *options):
        path = cls.folder / f"{name}.h5"
        subprocess.run([os.environ["TESSERA"], "run", EXPERIMENTS / experiment, "-o", path, "--progress", "off", *options], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def test_the_table_has_each_node_and_adds_up_to_what_is_foretold(self):
        results = tessera_analysis.load(self.path)
        nodes, edges = results.partition
        self.assertEqual(len(nodes), int(results.plan["nodes"]))
        self.assertEqual(nodes["node"].tolist(), list(range(len(nodes))))
        self.assertEqual(nodes.groupby("device")["time_ps"].sum().max(), results.predicted["interval"])
        self.assertEqual(nodes.attrs["units"]["weights"], "B")
        self.assertTrue((edges["from"] < len(nodes)).all() and (edges["bytes"] > 0).all())

    def test_the_picture(self):
        run = command_line("plot", self.path, "--only", "partition", "--format", "svg", "-o", self.folder)
        self.assertEqual((run.returncode, run.stdout.strip()), (0, str(self.folder / "partition.svg")), run.stderr)
        drawn = (self.folder / "partition.svg").read_text()
        for text in ("from device to device", "The graph by device: A network on 36 chiplets"):
            self.assertIn(text, drawn)

    def test_networks_side_by_side(self):
        path = self.run_of("two-networks.toml", "two", "--set", 'model.side_by_side=["squeezenet-1.1", "squeezenet-1.1"]')
        nodes, edges = tessera_analysis.load(path).partition
        first = nodes["name"].str.startswith("squeezenet-1.1/")
        self.assertEqual((first.sum(), len(nodes)), (len(nodes) // 2, 2 * int(first.sum())))
        self.assertFalse((edges["from"].map(first) != edges["to"].map(first)).any())
        self.assertTrue(save(self.folder / "two.png", partition_figure.draw, tessera_analysis.load(path)))

    def test_replicated_nodes_are_drawn_once(self):
        nodes = pandas.DataFrame({"node": [0, 0, 1], "device": [0, 1, 1], "time_ps": [1, 1, 0], "weights": 0, "name": "n"})
        edges = pandas.DataFrame({"from": [0], "to": [1], "bytes": [1]})
        self.assertTrue(save(self.folder / "copies.svg", partition_figure.draw_graph, nodes, edges, "copies"))
        self.assertIn("of a node that several devices compute, the first", (self.folder / "copies.svg").read_text())

    def test_damage_is_refused(self):
        path = self.folder / "changed.h5"
        for reader, is_checked, message in ((9999, False, "names a node that /partition does not have"), (0, False, "the graph has a cycle"),
                                            (9999, True, "differs from its checksum")):
            shutil.copy(self.path, path)
            with h5py.File(path, "r+") as file:
                table = file["graph_edges"][:]
                table["to"] = reader
                file["graph_edges"][:] = table
                if not is_checked:
                    file["graph_edges"].attrs["crc32"] = numpy.uint32(zlib.crc32(table.tobytes()))
            run = command_line("plot", path, "--only", "partition", "-o", self.folder)
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (4, 1), run.stderr)
            self.assertIn(message, run.stderr)

    def test_a_result_without_one_has_nothing_to_draw(self):
        path = self.folder / "pipeline.h5"
        subprocess.run([os.environ["MADE_UP_RUN"], path, "2", "1", "2"], check=True, stdout=subprocess.DEVNULL)
        run = command_line("plot", path, "--only", "partition", "-o", self.folder)
        self.assertEqual((run.returncode, run.stderr), (2, f"'{path}' has nothing to draw for partition\n"))


if __name__ == "__main__":
    unittest.main()
