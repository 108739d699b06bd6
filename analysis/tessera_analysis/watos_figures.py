"""The figures of Wang et al., "WATOS", in the paper's form. Values come from scripts/studies/_watos."""

import matplotlib.pyplot as pyplot

from . import style
from .bars import Chart, handles

MAPS = ("computing, % of the time", "memory at its peak, %", "links sending, % of the time")
DIES = {"small square": ("#0072B2", "s"), "small rectangle": ("#E69F00", "^"), "large square": ("#009E73", "o"), "large rectangle": ("#CC79A7", "v")}
COLOURS = ("#B0B0B0", "#E69F00", "#56B4E9", "#0072B2", "#009E73", "#CC79A7", "#D55E00", "#332288")


def performance(title, panels, slowest_of="each group"):
    """Panels by their titles: rows of performance by what is compared, 1 the slowest; what does not fit has no bar."""
    figure, axes = pyplot.subplots(len(panels), 1, figsize=(12, 3.4 * len(panels)), layout="constrained", squeeze=False)
    style.title(figure, f"{title}, 1 the slowest of {slowest_of}")
    for one, (name, rows) in zip(axes[:, 0], panels.items()):
        _bars(one, rows, name)
        one.axhline(1, color="#303030", linewidth=0.8)
    return figure


def figure_16(rows, stated):
    """Rows of a rival's time over ours; `stated`: what the paper has by rival, a line across all cells."""
    figure, axes = pyplot.subplots(figsize=(12, 4.2), layout="constrained")
    style.title(figure, "Figure 16: time of an iteration over WATOS's (dashed: the paper's, mean for MG-GPU and most for the others)")
    chart = _bars(axes, rows, "")
    for name, value in stated.items():
        axes.axhline(value, color=chart.looks[name]["facecolor"], linestyle="--", linewidth=1.2)
    axes.axhline(1, color="#303030", linewidth=0.8)
    return figure


def figure_17(panels):
    """Rows of maps by plan: (column, row, % computing, % of memory, % of the time in which links send) of each die."""
    figure, axes = pyplot.subplots(len(panels), len(MAPS), figsize=(11, 2.9 * len(panels)), layout="constrained", squeeze=False)
    style.title(figure, "Figure 17: what plans of GPT-175B use of each die")
    for row, (name, dies) in zip(axes, panels.items()):
        for column, (one, title) in enumerate(zip(row, MAPS)):
            shown = one.imshow(_grid(dies, column), cmap="YlOrRd", vmin=0, vmax=100 if column < 2 else 25)
            one.set_title(title, fontsize=9)
            one.set_xticks([])
            one.set_yticks([])
            figure.colorbar(shown, ax=one, shrink=0.8)
        row[0].set_ylabel(name, fontsize=9)
    return figure


def _grid(dies, column):
    columns, rows = (1 + max(die[axis] for die in dies) for axis in (0, 1))
    values = [[float("nan")] * columns for _ in range(rows)]
    for x, y, *shares in dies:
        values[y][x] = shares[column]
    return values


def _bars(axes, rows, title):
    names = list(rows[0].values)
    looks = {name: {"facecolor": colour} for name, colour in zip(names, COLOURS)}
    chart = Chart(axes, rows, looks)
    chart.beside([(name,) for name in names])
    chart.name_rows(8)
    axes.set_title(title, loc="right", fontsize=10)
    axes.legend(handles=handles(looks, {name: name for name in names}), loc="lower left", bbox_to_anchor=(0, 1.0), ncol=len(names), borderaxespad=0.2)
    return chart


def figure_22(rows, stated):
    """Rows of gains in throughput, in %, of a plan that knows of the faults over each baseline; `stated`: the paper's by (group, label)."""
    figure, axes = pyplot.subplots(figsize=(9, 4.2), layout="constrained")
    style.title(figure, "Figure 22: gain in throughput of a plan that knows which links or dies are slow, mean of all draws")
    chart = _bars(axes, rows, "")
    for x, row in zip(chart.xs, rows):
        if value := stated.get((row.group, row.label)):
            chart.mark(x, value, f"paper: +{value} %")
    axes.axhline(0, color="#303030", linewidth=0.8)
    style.percent_axis(axes.yaxis)
    return figure


def figure_24b(curves):
    """Best fitness by generation, over the best of all runs, a line for each omega: the mean of its seeds."""
    figure, axes = pyplot.subplots(figsize=(7, 3.8), layout="constrained")
    style.title(figure, "Figure 24(b): best fitness by generation, 1 the best of all")
    for number, (omega, values) in enumerate(curves.items()):
        axes.plot(range(len(values)), values, color=COLOURS[number], linewidth=1.4, label=f"omega {omega:.1f}")
    axes.set_xlabel("generation")
    axes.set_ylabel("mean of the seeds")
    axes.legend(ncol=2)
    return figure


def figure_25(points):
    """Throughput over capacity, (TB, tokens a second) by class: what is up and to the right has more of the objective, their product."""
    if not any(points.values()):
        return None
    figure, axes = pyplot.subplots(figsize=(6, 3.8), layout="constrained")
    style.title(figure, "Figure 25: dies of 200 to 600 mm2: throughput and capacity")
    for name, own in points.items():
        colour, marker = DIES[name]
        axes.scatter([x for x, _ in own], [y / 1e3 for _, y in own], s=28, color=colour, marker=marker, label=name)
    most = max(x * y for own in points.values() for x, y in own)
    low, high = axes.get_xlim()
    along = [low + (high - low) * step / 50 for step in range(51)]
    bottom, top = axes.get_ylim()
    for share in (0.6, 0.8, 1.0):
        axes.plot(along, [share * most / x / 1e3 for x in along], color="#B0B0B0", linewidth=0.8, zorder=0)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, top)
    axes.set_xlabel("DRAM of the wafer in TB; grey: equal products, 0.6, 0.8 and 1 of the most")
    axes.set_ylabel("1,000 tokens a second")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=4, columnspacing=1, handletextpad=0.2, fontsize=style.points(8))
    return figure
