"""What a search tried, step by step, and the best up to there."""

import matplotlib.pyplot as pyplot

from . import style

COLOURS = {"lower-bound": "#B0B0B0", "estimate": "#56B4E9", "simulated": "#0072B2"}


def draw(results):
    tried = results.search
    if tried is None or not (tried["cost_ps"] > 0).any():
        return None
    unit, size = style.time_unit(tried["cost_ps"].max())
    figure, axes = pyplot.subplots(figsize=(9, 4.4), layout="constrained")
    style.heading(figure, results, "What the search tried")
    runs = tried[tried["cost_ps"] > 0]
    for fidelity, rows in runs.groupby("fidelity", sort=False):
        for accepted, label in ((1, f"{fidelity}, accepted"), (0, fidelity)):
            of = rows[rows["accepted"] == accepted]
            if not of.empty:
                axes.scatter(of.index, of["cost_ps"] / size, s=22, label=label, edgecolors=COLOURS.get(fidelity, "#882255"),
                             facecolors=COLOURS.get(fidelity, "#882255") if accepted else "none")
    refused = tried[tried["cost_ps"] == 0]
    lowest = 0.98 * runs["cost_ps"].min() / size
    if not refused.empty:
        axes.scatter(refused.index, [lowest] * len(refused), marker="x", color="#D55E00", s=22, label="cannot run")
    known = tried[tried["best_ps"] > 0]
    axes.step(known.index, known["best_ps"] / size, where="post", color="#D55E00", linewidth=1.2, label="best so far")
    axes.set_xlabel("candidate, in the order of the search")
    axes.set_ylabel(f"iteration time in {unit}")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure
