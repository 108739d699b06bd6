"""Bytes that a plan moves between dies and their DRAM in an iteration, each operand and each result of an operator once."""

ELEMENT = 2  # B of a weight or an activation
GRADIENT = 4  # B of a weight's gradient, which each micro-batch reads and writes
UPDATE = 28  # B of a parameter: 14 read and 14 written
BACKWARD = 2  # forward passes that a backward pass moves as much as


def forward(model, tensor):
    """Of a layer's forward pass, in sizes of the activation between two layers: both norms 4, both residuals 6, attention's output written
    and read 2; `qkv` and the attention core write and read queries, keys and values; the MLP its two widths; each die reads the gathered
    input of `qkv` and `fc1`, and writes its sum of `projection` and `fc2`."""
    heads = model.get("kv_heads", model["heads"]) / model["heads"]
    narrow = model.get("ffn_hidden", 4 * model["hidden"]) / model["hidden"]
    wide = 2 * narrow if model.get("gated_mlp") else narrow
    return 12 + 2 * (1 + 2 * heads) + 2 * wide + 2 * narrow + 4 * tensor


def accesses(model, cell, parameters, tensor, data, again):
    """B of all dies. `again`: everything runs again. How long the pipeline is does not count: it moves neither more nor less."""
    passes = BACKWARD + (2 if again else 1)
    micro_batches = cell.batch // cell.micro_batch
    activation = ELEMENT * cell.sequence * cell.micro_batch * model["hidden"]
    weights = (3 if again else 2) * ELEMENT + 2 * GRADIENT  # forward and input gradients read them; a forward pass more does so again
    return micro_batches * (passes * model["layers"] * activation * forward(model, tensor) + weights * parameters) + UPDATE * parameters * data
