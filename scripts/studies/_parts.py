"""What studies share that consist of parts: what a part hands back, the command line, and where results go."""

import argparse
import math
from dataclasses import dataclass, field

from _runs import Simulator, deviation, max_abs, mean_abs, table, write_into
from tessera_analysis.plot import save


@dataclass
class Outcome:
    """Of one part, or of several."""

    tables: dict = field(default_factory=dict)  # Markdown by its place in the study's page
    pictures: dict = field(default_factory=dict)  # (drawing function, its arguments) by file name
    files: dict = field(default_factory=dict)  # text by file name
    summary: dict = field(default_factory=dict)  # text by key of the summary line
    goals: list = field(default_factory=list)  # (paper, simulated): what the summary line's deviations are taken over
    claims: list = field(default_factory=list)  # (sentence, what the paper has, what came out, whether it is so): a table of the first page

    def add(self, other):
        self.tables |= other.tables
        self.pictures |= other.pictures
        self.files |= other.files
        self.summary |= other.summary
        self.goals += other.goals
        self.claims += other.claims


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """One line, as of the simulator."""
        self.exit(2, f"error: {message}; {self.prog} --help says more\n")


def arguments(help, parts):
    parser = Parser(description=help)
    parser.add_argument("--tessera", help="the program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", action="store_true", help="only name the parts")
    parser.add_argument("part", nargs="?", choices=parts, metavar="PART", help="one of: " + ", ".join(parts))
    found = parser.parse_args()
    if not found.parts and not found.tessera:
        parser.error("--tessera is required")
    return found


def run(parts, bench, names):
    """What the parts of these names hand back, together; tables are shown as they come."""
    whole = Outcome()
    for name in names:
        outcome = parts[name](bench)
        if outcome.claims:
            outcome.tables[f"claims {name}"] = claims_of(outcome)
        for place, content in outcome.tables.items():
            print(f"\n{place}\n{content}", flush=True)
        whole.add(outcome)
    return whole


def claims_of(outcome):
    lines = [(sentence, there, here, "yes" if so else "no") for sentence, there, here, so in outcome.claims]
    return table(("of the paper", "there", "here", "comes out"), lines)


def share(part, whole):
    return f"{part} of {whole}"


def notebook_of(page):
    """The page behind it with what only few readers want, where there is one."""
    return page.with_name(f"{page.stem}-notebook.md")


def pages_of(page, parts):
    """The study's page, and of those that there are behind it: pages of parts, and its notebook."""
    behind = (*[page.with_name(f"{page.stem}-{part}.md") for part in parts], notebook_of(page))
    return [page, *[one for one in behind if one.exists()]]


def by_page(tables, pages):
    """Tables by the page that has their place; the first one has those that none has."""
    texts = {one: one.read_text() for one in pages}
    found = {one: {} for one in pages}
    for name, content in tables.items():
        found[next((one for one in pages if f"<!-- {name} -->" in texts[one]), pages[0])][name] = content
    return {one: inside for one, inside in found.items() if inside}


def write(outcome, page, parts=()):
    for one, tables in by_page(outcome.tables, pages_of(page, parts)).items():
        write_into(one, tables)
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, (draw, values) in outcome.pictures.items():
        save(folder / f"{name}.svg", draw, *values)
    for name, text in outcome.files.items():
        (folder / name).write_text(text)


def summary(study, outcome, part):
    values = {"study": study} | ({"part": part} if part else {})
    if outcome.goals:
        deviations = [deviation(ours, paper) for paper, ours in outcome.goals]
        values |= {"mean_abs_deviation_pct": f"{mean_abs(deviations):.2f}", "max_abs_deviation_pct": f"{max_abs(deviations):.2f}"}
    return "summary: " + " ".join(f"{key}={value}" for key, value in (values | outcome.summary).items())


def main(study, help, parts, page, run_part=None, run_all=None):
    """run_part(simulator, name) and run_all(simulator) make the Outcome, where it is more than what the parts hand back."""
    run_part = run_part or (lambda simulator, name: run(parts, simulator, [name]))
    run_all = run_all or (lambda simulator: run(parts, simulator, parts))
    options = arguments(help, parts)
    if options.parts:
        print(*parts)
        return
    simulator = Simulator(options.tessera, options.seed)
    outcome = run_part(simulator, options.part) if options.part else run_all(simulator)
    write(outcome, page, parts)
    print("\n" + summary(study, outcome, options.part))


def geomean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def two(value):
    return f"{value:.2f}"


def three(value):
    return f"{value:.3f}"


def seconds(result):
    return result["iteration_time_ps"] * 1e-12
