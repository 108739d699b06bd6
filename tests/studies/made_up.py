"""A simulator that simulates nothing: other settings, other results, the same settings the same."""

import functools
import os
import pathlib
import re
import subprocess
import tomllib
import zlib

from tessera_analysis.t3_figures import TRAFFIC

SWEEPS = pathlib.Path(__file__).resolve().parents[2] / "inputs" / "sweeps"


class Simulator:
    def __init__(self):
        self.jobs = []  # settings of what was asked for

    def summary(self, experiment, settings=()):
        self.jobs.append(dict(settings))
        configuration = dict(settings).get("strategy.configuration", dict(settings).get("strategy"))

        def size(name):
            return 1 + zlib.crc32(repr((name, experiment, settings)).encode()) % 1000 / 1000

        kernels = [{"stream": min(i, 1) if configuration in ("ideal", "72-8", "64-16") else 0, "begin_ps": 0,
                    "computed_ps": int(1e9 * size(i)), "end_ps": int(1e9 * size(i))} for i in range(3)]
        if "primepar" in experiment:
            return primepar(size, dict(settings))
        labels = ["projection", "fc2", "fc1 dgrad", "qkv dgrad", "tensor all-reduce", "softmax"]
        return {"seconds_by_label": {name: 1e-6 * size(name) for name in labels}, "iteration_time_ps": int(1e9 * size("time") * (2 if configuration == "sequential" else 1)), "kernels": kernels,
                "traffic": {name: 1e8 * size(name) for name in TRAFFIC},
                "traffic_over_time": [(0, "gemm_read", 5000), (int(5e6), "reduce_scatter_read", 5000)]}

    def attempts(self, jobs):
        return [self.summary(*job) for job in jobs]

    many = attempts

    def sweep(self, name, settings=()):
        return [(at, self.summary(name, (*settings, *at.items()))) for at in points_of(name)]


@functools.cache
def points_of(name):
    """The points that the program lists; of axes that move together the first one."""
    path = SWEEPS / f"{name}.toml"
    keys = {key.rsplit(".", 1)[-1]: key for key in tomllib.loads(path.read_text())["sweep"]["axes"]}
    listed = subprocess.run([os.environ["TESSERA"], "sweep", "--list", str(path)], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"(?m)^ +\d+ +\S+(?: [kMGT])?  (\S+=.*)$", listed)
    return [{keys[key]: int(value) if value.isdigit() else value for key, value in re.findall(r"(\S+?)=(.*?)(?= \S+=|$)", one)} for one in names]


def primepar(size, settings):
    """A result of strategy primepar; each layer takes 1 GB."""
    names = ("qkv", "scores", "context", "projection", "fc1", "fc2")
    parts = ("forward", "backward", "tensor_communication", "data_communication", "waiting", "redistribution")
    times = {f"{kind}_{part}_ps": int(1e9 * size((kind, part))) for kind in ("mean", "max") for part in parts}
    return times | {"iteration_time_ps": int(1e9 * size("time")), "devices": 8, "memory_capacity": 32 * 10**9,
                    "in_collectives_ps": times["max_tensor_communication_ps"] + times["max_data_communication_ps"],
                    "peak_memory": 10**9 * int(settings.get("model.layers", 1)), "predicted": {"all": 1_500_000_000}, "plan": {name: "{B,B}" for name in names},
                    "collectives": [("fc2 O all-reduce", 2, 8000), ("fc1 dI all-reduce", 4, 8000)], "link_bytes": {"nic": 5},
                    "search": [("search", int(1.5e9), int(1.5e9)), ("search", int(1.55e9), int(1.52e9)), ("tensor parallel", int(1.6e9), 0)],
                    "intervals": [("fc1", 0.0, 1e-3), ("fc1 ring", 1e-3, 2e-3), ("fc1 dW all-reduce", 2e-3, 3e-3), ("fc1 to activation", 3e-3, 4e-3)]}
