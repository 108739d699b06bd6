"""A source's rows, measured beside simulated."""

import csv
import io
import math
from statistics import mean

from _parts import Outcome, seconds
from _runs import deviation, max_abs, mean_abs, table

from .rows import settings

ROWS_ON_THE_PAGE = 9  # of a source; of more there is a file alone
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
        key = tuple(row[name] for name in ("model", "gpu", "gpus", "seq", "gbs", "vocab"))
        found.setdefault(key, []).append(index)
    return list(found.values())


def order_of_cuts(rows, simulated):
    """Over pairs of rows of the same job."""
    both = [kept([rows[i].seconds for i in job], [simulated[i] for i in job]) for job in jobs(rows)]
    return sum(pair[0] for pair in both), sum(pair[1] for pair in both)


def regrets(rows, simulated):
    """(cuts, regret %, that of a random cut %) of each job that was measured with several cuts: how much longer than its fastest cut the one
    takes that is ranked first here, and one that is drawn takes in the mean. Cuts that come out alike count in the mean."""
    found = []
    for job in jobs(rows):
        if len(job) == 1:
            continue
        seconds_of = [rows[i].seconds for i in job]
        first = min(simulated[i] for i in job)
        chosen = mean(rows[i].seconds for i in job if simulated[i] == first)
        found.append((len(job), deviation(chosen, min(seconds_of)), deviation(mean(seconds_of), min(seconds_of))))
    return found


def missing_when_doubled(rows, simulated):
    """Of each two rows that differ in a micro-batch twice as large alone: by how much that multiplies what is missing of a pass of a micro-batch through a stage.
    What a kernel's launch takes does not depend on its size: 1. What goes with the elements that it works on: 2."""
    missing = {}
    for row, time in zip(rows, simulated):
        size = row.number("mbs")
        passes = row.number("gbs") // row.number("dp") // size + row.number("pp") - 1
        rest = tuple(row[key] for key in ("model", "gpus", "seq", "gbs", "vocab", "tp", "pp", "vp", "dp", "recompute", "seq_parallel"))
        missing[(*rest, size)] = (row.seconds - time) / passes
    return [missing[(*rest, 2 * size)] / alone for (*rest, size), alone in missing.items() if (*rest, 2 * size) in missing]


def order_of_all(rows, simulated):
    """Of the rates, sequences' tokens a second and GPU, over pairs of all rows of a source."""
    rate = [row.number("gbs") * row.number("seq") / row.number("gpus") for row in rows]
    return kept([r.seconds / x for r, x in zip(rows, rate)], [s / x for s, x in zip(simulated, rate)])


def cut(row):
    return " ".join(f"{name}{row[key]}" for name, key in (("t", "tp"), ("p", "pp"), ("v", "vp"), ("d", "dp"), ("c", "cp"), ("e", "ep"), ("b", "mbs")) if row[key] not in ("1", "unknown"))


def lines(rows, simulated):
    header = ("model", "sequence", "GPUs", "cut", "batch", "measured s", "simulated s", "deviation %")
    found = [(row["model"], row["seq"], row["gpus"], cut(row) or "1", row["gbs"], f"{row.seconds:.2f}", f"{time:.2f}", f"{deviation(time, row.seconds):+.1f}")
             for row, time in zip(rows, simulated)]
    return table(header, found)


def in_a_line(rows, simulated):
    """Rows, GPUs, mean and greatest deviation, order, regret."""
    found = [deviation(time, row.seconds) for row, time in zip(rows, simulated)]
    gpus = sorted({row.number("gpus") for row in rows})
    same, pairs = order_of_cuts(rows, simulated)
    all_same, all_pairs = order_of_all(rows, simulated)
    regret = in_the_mean(regrets(rows, simulated))
    return (len(rows), f"{gpus[0]:,}" + (f" to {gpus[-1]:,}" if len(gpus) > 1 else ""), f"{mean_abs(found):.1f}", f"{sum(found) / len(found):+.1f}",
            f"{max_abs(found):.1f}", f"{same} of {pairs}" if pairs else "", f"{all_same} of {all_pairs}" if all_pairs else "",
            f"{regret['jobs']} with {regret['cuts']}" if regret else "", f"{regret['regret']:.1f}" if regret else "", f"{regret['random']:.1f}" if regret else "")


def in_the_mean(regret):
    """Of regrets(): none where no job has several cuts."""
    if not regret:
        return {}
    return {"jobs": len(regret), "cuts": sum(cuts for cuts, _, _ in regret), "regret": mean(ours for _, ours, _ in regret), "greatest": max(ours for _, ours, _ in regret),
            "none": sum(ours < 0.005 for _, ours, _ in regret), "random": mean(random for _, _, random in regret)}


def regret_in_words(regret):
    """Of in_the_mean()."""
    return (f"{regret['regret']:.1f} % longer than the fastest measured one, in the mean over {regret['jobs']} jobs with {regret['cuts']} measured cuts (a random cut {regret['random']:.1f} %); "
            f"in {regret['none']} jobs it is the fastest, and the greatest regret is {regret['greatest']:.1f} %")


def as_csv(rows, simulated):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = ("source_id", "model", "seq", "gpus", "tp", "pp", "vp", "dp", "cp", "ep", "mbs", "gbs", "recompute", "seq_parallel")
    writer.writerow((*keys, "measured_s", "simulated_s", "deviation_pct"))
    for row, time in zip(rows, simulated):
        writer.writerow((*[row[key] for key in keys], row["iter_time_s"], f"{time:.4f}", f"{deviation(time, row.seconds):.2f}"))
    return out.getvalue()


def outcome(source, rows, simulated):
    return Outcome(tables={source: lines(rows, simulated)} if len(rows) <= ROWS_ON_THE_PAGE else {}, files={f"{source}.csv": as_csv(rows, simulated)},
                   goals=[(row.seconds, time) for row, time in zip(rows, simulated)])
