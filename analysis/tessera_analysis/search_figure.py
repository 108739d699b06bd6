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
    tried, out = _without_early(tried)
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
    _draw_predicted(axes, runs, size, size_of_point, as_pixels)
    _draw_refused(axes, tried, 0.98 * runs["cost_ps"].min() / size, size_of_point, as_pixels)
    known = tried[tried["best_ps"] > 0]
    axes.step(known.index, known["best_ps"] / size, where="post", color="#D55E00", linewidth=1.2, label="best so far")
    axes.set_xlabel("candidate, in the order of the search" + (f"; {out:,} before the first one are out" if out else ""))
    axes.set_ylabel(f"{measure(tried)} in {unit}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(axes, axes.get_legend_handles_labels()[0])
    return figure


def _without_early(tried):
    """Of a search that struck out many candidates before it looked at one, what comes from that one on; and how many they are."""
    first = int((tried["cost_ps"] > 0).to_numpy().argmax())
    return (tried.iloc[first:], first) if first > MANY else (tried, 0)


def _draw_predicted(axes, runs, size, size_of_point, as_pixels):
    foretold = runs[runs["predicted_ps"] > 0] if "predicted_ps" in runs else runs.iloc[:0]
    if not foretold.empty:
        axes.scatter(foretold.index, foretold["predicted_ps"] / size, marker="_", color="#B0B0B0", s=2 * size_of_point, rasterized=as_pixels, label="predicted", zorder=0)


def _draw_refused(axes, tried, height, size_of_point, as_pixels):
    refused = tried[tried["cost_ps"] == 0]
    is_beaten = refused["reason"].astype(str).str.startswith("struck out")
    for rows, colour, label in ((refused[~is_beaten], "#D55E00", "does not fit, or cannot run"), (refused[is_beaten], "#B0B0B0", "struck out by its bound")):
        if not rows.empty:
            axes.scatter(rows.index, [height] * len(rows), marker="x", color=colour, s=size_of_point, rasterized=as_pixels, label=label)
