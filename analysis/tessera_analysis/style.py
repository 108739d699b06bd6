"""How all figures look. Colours are those of Okabe and Ito, which people with any colour vision can tell apart; greys
mean that nothing useful is done."""

import contextlib
import textwrap
import zlib

import matplotlib
import matplotlib.pyplot as pyplot
from matplotlib.ticker import FuncFormatter, MaxNLocator

ACTIVITY_COLOURS = {
    "forward": "#0072B2",
    "backward": "#56B4E9",
    "recomputation": "#CC79A7",
    "optimizer": "#009E73",
    "tensor_communication": "#E69F00",
    "data_communication": "#D55E00",
    "pipeline_communication": "#F0E442",
    "expert_communication": "#8B4513",
    "redistribution": "#AA4499",
    "other_communication": "#B8A070",
    "waiting": "#7A7A7A",
    "bubble": "#B0B0B0",
    "idle": "#E4E4E4",
}
CATEGORY_COLOURS = {
    "weights": "#0072B2",
    "gradients": "#56B4E9",
    "optimizer_state": "#009E73",
    "activations": "#E69F00",
    "kv_cache": "#CC79A7",
    "buffers": "#B0B0B0",
}
OTHER_COLOURS = ["#332288", "#117733", "#999933", "#882255", "#DDCC77", "#44AA99"]


def colours(names, known):
    """A colour for every name. One that a strategy brings has the same in every figure, but where two would share it."""
    chosen = {}
    for name in names:
        first = zlib.crc32(name.encode()) % len(OTHER_COLOURS)
        spare = OTHER_COLOURS[first:] + OTHER_COLOURS[:first]
        free = [colour for colour in spare if colour not in chosen.values()]
        chosen[name] = known.get(name) or (free or spare)[0]
    return chosen


def spaced(name):
    return name.replace("_", " ")


@contextlib.contextmanager
def styled():
    """Settings of all figures, for the time of a with block."""
    settings = {
        "figure.dpi": 120,
        "savefig.dpi": 150,
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#606060",
        "axes.labelcolor": "#303030",
        "xtick.color": "#606060",
        "ytick.color": "#606060",
        "legend.frameon": False,
        "figure.facecolor": "white",
        "svg.hashsalt": "tessera",
    }
    with matplotlib.rc_context(settings):
        yield


def heading(figure, results, what):
    """One bold line above everything: what is shown, of which run."""
    title(figure, f"{what}: {results.title}")


TITLE_LETTERS = 9  # of an average width, an inch


def title(figure, text):
    """In as many lines as the figure's width asks for."""
    lines = textwrap.fill(text, int(TITLE_LETTERS * figure.get_figwidth()))
    figure.suptitle(lines, x=0.01, ha="left", fontsize=12, fontweight="bold")


def time_unit(longest_ps):
    """(unit, picoseconds in it) in which a time reads well."""
    for unit, size in (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)):
        if longest_ps >= size:
            return unit, size
    return "ps", 1.0


def quantity(value, unit):
    """1.23e12 B -> 1.23 TB"""
    for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def percent_axis(axis):
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g} %"))


def device_axis(axes):
    axes.set_xlabel("device")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))


def stack(axes, x, layers, colour_of, bars):
    """Layers on top of one another over x: bars where there is room for them, a stepped area elsewhere. Layers of zeros
    are left out. Returns legend handles, top first."""
    base = 0 * x.astype(float)
    handles = []
    for name, values in layers:
        if not values.any():
            continue
        if bars:
            axes.bar(x, values, bottom=base, width=0.86, color=colour_of[name], linewidth=0)
        else:
            axes.fill_between(x, base, base + values, step="mid", color=colour_of[name], linewidth=0)
        handles.append(pyplot.Rectangle((0, 0), 1, 1, color=colour_of[name], label=spaced(name)))
        base = base + values
    return handles[::-1]
