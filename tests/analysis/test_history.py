"""Histories of searches: real ones of `tessera plan --history`, as tables and as pictures."""

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
from tessera_analysis import history as history_module
from test_points import command_line

EXPERIMENT = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "experiments" / "mcm" / "network.toml"


def search(path, *settings, seed=1):
    """Fifteen samples of a small network, over four chips."""
    chosen = ("model=squeezenet-1.1", "strategy.chips=4", "strategy.search=random", "strategy.samples=15", *settings)
    subprocess.run([os.environ["TESSERA"], "plan", EXPERIMENT, "-o", f"{path}.toml", "--history", path, "--seed", str(seed),
                    *(part for setting in chosen for part in ("--set", setting))], check=True, stdout=subprocess.DEVNULL)


def samples(costs, rewards=None):
    return pandas.DataFrame({"cost_ps": costs, "interval_ps": costs, "reward": rewards or [0.0] * len(costs)})


class Curves(unittest.TestCase):
    def test_the_best_so_far_begins_with_the_first_that_fits(self):
        # nothing, 30, 40 (worse), nothing, 20
        best = history_module.best_so_far(samples([0, 30, 40, 0, 20]))
        self.assertEqual(best.index.tolist(), [1, 2, 3, 4, 5])
        self.assertEqual(best.fillna(-1).tolist(), [-1, 30, 30, 30, 20])

    def test_the_best_reward_is_the_greatest(self):
        best = history_module.best_so_far(samples([0, 30, 40], [0.0, 1.5, 1.2]), history_module.REWARD)
        self.assertEqual(best.tolist(), [0, 1.5, 1.5])

    def test_seeds_of_a_method_have_a_mean_and_a_deviation(self):
        # 10 and 14: mean 12, each 2 from it, so that a sample's deviation is sqrt(4 + 4). As long as the shorter one; the
        # first row has one value only, so none.
        curves = [history_module.best_so_far(samples(costs)) for costs in ([0, 10, 8], [20, 14])]
        both = history_module.over_seeds(curves)
        self.assertEqual(len(both), 2)
        self.assertTrue(both.loc[1].isna().all())
        self.assertEqual(both.loc[2, ["mean", "least", "greatest"]].tolist(), [12, 10, 14])
        self.assertAlmostEqual(both.loc[2, "deviation"], 8 ** 0.5)

    def test_a_single_seed_has_no_deviation(self):
        self.assertEqual(history_module.over_seeds([history_module.best_so_far(samples([5, 4]))])["deviation"].tolist(), [0, 0])

    def test_what_the_cost_is(self):
        self.assertEqual(history_module.measure(samples([0, 30])), "interval")
        self.assertEqual(history_module.measure(samples([0, 30]).assign(interval_ps=0)), "iteration time")


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.random = [cls.folder / f"random{seed}.h5" for seed in (1, 2)]
        for seed, path in enumerate(cls.random, 1):
            search(path, seed=seed)
        cls.annealing = cls.folder / "annealing.h5"
        search(cls.annealing, "strategy.search=annealing", "strategy.samples=9")
        cls.other = cls.folder / "other.h5"
        search(cls.other, "model=mobilenet-v2")

    def changed(self, change):
        path = self.folder / "changed.h5"
        shutil.copy(self.random[0], path)
        with h5py.File(path, "r+") as file:
            change(file)
        return path

    def refused(self, code, message, *arguments):
        run = command_line("plot", *arguments)
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (code, 1), run.stderr)
        self.assertIn(message, run.stderr)

    def test_a_history_has_all_samples_and_says_what_they_are_of(self):
        history = tessera_analysis.load_history(self.random[0])
        self.assertEqual(len(history.search), 15)
        self.assertEqual(history.search.attrs["units"]["cost_ps"], "ps")
        self.assertEqual(history.names, {"title": "A network on 36 chiplets", "machine": "mcm-36", "model": "SqueezeNet 1.1", "strategy": "mcm"})

    def test_one_history_is_one_picture(self):
        run = command_line("plot", self.random[0], "--format", "svg")
        path = self.folder / "random1-figures" / "search.svg"
        self.assertEqual((run.stdout.strip(), run.returncode), (str(path), 0), run.stderr)
        drawn = path.read_text()
        self.assertIn("interval in us", drawn)
        self.assertIn("best so far", drawn)

    def test_several_are_curves_and_those_of_one_name_a_band(self):
        for what, label in ((), "best interval so far, us"), (("--y", "reward"), "best reward so far"):
            run = command_line("plot", *[f"drawn={path}" for path in self.random], self.annealing, "-o", self.folder, "--format", "svg", *what)
            self.assertEqual((run.stdout.strip(), run.returncode), (str(self.folder / "search.svg"), 0), run.stderr)
            drawn = (self.folder / "search.svg").read_text()
            for text in (label, "drawn", "(mean and deviation of 2)", "annealing", "Searches: SqueezeNet 1.1 on mcm-36"):
                self.assertIn(text, drawn)

    def test_times_of_different_models_are_no_picture_and_rewards_are(self):
        self.refused(2, f"'{self.other}' is of model MobileNet v2, '{self.random[0]}' of SqueezeNet 1.1", self.random[0], self.other)
        self.assertEqual(command_line("plot", self.random[0], self.other, "--y", "reward", "-o", self.folder).returncode, 0)

    def test_where_nothing_fits_the_picture_says_so(self):
        def change(file):
            for column in ("cost_ps", "best_ps", "reward"):
                table = file["search"][:]
                table[column] = 0
                file["search"][:] = table
            file["search"].attrs["crc32"] = numpy.uint32(zlib.crc32(file["search"][:].tobytes()))
        path = self.changed(change)
        self.refused(2, "has nothing to draw: nothing that was tried fits", path)
        self.refused(2, "has nothing to draw", path, path)
        self.assertEqual(command_line("plot", self.random[0], f"mine={path}", "-o", self.folder, "--format", "svg").returncode, 0)
        self.assertIn("mine: nothing fits", (self.folder / "search.svg").read_text())

    def test_what_is_no_history_is_refused_beside_one(self):
        text = self.folder / "text.h5"
        text.write_text("no HDF5")
        self.refused(2, "is not an HDF5 file", self.random[0], text)
        self.refused(4, "cannot read 'nowhere.h5'", self.random[0], "a=nowhere.h5")
        self.refused(2, "is not a history (tessera plan --history)", self.random[0], self.changed(lambda file: file.attrs.modify("format", "tessera results")))

    def test_damage_is_refused(self):
        def change(file):
            table = file["search"][:]
            table["cost_ps"][3] += 1
            file["search"][:] = table
        self.refused(4, "table /search is damaged: it differs from its checksum", self.changed(change))
        cut = self.folder / "cut.h5"
        cut.write_bytes(self.random[0].read_bytes()[:-200])
        self.refused(4, "damaged or cut short", cut)
        self.refused(2, "is not a", self.changed(lambda file: file.pop("search")))

    def test_figures_and_columns_that_it_does_not_have(self):
        self.refused(2, "has no figure memory, it has: search", self.random[0], "--only", "memory")
        self.refused(2, "have no figure memory, they have: search", *self.random, "--only", "memory")
        self.refused(2, "is one history", self.random[0], "--y", "reward")
        self.refused(2, "--y is one of: cost, reward", *self.random, "--y", "seconds")


if __name__ == "__main__":
    unittest.main()
