"""Weights that are streamed layer by layer to replicas, as a rival: over a few cuts, from either place that can hold them, with rings both
ways as everybody's, and as little recomputation as fits."""

from . import cells
from .analytic import model_of
from .jobs import BOTH_WAYS

EXPERIMENT = "watos/streaming.toml"
SOURCES = {"hosts": (), "dies": (("strategy.weight_streaming", "devices"),)}  # whose memory holds the weights
SETS = ("[]", '["attention_norm", "mlp_norm", "activation"]', '["attention_norm", "qkv", "mlp_norm", "fc1", "activation"]', '["full"]')  # the first that fits


def cut(tensor, replicas, *tiles):
    listed = ", ".join(f'"{tile}"' for tile in tiles)
    return (("strategy.tensor", tensor), ("strategy.data", replicas), ("strategy.uneven_width", "pad"), ("strategy.placement.tiles", f"[{listed}]"))


CUTS = (cut(4, 14, "2x2 * 12", "1x4 * 2"), cut(8, 7, "2x4 * 6", "1x8"), cut(14, 4, "7x2"), cut(28, 2, "7x4"))  # of 56 dies


def fastest(simulator, settings, cuts=CUTS):
    """Of settings by name the fastest result, from either place; None where nothing fits."""
    return {name: cells.fastest(own.values()) for name, own in by_source(simulator, settings, cuts).items()}


def by_source(simulator, settings, cuts=CUTS):
    """Of settings by name the fastest result by place; None where nothing fits. All that is tried with one set is one sweep."""
    found = {(name, own, source): None for name in settings for own in cuts if dict(own)["strategy.tensor"] <= heads_of(settings[name]) for source in SOURCES}
    for sets in SETS:
        left = [key for key, result in found.items() if result is None]
        jobs = [(EXPERIMENT, (*BOTH_WAYS, *settings[name], *own, *SOURCES[source], ("strategy.recomputed_sections", sets))) for name, own, source in left]
        found |= zip(left, simulator.attempts(jobs))
    return {name: {source: cells.fastest(result for (of, _, where), result in found.items() if (of, where) == (name, source)) for source in SOURCES} for name in settings}


def heads_of(settings):
    """The most tensor ranks that a model can have."""
    return model_of(dict(settings)["model.include"])["heads"]


def text_of(result):
    """Its degrees."""
    return f"TP {result['plan']['tensor parallel']} x {result['plan']['data parallel']}" if result else ""
