"""What halving and doubling the values that the paper does not give does to T3 and T3-MCA."""

from _parts import Outcome, geomean
from _runs import table

from .bench import speedups

T = "machine.device.transaction."
# half, as used, double; None where there is no such value
VALUES = {T + "prefetch": (0, 1, 2), T + "l2_latency": ("75 ns", "150 ns", "300 ns"), T + "dram_latency": ("50 ns", "100 ns", "200 ns"),
          T + "rcd": (7, 14, 28), T + "rcdwr": (5, 11, 22), T + "rp": (7, 14, 28), T + "rtw": (8, 15, 30), T + "wtr": (2, 3, 6), T + "ccdwl": (2, 4, 8),
          T + "banks": (8, 16, 32), T + "dram_queue": (32, 64, 128), T + "l2_queue": (64, 128, 256), T + "l2_misses": (96, 192, 384),
          T + "outstanding": ("2 KiB", "4 KiB", "8 KiB"), T + "copy_block": ("1 KiB", "2 KiB", "4 KiB"),
          T + "l2_ways": (8, 16, None), T + "work_group_time": ("4 us", "8 us", "16 us"),
          "strategy.tile_k": (16, 32, 64), "strategy.dma_tiles": (None, 1, 2)}
CASES = [("t-nlg", "fc2", 8), ("mega-gpt2", "fc2", 16)]
SPEEDUPS = ("t3", "t3-mca")


def study(bench):
    settings = [(key, value) for key, (half, _, double) in VALUES.items() for value in (half, double) if value is not None]
    base, *runs = bench.runs_of([bench.jobs(CASES, ("sequential", *SPEEDUPS), ((one,) if one else ())) for one in (None, *settings)])
    found = dict(zip(settings, runs))
    fitted = dict(bench.fitted)
    rows = [(key.rsplit(".", 1)[1], fitted.get(key, normal), *[change(value, found.get((key, value)), base) for value in (half, double)])
            for key, (half, normal, double) in VALUES.items()]
    return Outcome(tables={"t3-sensitivity": table(("value", "used", "less: T3, T3-MCA", "more: T3, T3-MCA"), rows)})


def change(value, runs, base):
    if runs is None:
        return ""
    means = [[geomean(speedups(one, CASES, name)) for name in SPEEDUPS] for one in (runs, base)]
    return f"{value}: " + ", ".join(f"{100 * (a / b - 1):+.1f} %" for a, b in zip(*means))
