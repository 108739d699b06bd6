"""What a search tried, step by step, and the best up to there: of a result, or of a history."""

import matplotlib.pyplot as pyplot
from matplotlib.ticker import MaxNLocator

from . import style
from .history import measure

MANY = 200  # samples: smaller points, and pixels where a picture is otherwise lines and letters
COLOURS = {"lower-bound": "#B0B0B0", "estimate": "#56B4E9", "simulated": "#0072B2"}


def draw(results):
    tried = results.search
    if tried is None or len(tried) < 2 or not (tried["cost_ps"] > 0).any():
        return None
    unit, size = style.time_unit(tried["cost_ps"].max())
    figure, axes = pyplot.subplots(figsize=style.size(9, 4.4), layout="constrained")
    style.heading(figure, results, "What the search tried")
    runs = tried[tried["cost_ps"] > 0]
    size_of_point, as_pixels = (22, False) if len(tried) <= MANY else (6, True)
    for fidelity, rows in runs.groupby("fidelity", sort=False):
        for accepted, label in ((1, f"{fidelity}, accepted"), (0, fidelity)):
            of = rows[rows["accepted"] == accepted]
            if not of.empty:
                colour = COLOURS.get(fidelity, "#882255")
                axes.scatter(of.index, of["cost_ps"] / size, s=size_of_point, rasterized=as_pixels, label=label, edgecolors=colour,
                             facecolors=colour if accepted else "none")
    refused = tried[tried["cost_ps"] == 0]
    lowest = 0.98 * runs["cost_ps"].min() / size
    if not refused.empty:
        axes.scatter(refused.index, [lowest] * len(refused), marker="x", color="#D55E00", s=size_of_point,
                     rasterized=as_pixels, label="does not fit, or cannot run")
    known = tried[tried["best_ps"] > 0]
    axes.step(known.index, known["best_ps"] / size, where="post", color="#D55E00", linewidth=1.2, label="best so far")
    axes.set_xlabel("candidate, in the order of the search")
    axes.set_ylabel(f"{measure(tried)} in {unit}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(axes, axes.get_legend_handles_labels()[0])
    return figure
