"""The batch scripts of jobs/ under a real Slurm (cluster.py), compared with what the same commands write without it."""

import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import unittest

import processes
from cluster import Cluster, Unusable
from harness import LAUNCHER, TESSERA, CliTest

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SHARES, POINTS = 8, 18
LONG_POINTS = (16, 17)      # sweep.toml
CPUS = 4                    # two tasks of the array at a time, on whatever there is
SKIPPED = 77                # ctest: SKIP_RETURN_CODE
SECONDS = 170               # for everything


class SlurmTest(CliTest):
    cluster = None  # set by main()

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(HERE, "sweep.toml"), self.folder)

    def submit(self, *arguments, launch=LAUNCHER[0]):
        """Returns the number of the job. launch None: as the scripts would by themselves."""
        environment = {"TESSERA": TESSERA, "TESSERA_ROOT": ROOT, **({} if launch is None else {"TESSERA_LAUNCH": launch})}
        words = [os.path.join(ROOT, "jobs", word) if str(word).endswith(".sbatch") else word for word in arguments]
        return int(self.cluster.run("sbatch", "--parsable", *words, cwd=self.folder, environment=environment))

    def logs(self):
        return "\n".join(f"{log.name}:\n{log.read_text()}" for log in sorted(self.folder.glob("*.log")))

    def complete(self, job):
        states = self.cluster.wait(job)
        self.assertEqual(set(states.values()), {"COMPLETED"}, self.logs())
        return states


class Runs(SlurmTest):
    def compare_with_direct(self, launch):
        self.complete(self.submit("--ntasks=2", "run.sbatch", "training.toml", "-o", "job.h5", launch=launch))
        self.simulate("training.toml", "direct.h5")
        self.assert_same_results("job.h5", "direct.h5")
        self.assertIn("simulated on 2 ranks", self.logs())

    def test_a_job_that_starts_its_ranks_with_mpirun(self):
        self.compare_with_direct(LAUNCHER[0])

    def test_a_job_that_starts_its_ranks_with_srun(self):
        if not re.search(r"\bpmix\b", self.cluster.run("srun", "--mpi=list")):
            self.skipTest("this Slurm has no PMIx")
        self.compare_with_direct(None)


class Sweeps(SlurmTest):
    def sweep_directly(self):
        self.tessera("sweep", "sweep.toml", "-o", "direct", "--progress", "off", ranks=2)
        self.tessera("merge", "direct", "-o", "direct.h5")

    def points_of_share(self, share):
        listed = self.tessera("sweep", "sweep.toml", "--list", "--shard", f"{share}/{SHARES}").stdout
        return {int(number) for number in re.findall(r"(?m)^ +(\d+)  .*=", listed)}

    def is_held(self, point):
        """Whether somebody works on it: holds the lock of its byte."""
        try:
            with open(self.folder / "array" / "claims", "rb") as claims:
                asked = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, point, 1, 0)
                answer = fcntl.fcntl(claims, fcntl.F_OFD_GETLK, asked)
        except FileNotFoundError:
            return False
        return struct.unpack("hhqqi0q", answer)[0] != fcntl.F_UNLCK

    def points_with_rows(self, folder):
        """Once for each row."""
        return sorted(json.loads(line)["point"] for file in (self.folder / folder / "rows").iterdir() for line in file.read_text().splitlines())

    def cut_off(self, array, shares):
        """Ends the tasks that have the long points in the middle of them: one by SIGKILL to a rank, one by scancel."""
        first, second = LONG_POINTS
        self.cluster.until(lambda: self.is_held(first), f"point {first} is in work")
        ranks = [process for process in processes.descendants()
                 if processes.command_of(process)[:1] == [TESSERA] and f"{shares[0]}/{SHARES}" in processes.command_of(process)]
        self.assertEqual(len(ranks), 2)
        os.kill(ranks[0], signal.SIGKILL)
        self.cluster.until(lambda: self.is_held(second), f"point {second} is in work")
        self.cluster.run("scancel", f"{array}_{shares[1]}")

    def missing(self, folder):
        said = self.tessera("merge", folder, "-o", "part.h5").stderr
        (ranges,) = re.findall(r"missing: ([-\d, ]+)$", said.strip())
        bounds = [part.split("-") for part in ranges.split(", ")]
        return {number for bound in bounds for number in range(int(bound[0]), int(bound[-1]) + 1)}

    def assert_as_direct(self, folder, table):
        self.assert_same_results(table, "direct.h5")
        files = sorted(os.listdir(self.folder / "direct" / "points"))
        self.assertIn("000000.h5", files)
        self.assertEqual(sorted(os.listdir(self.folder / folder / "points")), files)
        for file in files:
            self.assert_same_results(f"{folder}/points/{file}", f"direct/points/{file}")

    def test_an_array_two_of_whose_tasks_are_killed_goes_on_when_it_is_submitted_again(self):
        self.sweep_directly()
        shares = {share: self.points_of_share(share) for share in range(1, SHARES + 1)}
        self.assertEqual(sorted(sum(map(sorted, shares.values()), [])), list(range(POINTS)))
        killed = [share for point in LONG_POINTS for share, points in shares.items() if point in points]
        command = [f"--array=1-{SHARES}", "--ntasks=2", "sweep.sbatch", "sweep.toml", "-o", "array"]

        array = self.submit(*command)
        self.cut_off(array, killed)
        states = self.cluster.wait(array)
        self.assertEqual(states, {share: "COMPLETED" for share in shares} | {killed[0]: "FAILED", killed[1]: "CANCELLED"}, self.logs())
        missing = self.missing("array")
        self.assertLessEqual(set(LONG_POINTS), missing)
        self.assertLessEqual(missing, shares[killed[0]] | shares[killed[1]])

        array = self.submit(*command)
        merge = self.submit(f"--dependency=afterany:{array}", "--ntasks=1", "sweep.sbatch", "--merge", "array", "-o", "all.h5")
        self.assertEqual(self.cluster.states(merge), {None: "PENDING"})
        self.assertEqual(set(self.complete(array)), set(shares))
        self.complete(merge)
        self.assertEqual((self.folder / f"tessera-sweep-{merge}.log").read_text(), f"{POINTS} points in 'all.h5'\n")
        # Nothing was done twice: neither by two tasks nor by the second array.
        self.assertEqual(self.points_with_rows("array"), list(range(POINTS)))
        self.assert_as_direct("array", "all.h5")

    def test_a_job_that_is_no_array_does_all_that_is_left(self):
        sweep = self.folder / "sweep.toml"
        sweep.write_text(sweep.read_text().replace("[16, 32, 32768]", "[16, 32]"))
        points = POINTS - len(LONG_POINTS)
        self.sweep_directly()
        shutil.copytree(self.folder / "direct", self.folder / "whole")
        for point in (0, 9):
            (self.folder / "whole" / "points" / f"{point:06}.h5").unlink()
        self.complete(self.submit("--ntasks=2", "sweep.sbatch", "sweep.toml", "-o", "whole"))
        self.assertIn(f"({points - 2} of them before)", self.logs())
        self.assertEqual(self.points_with_rows("whole"), sorted([*range(points), 0, 9]))
        self.tessera("merge", "whole", "-o", "whole.h5")
        self.assert_as_direct("whole", "whole.h5")


def interrupt(number, _):
    raise KeyboardInterrupt(f"signal {number}")


def main():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, interrupt)
    signal.alarm(SECONDS)
    try:
        with Cluster(os.environ["TESSERA_SLURM_FOLDER"], CPUS) as SlurmTest.cluster:
            done = unittest.main(exit=False, verbosity=2)
    except Unusable as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    sys.exit(0 if done.result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
