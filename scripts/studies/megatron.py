"""Korthikanti et al. 2022: iterations of four models on up to 512 A100s, and layers, measured beside simulated.

On the stock machine file, nothing fitted.
"""

import _parts
from _megatron import PARTS
from _runs import ROOT

PAGE = ROOT / "docs" / "validation" / "megatron.md"


def run_part(simulator, name):
    return _parts.run(PARTS, simulator, [name])


def run_all(simulator):
    return _parts.run(PARTS, simulator, PARTS)


def main():
    _parts.main("megatron", __doc__, PARTS, PAGE, run_part, run_all)


if __name__ == "__main__":
    main()
