"""Jobs and sweeps of the studies, carried out by the program."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import _runs
from _runs import Simulator, as_toml, key_of, result_of, sweep_of
from tessera_analysis import load

RING = "collectives/ring-8.toml"
TESSERA = os.environ.get("TESSERA", "")  # set by CTest


def bandwidth(text):
    return (("machine.topology.bandwidth", text),)


class Jobs(unittest.TestCase):
    def test_a_job_gives_what_a_run_gives(self):
        settings = (*bandwidth("99 GB/s"), *bandwidth("50 GB/s"))  # the later one counts
        ours = Simulator(TESSERA, 7).summary(RING, settings)
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.h5"
            subprocess.run([TESSERA, "run", _runs.EXPERIMENTS / RING, "-o", out, "--seed", "7", "--set", "machine.topology.bandwidth=50 GB/s"], check=True,
                           capture_output=True)
            theirs = result_of(load(out))
        self.assertEqual({**ours, "title": ""}, {**theirs, "title": ""})
        self.assertEqual(ours["seed"], 7)

    def test_what_is_known_is_not_simulated_again_and_results_are_in_the_jobs_order(self):
        simulator = Simulator(TESSERA, 1)
        slow, fast = simulator.many([(RING, bandwidth("10 GB/s")), (RING, bandwidth("100 GB/s"))])
        self.assertGreater(slow["iteration_time_ps"], fast["iteration_time_ps"])
        simulator.tessera = "no-such-program"
        self.assertEqual(simulator.many([(RING, bandwidth("100 GB/s")), (RING, bandwidth("10 GB/s"))]), [fast, slow])

    def test_a_search_that_is_asked_for_twice_is_carried_out_once_and_answered_twice(self):
        class Counted(Simulator):
            runs = 0

            def _run(self, experiment, settings, *rest):
                self.runs += 1
                return dict(settings)["strategy.tensor"]

        simulator = Counted(TESSERA, 1)
        job = lambda tensor: (RING, (("strategy.tensor", tensor),))
        self.assertEqual(simulator.searched([job(2), job(4), job(2)]), [2, 4, 2])
        self.assertEqual((simulator.searched([job(4)]), simulator.runs), ([4], 2))

    def test_what_does_not_fit_is_none_to_attempts_and_ends_whoever_needs_it(self):
        simulator = Simulator(TESSERA, 1)
        jobs = [("megatron/22b-full.toml", (("machine.device.memory_capacity", "10 GB"), ("workload.global_batch", 4))), (RING, ())]
        fits = simulator.attempts(jobs)
        self.assertEqual([result is None for result in fits], [True, False])
        with self.assertRaisesRegex(SystemExit, "^megatron/22b-full.toml .*memory_capacity=10 GB.*: does not fit into memory$"):
            simulator.many(jobs)

    def test_a_job_that_is_refused_ends_the_study_with_its_reason(self):
        with self.assertRaisesRegex(SystemExit, "collectives/ring-8.toml machine.topology.bandwidth=-1 GB/s\nexit code 2: .*bandwidth"):
            Simulator(TESSERA, 1).attempts([(RING, ()), (RING, bandwidth("-1 GB/s"))])

    def test_a_key_that_nobody_knows_ends_the_study(self):
        with self.assertRaisesRegex(SystemExit, "exit code 2: .*bandwith"):
            Simulator(TESSERA, 1).attempts([(RING, (("machine.topology.bandwith", "1 GB/s"),))])

    def test_values_stand_in_a_sweep_as_on_the_command_line(self):
        self.assertEqual([as_toml(value) for value in (8, 0.5, "true", "[1, 2]", "{}", "64 GB", "{B,K}", 'a "b"')],
                         ["8", "0.5", "true", "[1, 2]", "{}", '"64 GB"', '"{B,K}"', '"a \\"b\\""'])
        lines = sweep_of([key_of(RING, (("strategy.data", 2), ("model.include", "gpt2")))]).splitlines()
        self.assertEqual((lines[0], lines[2:]), ("[sweep.axes.experiment.0]", ['model.include = "gpt2"', "strategy.data = 2"]))


class Sweeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, _runs, "SWEEPS", _runs.SWEEPS)
        _runs.SWEEPS = pathlib.Path(folder.name)
        (_runs.SWEEPS / "one.toml").write_text(f'experiment = "{_runs.EXPERIMENTS / RING}"\n[sweep]\naxes."machine.topology.devices" = [4, 8]\n')

    def test_points_are_known_as_jobs(self):
        simulator = Simulator(TESSERA, 1)
        points = simulator.sweep("one", bandwidth("20 GB/s"))
        self.assertEqual([at for at, _ in points], [{"machine.topology.devices": 4}, {"machine.topology.devices": 8}])
        self.assertEqual([result["devices"] for _, result in points], [4, 8])
        simulator.tessera = "no-such-program"
        self.assertIs(simulator.sweep("one", bandwidth("20 GB/s")), points)
        self.assertIs(simulator.summary(RING, (("machine.topology.devices", 8), *bandwidth("20 GB/s"))), points[1][1])


if __name__ == "__main__":
    unittest.main()
