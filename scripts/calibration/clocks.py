"""Clocks while kernels run, for the table's comments: a rate means little without the clock that it was reached at."""

import pathlib
import re
import subprocess


class Clocks:
    """Samples in MHz, by name. Where none can be read the table says so."""

    def __init__(self, device):
        self.read = nvidia if device.type == "cuda" else processor if device.type == "cpu" else dict
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


def nvidia():
    """Of the first visible GPU."""
    command = ["nvidia-smi", "--query-gpu=clocks.sm,clocks.mem", "--format=csv,noheader,nounits"]
    try:
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
