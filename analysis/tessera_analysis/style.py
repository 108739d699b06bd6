"""How all figures look. Colours are those of Okabe and Ito, which people with any colour vision can tell apart; greys
mean that nothing useful is done."""

import contextlib
import contextvars
import textwrap
import zlib
from typing import NamedTuple, Optional

import matplotlib
import matplotlib.pyplot as pyplot
import numpy
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

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


class Look(NamedTuple):
    """What the asker wants of a figure."""

    width: Optional[float] = None  # inches; without it each figure has its own
    titled: bool = True  # whether the bold line above everything is there


_look = contextvars.ContextVar("look", default=Look())
LETTERS = 10.0  # points, of figures that are as wide as they like
LEAST_LETTERS = 7.0
NARROW = 6.0  # inches: below it legends stand under what they explain, not beside it


def sentence(words):
    """With a capital letter in front."""
    return words[:1].upper() + words[1:]


@contextlib.contextmanager
def styled(look=Look()):
    """Settings of all figures, for the time of a with block."""
    # What is narrower than a page has somewhat smaller letters, as captions have.
    letters = LETTERS if look.width is None else min(LETTERS, max(LEAST_LETTERS, 5.5 + 0.6 * look.width))
    settings = {
        "figure.dpi": 120,
        "savefig.dpi": 150,
        "font.size": letters,
        "axes.titlesize": 1.1 * letters,
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
        # TrueType: publishers refuse the outlines of Type 3.
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
    }
    before = _look.set(look)
    try:
        with matplotlib.rc_context(settings):
            yield
    finally:
        _look.reset(before)


def size(width, height):
    """Inches of a figure that would be so large if nobody asked for a width; narrower ones get lower, but less so."""
    wanted = _look.get().width
    return (width, height) if wanted is None else (wanted, height * max(0.62, min(1.0, wanted / width)))


def points(size):
    """Of letters that are `size` points high in figures of their own width."""
    return size * matplotlib.rcParams["font.size"] / LETTERS


def is_narrow(figure):
    return figure.get_figwidth() < NARROW


def legend(axes, handles, below=34, top=False):
    """Right of the axes, or where the figure is narrow under them: `below` points, past their ticks and label."""
    if is_narrow(axes.figure):
        under = axes.transAxes + ScaledTranslation(0, -points(below) / 72, axes.figure.dpi_scale_trans)
        under = blended_transform_factory(axes.figure.transFigure, under)
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.02, 0), bbox_transform=under, ncol=2, borderaxespad=0,
                    handlelength=1.2, columnspacing=1.2)
    else:
        axes.legend(handles=handles, loc="upper left" if top else "center left", bbox_to_anchor=(1.01, 1.0 if top else 0.5))


def heading(figure, results, what):
    """One bold line above everything: what is shown, of which run."""
    title(figure, f"{what}: {results.title}")


TITLE_LETTERS = 9  # of an average width, an inch


def title(figure, text):
    """In as many lines as the figure's width asks for."""
    if _look.get().titled:
        lines = folded(text, figure, TITLE_LETTERS)
        figure.suptitle(lines, x=0.01, ha="left", fontsize=points(12), fontweight="bold")


NOTE_LETTERS = 13.5


def note(figure, text):
    """Below everything, in small letters."""
    figure.supxlabel(folded(text, figure, NOTE_LETTERS), x=0.01, ha="left", fontsize=points(9), color="#404040")


def folded(text, figure, letters):
    """Lines of at most so many letters an inch of the figure's width, which are of the usual size."""
    wide = int(letters * figure.get_figwidth() * LETTERS / matplotlib.rcParams["font.size"])
    return plain("\n".join(textwrap.fill(line, wide) for line in text.split("\n")))


def plain(text):
    """Names in a file are whatever somebody wrote, and no formulas."""
    return text.replace("$", r"\$")


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


LEAST_SEEN = 0.001  # of the highest stack: what is thinner nowhere, or differs by less, is no more than a line


def stack(axes, x, layers, colour_of, bars):
    """Layers on top of one another over x: bars where there is room for them, a stepped area elsewhere; neighbours that are alike
    share a bar. Layers that nobody could see are left out. Returns legend handles, top first."""
    values = numpy.array([each for _, each in layers], dtype=float)
    least = LEAST_SEEN * values.sum(axis=0).max() if values.size else 0
    runs = _runs(x, values, least) if bars else []
    base = numpy.zeros(len(x))
    handles = []
    for (name, _), mine in zip(layers, values):
        if mine.max(initial=0) > least:
            for begin, end in runs:
                width = x[end] - x[begin] + 0.86
                axes.bar(x[begin] - 0.43, mine[begin], bottom=base[begin], width=width, align="edge", color=colour_of[name], linewidth=0)
            if not bars:
                axes.fill_between(x, base, base + mine, step="mid", color=colour_of[name], linewidth=0)
            handles.append(pyplot.Rectangle((0, 0), 1, 1, color=colour_of[name], label=spaced(name)))
        base = base + mine
    return handles[::-1]


def _runs(x, values, least):
    """(first, last) of neighbours at consecutive x whose values are those of the first."""
    runs = []
    for at in range(len(x)):
        if runs:
            begin, end = runs[-1]
            if x[at] == x[end] + 1 and numpy.abs(values[:, at] - values[:, begin]).max() <= least:
                runs[-1] = begin, at
                continue
        runs.append((at, at))
    return runs
