"""The table of measured kernels: CSV with a row a kernel; lines with # are comments.

  m, n, k       gemm: (m x k) by (k x n); attention: m queries, n keys, heads of k; otherwise as information: rows and columns
  us            time of one, in microseconds
  use           fit: the constants are fitted to it; point: and the model returns it exactly; return: the model returns it exactly, but the
                constants are fitted without it
  kind          gemm (of a table without that column), attention, launch, or a kind of streaming kernel
  operation     which kernel of that kind; attention: forward, backward, causal forward, causal backward
  batch         gemm: independent products; attention: heads x sequences (1)
  datatype      of the operands
  read, written bytes of memory, each operand once; streaming kernels need them
"""

import csv
import dataclasses
import math

from calibration import Refused

STREAMING = ("norm", "softmax", "elementwise", "fused", "dropout", "reduction", "copy", "embedding", "optimizer")
KINDS = ("gemm", "attention", "launch") + STREAMING
USES = ("fit", "point", "return")
ATTENTION = ("forward", "backward", "causal forward", "causal backward")
COLUMNS = ("m", "n", "k", "us", "use", "kind", "operation", "batch", "datatype", "read", "written")
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
        fields = dataclasses.asdict(self) | {"us": f"{self.us:.6g}"}
        return {column: fields[column] for column in COLUMNS}


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
        kernel = dataclasses.replace(row, us=0.0, use="")
        if kernel in rows:
            raise Refused(f"{path}:{number}: the kernel of line {rows[kernel][0]} again ({row.kind} {row.name}); each is allowed once")
        rows[kernel] = number, row
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
              **{key: whole(given, key, where) for key in ("m", "n", "k", "read", "written")})
    check_row(row, where)
    return row


def check_row(row, where):
    """What each kind needs."""
    if row.kind in ("gemm", "attention"):
        for key in "mnk":
            if not 1 <= getattr(row, key) <= LARGEST:
                raise Refused(f'{where}: "{key}": a {row.kind} has 1 to {LARGEST}, not {getattr(row, key)}')
    if row.kind == "attention":
        choice(row.operation, "operation", ATTENTION, where)
        if row.m != row.n:
            raise Refused(f"{where}: attention of {row.m} queries to {row.n} keys; allowed: as many keys as queries")
    if row.kind in STREAMING and row.bytes == 0:
        raise Refused(f'{where}: "read", "written": a {row.kind} kernel needs the bytes that it moves')
    if row.use != "fit" and (row.kind != "gemm" or row.batch > 1):
        raise Refused(f'{where}: "use": only a single GEMM can be returned exactly, so "{row.use}" is not allowed for others; allowed: fit')


def choice(value, key, allowed, where):
    if value not in allowed:
        raise Refused(f'{where}: "{key}": unknown choice "{value}", allowed: {", ".join(allowed)}')
    return value


def whole(given, key, where, default=0, least=0):
    text = given.get(key, str(default))
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise Refused(f'{where}: "{key}": expected a whole number of at least {least}, not "{text}"')
    return int(text)


def positive(given, key, where):
    text = given.get(key, "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise Refused(f'{where}: "{key}": expected a time above 0, not "{text}"')
    return value


def write(path, rows, comments):
    """A table that read() takes."""
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {comment}\n" for comment in comments)
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(row.as_dict() for row in rows)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
