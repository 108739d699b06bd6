"""The fastest cuts of four models on up to 512 A100s, proven, beside the cuts of Korthikanti et al. 2022."""

import _parts
from _plans import PARTS
from _runs import ROOT

PAGE = ROOT / "docs" / "validation" / "plans.md"


if __name__ == "__main__":
    _parts.main("plans", __doc__, PARTS, PAGE)
