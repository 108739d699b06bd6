"""scripts/calibrate.py on a made-up device: what made the times is found again; tables that are none are refused."""

import contextlib
import dataclasses
import io
import math
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

import made_up_device as made_up
from calibration import Refused, fitting, gemm_fit, output, rates, shapes, table, timer
from calibration.table import STREAMING, Row
from made_up_device import refused

import calibrate

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = types.SimpleNamespace(datatype=None, memory_efficiency=0.85, launch_overhead=900)


def fit(rows, options=OPTIONS):
    with contextlib.redirect_stderr(io.StringIO()):
        return fitting.fit_table(made_up.Simulator(), rows, options, "kernels.csv")


def constants(rows):
    return {key: value for key, (value, _) in fit(rows).constants.items()}


class Constants(unittest.TestCase):
    def test_of_every_kind_are_found_again(self):
        found = constants(made_up.table())
        self.assertEqual(found["launch_overhead"], f"{made_up.LAUNCH} ns")
        for kind, share in made_up.SHARES.items():
            self.assertEqual(found[f"{kind}_memory_efficiency"], share)
        self.assertEqual(found["gemm_memory_efficiency"], made_up.SHARES["copy"])
        self.assertEqual(found["memory_efficiency"], made_up.SHARES["copy"])
        self.assertEqual((found["attention_efficiency"], found["attention_ramp"]), (made_up.ATTENTION, made_up.RAMP))
        without_copies = constants([row for row in made_up.table() if row.kind != "copy"])
        self.assertTrue(min(made_up.SHARES.values()) <= without_copies["memory_efficiency"] <= max(made_up.SHARES.values()))

    def test_of_gemms_give_the_times_again(self):
        gemms = [row for row in made_up.table() if row.kind in ("gemm", "launch")]
        found = fit(gemms)
        self.assertEqual([kind for kind, modelled in found.compared if modelled], ["gemm"])
        for row, us in dict(found.compared)["gemm"].items():
            self.assertLess(abs(math.log(us / row.us)), 0.05)  # one constant at a time, in steps
        self.assertEqual(set(found.deviations), {shape for shape in made_up.GEMMS if shape[0] == 2048})

    def test_a_device_unlike_a_gpu_is_found_in_as_many_runs(self):
        """Fifty times slower, half a millisecond a tile: single steps of 400 ns would take a thousand runs."""
        simulator = made_up.Simulator()
        truth = {"matrix_efficiency": 0.02, "operand_bytes_per_clock": 2, "tile_latency": 500000}
        rows = [Row("gemm", "", *shape) for shape in made_up.GEMMS]
        pricer = gemm_fit.Pricer(simulator, rows, "fp32", {"launch_overhead": "0 ns"})
        times = pricer.microseconds(truth)
        with contextlib.redirect_stderr(io.StringIO()):
            best = gemm_fit.fit(pricer, times)
        self.assertLess(gemm_fit.off(pricer.microseconds(best), times), 0.1)
        self.assertLess(simulator.asked, 400)

    def test_shares_stay_below_one_and_nothing_below_zero(self):
        rows = [dataclasses.replace(row, us=row.us / 20) for row in made_up.table()]
        found = fit(rows)
        values = {key: value for key, (value, _) in found.constants.items()}
        self.assertLessEqual(values["matrix_efficiency"], 1)
        self.assertTrue(all(0 < values[f"{kind}_memory_efficiency"] <= 1 for kind in STREAMING))
        self.assertTrue(any("copy kernels move" in remark and "is it right?" in remark for remark in found.remarks))

    def test_rows_that_are_only_returned_move_no_constant(self):
        rows = made_up.table()
        skinny = [made_up.measured(Row("gemm", "", 16, n, 512, datatype="bf16", use="return"), us=20.0) for n in (512, 4096)]
        found = fit(rows + skinny)
        self.assertEqual(constants(rows), {key: value for key, (value, _) in found.constants.items()})
        self.assertEqual(len(found.deviations), 4 + 2)
        ratio = found.deviations[16, 512, 512]
        self.assertGreater(ratio, 1)
        self.assertIn("of use return, 2:", "\n".join(found.remarks))
        with self.assertRaisesRegex(Refused, "none is left"):
            fit(skinny)

    def test_deviations_that_the_simulator_would_refuse_are_left_out_and_said(self):
        rows = [dataclasses.replace(row, us=row.us * 50) if row.use == "point" and row.n == 512 else row for row in made_up.table()]
        found = fit(rows)
        self.assertTrue(all(ratio <= 10 for ratio in found.deviations.values()))
        self.assertIn("more than a factor of 10", "\n".join(found.remarks))

    def test_several_datatypes_need_a_choice(self):
        rows = made_up.table() + [made_up.measured(Row("gemm", "", 999, 512, 512, datatype="fp32"))]
        with self.assertRaisesRegex(Refused, "products of bf16 and fp32: --datatype chooses"):
            fit(rows)
        found = fit(rows, types.SimpleNamespace(**vars(OPTIONS) | {"datatype": "fp32"}))
        self.assertEqual(len(dict(found.compared)["gemm"]), 1)

    def test_what_a_table_lacks_is_said(self):
        found = fit([row for row in made_up.table() if row.kind == "norm"])
        self.assertEqual(found.constants["launch_overhead"], ("900 ns", "given"))
        self.assertNotIn("matrix_efficiency", found.constants)
        text = "\n".join(found.remarks)
        for words in ("no GEMMs", "no fused attention", "softmax, elementwise, fused"):
            self.assertIn(words, text)


class Memory(unittest.TestCase):
    def test_what_the_cache_may_hold_is_left_out(self):
        """It moves 100 MB in 10 us, five times what the memory can."""
        fast = Row("norm", "in the cache", read=5 * 10**7, written=5 * 10**7, us=13.1)
        with_it, without = fit(made_up.table() + [fast]), fit(made_up.table())
        self.assertEqual(with_it.constants, without.constants)
        self.assertIn("left out: 1 streaming kernels that move less than 4 times the cache of 40 MB", "\n".join(with_it.remarks))

    def test_an_outlier_moves_nothing(self):
        rows = made_up.table() + [Row("norm", "some", read=10**8, written=10**9, us=1e6)]
        self.assertEqual(constants(rows)["norm_memory_efficiency"], made_up.SHARES["norm"])

    def test_operations_of_a_kind_count_for_what_they_move(self):
        """At half of the bandwidth 2 bytes take 4, at a quarter 3 take 12: 5 bytes in 16 are 0.3125."""
        rows = [Row("norm", name, read=moved * 10**9, us=moved * 1000 / share) for name, moved, share in (("forward", 2, 0.5), ("backward", 3, 0.25))]
        found = fit(rows, types.SimpleNamespace(**vars(OPTIONS) | {"launch_overhead": 0}))
        self.assertEqual(found.constants["norm_memory_efficiency"][0], 0.312)  # three digits

    def test_rows_faster_than_a_launch_give_no_rate(self):
        self.assertIsNone(rates.robust([1.0], [2.0], 3.0))
        self.assertIsNone(rates.together([([1.0], [2.0])], 3.0))


class Tables(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.csv"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            try:
                return table.read(path)
            except Refused as problem:
                return str(problem).replace(f"{path}", "kernels.csv")

    def test_comments_and_what_its_shapes_are_for(self):
        rows = self.read("# where from\nm,n,k,us,use\n1,2,3,4.5,point\n\n6,7,8,9,\n1,1,1,2,return\n")
        self.assertEqual([(row.kind, row.shape, row.us, row.use) for row in rows],
                         [("gemm", (1, 2, 3), 4.5, "point"), ("gemm", (6, 7, 8), 9.0, "fit"), ("gemm", (1, 1, 1), 2.0, "return")])

    def test_that_come_along_are_tables(self):
        for name, rows in (("a100", 500), ("h100", 500), ("h200", 500), ("b200", 500), ("gb200", 500)):
            self.assertEqual(len(table.read(ROOT / "inputs" / "measured" / f"{name}-gemms.csv")), rows)

    def test_written_ones_are_read_again(self):
        rows = [dataclasses.replace(row, us=float(f"{row.us:.6g}")) for row in made_up.table()]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.csv"
            table.write(path, rows, ["one", "two"])
            self.assertEqual(table.read(path), rows)

    def test_bad_ones_are_one_line_with_file_line_and_what_is_allowed(self):
        gemm = "m,n,k,us,use\n"
        for text, problem in (
                ("", "kernels.csv: empty; a table has"), (b"\xff\xfe", "kernels.csv: no text in UTF-8"), (gemm, "kernels.csv: columns without a row"),
                ("# x\nm,n,k,us,usage\n1,2,3,4,fit\n", 'kernels.csv:2: unknown column "usage", allowed: m, n, k, us, use'),
                ("m,n,k\n1,2,3\n", 'kernels.csv:1: no column "us"'), ("us,us\n", 'kernels.csv:1: column "us" twice'),
                (gemm + "1,2,3,4\n", "kernels.csv:2: 4 cells, the first line has 5 columns"),
                (gemm + "1,2,3,abc,fit\n", 'kernels.csv:2: "us": expected a time above 0, not "abc"'),
                (gemm + "1,2,3,nan,fit\n", '"us": expected a time above 0'), (gemm + "1,2,3,0,fit\n", '"us": expected a time above 0'),
                (gemm + "1,2,3.5,4,fit\n", '"k": expected a whole number of at least 0, not "3.5"'),
                (gemm + "0,2,3,4,fit\n", '"m": a gemm has 1 to 1000000000, not 0'), (gemm + "1,2,,4,fit\n", '"k": a gemm has 1 to'),
                (gemm + "1,2,3,4,check\n", '"use": unknown choice "check", allowed: fit, point, return'),
                (gemm + "1,2,3,4,fit\n# x\n1,2,3,5,point\n", "kernels.csv:4: the kernel of line 2 again (gemm 1 x 2 x 3); each is allowed once"),
                ("kind,us\nnorms,1\n", '"kind": unknown choice "norms", allowed: gemm, attention, launch, decode, layer, idle, norm'),
                ("kind,us\nnorm,1\n", '"read", "written": a norm kernel needs the bytes that it moves'),
                ("kind,us,read,use\nnorm,1,8,point\n", '"use": only a single GEMM can be returned exactly'),
                ("m,n,k,batch,us,use\n1,2,3,4,5,point\n", '"use": only a single GEMM can be returned exactly'),
                ("kind,m,n,k,us,operation\nattention,8,8,64,5,sideways\n", '"operation": unknown choice "sideways", allowed: forward, backward'),
                ("m,n,k,us,condition\n1,2,3,4,cold\n", '"condition": unknown choice "cold", allowed: none, burst, heat, eager, beside'),
                ("m,n,k,us,condition\n1,2,3,4,eager\n", '"launches": condition eager needs to know how many'),
                ("m,n,k,us,watts\n1,2,3,4,-5\n", '"watts": expected a number above 0, not "-5"'),
                ("m,n,k,us,use,condition\n1,2,3,4,point,burst\n", "only a single GEMM can be returned exactly, without a condition"),
                ("m,n,k,us,condition,launches\n1,2,3,4,eager,2\n1,2,3,9,eager,2\n", "kernels.csv:3: the kernel of line 2 again"),
                ("kind,us\nidle,1\n", '"watts": of kind idle they are what counts'),
                ("kind,m,n,k,us\ndecode,1,8,64,5\n", '"read", "written": a decode kernel needs'),
                ("kind,m,n,k,us,operation\nlayer,8,8,2,5,sum\n", '"operation": unknown choice "sum", allowed: together, apart'),
                ("kind,m,n,k,us,operation\nattention,8,9,64,5,forward\n", "attention of 8 queries to 9 keys")):
            found = self.read(text)
            self.assertIsInstance(found, str, text)
            self.assertIn(problem, found)
            self.assertEqual(len(found.splitlines()), 1)


class Output(unittest.TestCase):
    def test_is_toml_with_what_remains(self):
        lines = output.toml(fit(made_up.table()), 'a "table"\n.csv')
        text = "\n".join(lines)
        self.assertIn("# norm                       3", text)
        self.assertIn("Links and collectives cannot be measured with one device", text)
        if sys.version_info < (3, 11):
            self.skipTest("this Python has no TOML reader")
        import tomllib
        calibration = tomllib.loads(text)["machine"]["calibration"]
        self.assertEqual(set(calibration), {"source", "cost"})
        self.assertEqual(calibration["source"], 'scripts/calibrate.py, kernels of a "table"\n.csv')
        self.assertEqual(calibration["cost"]["model"], "tile")
        self.assertEqual(len(calibration["cost"]["gemm_deviations"]), 4)


class Shapes(unittest.TestCase):
    def test_are_some_300_once_each(self):
        rows = shapes.shapes(shapes.FULL, "bf16")
        self.assertEqual(len(rows), len(set(rows)))
        self.assertTrue(250 <= len(rows) <= 350, len(rows))
        kinds = set(table.KINDS) - {"decode", "layer", "idle"}  # which measurements of their own have
        self.assertEqual({row.kind for row in rows}, kinds)
        self.assertEqual({row.kind for row in shapes.shapes(shapes.QUICK, "fp32")}, kinds)

    def test_can_be_read_as_a_table(self):
        for datatype in ("bf16", "fp32"):
            for row in shapes.shapes(shapes.FULL, datatype):
                table.check_row(dataclasses.replace(row, us=1.0), "here")


class CommandLine(unittest.TestCase):
    """Problems are one line on standard error, and exit code 1."""

    def test_without_pytorch_it_names_the_package(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            self.assertIn('"pip install torch", or package python3-torch', refused("measure", "-o", "/nonexistent/kernels.csv"))

    def test_a_table_is_not_replaced(self):
        self.assertIn("exists; --force replaces it", refused("measure", "-o", __file__))

    def test_files_and_a_simulator_that_are_not_there(self):
        self.assertIn("nowhere.csv: No such file or directory", refused("fit", "nowhere.csv", "--machine", "a100-80g-cluster"))
        a100 = str(ROOT / "inputs" / "measured" / "a100-gemms.csv")
        self.assertIn("no simulator /nowhere/tessera", refused("fit", a100, "--machine", "a100-80g-cluster", "--tessera", "/nowhere/tessera"))

    def test_arguments_are_checked_whole(self):
        for text in ("900", "1.2.3 ns", "fast"):
            with self.assertRaises(calibrate.argparse.ArgumentTypeError):
                calibrate.nanoseconds(text)
        self.assertEqual(calibrate.nanoseconds("3.8 us"), 3800)
        for text in ("0", "85 %", "nan", "1.5"):
            with self.assertRaises(calibrate.argparse.ArgumentTypeError):
                calibrate.number(0.01, 1)(text)


class Clock:
    """Of 10 us; each call takes half a microsecond."""

    def __init__(self):
        self.calls = 0

    def call(self, _):
        self.calls += 1

    def perf_counter(self):
        return self.calls // 20 * 1e-5


class Measuring(unittest.TestCase):
    def test_a_clock_that_cannot_tell_calls_apart_gets_many_of_them(self):
        # One call is over before the clock ticks, so it is taken for 0.1 us: a sample of 1 ms has 10,000 of them, which take 5 ms.
        processor = types.SimpleNamespace(wait=lambda: None, captured=lambda loop: None, works_alone=False)
        timing, clock = timer.Timer(processor, timer.Effort(0, 1, 0.001, 4)), Clock()
        with mock.patch.object(timer, "time", clock):
            samples = timing.measure(clock.call)
        self.assertEqual(clock.calls, 1 + 5 * 10_000)  # to warm up, and a sample that does not count
        self.assertEqual(len(samples), 4)
        for sample in samples:
            self.assertAlmostEqual(sample, 5e-7, delta=1e-9)


if __name__ == "__main__":
    unittest.main()
