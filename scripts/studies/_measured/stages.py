"""One micro-batch on one stage, as two of the sources profiled it: what the iterations' deviations are made of."""

from _parts import Outcome
from _runs import deviation, table

from .rows import read, settings

# Milliseconds of a forward and a backward pass (input and weight gradients) of a stage in the middle, layers of it, and a row of that model.
# zerobubble-t4: arXiv 2401.10241, table 6; vocabpar-t5: artifact/exp_one_host.csv of sail-sg/VocabularyParallelism, means of the stages between.
PROFILED = (("zerobubble-t4", "GPT 1.5B", "1024", 3, 18.52, 27.42), ("zerobubble-t4", "GPT 6.2B", "1024", 4, 29.72, 49.37),
            ("zerobubble-t4", "GPT 14.6B", "1024", 3, 11.35, 19.38), ("zerobubble-t4", "GPT 28.3B", "1024", 2, 10.42, 17.92),
            ("vocabpar-t5", "GPT ~4B V=32k", "2048", 4, 10.6, 21.1), ("vocabpar-t5", "GPT ~4B V=32k", "4096", 4, 23.8, 45.8))
HEADER = ("source", "model", "sequence", "layers", "forward ms", "simulated", "deviation %", "backward ms", "simulated", "deviation %")


def row_of(source, model, sequence):
    return next(row for row in read() if (row.source, row["model"], row["seq"]) == (source, model, sequence))


def jobs(row, layers):
    """A device with twice the layers, and one with them."""
    alone = {"strategy.pipeline": 1, "strategy.interleave": 1, "strategy.data": 8, "workload.global_batch": 8 * row.number("mbs"), "machine.topology.nodes": 1,
             "simulation.allow_oversubscription": "true"}
    return [(row.file, tuple({**dict(settings(row)), **alone, "model.layers": count, "strategy.stage_layers": str([count])}.items()))
            for count in (2 * layers, layers)]


def study(simulator):
    lines = []
    found = iter(simulator.many([job for *names, layers, _, _ in PROFILED for job in jobs(row_of(*names), layers)]))
    for source, model, sequence, layers, forward, backward in PROFILED:
        double, once = next(found), next(found)
        ours = [(double[name] - once[name]) * 1e-9 for name in ("mean_forward_ps", "mean_backward_ps")]
        lines.append((source, model, sequence, layers, f"{forward:.1f}", f"{ours[0]:.1f}", f"{deviation(ours[0], forward):+.1f}",
                      f"{backward:.1f}", f"{ours[1]:.1f}", f"{deviation(ours[1], backward):+.1f}"))
    return Outcome(tables={"stages": table(HEADER, lines)})
