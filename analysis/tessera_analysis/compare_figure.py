"""Two runs as a picture: from the time of one to that of the other, activity by activity; their collectives and links."""

import os

import matplotlib.pyplot as pyplot
import numpy

from . import style

MOST_COLLECTIVES = 8
LEAST_SHARE = 0.002  # of the longer run: activities that differ by less are one bar
LEAST_BAR = 0.004  # of the longest bar: collectives of which no bar could be seen are left out
LEAST_ROWS = 4  # that the axes of bars have room for, so that one bar is not as high as the picture
MORE, LESS, WHOLE = "#D55E00", "#009E73", "#606060"
A, B = "#0072B2", "#E69F00"


def draw(comparison):
    collectives, links = _collectives(comparison), comparison.links
    below = 1.2 + 0.5 * max(len(collectives), len(links), LEAST_ROWS)
    figure = pyplot.figure(figsize=style.size(13, 5 + below), layout="constrained")
    narrow = style.is_narrow(figure)
    if narrow:
        figure.set_figheight(3.2 + 1.4 * below)
    a, b = (f"{results.summary['title']} ({os.path.basename(results.path)})" for results in (comparison.a, comparison.b))
    style.title(figure, f"a: {a}\nb: {b}")
    upper, lower = figure.subfigures(2, 1, height_ratios=[3.2, 1.4 * below] if narrow else [5, below])
    _waterfall(upper.subplots(), comparison, narrow)
    left, right = lower.subplots(*((2, 1) if narrow else (1, 2)))
    _pairs(left, collectives, *style.time_unit(max(comparison.times)), narrow)
    _links(right, links, narrow)
    return figure


def _steps(comparison):
    """(name, difference) of each activity that matters, in the order of activities, and of all others as one: together they are the
    difference of the iteration times."""
    least = LEAST_SHARE * max(comparison.times)
    differences = comparison.activities["difference"]
    steps = [(style.spaced(name), value) for name, value in differences.items() if abs(value) >= least]
    others = sum(1 for value in differences if 0 < abs(value) < least)
    if others:
        steps.append((f"{others} other{'s' if others > 1 else ''}", comparison.times[1] - comparison.times[0] - sum(value for _, value in steps)))
    return steps


def _waterfall(axes, comparison, narrow):
    turned = {"ha": "center", "rotation": 90 if narrow else 0}
    (a, b), (unit, size) = comparison.times, style.time_unit(max(comparison.times))
    steps = _steps(comparison)
    names = ["a", *(name for name, _ in steps), "b"]
    level = highest = a
    axes.bar(0, a / size, color=WHOLE)
    axes.bar(len(steps) + 1, b / size, color=WHOLE)
    for at, (_, value) in enumerate(steps, 1):
        axes.bar(at, value / size, bottom=level / size, color=MORE if value > 0 else LESS)
        axes.plot([at - 1.4, at + 0.4], [level / size, level / size], color="#909090", linewidth=0.8)
        top = max(level, level + value) / size
        axes.annotate(f"{value / size:+.3g}", (at, top), xytext=(0, 3), textcoords="offset points", fontsize=style.points(9), **turned)
        level += value
        highest = max(highest, level)
    for at, value in ((0, a), (len(steps) + 1, b)):
        axes.annotate(f"{value / size:.4g}", (at, value / size), xytext=(0, 3), textcoords="offset points", fontsize=style.points(9), **turned)
    axes.set_xticks(range(len(names)), names if narrow else [name.replace(" ", "\n") for name in names], fontsize=style.points(8.5),
                    rotation=turned["rotation"])
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(f"time in {unit}")
    axes.set_ylim(0, (1.3 if narrow else 1.1) * max(highest, b) / size)
    axes.set_title("Iteration time, by activity" if narrow else "Iteration time, and by how much a device is longer in each activity (mean of the devices)")


def _collectives(comparison):
    frame = comparison.collectives
    frame = frame[frame[["a", "b"]].max(axis=1) > LEAST_BAR * frame[["a", "b"]].to_numpy().max(initial=0)]
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable").index[:MOST_COLLECTIVES]
    return frame.loc[order]


def _pairs(axes, frame, unit, size, narrow, title="Collectives of a device, without waiting"):
    axes.set_title(title.partition(",")[0] if narrow else title)
    if frame.empty:
        axes.axis("off")
        axes.text(0, 0.5, "none", transform=axes.transAxes)
        return
    at = numpy.arange(len(frame))
    axes.barh(at - 0.2, frame["a"] / size, height=0.38, color=A, label="a")
    axes.barh(at + 0.2, frame["b"] / size, height=0.38, color=B, label="b")
    axes.set_yticks(at, [style.spaced(name)[:48] for name in frame.index])
    axes.set_ylim(max(len(frame), LEAST_ROWS) - 0.4, -0.6)
    axes.set_xlabel(f"time in {unit}" if unit else "")
    axes.legend(loc="lower right", ncol=1 if len(frame) < LEAST_ROWS else 2) if narrow else axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncol=2)


def _links(axes, links, narrow):
    frame = links[["mean_use_a", "mean_use_b"]].rename(columns={"mean_use_a": "a", "mean_use_b": "b"})
    _pairs(axes, frame, "", 0.01, narrow, "Links in use, mean share of the time")
    if not frame.empty:
        style.percent_axis(axes.xaxis)
