"""What device memory holds: at each device's peak, and over time for a few devices."""

import matplotlib.pyplot as pyplot
import numpy

from . import style
from .scale import unit_of

MOST_BARS = 96
FULL = 0.35  # of the capacity: axes of devices that hold less do not reach up to it
TIME_BINS = 1500


def draw(results):
    memory = results.memory
    if memory.empty or not memory["at_peak"].any():
        return None
    wide = memory.pivot(index="device", columns="category", values="at_peak")
    colour_of = style.colours(results.categories, style.CATEGORY_COLOURS)
    unit, size = unit_of("B", memory.groupby("device")["at_peak"].sum().max())
    layers = [(name, wide[name].to_numpy() / size) for name in results.categories if name in wide]

    figure, axes = pyplot.subplots(figsize=style.size(9, 4.4), layout="constrained")
    style.heading(figure, results, "Memory at each device's peak")
    handles = style.stack(axes, wide.index.to_numpy(), layers, colour_of, len(wide) <= MOST_BARS)
    style.device_axis(axes)
    axes.set_ylabel(f"memory in {unit}")
    axes.set_xlim(wide.index.min() - 0.5, wide.index.max() + 0.5)
    _capacity(axes, results, size)
    style.legend(axes, handles)
    return figure


def draw_over_time(results):
    changes = results.memory_timeline
    if changes is None or changes.empty:
        return None
    chosen = _choose(results)
    colour_of = style.colours(results.categories, style.CATEGORY_COLOURS)
    (unit, size), (of_bytes, bytes_in_it) = style.time_unit(results.summary["iteration_time_ps"]), unit_of("B", results.devices["peak_memory"].max())
    figure, all_axes = pyplot.subplots(len(chosen), 1, figsize=style.size(9, 1.4 + 1.9 * len(chosen)), sharex=True, sharey=True,
                                       squeeze=False, layout="constrained")
    style.heading(figure, results, "Memory over time")
    handles = {}
    for axes, (device, why) in zip(all_axes[:, 0], chosen.items()):
        edges, levels = _levels(changes[changes["device"] == device], results)
        layers = [(name, levels[:, i] / bytes_in_it) for i, name in enumerate(results.categories)]
        for handle in style.stack(axes, edges / size, layers, colour_of, bars=False):
            handles.setdefault(handle.get_label(), handle)
        axes.set_title(f"{results.device_name(device)}, {why}")
        axes.set_ylabel(f"memory in {of_bytes}")
        axes.set_xlim(0, results.summary["iteration_time_ps"] / size)
        _capacity(axes, results, bytes_in_it)
    all_axes[-1, 0].set_xlabel(f"time in {unit}")
    order = [style.spaced(name) for name in reversed(results.categories)]
    style.legend(all_axes[-1 if style.is_narrow(figure) else 0, 0], [handles[name] for name in order if name in handles], top=True)
    return figure


def _capacity(axes, results, size):
    """A line at what a job may use of a device; where hardly any of it is used, a word in its place, since all else would be flat."""
    axes.set_ylim(bottom=0)
    capacity = results.summary["memory_capacity"]
    if not capacity:
        return
    usable = capacity - results.summary.get("memory_reserve", 0)  # files of earlier versions have none
    words = "capacity " + style.quantity(capacity, "B")
    if usable < capacity:
        words = f"usable {style.quantity(usable, 'B')} of {style.quantity(capacity, 'B')}"
    line, most = usable / size, results.devices["peak_memory"].max() / size
    if most < FULL * line:
        axes.set_ylim(0, 1.2 * most)
        axes.annotate(f"{words}, of which at most {100 * most / line:.2g} % are used", (1, 1), xycoords="axes fraction",
                      xytext=(-2, -2), textcoords="offset points", ha="right", va="top", fontsize=style.points(9), color="#303030")
        return
    axes.axhline(line, color="#303030", linewidth=1, linestyle=(0, (5, 3)))
    axes.annotate(words, (1, line), xycoords=("axes fraction", "data"), xytext=(-2, 3),
                  textcoords="offset points", ha="right", fontsize=style.points(9), color="#303030")
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.12 * line))


def _choose(results):
    """The fullest, the middle and the emptiest device, with the reason; fewer when there are fewer, or they do the same."""
    ordered = results.devices.sort_values(["peak_memory", "device"], ascending=[False, True])["device"].tolist()
    reasons = {ordered[0]: "the fullest"}
    reasons.setdefault(ordered[-1], "the emptiest")
    if len(ordered) > 2:
        reasons.setdefault(ordered[len(ordered) // 2], "in the middle")
    alike = _alike(results)
    chosen = {}
    for device in (device for device in ordered if device in reasons):
        like_it = [other for other, first in alike.items() if first == alike[device]]
        if not any(other in chosen for other in like_it):
            chosen[device] = reasons[device] if len(like_it) < len(ordered) else ""
            if len(like_it) > 1:
                chosen[device] += (", as are" if chosen[device] else "as are") + f" {len(like_it) - 1:,} others"
    return chosen


def _alike(results):
    """For each device the first one whose memory does the same at the same times, but for what no picture shows."""
    moment = max(1, int(results.summary["iteration_time_ps"]) // (2 * TIME_BINS))
    firsts, found = {}, {}
    for device, rows in results.memory_timeline.groupby("device", sort=True):
        times = rows["time_ps"].to_numpy()
        key = rows["category"].cat.codes.to_numpy().tobytes(), rows["bytes"].to_numpy().tobytes()
        for first, of_first in firsts.setdefault(key, []):
            if numpy.abs(times - of_first).max(initial=0) <= moment:
                found[device] = first
                break
        else:
            firsts[key].append((device, times))
            found[device] = device
    for device in results.devices["device"]:
        found.setdefault(device, device)
    return found


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
