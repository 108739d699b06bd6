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
    whole = int(results.summary["iteration_time_ps"])
    rows = _rows(timeline, results, whole)
    detail = _detail(rows, whole)
    spans = [((0, whole), "The whole iteration" if detail != (0, whole) else "")]
    if detail != (0, whole):
        spans.append((detail, "A detail of it"))
    figure, panels = pyplot.subplots(len(spans), 1, figsize=style.size(10.5, 1.2 + len(spans) * _height(len(rows))),
                                     squeeze=False, layout="constrained")
    style.heading(figure, results, "Timeline")
    shown = set()
    for axes, ((begin, end), title) in zip(panels[:, 0], spans):
        shown |= _draw_span(axes, rows, begin, end, title, results)
    colour_of = style.colours(results.activities, style.ACTIVITY_COLOURS)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colour_of[name], label=style.spaced(name))
               for name in results.activities if name in shown]
    style.legend(panels[-1 if style.is_narrow(figure) else 0, 0], handles[::-1], top=True)
    return figure


def _height(rows):
    return 0.9 + min(4.0, max(1.2, 0.2 * rows))


def _rows(timeline, results, whole):
    """(label, intervals) of the rows to show: (begin, end, code of the activity). What devices do alike, but for less than a picture
    shows, is drawn once."""
    devices = timeline["device"].unique()
    timeline = timeline[timeline["end_ps"] > timeline["begin_ps"]]  # not the ends of messages that take no time
    thinned = len(devices) > MOST_ROWS
    if timeline.groupby(["device", "stream"], sort=True).ngroups > MOST_STREAM_ROWS:
        timeline = timeline[timeline["stream"] == 0]
    if thinned:
        devices = devices[numpy.linspace(0, len(devices) - 1, MOST_ROWS).astype(int)]
        timeline = timeline[timeline["device"].isin(devices)]
    rows = []
    for device, streams, count in _alike(timeline, whole, len(results.activities)):
        name = results.device_name(device) + (f" (and {count - 1} like it)" if count > 1 and not thinned else "")
        rows += [(name if stream == 0 else f"stream {stream}", intervals) for stream, intervals in streams.items()]
    return rows


def _alike(timeline, whole, activities):
    """(first device, its intervals by stream, how many do the same), in the order of devices."""
    edges, least = numpy.linspace(0, whole, TIME_BINS + 1), whole / TIME_BINS / 20
    groups = []
    for device, of_device in timeline.groupby("device", sort=True):
        streams = {stream: (part["begin_ps"].to_numpy(), part["end_ps"].to_numpy(), part["activity"].cat.codes.to_numpy())
                   for stream, part in of_device.groupby("stream", sort=True)}
        courses = {stream: _course(intervals, edges, activities) for stream, intervals in streams.items()}
        for group in groups:
            if group[3].keys() == courses.keys() and all(numpy.abs(courses[each] - group[3][each]).max() <= least for each in courses):
                group[2] += 1
                break
        else:
            groups.append([device, streams, 1, courses])
    return [group[:3] for group in groups]


def _course(intervals, edges, activities):
    """How long each activity has gone on until each edge."""
    begins, ends, codes = intervals
    time = numpy.zeros((activities, len(edges)))
    for code in numpy.unique(codes):
        mine = codes == code
        corners = numpy.stack([begins[mine], ends[mine]], axis=1).ravel().astype(float)
        lengths = numpy.cumsum(ends[mine] - begins[mine]).astype(float)
        so_far = numpy.stack([numpy.concatenate([[0], lengths[:-1]]), lengths], axis=1).ravel()
        time[code] = numpy.interp(edges, corners, so_far)
    return time


def _detail(rows, whole):
    """A span in the middle in which a device changes its activity about DETAIL_CHANGES times."""
    most = max(1 + numpy.count_nonzero(numpy.diff(codes)) for _, (_, _, codes) in rows)
    length = max(1, int(whole * min(1.0, DETAIL_CHANGES / most)))
    return (whole - length) // 2, (whole + length) // 2


def _dominant(intervals, edges, activities):
    """Code of the activity with the most time between each two edges; -1 where nothing was recorded."""
    time = numpy.diff(_course(intervals, edges, activities), axis=1)
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
    axes.set_yticks(list(ticks), [rows[i][0] for i in ticks], fontsize=style.points(8))
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return {results.activities[code] for code in numpy.unique(image) if code >= 0}
