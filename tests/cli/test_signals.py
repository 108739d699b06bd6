"""Starts and ends of a run on several ranks: launchers, signals."""

import os
import signal
import subprocess
import time
import unittest

from harness import WITHOUT_MPI, CliTest


class Launchers(CliTest):
    def test_processes_that_are_alone_in_mpi_are_refused_by_the_first_of_them(self):
        # As srun leaves them without --mpi=pmix.
        first = self.tessera("run", "training.toml", "-o", "out.h5", code=2,
                             environment={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"})
        self.assertIn("2 processes were started, but each is alone in MPI", first.stderr)
        other = self.tessera("run", "training.toml", "-o", "out.h5", code=2,
                             environment={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"})
        self.assertEqual(other.stderr, "")
        self.assertNotIn("out.h5", self.files())

    def test_without_a_launcher_there_is_no_mpi(self):
        run = ("run", "training.toml", "--force", "--progress", "off", "-o")
        self.tessera(*run, "alone.h5", environment=WITHOUT_MPI)
        self.tessera(*run, "off.h5", "--mpi", "off", environment={**WITHOUT_MPI, "PMI_RANK": "0"})
        self.tessera(*run, "on.h5", "--mpi", "on")
        for output in ("off.h5", "on.h5"):
            self.assert_same_results("alone.h5", output)
        # Where MPI cannot start (with Open MPI), a launcher's variable makes that as clear as --mpi on.
        def code(*arguments, **variables):
            return subprocess.run(self.command([*run, "no.h5", *arguments]), cwd=self.folder, capture_output=True, env={**os.environ, **WITHOUT_MPI, **variables}).returncode

        with_mpi = code("--mpi", "on")
        if with_mpi == 0:
            self.skipTest("this MPI starts whatever its variables say")
        for variable in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_ID", "FLUX_TASK_RANK"):
            self.assertEqual(code(**{variable: "0"}), with_mpi, variable)
        self.assertIn("--mpi: yes not in {auto,on,off}", self.tessera(*run, "out.h5", "--mpi", "yes", code=2).stderr)


class Signals(CliTest):
    def test_a_search_ends_at_once_and_leaves_what_it_measured(self):
        before = self.files()
        for ranks in (None, 2):
            command = ["plan", "primepar-search.toml", "-o", "plan.toml", "--set", "machine.topology.nodes=32", "--cache", f"kept-{ranks}"]
            process = subprocess.Popen(self.command(command, ranks),
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            time.sleep(2)
            self.assertIsNone(process.poll(), "the search is over before it is interrupted")
            process.send_signal(signal.SIGTERM)
            start = time.monotonic()
            process.wait(timeout=60)
            self.assertLess(time.monotonic() - start, 5)
            self.assertEqual([name for name in self.files() if not name.startswith("kept")], before)
            if ranks is None:
                self.assertEqual(process.returncode, 4)
                (kept,) = (self.folder / f"kept-{ranks}").iterdir()
                self.assertTrue(kept.read_text().startswith("# Tessera "))

    @staticmethod
    def rank_processes(launcher):
        """Processes that mpirun has started and that run the program itself, by number."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rpartition(")")[2].split()[1])
                with open(f"/proc/{entry}/cmdline") as words:
                    runs = "run\0" in words.read()
            except (OSError, ValueError, IndexError):
                continue
            if runs and parent == launcher:
                found.append(int(entry))
        return sorted(found)

    def interrupted(self, ranks, sent, experiment="long.toml", of_ranks=None):
        """Starts a run of minutes, waits until it simulates, sends the signal to what was started, or to some of its ranks; returns the exit code."""
        before = self.files()
        command = self.command(["run", experiment, "-o", "out.h5", "--progress", "bar"], ranks)
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        shown = b""
        while b"simulated" not in shown:
            part = os.read(process.stderr.fileno(), 4096)
            self.assertTrue(part, "the run ended before it was interrupted: " + shown.decode())
            shown += part
        targets = [process.pid] if of_ranks is None else self.rank_processes(process.pid)[of_ranks]
        self.assertTrue(targets)
        for target in targets:
            os.kill(target, sent)
        start = time.monotonic()
        process.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(self.files(), before)
        return process.returncode

    def test_sigterm_to_mpirun_ends_all_ranks_and_leaves_no_file(self):
        code = self.interrupted(2, signal.SIGTERM)
        # MPICH's launcher reports 0 for a job that it was told to end, whatever the ranks say.
        if "mpich" not in os.environ.get("TESSERA_LAUNCHER", ""):
            self.assertNotEqual(code, 0)

    @unittest.skipIf("mpich" in os.environ.get("TESSERA_LAUNCHER", ""), "ranks are started by a helper of mpiexec's")
    def test_a_signal_to_one_rank_ends_all_with_the_documented_code(self):
        self.assertEqual(self.interrupted(2, signal.SIGTERM, of_ranks=slice(1, 2)), 4)
        self.assertEqual(self.interrupted(2, signal.SIGKILL, of_ranks=slice(0, 1)), 128 + signal.SIGKILL)

    def is_writing(self):
        """Whether a temporary file has been given its length; the one that only tries the folder never is."""
        try:
            return any(file.stat().st_size > 0 for file in self.folder.glob("good.h5.tmp-*"))
        except FileNotFoundError:
            return False

    @unittest.skipIf("mpich" in os.environ.get("TESSERA_LAUNCHER", ""), "ranks are started by a helper of mpiexec's")
    def test_a_signal_to_one_rank_that_writes_leaves_no_file(self):
        old = b"what stands there is kept, whatever it is"
        (self.folder / "good.h5").write_bytes(old)
        text = (self.folder / "long.toml").read_text().replace("10_000_000", "20_000") + "[record]\ntimeline = true\n"
        (self.folder / "writing.toml").write_text(text)
        before = self.files()
        for rank in (0, 1):
            command = self.command(["run", "writing.toml", "-o", "good.h5", "--force", "--progress", "off"], 2)
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            while not self.is_writing() and (self.folder / "good.h5").read_bytes() == old:
                self.assertIsNone(process.poll(), "the run is over before it writes")
                time.sleep(0.001)
            os.kill(self.rank_processes(process.pid)[rank], signal.SIGTERM)
            code = process.wait(timeout=120)  # disks may take long to flush
            self.assertEqual(self.files(), before)
            is_kept = (self.folder / "good.h5").read_bytes() == old
            self.assertEqual(code, 4 if is_kept else 0)  # 0: it was there already
            if not is_kept:
                self.tessera("show", "good.h5")
            (self.folder / "good.h5").write_bytes(old)

    def test_sigterm_without_mpirun(self):
        self.assertNotEqual(self.interrupted(None, signal.SIGTERM), 0)

    def test_sigint_without_mpirun(self):
        self.assertNotEqual(self.interrupted(None, signal.SIGINT), 0)

    def test_sigterm_while_one_step_repeats_without_an_event(self):
        for ranks in (None, 2):
            start = time.monotonic()
            self.interrupted(ranks, signal.SIGTERM, "repeats.toml")
            self.assertLess(time.monotonic() - start, 30)  # all repeats take minutes


if __name__ == "__main__":
    unittest.main()
