"""Figure 18: four models on the wafer by a fixed cut, and by one step of the search more at a time."""

from _parts import Outcome, three
from _runs import table

from .jobs import SEARCHED, cut

MODELS = {"Llama2-30B": "llama2-30b", "Llama3-70B": "llama3-70b", "Mixtral 8x7B": "mixtral-8x7b", "GPT-175B": "gpt3-175b"}
ALONE = (("strategy.search.rivals", "false"),)
STEPS = {"TP 8, PP 7": (*cut(8, 7), ("strategy.search.step", "scheduler")), "+ scheduler": (("strategy.search.step", "scheduler"),),
         "+ R": (("strategy.search.step", "recomputation"),), "+ M": (("strategy.search.step", "memory"),), "+ GA": (("strategy.search.step", "genetic"),)}
BASELINE = next(iter(STEPS))


def study(simulator):
    jobs = {(name, step): (SEARCHED, (("model.include", model), *ALONE, *settings)) for name, model in MODELS.items() for step, settings in STEPS.items()}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    taken = {job: taken_by(result) for job, result in found.items()}
    return Outcome(tables={"figure 18": figure_18(taken), "figure 18 plans": plans(taken)}, summary={"steps_that_hurt": hurt(taken)}, claims=claims(taken))


def claims(taken):
    """Models stand in the order of their size, Mixtral's by what is active of it."""
    last = list(STEPS)[-1]
    gain = {name: 100 * (taken[name, BASELINE][0] / taken[name, last][0] - 1) for name in MODELS}
    said = ", ".join(f"{name} {value:.1f} %" for name, value in gain.items())
    largest = max(MODELS, key=lambda name: gain[name])
    return [("figure 18: steps that hurt", "none", f"{hurt(taken)}", hurt(taken) == 0), ("figure 18: the largest model gains most", "GPT-175B", said, largest == "GPT-175B")]


def taken_by(result):
    """(s, cut and tile, step that found it) of the plan that a search has taken."""
    row = next(row for row in result["tried"].to_dict("records") if row["accepted"])
    return result["iteration_time_ps"] * 1e-12, row["candidate"], row["origin"]


def figure_18(taken):
    lines = []
    for name in MODELS:
        times = [taken[name, step][0] for step in STEPS]
        lines.append((name, *[three(time) for time in times], *[f"{100 * (times[0] / time - 1):+.1f}" for time in times[1:]]))
    return table(("simulated s", *STEPS, *[f"{step} %" for step in STEPS if step != BASELINE]), lines)


def plans(taken):
    """Which cut each step takes; in brackets the step that found the plan, where it is an earlier one."""
    own = {"+ scheduler": "scheduler", "+ R": "recomputation", "+ M": "memory", "+ GA": "genetic", BASELINE: "scheduler"}
    text = lambda step, plan: plan[1] if plan[2] == own[step] else f"{plan[1]} ({plan[2]})"
    return table(("plan", *STEPS), [(name, *[text(step, taken[name, step]) for step in STEPS]) for name in MODELS])


def hurt(taken):
    """Steps with which a model takes longer than with the one before."""
    order = list(STEPS)
    return sum(taken[name, after][0] > taken[name, before][0] for name in MODELS for before, after in zip(order, order[1:]))
