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
        tables={"primepar-throughput": table(("model", "GPUs", "layers", "(a) ms", "(b)", "(b) ms", "(c) ms", "PrimePar ms", "over (a)", "over (b)", "over (c)", "in 1.11-1.68"),
                                             [row(one) for one in found]),
                "primepar-memory": table(("model", "GPUs", "(a) GB", "(b) GB", "PrimePar GB", "of (a)", "of (b)", "of (a) in 68-93 %"), [memory_row(one) for one in found if one.primepar]),
                "primepar-plans": plans(found)},
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
        return (title, one.cell.gpus, one.layers, *["-"] * 9)
    return (title, one.cell.gpus, one.layers, milliseconds(one.a), degree(one), milliseconds(one.b), milliseconds(one.c), milliseconds(one.primepar), *[marked(one.speedup(baseline)) for baseline in BASELINES],
            place(one.speedup("a"), paper.THROUGHPUT))


def place(value, bounds):
    low, high = bounds
    return "below" if round(value, 2) < low else "above" if round(value, 2) > high else "yes"


def share(one):
    return one.primepar["peak_memory"] / one.a["peak_memory"]


def memory_row(one):
    gigabytes = [f"{side['peak_memory'] * 1e-9:.1f}" if side else "-" for side in (one.a, one.b, one.primepar)]
    of_b = f"{100 * one.primepar['peak_memory'] / one.b['peak_memory']:.0f} %" if one.b else "-"
    return (MODELS[one.cell.model][0], one.cell.gpus, *gigabytes, f"{100 * share(one):.0f} %", of_b, place(share(one), paper.MEMORY))


def plans(found):
    """What the search took for some products of OPT-175B and Llama2-70B."""
    names = ("qkv", "fc1", "fc2")
    chosen = [one for one in found if fits(one) and one.cell.model in ("opt-175b", "llama2-70b")]
    return table(("model", "GPUs", *names), [(MODELS[one.cell.model][0], one.cell.gpus, *[f"`{one.primepar['plan'][name]}`" for name in names]) for one in chosen])


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
