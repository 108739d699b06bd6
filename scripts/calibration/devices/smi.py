"""What nvidia-smi says of a GPU: its clocks, its power, its settings. What it does not say is missing."""

import os
import subprocess

READ = {"mhz": "clocks.sm", "memory_mhz": "clocks.mem", "watts": "power.draw", "limit_watts": "enforced.power.limit"}
SETTINGS = {"driver": "driver_version", "SM clock at most": "clocks.max.sm", "memory clock at most": "clocks.max.mem",
            "power limit": "enforced.power.limit", "power limit at most": "power.max_limit", "temperature at the end": "temperature.gpu"}


def query(index, fields, units):
    """The answers by the names of `fields`, of the GPU that PyTorch gives this number; nvidia-smi counts all of them."""
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    command = ["nvidia-smi", "-i", visible[index] if index < len(visible) else str(index), f"--query-gpu={','.join(fields.values())}",
               f"--format=csv,noheader{'' if units else ',nounits'}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    answers = [answer.strip() for answer in done.stdout.split(",")]
    return dict(zip(fields, answers)) if done.returncode == 0 and len(answers) == len(fields) else {}


def read(index):
    """Numbers, as of now. nvidia-smi gives the power as the mean of the last second."""
    found = {}
    for name, answer in query(index, READ, units=False).items():
        try:
            found[name] = float(answer)
        except ValueError:  # "[N/A]"
            continue
    return found


def settings(index):
    """As text."""
    found = [f"{name} {answer}" for name, answer in query(index, SETTINGS, units=True).items() if not answer.startswith("[")]
    return ", ".join(found) or "nvidia-smi says nothing"
