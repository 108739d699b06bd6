"""What the studies share: running the simulator, reading its results, and writing tables into pages."""

import pathlib
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from tessera_analysis import load

ROOT = pathlib.Path(__file__).resolve().parents[2]


INFEASIBLE = 3  # exit code


class Infeasible(SystemExit):
    """The plan does not fit; whoever does not ask for it ends with that."""


class Simulator:
    """Runs experiments, each once: the same experiment with the same settings gives the same result."""

    def __init__(self, tessera, seed):
        self.tessera, self.seed = str(tessera), seed
        self.known = {}

    def summary(self, experiment, settings=(), ranks=1):
        """The row of /summary as a dict, with the kernels of device 0, the traffic of memories and the same over time, and what
        a search simulated, where there are any; `settings` are ("key", value) pairs over the file."""
        key = (str(experiment), tuple(settings))
        if key not in self.known:
            self.known[key] = self._run(ROOT / "inputs" / "experiments" / experiment, settings, ranks)
        return self.known[key]

    def attempt(self, experiment, settings=(), ranks=1):
        """The same; None where the plan does not fit into memory."""
        try:
            return self.summary(experiment, settings, ranks)
        except Infeasible:
            self.known[str(experiment), tuple(settings)] = None
            return None

    def seconds(self, experiment, settings=(), ranks=1):
        return self.summary(experiment, settings, ranks)["iteration_time_ps"] * 1e-12

    def many(self, jobs):
        """Summaries of (experiment, settings) pairs, two at a time."""
        return in_pairs(lambda job: self.summary(*job), jobs)

    def _run(self, path, settings, ranks):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.h5"
            command = [self.tessera, "run", str(path), "-o", str(out), "--seed", str(self.seed), "--progress", "off"]
            for name, value in settings:
                command += ["--set", f"{name}={value}"]
            if ranks > 1:
                command = [shutil.which("mpirun") or "mpirun", "-n", str(ranks)] + command
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == INFEASIBLE:
                raise Infeasible(f"{' '.join(command)}\n{done.stderr}")
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr}")
            return result_of(load(out))


def result_of(results):
    """What studies ask of a result file."""

    def records(name):
        return results.table(name).to_records(index=False)

    found = {name: value.item() if hasattr(value, "item") else value for name, value in results.summary.items()}
    found["plan"] = results.plan if "plan" in results.tables else {}
    found["collectives"] = [(row["label"], int(row["group_size"]), int(row["bytes"])) for row in records("collectives")]
    found["in_collectives_ps"] = longest_in_collectives(records("devices"))
    found["link_bytes"] = most_bytes(records("links"))
    found["predicted"] = {what: int(time) for what, time in results.predicted.items()}
    if "search" in results.tables:
        found["search"] = [(row["origin"], int(row["predicted_ps"]), int(row["cost_ps"])) for row in records("search")]
    if "kernels" in results.tables:
        found["kernels"] = [row for row in records("kernels") if row["device"] == 0]
        found["traffic"] = mean_traffic(records("memory_traffic"))
    if "timeline" in results.tables:
        names = list(results.table("names/labels")["name"])
        found["seconds_by_label"] = seconds_by_label(records("timeline"), names)
        found["intervals"] = intervals(records("timeline"), names)
    if "memory_traffic_timeline" in results.tables:
        found["traffic_over_time"] = own_traffic(records("memory_traffic_timeline"))
    return found


def longest_in_collectives(devices):
    """ps of the device that is longest in tensor and data communication and in waiting for members that come late: what a profile of
    a real machine shows as collectives, whose waiting it cannot tell apart."""
    return int(max(row["tensor_communication_ps"] + row["data_communication_ps"] + row["waiting_ps"] for row in devices))


def in_pairs(function, values):
    """What it makes of each, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, values))


def most_bytes(rows):
    """B of the link that carries the most, by class."""
    found = {}
    for row in rows:
        name = row["link_class"]
        found[name] = max(found.get(name, 0), int(row["bytes"]))
    return found


def mean_traffic(rows):
    """B that the memories of a device have moved, by class: the mean over devices."""
    sums = {}
    for row in rows:
        name = row["traffic"]
        sums[name] = sums.get(name, 0) + int(row["bytes"])
    devices = len({row["device"] for row in rows})
    return {name: value / devices for name, value in sums.items()}


def seconds_by_label(rows, names):
    """Of the first stream of device 0."""
    sums = {}
    for row in rows[(rows["device"] == 0) & (rows["stream"] == 0)]:
        name = names[row["label"]]
        sums[name] = sums.get(name, 0) + int(row["end_ps"] - row["begin_ps"]) * 1e-12
    return sums


def intervals(rows, names):
    """(label, begin, end) in seconds of the first stream of device 0."""
    own = rows[(rows["device"] == 0) & (rows["stream"] == 0)]
    return [(names[row["label"]], 1e-12 * int(row["begin_ps"]), 1e-12 * int(row["end_ps"])) for row in own]


def own_traffic(rows):
    """(begin_ps, class, B) of the memory of device 0."""
    return [(int(row["begin_ps"]), row["traffic"], int(row["bytes"])) for row in rows if row["device"] == row["memory"] == 0]


def deviation(simulated, measured):
    """In percent."""
    return 100 * (simulated / measured - 1)


def mean_abs(deviations):
    return sum(map(abs, deviations)) / len(deviations)


def max_abs(deviations):
    return max(map(abs, deviations))


def table(header, rows):
    """A Markdown table; first column to the left, the others to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def write_into(page, tables):
    """Replaces what stands between <!-- NAME --> and <!-- end NAME --> of a page."""
    text = page.read_text()
    for name, content in tables.items():
        pattern = re.compile(rf"(<!-- {name} -->).*?(<!-- end {name} -->)", re.DOTALL)
        separator = "\n\n" if "\n" in content else ""
        text, count = pattern.subn(lambda m: m[1] + separator + content + separator + m[2], text)
        if count == 0:
            raise SystemExit(f"{page} has no place <!-- {name} --> for a table")
    page.write_text(text)
