"""The table of measured kernels: CSV with a row a kernel; lines with # are comments.

  m, n, k       gemm: (m x k) by (k x n); attention: m queries, n keys, heads of k; otherwise as information: rows and columns
  us            time of one, in microseconds; of condition eager that of all its launches
  use           fit: the constants are fitted to it; point: and the model returns it exactly; return: the model returns it exactly, but the
                constants are fitted without it
  kind          gemm (of a table without that column), attention, launch, a kind of streaming kernel, or
                decode: attention of a new token: m queries share each head of n keys; batch: such heads x sequences
                layer: m tokens, n wide, k heads: all of its kernels one after the other (together), and the sum of their times (apart)
                idle: nothing runs; its watts count
  operation     which kernel of that kind; attention: forward, backward, causal forward, causal backward
  batch         gemm: independent products; attention: heads x sequences (1)
  datatype      of the operands
  read, written bytes of memory, each operand once; streaming kernels and decode need them
  condition     empty: again and again, without the host's launches as far as the device can; burst: some milliseconds after a pause; heat: for a
                second and more on a device that is hot; eager: launched one by one; beside: while a copy holds some of the cores
  launches      of condition eager: how many
  cores         of condition beside: how many the copy holds; 0: there is none
  mhz, watts    what the device held, of condition heat; limit_watts: what it may draw
"""

import csv
import dataclasses
import math
import os
import pathlib

from calibration import Refused

STREAMING = ("norm", "softmax", "elementwise", "fused", "dropout", "reduction", "copy", "embedding", "optimizer")
KINDS = ("gemm", "attention", "launch", "decode", "layer", "idle") + STREAMING
USES = ("fit", "point", "return")
CONDITIONS = ("", "burst", "heat", "eager", "beside")
LAYER = ("together", "apart")
ATTENTION = ("forward", "backward", "causal forward", "causal backward")
COLUMNS = ("m", "n", "k", "us", "use", "kind", "operation", "batch", "datatype", "read", "written",
           "condition", "launches", "cores", "mhz", "watts", "limit_watts")
READINGS = ("mhz", "watts", "limit_watts")
MAYBE_EMPTY = ("launches", "cores", *READINGS)
LARGEST = 10**9  # dimension of a GEMM that the simulator takes


@dataclasses.dataclass(frozen=True)
class Row:
    """A kernel; `us` is 0 until it was measured."""

    kind: str = "gemm"
    operation: str = ""
    m: int = 0
    n: int = 0
    k: int = 0
    batch: int = 1
    datatype: str = ""
    read: int = 0
    written: int = 0
    use: str = "fit"
    us: float = 0.0
    condition: str = ""
    launches: int = 0
    cores: int = 0
    mhz: float = 0.0  # 0: unknown, as of the two that follow
    watts: float = 0.0
    limit_watts: float = 0.0

    @property
    def kernel(self):
        """The same without what was measured and under which condition: rows of one kernel have it in common."""
        return Row(self.kind, self.operation, self.m, self.n, self.k, self.batch, self.datatype, self.read, self.written)

    @property
    def bytes(self):
        return self.read + self.written

    @property
    def shape(self):
        """Of a GEMM, as gemm_deviations have it."""
        return self.m, self.n, self.k

    @property
    def name(self):
        size = " x ".join(str(number) for number in ((self.batch,) if self.batch > 1 else ()) + (self.m, self.n, self.k) if number)
        return " ".join(part for part in (self.operation, size or f"{self.bytes} B") if part)

    def as_dict(self):
        fields = dataclasses.asdict(self) | {"us": f"{self.us:.6g}"} | {key: f"{getattr(self, key):.6g}" for key in READINGS}
        return {column: "" if column in MAYBE_EMPTY and fields[column] in (0, "0") else fields[column] for column in COLUMNS}


def read(path):
    """The rows of a table."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [(number, line) for number, line in enumerate(file, 1) if line.strip() and not line.startswith("#")]
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Refused(f"{path}: no text in UTF-8, so no table") from None
    if not lines:
        raise Refused(f"{path}: empty; a table has a line of columns ({', '.join(COLUMNS)}) and a row a kernel")
    number, header = lines[0]
    columns = check_columns(cells(header), f"{path}:{number}")
    rows = {}
    for number, line in lines[1:]:
        row = as_row(columns, cells(line), f"{path}:{number}")
        one = row.kernel, row.condition, row.launches, row.cores
        if one in rows:
            raise Refused(f"{path}:{number}: the kernel of line {rows[one][0]} again ({row.kind} {row.name}); each is allowed once")
        rows[one] = number, row
    if not rows:
        raise Refused(f"{path}: columns without a row")
    return [row for _, row in rows.values()]


def cells(line):
    return [cell.strip() for cell in next(csv.reader([line]))]


def check_columns(columns, where):
    for column in columns:
        if column not in COLUMNS:
            raise Refused(f'{where}: unknown column "{column}", allowed: {", ".join(COLUMNS)}')
        if columns.count(column) > 1:
            raise Refused(f'{where}: column "{column}" twice')
    if "us" not in columns:
        raise Refused(f'{where}: no column "us", the time of one kernel in microseconds')
    return columns


def as_row(columns, values, where):
    """A line, checked. Cells that are empty are as good as missing."""
    if len(values) != len(columns):
        raise Refused(f"{where}: {len(values)} cells, the first line has {len(columns)} columns")
    given = {column: value for column, value in zip(columns, values) if value}
    kind = choice(given.get("kind", "gemm"), "kind", KINDS, where)
    row = Row(kind=kind, operation=given.get("operation", ""), datatype=given.get("datatype", ""),
              use=choice(given.get("use", "fit"), "use", USES, where), us=positive(given, "us", where), batch=whole(given, "batch", where, 1, least=1),
              condition=choice(given.get("condition", ""), "condition", CONDITIONS, where),
              **{key: whole(given, key, where) for key in ("m", "n", "k", "read", "written", "launches", "cores")},
              **{key: positive(given, key, where, "number") for key in READINGS if key in given})
    check_row(row, where)
    return row


def check_row(row, where):
    """What each kind and condition needs."""
    if row.kind in ("gemm", "attention", "decode"):
        for key in "mnk":
            if not 1 <= getattr(row, key) <= LARGEST:
                raise Refused(f'{where}: "{key}": a {row.kind} has 1 to {LARGEST}, not {getattr(row, key)}')
    if row.kind == "attention":
        choice(row.operation, "operation", ATTENTION, where)
        if row.m != row.n:
            raise Refused(f"{where}: attention of {row.m} queries to {row.n} keys; allowed: as many keys as queries")
    if row.kind == "layer":
        choice(row.operation, "operation", LAYER, where)
    if row.kind == "idle" and row.watts == 0:
        raise Refused(f'{where}: "watts": of kind idle they are what counts')
    if row.condition == "eager" and row.launches == 0:
        raise Refused(f'{where}: "launches": condition eager needs to know how many')
    if row.kind in (*STREAMING, "decode") and row.bytes == 0:
        raise Refused(f'{where}: "read", "written": a {row.kind} kernel needs the bytes that it moves')
    if row.use != "fit" and (row.kind != "gemm" or row.batch > 1 or row.condition):
        raise Refused(f'{where}: "use": only a single GEMM can be returned exactly, without a condition, so "{row.use}" is not allowed for others; '
                      "allowed: fit")


def choice(value, key, allowed, where):
    if value not in allowed:
        raise Refused(f'{where}: "{key}": unknown choice "{value}", allowed: {", ".join(one or "none" for one in allowed)}')
    return value


def whole(given, key, where, default=0, least=0):
    text = given.get(key, str(default))
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise Refused(f'{where}: "{key}": expected a whole number of at least {least}, not "{text}"')
    return int(text)


def positive(given, key, where, what="time"):
    text = given.get(key, "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise Refused(f'{where}: "{key}": expected a {what} above 0, not "{text}"')
    return value


def write(path, rows, comments):
    """A table that read() takes: whole, or not at all."""
    beside = f"{path}.{os.getpid()}"
    try:
        with open(beside, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {comment}\n" for comment in comments)
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(row.as_dict() for row in rows)
        os.replace(beside, path)
    except OSError as error:
        pathlib.Path(beside).unlink(missing_ok=True)
        raise Refused(f"{path}: {error.strerror}") from None
