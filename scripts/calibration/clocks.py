"""Clocks while kernels run, for the table's comments: a rate means little without the clock that it was reached at."""

import os
import pathlib
import re
import subprocess


class Clocks:
    """Samples in MHz, by name. Where none can be read the table says so."""

    def __init__(self, device):
        readers = {"cuda": lambda: nvidia(device.index or 0), "cpu": processor}
        self.read = readers.get(device.type, dict)
        self.samples = {}

    def sample(self):
        for name, clock in self.read().items():
            self.samples.setdefault(name, []).append(clock)

    def text(self):
        if not self.samples:
            return "clocks unknown"
        parts = []
        for name, found in self.samples.items():
            found = sorted(found)
            parts.append(f"{name} {found[len(found) // 2]:.0f} MHz ({found[0]:.0f} to {found[-1]:.0f})")
        return f"clocks while kernels ran, not locked: {', '.join(parts)}"


def nvidia(index):
    """Of the GPU that PyTorch gives this number; nvidia-smi counts all of them."""
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    try:
        command = ["nvidia-smi", "-i", visible[index] if visible else str(index), "--query-gpu=clocks.sm,clocks.mem", "--format=csv,noheader,nounits"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
        sm, memory = done.stdout.splitlines()[0].split(",")
        return {"SM": float(sm), "memory": float(memory)}
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return {}


def processor():
    try:
        found = re.findall(r"^cpu MHz\s*:\s*([0-9.]+)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return {}
    return {"fastest core": max(map(float, found))} if found else {}
