"""Figure 19: models that are no plain transformers, on the wafer beside Megatron's plans there."""

from dataclasses import dataclass

from _parts import Outcome, seconds, two
from _runs import table
from tessera_analysis import watos_figures

from . import cells
from .cells import bound_of, performances, plan_of
from .far import own_bound
from .jobs import SEARCHED

RIVALS = ("MG-wafer (a)", "MG-wafer (b)")
WAYS = {"WATOS": ()} | {name: cells.WAYS[name] for name in RIVALS}  # the whole search: there are four models
BATCH = 64


@dataclass(frozen=True)
class Model:
    name: str
    file: str
    sequence: int

    def job(self, *settings):
        return SEARCHED, (("model.include", self.file), ("model.max_positions", self.sequence), ("workload.sequence", self.sequence),
                          ("strategy.micro_batch", 1), ("workload.global_batch", BATCH), *settings)


MODELS = (Model("Mamba-2 (Codestral 7B)", "mamba-codestral-7b", 4096), Model("Qwen3-Next 80B", "qwen3-next-80b-a3b", 4096),
          Model("Stable Diffusion 3.5 Large", "stable-diffusion-3.5-large", 4429), Model("HSTU, largest", "hstu-largest", 8192))


def study(simulator):
    jobs = {(way, model): model.job(*settings) for model in MODELS for way, settings in WAYS.items()}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    bars = [performances("", model.name, {way: found[way, model] for way in (*RIVALS, "WATOS")}) for model in MODELS]
    return Outcome(tables={"figure 19": times(found), "figure 19 plans": plans(found), "figure 19 work": work(found)}, summary=counts(found), claims=claims(found),
                   pictures={"figure-19": (watos_figures.performance, ("Figure 19: models that are no plain transformers", {"": bars}))})


def claims(found):
    gains = {name: [value for model in MODELS for value in [ratio(found, name, model)] if value] for name in RIVALS}
    said = "; ".join(f"over {name} {min(own):.2f} to {max(own):.2f}" for name, own in gains.items())
    return [("figure 19: emerging models gain over Megatron", "all", said, all(value > 1.005 for own in gains.values() for value in own))]


def ratio(found, name, model):
    """Time of a plan over that of the search; None: it does not fit."""
    return cells.ratio(found[name, model], found["WATOS", model])


def times(found):
    """Seconds; how much of its first-order bound the plan reaches, and rivals over the plan and over the bound."""
    lines = []
    for model in MODELS:
        ours = found["WATOS", model]
        text = lambda way: f"{seconds(found[way, model]):.4f}" if found[way, model] else "does not fit"
        over = [f"{value:.3f}" if value else "" for name in RIVALS for value in [ratio(found, name, model)]]
        most = [f"{seconds(found[name, model]) / bound_of(ours):.3f}" if ours and found[name, model] else "" for name in RIVALS]
        parameters = f"{ours['parameters'] / 1e9:.3f}" if ours else ""
        bound = (f"{bound_of(ours):.4f}", two(bound_of(ours) / seconds(ours))) if ours else ("", "")
        lines.append((model.name, parameters, f"{model.sequence:,}", bound[0], text("WATOS"), bound[1], *[text(name) for name in RIVALS], *over, *most))
    return table(("model", "parameters, billions", "tokens", "bound s", "WATOS s", "bound / WATOS", "(a) s", "(b) s", "(a) / WATOS", "(b) / WATOS", "(a) / bound", "(b) / bound"), lines)


def taken(result):
    """The row of the plan that was taken, and of its cut and tile what no plan beats to first order, in seconds."""
    return next(row for row in result["tried"].to_dict("records") if row["accepted"]), own_bound(result)


def plans(found):
    """Cut and tile, and which step of the search or which rule the plan that was taken comes from; its own cut's bound, and how evenly whole
    layers can be dealt out."""
    lines = []
    for model in MODELS:
        ours = found["WATOS", model]
        row, own = taken(ours)
        layers = [stage["layers"] for stage in ours["stages"]]
        lines.append((model.name, *[plan_of(found[way, model]) if found[way, model] else "" for way in WAYS], row["origin"], f"{own:.4f}", two(own / seconds(ours)),
                      f"{min(layers)} to {max(layers)}", two(max(layers) * len(layers) / sum(layers))))
    return table(("model", *WAYS, "WATOS's comes from", "its cut's bound s", "bound / WATOS", "layers of its stages", "most / mean"), lines)


def share(result, what):
    return f"{100 * sum(result[f'mean_{one}_ps'] for one in what) / result['iteration_time_ps']:.1f}"


def work(found):
    """Where the time of a die goes, how full its memory is and how much of the peak is reached."""
    lines = []
    for model in MODELS:
        for way in WAYS:
            result = found[way, model]
            if result:
                memory = sum(peak for peak, _ in result["memory_of_stages"].values()) / len(result["memory_of_stages"]) / result["memory_capacity"]
                lines.append((model.name, way, share(result, ("forward", "backward")), share(result, ("recomputation",)), share(result, ("tensor_communication",)),
                              share(result, ("other_communication", "data_communication")), share(result, ("bubble", "waiting")), f"{100 * memory:.0f}", f"{100 * result['model_flops_utilisation']:.1f}", len(result["loans"])))
    return table(("model", "plan", "forward, backward %", "again %", "tensor %", "data, other %", "bubble, waiting %", "memory full, mean %", "model FLOP of peak %", "loans"), lines)


def counts(found):
    gains = [value for model in MODELS for name in RIVALS for value in [ratio(found, name, model)] if value]
    reached = [bound_of(found["WATOS", model]) / seconds(found["WATOS", model]) for model in MODELS if found["WATOS", model]]
    return {"first_or_equal": f"{sum(value >= 1 for value in gains)}/{len(gains)}", "most_over_mg_wafer": f"{max(gains):.3f}",
            "least_of_bound": two(min(reached)), "most_of_bound": two(max(reached))}
