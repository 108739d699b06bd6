"""Training throughput and peak memory: six models on 4 to 32 GPUs, against three baselines."""

from _parts import Outcome, two
from _runs import table
from tessera_analysis import primepar_figures
from tessera_analysis.bars import Row

from . import paper
from .bench import BASELINES, HEADLINE, MODELS, in_range, marked, nearest, range_keys, speedups


def study(bench):
    found = bench.compare_all(HEADLINE)
    return Outcome(
        tables={"primepar-throughput": table(("model", "GPUs", "layers", "(a) ms", "(b)", "(b) ms", "(c) ms", "PrimePar ms", "over (a)", "over (b)", "over (c)", "memory of (a)", "of (b)", "fc1"),
                                             [row(one) for one in found])},
        pictures={"throughput": (primepar_figures.throughput, (rows(found), paper.THROUGHPUT)), "memory": (primepar_figures.memory, (memory_rows(found), paper.MEMORY))},
        summary=summary(found), goals=[nearest(one.speedup("a")) for one in found if one.primepar])


def fits(one):
    return one.primepar is not None


def milliseconds(result):
    return f"{result['iteration_time_ps'] * 1e-9:,.0f}" if result else "does not fit"


def degree(one):
    return f"DP {2 ** one.degree[0]}, TP {2 ** one.degree[1]}" if one.degree else "-"


def row(one):
    title = MODELS[one.cell.model][0]
    if not fits(one):
        return (title, one.cell.gpus, one.layers, *["-"] * 11)
    of_b = f"{100 * one.primepar['peak_memory'] / one.b['peak_memory']:.0f} %" if one.b else "-"
    return (title, one.cell.gpus, one.layers, milliseconds(one.a), degree(one), milliseconds(one.b), milliseconds(one.c), milliseconds(one.primepar), *[marked(one.speedup(baseline)) for baseline in BASELINES],
            percent(share(one)), of_b, f"`{one.primepar['plan']['fc1']}`")


def percent(value):
    """Bold in the slides' range, as speedups are."""
    low, high = paper.MEMORY
    text = f"{100 * value:.0f} %"
    return f"**{text}**" if low <= round(value, 2) <= high else text


def share(one):
    return one.primepar["peak_memory"] / one.a["peak_memory"]


def summary(found):
    """The headline's cells= and so on are those over baseline (a)."""
    found = [one for one in found if fits(one)]
    keys = in_range(speedups(found, "a")) | range_keys(found)
    keys |= {f"{end.__name__}_{baseline}": two(end(speedups(found, baseline))) for baseline in BASELINES for end in (min, max)}
    return keys | {"memory_" + key: value for key, value in in_range([share(one) for one in found], paper.MEMORY).items()}


def rows(found):
    """Speedups over (a), by model and GPUs."""
    return [Row(MODELS[one.cell.model][0], str(one.cell.gpus), {name: one.a["iteration_time_ps"] / (getattr(one, name) or one.a)["iteration_time_ps"] for name in ("a", "b", "c", "primepar")})
            for one in found if fits(one)]


def memory_rows(found):
    return [Row(MODELS[one.cell.model][0], str(one.cell.gpus), {"primepar": share(one)}) for one in found if fits(one)]
