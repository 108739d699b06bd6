"""What has to hold of every answer of the program, whatever it was given."""

import pathlib
import re
import subprocess

try:
    import h5py
except ImportError:
    h5py = None

ALLOWED = (0, 2, 3, 4)
LONGEST_LINE = 2400


class Wrong(Exception):
    """The program broke a promise."""

# Memory that is freed, and stretches that belong to no group, micro-batch or message.
MAY_BE_NEGATIVE = ("bytes", "group", "micro_batch", "peer", "channel", "message")


def said_well(done, what):
    """Standard error: lines that a terminal can show, and at least one when something is refused."""
    if done.code not in ALLOWED:
        raise Wrong(f"{what} ends with {describe(done.code)}: {done.stderr[-600:]}")
    try:
        text = done.stderr_bytes.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Wrong(f"{what} says what is not UTF-8: {error}") from error
    for line in text.splitlines():
        if len(line) > LONGEST_LINE:
            raise Wrong(f"{what} says a line of {len(line)} characters: {line[:200]}")
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", line):
            raise Wrong(f"{what} says control characters: {line!r}")
    if done.code != 0 and not text.strip():
        raise Wrong(f"{what} ends with {done.code} and says nothing")
    if "not an error of the input" in text or "fault of Tessera" in text:
        raise Wrong(f"{what} calls itself faulty: {text[-600:]}")


def describe(code):
    if code == "timeout":
        return "no answer in time"
    return f"signal {-code}" if code < 0 else f"exit {code}"


def names_a_place(done, places, what):
    """Of exit 2: some line says which file or option is meant; it may be one that another includes."""
    if done.code == 2 and not any(place in done.stderr for place in places) and not re.search(r"\.(toml|json):\d+:\d+: ", done.stderr):
        raise Wrong(f"{what} refuses without naming {' or '.join(places)}: {done.stderr[-600:]}")


def left_nothing(folder, before, what):
    after = sorted(path.name for path in pathlib.Path(folder).iterdir())
    if after != before:
        raise Wrong(f"{what} leaves {sorted(set(after) - set(before))}")


def same_bits(first, second, without=()):
    """Of two runs of the same experiment: all but /provenance and these objects."""
    command = ["h5diff", "-c", *[part for path in ("/provenance", *without) for part in ("--exclude-path", path)], str(first), str(second)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        return
    said = [line for line in done.stdout.splitlines() if line and not line.endswith("is an empty dataset")]
    if done.returncode != 0 or said:
        raise Wrong(f"{first.name} and {second.name} differ: {said[:5]} {done.stderr[-300:]}")


def adds_up(path):
    """Times are not negative, and what a device did adds up to the iteration time."""
    if h5py is None:
        return
    with h5py.File(path, "r") as file:
        summary = file["summary"][0]
        iteration = int(summary["iteration_time_ps"])
        devices = file["devices"][:]
        activities = [name for name in devices.dtype.names if name.endswith("_ps") and name not in ("finished_ps", "peak_memory_time_ps")]
        for name in ("summary", "devices", "links", "collectives", "kernels", "timeline", "memory_timeline"):
            if name not in file:
                continue
            rows = file[name][:]
            for column in rows.dtype.names:
                if rows.dtype[column].kind in "if" and len(rows) and column not in MAY_BE_NEGATIVE and rows[column].min() < 0:
                    raise Wrong(f"/{name} {column} holds {rows[column].min()}")
        for row in devices:
            total = sum(int(row[name]) for name in activities)
            if total != iteration:
                raise Wrong(f"device {row['device']} accounts for {total} ps of {iteration} ps")
        done = any(int(devices[name].sum()) for name in ("flops", "bytes_sent") if len(devices))
        if iteration == 0 and done:
            raise Wrong("an iteration that computes or sends takes 0 ps")
