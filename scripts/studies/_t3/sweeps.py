"""Over all sixteen sub-layers: what the values of the memory's arbitration move, and the other order of tiles."""

from _parts import Outcome, geomean, three
from _runs import table

from .bench import SMALL, speedup

T = "machine.device.transaction."
BOTH, MCA = ("t3", "t3-mca"), ("t3-mca",)
# (what, setting, configurations that it changes); halved, doubled, or off
SWEEPS = (
    ("starvation_limit 3.375 ns", (T + "starvation_limit", "3.375 ns"), MCA),
    ("starvation_limit 13.5 ns", (T + "starvation_limit", "13.5 ns"), MCA),
    ("starvation_limit 1 us", (T + "starvation_limit", "1 us"), MCA),
    ("intensity_levels 16, 8, 4", (T + "intensity_levels", "[16, 8, 4]"), MCA),
    ("intensity_levels 64, 32, 16", (T + "intensity_levels", "[64, 32, 16]"), MCA),
    ("max_bypass 0: in order of arrival", (T + "max_bypass", 0), BOTH),
    ("max_bypass 16", (T + "max_bypass", 16), BOTH),
    ("max_bypass 64", (T + "max_bypass", 64), BOTH),
    ("max_bypass 1000000: no limit", (T + "max_bypass", 1000000), BOTH),
    ("tiles along the hidden size first", ("strategy.tile_order", "row-major"), BOTH),
)


def study(bench, cases=SMALL):
    used = bench.runs(cases, ("sequential", *BOTH))
    rows = [row("as used", [(case, used) for case in cases])]
    for name, setting, changed in SWEEPS:
        alone = ("sequential",) if changed == BOTH else ()
        runs = used | bench.runs(cases, (*alone, *changed), (setting,))
        rows.append(row(name, [(case, runs) for case in cases]))
    return Outcome(tables={"t3-sweeps": table(("value", "T3, geomean", "T3-MCA, geomean", "T3-MCA over T3: least", "greatest"), rows)})


def row(name, found):
    t3, mca = [[speedup(runs, case, configuration) for case, runs in found] for configuration in BOTH]
    over = [b / a for a, b in zip(t3, mca)]
    return name, three(geomean(t3)), three(geomean(mca)), three(min(over)), three(max(over))
