"""WATOS on wafers of dies: what placement, sets of recomputation and lent memory do to a pipeline."""

import _parts
from _runs import ROOT
from _watos import PARTS

PAGE = ROOT / "docs" / "validation" / "watos.md"


if __name__ == "__main__":
    _parts.main("watos", __doc__, PARTS, PAGE)
