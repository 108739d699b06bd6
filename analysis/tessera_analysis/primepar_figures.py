"""The figures of Wang et al., "PrimePar" (ASPLOS 2024), in the slides' form. Values come from scripts/studies/_primepar."""

import matplotlib.pyplot as pyplot
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from . import style
from .bars import Chart, handles

LOOKS = {"a": {"facecolor": "#B0B0B0"}, "b": {"facecolor": "#E69F00"}, "c": {"facecolor": "#56B4E9", "hatch": "////"}, "primepar": {"facecolor": "#0072B2"}}
NAMES = {"a": "(a) tensor parallel in nodes", "b": "(b) best TP x DP", "c": "(c) searched without P", "primepar": "PrimePar"}
LANES = {"computing": "#0072B2", "ring": "#009E73", "all-reduce inside nodes": "#E69F00", "all-reduce across nodes": "#D55E00", "redistribution": "#CC79A7"}
LANE_NAMES = {"ring": "ring transfers"}


def legend(axes, names):
    axes.legend(handles=[handle for handle in handles(LOOKS, names)], labels=list(names.values()), loc="lower left", bbox_to_anchor=(0, 1.0), ncol=len(names),
                handlelength=1.4, columnspacing=1.6, borderaxespad=0.2)


BAND = {"color": "#F0E442", "alpha": 0.35, "linewidth": 0}  # the slides' range


def throughput(rows, bounds):
    """Rows of throughput over baseline (a), by model and GPUs; between the bounds lies the slides' range."""
    figure, axes = pyplot.subplots(figsize=(12, 4.2), layout="constrained")
    style.title(figure, "Training throughput, of baseline (a)")
    chart = Chart(axes, rows, LOOKS)
    axes.axhspan(*bounds, **BAND)
    chart.beside([(name,) for name in NAMES])
    chart.name_rows()
    axes.axhline(1, color="#303030", linewidth=0.8)
    axes.set_ylabel("throughput over (a)\n(yellow: the slides' range)")
    legend(axes, NAMES)
    return figure


def memory(rows, bounds):
    """Rows of peak memory over baseline (a)'s; between the bounds lies the slides' range."""
    figure, axes = pyplot.subplots(figsize=(12, 3.4), layout="constrained")
    style.title(figure, "Peak memory, of baseline (a)")
    chart = Chart(axes, rows, LOOKS)
    axes.axhspan(*bounds, **BAND)
    chart.beside([("primepar",)])
    chart.name_rows()
    for x, row in zip(chart.xs, rows):
        chart.note(x, row.values["primepar"], f"{100 * row.values['primepar']:.0f}")
    axes.set_ylim(0, 1.15 * max(row.values["primepar"] for row in rows))
    axes.set_ylabel("peak memory over (a)\n(yellow: the slides' range)")
    return figure


def prediction(pairs):
    """Predicted and simulated seconds of plans."""
    figure, axes = pyplot.subplots(figsize=(6.6, 5.4), layout="constrained")
    style.title(figure, f"Iteration time of {len(pairs)} random plans,\npredicted by the search's costs and simulated")
    low, high = min(map(min, pairs)), max(map(max, pairs))
    axes.plot([low, high], [low, high], color="#303030", linewidth=0.8)
    axes.fill_between([low, high], [0.95 * low, 0.95 * high], [1.05 * low, 1.05 * high], color="#F0E442", alpha=0.5, linewidth=0, label="within 5 % of each other")
    axes.scatter(*zip(*pairs), s=12, color="#0072B2", label="a plan")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("predicted, s")
    axes.set_ylabel("simulated, s")
    axes.legend(loc="upper left")
    return figure


def timelines(plans, transfers):
    """(label, begin, end) of what GPU 0 does in each plan, in lanes as the slides draw them; of some plans (begin, end) of the ring
    transfers that come to it meanwhile."""
    figure, panels = pyplot.subplots(len(plans), 1, figsize=(12, 2.7 * len(plans) + 0.6), sharex=True, squeeze=False, layout="constrained")
    style.title(figure, "The MLP of OPT-175B, GPU 0 of 8: forward and backward")
    lanes = list(LANES)
    for axes, (name, intervals) in zip(panels[:, 0], plans.items()):
        for begin, end in transfers.get(name, ()):
            lane_bar(axes, "ring", begin, end)
        for label, begin, end in intervals:
            lane = lane_of(label, name)
            lane_bar(axes, lane, begin, end, "" if lane == "ring" else brief(label))
        axes.set_yticks(range(len(lanes)), [LANE_NAMES.get(lane, lane) for lane in lanes], fontsize=10)
        axes.set_ylim(len(lanes) - 0.5, -0.5)
        axes.set_title(name, loc="left", fontsize=11)
    panels[-1, 0].set_xlabel("ms")
    return figure


def brief(label):
    """"fc2 wgrad" as the slides have it, below each other."""
    return label.removesuffix(" all-reduce").replace("dgrad", "dI").replace("wgrad", "dW").replace(" ", "\n")


def lane_bar(axes, lane, begin, end, text=""):
    """Seconds; the text where it has room."""
    place = list(LANES).index(lane)
    axes.barh(place, 1e3 * (end - begin), left=1e3 * begin, height=0.72, color=LANES[lane], edgecolor="white", linewidth=0.4)
    if 1e3 * (end - begin) > 3.4 * max(map(len, text.split("\n"))):
        axes.text(500 * (begin + end), place, text, ha="center", va="center", fontsize=9, linespacing=1, color="white")


def lane_of(label, name):
    """Weight gradients are summed across nodes by the baseline, outputs by PrimePar."""
    if label.endswith(" all-reduce"):
        return "all-reduce across nodes" if " dW " in label or name == "PrimePar" else "all-reduce inside nodes"
    return "ring" if label.endswith(" ring") else "redistribution" if " to " in label else "computing"


PHASES = {"forward": "O{m}{k} += I{m}{n} W{n}{k}", "backward": "dI{m}{n} += dO{m}{k} W{n}{k}ᵀ", "gradient": "dW{n}{k} += I{m}{n}ᵀ dO{m}{k}"}
SUMMED = {"forward": "n", "backward": "k", "gradient": "m"}  # the slice that differs from step to step
TILE_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#0072B2", "#999999")


def square_slices(phase, row, column, step, side):
    """Slices m, n, k that device (row, column) of a P works on (slides: forward, backward and gradient DSIs)."""
    delta = int(step == side - 1)
    m, n, k = {"forward": (row, row + column + step, column), "backward": (row, row + column - 1, column + step),
               "gradient": (row + step, row + column - 1 + delta, column - 1 + delta)}[phase]
    return {"m": m % side, "n": n % side, "k": k % side}


def slices_of(partition, device, phase, step):
    """Slices m, n, k of a partition's device, such as [2, "N"] for {P(4x4), N}: a P of 2^k x 2^k is its k. Of several P the last one's steps are the fastest."""
    bits = bits_of(partition)
    steps_behind = steps_of(partition)
    found = {"m": 0, "n": 0, "k": 0}
    for part in partition:
        if isinstance(part, int):
            bits, side = bits - 2 * part, 2**part
            steps_behind //= side
            square = device >> bits & (side * side - 1)
            for name, slice in square_slices(phase, square // side, square % side, step // steps_behind % side, side).items():
                found[name] = side * found[name] + slice
        else:
            bits -= 1
            found[part.lower()] = 2 * found[part.lower()] + (device >> bits & 1)
    return found


def bits_of(partition):
    """Of the device's number that it uses up."""
    return sum(2 * part if isinstance(part, int) else 1 for part in partition)


def steps_of(partition):
    return 2 ** sum(part for part in partition if isinstance(part, int))


def places(partition):
    """Column and row of each device: squares beside each other, those of the first P as they are."""
    first = next(i for i, part in enumerate(partition) if isinstance(part, int))
    side, below = 2 ** partition[first], bits_of(partition[first + 1:])
    found = []
    for device in range(2 ** bits_of(partition)):
        square = device >> below & (side * side - 1)
        group = (device >> below) // (side * side) * 2**below + device % 2**below
        found.append((group * (side + 0.4) + square % side, square // side))
    return found


def below_each_other(product):
    """"dW00 += I00ᵀ dO00" in three lines."""
    return product.replace(" += ", "\n+= ").replace("ᵀ ", "ᵀ\n").replace(" W", "\nW")


def tiles(partition):
    """What each device multiplies in each step of each phase; `partition` as for slices_of(), with a P in it."""
    steps, where = steps_of(partition), places(partition)
    width, height = (1 + max(place[i] for place in where) for i in (0, 1))
    figure, panels = pyplot.subplots(len(PHASES), steps, figsize=(1.05 * width * steps, 1.0 * height * len(PHASES) + 0.6), layout="constrained")
    text_of = ", ".join(f"P({2**part}x{2**part})" if isinstance(part, int) else part for part in partition)
    style.title(figure, f"{{{text_of}}}: colour by the slice that goes from step to step")
    for (phase, text), row_of_panels in zip(PHASES.items(), panels):
        for step, axes in enumerate(row_of_panels):
            for device, (column, row) in enumerate(where):
                slices = slices_of(partition, device, phase, step)
                axes.add_patch(pyplot.Rectangle((column, row), 1, 1, facecolor=TILE_COLOURS[slices[SUMMED[phase]] % len(TILE_COLOURS)], edgecolor="white", alpha=0.6))
                axes.text(column + 0.5, row + 0.5, below_each_other(text.format(**slices)), ha="center", va="center", fontsize=11)
            axes.set_xlim(0, width)
            axes.set_ylim(height, 0)
            axes.set_aspect("equal")
            axes.set_axis_off()
            axes.set_title(f"{phase}, t = {step}", fontsize=12)
    return figure
