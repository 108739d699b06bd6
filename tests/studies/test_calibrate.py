"""scripts/calibrate.py on a made-up simulator."""

import math
import pathlib
import tempfile
import unittest

import calibrate

SHAPES = [(m, n, k) for m in (512, 2048) for n in (512, 4096) for k in (512, 4096)]


class MadeUp:
    """Prices shapes with a main loop, operands and a fixed part, as the simulator does in a more elaborate way."""

    def __init__(self):
        self.asked = 0

    def microseconds(self, constants):
        self.asked += 1
        return {(m, n, k): m * n * k / (1e8 * constants["matrix_efficiency"]) + (m + n) * k / (1e5 * constants["operand_bytes_per_clock"])
                + constants["tile_latency"] * 1e-3 for m, n, k in SHAPES}


class Calibrate(unittest.TestCase):
    def test_the_constants_that_made_the_times_are_found(self):
        pricer = MadeUp()
        truth = {"matrix_efficiency": 0.8, "operand_bytes_per_clock": 44, "tile_latency": 1800}
        best = calibrate.fit(pricer, pricer.microseconds(truth), set(SHAPES))
        found = pricer.microseconds(best)
        for shape, time in pricer.microseconds(truth).items():
            self.assertLess(abs(math.log(found[shape] / time)), 0.03)  # one constant at a time, in steps
        self.assertLess(pricer.asked, 300)

    def test_shapes_that_are_only_returned_do_not_move_the_constants(self):
        pricer = MadeUp()
        truth = {"matrix_efficiency": 0.8, "operand_bytes_per_clock": 44, "tile_latency": 1800}
        measured = pricer.microseconds(truth)
        distorted = {**measured, SHAPES[0]: 10 * measured[SHAPES[0]]}
        fitted = set(SHAPES[1:])
        self.assertEqual(calibrate.fit(pricer, distorted, fitted), calibrate.fit(pricer, measured, fitted))

    def test_shares_stay_below_one_and_nothing_below_zero(self):
        pricer = MadeUp()
        fast = {shape: 0.5 * time for shape, time in pricer.microseconds({**calibrate.START, "matrix_efficiency": 1.0}).items()}
        best = calibrate.fit(pricer, fast, set(SHAPES))
        self.assertLessEqual(best["matrix_efficiency"], 1)
        self.assertTrue(all(value > 0 for value in best.values()))

    def test_a_table_has_comments_and_says_what_its_shapes_are_for(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "gemms.csv"
            path.write_text("# where from\nm,n,k,us,use\n1,2,3,4.5,point\n6,7,8,9,fit\n9,1,9,2,return\n", encoding="utf-8")
            measured, points, fitted = calibrate.read(path)
        self.assertEqual(measured, {(1, 2, 3): 4.5, (6, 7, 8): 9.0, (9, 1, 9): 2.0})
        self.assertEqual(points, {(1, 2, 3), (9, 1, 9)})
        self.assertEqual(fitted, {(1, 2, 3), (6, 7, 8)})

    def test_what_is_printed_is_what_the_cost_model_takes(self):
        keys = calibrate.cost(calibrate.START, 0.85, {(1, 2, 3): 1.5})
        self.assertEqual(keys["tile_latency"], f"{calibrate.START['tile_latency']} ns")
        self.assertEqual(keys["gemm_memory_efficiency"], 0.85)
        self.assertEqual(keys["model"], "tile")
        self.assertEqual(keys["gemm_deviations"], "[{ m = 1, n = 2, k = 3, ratio = 1.5 }]")


if __name__ == "__main__":
    unittest.main()
