"""scripts/calibrate.py: what follows from rows under conditions, on made-up rows whose answers are worked out in words."""

import contextlib
import dataclasses
import io
import sys
import types
import unittest

import made_up_device as made_up
from calibration import fitting, launch_fit, observed, output, power_fit
from calibration.table import Row

OPTIONS = types.SimpleNamespace(datatype=None, memory_efficiency=0.85, launch_overhead=900)
TINY = Row("launch", "add", m=256)
# 2 x 10^9 FLOP and 6 MB of BF16, on a device of 100 TFLOP/s and 1 TB/s.
CUBE = Row("gemm", "linear", 1000, 1000, 1000, datatype="bf16")
COPY = Row("copy", "copy", read=10**9, written=10**9)


def fit(rows):
    with contextlib.redirect_stderr(io.StringIO()):
        return fitting.fit_table(made_up.Simulator(), rows, OPTIONS, "kernels.csv")


def eager(kernel, intercept, slope, counts=(1, 2, 4, 8, 16)):
    return [dataclasses.replace(kernel, us=intercept + slope * count, condition="eager", launches=count) for count in counts]


def alone(kernel, us, condition="", **readings):
    return dataclasses.replace(kernel, us=us, condition=condition, **readings)


class Launches(unittest.TestCase):
    def test_interval_and_floor_are_slope_and_intercept(self):
        """A kernel every 4 us, and the last one takes 5 us from start to end, of which 1.6 us are the launch overhead: 3.4 us are the floor."""
        found = fit([alone(TINY, 1.6), *eager(TINY, 5, 4)])
        self.assertEqual(found.constants["launch_overhead"][0], "1600 ns")
        self.assertEqual(found.constants["kernel_floor"][0], "3400 ns")
        self.assertEqual(found.of_software["issue_interval"][0], "4000 ns")
        for _, origin in (found.constants["kernel_floor"], found.of_software["issue_interval"]):
            self.assertTrue(origin.startswith("derived: "), origin)

    def test_an_outlier_moves_neither(self):
        rows = [alone(TINY, 1.6), *eager(TINY, 5, 4), dataclasses.replace(TINY, us=900, condition="eager", launches=3)]
        self.assertEqual((launch_fit.interval(rows), launch_fit.floor(rows, 1600)), (4000, 3400))

    def test_kernels_that_take_longer_than_their_launch_tell_nothing_of_it(self):
        """30 us alone and 30 us each behind one another: the host waits for the device, not the other way round."""
        rows = [alone(CUBE, 30.0), *eager(CUBE, 3, 30)]
        self.assertEqual((launch_fit.interval(rows), launch_fit.floor(rows, 900)), (None, None))
        self.assertEqual(launch_fit.interval(rows + [alone(TINY, 1.6), *eager(TINY, 5, 4)]), 4000)

    def test_a_processor_launches_nothing_ahead(self):
        """n calls take n times what one takes, and nobody issues them: no interval is invented."""
        rows = [alone(TINY, 2.0), *eager(TINY, 0, 2)]
        found = fit(rows)
        self.assertNotIn("kernel_floor", found.constants)
        self.assertEqual(found.of_software, {})

    def test_the_floor_is_never_below_nothing(self):
        self.assertEqual(launch_fit.floor([alone(TINY, 1.6), *eager(TINY, 1, 4)], 1600), 0)

    def test_streaming_kernels_are_fitted_with_their_floor(self):
        """2 GB at half of 1 TB/s take 4,000 us, beside 1.6 us of launch and 3.4 us of floor: were the floor left out, the share would be less."""
        found = fit([alone(TINY, 1.6), *eager(TINY, 5, 4), alone(COPY, 4005.0)])
        self.assertEqual(found.constants["copy_memory_efficiency"][0], 0.5)


def hot(kernel, burst, clock, watts):
    """Both rows of a kernel that holds this share of the clock."""
    return [alone(kernel, burst, "burst"), alone(kernel, burst / clock, "heat", watts=watts, limit_watts=700.0, mhz=1500.0)]


IDLE = Row("idle", us=4e6, watts=100.0, limit_watts=700.0)


class Power(unittest.TestCase):
    # The cube at 80 TFLOP/s takes 25 us as a burst: 0.8 of the peak, and 6 MB in that time 0.24 of the bandwidth. The copy takes 2,500 us: 0.8 of it.
    # With 1,000 W of the matrix units and 200 W of the memory the cube would draw 848 W above the 100 W at rest, where 600 W are left: the clock is the
    # cube root of 600 / 848, and it draws the 700 W. The copy draws 100 + 160 W, at full clock.
    CLOCK = (600 / 848) ** (1 / 3)
    ROWS = [IDLE, *hot(CUBE, 25.0, CLOCK, 700.0), *hot(COPY, 2500.0, 1.0, 260.0)]

    def test_of_two_kernels_solved_by_hand(self):
        found = fit(self.ROWS)
        self.assertEqual([found.constants[key] for key in ("power_limit", "idle_power")],
                         [("700 W", "read: what the driver enforces, as kernels.csv says"), ("100 W", "measured: kernels.csv, at rest")])
        self.assertEqual([found.constants[key][0] for key in ("matrix_power", "memory_power")], ["1000 W", "200 W"])
        self.assertTrue(found.constants["matrix_power"][1].startswith("derived: least squares over 2 kernels"))
        for row, us in dict(found.compared)["hot, from bursts"].items():
            self.assertAlmostEqual(us / row.us, 1)

    def test_what_no_hot_kernel_would_be_slower_for_holds_its_clock(self):
        power = power_fit.Power(700, 100, 1000, 200)
        self.assertEqual(power.clock(0.6, 0), 1)  # just the 600 W that are left
        self.assertAlmostEqual(power.clock(4.8, 0), 0.5)  # eight times as much: half of the clock
        self.assertEqual(power.clock(0, 0), 1)

    def test_a_hot_kernel_that_was_faster_than_its_burst_has_the_full_clock(self):
        kernels = power_fit.held([*hot(COPY, 2500.0, 1.02, 260.0)], lambda datatype: 1e14, 1e12)
        self.assertEqual(kernels[0].clock, 1)

    def test_products_of_a_datatype_without_a_peak_tell_nothing(self):
        self.assertEqual([one.row.kind for one in power_fit.held(self.ROWS, lambda datatype: None, 1e12)], ["copy"])

    def test_neither_is_below_nothing(self):
        """x = 3, y = -1 would meet both equations; of one alone 5/2 x leaves 0.5, which is less than what any y leaves."""
        self.assertEqual(power_fit.least_squares([(1, 0, 3), (1, 1, 2)]), (2.5, 0))
        self.assertEqual(power_fit.least_squares([(0, 1, 3), (1, 1, 2)]), (0, 2.5))
        self.assertEqual(power_fit.least_squares([(0, 0.5, 100), (0, 1, 200)]), (0, 200))

    def test_without_watts_nothing_is_invented(self):
        for rows in (self.ROWS[1:], [dataclasses.replace(row, watts=0.0, limit_watts=0.0) for row in self.ROWS[1:]]):
            found = fit(rows)
            self.assertFalse([key for key in found.constants if "power" in key])
            self.assertIn("power_limit is missing", "\n".join(found.remarks))
        self.assertNotIn("power_limit is missing", "\n".join(fit(made_up.table()).remarks))

    def test_products_are_fitted_at_full_clock_where_the_power_is_modelled(self):
        """Each GEMM takes a tenth longer again and again than as a burst: what is fitted and returned is the burst."""
        gemms = [dataclasses.replace(row, operation="linear") for row in made_up.table() if row.kind == "gemm"]
        slow = [dataclasses.replace(row, us=1.1 * row.us) for row in gemms]
        bursts = [alone(row, row.us, "burst", use="fit") for row in gemms]
        held, fast, unpowered = fit(slow + bursts + self.ROWS), fit(gemms), fit(slow + bursts)
        for key in made_up.CONSTANTS:
            self.assertEqual(held.constants[key], fast.constants[key])
        self.assertEqual(held.deviations, fast.deviations)
        self.assertIn("12 of 12 GEMMs count with their time as a burst", "\n".join(held.remarks))
        self.assertNotEqual({key: unpowered.constants[key] for key in made_up.CONSTANTS}, {key: fast.constants[key] for key in made_up.CONSTANTS})


class Observed(unittest.TestCase):
    simulator = made_up.Simulator()

    def test_a_layer_against_the_sum_of_its_kernels(self):
        rows = [Row("layer", operation, 2048, 4096, 32, us=us) for operation, us in (("together", 900.0), ("apart", 1000.0))]
        self.assertEqual(observed.layers(rows), ["measured: the kernels of a layer of 2048 tokens, 4096 wide, 32 heads take together 0.900 of their sum"])
        self.assertEqual(observed.layers(rows[:1]), [])

    def test_beside_a_copy(self):
        """One GEMM takes 1.2, the other 1.4 of its time beside 20 held cores: 1.3 in the mean. With 80 of the device's 100 cores it would be 1.25."""
        rows = []
        for size, us, held in ((1000, 100.0, 120.0), (2000, 800.0, 1120.0)):
            gemm = Row("gemm", "linear", size, size, size, datatype="bf16")
            rows += [alone(gemm, us, "beside"), dataclasses.replace(gemm, us=held, condition="beside", cores=20)]
        self.assertEqual(observed.beside(rows, 100), ["measured: 2 GEMMs beside a copy that holds 20 cores take 1.300 of their time alone; "
                                                      "derived: that of 80 of 100 cores is 1.250"])
        self.assertEqual(observed.beside(rows, None), ["measured: 2 GEMMs beside a copy that holds 20 cores take 1.300 of their time alone"])

    def test_fp8(self):
        """2 x 10^9 FLOP in 25 us are 80 TFLOP/s, of the made-up device's 100."""
        found = observed.fp8([alone(dataclasses.replace(CUBE, datatype="fp8"), us) for us in (25.0, 50.0)], self.simulator)
        self.assertEqual(len(found), 1)
        self.assertIn("of 2 FP8 GEMMs the fastest, 1000 x 1000 x 1000, does 80 TFLOP/s, 0.800 of peak.fp8", found[0])

    def test_decode(self):
        """1 GB at 0.8 of 1 TB/s takes 1,250 us, beside 5 us of overhead. What the cache may hold does not count."""
        large = Row("decode", "decode", 1, 8192, 128, 256, "bf16", read=10**9, us=1255.0)
        small = Row("decode", "decode", 1, 512, 128, 16, "bf16", read=10**6, us=6.0)
        found = observed.decode([large, small], self.simulator, 5)
        self.assertEqual(len(found), 1)
        self.assertIn("at 0.800 of the memory bandwidth (1 kernels beyond the cache)", found[0])
        self.assertEqual(observed.decode([small], self.simulator, 5), [])


class Printed(unittest.TestCase):
    def test_fp8_beside_other_products_needs_no_choice(self):
        found = fit(made_up.table() + [made_up.measured(dataclasses.replace(CUBE, operation="fp8", datatype="fp8"))])
        self.assertEqual(found.constants, fit(made_up.table()).constants)
        self.assertIn("of 1 FP8 GEMMs", "\n".join(found.remarks))

    def test_what_belongs_into_a_recipe_is_a_comment(self):
        lines = output.toml(fit([alone(TINY, 1.6), *eager(TINY, 5, 4), *Power.ROWS]), "kernels.csv")
        self.assertTrue([line for line in lines if line.startswith('# issue_interval = "4000 ns" ')])
        if sys.version_info < (3, 11):
            self.skipTest("this Python has no TOML reader")
        import tomllib
        cost = tomllib.loads("\n".join(lines))["machine"]["calibration"]["cost"]
        self.assertEqual({key: cost[key] for key in ("power_limit", "idle_power", "matrix_power", "memory_power", "kernel_floor")},
                         {"power_limit": "700 W", "idle_power": "100 W", "matrix_power": "1000 W", "memory_power": "200 W", "kernel_floor": "3400 ns"})
        self.assertNotIn("issue_interval", cost)


if __name__ == "__main__":
    unittest.main()
