"""Wang et al. 2024 (PrimePar): operators cut in space and time, beside the figures of the slides, against three baselines.

Nothing is fitted; what the slides do not say is fixed in docs/validation/primepar.md.
"""

import _parts
from _primepar import PARTS
from _primepar.bench import Bench
from _runs import ROOT

PAGE = ROOT / "docs" / "validation" / "primepar.md"


def run_part(simulator, name):
    return _parts.run(PARTS, Bench(simulator), [name])


def run_all(simulator):
    return _parts.run(PARTS, Bench(simulator), PARTS)


def main():
    _parts.main("primepar", __doc__, PARTS, PAGE, run_part, run_all)


if __name__ == "__main__":
    main()
