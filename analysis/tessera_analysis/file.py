"""A file of Tessera's: opened, judged, and its tables read. What is damaged becomes a ResultsError."""

import os
import stat
import warnings
import zlib

import h5py
import numpy
import pandas

SCHEMA_VERSIONS = (1, 2)  # 1: waiting was part of communication


class ResultsError(Exception):
    """A file that cannot be used; the text is the whole message. `exit_code` as for tessera: 2 bad input, 4 I/O."""

    def __init__(self, message, exit_code=2):
        super().__init__(message)
        self.exit_code = exit_code


def cannot_read(path, reason):
    return ResultsError(f"cannot read '{path}': {reason}", 4)


def open_file(path):
    """The HDF5 file, as a context; refuses what is none."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise cannot_read(path, "it is a directory")
        if not stat.S_ISREG(mode):
            raise cannot_read(path, "it is not a regular file")
        open(path, "rb").close()
    except OSError as error:
        raise cannot_read(path, error.strerror) from None
    if not h5py.is_hdf5(path):
        raise ResultsError(f"'{path}' is not an HDF5 file")
    try:
        return _File(h5py.File(path, "r"), lambda reason: cannot_read(path, reason))
    except OSError:
        raise cannot_read(path, "the file is damaged or cut short") from None


def attribute(file, name):
    """A text attribute of an open file, whoever wrote it; None when there is none."""
    value = file.attrs.get(name)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def format_of(path):
    """What a file says that it is; ResultsError when it cannot be opened."""
    with open_file(path) as file:
        return attribute(file, "format")


MOST_COMPRESSION = 1100  # deflate makes nothing smaller than by 1,032 times


def is_in_file(dataset, file_bytes):
    """Whether the file has what a dataset claims: a damaged number of rows is no reason to read fill values for hours."""
    stored = dataset.id.get_storage_size()
    if stored > file_bytes or dataset.external or dataset.is_virtual:
        return False
    if dataset.chunks is None:
        return stored == dataset.nbytes
    needed = 1
    for extent, chunk in zip(dataset.shape, dataset.chunks):
        needed *= -(-extent // chunk)
    return dataset.nbytes // MOST_COMPRESSION <= stored and dataset.id.get_num_chunks() >= needed


class ResultFile:
    """A file that Tessera wrote. Every frame has attrs["units"] and attrs["columns"] (by column) and attrs["description"]."""

    FORMAT = KIND = None  # of a kind of files: the attribute, and what it is in words
    MAIN_TABLES = ()  # of which it has one

    def __init__(self, path):
        self.path = os.fspath(path)
        with self._open() as file:
            # Texts first: HDF5 believes what stands beside them.
            self._check_text_blocks(file)
            if (not any(name in file for name in self.MAIN_TABLES) or "schema_version" not in file.attrs
                    or attribute(file, "format") != self.FORMAT):
                raise ResultsError(f"'{self.path}' is not {self.KIND}")
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
        return cannot_read(self.path, reason)

    def _open(self):
        return open_file(self.path)

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

    def _dataset(self, file, name):
        """One that can be read: it is there as a whole."""
        dataset = file[name]
        if not is_in_file(dataset, os.path.getsize(self.path)):
            raise self._cannot_read(f"the file is damaged: /{name} claims {dataset.size} rows, which the file does not hold")
        return dataset

    def table(self, name):
        """Any table of the file as a data frame, texts as str."""
        with self._open() as file:
            if name not in file:
                raise ResultsError(f"'{self.path}' has no table /{name}")
            dataset = self._dataset(file, name)
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

    def _text(self, name):
        with self._open() as file:
            dataset = self._dataset(file, name)
            text = dataset[()]
            self._checked(name, dataset, text or b"\0")  # an empty text is stored as one zero byte
            return text.decode("utf-8")


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
