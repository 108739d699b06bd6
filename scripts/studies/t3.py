"""Pati et al. 2024 (T3): sub-layers of Transformers with their reduce-scatter fused into the GEMM, beside the paper's figures.

Fits the fixed time of a work-group to two ideal speedups, simulates everything with it, and writes the tables of
docs/validation/t3.md and t3-notebook.md and the pictures beside them. One part alone takes the value from the machine file.
"""

import sys

import _parts
from _parts import Outcome
from _runs import ROOT
from _t3 import PARTS
from _t3.bench import Bench
from _t3.fit import fit, held

PAGE = ROOT / "docs" / "validation" / "t3.md"


def run(bench, names):
    return _parts.run(PARTS, bench, names)


def run_part(simulator, name):
    outcome = run(Bench(simulator), [name])
    outcome.add(Outcome(summary={"fitted": held().summary()}))
    return outcome


def run_all(simulator):
    fitted = fit(Bench(simulator))
    for line in fitted.missing():
        print(f"inputs/machines/v100-ring.toml should say {line}", file=sys.stderr)
    outcome = run(Bench(simulator, fitted.settings()), PARTS)
    outcome.add(Outcome(tables={"t3-fit": fitted.table()}, summary={"fitted": fitted.summary()}))
    return outcome


def main():
    _parts.main("t3", __doc__, PARTS, PAGE, run_part, run_all)


if __name__ == "__main__":
    main()
