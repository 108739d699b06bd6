"""Tables of a result file as data frames. The schema is described in docs/results.md."""

from functools import cached_property
import os

import h5py
import pandas

SCHEMA_VERSION = 1


class ResultsError(Exception):
    """A file that cannot be used; the text is the whole message. `exit_code` as for tessera: 2 bad input, 4 I/O."""

    def __init__(self, message, exit_code=2):
        super().__init__(message)
        self.exit_code = exit_code


def load(path):
    """Opens a result file; tables are read when they are first asked for."""
    return Results(path)


def readable(frame):
    """A copy in units for people: picoseconds become seconds (columns *_ps become *_s), bytes gigabytes (10^9)."""
    units = dict(frame.attrs.get("units", {}))
    copy = frame.copy()
    names = {}
    for column, unit in units.items():
        if unit == "ps":
            copy[column] = copy[column] * 1e-12
            names[column] = column[:-3] + "_s" if column.endswith("_ps") else column
            units[column] = "s"
        elif unit in ("B", "B/s"):
            copy[column] = copy[column] * 1e-9
            units[column] = "G" + unit
    copy = copy.rename(columns=names)
    copy.attrs.update(frame.attrs)
    copy.attrs["units"] = {names.get(column, column): unit for column, unit in units.items()}
    return copy


class Results:
    """One result file. Every frame has attrs["units"] and attrs["columns"] (by column) and attrs["description"]."""

    def __init__(self, path):
        self.path = os.fspath(path)
        with self._open() as file:
            if "summary" not in file or "schema_version" not in file.attrs:
                raise ResultsError(f"'{self.path}' is not a result file of tessera run")
            version = int(file.attrs["schema_version"])
            if version != SCHEMA_VERSION:
                raise ResultsError(
                    f"'{self.path}' has schema version {version}, this package reads version {SCHEMA_VERSION}")
            self.tables = set()
            file.visititems(lambda name, item: self.tables.add(name) if isinstance(item, h5py.Dataset) else None)

    def _open(self):
        if not os.path.exists(self.path):
            raise ResultsError(f"cannot read '{self.path}': No such file or directory", 4)
        if os.path.isdir(self.path):
            raise ResultsError(f"cannot read '{self.path}': it is a directory", 4)
        if not os.access(self.path, os.R_OK):
            raise ResultsError(f"cannot read '{self.path}': Permission denied", 4)
        try:
            return h5py.File(self.path, "r")
        except OSError:
            raise ResultsError(f"'{self.path}' is not an HDF5 file, or a damaged one") from None

    def table(self, name):
        """Any table of the file as a data frame, texts as str."""
        with self._open() as file:
            if name not in file:
                raise ResultsError(f"'{self.path}' has no table /{name}")
            dataset = file[name]
            frame = pandas.DataFrame(dataset[:])
            columns = dataset.dtype.names
            frame.attrs["description"] = dataset.attrs["description"]
            frame.attrs["units"] = dict(zip(columns, dataset.attrs["column_units"]))
            frame.attrs["columns"] = dict(zip(columns, dataset.attrs["column_descriptions"]))
        for column, unit in frame.attrs["units"].items():
            if unit == "text":
                frame[column] = frame[column].str.decode("utf-8")
        return frame

    def _text(self, name):
        with self._open() as file:
            return file[name][()].decode("utf-8")

    def _named(self, frame, column, names):
        """Indices as a categorical of their names, which takes no more memory."""
        frame[column] = pandas.Categorical.from_codes(frame[column], categories=_distinct(self.table(names)["name"]))
        frame.attrs["units"][column] = "text"
        return frame

    @cached_property
    def summary(self):
        """The run in one row, as a Series."""
        frame = self.table("summary")
        row = frame.iloc[0]
        row.attrs.update(frame.attrs)
        return row

    @cached_property
    def devices(self):
        return self.table("devices")

    @cached_property
    def links(self):
        return self.table("links")

    @cached_property
    def memory(self):
        return self.table("memory")

    @cached_property
    def collectives(self):
        return self.table("collectives")

    @cached_property
    def plan(self):
        """What the strategy says of itself, as a dict."""
        frame = self.table("plan")
        return dict(zip(frame["key"], frame["value"]))

    @cached_property
    def provenance(self):
        """How the run was carried out, as a Series."""
        return self.table("provenance/run").iloc[0]

    @cached_property
    def experiment(self):
        """The resolved experiment: TOML that tessera run takes again."""
        return self._text("provenance/experiment_resolved")

    @cached_property
    def activities(self):
        """Names of what a device's time is counted as, in order."""
        return list(self.table("names/activities")["name"])

    @cached_property
    def categories(self):
        """Names of what memory holds, in order."""
        return list(self.table("names/categories")["name"])

    @cached_property
    def node_names(self):
        """Names of devices and switches, by number."""
        return list(self.table("names/nodes")["name"])

    @cached_property
    def timeline(self):
        """Intervals of all streams; None when the run did not record them."""
        if "timeline" not in self.tables:
            return None
        frame = self._named(self.table("timeline"), "label", "names/labels")
        return self._named(frame, "activity", "names/activities")

    @cached_property
    def memory_timeline(self):
        """Changes of memory; None when the run did not record them."""
        if "memory_timeline" not in self.tables:
            return None
        return self._named(self.table("memory_timeline"), "category", "names/categories")

    def device_name(self, device):
        return self.node_names[device] if device < len(self.node_names) else f"device {device}"


def _distinct(names):
    """Names as categories, which must differ from one another."""
    seen, distinct = {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct
