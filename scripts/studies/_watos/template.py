"""What a wafer could be, and a die from the inside: figure 4 and table II by the template, figures 10 and 14 by the cores of a die, how
far roofline and a predictor are from them, and figure 21 by collectives alone."""

from _parts import Outcome

from . import collectives, dataflow, prediction, template_points

STUDIES = (template_points.study, dataflow.study, prediction.study, collectives.study)


def study(simulator):
    whole = Outcome()
    for one in STUDIES:
        whole.add(one(simulator))
    return whole
