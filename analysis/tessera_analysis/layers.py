"""A layered drawing of a directed graph without cycles, of up to some ten thousand nodes: where each node stands, and the ways of its
edges. A layer is a column; nodes stand right of all that they read."""

from typing import NamedTuple

import numpy

SWEEPS = 8


class Drawing(NamedTuple):
    layer: list  # by node
    height: list  # by node, in lanes; 0 is the middle
    pieces: list  # of edges, one from each layer to the next: (layer, height there, height in the next one, from, to)


def draw(nodes, edges):
    """`edges`: pairs of node numbers below `nodes`. ValueError for a cycle, or a number that is no node's."""
    reads, readers = _neighbours(nodes, edges)
    layer = _layers(reads, readers)
    columns, before, piece_of = _columns(layer, readers)
    heights = _heights(columns, before)
    pieces = [(layer_of, heights[a], heights[b], *ends) for layer_of, a, b, ends in piece_of]
    return Drawing(layer, heights[:nodes].tolist(), pieces)


def _neighbours(nodes, edges):
    reads, readers = [[] for _ in range(nodes)], [[] for _ in range(nodes)]
    for start, end in edges:
        if not (0 <= start < nodes and 0 <= end < nodes):
            raise ValueError(f"an edge from node {start} to node {end} of {nodes}")
        reads[end].append(start)
        readers[start].append(end)
    return reads, readers


def _layers(reads, readers):
    """The longest way to each node, parts of the graph that nothing connects one behind the other. What is made of nothing else
    for a single reader stands right before that one."""
    order = _order(reads, readers)
    layer = [0] * len(reads)
    for node in order:
        layer[node] = max((layer[each] + 1 for each in reads[node]), default=0)
    loose = [False] * len(reads)
    for node in order:
        loose[node] = len(set(readers[node])) == 1 and (not reads[node] or (len(set(reads[node])) == 1 and loose[reads[node][0]]))
    for node in reversed(order):
        if loose[node]:
            layer[node] = layer[readers[node][0]] - 1
    return _one_behind_the_other(layer, reads, order)


def _order(reads, readers):
    """Every node behind what it reads."""
    waits = [len(each) for each in reads]
    order = [node for node, count in enumerate(waits) if count == 0]
    for node in order:
        for reader in readers[node]:
            waits[reader] -= 1
            if waits[reader] == 0:
                order.append(reader)
    if len(order) < len(reads):
        raise ValueError("the graph has a cycle")
    return order


def _one_behind_the_other(layer, reads, order):
    part = list(range(len(layer)))  # the least node of each part, or one that leads there
    def least(node):
        while part[node] != node:
            part[node] = part[part[node]]
            node = part[node]
        return node
    for node in order:
        for each in reads[node]:
            one, other = sorted((least(node), least(each)))
            part[other] = one
    first, last = {}, {}
    for node, at in enumerate(layer):
        first[least(node)], last[least(node)] = min(at, first.get(least(node), at)), max(at, last.get(least(node), at))
    shift, begin = {}, 0
    for each in sorted(first):
        shift[each] = begin - first[each]
        begin += last[each] - first[each] + 2  # a layer between them stays empty
    return [at + shift[least(node)] for node, at in enumerate(layer)]


def _columns(layer, readers):
    """What stands in each layer: nodes, and for each node that is read further on a place in every layer until there, which all its
    readers share. Returns the columns; what each place hangs on, to the left; and the pieces of edges between places."""
    columns = [[] for _ in range(max(layer, default=-1) + 1)]
    for node in sorted(range(len(layer)), key=lambda node: (layer[node], node)):
        columns[layer[node]].append(node)
    before = [[] for _ in layer]
    pieces = []
    for node, each in enumerate(readers):
        at, places = layer[node], {layer[node]: node}
        for reader in sorted(set(each), key=lambda reader: layer[reader]):
            for column in range(at + 1, layer[reader]):
                if column in places:
                    continue
                places[column] = len(before)
                before.append([places[column - 1]])
                columns[column].append(places[column])
                pieces.append((column - 1, places[column - 1], places[column], (node, None)))
            before[reader].append(places[layer[reader] - 1])
            pieces.append((layer[reader] - 1, places[layer[reader] - 1], reader, (node, reader)))
    return columns, before, pieces


def _heights(columns, before):
    """Each place near the mean of those that it hangs together with, at least one lane apart from the next in its layer."""
    behind = [[] for _ in before]
    for place, each in enumerate(before):
        for other in each:
            behind[other].append(place)
    heights = numpy.zeros(len(before))
    for column in columns:
        heights[column] = numpy.arange(len(column)) - (len(column) - 1) / 2
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for column in filter(None, columns if forward else columns[::-1]):
            near = before if forward else behind
            wanted = numpy.array([heights[near[place]].mean() if near[place] else heights[place] for place in column])
            order = numpy.argsort(wanted, kind="stable")
            heights[numpy.array(column)[order]] = _apart(wanted[order])
    return _levelled(heights, columns)


def _levelled(heights, columns):
    """Without the slope that small steps from block to block add up to."""
    at = [number for number, column in enumerate(columns) if column]
    if len(at) < 2:
        return heights
    middles = [(heights[columns[number]].min() + heights[columns[number]].max()) / 2 for number in at]
    slope, start = numpy.polyfit(at, middles, 1)
    for number in at:
        heights[columns[number]] -= start + slope * number
    return heights


def _apart(wanted):
    """The ascending heights nearest to those that are wanted, in the mean square, with a lane between neighbours: what blocks of
    neighbours that would be too close want together is the mean of what each wants."""
    blocks = []  # (mean, count) of what is wanted less the number of lanes below
    for number, height in enumerate(wanted):
        mean, count = height - number, 1
        while blocks and blocks[-1][0] >= mean:
            other, others = blocks.pop()
            mean, count = (mean * count + other * others) / (count + others), count + others
        blocks.append((mean, count))
    return numpy.concatenate([numpy.full(count, mean) for mean, count in blocks]) + numpy.arange(len(wanted))
