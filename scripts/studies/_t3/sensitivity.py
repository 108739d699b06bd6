"""What halving and doubling the values that the paper does not give does to T3 and T3-MCA."""

from _parts import Outcome, geomean
from _runs import table


T = "machine.device.transaction."
# half, as used, double; None where there is no such value
VALUES = {T + "granularity": ("512 B", "1 KiB", "2 KiB"), T + "prefetch": (0, 1, 2), T + "l2_latency": ("75 ns", "150 ns", "300 ns"),
          T + "dram_latency": ("75 ns", "150 ns", "300 ns"), T + "turnaround": (5, 10, 20), T + "dram_queue": (32, 64, 128),
          T + "group_run": ("128 B", "256 B", "512 B"), T + "starvation_limit": ("6.75 ns", "13.5 ns", "27 ns"),
          T + "max_bypass": (16, 32, 64), T + "intensity_levels": ("[16, 8, 4]", "[32, 16, 8]", "[64, 32, 16]"),
          T + "outstanding": ("2 KiB", "4 KiB", "8 KiB"), T + "copy_block": ("1 KiB", "2 KiB", "4 KiB"),
          T + "l2_ways": (8, 16, None), T + "row_time": (None, 0, 3), T + "work_group_time": ("5 us", "10 us", "20 us"),
          T + "memory_efficiency": (0.3, 0.61, None), "strategy.tile_k": (16, 32, 64), "strategy.dma_tiles": (None, 1, 2)}
CASES = [("t-nlg", "fc2", 8), ("mega-gpt2", "fc2", 16)]


def study(bench):
    base = speedups(bench)
    fitted = dict(bench.fitted)
    rows = [(key.rsplit(".", 1)[1], fitted.get(key, normal), *[change(bench, key, value, base) for value in (half, double)])
            for key, (half, normal, double) in VALUES.items()]
    return Outcome(tables={"t3-sensitivity": table(("value", "used", "less: T3, T3-MCA", "more: T3, T3-MCA"), rows)})


def speedups(bench, settings=()):
    return [geomean(bench.speedups(CASES, name, settings)) for name in ("t3", "t3-mca")]


def change(bench, key, value, base):
    if value is None:
        return ""
    found = speedups(bench, ((key, value),))
    return f"{value}: " + ", ".join(f"{100 * (a / b - 1):+.1f} %" for a, b in zip(found, base))
