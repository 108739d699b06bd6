"""Tables of a result file as data frames. The schema is described in docs/results.md."""

from functools import cached_property
import os
import stat
import warnings
import zlib

import h5py
import numpy
import pandas

SCHEMA_VERSIONS = (1, 2)  # 1: waiting was part of communication
FORMAT = "tessera results"


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
            # Texts first: HDF5 believes what stands beside them.
            self._check_text_blocks(file)
            if "summary" not in file or "schema_version" not in file.attrs or self._format(file) != FORMAT:
                raise ResultsError(f"'{self.path}' is not a result file of tessera run")
            version = file.attrs["schema_version"]
            if not isinstance(version, numpy.integer):
                raise ResultsError(f"'{self.path}' has a schema version that is not a number")
            if version not in SCHEMA_VERSIONS:
                raise ResultsError(
                    f"'{self.path}' has schema version {version}, this package reads versions "
                    f"{SCHEMA_VERSIONS[0]} to {SCHEMA_VERSIONS[-1]}")
            self.tables = set()
            file.visititems(lambda name, item: self.tables.add(name) if isinstance(item, h5py.Dataset) else None)
            if not any("crc32" in file[name].attrs for name in self.tables):
                warnings.warn(f"'{self.path}' has no checksums (an earlier Tessera wrote it): damage to it would not "
                              "be seen", stacklevel=3)

    def _cannot_read(self, reason):
        return ResultsError(f"cannot read '{self.path}': {reason}", 4)

    def _open(self):
        try:
            mode = os.stat(self.path).st_mode
            if stat.S_ISDIR(mode):
                raise self._cannot_read("it is a directory")
            if not stat.S_ISREG(mode):
                raise self._cannot_read("it is not a regular file")
            open(self.path, "rb").close()
        except OSError as error:
            raise self._cannot_read(error.strerror) from None
        if not h5py.is_hdf5(self.path):
            raise ResultsError(f"'{self.path}' is not an HDF5 file")
        try:
            return _File(h5py.File(self.path, "r"), self._cannot_read)
        except OSError:
            raise self._cannot_read("the file is damaged or cut short") from None

    def _format(self, file):
        value = file.attrs.get("format")
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def _check_text_blocks(self, file):
        """Texts of attributes are the one thing of HDF5's own that has no checksum there."""
        if "provenance" not in file or file["provenance"].attrs.get("file_bytes") != os.path.getsize(self.path):
            return  # an earlier Tessera's, or rewritten since: the blocks are elsewhere
        with open(self.path, "rb") as raw:
            for offset, count, crc32 in file["provenance"].attrs.get("text_blocks", ()):
                raw.seek(offset)
                if zlib.crc32(raw.read(count)) != crc32:
                    raise self._cannot_read("the file is damaged: units and descriptions differ from their checksum")

    def _checked(self, name, dataset, stored):
        """What a dataset holds, when its bytes as they are stored agree with their checksum."""
        if "crc32" in dataset.attrs and zlib.crc32(stored) != dataset.attrs["crc32"]:
            raise self._cannot_read(f"table /{name} is damaged: it differs from its checksum")

    def table(self, name):
        """Any table of the file as a data frame, texts as str."""
        with self._open() as file:
            if name not in file:
                raise ResultsError(f"'{self.path}' has no table /{name}")
            dataset = file[name]
            rows = dataset[:]
            self._checked(name, dataset, rows.tobytes())
            frame = pandas.DataFrame(rows)
            columns = dataset.dtype.names
            frame.attrs["description"] = dataset.attrs["description"]
            frame.attrs["units"] = dict(zip(columns, dataset.attrs["column_units"]))
            frame.attrs["columns"] = dict(zip(columns, dataset.attrs["column_descriptions"]))
            for column, unit in frame.attrs["units"].items():
                if unit == "text":
                    frame[column] = frame[column].str.decode("utf-8")
        return frame

    def _column(self, table, column):
        frame = self.table(table)
        if column not in frame:
            raise self._cannot_read(f"table /{table} is damaged: it has no column '{column}'")
        return list(frame[column])

    def _only_row(self, table):
        frame = self.table(table)
        if len(frame) != 1:
            raise self._cannot_read(f"table /{table} is damaged: it has {len(frame)} rows")
        row = frame.iloc[0]
        row.attrs.update(frame.attrs)
        return row

    def _text(self, name):
        with self._open() as file:
            text = file[name][()]
            self._checked(name, file[name], text or b"\0")  # an empty text is stored as one zero byte
            return text.decode("utf-8")

    def _named(self, frame, column, names):
        """Indices as a categorical of their names, which takes no more memory."""
        for of, wanted in ((frame, column), (self.table(names), "name")):
            if wanted not in of:
                raise self._cannot_read(f"the file is damaged: a table has no column '{wanted}'")
        categories = _distinct(self.table(names)["name"])
        if frame[column].dtype.kind != "i" or not frame[column].between(0, len(categories) - 1).all():
            raise self._cannot_read(f"the file is damaged: column '{column}' names more than /{names} has")
        frame[column] = pandas.Categorical.from_codes(frame[column], categories=categories)
        frame.attrs["units"][column] = "text"
        return frame

    @cached_property
    def summary(self):
        """The run in one row, as a Series."""
        return self._only_row("summary")

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
        return dict(zip(self._column("plan", "key"), self._column("plan", "value")))

    @cached_property
    def search(self):
        """What the strategy's search tried; None when it searched nothing."""
        for name in ("search", "provenance/search"):
            if name in self.tables:
                return self.table(name)
        return None

    @cached_property
    def predicted(self):
        """Times that the strategy foretold, in ps, as a dict; "all": of the iteration."""
        if "predicted" not in self.tables:
            return {}
        return dict(zip(self._column("predicted", "what"), self._column("predicted", "time_ps")))

    @cached_property
    def provenance(self):
        """How the run was carried out, as a Series."""
        return self._only_row("provenance/run")

    @cached_property
    def experiment(self):
        """The resolved experiment: TOML that tessera run takes again."""
        return self._text("provenance/experiment_resolved")

    @cached_property
    def activities(self):
        """Names of what a device's time is counted as, in order."""
        return self._column("names/activities", "name")

    @cached_property
    def categories(self):
        """Names of what memory holds, in order."""
        return self._column("names/categories", "name")

    @cached_property
    def node_names(self):
        """Names of devices and switches, by number."""
        return self._column("names/nodes", "name")

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


class _File:
    """An open file; what h5py or a column's type refuses in a damaged one becomes a ResultsError."""

    def __init__(self, file, cannot_read):
        self._file = file
        self._cannot_read = cannot_read

    def __enter__(self):
        return self._file

    def __exit__(self, kind, error, _):
        self._file.close()
        if kind is not None and issubclass(kind, (OSError, RuntimeError, KeyError, ValueError, TypeError,
                                                  AttributeError, UnicodeDecodeError)):
            raise self._cannot_read(f"the file is damaged: {error}") from None


def _distinct(names):
    """Names as categories, which must differ from one another."""
    seen, distinct = {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct
