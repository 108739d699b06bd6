"""The figures of Xie et al., "A Transferable Approach for Partitioning Machine Learning Models on Multi-Chip-Modules". Values come from
scripts/studies/_mcm."""

import matplotlib.pyplot as pyplot

from . import style

COLOURS = ("#B0B0B0", "#E69F00", "#56B4E9", "#0072B2")


def calibration(tried):
    """Random partitions by prior: throughput foretold and simulated, and the peak memory of the fullest chip beside it (Figure 7)."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    style.title(figure, "Random partitions of BERT-large over 36 chiplets")
    most = 0
    for colour, (prior, frame) in zip(COLOURS, tried.items()):
        simulated = 1e12 / frame["cost_ps"]
        most = max(most, simulated.max())
        # Thousands of points each: as pixels, where a picture is otherwise lines and letters.
        left.scatter(1e12 / frame["predicted_ps"], simulated, s=6, color=colour, label=prior, rasterized=True)
        right.scatter(simulated, frame["most_memory_B"] * 1e-6, s=6, color=colour, label=prior, rasterized=True)
    left.plot([0, most], [0, most], color="#303030", linewidth=0.8)
    left.set_xlabel("analytical model, inputs a second")
    left.set_ylabel("simulated package, inputs a second")
    left.legend(loc="upper left", markerscale=2)
    right.axhline(32, color="#303030", linewidth=0.8)
    right.text(0, 32, "32 MB", ha="left", va="bottom")
    right.set_yscale("log", base=2)
    right.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    right.set_xlabel("simulated package, inputs a second")
    right.set_ylabel("peak of the fullest chip, MB")
    return figure
