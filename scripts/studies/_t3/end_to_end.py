"""Figures 4 and 19: iterations of whole models. As in section 5.1.2 the simulated sub-layers take the place of those of an iteration
by operators."""

from typing import NamedTuple

from _parts import Outcome, geomean, seconds, three, two
from _runs import table
from tessera_analysis import t3_figures
from tessera_analysis.bars import Row

from . import large_models, paper
from .bench import SEQUENCES, TWICE_THE_PEAK, kernel_seconds

FILE = "t3/iteration.toml"
SPEEDUPS = ("t3", "t3-mca")
PHASES = {"training": ("op", "fc2", "fc1", "ip"), "prompt": ("op", "fc2")}  # and the sub-layers that sum over the GPUs
REPLACED = {"op": "projection", "fc2": "fc2", "fc1": "fc1 dgrad", "ip": "qkv dgrad"}  # operators, by sub-layer
ATTENTION = ("scores", "softmax", "attention dropout", "context", "kv cache", "qkv gradient layout")
KERNELS = ("gemm", "reduce-scatter", "all-gather")


class Model(NamedTuple):
    title: str
    case: str  # as the sub-layers' cases name it
    batch: int  # sequences of 1,024 tokens (table 2)
    layers: int
    settings: tuple


SMALL = (Model("Mega-GPT-2", "mega-gpt2", SEQUENCES["mega-gpt2"], 74, (("model.include", "mega-gpt2"),)),
         Model("T-NLG", "t-nlg", SEQUENCES["t-nlg"], 78, (("model.include", "t-nlg"),)))
# PALM as the paper takes it: H = 18K, 118 layers like the others'; 48 heads are the model's own.
LARGE = (Model("GPT-3", "GPT-3", 2, 96, (("model.include", "gpt3-175b"),)),
         Model("PALM", "PALM", 2, 118, (("model.include", "mt-nlg-530b"), ("model.hidden", 18432), ("model.heads", 48), ("model.layers", 118))),
         Model("MT-NLG", "MT-NLG", 2, 105, (("model.include", "mt-nlg-530b"),)))
# Section 2.4's futuristic models, by operators alone. The paper gives no dimensions: Megatron's 1T, and 12 L H^2 = 10T.
FUTURE = (Model("1T", "", 2, 128, (("model.include", "megatron-1t"),)),
          Model("10T", "", 2, 194, (("model.include", "megatron-1t"), ("model.hidden", 65536), ("model.heads", 512), ("model.layers", 194))))
TWICE = ("machine.device.peak.fp16", TWICE_THE_PEAK)  # GEMMs twice as fast
ROWS = [(model, tp, phase) for phase in PHASES
        for models, degrees in ((SMALL, (8, 16)), (LARGE, (32,))) for model in models for tp in degrees]


def study(bench):
    bench.simulator.many([*[job for jobs in sublayer_jobs(bench) for job in jobs.values()], *[job_of(bench, *row) for row in ROWS],
                          *future_jobs(bench).values(), *layer_jobs(bench).values()])  # all at once: from here on they are known
    runs = sublayer_runs(bench)
    whole = {row: Iteration(bench, runs, *row) for row in ROWS}
    tables = {"t3-shares": shares(whole), "t3-iterations": iterations(whole), "t3-future-shares": future_shares(bench),
              "t3-one-layer": one_layer(bench, runs)}
    found = {(phase, name): [one.speedup(name) for (model, _, p), one in whole.items() if p == phase and model in SMALL]
             for phase in PHASES for name in SPEEDUPS}
    summary = {f"geomean_{phase}_{name.replace('-', '_')}": three(geomean(values)) for (phase, name), values in found.items()}
    goals = [goal for key, values in found.items()
             for goal in ((paper.ITERATION_GEOMEAN[key], geomean(values)), (paper.ITERATION_MAXIMUM[key], max(values)))]
    pictures = {"figure-4": (t3_figures.iteration_time, ([Row(*place(row), one.parts) for row, one in whole.items()], greatest_shares(whole))),
                "figure-19": (t3_figures.iteration_speedups, (speedup_rows(whole, found), stated()))}
    return Outcome(tables=tables, pictures=pictures, summary=summary, goals=goals)


def sublayer_jobs(bench):
    cases = [(model.case, sub, tp) for model in SMALL for tp in (8, 16) for sub in REPLACED]
    return [bench.jobs(cases, ("sequential", *SPEEDUPS)), bench.jobs(large_models.CASES, ("sequential", *SPEEDUPS), layer=large_models.gemm)]


def sublayer_runs(bench):
    small, large = bench.runs_of(sublayer_jobs(bench))
    return small | large


def job_of(bench, model, tp, phase, settings=()):
    return FILE, (*settings_of(bench, model, tp, phase), *settings)


def settings_of(bench, model, tp, phase):
    return (*model.settings, ("workload.global_batch", model.batch), ("strategy.micro_batch", model.batch), ("workload.phase", phase),
            ("strategy.tensor", tp), ("machine.topology.devices", tp), *bench.fitted)


def replaced_seconds(result, subs, layers):
    """Of the operators that sub-layers stand for: the products, and of the all-reduces, all of one length, their share."""
    labels = result["seconds_by_label"]
    total = len(subs) * layers + ("logits dgrad" in labels)  # which is summed too
    return sum(labels[REPLACED[sub]] for sub in subs) + labels["tensor all-reduce"] * len(subs) * layers / total


class Iteration:
    """Of a model, with the simulated sub-layers in the place of operators."""

    def __init__(self, bench, runs, model, tp, phase):
        result = bench.simulator.summary(*job_of(bench, model, tp, phase))
        subs = PHASES[phase]
        self.other = seconds(result) - replaced_seconds(result, subs, model.layers)
        self.sublayers = {name: model.layers * sum(seconds(runs[(model.case, sub, tp), name]) for sub in subs)
                          for name in ("sequential", *SPEEDUPS)}
        kernels = [kernel_seconds(runs[(model.case, sub, tp), "sequential"]) for sub in subs]
        self.parts = {name: model.layers * sum(one[i] for one in kernels) for i, name in enumerate(KERNELS)} | {"other": self.other}
        self.attention = attention_seconds(result)

    def time(self, name="sequential"):
        return self.other + self.sublayers[name]

    def speedup(self, name):
        return self.time() / self.time(name)

    def communication(self):
        return (self.parts["reduce-scatter"] + self.parts["all-gather"]) / self.time()


def attention_seconds(result):
    return sum(value for label, value in result["seconds_by_label"].items() if label.startswith(ATTENTION))


def percent(share):
    return f"{100 * share:.0f} %"


def greatest_shares(whole):
    """What the paper states, at the rows of each model that have the most."""
    found = {}
    for title, share in paper.COMMUNICATION_AT_MOST.items():
        rows = [row for row in whole if row[0].title == title]
        found[place(max(rows, key=lambda row: whole[row].communication()))] = share
    return found


def shares(whole):
    rows = [(model.title, tp, phase, f"{1e3 * one.time():.0f}", percent(one.attention / one.time()), percent(one.parts["gemm"] / one.time()),
             percent(one.communication())) for (model, tp, phase), one in whole.items()]
    return table(("model", "TP", "phase", "iteration ms", "attention", "GEMMs before a sum", "reduce-scatter, all-gather"), rows)


def iterations(whole):
    rows = [(model.title, tp, phase, *[two(one.speedup(name)) for name in SPEEDUPS]) for (model, tp, phase), one in whole.items()]
    for phase in PHASES:
        for models, titles in ((SMALL, "Mega-GPT-2, T-NLG"), (LARGE, "TP 32")):
            found = [[one.speedup(name) for (model, _, p), one in whole.items() if p == phase and model in models] for name in SPEEDUPS]
            for label, over_all, values in (("geomean", geomean, paper.ITERATION_GEOMEAN), ("maximum", max, paper.ITERATION_MAXIMUM)):
                stated_here = values if models is SMALL else paper.LARGE_ITERATION if over_all is max else {}
                rows.append((titles, label, phase, *[beside(over_all(found[i]), stated_here.get((phase, name))) for i, name in enumerate(SPEEDUPS)]))
    return table(("model", "TP", "phase", *SPEEDUPS), rows)


def beside(value, stated_value):
    return two(value) + (f" (paper {two(stated_value)})" if stated_value else "")


def future_jobs(bench):
    return {(model, phase, settings): job_of(bench, model, 64, phase, settings) for model in FUTURE for phase in PHASES for settings in ((), (TWICE,))}


def future_shares(bench):
    results = bench.simulator.many(future_jobs(bench).values())
    shares = iter([percent(result["seconds_by_label"]["tensor all-reduce"] / seconds(result)) for result in results])
    rows = [(model.title, phase, next(shares), next(shares)) for model in FUTURE for phase in PHASES]
    return table(("model at TP 64", "phase", "communication", "with GEMMs twice as fast"), rows)


ONE = (SMALL[0], 8, "prompt")


def layer_jobs(bench):
    """Of Mega-GPT-2 with one layer: by operators, and by how its sub-layers are simulated in their places."""
    how = {None: (), **{name: (("strategy.sublayers", name),) for name in ("sequential", *SPEEDUPS)}}
    return {name: job_of(bench, *ONE, (("model.layers", 1), *settings)) for name, settings in how.items()}


def one_layer(bench, runs):
    """One layer at once, and put together as above."""
    model, tp, phase = ONE
    found = dict(zip(layer_jobs(bench), bench.simulator.many(layer_jobs(bench).values())))
    plain = found.pop(None)
    rows = []
    for name, result in found.items():
        whole = seconds(result)
        composed = (seconds(plain) - replaced_seconds(plain, PHASES[phase], 1)
                    + sum(seconds(runs[(model.case, sub, tp), name]) for sub in PHASES[phase]))
        rows.append((name, f"{1e3 * whole:.3f}", f"{1e3 * composed:.3f}", f"{100 * (composed / whole - 1):+.2f} %"))
    return table(("one layer of Mega-GPT-2, TP 8, prompt", "at once, ms", "put together, ms", "difference"), rows)


def place(row):
    model, tp, phase = row
    return phase, f"{model.title}\nTP {tp}"


def speedup_rows(whole, found):
    rows = []
    for phase in PHASES:
        rows += [Row(*place(row), {name: one.speedup(name) for name in SPEEDUPS}) for row, one in whole.items() if row[2] == phase]
        for label, over_all in (("geomean\nTP 8, 16", geomean), ("max\nTP 8, 16", max)):
            rows.append(Row(phase, label, {name: over_all(found[phase, name]) for name in SPEEDUPS}))
    return rows


def stated():
    values = {(phase, "geomean\nTP 8, 16"): {} for phase in PHASES} | {(phase, "max\nTP 8, 16"): {} for phase in PHASES}
    for (phase, name), value in paper.ITERATION_GEOMEAN.items():
        values[phase, "geomean\nTP 8, 16"][name] = value
    for (phase, name), value in paper.ITERATION_MAXIMUM.items():
        values[phase, "max\nTP 8, 16"][name] = value
    return values
