"""Korthikanti et al. 2022: iterations of four models on up to 512 A100s, and layers, measured beside simulated.

On the stock machine file, nothing fitted.
"""

import _parts
from _megatron import PARTS
from _runs import ROOT

PAGE = ROOT / "docs" / "validation" / "megatron.md"


if __name__ == "__main__":
    _parts.main("megatron", __doc__, PARTS, PAGE)
