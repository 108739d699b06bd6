"""The best individual of genetic searches by generation, a line a candidate."""

import matplotlib.pyplot as pyplot
from matplotlib.ticker import MaxNLocator

from . import style
from .learning_figure import COLOURS, WIDE


def draw(results):
    if "genetic" not in results.tables:
        return None
    curves = results.table("genetic")
    if curves.empty:
        return None
    figure, axes = pyplot.subplots(figsize=style.size(9, 4.4), layout="constrained")
    style.heading(figure, results, "Genetic searches")
    for number, ((_, cut), curve) in enumerate(curves.groupby(["candidate", "cut"], sort=False, observed=True)):
        axes.step(curve["generation"], curve["fitness"], where="post", linewidth=1.4, color=COLOURS[number % len(COLOURS)],
                  linestyle=("-", "--", ":")[number // len(COLOURS) % 3], label=cut)
    if curves["fitness"].min() > 0 and curves["fitness"].max() > WIDE * curves["fitness"].min():
        axes.set_yscale("log")
    axes.set_xlabel("generation")
    axes.set_ylabel("fitness of the best so far, less is better")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(axes, axes.get_legend_handles_labels()[0])
    return figure
