"""Figures 16 and 17: the wafer's plans beside Megatron's on eight GPUs and on the wafer, and beside streamed weights."""

from _parts import Outcome, geomean, seconds, share, two
from _runs import table
from tessera_analysis import watos_figures
from tessera_analysis.bars import Row

from . import maps, streams
from .cells import LARGEST, MODELS, POINTS, WAYS, bound_of, cells, fastest, of_bound, plan_of, ratio, text

GPUS = "watos/mg-gpu.toml"
OPEN = tuple((f"strategy.{key}", "any") for key in ("tensor", "pipeline", "data", "recomputation"))
RIVALS = ("MG-wafer (a)", "MG-wafer (b)", "streamed weights", "MG-GPU")
SHOWN = ("MG-wafer (a)", "MG-wafer (b)", "streamed from hosts", "streamed from dies", "MG-GPU")
PAPER = {"MG-GPU": 1.75, "MG-wafer (a)": 2.45, "streamed weights": 1.31}  # iteration time over ours, "up to" but for one
THROUGHPUT = {"MG-GPU": 1.92, "MG-wafer (a)": 2.74, "streamed weights": 1.53}  # ours over theirs, in the same way
IN_THE_MEAN = "MG-GPU"  # whose figure is no "up to"
AGAIN = (30, 60)  # % of MG-wafer's recomputation
SMALL, SMALLEST = 64, 187  # batch, and % over streamed weights "under small batch sizes and short sequences"
COMPUTES = 40  # %: MG-wafer's use of the dies' compute of ours
TOLERANCE = 0.05


def study(simulator):
    rows = cells()
    jobs = {(way, row): row.job(*settings) for way, settings in WAYS.items() for row in rows}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    found |= {("MG-GPU", row): on_gpus(simulator, row) for row in rows}
    for row, by_source in streams.by_source(simulator, {row: row.settings() for row in rows}).items():
        found |= {(f"streamed from {source}", row): result for source, result in by_source.items()}
        found["streamed weights", row] = fastest(by_source.values())
    tables = {"figure 16": times(rows, found), "figure 16 gains": gains(rows, found), "figure 16 work": work(rows, found), "figure 17": use(rows, found)}
    picture = watos_figures.figure_16, ([Row(row.model, f"{row.sequence:,} x {row.micro_batch}\nbatch {row.batch}", {name: over_ours(found, name, row) or 0 for name in RIVALS}) for row in rows], PAPER)
    whole = Outcome(tables=tables, claims=sentences(rows, found), pictures={"figure-16": picture}, summary=counts(rows, found))
    whole.add(maps.study(simulator))
    return whole


def on_gpus(simulator, row):
    """Of all cuts of eight GPUs and all of none, selective and full recomputation the fastest."""
    return simulator.fastest(GPUS, (*row.settings(), *OPEN))[0]


def times(rows, found):
    lines = []
    for row in rows:
        ours = found["WATOS", row]
        lines.append((*row.named(), two(bound_of(ours)), text(ours), *[text(found[name, row]) for name in SHOWN], plan_of(ours), plan_of(found["MG-wafer (a)", row]) if found["MG-wafer (a)", row] else "",
                      streams.text_of(found["streamed weights", row])))
    return table(("model", "sequences", "batch", "bound s", "WATOS s", *[f"{name} s" for name in SHOWN], "plan", "of (a)", "streamed"), lines)


def over_ours(found, name, row):
    return ratio(found[name, row], found["WATOS", row])


def gains_of(found, name, rows):
    """Of the rows in which both fit."""
    return [value for row in rows if (value := over_ours(found, name, row))]


def gains(rows, found):
    """Time of a rival over ours, and what it could be at most."""
    lines = []
    for name in RIVALS:
        for model in MODELS:
            own = [(over_ours(found, name, row), seconds(found[name, row]) / bound_of(found["WATOS", row])) for row in rows if row.model == model and found[name, row]]
            if own:
                gain, most = zip(*own)
                lines.append((name, model, len(own), two(geomean(gain)), two(max(gain)), two(geomean(most)), two(max(most))))
    return table(("rival", "model", "cells that fit", "its time over ours, mean", "most", "bound, mean", "most"), lines)


def work(rows, found):
    """How much runs again, and what of the peak is reached: of the model's own FLOP, and of all that are executed."""
    lines = []
    for row in rows:
        cells_of = [found[name, row] for name in ("WATOS", "MG-wafer (a)")]
        again = [100 * result["mean_recomputation_ps"] / result["iteration_time_ps"] if result else None for result in cells_of]
        less = share_again(found, row)
        of_peak = lambda what, result: f"{100 * result[f'{what}_flops_utilisation']:.1f}" if result else ""
        lines.append((*row.named(), *[f"{one:.1f}" if one is not None else "" for one in again], f"{less:.0f}" if less is not None else "", *[of_peak(what, result) for what in ("model", "hardware") for result in cells_of]))
    return table(("model", "sequences", "batch", "again, WATOS %", "(a) %", "WATOS / (a) %", "model FLOP, WATOS %", "(a) %", "executed FLOP, WATOS %", "(a) %"), lines)


def use(rows, found):
    """What GPT-175B's plans use of a die, of its memory and of its links."""
    lines = []
    for row in rows:
        if row.model != LARGEST:
            continue
        for name in ("WATOS", "MG-wafer (a)", "MG-wafer (b)"):
            result = found[name, row]
            if not result:
                continue
            mean, most = result["use_of_links"]["d2d"]
            lines.append((*row.named()[1:], name, plan_of(result), f"{100 * computing(result):.0f}", f"{100 * mean_memory(result):.0f}", f"{100 * mean:.1f}", f"{100 * most:.1f}"))
    return table(("sequences", "batch", "plan", "cut and tile", "computing %", "memory full, mean %", "links busy, mean %", "busiest %"), lines)


def mean_memory(result):
    return sum(peak for peak, _ in result["memory_of_stages"].values()) / len(result["memory_of_stages"]) / result["memory_capacity"]


def sentences(rows, found):
    lines = []
    for name, paper in PAPER.items():
        fits = [row for row in rows if found[name, row]]
        mean, most = geomean(gains_of(found, name, rows)), max(gains_of(found, name, rows))
        bound = max(seconds(found[name, row]) / bound_of(found["WATOS", row]) for row in fits)
        reached = mean if name == IN_THE_MEAN else most
        lines.append((f"time of {name} over ours", stated(name, paper), f"{two(mean)} in the mean, {two(most)} at most; {two(bound)} over the bound", reached >= (1 - TOLERANCE) * paper))
    for name, paper in THROUGHPUT.items():
        faster = [throughput(found["WATOS", row]) / throughput(found[name, row]) for row in rows if found[name, row]]
        reached = geomean(faster) if name == IN_THE_MEAN else max(faster)
        lines.append((f"FLOP that ours executes a second, over {name}", stated(name, paper), f"{two(geomean(faster))} in the mean, {two(max(faster))} at most", reached >= (1 - TOLERANCE) * paper))
    hosts = gains_of(found, "streamed from hosts", rows)
    lines.append(("time of weights streamed from hosts alone, over ours", stated("streamed weights", PAPER["streamed weights"]), f"{two(geomean(hosts))} in the mean, {two(max(hosts))} at most", max(hosts) >= (1 - TOLERANCE) * PAPER["streamed weights"]))
    least = [min((value for name in ("MG-wafer (a)", "MG-wafer (b)") if (value := over_ours(found, name, row))), default=2) for row in rows]
    first = sum(value >= 1 for value in least)
    lines.append(("ours is first or equal against MG-wafer, whose plans are among ours", "all", f"{share(first, len(rows))}, first by over 0.5 % in {sum(value > 1.005 for value in least)}", first == len(rows)))
    again = [value for row in rows for value in [share_again(found, row)] if value is not None]
    within = sum(AGAIN[0] <= value <= AGAIN[1] for value in again)
    share_of = " to ".join(dict.fromkeys(f"{value:.0f}" for value in (min(again), max(again))))
    lines.append(("recomputation, of MG-wafer's", f"{AGAIN[0]} to {AGAIN[1]} %", f"{share_of} %; within it {share(within, len(again))}", within == len(again)))
    small, large = (over_ours(found, "streamed weights", row) for row in batches(rows))
    lines.append(("gain over streaming, batch 64 before 512", "larger", f"{two(small)} and {two(large)}", small > large))
    short, long = (geomean(of) for of in by_length(rows, found))
    lines.append(("gain over streaming, sequences of 2,048 before 4,096, in micro-batches of as many tokens", "larger", f"{two(short)} and {two(long)} in the mean", short > long))
    most = 100 * (max(gains_of(found, "streamed weights", [row for row in rows if row.batch == SMALL])) - 1)
    lines.append((f"gain over streaming, most at batch {SMALL}", f"{SMALLEST} %", f"{most:.0f} %; {100 * (max(hosts) - 1):.0f} % from hosts alone", most >= (1 - TOLERANCE) * SMALLEST))
    low = min(100 * computing(found["MG-wafer (a)", row]) / computing(found["WATOS", row]) for row in rows if row.model == LARGEST and found["MG-wafer (a)", row])
    return [*lines, ("compute that MG-wafer uses, of ours, GPT-175B", f"{COMPUTES} %", f"{low:.0f} % at least", low <= COMPUTES * (1 + TOLERANCE))]


def stated(name, paper):
    return two(paper) if name == IN_THE_MEAN else f"up to {two(paper)}"


def by_length(rows, found):
    """Time of streamed weights over ours at the small batch, of the grid's points with the most tokens of a micro-batch: short sequences and
    longer ones."""
    tokens = max(sequence * micro_batch for sequence, micro_batch in POINTS)
    points = sorted(point for point in POINTS if point[0] * point[1] == tokens)
    return [gains_of(found, "streamed weights", [row for row in rows if row.batch == SMALL and (row.sequence, row.micro_batch) == point]) for point in points]


def batches(rows):
    """The first point of the largest model, by batch."""
    own = sorted((row for row in rows if row.model == LARGEST), key=lambda row: (row.sequence, row.micro_batch, row.batch))
    return own[0], own[1]


def share_again(found, row):
    """% of the recomputation of MG-wafer that ours has, None where that has none."""
    ours, theirs = found["WATOS", row], found["MG-wafer (a)", row]
    return 100 * ours["mean_recomputation_ps"] / theirs["mean_recomputation_ps"] if theirs and theirs["mean_recomputation_ps"] else None


def throughput(result):
    """FLOP/s, with what is computed again, as the paper counts it."""
    return result["hardware_flops"] / seconds(result)


def computing(result):
    """Share of a die's time, with what is computed again."""
    return sum(result[f"mean_{what}_ps"] for what in ("forward", "backward", "recomputation")) / result["iteration_time_ps"]


def counts(rows, found):
    first = sum(not found[name, row] or over_ours(found, name, row) >= 1 for row in rows for name in ("MG-wafer (a)", "MG-wafer (b)"))
    reached = [of_bound(found["WATOS", row]) for row in rows]
    return {"first_or_equal": f"{first}/{2 * len(rows)}", "least_of_bound": two(min(reached)), "most_of_bound": two(max(reached)),
            "paper_over_mg_wafer": PAPER["MG-wafer (a)"], "most_over_mg_wafer": two(max(gains_of(found, "MG-wafer (a)", rows)))}
