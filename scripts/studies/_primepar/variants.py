"""The same cells with other all-reduces, gradients overlapped, and other batches: where P pays, and where not."""

from _parts import Outcome, two
from _runs import table

from .bench import BASELINES, MODELS, Cell, changed, in_range, marked, range_keys, speedups

ALGORITHMS = {(algorithm, overlap): f"{algorithm}{', gradients overlapped' if overlap else ''}" for algorithm in ("ring", "hierarchical") for overlap in (False, True)}
BATCHES = (1, 2, 4, 16, 32)
# One small and two large models, one of them with few heads of keys and values, on two and four nodes.
VARIED, GPUS = ("opt-6.7b", "opt-175b", "llama2-70b"), (8, 16)
CELLS = [Cell(model, gpus) for model in VARIED for gpus in GPUS]


def algorithms(bench):
    rows, totals, keys = [], [], {}
    bench.compare_all([cell for algorithm, overlap in ALGORITHMS for cell in changed(CELLS, algorithm=algorithm, overlap=overlap)])  # at once
    for (algorithm, overlap), title in ALGORITHMS.items():
        found = bench.compare_all(changed(CELLS, algorithm=algorithm, overlap=overlap))
        rows += cell_rows(title, found)
        totals.append((title, *counts(found)))
        keys |= range_keys(found, f"{algorithm}{'_overlapped' if overlap else ''}_")
    return Outcome(tables={"primepar-algorithms": cells_table("all-reduce", rows), "primepar-algorithm-totals": totals_table("all-reduce", totals)}, summary=keys)


def batches(bench):
    rows, totals, keys = [], [], {}
    bench.compare_all([cell for batch in BATCHES for cell in changed(CELLS, batch=batch)])  # at once
    for batch in BATCHES:
        found = bench.compare_all(changed(CELLS, batch=batch))
        rows += cell_rows(batch, found)
        totals.append((f"batch {batch}", *counts(found)))
        keys |= range_keys(found, f"batch_{batch}_")
    return Outcome(tables={"primepar-batches": cells_table("batch", rows), "primepar-batch-totals": totals_table("", totals)}, summary=keys)


def counts(found):
    """By baseline: cells in range, below and above, and the least and greatest speedup."""
    values = []
    for baseline in BASELINES:
        of_baseline = speedups(found, baseline)
        keys = in_range(of_baseline)
        values.append(f"{keys['in_range']} of {keys['cells']}, {keys['below']}, {keys['above']}; {two(min(of_baseline))}-{two(max(of_baseline))}" if of_baseline else "-")
    return values


def totals_table(name, rows):
    return table((name, *[f"over ({baseline}): in range, below, above; least-greatest" for baseline in BASELINES]), rows)


def cell_rows(title, found):
    """Speedups over (a), (b) and (c) by model and GPUs; behind them the layers."""
    by_place = {(one.cell.model, one.cell.gpus): one for one in found}

    def text(one):
        if one.primepar is None:
            return "-"
        return " / ".join(marked(one.speedup(baseline)) for baseline in BASELINES) + f" ({one.layers})"

    return [(title, MODELS[model][0], *[text(by_place[model, gpus]) for gpus in GPUS]) for model in VARIED]


def cells_table(name, rows):
    return table((name, "over (a) / (b) / (c), (layers)", *[f"{gpus} GPUs" for gpus in GPUS]), rows)
