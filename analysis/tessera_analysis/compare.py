"""Where the difference between two runs comes from: activities, links, collectives, as frames and as text."""

from functools import cached_property

import pandas

from . import experiments, style

KEYS = ["label", "kind", "algorithm", "group_size"]
MOST_COLLECTIVES = 12
LEAST_SHARE = 1e-4  # of the longer run: what differs by less is left out of the text


class Comparison:
    """Two results of `tessera run`; frames have a row a part and the columns a and b. Times are in ps of a device."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    @cached_property
    def experiments(self):
        """(key, value in a, value in b) of what the two were asked to simulate differently."""
        return experiments.differences(self.a, self.b)

    @cached_property
    def times(self):
        return tuple(int(results.summary["iteration_time_ps"]) for results in (self.a, self.b))

    @cached_property
    def activities(self):
        """Mean of the devices. All activities of a run add up to its iteration time, so the differences add up too."""
        return _beside({name: {activity: results.devices[f"{activity}_ps"].mean() for activity in results.activities}
                        for name, results in self._both})

    @cached_property
    def collectives(self):
        """Time of a device in each kind of collectives without waiting; what runs under compute is in it as well."""
        return _beside({name: _collectives(results) for name, results in self._both})

    @cached_property
    def links(self):
        """By class: number of links, bytes that they carried, mean and greatest utilisation; a row a class."""
        frames = {name: results.links.groupby("link_class").agg(
            links=("link", "size"), bytes=("bytes", "sum"), mean_use=("utilisation", "mean"),
            peak_use=("utilisation", "max")) for name, results in self._both}
        return frames["a"].join(frames["b"], how="outer", lsuffix="_a", rsuffix="_b").fillna(0)

    @property
    def _both(self):
        return ("a", self.a), ("b", self.b)


def _beside(parts):
    frame = pandas.DataFrame(parts).reindex(columns=["a", "b"]).fillna(0.0)
    frame["difference"] = frame["b"] - frame["a"]
    return frame


def _collectives(results):
    rows, devices = results.collectives, max(1, len(results.devices))
    waiting = rows["waiting_ps"] if "waiting_ps" in rows else 0
    of_device = (rows["total_ps"] - waiting) / devices
    names = [_name(row) for _, row in rows[KEYS].iterrows()]
    return of_device.groupby(names, sort=False).sum().to_dict() if len(rows) else {}


def _name(row):
    kind = style.spaced(row["kind"])
    what = row["label"] if kind in row["label"] else f"{row['label']}: {kind}" if row["label"] else kind
    return f"{what}, {row['algorithm']} of {row['group_size']}"


def _difference(value, size, unit):
    return f"{value / size:+.4g} {unit}" if value else "0"


def text(comparison):
    """The whole comparison for a terminal."""
    sections = [_runs(comparison), _times(comparison), _activities(comparison), _links(comparison), _collective_lines(comparison)]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _runs(comparison):
    lines = [f"{name}  {results.path}: {results.summary['title']}"
             for name, results in (("a", comparison.a), ("b", comparison.b))]
    return lines + experiments.text(comparison.experiments)


def _times(comparison):
    a, b = comparison.times
    unit, size = style.time_unit(max(a, b))
    ratio = f", {b / a:.3f} times a" if a else ""
    return [f"iteration time: a {a / size:.4g} {unit}, b {b / size:.4g} {unit}, "
                    f"difference {_difference(b - a, size, unit)}{ratio}"]


def _rows(title, frame, whole, longest, share):
    unit, size = style.time_unit(longest)
    head = f"{title:<52}{'a, ' + unit:>11}{'b, ' + unit:>11}{'b - a':>11}"
    lines = [head + (f"{'of all':>9}" if share else "")]
    for name, row in frame.iterrows():
        line = f"  {style.spaced(name)[:49]:<50}{row['a'] / size:>11.4g}{row['b'] / size:>11.4g}{row['difference'] / size:>+11.4g}"
        # Rounded first, so that nothing is "-0 %".
        lines.append(line + (f"{round(100 * row['difference'] / whole) + 0:>7} %" if share and whole else ""))
    return lines


def _activities(comparison):
    frame, longest = comparison.activities, max(comparison.times)
    seen = frame[["a", "b"]].max(axis=1) > LEAST_SHARE * longest
    shown, others = frame[seen], frame[~seen & (frame[["a", "b"]].max(axis=1) > 0)]
    if len(others):
        shown = pandas.concat([shown, others.sum().to_frame(f"{len(others)} other{'s' if len(others) > 1 else ''}").T])
    whole = comparison.times[1] - comparison.times[0]
    together = pandas.DataFrame({"a": comparison.times[0], "b": comparison.times[1], "difference": whole}, index=["iteration time"], dtype=float)
    return _rows("time of a device, mean", pandas.concat([shown, together]), whole, longest, True)


def _links(comparison):
    frame = comparison.links
    if frame.empty:
        return []
    lines = [f"{'links':<22}{'a':>8}{'b':>8}{'carried, a':>14}{'b':>12}{'use, mean, a':>15}{'b':>9}{'busiest, a':>13}{'b':>9}"]
    for name, row in frame.iterrows():
        lines.append(f"  {name[:19]:<20}{row['links_a']:>8.0f}{row['links_b']:>8.0f}{style.quantity(row['bytes_a'], 'B'):>14}"
                     f"{style.quantity(row['bytes_b'], 'B'):>12}{row['mean_use_a']:>15.1%}{row['mean_use_b']:>9.1%}"
                     f"{row['peak_use_a']:>13.1%}{row['peak_use_b']:>9.1%}")
    return lines


def _collective_lines(comparison):
    frame = comparison.collectives
    if frame.empty:
        return []
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable").index
    shown = frame.loc[order[:MOST_COLLECTIVES]]
    lines = _rows("collectives of a device (under compute as well)", shown, 0, max(comparison.times), False)
    if len(frame) > MOST_COLLECTIVES:
        lines.append(f"  and {len(frame) - MOST_COLLECTIVES} more that differ by less")
    return lines
