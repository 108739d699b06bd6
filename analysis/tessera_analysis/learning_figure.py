"""How fast searches get better: a curve a method, the best so far by number of samples, with a band where a method has several seeds."""

import matplotlib.pyplot as pyplot
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from . import style
from .history import COST, best_so_far, measure, over_seeds

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#332288", "#882255", "#999933", "#606060")
WIDE = 20  # greatest over least: beyond it, a logarithmic axis


def draw(methods, what=COST, heading="Searches"):
    """`methods`: for each name the /search tables of its seeds, one or several."""
    curves = {name: over_seeds(best_so_far(table, what) for table in tables) for name, tables in methods.items()}
    empty = [name for name, curve in curves.items() if not (curve["mean"] > 0).any()]
    curves = {name: curve for name, curve in curves.items() if name not in empty}
    if not curves:
        return None
    tables = [table for each in methods.values() for table in each]
    unit, size = style.time_unit(max(curve["mean"].max() for curve in curves.values())) if what == COST else ("", 1)
    figure, axes = pyplot.subplots(figsize=style.size(9, 4.4), layout="constrained")
    style.title(figure, heading)
    draw_curves(axes, curves, size)
    names = dict.fromkeys(measure(table) for table in tables)
    axes.set_ylabel(f"best {' or '.join(names)} so far, {unit}" if what == COST else "best reward so far")
    handles = axes.get_legend_handles_labels()[0] + [Line2D([], [], color="none") for _ in empty]
    labels = [label_of(name, methods[name]) for name in curves] + [f"{name}: not all have a result" if len(methods[name]) > 1 else
                                                                    f"{name}: nothing fits" for name in empty]
    for handle, label in zip(handles, labels):
        handle.set_label(label)
    style.legend(axes, handles)
    return figure


def draw_means(curves, heading, measured="best reward so far"):
    """A study's own means and deviations over seeds, by name."""
    figure, axes = pyplot.subplots(figsize=style.size(9, 4.4), layout="constrained")
    style.title(figure, heading)
    draw_curves(axes, curves)
    axes.set_ylabel(measured)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def label_of(name, tables):
    return name if len(tables) == 1 else f"{name}\n(mean and deviation of {len(tables)})"


def changes(curve):
    """Its rows that differ from the one before, and the last: a step drawn through them is the same, in a tenth of the bytes."""
    values = curve[["mean", "deviation"]]
    differs = (values != values.shift()).any(axis=1)
    differs.iloc[-1] = True
    return curve[differs]


def draw_curves(axes, curves, size=1):
    """`curves`: for each name the frame of over_seeds(), or another one with its columns mean and deviation: a study's means over
    graphs, say."""
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        curve = changes(curve)
        mean, deviation = curve["mean"] / size, curve["deviation"] / size
        axes.step(curve.index, mean, where="post", color=colour, linewidth=1.4, label=name)
        if (deviation > 0).any():
            axes.fill_between(curve.index, mean - deviation, mean + deviation, step="post", color=colour, alpha=0.2, linewidth=0)
    means = [curve["mean"] for curve in curves.values()]
    if max(mean.max() for mean in means) > WIDE * min(mean[mean > 0].min() for mean in means):
        axes.set_yscale("log")
    axes.set_xlabel("samples")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.8)
