"""Whole runs, plans and traces onto a disk that is too small (support/with-tmpfs.sh), and onto a full standard output."""

import os
import pathlib
import shutil
import subprocess
import unittest

from harness import LAUNCHER, TESSERA, CliTest

DISK = os.environ.get("TESSERA_TMPFS")


@unittest.skipUnless(DISK, "no file system may be mounted here")
class FullDisk(CliTest):
    def resize(self, size):
        subprocess.run(["mount", "-o", f"remount,size={size}", DISK], check=True)

    def refused(self, output, *arguments, ranks=None):
        """Exit code 4 and one line; the output is as it was, and nothing is beside it."""
        before = (output.read_bytes() if output.exists() else None, sorted(os.listdir(DISK)))
        done = subprocess.run(self.command(arguments, ranks), cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn(f"cannot write '{output}': No space left on device\n", done.stderr)
        if ranks is None:
            self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual((output.read_bytes() if output.exists() else None, sorted(os.listdir(DISK))), before)

    def test_a_run_onto_a_small_disk_leaves_the_good_file_alone(self):
        output = pathlib.Path(DISK) / "out.h5"
        self.resize("1m")
        self.simulate("training.toml", output)
        whole = output.stat().st_size
        for share, ranks in ((0.1, None), (0.8, None), (0.5, 3), (0.95, 3), (0.97, 4)):
            self.resize(int(whole * (1 + share)))
            self.refused(output, "run", "training.toml", "-o", output, "--force", "--progress", "off", ranks=ranks)
        self.tessera("show", output)
        os.remove(output)

    def test_a_trace_and_a_plan_that_do_not_fit(self):
        self.simulate("training.toml", "out.h5")
        self.resize("64k")
        self.refused(pathlib.Path(DISK) / "t.json", "timeline", "out.h5", "-o", f"{DISK}/t.json")
        self.resize("4k")
        filler = pathlib.Path(DISK) / "filler"
        filler.write_text("x")  # takes the one page
        self.refused(pathlib.Path(DISK) / "plan.toml", "plan", "training.toml", "-o", f"{DISK}/plan.toml")
        filler.unlink()
        self.resize("1m")

    def test_a_sweep_says_that_its_disk_is_full_and_goes_on_when_it_is_not(self):
        # From one on which nothing can be written to one on which some points can: exit code 4, said on standard error.
        for kilobytes, ranks in ((16, None), (40, None), (100, None), (200, 2), (300, 3)):
            self.resize(f"{kilobytes}k")
            folder = f"{DISK}/d"
            done = subprocess.run(self.command(["sweep", "sweep.toml", "-o", folder, "--progress", "off"], ranks), cwd=self.folder, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertRegex(done.stderr, r"cannot write '[^']*': No space left on device\n")
            self.resize("50m")
            self.tessera("sweep", "sweep.toml", "-o", folder, "--progress", "off", ranks=ranks)
            self.tessera("merge", folder, "-o", "all.h5", "--force")
            shutil.rmtree(folder)
        self.resize("1m")

    def test_a_training_that_fills_it_leaves_the_last_checkpoint_to_go_on_from(self):
        self.resize("64m")
        (self.folder / "three-networks.toml").write_text('training = ["alexnet", "vgg-11", "squeezenet-1.0"]\nvalidation = ["squeezenet-1.1"]\ntest = []\n')
        train = ("train", "train.toml", "--progress", "off", "-o")
        os.mkdir(self.folder / "all")
        self.tessera(*train, "whole.h5", "--checkpoints", "all")
        output, checkpoint = pathlib.Path(DISK) / "policy.h5", pathlib.Path(DISK) / "policy.h5.checkpoint"
        # There is room for the first checkpoint, but not for the second one beside it.
        first = (self.folder / "all" / "000001.h5").stat().st_size
        for ranks in (None, 3):
            self.resize(int(1.5 * first))
            done = subprocess.run(self.command([*train, output], ranks), cwd=self.folder, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(f"cannot write '{checkpoint}': No space left on device\n", done.stderr)
            self.assertEqual(os.listdir(DISK), [checkpoint.name])
            self.resize("64m")
            self.tessera(*train, output, "--resume", "--force", ranks=ranks)
            self.assert_same_results("whole.h5", output)
            os.remove(output)
        self.resize("1m")


@unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
class FullStandardOutput(CliTest):
    def test_every_command_notices_it(self):
        self.simulate("generation.toml", "out.h5")
        for arguments in (["--help"], ["--version"], ["run", "--help"], ["help"], ["help", "machine.gpu"], ["completion", "bash"], ["list", "models"], ["check", "generation.toml"],
                          ["show", "out.h5"], ["plan", "generation.toml", "-o", "plan.toml"],
                          ["run", "generation.toml", "-o", "new.h5", "--progress", "off"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TESSERA, *arguments], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (4, "cannot write to standard output: No space left on device\n"), arguments)
        self.tessera("show", "new.h5")  # what was written before stays

    def test_one_that_is_closed_or_that_the_result_goes_to(self):
        for closed in (">&-", "<&- >&-"):
            done = subprocess.run(["sh", "-c", f"{TESSERA} run generation.toml -o closed.h5 --force --progress off {closed}"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (4, "cannot write to standard output: Bad file descriptor\n"), closed)
            self.tessera("show", "closed.h5")
        done = subprocess.run(["sh", "-c", f"{TESSERA} run generation.toml -o /dev/stdout --force --progress off > said.txt"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (4, "cannot write '/dev/stdout': standard output goes there\n"))

    def test_on_several_ranks_all_end(self):
        # mpirun gathers the ranks' outputs, so each gets a full one of its own.
        command = [*LAUNCHER, "2", "sh", "-c", f"{TESSERA} run generation.toml -o out.h5 --progress off > /dev/full"]
        done = subprocess.run(command, cwd=self.folder, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 4)
        self.assertIn("cannot write to standard output: No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main()
