"""A policy that learns to cut graphs over chiplets, beside searches that learn nothing, and beside Xie et al. 2022."""

import _parts
from _mcm import LEARNING_PARTS, WHEN_NAMED
from _runs import ROOT

PAGE = ROOT / "docs" / "validation" / "mcm-learning.md"


def run_all(simulator):
    """Without the parts that are carried out only when they are named."""
    return _parts.run(LEARNING_PARTS, simulator, LEARNING_PARTS)


if __name__ == "__main__":
    _parts.main("mcm_learning", __doc__, LEARNING_PARTS | WHEN_NAMED, PAGE, run_all=run_all)
