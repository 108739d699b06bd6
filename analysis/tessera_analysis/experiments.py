"""In which keys two resolved experiments differ."""

import json
import tomllib

from .file import ResultsError

MOST_KEYS = 20
LONGEST_VALUE = 40


def differences(a, b):
    """(key, value in a, value in b) of each key of two results whose values differ; None: it is not given."""
    first, second = _keys(a), _keys(b)
    keys = list(first) + [key for key in second if key not in first]
    return [(key, first.get(key), second.get(key)) for key in keys if first.get(key) != second.get(key)]


def text(found):
    """A line a key; none where nothing differs."""
    if not found:
        return ["experiments: no key differs"]
    width = max(len(key) for key, _, _ in found[:MOST_KEYS]) + 2
    lines = ["experiments differ in"]
    lines += [f"  {key:<{width}}{_shortened(was)} -> {_shortened(now)}" for key, was, now in found[:MOST_KEYS]]
    if len(found) > MOST_KEYS:
        lines.append(f"  and {len(found) - MOST_KEYS} more keys")
    return lines


def _keys(results):
    try:
        return dict(_flat(tomllib.loads(results.experiment), ""))
    except tomllib.TOMLDecodeError as error:
        raise ResultsError(f"cannot read '{results.path}': its experiment is no TOML: {error}", 4) from None


def _flat(table, path):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield path + key, value


def _shortened(value):
    written = "(not given)" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= LONGEST_VALUE else written[:LONGEST_VALUE - 3] + "..."
