"""Figure 25: dies of 200 to 600 mm2, small or large, square or not, on a wafer of the template: capacity x throughput."""

import math
import subprocess
import tomllib
from dataclasses import dataclass

from _parts import Outcome, geomean, seconds, two
from _runs import EXPERIMENTS, table
from tessera_analysis import watos_figures

from .cells import FEW, MODELS, bound_of, of_bound, one_plan, plan_of, with_bound
from .template_points import WAFER_MM2, figures

EXPERIMENT = "watos/dies.toml"
TEMPLATE = tomllib.loads((EXPERIMENTS / EXPERIMENT).read_text())["machine"]["template"]
AREAS = tuple(range(200, 601, 50))  # mm2
RATIOS = (1, 1.1, 1.4, 1.8)
SMALL_BELOW, SQUARE_BELOW = 400, 1.2
WORKLOADS = (("Llama2-30B", 2048, 1), ("Llama3-70B", 2048, 1), ("Llama3-70B", 4096, 2), ("GPT-175B", 2048, 1))
COUNTED = WORKLOADS[:3]  # the objective is over these
BATCH = 64
PREDICTED = one_plan("recomputation")
BEST = 5
CLASSES = ("small square", "small rectangle", "large square", "large rectangle")


@dataclass(frozen=True)
class Die:
    area: int  # mm2
    ratio: float  # of height to width

    def sides(self):
        """mm: width, height; whole micrometres."""
        return tuple(round(math.sqrt(self.area * factor), 3) for factor in (1 / self.ratio, self.ratio))

    def stacks(self):
        return int(self.sides()[1] // mm(TEMPLATE["dram"]["width"]))

    def kind(self):
        return f"{'small' if self.area < SMALL_BELOW else 'large'} {'square' if self.ratio < SQUARE_BELOW else 'rectangle'}"

    def named(self):
        return "{:g} x {:g} mm".format(*(round(side, 1) for side in self.sides()))

    def settings(self):
        width, height = self.sides()
        return (("machine.template.die.width", f"{width} mm"), ("machine.template.die.height", f"{height} mm"), ("machine.template.dram.chiplets", self.stacks()))


DIES = tuple(Die(area, ratio) for area in AREAS for ratio in RATIOS)


def study(simulator):
    machines = {die: machine_of(simulator, die) for die in DIES}
    jobs = {(die, workload): job(die, workload, *PREDICTED) for die in DIES for workload in WORKLOADS}
    results = dict(zip(jobs, simulator.searched(jobs.values())))
    predicted = {point: result["predicted"]["model"] * 1e-12 if result else None for point, result in results.items()}
    bounds = {point: bound_of(result) for point, result in results.items() if result}
    values = {workload: objectives({die: predicted[die, workload] for die in DIES}, machines, workload) for workload in WORKLOADS}
    overall = {die: geomean([values[workload][die] for workload in COUNTED]) if all(values[workload][die] for workload in COUNTED) else 0 for die in DIES}
    best = sorted(DIES, key=overall.get, reverse=True)[:BEST]
    whole_jobs = {(die, workload): job(die, workload, *FEW) for die in best for workload in COUNTED}
    whole = dict(zip(whole_jobs, simulator.searched(whole_jobs.values())))
    return outcome_of(machines, predicted, bounds, values, overall, best, whole)


def outcome_of(machines, predicted, bounds, values, overall, best, whole):
    capacity = {die: machines[die]["capacity"] / 1e12 for die in DIES}
    heads = {kind: overall[leader(overall, kind)] for kind in CLASSES}
    first, lead = max(heads, key=heads.get), heads[CLASSES[0]] / max(heads[kind] for kind in CLASSES[1:])
    points = {kind: [(capacity[die], overall_speed(predicted, die)) for die in DIES if die.kind() == kind and overall[die]] for kind in CLASSES}
    return Outcome(tables={"figure 25": by_class(values, overall), "figure 25 best": simulated(machines, predicted, overall, best, whole), "figure 25 wafers": wafers(machines, overall),
                           "figure 25 dies": every_die(machines, predicted, bounds, overall)},
                   pictures={"figure-25": (watos_figures.figure_25, (points,))}, summary=counts(values, overall, predicted, best, whole),
                   claims=[("figure 25: small square dies lead", "yes", f"{first}, {two(lead)} over the best other class's" if first == CLASSES[0] else first, first == CLASSES[0])])


def job(die, workload, *settings):
    model, sequence, micro_batch = workload
    return EXPERIMENT, (*die.settings(), ("model.include", MODELS[model]), ("model.max_positions", max(2048, sequence)), ("workload.sequence", sequence),
                        ("strategy.micro_batch", micro_batch), ("workload.global_batch", BATCH), *settings)


def machine_of(simulator, die):
    """What the template makes of it, in numbers."""
    given = [word for key, value in die.settings() for word in ("--set", f"{key}={value}")]
    done = subprocess.run([simulator.tessera, "check", str(EXPERIMENTS / EXPERIMENT), *given], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{die.named()}\nexit code {done.returncode}\n{done.stderr}")
    machine = tomllib.loads(done.stdout)["machine"]
    return figures(machine) | {"cores": machine["device"]["cores"]}


def throughput(time, workload):
    """Tokens a second."""
    return BATCH * workload[1] / time if time else 0


def objectives(times, machines, workload):
    """Capacity x throughput over the best die's; 0 where it does not fit."""
    own = {die: machines[die]["capacity"] * throughput(time, workload) for die, time in times.items()}
    most = max(own.values()) or 1
    return {die: value / most for die, value in own.items()}


def overall_speed(predicted, die):
    """Tokens a second, the geometric mean over the workloads that count."""
    return geomean([throughput(predicted[die, workload], workload) for workload in COUNTED])


def leader(values, kind):
    return max((die for die in DIES if die.kind() == kind), key=values.get)


def by_class(values, overall):
    """The best of each class, and the mean over it."""
    lines = []
    for kind in CLASSES:
        own = [die for die in DIES if die.kind() == kind]
        first = leader(overall, kind)
        lines.append((kind, len(own), sum(overall[die] > 0 for die in own), f"{first.named()} ({first.stacks()})", two(overall[first]), two(sum(overall[die] for die in own) / len(own)),
                      *[two(values[workload][leader(values[workload], kind)]) if max(values[workload].values()) else "" for workload in WORKLOADS]))
    return table(("dies", "how many", "that fit", "the best one (stacks)", "objective", "mean", *[f"best, {title(workload)}" for workload in WORKLOADS]), lines)


def title(workload):
    model, sequence, micro_batch = workload
    return f"{model} {sequence:,} x {micro_batch}"


def simulated(machines, predicted, overall, best, whole):
    def text(die, workload):
        result = whole.get((die, workload))
        before = two(predicted[die, workload]) if predicted[die, workload] else "does not fit"
        return f"{before}, {with_bound(result)}" if result else before
    lines = [(f"{die.named()}, {die.kind()}", machines[die]["grid"], f"{machines[die]['capacity'] / 1e9:,.0f}", two(overall[die]), two(whole_objective(die, machines, best, whole)),
              *[text(die, workload) for workload in WORKLOADS], plan_of(whole[die, WORKLOADS[1]]) if whole[die, WORKLOADS[1]] else "") for die in best]
    return table(("die", "dies", "DRAM GB", "objective, predicted", "simulated, over the best of the five", *[f"{title(workload)} s" for workload in WORKLOADS], f"plan, {title(WORKLOADS[1])}"), lines)


def whole_objective(die, machines, best, whole):
    """After the whole search, over the best of these dies."""
    value = lambda one: machines[one]["capacity"] * geomean([throughput(seconds(whole[one, workload]), workload) for workload in COUNTED])
    return value(die) / max(value(one) for one in best)


def mm(text):
    return float(text.removesuffix("mm"))


def shares(machine, die):
    """Of the wafer: cores, dies, DRAM."""
    core, stack = (mm(of[side]) * mm(of[other]) for of, side, other in ((TEMPLATE["core"], "width", "height"), (TEMPLATE["dram"], "width", "depth")))  # mm2
    return tuple(machine["dies"] * area / WAFER_MM2 for area in (machine["cores"] * core, die.area, die.stacks() * stack))


def wafers(machines, overall):
    """Means over a class."""
    lines = []
    for kind in CLASSES:
        own = [die for die in DIES if die.kind() == kind]
        mean = lambda of: sum(of(machines[die], die) for die in own) / len(own)
        lines.append((kind, *[f"{100 * mean(lambda machine, die: shares(machine, die)[part]):.0f}" for part in range(3)], f"{mean(lambda machine, die: machine['dies']):.0f}",
                      f"{mean(lambda machine, die: machine['peak']) / 1e15:.1f}", f"{mean(lambda machine, die: machine['capacity']) / 1e9:,.0f}",
                      f"{mean(lambda machine, die: machine['memory'] * machine['dies']) / 1e12:.0f}", f"{mean(lambda machine, die: machine['link']) / 1e9:,.0f}",
                      f"{mean(lambda machine, die: 1e3 * machine['link'] * machine['dies'] / machine['peak']):.2f}"))
    return table(("dies", "cores % of the wafer", "dies %", "DRAM %", "dies", "PFLOP/s", "DRAM GB", "DRAM TB/s", "link GB/s", "B over a link a 1,000 FLOP"), lines)


def every_die(machines, predicted, bounds, overall):
    """Predicted seconds, in brackets how much of its first-order bound that reaches."""
    text = lambda point: f"{two(predicted[point])} ({two(bounds[point] / predicted[point])})" if predicted[point] else ""
    lines = [(die.named(), die.kind(), machines[die]["grid"], f"{machines[die]['peak'] / 1e15:.1f}", f"{machines[die]['capacity'] / 1e9:,.0f}", f"{machines[die]['link'] / 1e9:,.0f}",
              *[text((die, workload)) for workload in WORKLOADS], two(overall[die]) if overall[die] else "") for die in DIES]
    return table(("die", "class", "dies", "PFLOP/s", "DRAM GB", "link GB/s", *[f"{title(workload)} s" for workload in WORKLOADS], "objective"), lines)


def counts(values, overall, predicted, best, whole):
    heads = {kind: overall[leader(overall, kind)] for kind in CLASSES}
    off = [abs(predicted[point] / seconds(result) - 1) for point, result in whole.items() if result and predicted[point]]
    reached = [of_bound(result) for result in whole.values() if result]
    return {"dies": len(DIES), "fit": sum(value > 0 for value in overall.values()), "first_class": max(heads, key=heads.get).replace(" ", "-"),
            "small_square_over_next": two(heads[CLASSES[0]] / max(heads[kind] for kind in CLASSES[1:])),
            "workloads_led": sum(max(CLASSES, key=lambda kind: values[workload][leader(values[workload], kind)]) == CLASSES[0] for workload in WORKLOADS if max(values[workload].values())),
            "best_five_small_square": sum(die.kind() == CLASSES[0] for die in best), "most_over_predicted_pct": f"{100 * max(off):.1f}", "least_of_bound": two(min(reached)), "most_of_bound": two(max(reached))}
