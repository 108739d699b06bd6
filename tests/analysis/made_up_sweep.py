"""Folders of sweeps: of rows that somebody says, and of real results of `tessera run`."""

import itertools
import json
import os
import pathlib
import subprocess
import zlib

import h5py

TESSERA = os.environ["TESSERA"]

RING = """
title = "Ring all-reduce on {devices} devices"
[machine]
include = "v100-ring"
topology.devices = {devices}
topology.bandwidth = "{bandwidth} GB/s"
topology.latency = "500 ns"
[strategy]
name = "script"
[[strategy.step]]
op = "all-reduce"
group = "all"
bytes = "24 MB"
algorithm = "ring"
[collectives]
reduction = "free"
"""


def tessera(*arguments):
    return subprocess.run([TESSERA, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def head(points, axes, **others):
    return {"schema": 2, "identity": "0123456789abcdef", "title": "A made-up sweep", "version": "0.1.0", "results_schema": 2,
            "points": points, "axes": axes, **others}


def row(point, values, code=0, time=10**9, **summary):
    """A line of rows/*.jsonl; `time` in ps."""
    line = {"point": point, "name": " ".join(f"{key.split('.')[-1]}={value}" for key, value in values.items()), "identity": "fedcba9876543210",
            "version": "0.1.0", "results_schema": 2, "code": code, "message": "", "values": values}
    if code:
        return {**line, "message": "it does not fit"}
    return {**line, "summary": {"iteration_time_ps": time, **summary}, "links": {}, "memory": {}}


def _checked(line):
    """A line with its checksum at the end (docs/sweeps.md)."""
    text = json.dumps(line)[:-1]
    return f'{text},"crc32":"{zlib.crc32(text.encode()):08x}"}}'


def write(folder, head, rows):
    folder = pathlib.Path(folder)
    (folder / "rows").mkdir(parents=True)
    (folder / "sweep.json").write_text(_checked(head))
    (folder / "sweep.toml").write_text("[sweep]\n")
    (folder / "rows" / "host-1.jsonl").write_text("".join(_checked(each) + "\n" for each in rows))
    return folder


def row_of_result(point, values, path):
    """The line of a finished run, from its result file alone."""
    with h5py.File(path) as file:
        summary = file["summary"][0]
        columns = {name: summary[name].decode() if isinstance(summary[name], bytes) else summary[name].item() for name in summary.dtype.names}
        links, use = file["links"]["link_class"], file["links"]["utilisation"]
        classes = {name.decode(): {"mean_use": use[links == name].mean(), "peak_use": use[links == name].max()} for name in sorted(set(links))}
        memory = file["memory"][file["memory"]["device"] == summary["peak_memory_device"]]
        return {**row(point, values), "summary": columns, "links": classes,
                "memory": {held["category"].decode(): held["at_peak"].item() for held in memory}}


def real_sweep(folder, devices, bandwidths):
    """Rings of so many devices and GB/s, each really run. Returns the paths of the results by point."""
    folder, paths, rows = pathlib.Path(folder), {}, []
    folder.mkdir()
    for point, (count, bandwidth) in enumerate(itertools.product(devices, bandwidths)):
        experiment = folder / f"{point}.toml"
        experiment.write_text(RING.format(devices=count, bandwidth=bandwidth))
        paths[point] = folder / f"{point}.h5"
        done = tessera("run", experiment, "-o", paths[point], "--progress", "off")
        if done.returncode:
            raise AssertionError(done.stderr)
        rows.append(row_of_result(point, {"machine.topology.devices": count, "machine.topology.bandwidth": bandwidth * 10**9}, paths[point]))
    axes = [{"key": "machine.topology.devices", "unit": ""}, {"key": "machine.topology.bandwidth", "unit": "B/s"}]
    write(folder / "sweep", head(len(rows), axes), rows)
    return paths
