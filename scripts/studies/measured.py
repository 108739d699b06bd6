"""Measured training iterations of several public sources beside simulated ones, on the stock machine files.

Nothing is fitted; what a source does not say is fixed in docs/validation/measured.md and inputs/experiments/measured.
"""

import _parts
from _measured import PARTS, overview
from _runs import ROOT, mean_abs

PAGE = ROOT / "docs" / "validation" / "measured.md"


def run_all(simulator):
    whole = _parts.run(PARTS, simulator, PARTS)
    whole.add(overview(simulator))
    deviations = [100 * (ours / theirs - 1) for theirs, ours in whole.goals]
    whole.tables |= {"measured-rows": f"{len(deviations)}", "measured-mean": f"{mean_abs(deviations):.1f}"}
    return whole


def main():
    _parts.main("measured", __doc__, PARTS, PAGE, run_all=run_all)


if __name__ == "__main__":
    main()
