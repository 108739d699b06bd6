"""What is printed: a [machine.calibration] with what remains as comments."""

import math

from calibration.gemm_fit import as_toml, mean

LINKS = ("Links and collectives cannot be measured with one device, so [machine.calibration.topology] (nvlink_efficiency, nvlink_latency,",
         "nic_latency) and [machine.calibration.collectives] (reduction, channels) are not here: the communication library's own constants",
         "belong there, as in inputs/machines/a100-80g-cluster.toml.")


def toml(fit, name):
    """The lines."""
    lines = [f"# {line}" for line in (*fit.remarks, *remaining(fit.compared), *LINKS)]
    lines += ["[machine.calibration]", f'source = {quoted(f"scripts/calibrate.py, kernels of {name}")}', "[machine.calibration.cost]"]
    lines += [line(key, value, origin) for key, (value, origin) in fit.constants.items()]
    lines += ["# " + line(key, value, origin) for key, (value, origin) in fit.of_software.items()]
    if fit.deviations:
        lines += ["gemm_deviations = [", *(f"  {deviation}," for deviation in as_toml(fit.deviations)), "]"]
    return lines


def line(key, value, origin):
    return f"{f'{key} = {quoted(value) if isinstance(value, str) else value}':<38} # {origin}"


def quoted(text):
    """A TOML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\u{ord(letter):04x}" if ord(letter) < 32 or ord(letter) == 127 else letter for letter in escaped) + '"'


def remaining(compared):
    """Deviations by kind: mean and largest of modelled from measured times, by the constants alone."""
    compared = [(kind, modelled) for kind, modelled in compared if modelled]
    if not compared:
        return []
    lines = ["What remains, by the constants alone:", f"{'':<20} {'kernels':>7} {'mean':>8} {'largest':>10}"]
    for kind, modelled in compared:
        logs = {row: math.log(us / row.us) for row, us in modelled.items()}
        worst = max(logs, key=lambda row: abs(logs[row]))
        off = 100 * mean([abs(log) for log in logs.values()])
        lines.append(f"{kind:<20} {len(logs):>7} {off:>6.1f} % {100 * math.expm1(logs[worst]):>+8.1f} %  {worst.name}")
    return lines
