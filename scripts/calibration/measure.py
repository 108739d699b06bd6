"""Times kernels: warm-up, then the median of several samples, each of as many calls as a clock can tell apart."""

import dataclasses
import datetime
import math
import os
import pathlib
import platform
import re
import statistics
import time

from calibration import Refused, kernels, table
from calibration.clocks import Clocks
from calibration.shapes import FULL, QUICK, footprint, shapes

CALLS = 100  # of a kernel in one CUDA graph at most
EVERY = 10  # rows from one look at the clocks to the next
LOOK = 0.5  # seconds of work that a look at the clocks may take


@dataclasses.dataclass(frozen=True)
class Effort:
    warm_up: float  # seconds
    calls: int  # to warm up, at least
    sample: float  # seconds at least
    samples: int


CAREFUL, HASTY = Effort(0.2, 3, 0.02, 11), Effort(0.02, 1, 0.005, 3)


def find_torch():
    try:
        import torch
    except ImportError as error:
        raise Refused(f'measuring needs PyTorch, and this Python has none ({error}): "pip install torch", or package python3-torch') from None
    return torch


def find_device(torch, name):
    """The device of that name, or the first accelerator, or the CPU."""
    accelerators = {"cuda": torch.cuda, "xpu": getattr(torch, "xpu", None), "mps": getattr(torch.backends, "mps", None)}
    if name is None:
        name = next((kind for kind, module in accelerators.items() if module is not None and module.is_available()), "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise Refused(f'device "{name}": {str(error).splitlines()[0]}') from None
    return device


class Timer:
    """Times calls on one device."""

    def __init__(self, torch, device, effort):
        self.torch, self.device, self.effort = torch, device, effort
        self.without_graph = 0  # kernels that no CUDA graph took

    def wait(self):
        if self.device.type != "cpu":
            getattr(self.torch, self.device.type).synchronize()

    def seconds(self, run):
        """Of run() until the device is done."""
        self.wait()
        begin = time.perf_counter()
        run()
        self.wait()
        return time.perf_counter() - begin

    def measure(self, call, beside=None):
        """Seconds of one call, a sample each. `beside` is called while the device is at work, where it works beside the host."""
        one = self.warm_up(call)
        run, calls = self.repeated(call, max(1, min(CALLS, round(self.effort.sample / one))))
        repeats = max(1, round(self.effort.sample / (one * calls)))

        def sample():
            for _ in range(repeats):
                run()

        sample()
        samples = [self.seconds(sample) / (repeats * calls) for _ in range(self.effort.samples)]
        if beside is not None:
            for _ in range(0 if self.device.type == "cpu" else math.ceil(LOOK / (one * calls * repeats))):
                sample()
            beside()
        return samples

    def warm_up(self, call):
        begin, calls = time.perf_counter(), 0
        while calls < self.effort.calls or time.perf_counter() - begin < self.effort.warm_up:
            one = self.seconds(lambda: call(calls))
            calls += 1
        return max(one, 1e-7)

    def repeated(self, call, calls):
        """The call that many times. On a GPU as a CUDA graph, so that the host's launches are not in the time."""

        def loop():
            for i in range(calls):
                call(i)

        if self.device.type != "cuda":
            return loop, calls
        if not getattr(call, "needs_host", False):
            try:
                return self.captured(loop), calls
            except RuntimeError:
                self.wait()
        self.without_graph += 1
        return loop, calls

    def captured(self, loop):
        beside = self.torch.cuda.Stream()
        beside.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(beside):
            loop()
        self.torch.cuda.current_stream().wait_stream(beside)
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            loop()
        return graph.replay


def free_memory(torch, device):
    """In bytes; None: unknown."""
    if device.type == "cuda":
        torch.cuda.empty_cache()  # PyTorch keeps what earlier rows needed
        return torch.cuda.mem_get_info(device)[0]
    if device.type == "cpu" and "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def measure_row(maker, timer, row, beside):
    """The samples. What cannot be measured: kernels.Unavailable."""
    free = free_memory(maker.torch, maker.device)
    if free is not None and footprint(row) > 0.9 * free:
        raise kernels.Unavailable("it does not fit into the free memory")
    try:
        with maker.torch.no_grad():
            return timer.measure(maker.make(row), beside)
    except (RuntimeError, NotImplementedError) as error:
        raise kernels.Unavailable(str(error).splitlines()[0]) from None


def measure_all(maker, timer, rows, tell):
    """The rows with their times, and comments about clocks, spread and what was left out."""
    measured, spreads, missing, clocks = [], {}, {}, Clocks(maker.device)
    for number, row in enumerate(rows):
        try:
            samples = measure_row(maker, timer, row, clocks.sample if number % EVERY == 0 else None)
        except kernels.Unavailable as reason:
            missing.setdefault((row.kind, row.operation, str(reason)), []).append(row)
            continue
        us = 1e6 * statistics.median(samples)
        measured.append(dataclasses.replace(row, us=us))
        spreads[row] = (max(samples) - min(samples)) * 1e6 / us
        tell(f"{number + 1} of {len(rows)}: {row.kind} {row.name} {us:.6g} us")
    if not measured:
        raise Refused(f"no kernel could be measured; the first one: {next(iter(missing))[2]}")
    return measured, [clocks.text(), spread_text(spreads), *missing_text(missing), *graph_text(timer)]


def spread_text(spreads):
    worst = max(spreads, key=spreads.get)
    return (f"from the fastest to the slowest sample of a row: {100 * statistics.median(spreads.values()):.1f} % of its median in the middle row, "
            f"at most {100 * spreads[worst]:.1f} % ({worst.kind} {worst.name})")


def missing_text(missing):
    return [f"left out: {len(rows)} of {kind} {operation}: {reason}" for (kind, operation, reason), rows in missing.items()]


def graph_text(timer):
    if timer.device.type != "cuda":
        return ["called one after another by the host, whose time for a launch is in that of small kernels"]
    return ["replayed from CUDA graphs, without the host's launches" + (f", but for {timer.without_graph}" if timer.without_graph else "")]


def device_text(torch, device):
    """What a machine file's [machine.device] would like to know."""
    if device.type == "cuda":
        found = torch.cuda.get_device_properties(device)
        return f"{found.name}, {found.multi_processor_count} multiprocessors, {found.total_memory / 1e9:.1f} GB, CUDA {torch.version.cuda}"
    if device.type == "cpu":
        return f"{processor_name()}, {torch.get_num_threads()} thread{'s' if torch.get_num_threads() > 1 else ''}"
    return f"device {device}"


def processor_name():
    try:
        found = re.search(r"^model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def run(options, tell):
    """Measures and writes the table."""
    if os.path.exists(options.output) and not options.force:
        raise Refused(f"{options.output} exists; --force replaces it")
    torch = find_torch()
    device = find_device(torch, options.device)
    datatype = options.datatype or ("fp32" if device.type == "cpu" else "bf16")
    maker, timer = kernels.Maker(torch, device, datatype), Timer(torch, device, HASTY if options.quick else CAREFUL)
    rows, remarks = measure_all(maker, timer, shapes(QUICK if options.quick else FULL, datatype), tell)
    about = [f"Kernels on {device_text(torch, device)}: median time of one, us.",
             f"scripts/calibrate.py measure{' --quick' if options.quick else ''}, {datetime.date.today()}, PyTorch {torch.__version__}, "
             f"{datatype}, random operands."]
    table.write(options.output, rows, about + remarks)
    return rows, about + remarks
