"""What the studies share: simulating many jobs at once, reading results, and writing tables into pages."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

from tessera_analysis import load, load_points

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPERIMENTS, SWEEPS = ROOT / "inputs" / "experiments", ROOT / "inputs" / "sweeps"
RANKS = 2  # each simulates a point at a time
DONE, INFEASIBLE = 0, 3  # exit codes


class Simulator:
    """Simulates jobs, each once. A job is an experiment, a file of inputs/experiments, and ("key", value) settings over it, of which the
    later ones count. Jobs that are asked for together are the points of one sweep."""

    def __init__(self, tessera, seed):
        self.tessera, self.seed = str(tessera), seed
        self.known, self.swept, self.found = {}, {}, {}
        self.evaluations = tempfile.TemporaryDirectory()  # what searches of this study have evaluated

    def later(self, seeds):
        """One with a seed that many above its own."""
        return Simulator(self.tessera, self.seed + seeds)

    def attempts(self, jobs):
        """Results of (experiment, settings) pairs, in their order: the row of /summary as a dict, with more of what result_of() reads.
        None where a plan does not fit into memory."""
        keys = [key_of(*job) for job in jobs]
        fresh = [key for key in dict.fromkeys(keys) if key not in self.known]
        if fresh:
            self.known |= zip(fresh, self._simulate(fresh))
        return [self.known[key] for key in keys]

    def many(self, jobs):
        """The same, of jobs that all have to fit."""
        jobs = list(jobs)
        results = self.attempts(jobs)
        for job, result in zip(jobs, results):
            if result is None:
                raise SystemExit(f"{named(*key_of(*job))}: does not fit into memory")
        return results

    def summary(self, experiment, settings=()):
        return self.many([(experiment, settings)])[0]

    def sweep(self, name, settings=()):
        """Points of inputs/sweeps/NAME.toml, with settings below its axes: (values of the axes by key, result or None), in order.
        From then on they are known as jobs, whose settings are those values."""
        key = name, frozenset(dict(settings).items())
        if key not in self.swept:
            path = SWEEPS / f"{name}.toml"
            self.swept[key] = self._points(path, settings)
            experiment = (path.parent / tomllib.loads(path.read_text())["experiment"]).resolve().relative_to(EXPERIMENTS)
            self.known |= {key_of(experiment, (*settings, *values.items())): result for values, result in self.swept[key]}
        return self.swept[key]

    def fastest(self, experiment, settings=(), limits=()):
        """What `tessera plan` finds: the result of the plan, a data frame of all candidates, and how many seconds it took."""
        path = str(EXPERIMENTS / experiment)
        with tempfile.TemporaryDirectory() as folder:
            plan, candidates, result = (str(pathlib.Path(folder) / name) for name in ("plan.toml", "all.h5", "out.h5"))
            given = self._given(settings)
            start = time.monotonic()
            call(*launcher(RANKS), self.tessera, "plan", path, "-o", plan, "--all", candidates, "--progress", "off", *given, *limits)
            seconds = time.monotonic() - start
            closed = self._given([(key, value) for key, value in settings if value != "any"])
            call(*launcher(RANKS), self.tessera, "run", path, "--plan", plan, "-o", result, "--progress", "off", *closed)
            return result_of(load(result)), load_points(candidates).frame, seconds

    def searched(self, jobs, ranks=1):
        """Results of jobs whose strategy searches, with the tables of their searches, in their order: `tessera run` of as many at once as
        there are ranks for. `ranks`: of each. None where no plan fits."""
        jobs = list(jobs)
        keys = [key_of(*job) for job in jobs]
        of_key = dict(zip(keys, jobs))
        fresh = [key for key in of_key if key not in self.found]
        with ThreadPoolExecutor(max(1, RANKS // ranks)) as pool:
            self.found |= zip(fresh, pool.map(lambda key: self._run(*of_key[key], ranks, "--cache", self.evaluations.name), fresh))
        return [self.found[key] for key in keys]

    def under(self, costs, experiment, settings=(), ranks=RANKS):
        """The result of a plan that is found with the last settings and carried out with `costs` in their place."""
        with tempfile.TemporaryDirectory() as folder:
            plan = str(pathlib.Path(folder) / "plan.toml")
            call(*launcher(ranks), self.tessera, "plan", str(EXPERIMENTS / experiment), "-o", plan, "--progress", "off", *self._given(settings))
            return self._run(experiment, costs, 1, "--plan", plan)

    def _run(self, experiment, settings, ranks, *options):
        with tempfile.TemporaryDirectory() as folder:
            result = str(pathlib.Path(folder) / "out.h5")
            start = (*launcher(ranks), self.tessera) if ranks > 1 else (self.tessera,)
            command = (*start, "run", str(EXPERIMENTS / experiment), "-o", result, "--progress", "off", *options, *self._given(settings))
            return None if call(*command, allowed=(DONE, INFEASIBLE)) == INFEASIBLE else result_of(load(result))

    def plan(self, experiment, path, settings=(), ranks=RANKS):
        """Has `tessera plan` write a plan file."""
        call(*launcher(ranks), self.tessera, "plan", str(EXPERIMENTS / experiment), "-o", str(path), "--progress", "off", *self._given(settings))

    def seconds_of_plan(self, experiment, settings=(), ranks=1):
        """How long `tessera plan` takes."""
        with tempfile.TemporaryDirectory() as folder:
            given = self._given(settings)
            start = time.monotonic()
            call(*(launcher(ranks) if ranks > 1 else ()), self.tessera, "plan", str(EXPERIMENTS / experiment), "-o", str(pathlib.Path(folder) / "plan.toml"), "--progress", "off", *given)
            return time.monotonic() - start

    def train(self, experiment, policy, settings=(), ranks=RANKS):
        """Has `tessera train` write a policy; how long it takes."""
        given = self._given(settings)
        start = time.monotonic()
        call(*launcher(ranks), self.tessera, "train", str(EXPERIMENTS / experiment), "-o", str(policy), "--progress", "off", *given)
        return time.monotonic() - start

    def _given(self, settings):
        """The seed and settings as arguments of the program."""
        return [word for name, value in (("simulation.seed", self.seed), *settings) for word in ("--set", f"{name}={value}")]

    def _simulate(self, keys):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "jobs.toml"
            path.write_text(sweep_of(keys))
            found = {int(values["experiment"]): result for values, result in self._points(path, (), keys)}
        return [found[number] for number in range(len(keys))]

    def _points(self, path, settings, keys=None):
        """Carries out a sweep; whatever is refused or fails ends the study. `keys`: the jobs that its points are."""
        with tempfile.TemporaryDirectory() as folder:
            points, table = pathlib.Path(folder) / "points", pathlib.Path(folder) / "all.h5"
            call(*launcher(min(RANKS, len(keys)) if keys else RANKS), self.tessera, "sweep", str(path), "-o", str(points), "--progress", "off", *self._given(settings), failed_points_too=True)
            call(self.tessera, "merge", str(points), "-o", str(table))
            return [(values, self._result(points, row, named(*keys[row["point"]]) if keys else f"{path.name}, {row['name']}"))
                    for values, row in rows_of(load_points(table))]

    def _result(self, folder, row, name):
        if row["code"] == INFEASIBLE:
            return None
        if row["code"] != DONE:
            raise SystemExit(f"{name}\nexit code {row['code']}: {row['message']}")
        return result_of(load(folder / "points" / f"{row['point']:06}.h5"))


def launcher(ranks):
    return shutil.which("mpirun") or "mpirun", "-n", str(ranks)


def call(*command, failed_points_too=False, allowed=(DONE,)):
    """The exit code. Ends the study with what the program says if that is none of those allowed, unless it is only that points failed,
    which their rows say."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in allowed and not (failed_points_too and " points in " in done.stdout):
        raise SystemExit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr}")
    return done.returncode


def key_of(experiment, settings=()):
    return str(experiment), frozenset(dict(settings).items())


def named(experiment, settings):
    return " ".join([experiment, *[f"{key}={value}" for key, value in sorted(settings)]])


def sweep_of(keys):
    """A sweep whose points are these jobs, by number."""
    lines = []
    for number, (experiment, settings) in enumerate(keys):
        lines += [f"[sweep.axes.experiment.{number}]", f"experiment = {json.dumps(str(EXPERIMENTS / experiment))}"]
        lines += [f"{key} = {as_toml(value)}" for key, value in sorted(settings)]
    return "\n".join(lines) + "\n"


def as_toml(value):
    """As --set takes it: TOML where it is TOML, a text otherwise."""
    try:
        tomllib.loads(f"value = {value}")
        return str(value)
    except tomllib.TOMLDecodeError:
        return json.dumps(str(value))


def rows_of(points):
    """(values of the axes by key, row) of a table of points."""
    columns = dict(zip(points.axes["key"], points.axes["column"]))
    for row in points.frame.to_dict("records"):
        yield {key: row[column] for key, column in columns.items()}, row


def result_of(results):
    """What studies ask of a result file."""

    def records(name):
        return results.table(name).to_records(index=False)

    found = {name: value.item() if hasattr(value, "item") else value for name, value in results.summary.items()}
    found["plan"] = results.plan if "plan" in results.tables else {}
    found["collectives"] = [(row["label"], int(row["group_size"]), int(row["bytes"])) for row in records("collectives")]
    found["in_collectives_ps"] = longest_in_collectives(records("devices"))
    found["link_bytes"] = most_bytes(records("links"))
    found["busiest_link"] = float(max(results.table("links")["utilisation"], default=0.0))
    found["use_of_links"] = use_of_links(records("links"))
    found["predicted"] = {what: int(time) for what, time in results.predicted.items()}
    found["bytes_on_links"] = sum(int(row["bytes"]) for row in records("links"))
    if "placement" in results.tables:
        found["stages"] = [dict(zip(results.table("stages").columns, row)) for row in records("stages")]
        found["loans"] = [dict(zip(results.table("loans").columns, row)) for row in records("loans")] if "loans" in results.tables else []
        found["dies"] = dies_of(results)
        found["memory_of_stages"] = memory_of_stages(records("placement"), records("memory"))
    if "search" in results.tables:
        found["tried"] = results.table("search")
        found["search"] = [(row["origin"], int(row["predicted_ps"]), int(row["cost_ps"])) for row in records("search")]
    if "bounds" in results.tables:
        found["bounds"] = results.table("bounds").to_dict("records")
    if "genetic" in results.tables:
        found["genetic"] = results.table("genetic")
    if "dataflow" in results.tables:
        found["dataflow"] = results.table("dataflow").to_dict("records")
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


def use_of_links(links):
    """Share of the iteration in which a link sends, mean and most, by class of links."""
    by_class = {}
    for row in links:
        name = row["link_class"]
        by_class.setdefault(name.decode() if isinstance(name, bytes) else name, []).append(float(row["utilisation"]))
    return {name: (sum(uses) / len(uses), max(uses)) for name, uses in by_class.items()}


def dies_of(results):
    """Of each placed device its column and row, and in % how long it computes, how full its memory is at its peak, and how long the links
    that leave it send in the mean."""
    devices = results.devices.set_index("device")
    computing = devices[["forward_ps", "backward_ps", "recomputation_ps"]].sum(axis=1) / results.summary["iteration_time_ps"]
    full = devices["peak_memory"] / devices["memory_capacity"]
    sending = results.links.groupby("from")["utilisation"].mean()
    return [(int(row.x), int(row.y), *[100 * float(share.get(row.device, 0.0)) for share in (computing, full, sending)])
            for row in results.table("placement").itertuples()]


def memory_of_stages(placement, memory):
    """B at the peak of a stage's fullest device, and B of activations there, by stage."""
    held = {}
    for row in memory:
        held.setdefault(row["device"], {})[row["category"]] = int(row["at_peak"])
    found = {}
    for row in placement:
        own = held[row["device"]]
        found[int(row["stage"])] = max(found.get(int(row["stage"]), (0, 0)), (sum(own.values()), own["activations"]))
    return found


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
        separator = "\n\n" if "\n" in content or content.startswith("- ") else ""
        text, count = pattern.subn(lambda m: m[1] + separator + content + separator + m[2], text)
        if count == 0:
            raise SystemExit(f"{page} has no place <!-- {name} --> for a table")
    page.write_text(text)
