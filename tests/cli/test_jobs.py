"""The batch scripts of jobs/ without Slurm: what they make of its variables (tests/slurm runs them under a real one)."""

import os
import re
import shlex
import subprocess
import unittest

from harness import HERE, CliTest

ROOT = HERE.parents[1]


class ScriptTest(CliTest):
    def script(self, name, *arguments, code=0, **variables):
        """As Slurm would start it, from a copy; what it would run is printed. Variables of value None are not set."""
        (self.folder / "slurm_script").write_text((ROOT / "jobs" / name).read_text())
        environment = {**os.environ, "SLURM_JOB_ID": "17", "SLURM_SUBMIT_DIR": str(self.folder), "TESSERA_ROOT": str(ROOT), "TESSERA_LAUNCH": "echo", **variables}
        done = subprocess.run(["bash", self.folder / "slurm_script", *arguments], cwd="/", capture_output=True, text=True,
                              env={key: value for key, value in environment.items() if value is not None})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def started(self, name, *arguments, **variables):
        """The words behind the program's name."""
        return shlex.split(self.script(name, *arguments, **variables).stdout)[1:]

    @staticmethod
    def task(number, first, last, step, count):
        return {"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_MIN": str(first), "SLURM_ARRAY_TASK_MAX": str(last),
                "SLURM_ARRAY_TASK_STEP": str(step), "SLURM_ARRAY_TASK_COUNT": str(count)}


class Both(ScriptTest):
    def test_where_they_are_started_and_from_where(self):
        for name in ("run.sbatch", "sweep.sbatch"):
            self.assertEqual(self.script(name, "x.toml", code=2, SLURM_JOB_ID=None).stderr, f"{name}: this is a Slurm batch script: start it with sbatch\n")
            said = self.script(name, "x.toml", code=2, TESSERA_ROOT=None).stderr
            self.assertEqual(said, f"{name}: submit from the clone, or set TESSERA_ROOT to it\n")
            self.assertEqual(self.started(name, "x.toml", TESSERA_ROOT=None, SLURM_SUBMIT_DIR=str(ROOT))[1], "x.toml")

    def test_what_is_missing(self):
        for name in ("run.sbatch", "sweep.sbatch"):
            self.assertIn(f"{name}: which ", self.script(name, code=2).stderr)
            self.assertIn(f"{name}: no program at 'nowhere'", self.script(name, "x.toml", code=2, TESSERA="nowhere").stderr)

    def test_a_module_that_cannot_be_loaded_ends_the_job(self):
        (self.folder / "modules").write_text("module() { echo \"no module $2\" >&2; return 1; }\n")
        for name in ("run.sbatch", "sweep.sbatch"):
            done = self.script(name, "x.toml", code=1, TESSERA_MODULES="gcc/12 hdf5/1.12", BASH_ENV=str(self.folder / "modules"))
            self.assertEqual((done.stdout, done.stderr), ("", "no module gcc/12\n"))


class Run(ScriptTest):
    def test_the_result_is_named_after_experiment_and_job(self):
        self.assertEqual(self.started("run.sbatch", "in/x.toml", "--seed", "3"), shlex.split("run in/x.toml --seed 3 -o x-17.h5 --progress plain"))
        self.assertEqual(self.started("run.sbatch", "x.toml", "-o", "y.h5"), shlex.split("run x.toml -o y.h5 --progress plain"))

    def test_a_task_takes_its_line_of_the_points(self):
        (self.folder / "points.txt").write_text('-o a.h5\n--set "machine.topology.bandwidth=15 GB/s"\n')
        words = self.script("run.sbatch", "x.toml", POINTS="points.txt", TESSERA_LAUNCH="printf %s\\n", **self.task(2, 1, 2, 1, 2)).stdout.splitlines()
        self.assertEqual(words[1:], ["run", "x.toml", "--set", "machine.topology.bandwidth=15 GB/s", "-o", "x-12-2.h5", "--progress", "plain"])
        self.assertIn("'points.txt' has no line 3", self.script("run.sbatch", "x.toml", code=2, POINTS="points.txt", **self.task(3, 1, 3, 1, 3)).stderr)
        self.assertIn("a job array needs POINTS", self.script("run.sbatch", "x.toml", code=2, **self.task(3, 1, 3, 1, 3)).stderr)

    def test_a_point_whose_quote_is_not_closed(self):
        (self.folder / "points.txt").write_text('-o a.h5 --set=machine.topology.bandwidth="15 GB/s\n')
        done = self.script("run.sbatch", "training.toml", code=2, POINTS="points.txt", **self.task(1, 1, 1, 1, 1))
        self.assertIn("line 1 of 'points.txt': a quote is not closed", done.stderr)

    def test_the_points_that_it_gives_as_examples(self):
        lines = re.findall(r"(?m)^#   (-o .*)$", (ROOT / "jobs" / "run.sbatch").read_text())
        self.assertGreater(len(lines), 1)
        for line in lines:
            self.tessera("check", ROOT / "inputs" / "experiments" / "gpt3-175b.toml", *shlex.split(line))


class Sweep(ScriptTest):
    def test_tasks_become_shares(self):
        # The first, the third and the last of 1-8; the second of 0-3; the fourth of 2-8:2; the only one of 5.
        for task, share in ((self.task(1, 1, 8, 1, 8), "1/8"), (self.task(3, 1, 8, 1, 8), "3/8"), (self.task(8, 1, 8, 1, 8), "8/8"),
                            (self.task(1, 0, 3, 1, 4), "2/4"), (self.task(8, 2, 8, 2, 4), "4/4"), (self.task(5, 5, 5, 1, 1), "1/1")):
            self.assertEqual(self.started("sweep.sbatch", "s.toml", "-o", "d", **task), shlex.split(f"sweep s.toml -o d --shard {share} --progress plain"))

    def test_without_an_array_one_job_does_all(self):
        self.assertEqual(self.started("sweep.sbatch", "s.toml", "-o", "d", "--ranks-per-point", "4"), shlex.split("sweep s.toml -o d --ranks-per-point 4 --progress plain"))

    def test_an_array_that_is_no_range_is_refused(self):
        # 3,5,9 as Slurm 22.05 describes it.
        said = self.script("sweep.sbatch", "s.toml", "-o", "d", code=2, **self.task(5, 3, 9, 1, 3)).stderr
        self.assertEqual(said, "sweep.sbatch: the array must be a range, such as 1-8: submit all of it again, what is complete is passed over\n")

    def test_a_merge_is_started_without_ranks(self):
        done = self.script("sweep.sbatch", "--merge", "nowhere", "-o", "all.h5", code=4)
        self.assertEqual((done.stdout, done.stderr), ("", "cannot read 'nowhere/sweep.json': No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
