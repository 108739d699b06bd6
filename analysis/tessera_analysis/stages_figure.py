"""A wafer's pipeline: which die belongs to which stage, how stages follow each other and who lends to whom; beside it what the memory of
each die holds at its peak, and how busy the links between them are. Left out where devices stand on no mesh."""

import matplotlib.pyplot as pyplot
import numpy
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle

from . import style
from .links_figure import line_between, reach_of, side_by_side
from .scale import unit_of

DIE = 0.86  # side of a die, of the way from die to die
SMALL = 0.5  # where links are drawn between dies
PIPELINE, LOAN = "#202020", "#B2182B"
MOST_TEXTS = 400  # dies with a text in each


def draw(results):
    if "placement" not in results.tables:
        return None
    placed = results.table("placement")
    mesh = placed["device"].map(results.devices.set_index("device")["node"])
    placed = placed.assign(x=side_by_side(placed["x"], mesh))
    if len(set(zip(placed["x"], placed["y"]))) < len(placed) or len(set(placed["y"])) < 2:
        return None
    loans = results.table("loans") if "loans" in results.tables else None
    across, down = placed["x"].max() + 1, placed["y"].max() + 1
    width = 12.0
    figure, (stages, memory) = pyplot.subplots(1, 2, figsize=style.size(width, min(14.0, 0.45 * width * down / across + 1.6)), layout="constrained")
    style.heading(figure, results, "Stages and memory on the wafer")
    _draw_stages(stages, placed, loans)
    _draw_memory(memory, results, placed)
    for axes in (stages, memory):
        axes.set_xlim(-0.6, across - 0.4)
        axes.set_ylim(down - 0.4, -0.6)
        axes.set_aspect("equal")
        axes.set_xlabel("column of the die" + (", meshes side by side" if mesh.nunique() > 1 else ""))
        axes.set_ylabel("row")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.get_major_locator().set_params(integer=True)
    return figure


def _draw_stages(axes, placed, loans):
    colours = pyplot.get_cmap("viridis", placed["stage"].max() + 1)
    for row in placed.itertuples():
        colour = colours(row.stage)
        axes.add_patch(Rectangle((row.x - DIE / 2, row.y - DIE / 2), DIE, DIE, facecolor=colour, edgecolor="white", linewidth=0.6))
        if len(placed) <= MOST_TEXTS:
            _write(axes, row.x, row.y, f"{row.stage}", colour)
    for _, replica in placed.groupby("replica"):
        centres = replica.groupby("stage")[["x", "y"]].mean()
        for start, end in zip(centres.to_numpy()[:-1], centres.to_numpy()[1:]):
            _arrow(axes, start, end, PIPELINE, 0.0, 1.4)
        for pair in _pairs(loans, replica):
            _arrow(axes, centres.loc[pair["from"]].to_numpy(), centres.loc[pair["to"]].to_numpy(), LOAN, 0.25, 1.8)
    handles = [Line2D([], [], color=PIPELINE, label="to the next stage")]
    if loans is not None and len(loans):
        by_die = loans.groupby(["lender", "to_stage"])["bytes"].sum()
        most = unit_of("B", by_die.max())
        low, high = by_die.min() / most[1], by_die.max() / most[1]
        handles.append(Line2D([], [], color=LOAN, label=f"lends {low:.3g} to {high:.3g} {most[0]} of a micro-batch on each die{_to_hosts(loans)}"))
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=3.6, ncols=1, frameon=False)
    axes.set_title("stages: number of each die's")


def _pairs(loans, replica):
    """Stages that lend to each other, each once; hosts are on no map."""
    if loans is None:
        return []
    own = loans[loans["lender"].isin(replica["device"]) & (loans["to_stage"] >= 0)]
    return [{"from": a, "to": b} for a, b in sorted(set(zip(own["from_stage"], own["to_stage"])))]


def _to_hosts(loans):
    """Which stages lend to hosts, in words: they have no arrow."""
    lenders = sorted(set(loans.loc[loans["to_stage"] < 0, "from_stage"]))
    return f"\n(without an arrow, to hosts: stage{'s' if len(lenders) > 1 else ''} {', '.join(map(str, lenders))})" if lenders else ""


def _arrow(axes, start, end, colour, bend, width):
    axes.add_patch(FancyArrowPatch(tuple(start), tuple(end), arrowstyle="-|>", mutation_scale=11, color=colour, linewidth=width,
                                   connectionstyle=f"arc3,rad={bend}", zorder=4, shrinkA=4, shrinkB=4))


def _draw_memory(axes, results, placed):
    devices = results.devices.set_index("device")["peak_memory"]
    capacity = results.summary["memory_capacity"]
    shares = 100 * placed["device"].map(devices).to_numpy(dtype=float) / capacity
    colours = pyplot.get_cmap("YlOrRd")
    _draw_links(axes, results, placed)
    for row, share in zip(placed.itertuples(), shares):
        colour = colours(0.15 + 0.85 * min(1.0, share / 100))
        axes.add_patch(Rectangle((row.x - SMALL / 2, row.y - SMALL / 2), SMALL, SMALL, facecolor=colour, edgecolor="#909090", linewidth=0.6, zorder=3))
        if len(placed) <= MOST_TEXTS:
            _write(axes, row.x, row.y, f"{share:.0f}", colour)
    unit, size = unit_of("B", capacity)
    axes.set_title(f"peak memory in % of {capacity / size:.3g} {unit}, and use of the links")


def _draw_links(axes, results, placed):
    places = {row.device: (row.x, row.y) for row in placed.itertuples()}
    links = results.links
    rows = links[links["from"].isin(places) & links["to"].isin(places)]
    if rows.empty:
        return
    reach = reach_of(places.values())
    drawn = LineCollection([line_between(places[a], places[b], reach) for a, b in zip(rows["from"], rows["to"])], linewidths=3, cmap="viridis_r", zorder=2)
    drawn.set_array(100 * rows["utilisation"].to_numpy())
    axes.add_collection(drawn)
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.7, pad=0.02)
    bar.set_label("links: time in use")
    style.percent_axis(bar.ax.yaxis)


def _write(axes, x, y, text, colour):
    dark = numpy.dot(colour[:3], (0.299, 0.587, 0.114)) < 0.5
    axes.text(x, y, text, ha="center", va="center", fontsize=style.points(8), color="white" if dark else "black", zorder=5)
