"""Of each published row the fastest cut that does the same job, and of each model the fastest of all."""

from _parts import Outcome, seconds, two
from _runs import table

WAYS = ("full", "selective")
MODELS = {"22b": (), "175b": (), "530b": ("--within", "2%"), "1t": ("--within", "2%")}  # how far the search goes
PARTS_OF_TIME = {"products and kernels": ("forward", "backward", "optimizer"), "recomputation": ("recomputation",), "tensor": ("tensor_communication",),
                 "pipeline": ("pipeline_communication",), "data": ("data_communication",), "waiting": ("waiting",), "bubble": ("bubble", "idle")}
KEYS = ("tensor", "pipeline", "data", "micro_batch", "interleave", "schedule", "recomputation", "sequence_parallel", "distributed_optimizer",
        "overlap_gradient_reduction")


def study(simulator, model):
    published = dict(zip(WAYS, simulator.many([(f"megatron/{model}-{way}.toml", ()) for way in WAYS])))
    searched = {way: simulator.fastest(f"plans/{model}.toml", (("strategy.recomputation", way),), MODELS[model]) for way in (*WAYS, "any")}
    slower = {way: 100 * (seconds(published[way]) / seconds(searched[way][0]) - 1) for way in WAYS}
    tables = {f"{model} searches": searches_table(published, searched, slower), f"{model} times": times_table(published, searched), f"{model} cuts": cuts_table(searched)}
    return Outcome(tables=tables, summary={f"slower_pct_{model}_{way}": two(slower[way]) for way in WAYS})


def searches_table(published, searched, slower):
    lines = []
    for way, (best, frame, taken) in searched.items():
        fates = frame["fate"].value_counts()
        theirs = (two(seconds(published[way])), f"{slower[way]:+.1f}") if way in WAYS else ("-", "-")
        counts = [int(fates.get(fate, 0)) for fate in ("does not fit", "cannot run", "struck out by its bound", "left", "simulated")]
        lines.append((way, len(frame), *counts, f"{gap(frame):.1f}", two(seconds(best)), *theirs, f"{taken:.0f}"))
    return table(("recomputation", "candidates", "too large", "cannot run", "struck out", "left", "simulated", "gap %", "best s", "published s", "slower %", "search s"), lines)


def gap(frame):
    """By how many percent what was not simulated might be faster than the best that was."""
    best = frame[frame["fate"] == "simulated"]["iteration_time_ps"].min()
    left = frame[frame["fate"].isin(("left", "struck out by its bound"))]["bound_ps"]
    return 0.0 if left.empty else max(0.0, 100 * (1 - left.min() / best))


def times_table(published, searched):
    """Seconds of an average device."""
    lines = []
    for way in (*WAYS, "any"):
        for name, run in (("published", published.get(way)), ("fastest", searched[way][0])):
            if run is not None:
                parts = [sum(run.get(f"mean_{one}_ps", 0) for one in ones) * 1e-12 for ones in PARTS_OF_TIME.values()]
                lines.append((f"{way}, {name}", *map(two, parts), f"{run['peak_memory'] / 1e9:.1f}"))
    return table(("seconds", *PARTS_OF_TIME, "peak memory GB"), lines)


def cuts_table(searched):
    """The fastest that were simulated, three a search."""
    lines = []
    for way, (_, frame, _) in searched.items():
        ranked = frame[frame["fate"] == "simulated"].sort_values(["iteration_time_ps", "point"]).head(3)
        for row in ranked.to_dict("records"):
            lines.append((way, two(row["iteration_time_ps"] * 1e-12), *[shown(row[key]) if key in row else "-" for key in KEYS]))
    return table(("recomputation", "s", *[key.replace("_", " ") for key in KEYS]), lines)


def shown(value):
    return {"true": "yes", "false": "no"}.get(value, value)
