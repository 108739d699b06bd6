"""Every script that a person runs says with --help how, and refuses in one line what it does not know, before it does anything."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHELL = sorted(path for folder, ending in (("scripts", "*.sh"), ("jobs", "*.sbatch")) for path in (ROOT / folder).glob(ending)
               if path.name != "common.sh")  # which others source
PYTHON = [ROOT / "scripts" / "calibrate.py", *sorted(path for path in (ROOT / "scripts" / "studies").glob("*.py") if not path.name.startswith("_"))]
ANALYSIS = (("-m", "tessera_analysis"), ("-m", "tessera_analysis", "plot"), ("-m", "tessera_analysis", "compare"))


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_it(self, *command):
        """In an empty folder, which has to stay empty; without Slurm."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(os.listdir(self.folder), [])
        return done

    def test_there_are_scripts(self):
        names = {path.name for path in SHELL + PYTHON}
        self.assertLessEqual({"install-deps.sh", "run-demo.sh", "test.sh", "test-mpich.sh", "format.sh", "reproduce.sh", "run.sbatch", "sweep.sbatch",
                              "calibrate.py", "t3.py"}, names)

    def test_help_of_shell_scripts_is_their_first_comment(self):
        for script in SHELL:
            second = script.read_text().split("\n")[1].removeprefix("# ")
            for option in ("--help", "-h"):
                done = self.run_it("bash", script, option)
                self.assertEqual((done.returncode, done.stderr), (0, ""), script)
                self.assertEqual(done.stdout.split("\n")[0], second)
                self.assertIn(f"{script.parent.name}/{script.name}", done.stdout)  # how it is started
                self.assertNotIn("#SBATCH", done.stdout)
                self.assertNotIn("set -euo", done.stdout)

    def test_what_shell_scripts_do_not_know(self):
        for script in (script for script in SHELL if script.suffix == ".sh"):  # the others hand options to tessera
            done = self.run_it("bash", script, "--nonsense")
            self.assertIn(done.returncode, (1, 2), script)
            self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), script)
            self.assertIn("unknown option '--nonsense'; allowed: ", done.stderr)

    def test_python_scripts(self):
        for command in [(script,) for script in PYTHON] + list(ANALYSIS):
            done = self.run_it(sys.executable, *command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertTrue(done.stdout.startswith("usage: "), command)

    def test_what_python_scripts_do_not_know(self):
        for command in ((PYTHON[0],), (PYTHON[-1],), *ANALYSIS):  # studies share their command line
            done = self.run_it(sys.executable, *command, "--nonsense")
            self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), (command, done.stderr))


if __name__ == "__main__":
    unittest.main()
