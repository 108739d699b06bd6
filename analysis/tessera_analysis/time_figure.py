"""Where the time goes: over all devices, and device by device."""

import matplotlib.pyplot as pyplot
import numpy

from . import style

MOST_BARS = 96
COMPUTE = ("forward", "backward")


def draw(results):
    devices = results.devices
    if devices.empty or not results.summary["iteration_time_ps"]:
        return None
    colour_of = style.colours(results.activities, style.ACTIVITY_COLOURS)
    unit, size = style.time_unit(results.summary["iteration_time_ps"])
    layers = [(name, devices[f"{name}_ps"].to_numpy() / size) for name in results.activities]

    figure, (overall, each) = pyplot.subplots(
        2, 1, figsize=style.size(9, 5.6), gridspec_kw={"height_ratios": [1, 4.2]}, layout="constrained")
    style.heading(figure, results, f"Where the time goes ({results.summary['iteration_time_ps'] / size:#.4g} {unit})")
    _overall(overall, layers, colour_of)
    handles = style.stack(each, devices["device"].to_numpy(), layers, colour_of, len(devices) <= MOST_BARS)
    each.set_title("By device")
    style.device_axis(each)
    each.set_ylabel(f"time in {unit}")
    each.set_xlim(devices["device"].min() - 0.5, devices["device"].max() + 0.5)
    each.set_ylim(0, results.summary["iteration_time_ps"] / size)
    style.legend(each, handles)
    return figure


def _overall(axes, layers, colour_of):
    means = [(name, float(numpy.mean(values))) for name, values in layers]
    whole = sum(mean for _, mean in means)
    left = 0.0
    for name, mean in means:
        share = 100 * mean / whole if whole else 0
        axes.barh(0, share, left=left, color=colour_of[name], linewidth=0)
        if share >= 4:
            axes.text(left + share / 2, 0, f"{share:.0f} %", ha="center", va="center", fontsize=style.points(9),
                      color=_readable_on(colour_of[name]))
        left += share
    axes.set_title(style.folded(_in_words(means, whole), axes.figure, 12.5), fontsize=style.points(9))
    axes.set_xlim(0, 100)
    axes.set_yticks([0], ["mean"])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    style.percent_axis(axes.xaxis)


def _in_words(means, whole):
    """"compute 51 %, exposed communication 8.4 %, bubble 17 %": what is hidden costs no time of its own."""
    groups = {}
    for name, mean in means:
        group = "compute" if name in COMPUTE else "exposed communication" if name.endswith("_communication") else name
        groups[group] = groups.get(group, 0.0) + mean
    return ", ".join(f"{style.spaced(group)} {100 * mean / whole:.2g} %" for group, mean in groups.items()
                     if mean > 0.0005 * whole)


def _readable_on(colour):
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 130 else "black"
