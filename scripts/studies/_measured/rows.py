"""Measured iterations of inputs/measured/iterations.csv, and what each says over its source's experiment file."""

import csv
from dataclasses import dataclass

from _runs import ROOT

FOLDER = ROOT / "inputs" / "measured"
GPUS_PER_NODE = 8  # of all sources
MACHINES = {"A100 SXM": "a100-80g-cluster", "H100 SXM": "h100-cluster"}
DGXC = {"GPT-3 175B": "gpt3", "Nemotron-4 15B": "nemotron", "Nemotron-4 340B": "nemotron-340b", "Llama 3.1": "llama3.1", "Grok-1": "grok-1"}  # files, by how its models' names begin


@dataclass(frozen=True)
class Row:
    """One measured iteration; `values` are the columns of the table."""

    source: str
    values: tuple

    def __getitem__(self, key):
        return dict(self.values)[key]

    def number(self, key):
        return int(self[key])

    @property
    def seconds(self):
        return float(self["iter_time_s"])

    @property
    def file(self):
        if self.source.startswith("dgxc"):
            return next(f"measured/dgxc-{file}.toml" for model, file in DGXC.items() if self["model"].startswith(model))
        return f"measured/{self.source}.toml"


def rows_in(name):
    """Of a table of inputs/measured, as dicts."""
    with open(FOLDER / name, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def read():
    return [Row(row["source_id"], tuple(row.items())) for row in rows_in("iterations.csv")]


def settings(row):
    """What the table says of the job; all else is the experiment's and its recipe's."""
    nodes, rest = divmod(row.number("gpus"), GPUS_PER_NODE)
    if rest:
        raise SystemExit(f"{row['source_id']}, {row['model']}: {row['gpus']} GPUs are no whole nodes of {GPUS_PER_NODE}")
    model = [("name", row["model"]), ("layers", row["layers"]), ("hidden", row["hidden"]), ("heads", row["heads"]), ("kv_heads", row["kv_heads"]),
             ("ffn_hidden", row["ffn"]), ("gated_mlp", true(row["gated_mlp"])), ("vocabulary", row["vocab"]), ("max_positions", max(2048, row.number("seq")))]
    strategy = [("tensor", row["tp"]), ("pipeline", row["pp"]), ("data", row["dp"]), ("interleave", chunks(row)), ("micro_batch", row["mbs"]),
                ("recomputation", recomputation(row)), ("sequence_parallel", true(row["seq_parallel"]))]
    if row.source.startswith("narayanan"):
        strategy.append(("overlap_gradient_reduction", str(row["overlap_grad_reduce"].startswith("torch DDP")).lower()))
    if row["cp"] != "1":
        strategy.append(("context_parallel", row["cp"]))
    if row["ep"] != "1":
        strategy.append(("expert_parallel", row["ep"]))
    if row["grad_precision"].startswith(("fp32", "fp16", "bf16")):
        strategy.append(("gradient_precision", "fp32" if row["grad_precision"].startswith("fp32") else "fp16"))
    layers = layers_of_stages(row)
    if layers:
        strategy.append(("stage_layers", layers))
    recipe = [("recipe", "nemo-2024-flash-attention-2")] if "NVTE_FUSED_ATTN=0" in row["flash_attention"] else []
    return (*recipe, ("machine.include", MACHINES[row["gpu"]]), ("machine.topology.nodes", nodes), ("workload.sequence", row["seq"]), ("workload.global_batch", row["gbs"]),
            *[("model." + key, value) for key, value in model if value != "unknown"], *[("strategy." + key, value) for key, value in strategy])


def true(text):
    return "true" if text.startswith("yes") else "false"


def chunks(row):
    return 1 if row["vp"] == "unknown" else row.number("vp")


def recomputation(row):
    """Selective recomputation repeats the attention core, though FlashAttention keeps hardly anything of it."""
    return next((word for word in ("full", "selective") if row["recompute"].startswith(word)), "none")


def layers_of_stages(row):
    """Layers of each chunk where the ends of the pipeline have one less, since embedding and logits take a layer's place."""
    if not any(word in row["flags"] for word in ("one layer less", "take a layer's place")):
        return None
    count = row.number("pp") * chunks(row)
    each = (row.number("layers") + 2) // count
    return str([each - (chunk in (0, count - 1)) for chunk in range(count)])
