"""A plan file as settings, so that a study can carry its plan out on another wafer, or with one key changed."""

import json
import tomllib

SEARCHED_KEYS = ("name", "search")  # of the search itself, not of what it found


def settings_of(path):
    """("strategy.KEY", TOML) of all keys of a plan, which leave nothing to be searched."""
    strategy = tomllib.loads(path.read_text())["strategy"]
    return tuple((f"strategy.{key}", as_text(value)) for key, value in strategy.items() if key not in SEARCHED_KEYS)


def as_text(value):
    """TOML of one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return json.dumps(value)


def at_places(settings, places):
    """The same plan with other dies for its stages, in their order."""
    stages = tomllib.loads(f"stages = {dict(settings)['strategy.stages']}")["stages"]
    if len(stages) != len(places):
        raise ValueError(f"{len(places)} places for {len(stages)} stages")
    moved = [stage | {"devices": list(place)} for stage, place in zip(stages, places)]
    return (*settings, ("strategy.stages", as_text(moved)))
