"""Two runs side by side: $TESSERA makes them, and what their difference is follows from their inputs."""

import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import pandas

import tessera_analysis
from made_up_sweep import RING, tessera
from test_analysis import make
from tessera_analysis.compare import Comparison, text
from tessera_analysis.plot import draw_comparison


class Compare(unittest.TestCase):
    """The ring of 8 devices at 150 GB/s (287 us) and at 75 GB/s: 14 steps of 500 ns + 3 MB / 75 GB/s, 567 us."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        for name, devices, bandwidth in (("a", 8, 150), ("b", 8, 75), ("c", 4, 150)):
            (cls.folder / f"{name}.toml").write_text(RING.format(devices=devices, bandwidth=bandwidth))
            done = tessera("run", cls.folder / f"{name}.toml", "-o", cls.folder / f"{name}.h5", "--progress", "off")
            if done.returncode:
                raise AssertionError(done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def compare(self, a, b):
        return Comparison(*(tessera_analysis.load(self.folder / f"{name}.h5") for name in (a, b)))

    def test_the_difference_is_all_in_the_collective(self):
        found = self.compare("a", "b")
        self.assertEqual(found.times, (287 * 10**6, 567 * 10**6))
        activities = found.activities["difference"]
        self.assertEqual(activities["other_communication"], 280e6)
        self.assertEqual(activities.sum(), 280e6)
        self.assertEqual(found.collectives.to_dict("index"),
                         {"all-reduce, ring of 8": {"a": 287e6, "b": 567e6, "difference": 280e6}})

    def test_activities_add_up_between_machines_of_different_sizes(self):
        found = self.compare("a", "c")
        self.assertEqual(found.activities["difference"].sum(), found.times[1] - found.times[0])
        # A collective that one of them alone has is a row of both.
        self.assertEqual(set(found.collectives.index), {"all-reduce, ring of 8", "all-reduce, ring of 4"})
        self.assertEqual(found.collectives["b"]["all-reduce, ring of 8"], 0)

    def test_links_by_class(self):
        links = self.compare("a", "b").links
        self.assertEqual(len(links), 1)
        row = links.iloc[0]
        self.assertEqual((row["links_a"], row["bytes_a"]), (row["links_b"], row["bytes_b"]))
        # 8 links of the ring carry 14 x 3 MB in either run.
        self.assertEqual(row["bytes_a"], 8 * 14 * 3e6)

    def test_the_text_says_where_the_difference_is(self):
        said = text(self.compare("a", "b"))
        self.assertIn("iteration time: a 287 us, b 567 us, difference +280 us, 1.976 times a", said)
        self.assertRegex(said, r"\n  other communication +287 +567 +\+280 +100 %\n")
        self.assertRegex(said, r"\n  iteration time +287 +567 +\+280 +100 %\n")
        self.assertRegex(said, r"\n  all-reduce, ring of 8 +287 +567 +\+280")
        self.assertIn("difference 0, 1.000 times a", text(self.compare("a", "a")))

    def test_the_bars_of_the_waterfall_add_up_to_the_difference(self):
        from tessera_analysis.compare_figure import _steps
        for micro_batches in (5, 6, 9):
            make(self.folder / f"pipeline-{micro_batches}.h5", 3, 2, micro_batches)
        for a, b in (("a", "b"), ("a", "c"), ("b", "b"), ("pipeline-5", "pipeline-6"), ("pipeline-9", "pipeline-5")):
            found = self.compare(a, b)
            steps = _steps(found)
            self.assertAlmostEqual(sum(value for _, value in steps), found.times[1] - found.times[0], delta=1, msg=f"{a} {b}")
        # 100 s beside 100 s: two activities differ by 1 s, two by 0.1 s, less than 0.2 %, and one not at all.
        activities = pandas.DataFrame({"difference": [1e12, -1e12, 1e11, 1e11, 0]}, index=["forward", "backward", "optimizer", "data_communication", "idle"])
        steps = _steps(types.SimpleNamespace(times=(100 * 10**12, 100 * 10**12 + 2 * 10**11), activities=activities))
        self.assertEqual(steps, [("forward", 1e12), ("backward", -1e12), ("2 others", 2e11)])

    def test_it_begins_with_the_keys_in_which_the_experiments_differ(self):
        # RING puts devices and bandwidth in, and the title says how many devices.
        self.assertEqual(self.compare("a", "b").experiments, [("machine.topology.bandwidth", "150 GB/s", "75 GB/s")])
        self.assertEqual([key for key, _, _ in self.compare("a", "c").experiments], ["title", "machine.topology.devices"])
        said = text(self.compare("a", "b")).splitlines()
        self.assertEqual(said[2:4], ["experiments differ in", '  machine.topology.bandwidth  "150 GB/s" -> "75 GB/s"'])
        self.assertEqual(text(self.compare("a", "a")).splitlines()[2], "experiments: no key differs")

    def test_the_command_prints_it_and_draws_it(self):
        picture = self.folder / "difference.svg"
        done = subprocess.run([sys.executable, "-m", "tessera_analysis", "compare", self.folder / "a.h5", self.folder / "b.h5", "-o", picture],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, text(self.compare("a", "b")) + "\n")
        self.assertGreater(picture.stat().st_size, 10_000)

    def test_a_picture_for_one_column_of_a_paper(self):
        picture = self.folder / "narrow.pdf"
        done = subprocess.run([sys.executable, "-m", "tessera_analysis", "compare", self.folder / "a.h5", self.folder / "b.h5", "-o", picture, "--width", "84mm",
                               "--no-title"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(b"/MediaBox [ 0 0 238.", picture.read_bytes())  # 84 mm are 238.1 points

    def test_runs_that_are_the_same_have_a_picture_too(self):
        draw_comparison(self.compare("a", "a"), self.folder / "same.png")
        self.assertGreater((self.folder / "same.png").stat().st_size, 10_000)


if __name__ == "__main__":
    unittest.main()
