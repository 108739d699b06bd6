"""The parts of the study of measured iterations, one for each source, and of what they are made of; rows that none of them takes are not compared, and the page says why."""

from statistics import median

from _parts import Outcome
from _runs import deviation, mean_abs, table

from . import accuracy, collectives, compare, decode, kernels, memory, sensitivity, stages
from .rows import read

HEADER = ("source", "rows", "GPUs", "mean deviation %", "signed mean %", "greatest %", "cuts in order", "all in order", "jobs, cuts", "regret %", "random cut %")


def has_norm_kernel(row):
    """Without one the norms are chains of element-wise kernels, which is not modelled."""
    return "RMS kernel" in row["flash_attention"]


def any_row(_):
    return True


SOURCES = {"narayanan21-t1": any_row, "bloom-final": any_row, "zerobubble-t4": any_row, "vocabpar-t5": any_row,
           "hagemann23": has_norm_kernel, "dgxc-24.11": any_row, "dgxc-25.02": any_row, "dgxc-25.01": any_row, "dgxc-25.04": any_row, "dgxc-25.01-grok": any_row,
           "llama3-t4": any_row, "smith22": any_row, "mcore-0.8": any_row, "mcore-moe": any_row, "megascale-t2": any_row, "llm-foundry": any_row}


def rows_of(source):
    return [row for row in read() if row.source == source and SOURCES[source](row)]


def part(source):
    def study(simulator):
        rows = rows_of(source)
        return compare.outcome(source, rows, compare.compare(simulator, rows))

    return study


STAND_INS = ("llama3-t4", "smith22")  # sources whose stack no recipe describes, so that another one's is taken
NEAR = 10  # %

PARTS = {**{source: part(source) for source in SOURCES}, "stages": stages.study, "collectives": collectives.study, "decode": decode.study, "memory": memory.study, "kernels": kernels.study, "sensitivity": sensitivity.study}


def overview(simulator):
    """All sources in a line each, what the page says of all of them, and what summaries say of their stacks, after their parts."""
    lines, regrets, deviations, own = [], [], accuracy.of_megatron(simulator), []
    for source in SOURCES:
        rows = rows_of(source)
        simulated = compare.compare(simulator, rows)
        lines.append((source, *compare.in_a_line(rows, simulated)))
        regrets += compare.regrets(rows, simulated)
        deviations += accuracy.deviations(rows, simulated)
        own += [(source, deviation(time, row.seconds)) for row, time in zip(rows, simulated)]
        if source == "hagemann23":
            hagemann = compare.in_the_mean(compare.regrets(rows, simulated))
            doubled = compare.missing_when_doubled(rows, simulated)
    accuracy.FILE.write_text(accuracy.text(deviations))
    regret = compare.in_the_mean(regrets)
    tables = {"measured-sources": table(HEADER, lines), "measured-regret": compare.regret_in_words(regret), "measured-regret-hagemann": f"{hagemann['regret']:.1f}",
              "measured-doubled": f"{median(doubled):.2f}", "measured-doubled-pairs": f"{len(doubled)}"}
    tables |= {"measured-within": f"{near([off for _, off in own]):.0f}", "measured-without-stand-ins": without_stand_ins(own)}
    return Outcome(tables=tables, summary={"regret_pct": f"{regret['regret']:.2f}", "random_cut_pct": f"{regret['random']:.2f}", "regret_jobs": str(regret["jobs"])})


def near(deviations):
    """How many percent of them are."""
    return 100 * sum(abs(off) <= NEAR for off in deviations) / len(deviations)


def without_stand_ins(deviations):
    """Of (source, deviation in %)."""
    off = [one for source, one in deviations if source not in STAND_INS]
    return f"{mean_abs(off):.1f} % off in the mean, {near(off):.0f} % within {NEAR} %"
