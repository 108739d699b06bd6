"""The search over cuts, sets, places and loans: what each of its steps is worth (figure 18), its plans beside Megatron's, what omega does to
the genetic search (figures 12 and 24(b)), what its predictions are worth, and what a predictor of products costs it."""

from _parts import Outcome

from . import search_omega, search_plans, search_predictor, search_steps
from .jobs import SEARCHED

STUDIES = (search_steps.study, search_plans.study, search_omega.study, search_predictor.study)


def study(simulator):
    whole = Outcome()
    for one in STUDIES:
        whole.add(one(simulator))
    for ranks, name in ((1, "one"), (2, "two")):
        whole.summary[f"plan_seconds_{name}_rank{'s' * (ranks > 1)}"] = f"{simulator.seconds_of_plan(SEARCHED, (), ranks):.0f}"
    return whole
