"""What device memory holds: at each device's peak, and over time for a few devices."""

import matplotlib.pyplot as pyplot
import numpy

from . import style

MOST_BARS = 96
GB = 1e9
TIME_BINS = 1500


def draw(results):
    memory = results.memory
    if memory.empty or not memory["at_peak"].any():
        return None
    wide = memory.pivot(index="device", columns="category", values="at_peak")
    colour_of = style.colours(results.categories, style.CATEGORY_COLOURS)
    layers = [(name, wide[name].to_numpy() / GB) for name in results.categories if name in wide]

    figure, axes = pyplot.subplots(figsize=(9, 4.4), layout="constrained")
    style.heading(figure, results, "Memory at each device's peak")
    handles = style.stack(axes, wide.index.to_numpy(), layers, colour_of, len(wide) <= MOST_BARS)
    style.device_axis(axes)
    axes.set_ylabel("memory in GB")
    axes.set_xlim(wide.index.min() - 0.5, wide.index.max() + 0.5)
    _capacity(axes, results)
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def draw_over_time(results):
    changes = results.memory_timeline
    if changes is None or changes.empty:
        return None
    chosen = _choose(results)
    colour_of = style.colours(results.categories, style.CATEGORY_COLOURS)
    unit, size = style.time_unit(results.summary["iteration_time_ps"])
    figure, all_axes = pyplot.subplots(len(chosen), 1, figsize=(9, 1.4 + 1.9 * len(chosen)), sharex=True, sharey=True,
                                       squeeze=False, layout="constrained")
    style.heading(figure, results, "Memory over time")
    handles = {}
    for axes, (device, why) in zip(all_axes[:, 0], chosen.items()):
        edges, levels = _levels(changes[changes["device"] == device], results)
        layers = [(name, levels[:, i] / GB) for i, name in enumerate(results.categories)]
        for handle in style.stack(axes, edges / size, layers, colour_of, bars=False):
            handles.setdefault(handle.get_label(), handle)
        axes.set_title(f"{results.device_name(device)}, {why}")
        axes.set_ylabel("memory in GB")
        axes.set_xlim(0, results.summary["iteration_time_ps"] / size)
        _capacity(axes, results)
    all_axes[-1, 0].set_xlabel(f"time in {unit}")
    order = [style.spaced(name) for name in reversed(results.categories)]
    all_axes[0, 0].legend(handles=[handles[name] for name in order if name in handles], loc="upper left",
                          bbox_to_anchor=(1.01, 1.0))
    return figure


def _capacity(axes, results):
    capacity = results.summary["memory_capacity"] / GB
    axes.set_ylim(bottom=0)
    if not capacity:
        return
    axes.axhline(capacity, color="#303030", linewidth=1, linestyle=(0, (5, 3)))
    axes.annotate(f"capacity {capacity:.3g} GB", (1, capacity), xycoords=("axes fraction", "data"), xytext=(-2, 3),
                  textcoords="offset points", ha="right", fontsize=9, color="#303030")
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.12 * capacity))


def _choose(results):
    """The fullest, the middle and the emptiest device, with the reason; fewer when there are fewer."""
    ordered = results.devices.sort_values(["peak_memory", "device"], ascending=[False, True])["device"].tolist()
    chosen = {ordered[0]: "the fullest"}
    chosen.setdefault(ordered[-1], "the emptiest")
    if len(ordered) > 2:
        chosen.setdefault(ordered[len(ordered) // 2], "in the middle")
    return {device: chosen[device] for device in ordered if device in chosen}


def _levels(changes, results):
    """Times, and bytes by time and category. Of more changes than can be seen, each of many short spans shows its
    fullest moment, so that no peak is lost."""
    times = numpy.concatenate([[0], changes["time_ps"].to_numpy()])
    codes = changes["category"].cat.codes.to_numpy()
    levels = numpy.zeros((len(times), len(results.categories)))
    for category in range(len(results.categories)):
        marks = numpy.flatnonzero(codes == category) + 1
        if len(marks):
            values = changes["bytes"].to_numpy()[marks - 1]
            latest = numpy.searchsorted(marks, numpy.arange(len(times)), side="right")
            levels[:, category] = numpy.where(latest > 0, values[numpy.maximum(latest - 1, 0)], 0)
    edges = numpy.linspace(0, results.summary["iteration_time_ps"], TIME_BINS)
    total = levels.sum(axis=1)
    last = numpy.searchsorted(times, edges, side="right") - 1
    shown = [max(range(first, end + 1), key=lambda i: total[i])
             for first, end in zip(numpy.concatenate([[0], last[:-1]]), last)]
    return edges, levels[shown]
