"""scripts/calibrate.py from the table to a machine file, with the simulator itself: TESSERA names it, or build/bin has it.

With PyTorch the table is measured here, on the CPU; without it tests/studies/cpu-kernels.csv, measured so, is taken.
"""

import contextlib
import dataclasses
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from calibration import attention_fit, gemm_fit, memory_fit, power_fit, shapes, table
from calibration.devices import Unavailable, kernels
from calibration.simulator import Simulator
from calibration.table import Row

import calibrate

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESSERA = os.environ.get("TESSERA", str(ROOT / "build" / "bin" / "tessera"))
MACHINE = """[machine]
name = "this-computer"
[machine.device]
name = "a CPU"
peak.fp32 = "110 GFLOP/s"
memory_bandwidth = "30 GB/s"
memory_capacity = "16 GB"
cores = 1
cache = "30 MB"
clock = "2.6 GHz"
[machine.topology]
kind = "cluster"
nodes = 1
gpus_per_node = 1
nvlink_bandwidth = "1 GB/s"
nvlink_latency = "1 us"
"""
JOB = """machine = "calibrated.toml"
[strategy]
name = "script"
[[strategy.step]]
op = "gemm"
m = {}
n = {}
k = {}
datatype = "fp32"
"""


def tessera(*arguments):
    return subprocess.run([TESSERA, *map(str, arguments)], capture_output=True, text=True, check=False)


TORCH = importlib.util.find_spec("torch")


@unittest.skipUnless(TORCH, "this Python has no PyTorch (package python3-torch): no kernel is run")
class Kernels(unittest.TestCase):
    def test_all_of_them_run_on_a_cpu_or_say_why_not(self):
        import torch
        maker = kernels.Maker(torch, torch.device("cpu"), "fp32")
        tiny = [dataclasses.replace(row, m=min(row.m, 64), n=min(row.n, 64), k=min(row.k, 64), batch=min(row.batch, 4))
                for row in (*shapes.shapes(shapes.QUICK, "fp32"), *shapes.decodes(shapes.QUICK, "fp32"), *shapes.fp8(shapes.QUICK))]
        self.assertLessEqual({(row.kind, row.operation) for row in tiny} | {("optimizer", "cast")}, set(kernels.MAKERS))
        for row in tiny:
            # Versions before 2.0 have no fused attention; the formula in its place shows that operands and gradients fit.
            with mock.patch.object(torch.nn.functional, "scaled_dot_product_attention", attention, create=True), torch.no_grad():
                try:
                    maker.make(row)(0)
                except Unavailable as reason:
                    self.assertIn(row.kind if row.kind == "fused" else row.operation, ("fused", "adam", "fp8"), reason)


def attention(queries, keys, values, is_causal=False):
    """As PyTorch defines it, but for the mask."""
    return (queries @ keys.transpose(-1, -2)).softmax(-1) @ values


@unittest.skipUnless(pathlib.Path(TESSERA).exists(), f"no simulator {TESSERA}")
class Whole(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "simulator").mkdir()
        (self.folder / "machine.toml").write_text(MACHINE, encoding="utf-8")

    def simulator(self):
        return Simulator(TESSERA, str(self.folder / "machine.toml"), self.folder / "simulator")

    def calibrated_from(self, kernels):
        """Fits the table and puts what comes out into a machine file; a point of the table comes back."""
        command = ["fit", kernels, "--machine", self.folder / "machine.toml", "--tessera", TESSERA, "-o", self.folder / "calibration.toml"]
        done = subprocess.run([sys.executable, ROOT / "scripts" / "calibrate.py", *command], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("What remains", done.stdout)
        calibration = (self.folder / "calibration.toml").read_text(encoding="utf-8")
        (self.folder / "calibrated.toml").write_text(MACHINE + calibration, encoding="utf-8")
        points = [row for row in table.read(kernels) if row.use != "fit" and f"{{ m = {row.m}, n = {row.n}, k = {row.k}," in calibration]
        self.assertTrue(points)
        job = self.folder / "job.toml"
        job.write_text(JOB.format(*points[0].shape), encoding="utf-8")
        self.assertIn("rates of the machine          calibrated", tessera("check", job).stdout)
        run = tessera("run", job, "-o", self.folder / "job.h5", "--progress", "off")
        self.assertIn("machine this-computer (calibrated", run.stdout, run.stderr)
        pricer = gemm_fit.Pricer(Simulator(TESSERA, str(self.folder / "calibrated.toml"), self.folder / "simulator"), points, "fp32", {})
        for row, (_, us) in zip(points, pricer.job.microseconds({})):
            self.assertLess(abs(us / row.us - 1), 1e-3, row)  # ratios have four decimals, and may be as small as 0.1
        return calibration

    @unittest.skipUnless(TORCH, "this Python has no PyTorch (package python3-torch): the stored table is fitted alone")
    def test_measured_on_this_cpu(self):
        kernels = self.folder / "kernels.csv"
        command = [sys.executable, ROOT / "scripts" / "calibrate.py", "measure", "--quick", "--device", "cpu", "-o", kernels]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("random operands", done.stdout)
        rows = table.read(kernels)
        self.assertLessEqual(set(table.KINDS) - {"attention", "decode", "fused", "idle"}, {row.kind for row in rows})
        self.assertEqual({row.condition for row in rows}, set(table.CONDITIONS))
        calibration = self.calibrated_from(kernels)
        for key in ("launch_overhead", "matrix_efficiency", "memory_efficiency", "norm_memory_efficiency", "optimizer_memory_efficiency"):
            self.assertIn(f"\n{key} = ", calibration)

    def test_measured_with_numpy(self):
        """The whole way without PyTorch, on a machine whose cache the tiny kernels exceed."""
        (self.folder / "machine.toml").write_text(MACHINE.replace('cache = "30 MB"', 'cache = "1 MB"'), encoding="utf-8")
        kernels = self.folder / "kernels.csv"
        command = [sys.executable, ROOT / "scripts" / "calibrate.py", "measure", "--device", "numpy", "--minutes", "0.5", "-o", kernels]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        calibration = self.calibrated_from(kernels)
        for words in ("launch_overhead = ", "matrix_efficiency = ", "copy_memory_efficiency = ", "attention_efficiency = ",
                      "# measured: the kernels of a layer of 32 tokens", "# measured: 1 GEMMs beside a copy that holds 1 cores", "power_limit is missing"):
            self.assertIn(words, calibration)

    @unittest.skipIf(TORCH, "a table is measured on this CPU instead")
    def test_a_stored_table(self):
        calibration = self.calibrated_from(ROOT / "tests" / "studies" / "cpu-kernels.csv")
        self.assertIn("memory_efficiency = ", calibration)

    def test_a_stock_file_takes_what_was_fitted_as_the_recipe_says(self):
        stock = (ROOT / "inputs" / "machines" / "a100-80g-cluster.toml").read_text(encoding="utf-8")
        tables = re.split(r"(?m)^(?=\[)", stock)
        kept = [text for text in tables if not text.startswith(("[machine.calibration]", "[machine.calibration.cost]"))]
        self.assertEqual(len(kept), len(tables) - 2)
        (self.folder / "machine.toml").write_text("".join(kept), encoding="utf-8")
        kernels = self.folder / "kernels.csv"
        times = ((1024, 20), (4096, 560), (8192, 4200))
        kernels.write_text("m,n,k,datatype,us,use\n" + "".join(f"{n},{n},{n},bf16,{us},point\n" for n, us in times), encoding="utf-8")
        command = ["fit", kernels, "--machine", self.folder / "machine.toml", "--tessera", TESSERA, "-o", self.folder / "calibration.toml"]
        done = subprocess.run([sys.executable, ROOT / "scripts" / "calibrate.py", *command], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        calibration = (self.folder / "calibration.toml").read_text(encoding="utf-8")
        self.assertIn("\nmatrix_limit = 0.84 ", calibration)  # 2 x 8192^3 FLOP in 4,200 us are 261.8 of 312 TFLOP/s
        (self.folder / "calibrated.toml").write_text("".join(kept) + calibration, encoding="utf-8")
        job = self.folder / "job.toml"
        job.write_text(JOB.format(1024, 1024, 1024).replace("fp32", "bf16"), encoding="utf-8")
        checked = tessera("check", job)
        self.assertIn("rates of the machine          calibrated", checked.stdout, checked.stderr)

    def test_attention_that_the_simulator_timed_is_found_again(self):
        rows = [Row("attention", operation, length, length, 64, 16, "fp32") for length in (512, 2048) for operation in table.ATTENTION]
        made = attention_fit.Attention(self.simulator(), rows, "fp32", 0)
        times = made.price(0.37, 2400, 0.6, 150)
        again = attention_fit.Attention(self.simulator(), [dataclasses.replace(row, us=us) for row, us in zip(rows, times)], "fp32", 2400)
        self.assertEqual((again.efficiency, again.ramp), (0.37, 150))
        for row, us in again.modelled(2400, 0.6).items():
            self.assertAlmostEqual(us, row.us, places=6)

    def test_streaming_kernels_that_the_simulator_timed_are_found_again(self):
        rows = [Row("norm", "", read=size, written=size) for size in (10**7, 10**8, 10**9)]
        priced = memory_fit.Shares(self.simulator(), rows, 0).price(rows, 0.37, 2400)
        shares = memory_fit.Shares(self.simulator(), [dataclasses.replace(row, us=us) for row, us in zip(rows, priced)], 2400)
        self.assertEqual(shares.cache, 30e6)
        self.assertEqual([row.bytes for row in shares.in_cache], [2 * 10**7])
        self.assertEqual(shares.found["norm"], 0.37)

    def test_power_that_the_simulator_held_is_found_again(self):
        """Of a stock machine, whose own floor and power do not count: bursts are priced without them, hot kernels with those that are looked for."""
        stock = Simulator(TESSERA, "h100-cluster", self.folder / "simulator")
        rows = [Row("gemm", "linear", *shape, datatype="bf16") for shape in ((8192, 8192, 8192), (8192, 8192, 1024), (4096, 16384, 512))]
        pricer = gemm_fit.Pricer(stock, rows, "bf16", {"launch_overhead": "0 ns"})
        constants = {"matrix_efficiency": 0.95, "operand_bytes_per_clock": 200, "tile_latency": 100}
        bursts = pricer.microseconds(constants)
        pricer.given |= {"power_limit": "600 W", "idle_power": "90 W", "matrix_power": "1200 W", "memory_power": "300 W"}
        hot = pricer.microseconds(constants)
        table_rows = [Row("idle", us=1.0, watts=90.0, limit_watts=600.0)]
        for row in rows:
            self.assertGreater(hot[row], 1.01 * bursts[row])  # so it draws all that it may
            table_rows += [dataclasses.replace(row, us=bursts[row], condition="burst"),
                           dataclasses.replace(row, us=hot[row], condition="heat", watts=600.0, limit_watts=600.0)]
        kernels = power_fit.held(table_rows, stock.peak, stock.bandwidth())
        found = power_fit.fit(kernels, table_rows)
        self.assertEqual((found.limit, found.idle, round(found.matrix), round(found.memory)), (600, 90, 1200, 300))
        for row, us in power_fit.modelled(found, kernels).items():
            self.assertAlmostEqual(us / row.us, 1, places=5)

    def test_a_stock_machine_has_no_floor_and_says_what_it_is(self):
        """1 GB at half of 3,350 GB/s."""
        stock = Simulator(TESSERA, "h100-cluster", self.folder / "simulator")
        shares = memory_fit.Shares(stock, [Row("copy", "copy", read=10**9, us=1.0)], 0)
        self.assertAlmostEqual(shares.price(shares.rows, 0.5, 0)[0], 1e6 / 3350 * 2, places=3)
        self.assertEqual((stock.bandwidth(), stock.cores(), stock.cache()), (3350e9, 132, 50e6))

    def test_what_the_simulator_refuses_is_one_line(self):
        for machine, problem in (("no-such-machine", "no-such-machine"), (str(self.folder / "nowhere.toml"), "nowhere.toml")):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
                code = calibrate.main(["fit", str(ROOT / "tests" / "studies" / "cpu-kernels.csv"), "--machine", machine, "--tessera", TESSERA])
            self.assertEqual(code, 1)
            self.assertEqual(len(errors.getvalue().splitlines()), 1, errors.getvalue())
            self.assertIn(problem, errors.getvalue())


if __name__ == "__main__":
    unittest.main()
