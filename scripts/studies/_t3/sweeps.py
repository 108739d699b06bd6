"""Over all sixteen sub-layers: what the values of the memory's arbitration move, and the other order of tiles."""

from _parts import Outcome, geomean, three
from _runs import table

from .bench import SMALL, speedups

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
    def jobs(changed, settings=()):
        alone = ("sequential",) if changed == BOTH else ()
        return bench.jobs(cases, (*alone, *changed), settings)

    used, *found = bench.runs_of([jobs(BOTH), *[jobs(changed, (setting,)) for _, setting, changed in SWEEPS]])
    rows = [row("as used", cases, used)] + [row(name, cases, used | runs) for (name, _, _), runs in zip(SWEEPS, found)]
    return Outcome(tables={"t3-sweeps": table(("value", "T3, geomean", "T3-MCA, geomean", "T3-MCA over T3: least", "greatest"), rows)})


def row(name, cases, runs):
    t3, mca = [speedups(runs, cases, configuration) for configuration in BOTH]
    over = [b / a for a, b in zip(t3, mca)]
    return name, three(geomean(t3)), three(geomean(mca)), three(min(over)), three(max(over))
