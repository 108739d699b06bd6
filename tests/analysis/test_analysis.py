"""The package on files of the C++ writer: $MADE_UP_RUN OUT.h5 STAGES TENSOR MICRO_BATCHES makes one."""

import os
import subprocess
import sys
import tempfile
import types
import unittest

import h5py
import numpy
import pandas

import tessera_analysis
import tessera_analysis.plot
from tessera_analysis import __main__ as command
from tessera_analysis import style


class WithFile(unittest.TestCase):
    """A pipeline of 3 stages x 2 devices with 5 micro-batches, in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "out.h5")
        make(cls.path, 3, 2, 5)
        cls.results = tessera_analysis.load(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()


def make(path, stages, tensor, micro_batches):
    subprocess.run([os.environ["MADE_UP_RUN"], path, str(stages), str(tensor), str(micro_batches)], check=True,
                   stdout=subprocess.DEVNULL)


def command_line(*arguments):
    return subprocess.run([sys.executable, "-m", "tessera_analysis", *arguments], capture_output=True, text=True)


class Schema(WithFile):
    def test_tables_are_taken_by_pandas_as_they_are(self):
        with h5py.File(self.path) as file:
            for name in ("summary", "devices", "links", "memory", "collectives", "timeline", "memory_timeline"):
                frame = pandas.DataFrame(file[name][:])
                self.assertEqual(len(frame), len(file[name]), name)
                for column in frame:
                    if column.endswith("_ps"):
                        # A sum over devices may be beyond 64 bits.
                        self.assertEqual(frame[column].dtype, numpy.float64 if name == "collectives" and column in ("total_ps", "waiting_ps")
                                         else numpy.int64, column)

    def test_every_dataset_has_units_and_a_description(self):
        datasets = []
        with h5py.File(self.path) as file:
            file.visititems(lambda name, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
            for dataset in datasets:
                self.assertTrue(dataset.attrs["description"], dataset.name)
                self.assertTrue(dataset.attrs["units"], dataset.name)
                if dataset.dtype.names:
                    self.assertEqual(len(dataset.attrs["column_units"]), len(dataset.dtype.names), dataset.name)
                    self.assertEqual(len(dataset.attrs["column_descriptions"]), len(dataset.dtype.names), dataset.name)
                    together = [f"{name}: {unit}" for name, unit in
                                zip(dataset.dtype.names, dataset.attrs["column_units"])]
                    self.assertEqual(dataset.attrs["units"], ", ".join(together))
        self.assertGreater(len(datasets), 12)

    def test_devices_in_order_and_times_complete(self):
        devices = self.results.devices
        self.assertEqual(devices["device"].tolist(), list(range(6)))
        activities = [f"{name}_ps" for name in self.results.activities]
        self.assertTrue((devices[activities].sum(axis=1) == self.results.summary["iteration_time_ps"]).all())


class Loading(WithFile):
    def test_units_come_with_the_frames(self):
        units = self.results.links.attrs["units"]
        self.assertEqual((units["bandwidth"], units["busy_ps"], units["link_class"]), ("B/s", "ps", "text"))
        self.assertIn("link", self.results.links.attrs["description"])

    def test_texts_are_str(self):
        self.assertEqual(self.results.summary["machine"], "made-up-cluster")
        self.assertEqual(set(self.results.links["link_class"]), {"nvlink", "nic", "fabric"})
        self.assertEqual(self.results.plan, {"tensor parallel": "2", "pipeline parallel": "3"})

    def test_indices_of_the_timeline_become_names(self):
        self.assertIn("forward", set(self.results.timeline["activity"]))
        self.assertIn("tensor parallel", set(self.results.timeline["label"]))
        self.assertIn("activations", set(self.results.memory_timeline["category"]))

    def test_readable_units(self):
        # 3 stages of 2 devices at 80,000 MB each; times of picoseconds become seconds
        devices = tessera_analysis.readable(self.results.devices)
        self.assertAlmostEqual(devices["forward_s"][0] * 1e12, self.results.devices["forward_ps"][0], places=0)
        self.assertEqual(devices.attrs["units"]["forward_s"], "s")
        self.assertAlmostEqual(devices["peak_memory"][0], self.results.devices["peak_memory"][0] / 1e9)
        self.assertEqual(devices.attrs["units"]["peak_memory"], "GB")
        self.assertEqual(self.results.devices.attrs["units"]["peak_memory"], "B")

    def test_what_is_not_a_result_is_refused(self):
        for name, content, message in (("text.h5", "no HDF5", "is not an HDF5 file"), ("none.h5", None, "cannot read")):
            path = os.path.join(self.folder.name, name)
            if content:
                with open(path, "w") as file:
                    file.write(content)
            with self.assertRaisesRegex(tessera_analysis.ResultsError, message):
                tessera_analysis.load(path)
        other = os.path.join(self.folder.name, "other.h5")
        with h5py.File(other, "w") as file:
            file["x"] = 1
        with self.assertRaisesRegex(tessera_analysis.ResultsError, "is not a result file"):
            tessera_analysis.load(other)

    def test_a_later_schema_is_refused(self):
        later = os.path.join(self.folder.name, "later.h5")
        make(later, 1, 1, 1)
        with h5py.File(later, "a") as file:
            file.attrs["schema_version"] = 99
        with self.assertRaisesRegex(tessera_analysis.ResultsError, "schema version 99, this package reads versions 1 to 2"):
            tessera_analysis.load(later)


class Figures(WithFile):
    def plot(self, path, *options):
        out = tempfile.mkdtemp(dir=self.folder.name)
        run = command_line("plot", path, "-o", out, *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(run.stdout.split()), sorted(os.path.join(out, name) for name in os.listdir(out)))
        return sorted(os.listdir(out))

    def test_all_figures_of_a_full_file(self):
        self.assertEqual(self.plot(self.path),
                         ["links.png", "memory.png", "memory_over_time.png", "search.png", "time.png", "timeline.png"])

    def test_figures_that_fit_a_file_without_recordings(self):
        bare = os.path.join(self.folder.name, "bare.h5")
        make(bare, 3, 2, 5)
        with h5py.File(bare, "a") as file:
            del file["timeline"], file["memory_timeline"], file["search"]
        self.assertEqual(self.plot(bare), ["links.png", "memory.png", "time.png"])

    def test_a_machine_of_many_devices_and_of_one(self):
        for shape, count in (((1, 1, 1), 5), ((40, 16, 4), 6)):  # of one device each class has one link, which is like itself
            path = os.path.join(self.folder.name, "shape.h5")
            make(path, *shape)
            self.assertEqual(len(self.plot(path)), count)

    def test_a_choice_of_figures_and_of_formats(self):
        self.assertEqual(self.plot(self.path, "--only", "links", "time", "--format", "svg"), ["links.svg", "time.svg"])

    def test_letters_of_a_pdf_are_truetype_and_equal_results_make_equal_files(self):
        files = []
        for _ in range(2):
            folder = tempfile.mkdtemp(dir=self.folder.name)
            tessera_analysis.plot.plot(self.results, folder, ["time"], "pdf")
            with open(os.path.join(folder, "time.pdf"), "rb") as file:
                files.append(file.read())
        self.assertEqual(files[0], files[1])
        self.assertIn(b"/FontFile2", files[0])  # a TrueType font lies in the file
        self.assertNotIn(b"/Type3", files[0])

    def test_a_picture_is_as_wide_as_wanted_and_without_a_title(self):
        from matplotlib import image
        from tessera_analysis import time_figure
        self.plot(self.path, "--width", "84mm", "--no-title", "--only", "time", "memory", "timeline")
        for text, inches in (("84mm", 84 / 25.4), ("3.3in", 3.3), ("17.5 cm", 17.5 / 2.54), ("5", 5)):
            look = style.Look(command.inches(text), titled=False)
            self.assertAlmostEqual(look.width, inches)
            with style.styled(look):
                figure = time_figure.draw(self.results)
            self.assertAlmostEqual(figure.get_figwidth(), inches)
            self.assertIsNone(figure._suptitle)
        path = os.path.join(self.folder.name, "narrow.png")
        tessera_analysis.plot.save(path, time_figure.draw, self.results, look=style.Look(4.0))
        self.assertEqual(image.imread(path).shape[1], 600)  # 150 pixels an inch
        for width in ("wide", "3 feet", "0.5in", "2000mm"):
            run = command_line("plot", self.path, "--width", width)
            self.assertEqual(run.returncode, 2)
            self.assertIn("argument --width: ", run.stderr.splitlines()[-1])

    def test_links_that_are_alike_are_no_picture(self):
        from tessera_analysis import links_figure
        def picture(uses, names=("gpu 0", "gpu 1", "gpu 2")):
            count = len(uses)
            links = pandas.DataFrame({"link": range(count), "from": [each % 3 for each in range(count)], "to": [(each + 1) % 3 for each in range(count)],
                                      "link_class": "ring", "bytes": 10.0**9, "utilisation": uses, "peak_queue": 0})
            with style.styled():
                return links_figure.draw(types.SimpleNamespace(links=links, node_names=list(names), title="three"))
        self.assertIsNone(picture([0.30, 0.29, 0.30]))  # less than a twentieth apart
        self.assertIsNone(picture([0.0, 0.0, 0.0]))
        figure = picture([0.30, 0.10, 0.20])
        self.assertEqual(figure.axes[0].get_title(loc="left"), "ring: 3 links, 10 to 30 % of the time, 3 GB")
        self.assertEqual(figure.axes[0].lines[0].get_ydata().tolist(), [30, 10, 20])  # of gpu 0, 1 and 2
        # Dies of a mesh are drawn where they are; the way back around the edge is a stub to the right of the last.
        figure = picture([0.30, 0.10, 0.20], ("die (0,0)", "die (1,0)", "die (2,0)"))
        lines = figure.axes[0].collections[0].get_segments()
        self.assertEqual([round(line[1][0] - line[0][0], 9) for line in lines], [1, 1, 0.55])

    def test_devices_that_do_the_same_are_drawn_once(self):
        from tessera_analysis import memory_figure, timeline_figure
        same = os.path.join(self.folder.name, "same.h5")
        make(same, 1, 4, 3)  # four devices of one stage
        with style.styled():
            over_time, timeline = (draw(tessera_analysis.load(same)) for draw in (memory_figure.draw_over_time, timeline_figure.draw))
            several = memory_figure.draw_over_time(self.results)
        self.assertEqual([axes.get_title(loc="left") for axes in over_time.axes], ["gpu 0, as are 3 others"])
        self.assertEqual([label.get_text() for label in timeline.axes[0].get_yticklabels()], ["gpu 0 (and 3 like it)"])
        self.assertEqual(len(several.axes), 3)  # of three stages that hold differently much
        # Bars: devices 0 and 1 hold (5, 1), 2 holds (5, 2), 4 as much but is no neighbour.
        runs = style._runs(numpy.array([0, 1, 2, 4]), numpy.array([[5, 5, 5, 5], [1, 1, 2, 2]]), 0.006)
        self.assertEqual(runs, [(0, 1), (2, 2), (3, 3)])

    def test_what_a_search_tried_and_foretold(self):
        self.assertEqual(len(self.results.search), 12)
        self.assertEqual(self.results.search["best_ps"].iloc[-1], self.results.search["cost_ps"][self.results.search["cost_ps"] > 0].min())
        self.assertEqual(list(self.results.predicted), ["layers", "all"])

    def test_the_longest_activity_of_a_pixel_wins_and_peaks_stay(self):
        from tessera_analysis import memory_figure, timeline_figure
        # two pixels of 10 ps: 6 of activity 1 and 4 of 0; then 3 of 0 and nothing
        intervals = numpy.array([0, 6, 10]), numpy.array([6, 10, 13]), numpy.array([1, 0, 0])
        dominant = timeline_figure._dominant(intervals, numpy.array([0.0, 10.0, 20.0, 30.0]), 2)
        self.assertEqual(dominant.tolist(), [1, 0, -1])
        device = self.results.devices["device"][0]
        changes = self.results.memory_timeline
        _, levels = memory_figure._levels(changes[changes["device"] == device], self.results)
        self.assertEqual(levels.sum(axis=1).max(), self.results.devices["peak_memory"][0])


class CommandLine(WithFile):
    def test_help(self):
        for arguments in (["--help"], ["plot", "--help"], ["compare", "-h"]):
            run = command_line(*arguments)
            self.assertEqual(run.returncode, 0)
            self.assertTrue(run.stdout.startswith("usage: python3 -m tessera_analysis "), run.stdout)

    def test_errors_are_one_line_with_an_exit_code(self):
        plain = os.path.join(self.folder.name, "plain")
        with open(plain, "w") as file:
            file.write("x")
        for arguments, code in ((["plot", "nowhere.h5"], 4), (["plot", plain], 2), (["plot", self.folder.name], 4),
                                (["plot", self.path, "-o", plain + "/below"], 4)):
            run = command_line(*arguments)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_a_missing_package_is_named(self):
        # A python3 that finds none of the packages, in the words of a program and of a shell.
        environment = {"PYTHONPATH": os.environ["PYTHONPATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        def without_packages(*arguments):
            return subprocess.run([sys.executable, "-S", *arguments], capture_output=True, text=True, env=environment)
        run = without_packages("-m", "tessera_analysis", "plot", "out.h5")
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1), run.stderr)
        self.assertRegex(run.stderr, r"has no (h5py|numpy|pandas): install it \(Debian: python3-(h5py|numpy|pandas);")
        run = without_packages("-c", "import tessera_analysis; tessera_analysis.load('out.h5')")
        self.assertRegex(run.stderr.splitlines()[-1], "MissingPackage: this python3 .* has no (h5py|numpy|pandas): install it")
        self.assertEqual(without_packages("-m", "tessera_analysis", "--help").returncode, 0)

    def test_a_full_standard_output_is_noticed(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "w") as full:
            run = subprocess.run([sys.executable, "-m", "tessera_analysis", "plot", self.path, "--only", "links", "-o",
                                  self.folder.name], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((run.returncode, run.stderr), (4, "cannot write to standard output: No space left on device\n"))

    def test_bad_arguments(self):
        self.assertEqual(command_line().returncode, 2)
        self.assertEqual(command_line("plot").returncode, 2)
        self.assertEqual(command_line("plot", self.path, "--only", "nonsense").returncode, 2)


if __name__ == "__main__":
    unittest.main()
