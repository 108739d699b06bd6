"""Figure 24(a): four wafers beside four servers of eight GPUs, for models of three sizes."""

from dataclasses import dataclass

from _parts import Outcome, two
from _runs import table
from tessera_analysis import watos_figures

from . import systems_rivals as rivals
from .cells import bound_of, of_bound, one_plan, performances, plan_of, ratio, text
from .jobs import SEARCHED
from .systems import sentences


@dataclass(frozen=True)
class Model:
    """Its file, and settings of its own: everywhere, on wafers, on GPUs."""

    file: str
    own: tuple = ()
    on_wafers: tuple = ()
    on_gpus: tuple = ()


MODELS = {  # by size
    "GPT-175B": Model("gpt3-175b"),
    "Llama3-405B": Model("llama3-405b"),
    # Whole experts. No law holds for all-to-alls on a mesh: a simulation takes minutes, and the search ends behind its first step.
    "DeepSeek-V3": Model("deepseek-v3", (("model.prediction_depth", 0), ("strategy.expert_tensor", 1)),
                         (("strategy.expert_parallel", 8), ("strategy.search.step", "scheduler")), (("strategy.expert_parallel", "any"),)),
}
JOB = (("model.max_positions", 4096), ("workload.sequence", 4096), ("strategy.micro_batch", 1), ("workload.global_batch", 256))
ONE = one_plan("genetic")  # simulating 224 dies takes minutes
ON_WAFERS = (("machine.include", "wafer-config3-x4"), ("strategy.tensor", "[2, 4, 8, 14, 16, 28]"), *ONE)
LINKS = {"WATOS-18": "1800 GB/s", "WATOS-4": "400 GB/s"}  # between wafers, of a joint and each way
MEMORIES = ("490 GB", "288 GB")  # of a GPU
SENTENCES = {"four wafers: before Megatron on 32 GPUs, TP 8": ("wafers_over_a",), "before Megatron's best cut there": ("wafers_over_b",),
             "the larger the model, the larger the gain": ("wafers_gain_grows",)}


def study(simulator):
    found = on_wafers(simulator)
    for name, model in MODELS.items():
        for memory in MEMORIES:
            for way, left_open in rivals.ON_GPUS.items():
                settings = (("machine.include", "blackwell-ultra-4x8"), ("machine.device.memory_capacity", memory), *of_model(model), *model.on_gpus)
                found[(way, memory), name] = rivals.on_gpus(simulator, settings, left_open)
    tables = {"four wafers": times(found), "four wafers gains": gains(found), "four wafers plans": plans(found)}
    picture = watos_figures.performance, ("Figure 24(a): four wafers and four servers", {f"GPUs of {memory}": bars(found, memory) for memory in MEMORIES})
    return Outcome(tables=tables, pictures={"figure-24a": picture}, claims=sentences(counts(found), SENTENCES), summary=counts(found))


def of_model(model):
    return (("model.include", model.file), *JOB, *model.own)


def on_wafers(simulator):
    """By (link, model)."""
    jobs = {(link, name): (SEARCHED, (*ON_WAFERS, *of_model(model), *model.on_wafers, ("machine.topology.wafer_bandwidth", bandwidth)))
            for name, model in MODELS.items() for link, bandwidth in reversed(LINKS.items())}  # what takes longest begins
    return dict(zip(jobs, simulator.searched(jobs.values())))


def times(found):
    lines = []
    for model in MODELS:
        ours = [found[link, model] for link in LINKS]
        on_gpus = [found[(way, memory), model] for memory in MEMORIES for way in rivals.ON_GPUS]
        bounds = [part for one in ours for part in ((two(bound_of(one)) if one else ""), text(one))]
        lines.append((model, *bounds, *[text(one) for one in on_gpus]))
    header = ("model", *[part for link in LINKS for part in (f"{link} bound s", "s")], *[f"{way}, {memory} s" for memory in MEMORIES for way in rivals.ON_GPUS])
    return table(header, lines)


def bars(found, memory):
    return [performances("", model, {way: found[(way, memory), model] for way in rivals.ON_GPUS} | {link: found[link, model] for link in reversed(LINKS)}) for model in MODELS]


def gains(found):
    columns = [(link, way, memory) for memory in MEMORIES for way in rivals.ON_GPUS for link in LINKS]
    lines = [(model, *[rivals.over(found[(way, memory), model], found[link, model]) for link, way, memory in columns]) for model in MODELS]
    return table(("model", *[f"{way}, {memory}, over {link}" for link, way, memory in columns]), lines)


def plans(found):
    lines = []
    for model in MODELS:
        ours = [found[link, model] for link in LINKS]
        shown = [plan_of(one) if one else "" for one in ours]
        again = [f"{100 * one['mean_recomputation_ps'] / one['iteration_time_ps']:.1f}" if one else "" for one in ours]
        lines.append((model, *shown, *again, *[rivals.gpu_cut(found[(way, memory), model]) for memory in MEMORIES for way in rivals.ON_GPUS]))
    return table(("model", *LINKS, *[f"{link}, again %" for link in LINKS], *[f"{way}, {memory}" for memory in MEMORIES for way in rivals.ON_GPUS]), lines)


def counts(found):
    own = [found[link, model] for link in LINKS for model in MODELS if found[link, model]]
    reached = [of_bound(one) for one in own]
    first = {f"wafers_{key}": rivals.ordered((found[link, model], found[(way, "490 GB"), model]) for link in LINKS for model in MODELS)
             for key, way in zip(("over_a", "over_b"), rivals.ON_GPUS)}
    grows = sum(grows_with_size([ratio(found[(way, "490 GB"), model], found[link, model]) for model in MODELS]) for link in LINKS for way in rivals.ON_GPUS)
    return first | {"wafers_gain_grows": f"{grows}/4", "wafers_least_of_bound": two(min(reached)), "wafers_most_of_bound": two(max(reached))}


def grows_with_size(values):
    """Not where one is missing."""
    return None not in values and all(a < b for a, b in zip(values, values[1:]))
