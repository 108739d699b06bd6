"""Stages where one puts them, sets that run again, and lent memory: figures 5, 7, 8 and 11, and GPT-175B on 56 dies."""

from _parts import Outcome

from . import lending, pipeline, sets, shapes, wiring


def study(simulator):
    whole = Outcome()
    for one in (pipeline.study, wiring.study, shapes.study, sets.study, lending.study):
        whole.add(one(simulator))
    return whole
