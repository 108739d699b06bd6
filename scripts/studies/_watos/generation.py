"""What WSC-LLM chooses by: tokens a second that the configurations of table II generate, by a fixed cut, and a bound of them."""

import tomllib
from dataclasses import dataclass

from _runs import ROOT

from .analytic import ELEMENT, TENSOR, model_of, wafer_of
from .cells import MODELS
from .jobs import placed

CONFIGS = {"config 1": ("wafer-config1", 8, ("2x4",)), "config 2": ("wafer-config2", 7, ("2x4 * 6", "1x8")), "config 3": ("wafer-config3", 7, ("2x4 * 6", "1x8")),
           "config 4": ("wafer-config4", 6, ("2x4",))}  # wafer, stages of TP 8, tiles
SERVED, SEQUENCES, PROMPT, GENERATED = "watos/mg-gpu.toml", 168, 2048, 128
OF_MEMORY = tomllib.loads((ROOT / "inputs" / "recipes" / "watos.toml").read_text())["cost"]["memory_efficiency"]


@dataclass(frozen=True)
class Speed:
    tokens: float  # a second
    most: float  # that memory allows


def served(simulator, cell):
    """Speed by configuration; None where the batch does not fit."""
    jobs = []
    for wafer, stages, shapes in CONFIGS.values():
        jobs.append((SERVED, (("model.include", MODELS[cell.model]), ("model.max_positions", PROMPT + GENERATED), ("machine.include", wafer), ("machine.packet", "128 KiB"),
                              ("workload.phase", "generation"), ("workload.sequence", PROMPT), ("workload.generated", GENERATED), ("workload.global_batch", SEQUENCES),
                              ("strategy.micro_batch", SEQUENCES // stages), ("strategy.pipeline", stages), ("strategy.sequence_parallel", "false"), *placed(*shapes))))
    model = model_of(MODELS[cell.model])
    return {name: Speed(result["tokens_per_second"], most_tokens(model, result["parameters"], *CONFIGS[name][:2])) if result else None
            for name, result in zip(CONFIGS, simulator.attempts(jobs))}


def most_tokens(model, parameters, wafer, stages):
    """A second: for each token of a micro-batch a stage reads its weights once and the cache of each of its sequences, all dies as much;
    as many micro-batches as stages follow one another. Half of what is generated stands in the cache in the mean."""
    heads = model.get("kv_heads", model["heads"]) / model["heads"]
    cache = 2 * ELEMENT * model["layers"] * model["hidden"] * heads * (PROMPT + GENERATED / 2)  # B of a sequence
    of_a_die = (ELEMENT * parameters + SEQUENCES // stages * cache) / (stages * TENSOR)
    return SEQUENCES / (stages * of_a_die / (OF_MEMORY * wafer_of(wafer).memory))


def chosen(speeds):
    return max((name for name in speeds if speeds[name]), key=lambda name: speeds[name].tokens)
