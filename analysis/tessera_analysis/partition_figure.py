"""A partition drawn on its graph: nodes in layers from left to right, coloured by the device that computes them. A graph that is long is
drawn in rows, as a text is."""

import math

import matplotlib.pyplot as pyplot
import numpy
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from . import layers, style
from .file import cannot_read

# Neighbouring devices differ; their numbers stand beside them.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#332288", "#999933")
WITHIN, BETWEEN = "#A8A8A8", "#101010"
WIDTH, HEIGHT = 12.0, 9.0  # inches: of the drawing, and what its rows take together at most, unless one alone takes more
WIDEST = 0.4  # inches from layer to layer
ABOVE = 1.6  # lanes between rows, where the numbers of devices stand


def draw(results):
    placed = results.partition
    if placed is None:
        return None
    try:
        return draw_graph(*placed, f"The graph by device: {results.title}")
    except ValueError as error:
        raise cannot_read(results.path, f"tables /partition and /graph_edges are damaged: {error}") from None


def draw_graph(nodes, edges, heading):
    """`nodes` and `edges` as the tables /partition and /graph_edges."""
    first = nodes.drop_duplicates("node").set_index("node")
    number_of = {node: number for number, node in enumerate(first.index)}
    drawing = layers.draw(len(first), [(number_of[a], number_of[b]) for a, b in zip(edges["from"], edges["to"])])
    width, _ = style.size(WIDTH, HEIGHT)
    rows = _Rows(drawing, width)
    figure, axes = pyplot.subplots(figsize=(width, rows.scale * rows.lanes + 1.3), layout="constrained")
    style.title(figure, heading)
    devices = first["device"].to_numpy()
    _draw_edges(axes, rows, drawing, devices)
    _draw_nodes(axes, rows, drawing, first)
    _name_devices(axes, rows, drawing, devices)
    axes.set_xlim(-1, rows.length)
    axes.set_ylim(rows.lanes, 0)
    axes.set_aspect("equal")
    axes.axis("off")
    _legend(axes, len(nodes) > len(first))
    return figure


class _Rows:
    """Where layers stand when a long drawing is cut into rows: as many as fit below one another."""

    def __init__(self, drawing, width=WIDTH):
        self.drawing = drawing
        self.layers = max(drawing.layer, default=0) + 1
        low, high = self._extents()
        best = None
        for rows in range(1, self.layers + 1):
            length = math.ceil(self.layers / rows)
            tops, lanes = self._stack(low, high, length)
            scale = min(WIDEST, width / (length + 1))
            if best is not None and lanes * scale > HEIGHT * width / WIDTH:
                break
            best = length, tops, lanes, scale
            if scale == WIDEST:
                break
        self.length, self.tops, self.lanes, self.scale = best

    def _extents(self):
        low, high = numpy.full(self.layers, math.inf), numpy.full(self.layers, -math.inf)
        def take(layer, height):
            low[layer], high[layer] = min(low[layer], height), max(high[layer], height)
        for layer, height in zip(self.drawing.layer, self.drawing.height):
            take(layer, height)
        for layer, start, end, *_ in self.drawing.pieces:
            take(layer, start)
            take(layer + 1, end)
        return low, high

    @staticmethod
    def _stack(low, high, length):
        """The middle of each row, and how many lanes all take."""
        tops, lanes = [], 0
        for begin in range(0, len(low), length):
            lanes += ABOVE - low[begin:begin + length].min()
            tops.append(lanes)
            lanes += high[begin:begin + length].max() + 0.5
        return tops, lanes

    def place(self, layer, height):
        row, column = divmod(layer, self.length)
        return column, self.tops[row] + height

    def pieces(self, layer, start, end):
        """One line, or two where the next layer is in the next row: out to the right, and in from the left."""
        a, b = self.place(layer, start), self.place(layer + 1, end)
        if b[0] > a[0]:
            return [(a, b)]
        return [(a, (a[0] + 0.6, a[1])), ((b[0] - 0.6, b[1]), b)]


def _draw_edges(axes, rows, drawing, devices):
    crossing = _crossing(drawing, devices)
    for colour, width, wanted in ((WITHIN, 0.5, False), (BETWEEN, 0.9, True)):
        lines = [line for piece, crosses in zip(drawing.pieces, crossing) if crosses == wanted for line in rows.pieces(*piece[:3])]
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=width, zorder=1 + wanted))


def _crossing(drawing, devices):
    """Of each piece whether something goes along it to another device. Readers of a node share its pieces, so that is told by how far
    the last one on another device stands."""
    onward = {}
    for layer, _, _, start, end in drawing.pieces:
        if end is not None and devices[start] != devices[end]:
            onward[start] = max(onward.get(start, -1), layer)
    return [devices[start] != devices[end] if end is not None else layer < onward.get(start, -1)
            for layer, _, _, start, end in drawing.pieces]


def _draw_nodes(axes, rows, drawing, nodes):
    places = numpy.array([rows.place(layer, height) for layer, height in zip(drawing.layer, drawing.height)])
    times = nodes["time_ps"].to_numpy(dtype=float)
    share = numpy.sqrt(times / times.max()) if times.max() > 0 else numpy.ones(len(times))
    diameters = 72 * rows.scale * (0.35 + 0.6 * share)  # points
    colours = [COLOURS[device % len(COLOURS)] for device in nodes["device"]]
    axes.scatter(places[:, 0], places[:, 1], s=diameters ** 2, c=colours, linewidths=0, zorder=3)


def _name_devices(axes, rows, drawing, devices):
    """Above the first node of each device in each row that is the highest of its layer, where there is room."""
    size = min(9.0, max(5.0, 72 * rows.scale * 0.9))
    highest = {}
    for layer, height in zip(drawing.layer, drawing.height):
        highest[layer] = min(height, highest.get(layer, height))
    named, taken = set(), {}
    for layer, height, device in sorted(zip(drawing.layer, drawing.height, devices)):
        row, column = divmod(layer, rows.length)
        if height > highest[layer] or (row, device) in named or column < taken.get(row, -math.inf):
            continue
        named.add((row, device))
        taken[row] = column + (0.65 * size * len(str(device)) + 2) / (72 * rows.scale)
        axes.annotate(str(device), rows.place(layer, height), xytext=(0, 36 * rows.scale + 1), textcoords="offset points", ha="center",
                      va="bottom", fontsize=size, fontweight="bold", color=COLOURS[device % len(COLOURS)])


def _legend(axes, replicated):
    handles = [Line2D([], [], color=WITHIN, linewidth=0.8, label="within a device"),
               Line2D([], [], color=BETWEEN, linewidth=1.2, label="from device to device")]
    text = "number and colour: the device; area: time of the node"
    if replicated:
        text += "; of a node that several devices compute, the first"
    axes.legend(handles=handles, title=text, loc="upper left", bbox_to_anchor=(0, 0), ncol=2, alignment="left")
