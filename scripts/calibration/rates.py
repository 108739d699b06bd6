"""The rate that explains measured times: time = overhead + pure time / rate. Robust: an outlier pulls no more than any other row."""

import math

LEAST = 0.01  # share that the simulator takes


def robust(pure, measured, overhead):
    """(rate, error): the mean of |log((overhead + pure / rate) / measured)| is least among the rates that a row has exactly, where it is least at all
    but for the overhead. Times in us. None where no row takes longer than the overhead."""
    rates = [least / (us - overhead) for least, us in zip(pure, measured) if us > overhead]

    def error(rate):
        return sum(abs(math.log((overhead + least / rate) / us)) for least, us in zip(pure, measured)) / len(measured)

    best = min(rates, key=error, default=None)
    return None if best is None else (best, error(best))


def together(groups, overhead):
    """(rate, error) of several operations of one kind: what they do over the time that they take, each at its own robust rate, so that a slow backward
    pass counts for what it moves. `groups`: a pair (pure, measured) for each. None where none of them has a rate."""
    found = [(sum(pure), robust(pure, measured, overhead)) for pure, measured in groups]
    found = [(work, *rate_and_error) for work, rate_and_error in found if rate_and_error is not None]
    if not found:
        return None
    return sum(work for work, _, _ in found) / sum(work / rate for work, rate, _ in found), sum(error for _, _, error in found) / len(found)


def grouped(rows, pure, key):
    """Pairs (pure, measured) of the rows that are alike by `key`; `pure`: times by row."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return [([pure[row] for row in alike], [row.us for row in alike]) for alike in groups.values()]


def limited(rate):
    """As the simulator takes it, with three digits."""
    return min(1.0, max(LEAST, float(f"{rate:.3g}")))
