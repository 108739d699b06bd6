"""What is known of points without a value: that they take at least so long, or why they have none."""

from typing import NamedTuple

import pandas

from . import style
from .points import BOUND, TIME
from .scale import named

# By exit code of `tessera run`, and by fate of a search's candidate: what stands at the point, and what it is.
CODES = {2: "refused", 3: "cannot be carried out", 4: "failed", 5: "failed"}
FATES = {"does not fit": ("does not\nfit", "does not fit into memory"), "cannot run": ("cannot\nrun", "cannot run")}
OPEN = "not simulated"
NOT_DONE, NOT_SIMULATED = "#D55E00", "#606060"  # colours
REASON_LENGTH = 160


class Absent(NamedTuple):
    """Of the points at one place, none of which has a value."""

    text: str  # what stands there; of a bound nothing, since its number does
    words: str  # what that is
    reason: str = ""  # in the words of the first of these points
    least: float = 0.0  # ps: no time here is below it; 0: not known

    @property
    def may_run(self):
        return self.words.startswith(OPEN)


def judge(points, rows, column):
    """What to say of these rows, at least one, of which none has a value in the column."""
    open_rows = rows[points.may_run[rows.index]]
    if not open_rows.empty:
        bounds = open_rows[BOUND] if BOUND in rows and column == TIME else pandas.Series([0])
        # One without a bound may be as fast as it likes.
        if (bounds > 0).all():
            return Absent("", f"{OPEN}, at least the time given", least=float(bounds.min()))
        return Absent("not sim-\nulated", OPEN)
    return _reason(rows)


def _reason(rows):
    """Why nothing at this place can be carried out: what most rows say."""
    key = "fate" if "fate" in rows else "code"
    most = rows[key].value_counts().sort_index(ascending=False).idxmax()
    first = rows[rows[key] == most].iloc[0]
    text, words = FATES.get(most, (str(most), str(most))) if key == "fate" else (str(most), f"{most} {CODES.get(most, 'failed')}")
    return Absent(text, words, str(first.get("message", "")))


def legend_of(absents, mark_of, things):
    """Lines that say what has which mark, and how many `things` ("cell") have it."""
    lines = []
    for words in dict.fromkeys(sorted((each.words for each in absents), key=lambda words: (not words.startswith(OPEN), words))):
        alike = [each for each in absents if each.words == words]
        count = f"{len(alike):,} {things}" + ("" if len(alike) == 1 else "s")
        reason = next((each.reason for each in alike if each.reason), "")
        lines.append(f"{mark_of(alike[0])}: {words} ({count})" + (f", such as: {_short(reason)}" if reason else ""))
    return lines


def _short(text):
    line = " ".join(text.split())
    return line if len(line) <= REASON_LENGTH else line[:REASON_LENGTH - 3] + "..."


def say_below(figure, points, absents, mark_of, things, more=()):
    """Below everything: what is marked, what stands nowhere, and which axes others give."""
    lines = legend_of(absents, mark_of, things) + list(more)
    lines += [f"{named(name)} is given by {' and '.join(named(each) for each in by)} in these points" for name, by in points.given.items()]
    if lines:
        style.note(figure, "\n".join(lines))
