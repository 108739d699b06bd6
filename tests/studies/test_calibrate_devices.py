"""scripts/calibrate.py: what devices do for measurements. The GPU is made up (made_up_cuda.py): its answers are worked out in words."""

import os
import pathlib
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import made_up_cuda
import numpy
from calibration import launch_fit
from calibration.devices import Unavailable, held_cores, processor, smi
from calibration.devices.pytorch import PyTorch
from calibration.table import Row


class Cuda(unittest.TestCase):
    def setUp(self):
        self.gpu = made_up_cuda.Gpu(issue=4e-6)
        self.device = PyTorch(self.gpu.torch(), types.SimpleNamespace(type="cuda", index=None), None)
        self.addCleanup(mock.patch.stopall)
        mock.patch.object(held_cores, "time", types.SimpleNamespace(sleep=self.gpu.sleep, perf_counter=lambda: self.gpu.now)).start()

    def beside(self, round_seconds, call_seconds, count, cores):
        modules = {"calibration.devices.held_kernel": self.gpu.copy(round_seconds)}
        with mock.patch.dict(sys.modules, modules):
            return self.device.beside(lambda i: self.gpu.kernel(call_seconds), count, cores)

    def test_launches_that_the_host_limits(self):
        """One every 4 us; the last of 10 ends 1.5 us after its launch at 40 us."""
        self.assertAlmostEqual(self.device.launched(lambda i: self.gpu.kernel(1.5e-6), 10), 41.5e-6)
        tiny = Row("launch", "add", m=256)
        rows = [Row("launch", "add", m=256, us=1.5)]
        for count in (1, 2, 4, 8):
            us = 1e6 * self.device.launched(lambda i: self.gpu.kernel(1.5e-6), count)
            rows.append(Row("launch", "add", m=256, us=us, condition="eager", launches=count))
        intercept, slope = launch_fit.lines(rows)[tiny]
        self.assertAlmostEqual(intercept, 1.5)
        self.assertAlmostEqual(slope, 4)

    def test_launches_that_the_device_limits(self):
        """The first begins at 4 us, and 10 of 30 us follow one another."""
        self.assertAlmostEqual(self.device.launched(lambda i: self.gpu.kernel(30e-6), 10), 304e-6)

    def test_what_ran_before_is_not_in_it(self):
        self.gpu.kernel(1.0)
        self.assertAlmostEqual(self.device.launched(lambda i: self.gpu.kernel(30e-6), 1), 34e-6)

    def test_alone_there_is_no_copy(self):
        self.assertAlmostEqual(self.beside(1e-3, 100e-6, 10, cores=0), 100.4e-6)
        self.assertEqual(self.gpu.held, [])

    def test_the_copy_lasts_longer_than_what_it_is_beside(self):
        """10 calls of 100 us take 1,004 us alone, and three times that and the 2 ms ahead are 5.012 ms: five rounds of 1.004 ms each."""
        self.assertAlmostEqual(self.beside(1e-3, 100e-6, 10, cores=16), 100.4e-6)
        self.assertEqual(self.gpu.held, [(16, 1), (16, 1), (16, 5)])

    def test_a_copy_that_ended_first_is_run_again_for_twice_as_long(self):
        """From its 12th time on, beside the copy, a call takes ten times as long: ten of them end 12 ms after the copy begins, which has 5, 10, then 20 ms."""
        calls = []

        def call(i):
            calls.append(i)
            self.gpu.kernel(1e-3 if len(calls) > 11 else 100e-6)

        with mock.patch.dict(sys.modules, {"calibration.devices.held_kernel": self.gpu.copy(1e-3)}):
            self.assertAlmostEqual(self.device.beside(call, 10, 16), 1000.4e-6)
        self.assertEqual([rounds for _, rounds in self.gpu.held], [1, 1, 5, 10, 20])

    def test_a_copy_that_always_ends_first_gives_nothing(self):
        held_cores.time.sleep = lambda seconds: self.gpu.sleep(1e6)
        with self.assertRaisesRegex(Unavailable, "ended before"):
            self.beside(1e-3, 100e-6, 10, cores=16)

    def test_without_triton_it_says_so(self):
        with mock.patch.dict(sys.modules, {"calibration.devices.held_kernel": None}), self.assertRaisesRegex(Unavailable, "without Triton"):
            self.device.beside(lambda i: self.gpu.kernel(1e-4), 10, 16)


class Pointer:
    """Into a list, with offsets: what Triton's names do with it, one program at a time."""

    def __init__(self, memory, at=0):
        self.memory, self.at = memory, at

    def __add__(self, offsets):
        return Pointer(self.memory, self.at + offsets)


class HeldKernel(unittest.TestCase):
    def test_all_programs_together_copy_each_element_in_each_round(self):
        """3 programs and blocks of 4 share 22 elements: the sixth block has two that are there and two that are not."""
        program, moved = [0], []

        def load(pointer, mask):
            moved.append(int(mask.sum()))
            return numpy.where(mask, pointer.memory[numpy.minimum(pointer.at, len(pointer.memory) - 1)], 0)

        def store(pointer, values, mask):
            pointer.memory[pointer.at[mask]] = values[mask]

        language = types.SimpleNamespace(constexpr=int, program_id=lambda _: program[0], num_programs=lambda _: 3,
                                         arange=numpy.arange, load=load, store=store)
        triton = types.ModuleType("triton")
        triton.jit, triton.language = lambda function: function, language
        source, target = numpy.arange(1, 23), numpy.zeros(22, int)
        with mock.patch.dict(sys.modules, {"triton": triton, "triton.language": language}):
            sys.modules.pop("calibration.devices.held_kernel", None)
            from calibration.devices.held_kernel import hold
            for program[0] in range(3):
                hold(Pointer(source), Pointer(target), 22, 2, BLOCK=4)
        sys.modules.pop("calibration.devices.held_kernel", None)
        self.assertEqual(list(target), list(source))
        self.assertEqual(moved, 2 * [4, 4] + 2 * [4, 4] + 2 * [4, 2])


class Processor(unittest.TestCase):
    def test_threads_copy_while_the_calls_run_and_end_with_them(self):
        copies, before = [], threading.active_count()
        seen = []

        def call(i):
            while len(copies) < 3 * (i + 1):  # the copies go on beside each call
                pass
            seen.append(threading.active_count() - before)

        self.assertGreater(processor.beside(call, 2, 1, lambda: copies.append(1)), 0)
        self.assertEqual(seen, [1, 1])
        self.assertEqual(threading.active_count(), before)

    def test_threads_end_when_a_call_fails(self):
        def fail(i):
            raise RuntimeError("no")

        before = threading.active_count()
        with self.assertRaises(RuntimeError):
            processor.beside(fail, 1, 2, lambda: None)
        self.assertEqual(threading.active_count(), before)


class Smi(unittest.TestCase):
    """A program nvidia-smi that answers with its own arguments or with what it is told."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        environment = mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": ""})
        environment.start()
        self.addCleanup(environment.stop)

    def answers(self, text, code=0):
        program = self.folder / "nvidia-smi"
        program.write_text(f'#!/bin/sh\necho "$@" > {self.folder}/asked\necho "{text}"\nexit {code}\n')
        program.chmod(0o755)

    def test_numbers_and_what_is_not_told(self):
        self.answers("1410, 1593, [N/A], 400.00")
        self.assertEqual(smi.read(0), {"mhz": 1410, "memory_mhz": 1593, "limit_watts": 400})
        asked = (self.folder / "asked").read_text()
        self.assertIn("-i 0 --query-gpu=clocks.sm,clocks.mem,power.draw,enforced.power.limit --format=csv,noheader,nounits", asked)

    def test_the_gpu_that_pytorch_calls_by_this_number(self):
        self.answers("1, 2, 3, 4")
        os.environ["CUDA_VISIBLE_DEVICES"] = "5,GPU-abc"
        smi.read(1)
        self.assertIn("-i GPU-abc ", (self.folder / "asked").read_text())

    def test_what_fails_tells_nothing(self):
        self.answers("1, 2, 3, 4", code=9)
        self.assertEqual(smi.read(0), {})
        self.answers("No devices were found")
        self.assertEqual((smi.read(0), smi.settings(0)), ({}, "nvidia-smi says nothing"))

    def test_settings_are_text(self):
        self.answers("550.54, 1980 MHz, 2619 MHz, 700.00 W, 700.00 W, [N/A]")
        self.assertEqual(smi.settings(0), "driver 550.54, SM clock at most 1980 MHz, memory clock at most 2619 MHz, power limit 700.00 W, "
                                          "power limit at most 700.00 W")


if __name__ == "__main__":
    unittest.main()
