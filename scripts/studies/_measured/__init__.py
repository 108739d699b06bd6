"""The parts of the study of measured iterations, one for each source; rows that none of them takes are not compared, and the page says why."""

from _runs import table

from . import compare, stages
from .rows import read

HEADER = ("source", "rows", "GPUs", "mean deviation %", "signed mean %", "greatest %", "cuts in order", "all in order")


def of_a_size_to_run(row):
    """Larger ones take more than ten minutes each on two cores."""
    return row.number("gpus") <= 2048


def has_norm_kernel(row):
    """Without one the norms are chains of element-wise kernels, which is not modelled."""
    return "RMS kernel" in row["flash_attention"]


SOURCES = {"narayanan21-t1": of_a_size_to_run, "bloom-final": of_a_size_to_run, "zerobubble-t4": of_a_size_to_run, "vocabpar-t5": of_a_size_to_run,
           "hagemann23": has_norm_kernel, "dgxc-24.11": of_a_size_to_run, "dgxc-25.02": of_a_size_to_run}


def rows_of(source):
    return [row for row in read() if row.source == source and SOURCES[source](row)]


def part(source):
    def study(simulator):
        rows = rows_of(source)
        return compare.outcome(source, rows, compare.compare(simulator, rows))

    return study


PARTS = {**{source: part(source) for source in SOURCES}, "stages": stages.study}


def overview(simulator):
    """All sources in a line each, after their parts."""
    lines = []
    for source in SOURCES:
        rows = rows_of(source)
        lines.append((source, *compare.in_a_line(rows, compare.compare(simulator, rows))))
    return {"measured-sources": table(HEADER, lines)}
