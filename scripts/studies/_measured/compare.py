"""A source's rows, measured beside simulated."""

import csv
import io
import math

from _parts import Outcome, seconds
from _runs import deviation, max_abs, mean_abs, table

from .rows import settings

TIE = 0.01  # cuts whose measured times are nearer to each other than that have no order


def compare(simulator, rows):
    """Simulated seconds of each row."""
    return [seconds(result) for result in simulator.many([(row.file, settings(row)) for row in rows])]


def kept(measured, simulated):
    """(pairs whose order the simulation keeps, pairs that have an order)."""
    pairs = [(a, b) for a in range(len(measured)) for b in range(a) if abs(math.log(measured[a] / measured[b])) > TIE]
    same = sum((measured[a] - measured[b]) * (simulated[a] - simulated[b]) > 0 for a, b in pairs)
    return same, len(pairs)


def jobs(rows):
    """Rows of one job: the same model, machine and batch, cut in several ways; indices of `rows`."""
    found = {}
    for index, row in enumerate(rows):
        key = tuple(row[name] for name in ("model", "gpus", "seq", "gbs", "vocab"))
        found.setdefault(key, []).append(index)
    return list(found.values())


def order_of_cuts(rows, simulated):
    """Over pairs of rows of the same job."""
    both = [kept([rows[i].seconds for i in job], [simulated[i] for i in job]) for job in jobs(rows)]
    return sum(pair[0] for pair in both), sum(pair[1] for pair in both)


def order_of_all(rows, simulated):
    """Of the rates, sequences' tokens a second and GPU, over pairs of all rows of a source."""
    rate = [row.number("gbs") * row.number("seq") / row.number("gpus") for row in rows]
    return kept([r.seconds / x for r, x in zip(rows, rate)], [s / x for s, x in zip(simulated, rate)])


def cut(row):
    return " ".join(f"{name}{row[key]}" for name, key in (("t", "tp"), ("p", "pp"), ("v", "vp"), ("d", "dp"), ("b", "mbs")) if row[key] not in ("1", "unknown"))


def lines(rows, simulated):
    header = ("model", "sequence", "GPUs", "cut", "batch", "measured s", "simulated s", "deviation %")
    found = [(row["model"], row["seq"], row["gpus"], cut(row) or "1", row["gbs"], f"{row.seconds:.2f}", f"{time:.2f}", f"{deviation(time, row.seconds):+.1f}")
             for row, time in zip(rows, simulated)]
    return table(header, found)


def in_a_line(rows, simulated):
    """Rows, GPUs, mean and greatest deviation, order."""
    found = [deviation(time, row.seconds) for row, time in zip(rows, simulated)]
    gpus = sorted({row.number("gpus") for row in rows})
    same, pairs = order_of_cuts(rows, simulated)
    all_same, all_pairs = order_of_all(rows, simulated)
    return (len(rows), f"{gpus[0]:,}" + (f" to {gpus[-1]:,}" if len(gpus) > 1 else ""), f"{mean_abs(found):.1f}", f"{sum(found) / len(found):+.1f}",
            f"{max_abs(found):.1f}", f"{same} of {pairs}" if pairs else "", f"{all_same} of {all_pairs}" if all_pairs else "")


def as_csv(rows, simulated):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = ("source_id", "model", "seq", "gpus", "tp", "pp", "vp", "dp", "mbs", "gbs", "recompute", "seq_parallel")
    writer.writerow((*keys, "measured_s", "simulated_s", "deviation_pct"))
    for row, time in zip(rows, simulated):
        writer.writerow((*[row[key] for key in keys], row["iter_time_s"], f"{time:.4f}", f"{deviation(time, row.seconds):.2f}"))
    return out.getvalue()


def outcome(source, rows, simulated):
    return Outcome(tables={source: lines(rows, simulated)} if len(rows) <= 40 else {}, files={f"{source}.csv": as_csv(rows, simulated)},
                   goals=[(row.seconds, time) for row, time in zip(rows, simulated)])
