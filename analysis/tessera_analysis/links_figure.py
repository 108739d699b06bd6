"""How much of the time links are sending: on the dies of a mesh, or node by node. Left out where all links of each class do the same,
which /links and the printed summary say in a number."""

import re

import matplotlib.pyplot as pyplot
import numpy
from matplotlib.collections import LineCollection

from . import style

LEAST_SPREAD = 0.05  # of the greatest use in its class: links that differ by less are alike
MOST_MARKS = 200  # nodes with a mark for each link
MOST_NAMES = 16  # nodes that have their name at the axis
PLACE = re.compile(r"\((\d+),(\d+)\)(?: of \D+ (\d+))?$")  # "die (3,1)", "die (3,1) of wafer 2"
GAP = 1  # columns between meshes that are drawn side by side
BESIDE, DIE = 0.08, 0.34  # of the way from die to die: from the middle to each direction of a link, and the side of a die


def draw(results):
    links = results.links
    by_class = {name: links[links["link_class"] == name] for name in sorted(links["link_class"].unique())}
    telling = {name: rows for name, rows in by_class.items() if _differ(rows)}
    if not telling:
        return None
    places = {name: _places(rows, results.node_names) for name, rows in telling.items()}
    heights = [_height(places[name]) for name in telling]
    figure, panels = pyplot.subplots(len(telling), 1, figsize=style.size(9, sum(heights) + 0.8), squeeze=False, height_ratios=heights,
                                     layout="constrained")
    style.heading(figure, results, "Use of the links")
    for axes, (name, rows) in zip(panels[:, 0], telling.items()):
        _draw_map(axes, rows, places[name]) if places[name] else _draw_nodes(axes, rows, results.node_names)
        axes.set_title(style.folded(f"{name}: {_in_words(rows)}", figure, 10.5), fontsize=style.points(10))
    alike = [f"{name}: {_in_words(rows)}" for name, rows in by_class.items() if name not in telling]
    if alike:
        style.note(figure, "alike " + "\nalike ".join(alike))
    return figure


def _differ(rows):
    use = rows["utilisation"]
    return use.max() > 0 and use.max() - use.min() >= LEAST_SPREAD * use.max()


def _in_words(rows):
    use = 100 * rows["utilisation"]
    share = f"{use.min():.3g} to {use.max():.3g} % of the time" if _differ(rows) else f"{use.mean():.3g} % of the time each"
    queue = rows["peak_queue"].max()
    return f"{len(rows):,} links, {share}, {style.quantity(rows['bytes'].sum(), 'B')}" + (
        f", at most {style.quantity(queue, 'B')} queued" if queue else "")


def _places(rows, names):
    """Column and row of each node on the mesh, by its number, of several meshes side by side; nothing where the nodes are on none."""
    found = {}
    for node in set(rows["from"]) | set(rows["to"]):
        match = PLACE.search(names[node]) if node < len(names) else None
        if not match:
            return {}
        found[node] = int(match[1]), int(match[2]), int(match[3] or 0)
    xs, ys, meshes = numpy.array(list(found.values())).T
    places = dict(zip(found, zip(side_by_side(xs, meshes).tolist(), ys.tolist())))
    return places if len(set(places.values())) == len(places) else {}


def side_by_side(columns, meshes):
    """Columns of dies, each mesh to the right of the one before it."""
    return columns + (meshes - meshes.min()) * (columns.max() + 1 + GAP)


def _height(places):
    """Inches of a panel: of a map, so many that its dies are about square."""
    if not places:
        return 2.6
    across, down = (1 + max(place[i] for place in places.values()) for i in (0, 1))
    return min(8.0, max(1.6, 7.2 * down / across))


def _draw_map(axes, rows, places):
    reach = reach_of(places.values())
    lines = [line_between(places[a], places[b], reach) for a, b in zip(rows["from"], rows["to"])]
    across, down = (1 + max(place[i] for place in places.values()) for i in (0, 1))
    width = axes.figure.get_figwidth() / 9 * max(0.6, min(5.0, 40 / max(across, 2 * down)))
    drawn = LineCollection(lines, linewidths=width, cmap="viridis_r", capstyle="butt", zorder=2)
    drawn.set_array(100 * rows["utilisation"].to_numpy())
    drawn.set_clim(0, 100 * rows["utilisation"].max())
    axes.add_collection(drawn)
    for x, y in places.values():
        axes.add_patch(pyplot.Rectangle((x - DIE / 2, y - DIE / 2), DIE, DIE, facecolor="#E4E4E4", edgecolor="#909090", linewidth=0.5, zorder=3))
    axes.set_xlim(-0.8, across - 0.2)
    axes.set_ylim(down - 0.2, -0.8)
    axes.set_aspect("equal")
    for axis, count in ((axes.xaxis, across), (axes.yaxis, down)):
        axis.set_ticks(range(0, count, 1 + count // MOST_NAMES))
    axes.set_xlabel("column of the die")
    axes.set_ylabel("row")
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.6 if style.is_narrow(axes.figure) else 0.9, pad=0.02)
    bar.set_label("time in use")
    style.percent_axis(bar.ax.yaxis)


def reach_of(places):
    """Columns that a link passes at most which does not go around the edge of a torus: to the mesh beside it where there are several."""
    columns = {x for x, _ in places}
    return 1 if len(columns) == max(columns) + 1 else 1 + GAP


def line_between(start, end, reach):
    """From die to die, on the right of the way; a link around the edge of a torus is a stub that leaves the mesh."""
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    if abs(dx) > reach or abs(dy) > 1:
        dx, dy = -0.55 * numpy.sign(dx), -0.55 * numpy.sign(dy)
    length = max(1e-9, (dx * dx + dy * dy) ** 0.5)
    side = (-BESIDE * dy / length, BESIDE * dx / length)
    return [(x + side[0], y + side[1]), (x + dx + side[0], y + dy + side[1])]


def _draw_nodes(axes, rows, names):
    """The links that go out from each node."""
    nodes = sorted(rows["from"].unique())
    at = {node: place for place, node in enumerate(nodes)}
    xs, use = rows["from"].map(at).to_numpy(), 100 * rows["utilisation"].to_numpy()
    least, most = numpy.full(len(nodes), numpy.inf), numpy.zeros(len(nodes))
    numpy.minimum.at(least, xs, use)
    numpy.maximum.at(most, xs, use)
    if len(nodes) <= MOST_MARKS:
        axes.vlines(range(len(nodes)), least, most, color="#56B4E9", linewidth=2)
        axes.plot(xs, use, "o", color="#0072B2", markersize=4.5 if len(nodes) <= 64 else 2.5, clip_on=False)
    else:
        axes.fill_between(range(len(nodes)), least, most, step="mid", color="#0072B2", linewidth=1)
    shown = range(len(nodes)) if len(nodes) <= MOST_NAMES else numpy.unique(numpy.linspace(0, len(nodes) - 1, 4 if style.is_narrow(axes.figure) else 8).astype(int))
    axes.set_xticks(list(shown), [names[nodes[place]] if nodes[place] < len(names) else f"{nodes[place]}" for place in shown],
                    fontsize=style.points(8))
    if len(shown) > 8:
        axes.tick_params(axis="x", rotation=30)
    axes.set_xlim(-0.7, len(nodes) - 0.3)
    axes.set_ylim(0, min(105, 1.15 * most.max()))
    axes.set_ylabel("time in use")
    style.percent_axis(axes.yaxis)
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlabel("node that sends: a mark a link")
