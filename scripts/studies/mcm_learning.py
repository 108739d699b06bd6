"""A policy that learns to cut graphs over chiplets, beside searches that learn nothing, and beside Xie et al. 2022."""

import _parts
from _mcm import LEARNING_PARTS
from _runs import ROOT

PAGE = ROOT / "docs" / "validation" / "mcm-learning.md"


if __name__ == "__main__":
    _parts.main("mcm_learning", __doc__, LEARNING_PARTS, PAGE)
