"""Wafers of the template: the three of figure 4 with what each costs the others, and table II beside the template's rules."""

import subprocess
import tomllib

from _parts import Outcome, seconds, share, two
from _runs import ROOT, SWEEPS, table

UNITS = {"P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3}
WAFER_MM2 = 198 * 198  # section II-A
WAFERS = ("wafer-0", "wafer-1", "wafer-2")
MODELS = {"llama2-7b": "7B", "llama2-30b": "30B", "llama3-70b": "70B"}
CONFIGS = (1, 2, 3, 4)


def study(simulator):
    whole = Outcome()
    for one in (figure_4, table_2):
        whole.add(one(simulator))
    return whole


def figure_4(simulator, machine_of=None):
    """Each wafer as a machine, and the fastest of its cuts that fit, by model."""
    machine_of = machine_of or Printed(simulator, "watos/figure-4")
    points = simulator.sweep("watos/figure-4")
    numbers = {values["machine.template"]: figures(machine_of(number)) for number, (values, _) in enumerate(points) if values["machine.template"] in WAFERS}
    best = {(wafer, model): fastest(points, wafer, model) for wafer in WAFERS for model in MODELS}
    built = [(wafer, own["dies"], two(own["peak"] / 1e15), two(own["peak"] / WAFER_MM2 / 1e12), f"{own['capacity'] / 1e9:,.0f}", two(own["memory"] / 1e12), f"{own['link'] / 1e9:,.0f}")
             for wafer, own in numbers.items()]
    ran = [(wafer, *[word for model in MODELS for word in run_of(best[wafer, model])]) for wafer in WAFERS]
    header = ("wafer", *[f"{name} {what}" for name in MODELS.values() for what in ("s", "cut", "dies", "communication %", "bubble %", "fullest die %")])
    return Outcome(tables={"figure 4": table(("wafer", "dies", "PFLOP/s", "TFLOP/s a mm2", "DRAM GB", "DRAM TB/s a die", "link GB/s"), built),
                           "figure 4 runs": table(header, ran), "figure 4 trade-offs": trade_offs(numbers, best)},
                   claims=[("figure 4: 70B fits the wafer with the most DRAM alone", "yes", ", ".join(wafer for wafer in WAFERS if best[wafer, "llama3-70b"]) or "none fits",
                            [wafer for wafer in WAFERS if best[wafer, "llama3-70b"]] == ["wafer-0"])],
                   summary={"wafers_for_70b": "".join(wafer[-1] for wafer in WAFERS if best[wafer, "llama3-70b"]) or "none"})


def fastest(points, wafer, model):
    """(values, result) of the least time; None where no cut fits."""
    own = [(values, result) for values, result in points if result and (values["machine.template"], values["model.include"]) == (wafer, model)]
    return min(own, key=lambda point: seconds(point[1]), default=None)


def run_of(point):
    if point is None:
        return "does not fit", "", "", "", "", ""
    values, result = point
    communication = sum(result[f"mean_{kind}_communication_ps"] for kind in ("tensor", "pipeline", "data"))
    percent = [f"{100 * part:.1f}" for part in (communication / result["iteration_time_ps"], result["mean_bubble_ps"] / result["iteration_time_ps"])]
    repeats = "" if values["strategy.recomputation"] == "none" else ", all again"
    return two(seconds(result)), values["strategy"].upper() + repeats, result["devices"], *percent, f"{100 * result['peak_memory'] / result['memory_capacity']:.0f}"


def trade_offs(numbers, best):
    """What the paper says of figure 4 beside what came out: three sentences."""
    zero, one, two_chiplets = (numbers[wafer] for wafer in WAFERS)
    return "\n".join((
        f"1. Capacity against compute: wafer 0 has {two(zero['capacity'] / one['capacity'])} times the DRAM of wafer 1 and {two(zero['peak'] / one['peak'])} times its compute. {by_run(best, 'wafer-0', 'wafer-1')}",
        f"2. DRAM at the edge against links: the same die with one chiplet less has {two(two_chiplets['link'] / one['link'])} times the links and {two(two_chiplets['memory'] / one['memory'])} times the DRAM bandwidth. {by_run(best, 'wafer-2', 'wafer-1')}",
        f"3. Both: wafer 0's shorter edge serves {two(zero['memory'] / one['memory'])} times the DRAM bandwidth, which leaves {two(zero['link'] / one['link'])} times the links. {by_run(best, 'wafer-0', 'wafer-2')}"))


def by_run(best, wafer, other):
    said = []
    for model, name in MODELS.items():
        a, b = best[wafer, model], best[other, model]
        if a and b:
            said.append(f"{name} takes {two(seconds(a[1]) / seconds(b[1]))} times as long")
        elif a or b:
            said.append(f"{name} fits {(wafer if a else other).replace('-', ' ')} alone")
        else:
            said.append(f"{name} fits neither")
    return f"By run, {wafer.replace('-', ' ')} beside {other.replace('-', ' ')}: {', '.join(said)}."


def table_2(simulator, machine_of=None):
    """The given configurations beside the template's dies of that size, cores of section V-A and edge."""
    machine_of = machine_of or Printed(simulator, "watos/table-2")
    lines, refusals = [], []
    for number, config in enumerate(CONFIGS):
        stated = figures(tomllib.loads((ROOT / "inputs" / "machines" / f"wafer-config{config}.toml").read_text())["machine"])
        # Points are by the place of the DRAM, beside and on top, then by rows, as many as fit and 8, then by configuration.
        beside, _, alone, rows_of_table = (machine_of(len(CONFIGS) * i + number) for i in range(4))
        edge, dies = figures(beside), figures(alone)
        lines.append((config, stated["grid"], dies["grid"], edge["grid"], tera(stated["peak"] / stated["dies"]), tera(edge["peak"] / edge["dies"]), two(4 * stated["link"] / 1e12), two(4 * edge["link"] / 1e12)))
        if isinstance(rows_of_table, str):
            refusals.append(f"- configuration {config}: {rows_of_table}")
    header = ("config", "dies", "dies alone", "with one chiplet each", "TFLOP/s a die", "of V-A's cores", "D2D TB/s", "the edge's rest")
    same = sum(line[-1] == line[-2] for line in lines)
    return Outcome(tables={"table II": table(header, lines), "table II refused": "\n".join(refusals) or "- none"}, summary={"d2d_as_table_2": f"{same}_of_{len(lines)}"},
                   claims=[("table II: links are what DRAM leaves of the edge", "all", share(same, len(lines)), same == len(lines))])


def figures(machine):
    """What a [machine] table of a wafer says, in numbers of base units; compute and capacity of all dies."""
    device, links = machine["device"], machine["topology"]
    dies = links["columns"] * links["rows"]
    return {"dies": dies, "grid": f"{links['columns']} x {links['rows']}", "peak": dies * number_of(device["peak"]["fp16"]), "capacity": dies * number_of(device["memory_capacity"]),
            "memory": number_of(device["memory_bandwidth"]), "link": number_of(links["bandwidth"])}


def number_of(quantity):
    """4.5e12 of "4.5 TB/s"."""
    number, unit = quantity.split()
    return float(number) * UNITS.get(unit[0], 1)


def tera(value):
    return f"{value / 1e12:.0f}"


class Printed:
    """The machine of a sweep's point as `tessera sweep --print` has it, or the words that refuse it."""

    def __init__(self, simulator, sweep):
        self.tessera, self.path = simulator.tessera, str(SWEEPS / f"{sweep}.toml")

    def __call__(self, number):
        done = subprocess.run([self.tessera, "sweep", self.path, "--print", str(number)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return tomllib.loads(done.stdout)["machine"]
        _, _, words = done.stderr.strip().partition("wafer template, ")
        if done.returncode != 2 or not words:
            raise SystemExit(f"{self.path}, point {number}\nexit code {done.returncode}\n{done.stderr}")
        return words.splitlines()[0]
