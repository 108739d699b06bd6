"""What every device does when: one row a device, coloured by what takes most of each pixel's time."""

import matplotlib.pyplot as pyplot
from matplotlib.colors import ListedColormap
import numpy

from . import style

TIME_BINS = 1600
MOST_ROWS = 512          # more devices are thinned out evenly
MOST_STREAM_ROWS = 48    # up to here the other streams are shown as well
DETAIL_CHANGES = 120     # of a device's activity, in the second panel


def draw(results):
    timeline = results.timeline
    if timeline is None or timeline.empty:
        return None
    rows = _rows(timeline, results)
    whole = int(results.summary["iteration_time_ps"])
    detail = _detail(rows, whole)
    spans = [((0, whole), "The whole iteration" if detail != (0, whole) else "")]
    if detail != (0, whole):
        spans.append((detail, "A detail of it"))
    figure, panels = pyplot.subplots(len(spans), 1, figsize=(10.5, 1.2 + len(spans) * _height(len(rows))),
                                     squeeze=False, layout="constrained")
    style.heading(figure, results, "Timeline")
    shown = set()
    for axes, ((begin, end), title) in zip(panels[:, 0], spans):
        shown |= _draw_span(axes, rows, begin, end, title, results)
    colour_of = style.colours(results.activities, style.ACTIVITY_COLOURS)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colour_of[name], label=style.spaced(name))
               for name in results.activities if name in shown]
    panels[0, 0].legend(handles=handles[::-1], loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return figure


def _height(rows):
    return 0.9 + min(4.0, max(1.2, 0.2 * rows))


def _rows(timeline, results):
    """(label, intervals) of the rows to show: (begin, end, code of the activity)."""
    devices = timeline["device"].unique()
    streams = timeline.groupby(["device", "stream"], sort=True).ngroups
    if len(devices) > MOST_ROWS:
        devices = devices[numpy.linspace(0, len(devices) - 1, MOST_ROWS).astype(int)]
    if streams > MOST_STREAM_ROWS:
        timeline = timeline[timeline["stream"] == 0]
    timeline = timeline[timeline["device"].isin(devices)]
    rows = []
    for (device, stream), part in timeline.groupby(["device", "stream"], sort=True):
        label = results.device_name(device) if stream == 0 else f"stream {stream}"
        rows.append((label, (part["begin_ps"].to_numpy(), part["end_ps"].to_numpy(),
                             part["activity"].cat.codes.to_numpy())))
    return rows


def _detail(rows, whole):
    """A span in the middle in which a device changes its activity about DETAIL_CHANGES times."""
    most = max(1 + numpy.count_nonzero(numpy.diff(codes)) for _, (_, _, codes) in rows)
    length = max(1, int(whole * min(1.0, DETAIL_CHANGES / most)))
    return (whole - length) // 2, (whole + length) // 2


def _dominant(intervals, edges, activities):
    """Code of the activity with the most time between each two edges; -1 where nothing was recorded."""
    begins, ends, codes = intervals
    time = numpy.zeros((activities, len(edges) - 1))
    for code in numpy.unique(codes):
        mine = codes == code
        corners = numpy.stack([begins[mine], ends[mine]], axis=1).ravel().astype(float)
        lengths = numpy.cumsum(ends[mine] - begins[mine]).astype(float)
        so_far = numpy.stack([numpy.concatenate([[0], lengths[:-1]]), lengths], axis=1).ravel()
        time[code] = numpy.diff(numpy.interp(edges, corners, so_far))
    return numpy.where(time.sum(axis=0) > 0, time.argmax(axis=0), -1)


def _draw_span(axes, rows, begin, end, title, results):
    edges = numpy.linspace(begin, end, TIME_BINS + 1)
    image = numpy.stack([_dominant(row, edges, len(results.activities)) for _, row in rows])
    unit, size = style.time_unit(end)
    colour_of = style.colours(results.activities, style.ACTIVITY_COLOURS)
    colours = ListedColormap(["#FFFFFF"] + [colour_of[name] for name in results.activities])
    axes.imshow(image, aspect="auto", interpolation="nearest", cmap=colours, vmin=-1.5,
                vmax=len(results.activities) - 0.5, extent=(begin / size, end / size, len(rows) - 0.5, -0.5))
    axes.set_title(title)
    axes.set_xlabel(f"time in {unit}")
    ticks = range(len(rows)) if len(rows) <= 24 else numpy.linspace(0, len(rows) - 1, 9).astype(int)
    axes.set_yticks(list(ticks), [rows[i][0] for i in ticks], fontsize=8)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return {results.activities[code] for code in numpy.unique(image) if code >= 0}
