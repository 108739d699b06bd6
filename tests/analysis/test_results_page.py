"""docs/results.md against files: each name on the page is one of a file, and each name of a file is on the page."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results.md"
CLI = ROOT / "tests" / "cli"

OPEN = ("--set", "strategy.tensor=any", "--set", "strategy.data=any", "--set", "strategy.micro_batch=any", "--set", "strategy.pipeline=any",
        "--set", "strategy.interleave=any", "--set", "machine.device.memory_reserve=80990 MiB")
FOLDED = ("--set", "strategy.tensor=1", "--set", "strategy.pipeline=1", "--set", "strategy.sequence_parallel=false", "--set", "simulation.fold=replicas")
# Between them these leave every table and every column.
COMMANDS = {
    "training.h5": ("run", "training.toml"),
    "direct.h5": ("run", "training.toml", "--set", "collectives.all_reduce=direct"),
    "folded.h5": ("run", "training.toml", *FOLDED),
    "serving.h5": ("run", "generation.toml", "--set", "workload.phase=prompt-and-generation"),
    "t3.h5": ("run", "t3.toml"),
    "package.h5": ("run", "mcm.toml"),
    "learning.h5": ("run", "train.toml"),
    "partitions.h5": ("run", "primepar-search.toml"),
    "sweep": ("sweep", "sweep.toml"),
    "merged.h5": ("merge", "sweep"),
    "plan.toml": ("plan", "training.toml", *OPEN, "--all", "points.h5", "--history", "history.h5"),
}

# What the page names and files have not: other programs' words, keys of experiments, patterns of names, and what only
# some other run leaves.
OF_OTHERS = {"backward_beside_forward", "context_communication", "offload", "/bounds", "bound", "watos", "nic_efficiency", "nvlink_efficiency", "objective", "set", "show", "timeline", "mcm", "all", "analysis/", "tessera_analysis",
             "_ps", "_peak_use", "machine_nic_latency_ps", "cannot run", "left", "/provenance/search", "/provenance/search_cut_off", "/placement", "/stages", "/loans", "/dataflow", "dataflow", "not finished", "fabric", "estimate", "lower-bound"}
COMMAND = re.compile(r"^(tessera|h5|--|\[record\]|load_history|x \*|cannot read|calls /|device: 1)")


def names_on_page():
    """What stands in backticks outside of the blocks of code."""
    prose = "\n".join(line for line in PAGE.read_text().splitlines() if not line.startswith("    "))
    return {" ".join(name.split()) for name in re.findall(r"`([^`]+)`", prose)}


def names_in(path):
    """Paths, columns of what is simulated, and all else that is a text in a file."""
    paths, columns, texts, axes = set(), set(), set(), set()

    def look(name, item):
        paths.add("/" + name)
        texts.update(item.attrs)
        if not isinstance(item, h5py.Dataset):
            return
        if not item.dtype.names:
            return
        # How a run was carried out is for people to read, and docs/mcm-learning.md has what is learnt.
        (texts if name.startswith(("provenance/", "learning")) else columns).update(item.dtype.names)
        texts.update(str(unit) for unit in item.attrs["column_units"].astype(str))
        for column in item.dtype.names:
            kind = item.dtype[column]
            texts.add(str(kind))
            if kind.kind == "S":
                texts.update(value.decode() for value in set(item[:][column].tolist()))

    with h5py.File(path) as file:
        texts.update(file.attrs)
        texts.update(f'"{value}"' for value in file.attrs.values() if isinstance(value, str))
        file.visititems(look)
        axes.update(column.decode() for column in (file["axes"]["column"] if "axes" in file else []))
    return paths, columns - axes, texts | axes


def pattern_of(name):
    """mean_<activity>_ps fits mean_forward_ps."""
    return re.compile("^" + re.sub(r"<\w+>", "[A-Za-z0-9_]+", name) + "$")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        for source in CLI.glob("*.toml"):
            shutil.copy(source, folder.name)
        for output, command in COMMANDS.items():
            done = subprocess.run([os.environ["TESSERA"], *command, "-o", output, *([] if command[0] == "merge" else ["--progress", "off"])], cwd=folder.name, capture_output=True, text=True)
            if done.returncode:
                raise AssertionError(f"{command}: {done.stderr}")
        cls.files = {path.name: names_in(path) for path in pathlib.Path(folder.name).glob("*.h5")}
        cls.page = names_on_page()

    def all(self, which):
        return set().union(*(names[which] for names in self.files.values()))

    def test_each_name_on_the_page_is_one_of_a_file(self):
        known = self.all(0) | self.all(1) | self.all(2) | OF_OTHERS | {"/"}
        unknown = {name for name in self.page if name not in known and not COMMAND.match(name)
                   and not any(pattern_of(name).match(column) for column in self.all(1))}
        self.assertEqual(sorted(unknown), [])

    def test_each_table_of_a_file_is_on_the_page(self):
        self.assertEqual(sorted(self.all(0) - self.page - {"/names"}), [])

    def test_each_column_of_a_file_is_on_the_page(self):
        patterns = [pattern_of(name) for name in self.page] + [pattern_of("link_<class>_peak_use")]
        self.assertEqual(sorted(column for column in self.all(1) if not any(pattern.match(column) for pattern in patterns)), [])

    def test_a_name_that_no_file_has_is_found(self):
        self.assertIn("all-reduce", self.all(2))
        self.assertNotIn("all_reduce", self.all(0) | self.all(1) | self.all(2) | OF_OTHERS)


if __name__ == "__main__":
    unittest.main()
