"""scripts/calibrate.py measure: how time is dealt out, what each measurement asks of a device, and what becomes of what it cannot have."""

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

from calibration import Refused, measure, measurements, shapes, table, timer
from calibration.bench import LATE, Bench
from calibration.budget import Budget, deal
from calibration.devices import Unavailable
from calibration.table import Row
from made_up_device import refused

import calibrate

ROOT = pathlib.Path(__file__).resolve().parents[2]
HASTY = timer.Effort(0, 1, 1e-4, 3)
SIZES = dataclasses.replace(shapes.TINY, heat=0.01, hold=0.005)


class Device:
    """Any kernel at once; what it was asked for is kept. As a GPU it works beside the host and tells its power."""

    kind, datatype, works_alone, replays = "made-up", "fp32", True, False

    def __init__(self, **reading):
        self.reading, self.asked, self.refused = reading, [], {}

    def make(self, row):
        if row.operation in self.refused:
            raise self.refused[row.operation]
        return lambda i: None

    def wait(self):
        """It is always done."""

    def captured(self, loop):
        return None

    def launched(self, call, count):
        return 5e-6 + 4e-6 * count

    def beside(self, call, count, cores):
        self.asked.append(cores)
        return 1.2e-4 if cores else 1e-4

    def read(self):
        return self.reading

    def free_memory(self):
        return None


def bench(device):
    return Bench(device, SIZES, HASTY, lambda line: None)


def found(name, device, seconds=10.0):
    """The rows of one measurement."""
    one = next(one for one in measurements.registry() if one.name == name)
    with mock.patch("time.sleep"):
        return one.measure(bench(device), Budget(seconds))


class Looking(unittest.TestCase):
    def test_the_device_is_at_work_until_the_answer_is_there(self):
        """The answer comes when the device has worked three times since it was asked."""
        worked = threading.Semaphore(0)
        timing = timer.Timer(Device(), HASTY)

        def read():
            for _ in range(3):
                self.assertTrue(worked.acquire(timeout=10))
            return "answer"

        self.assertEqual(timing.look(worked.release, read), "answer")

    def test_a_processor_looks_at_itself(self):
        processor = Device()
        processor.works_alone = False
        self.assertEqual(timer.Timer(processor, HASTY).look(None, lambda: "answer"), "answer")


class Dealing(unittest.TestCase):
    def test_what_one_leaves_the_others_get(self):
        """100 s for shares of 1, 1 and 2. The first may take 25 s and takes 4; of 96 s the second may take a third and takes 15; the last has 81 s."""
        now, dealt = [0.0], []
        takes = {"a": 4, "b": 15, "c": 0}

        def one(measurement, budget):
            dealt.append(budget.left())
            now[0] += takes[measurement.name]

        deal([measurements.Measurement(name, "", share, None) for name, share in (("a", 1), ("b", 1), ("c", 2))], 100, one, lambda: now[0])
        self.assertEqual(dealt, [25, 32, 81])

    def test_who_takes_too_long_takes_it_from_those_behind(self):
        now, dealt = [0.0], []

        def one(measurement, budget):
            dealt.append(budget.left())
            now[0] += 70

        deal([measurements.Measurement(name, "", 1, None) for name in "abc"], 100, one, lambda: now[0])
        self.assertEqual(dealt, [100 / 3, 15, 0])  # 30 s are left for two, then nothing

    def test_rows_share_what_is_left(self):
        now = [0.0]
        budget = Budget(10, lambda: now[0])
        self.assertEqual(budget.share(4), 2.5)
        now[0] = 7
        self.assertEqual((budget.left(), budget.share(3)), (3, 1))
        now[0] = 12
        self.assertEqual(budget.left(), 0)

    def test_effort_goes_with_the_time(self):
        """0.2 s of warm-up and twelve samples of 0.025 s are half a second: as much of it as there is, but never less than three short samples."""
        whole = timer.Effort(0.2, 3, 0.025, 11)
        self.assertEqual(whole.within(10), whole)
        self.assertEqual(whole.within(0.25), timer.Effort(0.1, 3, 0.0125, 6))
        self.assertEqual(whole.within(0), timer.Effort(0, 3, 0.00625, 3))


class Measurements(unittest.TestCase):
    def test_begin_cool_and_end_hot(self):
        names = [one.name for one in measurements.registry()]
        self.assertEqual((names[:2], names[-1]), (["idle", "burst"], "heat"))
        self.assertEqual(len(names), len(set(names)))

    def test_all_gemms_as_bursts_and_the_points_hot_with_clock_and_power(self):
        gpu = Device(mhz=1700.0, watts=650.0, limit_watts=700.0)
        bursts, hot = found("burst", gpu), found("heat", gpu)
        gemms = shapes.gemms(SIZES, "fp32")
        self.assertEqual([row.kernel for row in bursts], [row.kernel for row in gemms] + [bursts[-1].kernel])
        self.assertEqual([row.kernel for row in hot], [row.kernel for row in gemms if row.use == "point"] + [bursts[-1].kernel])
        self.assertEqual(bursts[-1].operation, "copy")
        self.assertEqual({row.condition for row in bursts}, {"burst"})
        self.assertEqual({(row.condition, row.mhz, row.watts, row.limit_watts) for row in hot}, {("heat", 1700.0, 650.0, 700.0)})

    def test_half_a_minute_of_heat_comes_first(self):
        held = []
        with mock.patch("calibration.measurements.heat.hold", lambda bench, call, seconds: held.append(seconds) or ([1e-3], lambda: None)):
            found("heat", Device(), 1000.0)
            full = Bench(Device(), shapes.FULL, HASTY, lambda line: None)
            next(one for one in measurements.registry() if one.name == "heat").measure(full, Budget(120))
        self.assertAlmostEqual(held[0], 0.01)  # what these sizes say
        self.assertAlmostEqual(held[-50], 30)  # before 48 points and the copy
        # The made-up heat took no time, so 120 s are there for 49 kernels, a fifth of which is for the look at clock and power.
        self.assertAlmostEqual(held[-49], 0.8 * 120 / 49, places=1)

    def test_idle_power(self):
        (row,) = found("idle", Device(mhz=210.0, watts=70.0, limit_watts=700.0))
        self.assertEqual((row.kind, row.watts, row.limit_watts), ("idle", 70.0, 700.0))

    def test_eager_has_time_against_launches(self):
        rows = found("eager", Device())
        tiny = [(row.launches, round(row.us, 6)) for row in rows if row.condition == "eager" and row.m == 256]
        self.assertEqual(tiny, [(count, 5 + 4 * count) for count in (1, 2, 4, 8, 16, 32, 64, 128)])
        gemms = {row.kernel for row in rows if row.kind == "gemm" and row.condition == "eager"}
        self.assertEqual({row.kernel for row in rows if not row.condition}, gemms)  # each of them alone as well

    def test_beside_is_with_the_copy_and_without(self):
        gpu = Device()
        rows = found("beside", gpu)
        self.assertEqual([(row.cores, round(row.us)) for row in rows], [(0, 100), (1, 120)])
        self.assertEqual(gpu.asked, [0] * 5 + [1] * 5)
        self.assertEqual((shapes.FULL.held_cores, len(shapes.FULL.beside)), (16, 3))

    def test_a_layer_is_the_sum_of_its_kernels_and_all_of_them_together(self):
        """Ten kernels, nine of them with a time of their own: attention cannot be had, so it is in neither."""
        times = {"together": 8.0, "each": 1.0}
        gpu, calls = Device(), []
        gpu.refused["causal forward"] = Unavailable("none here")
        gpu.make = lambda row: Device.make(gpu, row) and (lambda i: calls.append(row))
        one = bench(gpu)

        def sample(call, effort):
            calls.clear()
            call(0)
            return [times["each"] if len(calls) == 1 else times["together"]]

        one.timer.measure = sample
        rows = next(one for one in measurements.registry() if one.name == "layer").measure(one, Budget(10))
        self.assertEqual([(row.operation, row.us) for row in rows], [("together", 8e6), ("apart", 9e6)])
        self.assertEqual(len(calls), 9)
        self.assertEqual(one.missing, {("attention causal forward of a layer", "none here"): 1})

    def test_fp8_and_decode_have_shapes_of_their_own(self):
        self.assertEqual({row.datatype for row in found("fp8", Device())}, {"fp8"})
        (few, many) = found("decode", Device())
        # 4 heads of 256 keys and values of 32 numbers of four bytes are 262,144 B, beside the queries of one token or eight.
        self.assertEqual((few.read, many.read), (262144 + 4 * 32 * 4, 262144 + 8 * 4 * 32 * 4))

    def test_whole_tables_have_each_kernel_once(self):
        """Of all sizes: rows under one condition are no rows of another measurement again, which read() would refuse."""
        for sizes in (shapes.FULL, shapes.QUICK, shapes.TINY):
            plain = [*shapes.shapes(sizes, "bf16"), *(Row("gemm", "linear", *shape, datatype="bf16") for shape in sizes.eager), *shapes.fp8(sizes),
                     *shapes.decodes(sizes, "bf16")]
            self.assertEqual(len({row.kernel for row in plain}), len(plain))
            self.assertEqual(len({row.kernel for row in shapes.bursts(sizes, "bf16")}), len(shapes.bursts(sizes, "bf16")))


class LeftOut(unittest.TestCase):
    def rows(self, device, seconds=10.0):
        one = bench(device)
        with mock.patch("time.sleep"):
            rows = one.plain(shapes.launches(SIZES, "fp32") + shapes.gemms(SIZES, "fp32")[:2], Budget(seconds))
        return rows, one.missing

    def test_is_what_fails_and_the_others_go_on(self):
        gpu = Device()
        gpu.refused["add"] = RuntimeError("CUDA out of memory\nand much more")
        rows, missing = self.rows(gpu)
        self.assertEqual([row.operation for row in rows], ["linear", "linear"])
        self.assertEqual(missing, {("launch add", "CUDA out of memory"): 3})

    def test_is_what_no_time_is_left_for(self):
        rows, missing = self.rows(Device(), seconds=0)
        self.assertEqual((rows, missing), ([], {("launch add", LATE): 3, ("gemm linear", LATE): 2}))

    def test_is_what_does_not_fit(self):
        """45 kB of 50 kB may be taken. The sum of 4,096 numbers needs 98 kB, the GEMM of 32 x 32 x 128 with five second operands 102 kB."""
        gpu = Device()
        gpu.free_memory = lambda: 50_000
        reason = "it does not fit into the free memory"
        self.assertEqual(self.rows(gpu)[1], {("gemm linear", reason): 1, ("launch add", reason): 1})

    def test_is_a_measurement_whose_readings_the_device_does_not_give(self):
        one = bench(Device())
        with self.assertRaisesRegex(Refused, "no kernel could be measured; the first reason: measurement idle: no watts can be read"):
            measure.measure_all(one, measure.choose(["idle"]), 10)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_what_is_wrong_is_said_before_anything_is_measured(self):
        self.assertIn('--only: unknown measurement "heart", allowed: idle, burst, eager', refused("measure", "--only", "heart", "-o", "kernels.csv"))
        self.assertIn("is no folder that can be written to", refused("measure", "--device", "numpy", "-o", str(self.folder / "none" / "kernels.csv")))
        self.assertIn("device numpy has fp32 alone", refused("measure", "--device", "numpy", "--datatype", "bf16", "-o", "kernels.csv"))
        for text in ("0", "ten", "nan", "1e9"):
            with self.assertRaises(calibrate.argparse.ArgumentTypeError):
                calibrate.number(0.01, 600, " minutes")(text)

    def test_without_numpy_it_names_the_package(self):
        with mock.patch.dict(sys.modules, {"calibration.devices.arrays": None}):
            self.assertIn("package python3-numpy", refused("measure", "--device", "numpy", "-o", "kernels.csv"))

    def test_a_table_is_there_whole_or_not_at_all(self):
        place = self.folder / "a folder"
        place.mkdir()
        with self.assertRaises(Refused):
            table.write(place, [Row("gemm", "", 1, 1, 1, us=1.0)], [])
        self.assertEqual(list(self.folder.iterdir()), [place])

    def test_the_whole_way_on_this_processor(self):
        """Within some seconds and without PyTorch; what a processor does not tell is empty."""
        kernels = self.folder / "kernels.csv"
        command = [sys.executable, ROOT / "scripts" / "calibrate.py", "measure", "--device", "numpy", "--minutes", "0.5", "-o", kernels]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, text = table.read(kernels), kernels.read_text(encoding="utf-8")
        self.assertEqual({row.condition for row in rows}, set(table.CONDITIONS))
        self.assertLessEqual({"gemm", "attention", "launch", "decode", "layer", "norm", "copy"}, {row.kind for row in rows})
        self.assertEqual({(row.mhz, row.watts, row.limit_watts) for row in rows}, {(0, 0, 0)})
        for line in ("# scripts/calibrate.py measure, 0.5 minutes, ", "# left out: measurement idle: no watts can be read\n",
                     "# left out: 8 of gemm fp8: NumPy has no such kernel\n"):
            self.assertIn(line, text)
        self.assertIn(f"{len(rows)} rows are in {kernels}", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [kernels])

    def test_some_of_the_measurements(self):
        kernels = self.folder / "kernels.csv"
        command = [sys.executable, ROOT / "scripts" / "calibrate.py", "measure", "--device", "numpy", "--only", "beside,decode", "--minutes", "0.02",
                   "-o", kernels]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({(row.kind, row.condition) for row in table.read(kernels)}, {("gemm", "beside"), ("decode", "")})
        self.assertIn("measure --only beside,decode, 0.02 minutes", kernels.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
