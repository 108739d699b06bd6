"""Pati et al. 2024 (T3): sub-layers of Transformers with their reduce-scatter fused into the GEMM, beside the paper's figures.

Fits the fixed time of a work-group to two ideal speedups and the memory's efficiency to one speedup of T3-MCA, simulates everything
with both, and writes the tables of docs/validation/t3.md and the pictures beside it. One part alone takes both values from the machine file.
"""

import argparse
import sys

from _runs import ROOT, Simulator, deviation, max_abs, mean_abs, write_into
from _t3 import PARTS
from _t3.bench import Bench, Outcome
from _t3.fit import fit, held
from tessera_analysis.plot import save

PAGE = ROOT / "docs" / "validation" / "t3.md"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tessera", help="the program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", action="store_true", help="only name the parts")
    parser.add_argument("part", nargs="?", choices=PARTS, metavar="PART", help="one of: " + ", ".join(PARTS))
    found = parser.parse_args()
    if not found.parts and not found.tessera:
        parser.error("--tessera is required")
    return found


def run(bench, names):
    """What the parts hand back, together; tables are shown as they come."""
    whole = Outcome()
    for name in names:
        outcome = PARTS[name](bench)
        for place, content in outcome.tables.items():
            print(f"\n{place}\n{content}", flush=True)
        whole.add(outcome)
    return whole


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


def write(outcome, page):
    write_into(page, outcome.tables)
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, (draw, values) in outcome.pictures.items():
        save(folder / f"{name}.svg", draw, *values)


def summary(outcome, part):
    values = {"study": "t3"} | ({"part": part} if part else {})
    if outcome.goals:
        deviations = [deviation(ours, paper) for paper, ours in outcome.goals]
        values |= {"mean_abs_deviation_pct": f"{mean_abs(deviations):.2f}", "max_abs_deviation_pct": f"{max_abs(deviations):.2f}"}
    return "summary: " + " ".join(f"{key}={value}" for key, value in (values | outcome.summary).items())


def main():
    options = arguments()
    if options.parts:
        print(*PARTS)
        return
    simulator = Simulator(options.tessera, options.seed)
    outcome = run_part(simulator, options.part) if options.part else run_all(simulator)
    write(outcome, PAGE)
    print("\n" + summary(outcome, options.part))


if __name__ == "__main__":
    main()
