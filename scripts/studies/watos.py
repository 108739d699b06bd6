"""WATOS on wafers of dies: what placement, sets of recomputation and lent memory do to a pipeline."""

import _parts
from _runs import ROOT
from _watos import PARTS, WHEN_NAMED

PAGE = ROOT / "docs" / "validation" / "watos.md"


if __name__ == "__main__":
    _parts.main("watos", __doc__, PARTS | WHEN_NAMED, PAGE, run_all=lambda simulator: _parts.run(PARTS, simulator, PARTS))
