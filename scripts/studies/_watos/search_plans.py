"""GPT-175B: plans of the search beside those by Megatron's rules, and what predictions are worth on plans that are drawn at random."""

import numpy
from _parts import Outcome, three
from _runs import table

from .jobs import SEARCHED

JOBS = ((64, 1), (512, 1), (64, 2), (64, 4))  # batch and micro-batch, sequences
BARS = {(64, 1): 11.23, (512, 1): 81.9}  # s, from a trial: the better of TP 8, PP 7 without lending and TP 4, PP 14 with free memory
RANDOM_PLANS = 200
DRAWN = (("strategy.search.random_plans", RANDOM_PLANS),)
KINDS = {"the search": ("genetic", "memory", "recomputation", "scheduler"), "MG-wafer (a)": ("MG-wafer (a)",), "MG-wafer (b)": ("MG-wafer (b)",)}
PS = 1e12
CHOICES = 20  # a tenth of the plans


def study(simulator):
    tried = {job: rows(simulator.searched([(SEARCHED, settings_of(job))], ranks=2)[0]) for job in JOBS}
    whole = Outcome(tables={"rivals": rivals(tried)})
    chosen = {job: chosen_of(all_rows)["cost_ps"] / PS for job, all_rows in tried.items()}
    whole.summary = {f"over_bar_{job[0]}_pct": f"{100 * (chosen[job] / bar - 1):.2f}" for job, bar in BARS.items()}
    whole.summary["rivals_faster"] = sum(row["cost_ps"] and row["cost_ps"] < chosen_of(all_rows)["cost_ps"] for all_rows in tried.values() for row in all_rows)
    whole.add(predictions(tried[JOBS[0]]))
    return whole


def settings_of(job):
    """Plans are drawn for the first job alone."""
    batch, micro_batch = job
    return (("workload.global_batch", batch), ("strategy.micro_batch", micro_batch), *(DRAWN if job == JOBS[0] else ()))


def rows(result):
    return result["tried"].to_dict("records")


def chosen_of(all_rows):
    return next(row for row in all_rows if row["accepted"])


def rivals(tried):
    """Of each kind of plan the best one: that simulated the fastest, or where none is simulated that predicted the fastest."""
    lines = []
    for job, all_rows in tried.items():
        chosen = chosen_of(all_rows)["cost_ps"]
        for kind, origins in KINDS.items():
            own = [row for row in all_rows if row["origin"] in origins and (row["cost_ps"] or "by its bound" in row["reason"])]
            if not own:
                lines.append((*job, kind, "none fits", "", "", ""))
                continue
            best = min(own, key=lambda row: (row["cost_ps"] == 0, row["cost_ps"] or row["predicted_ps"]))
            simulated = three(best["cost_ps"] / PS) if best["cost_ps"] else "bound is slower"
            over = f"{100 * ((best['cost_ps'] or best['predicted_ps']) / chosen - 1):+.2f}"
            lines.append((*job, kind, best["candidate"], three(best["predicted_ps"] / PS), simulated, over))
        if job in BARS:
            lines.append((*job, "bar of the trial", "", "", three(BARS[job]), f"{100 * (BARS[job] * PS / chosen - 1):+.2f}"))
    return table(("batch", "micro-batch", "plan", "cut and tile", "predicted s", "simulated s", "over the chosen %"), lines)


def predictions(all_rows):
    drawn = [row for row in all_rows if row["origin"] == "random" and row["cost_ps"]]
    predicted, simulated = (numpy.array([row[name] for row in drawn], dtype=float) for name in ("predicted_ps", "cost_ps"))
    off = numpy.abs(100 * (predicted / simulated - 1))
    near = numpy.argsort(predicted, kind="stable")[:CHOICES]
    known = [row for row in all_rows if row["cost_ps"]]
    fastest = min(row["cost_ps"] for row in known)
    chosen = min(row["cost_ps"] for row in known if row["origin"] != "random")  # what the search takes where none is drawn
    foretold = min(known, key=lambda row: row["predicted_ps"])["cost_ps"]
    over = lambda time: f"{100 * (time / fastest - 1):.2f}"
    values = {"plans that were drawn": len(drawn), "slowest over fastest": three(simulated.max() / simulated.min()), "correlation": f"{correlation(predicted, simulated):.4f}",
              "median deviation %": f"{numpy.median(off):.2f}", "largest deviation %": f"{off.max():.2f}",
              f"rank correlation of the {len(near)} that are predicted to be the fastest": f"{correlation(ranks(predicted[near]), ranks(simulated[near])):.3f}",
              "the search's plan over the fastest of all that were simulated %": over(chosen), "the plan that is predicted to be the fastest %": over(foretold)}
    by_cut = [(name, len(own), three(min(simulated[own]) / PS), three(max(simulated[own]) / PS), f"{correlation(predicted[own], simulated[own]):.4f}", f"{numpy.median(off[own]):.2f}", f"{max(off[own]):.2f}")
              for name, own in groups(row["candidate"] for row in drawn).items()]
    kept = list(values.values())
    return Outcome(tables={"predictions": table(("random plans", "value"), values.items()),
                           "predictions by cut": table(("cut and tile", "plans", "fastest s", "slowest s", "correlation", "median deviation %", "largest %"), by_cut)},
                   summary={"correlation": kept[2], "median_deviation_pct": kept[3], "largest_deviation_pct": kept[4], "near_rank_correlation": kept[5], "chosen_within_pct": kept[6]})


def groups(names):
    """Numbers of the elements with a name, by name, in the order of names."""
    found = {}
    for number, name in enumerate(names):
        found.setdefault(name, []).append(number)
    return dict(sorted(found.items()))


def ranks(values):
    """Of values that all differ; of equal ones the first is the smaller."""
    return numpy.argsort(numpy.argsort(values, kind="stable"), kind="stable").astype(float)


def correlation(a, b):
    return float(numpy.corrcoef(a, b)[0, 1])
