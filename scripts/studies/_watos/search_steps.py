"""Figure 18: four models on the wafer by a fixed cut, and by one step of the search more at a time."""

from _parts import Outcome, three
from _runs import table
from tessera_analysis import watos_figures

from .cells import performances
from .jobs import ONE_FOR_CERTAIN, SEARCHED, cut

MODELS = {"Llama2-30B": "llama2-30b", "Llama3-70B": "llama3-70b", "Mixtral 8x7B": "mixtral-8x7b", "GPT-175B": "gpt3-175b"}
BY_SIZE = ("Llama2-30B", "Mixtral 8x7B", "Llama3-70B", "GPT-175B")
ALONE = (("strategy.search.rivals", "false"), *ONE_FOR_CERTAIN)
STEPS = {"TP 8, PP 7": (*cut(8, 7), ("strategy.search.step", "scheduler")), "+ scheduler": (("strategy.search.step", "scheduler"),),
         "+ R": (("strategy.search.step", "recomputation"),), "+ M": (("strategy.search.step", "memory"),), "+ GA": (("strategy.search.step", "genetic"),)}
BASELINE = next(iter(STEPS))


def study(simulator):
    jobs = {(name, step): (SEARCHED, (("model.include", model), *ALONE, *settings)) for name, model in MODELS.items() for step, settings in STEPS.items()}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    taken = {job: taken_by(result) for job, result in found.items()}
    bars = [performances("", name, {step: found[name, step] for step in STEPS}) for name in BY_SIZE]
    return Outcome(tables={"figure 18": figure_18(taken), "figure 18 plans": plans(taken)}, summary={"steps_that_hurt": hurt(taken)}, claims=claims(taken),
                   pictures={"figure-18": (watos_figures.performance, ("Figure 18: what each step of the search adds", {"": bars}))})


def claims(taken):
    """By size of the models: what the scheduler wins, and what all steps behind it win."""
    gain = lambda name, before, after: 100 * (taken[name, before][0] / taken[name, after][0] - 1)
    order = list(STEPS)
    scheduler = [gain(name, BASELINE, order[1]) for name in BY_SIZE]
    others = [gain(name, order[1], order[-1]) for name in BY_SIZE]
    said = lambda gains: ", ".join(f"{value:.1f}" for value in gains) + " %"
    return [("figure 18: steps that hurt", "none", f"{hurt(taken)}", hurt(taken) == 0),
            ("figure 18: the scheduler wins less, the larger the model", "falls", said(scheduler), scheduler == sorted(scheduler, reverse=True)),
            ("figure 18: the other steps win more, the larger the model", "grows", said(others), others == sorted(others))]


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
