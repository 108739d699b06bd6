"""Whether transactions are fine enough: every speedup of figure 16 with half of them."""

from _parts import Outcome, geomean, three
from _runs import table

from .bench import SMALL, speedup, speedups
from .sublayers import SPEEDUPS

HALF = (("machine.device.transaction.granularity", "256 B"), ("machine.device.transaction.l2_line", "128 B"))


def study(bench):
    used, half = bench.sublayers(), bench.sublayers(HALF)
    rows = []
    for name in SPEEDUPS:
        changes = {case: speedup(half, case, name) / speedup(used, case, name) - 1 for case in SMALL}
        worst = max(changes, key=lambda case: abs(changes[case]))
        rows.append((name, three(geomean(speedups(used, SMALL, name))), three(geomean(speedups(half, SMALL, name))),
                     f"{100 * changes[worst]:+.1f} %", " ".join(map(str, worst))))
    return Outcome(tables={"t3-convergence": table(("speedup", "geomean, 512 B", "geomean, 256 B", "greatest change", "of"), rows)})
