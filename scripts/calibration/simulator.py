"""What the simulator says of kernels. All times that are compared with measured ones come from here, so there is one model."""

import os
import pathlib
import re
import shutil
import subprocess

from calibration import Refused

SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
BANDWIDTHS = {f"{unit}/s": size for unit, size in SIZES.items()}
RATES = {f"{prefix}FLOP/s": scale for prefix, scale in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12), ("P", 10**15))}

# What every fit asks with. A stock machine file that is fitted anew has a floor and a power of its own, which would count twice.
NEUTRAL = {"model": "tile", "kernel_floor": "0 ns", "power_limit": "1 MW", "idle_power": "0 W"}

SCRIPT = '[machine]\ninclude = "{}"\n[record]\ntimeline = true\n[strategy]\nname = "script"\n'
GEMM = '[[strategy.step]]\nop = "gemm"\ndevices = "0"\nbatch = {}\nm = {}\nn = {}\nk = {}\ndatatype = "{}"\n'
STREAMING = '[[strategy.step]]\nop = "compute"\ndevices = "0"\n{}'
# A layer whose attention is the kernel that is wanted; the other kernels are as small as they can be.
LAYER = """[machine]
include = "{machine}"
[record]
timeline = true
[simulation]
allow_oversubscription = true
[model]
name = "attention"
layers = 1
heads = {heads}
head_dim = {head}
hidden = 1
ffn_hidden = 1
vocabulary = 1
max_positions = {length}
causal = {causal}
[workload]
sequence = {length}
global_batch = 1
flash_attention = true
datatype = "{datatype}"
[strategy]
name = "megatron"
data = 1
spare_devices = "idle"
"""


class Simulator:
    """Prices kernels on one device of a machine."""

    def __init__(self, tessera, machine, folder):
        if shutil.which(tessera) is None:
            raise Refused(f"no simulator {tessera}: scripts/run-demo.sh builds it, --tessera names another one")
        # A path would be looked up beside the experiment.
        is_path = "/" in machine or machine.endswith(".toml")
        self.tessera, self.machine, self.folder = tessera, os.path.abspath(machine) if is_path else machine, pathlib.Path(folder)

    def gemms(self, rows, datatype):
        steps = [GEMM.format(row.batch, row.m, row.n, row.k, datatype) for row in rows]
        return Job(self, "gemms", SCRIPT.format(self.machine) + "".join(steps), len(rows))

    def streaming(self, rows):
        def amount(key, count):
            return f'{key} = "{count} B"\n' if count else ""

        steps = [STREAMING.format(amount("read", row.read) + amount("write", row.written)) for row in rows]
        return Job(self, "streaming", SCRIPT.format(self.machine) + "".join(steps), len(rows))

    def layer(self, row, datatype):
        """A training iteration of one layer with this attention."""
        return Job(self, "layer", LAYER.format(machine=self.machine, heads=row.batch, head=row.k, length=row.m,
                                               causal=str(row.operation.startswith("causal")).lower(), datatype=datatype))

    def cache(self):
        """Bytes of the device's last-level cache; None where the machine file does not say."""
        return self.stated("machine.device", "cache", SIZES)

    def peak(self, datatype):
        """FLOP/s."""
        return self.stated("machine.device.peak", datatype, RATES)

    def bandwidth(self):
        """Bytes a second of the memory."""
        return self.stated("machine.device", "memory_bandwidth", BANDWIDTHS)

    def cores(self):
        return self.stated("machine.device", "cores", {"": 1})

    def stated(self, table, key, units):
        """A quantity of the machine file; None where it does not say."""
        path = self.folder / "any.toml"
        path.write_text(SCRIPT.format(self.machine) + STREAMING.format('read = "1 B"\n'), encoding="utf-8")
        resolved = self.run(["check", str(path)])
        inside = re.search(rf"^\[{re.escape(table)}\]$(.*?)^\[", resolved, re.MULTILINE | re.DOTALL)
        found = inside and re.search(rf'^{key} = "?([0-9.]+) ?([\w/]*)"?$', inside[1], re.MULTILINE)
        return float(found[1]) * units[found[2]] if found else None

    def run(self, arguments):
        done = subprocess.run([self.tessera, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"the simulator refuses: {(done.stderr.strip() or 'exit code ' + str(done.returncode)).splitlines()[0]}")
        return done.stdout


class Job:
    """An experiment, run again with other costs."""

    def __init__(self, simulator, name, text, kernels=None):
        self.simulator, self.kernels = simulator, kernels
        self.experiment, self.out, self.text = simulator.folder / f"{name}.toml", simulator.folder / f"{name}.h5", text

    def microseconds(self, cost):
        """(label, time) of the kernels, in order; `cost` as [cost] has it."""
        self.experiment.write_text(self.text, encoding="utf-8")
        command = ["run", str(self.experiment), "-o", str(self.out), "--force", "--progress", "off"]
        for key, value in cost.items():
            command += ["--set", f"cost.{key}={value}"]
        self.simulator.run(command)
        kernels = timeline(self.out)
        if self.kernels is not None and len(kernels) != self.kernels:
            raise Refused(f"the simulator ran {len(kernels)} kernels of {self.kernels}")
        return kernels


def timeline(path):
    """Of the one device that works."""
    try:
        import h5py
    except ImportError:
        raise Refused('fitting reads the simulator\'s results with h5py, which this Python lacks: "pip install h5py", or package python3-h5py '
                      "(and then /usr/bin/python3)") from None
    with h5py.File(path) as file:
        rows, labels = file["timeline"][:], dict((int(number), name.decode()) for number, name in file["names/labels"][:])
    return [(labels[int(row["label"])], float(row["end_ps"] - row["begin_ps"]) * 1e-6) for row in rows]
