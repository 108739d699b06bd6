"""What the tests of the command line share: the program, a folder for each test, ranks."""

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TESSERA = os.environ["TESSERA"]                                  # set by CTest
LAUNCHER = shlex.split(os.environ.get("TESSERA_LAUNCHER", "mpirun -n"))   # the number of ranks follows
TIMEOUT = 300

# With this, MPI_Init of Open MPI fails: what works nevertheless has not called it.
WITHOUT_MPI = {"OMPI_MCA_pml": "no-such-thing"}


class CliTest(unittest.TestCase):
    """Each test runs in a folder of its own that holds the experiments of this folder."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tessera-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for source in HERE.glob("*.toml"):
            shutil.copy(source, self.folder)

    def command(self, arguments, ranks=None):
        """The program on that many ranks; None: a start without mpirun."""
        return [*([] if ranks is None else [*LAUNCHER, str(ranks)]), TESSERA, *map(str, arguments)]

    def tessera(self, *arguments, ranks=None, code=0, environment=None):
        """Runs the program and returns what it printed; fails the test on any other exit code."""
        done = subprocess.run(self.command(arguments, ranks), cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT,
                              env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, code, f"{arguments} on {ranks} ranks\n{done.stdout}\n{done.stderr}")
        return done

    def simulate(self, experiment, output, *arguments, ranks=None):
        return self.tessera("run", experiment, "-o", output, "--progress", "off", "--force", *arguments, ranks=ranks)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def assert_same_results(self, first, second, but=()):
        """Bit by bit, but for what depends on the run, and tables that are named; h5diff also fails on objects that are missing."""
        excluded = [word for path in ("/provenance", *but) for word in ("--exclude-path", path)]
        done = subprocess.run(["h5diff", "-c", *excluded, first, second], cwd=self.folder, capture_output=True, text=True)
        # A run without collectives has no rows of them, which h5diff does not like; where only one has none it says so in a line more.
        said = [line for line in done.stdout.splitlines() if line and not line.endswith("is an empty dataset")]
        self.assertEqual((done.returncode, said), (0, []), f"{first} and {second} differ\n{done.stderr}")
