"""Partitions of graphs over a package of chiplets, by searches that learn nothing, beside Xie et al. 2022."""

import _parts
from _mcm import PARTS
from _runs import ROOT

PAGE = ROOT / "docs" / "validation" / "mcm.md"


if __name__ == "__main__":
    _parts.main("mcm", __doc__, PARTS, PAGE)
