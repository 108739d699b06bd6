"""The study's parts: one a model, so that the small ones can be printed without the hours of the large ones."""

from functools import partial

from .cuts import MODELS, study

PARTS = {model: partial(study, model=model) for model in MODELS}
