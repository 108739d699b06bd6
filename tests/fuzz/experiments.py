"""Random experiments that are nearly always allowed and short: small machines of every topology, random cuts, phases, programs and faults."""

MODEL = """
[model]
name = "random"
layers = {layers}
hidden = {hidden}
heads = 4
kv_heads = {kv_heads}
vocabulary = {vocabulary}
max_positions = 512
position = "rotary"
gated_mlp = {gated}
experts = {experts}
experts_per_token = {per_token}
"""
ALGORITHMS = {"all_reduce": ["ring", "bidirectional-ring", "direct", "binomial-tree", "halving-doubling", "dissemination", "hierarchical", "auto"],
              "reduce_scatter": ["ring", "bidirectional-ring", "direct", "auto"], "all_gather": ["ring", "bidirectional-ring", "direct", "auto"],
              "all_to_all": ["ring", "direct"], "broadcast": ["direct", "binomial-tree", "auto"]}


def lower(rng, true=0.5):
    return str(rng.random() < true).lower()


def bandwidth(rng):
    return f'"{rng.choice([1, 3, 7, 10, 25, 50, 99, 200])} GB/s"'


def latency(rng):
    return f'"{rng.choice([1, 10, 37, 100, 500, 1000, 5000])} ns"'


def table(header, values):
    return f"\n[{header}]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())


class Machine:
    """Its text, how many devices live, how many hosts stand behind them, and on grids their columns and rows."""

    def __init__(self, rng):
        self.rng, self.faults, self.dead, self.grid, self.hosts = rng, [], 0, None, []
        self.kind = rng.choice(["ring", "mesh", "mesh", "mesh", "torus", "torus", "cluster", "cluster", "fat-tree", "rail-optimised", "package", "wafers", "mesh-switch"])
        self.topology = {"kind": f'"{"cluster" if self.kind in ("fat-tree", "rail-optimised") else self.kind}"'}
        {"ring": self.ring, "package": self.package, "cluster": self.cluster, "fat-tree": self.leaves, "rail-optimised": self.leaves, "wafers": self.meshes, "mesh-switch": self.meshes}.get(self.kind, self.a_grid)()
        if rng.random() < 0.25:
            self.add_hosts()
        if rng.random() < 0.3:
            self.faults.append(f"device = {rng.randrange(self.devices)}\nspeed = {rng.choice([0.3, 0.5, 0.9])}\n")

    def ring(self):
        self.devices = self.rng.randint(2, 9)
        self.topology |= {"devices": self.devices, "bandwidth": bandwidth(self.rng), "latency": latency(self.rng), "direction": f'"{self.rng.choice(["both", "both", "up"])}"'}
        if self.topology["direction"] == '"both"' and self.devices > 2 and self.rng.random() < 0.3:
            at = self.rng.randrange(self.devices)
            self.faults.append(f'link = ["gpu {at}", "gpu {(at + 1) % self.devices}"]\n{self.effect()}')

    def package(self):
        self.devices = self.rng.randint(2, 8)
        self.topology |= {"chiplets": self.devices, "bandwidth": bandwidth(self.rng), "latency": latency(self.rng)}

    def a_grid(self):
        columns, rows = self.rng.randint(2, 5), self.rng.randint(1, 4)
        self.devices, self.grid = columns * rows, (columns, rows)
        self.topology |= {"columns": columns, "rows": rows, "bandwidth": bandwidth(self.rng), "latency": latency(self.rng)}
        for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
            x, y = self.rng.randrange(columns), self.rng.randrange(rows)
            if rows > 2 and self.rng.random() < 0.4:
                self.faults.append(f"die = [{x}, {y}]\ndead = true\n")
                self.dead += 1
            elif x + 1 < columns and rows > 1:
                self.faults.append(f"link = [[{x}, {y}], [{x + 1}, {y}]]\n{self.effect()}")

    def meshes(self):
        columns, rows, count = self.rng.randint(1, 3), self.rng.randint(1, 2), self.rng.randint(2, 3)
        self.devices = columns * rows * count
        self.nodes = count
        between = "wafer" if self.kind == "wafers" else "switch"
        self.topology |= {"wafers" if self.kind == "wafers" else "meshes": count, "columns": columns, "rows": rows, "bandwidth": bandwidth(self.rng), "latency": latency(self.rng),
                          f"{between}_bandwidth": bandwidth(self.rng), f"{between}_latency": latency(self.rng)}

    def add_hosts(self):
        """One for all, or one for each node; where nothing is dead also at some devices alone."""
        values = {"memory_capacity": '"20 GB"', "memory_bandwidth": '"90 GB/s"', "bandwidth": bandwidth(self.rng), "latency": latency(self.rng)}
        count = 1
        if self.rng.random() < 0.4:
            values["each"] = '"node"'
            count = getattr(self, "nodes", 1)
        if self.rng.random() < 0.4:
            values["bridge_bandwidth"] = bandwidth(self.rng)
        self.hosts = list(range(self.devices, self.devices + count))
        self.host_text = "\n[[machine.host]]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())

    def cluster(self):
        nodes, gpus = self.rng.randint(1, 3), self.rng.randint(2, 4)
        self.devices, self.nodes = nodes * gpus, nodes
        nics = self.rng.choice([size for size in (1, 2, 3, 4) if gpus % size == 0])
        self.topology |= {"nodes": nodes, "gpus_per_node": gpus, "inside": f'"{self.rng.choice(["switch", "ring", "fully-connected"])}"', "nvlink_bandwidth": bandwidth(self.rng),
                          "nvlink_latency": latency(self.rng), "nics_per_node": nics, "nic_bandwidth": bandwidth(self.rng), "nic_latency": latency(self.rng),
                          "pcie_bandwidth": bandwidth(self.rng)}

    def leaves(self):
        self.cluster()
        self.topology |= {"fabric": f'"{self.kind}"', "nodes_per_leaf": self.rng.randint(1, 2), "spines": self.rng.randint(1, 2), "oversubscription": self.rng.choice([0.7, 1.0, 2.0])}
        if self.kind == "rail-optimised":
            self.topology["pxn"] = lower(self.rng)
        leaves = -(-self.topology["nodes"] // self.topology["nodes_per_leaf"]) * (self.topology["nics_per_node"] if self.kind == "rail-optimised" else 1)
        if self.topology["nodes"] > 1 and leaves > 1 and self.rng.random() < 0.5:
            self.faults.append(f'link = ["leaf 0", "spine 0"]\nbandwidth = {self.rng.choice([0.25, 0.5])}\n')

    def effect(self):
        return self.rng.choice(["dead = true\n", "bandwidth = 0.5\n", "bandwidth = 0.1\n"])

    @property
    def alive(self):
        return self.devices - self.dead

    def text(self):
        device = {"name": '"device"', "peak.fp16": f'"{self.rng.choice([1, 7, 50])} TFLOP/s"', "memory_bandwidth": f'"{self.rng.choice([100, 900])} GB/s"',
                  "memory_capacity": f'"{self.rng.choice([1, 4, 4, 4])} GB"', "cores": self.rng.choice([1, 16, 80])}
        packet = self.rng.choice(["1 kB", "4 KiB", "16 KiB", "33 kB", "256 KiB"])
        faults = "".join(f"\n[[machine.fault]]\n{fault}" for fault in self.faults)
        return table("machine", {"name": '"random"', "packet": f'"{packet}"'}) + table("machine.device", device) + table("machine.topology", self.topology) + (self.host_text if self.hosts else "") + faults


def divisors(number):
    return [size for size in range(1, number + 1) if number % size == 0]


def mixers(rng, layers):
    """Keys of a model some of whose layers, or all, have a state in the place of attention, with an MLP behind it or without."""
    state = {"name": '"state"', "mixer": '"mamba2"', "heads": 8, "head_dim": rng.choice([8, 16]), "state_size": rng.choice([8, 16]), "state_groups": rng.choice([4, 8]), "conv_width": 4, "conv_bias": lower(rng),
             "scan_chunk": rng.choice([8, 32, 256]), "mlp": lower(rng)}
    if rng.random() < 0.4:
        state |= {"mixer": '"mamba"', "heads": rng.choice([64, 128]), "head_dim": 1, "state_groups": 0, "scan_chunk": 0, "step_rank": 4, "state_norms": lower(rng)}
    elif rng.random() < 0.5:
        state["mixer"] = '"gated-delta-net"'
    full = layers > 1 and rng.random() < 0.7
    sequence = rng.choice(['["state", "full"]', '["full", "state"]']) if full else '["state"]'
    return f"layer_sequence = {sequence}\n" + table("[model.layer_kinds]", state) + (table("[model.layer_kinds]", {"name": '"full"', "output_gate": lower(rng)}) if full else "")


def latent(rng):
    """Keys of a model whose keys and values are compressed."""
    return f"query_rank = {rng.choice([0, 48])}\nkv_rank = 32\nqkv_bias = false\nrotary_dim = 8\nhead_dim = 24\nvalue_dim = {rng.choice([16, 24, 32])}\n"


def tower(rng, hidden):
    """A vision tower in front, of 1, 4 or 16 tokens an image."""
    keys = {"layers": 3, "layers_run": rng.choice([0, 1, 2]), "hidden": rng.choice([32, 64]), "heads": 4, "image_height": rng.choice([28, 56]), "patch": 14, "position_rows": rng.choice([0, 20]),
            "rotary": lower(rng), "gated_mlp": lower(rng), "input_norm": lower(rng), "final_norm": lower(rng), "projector_norm": lower(rng), "projector_bias": lower(rng),
            "projector": [hidden] * rng.choice([1, 2, 3]), "images": rng.choice([1, 1, 2]) if rng.random() < 0.5 else 1, "frozen": lower(rng)}
    if rng.random() < 0.5:
        keys["class_token"] = "true"
    else:
        keys |= {"window": 2, "whole_layers": [1]}
    keys[rng.choice(["pool", "merge"])] = rng.choice([1, 2])
    return table("model.vision", keys)


def megatron(rng, machine):
    """A cut of what lives, or of a part of it."""
    used = rng.randint(max(1, machine.alive // 2), machine.alive) if rng.random() < 0.5 else machine.alive
    tensor = rng.choice([size for size in divisors(used) if size in (1, 2, 4)])
    pipeline = rng.choice([size for size in divisors(used // tensor) if size <= 4])
    data = used // tensor // pipeline
    experts = rng.choice([0, 0, 0, 4])
    chunks = rng.choice([1, 1, 2]) if pipeline > 1 else 1
    micro, passes = rng.choice([1, 1, 2]), rng.choice([1, 2, 3, 4]) * (pipeline if chunks > 1 else 1)
    phase = rng.choice(["training", "training", "training", "prompt", "generation", "prompt-and-generation"])
    both_ways = phase == "training" and pipeline > 1 and (chunks == 2 or pipeline % 2 == 0) and rng.random() < 0.25
    passes = 2 * pipeline + rng.choice([0, 2]) if both_ways else passes
    layers = rng.choice([1, 2, 3]) * pipeline * chunks
    model = MODEL.format(layers=layers, hidden=(hidden := rng.choice([64, 128, 192])), kv_heads=rng.choice([0, 4]), vocabulary=rng.choice([256, 1024]), gated=lower(rng), experts=experts,
                         per_token=2 if experts else 0)
    workload = {"phase": f'"{phase}"', "sequence": rng.choice([16, 64, 128]), "global_batch": micro * data * passes, "flash_attention": lower(rng)}
    if phase in ("generation", "prompt-and-generation"):
        workload["generated"] = rng.randint(1 if phase == "generation" else 2, 5)
    strategy = {"name": '"megatron"', "tensor": tensor, "pipeline": pipeline, "data": data, "spare_devices": '"idle"', "micro_batch": micro}
    copies, context = data, rng.choice(divisors(data)) if phase != "generation" and rng.random() < 0.4 else 1
    if context == 1 and not experts and rng.random() < 0.3:
        model += mixers(rng, layers)
    if context > 1:
        data = share_sequences(rng, context, tensor, workload, strategy)
        if rng.random() < 0.3:
            model = model.replace("kv_heads = 0", "kv_heads = 4") + latent(rng)
    if phase == "training":
        strategy |= {"interleave": chunks, "recomputation": f'"{rng.choice(["none", "selective", "full"])}"', "distributed_optimizer": lower(rng), "overlap_gradient_reduction": lower(rng),
                     "gradient_precision": f'"{rng.choice(["fp32", "fp16"])}"'}
        if chunks == 1:
            strategy["schedule"] = f'"{rng.choice(["gpipe", "1f1b", "zb-h1", "zb-h2"])}"'
        if both_ways and context == 1:
            strategy["schedule"] = f'"{"dualpipe" if chunks == 1 else "dualpipe-v"}"'
        if strategy["recomputation"] != '"none"' and rng.random() < 0.3:
            strategy["recomputed_layers"] = rng.choice([1, 2])
            if strategy["recomputation"] == '"full"' and rng.random() < 0.5:
                strategy["recomputation_method"] = '"uniform"'
    if copies > 1 and phase != "generation" and rng.random() < 0.3:
        strategy |= {"data_sharding": '"parameters"', "gather_ahead": rng.choice([0, 1, 1, 2, 5])}
        if phase == "training" and rng.random() < 0.3:
            strategy |= {"data_sharding": '"gradients"', "overlap_parameter_gathering": lower(rng)}
            strategy.pop("gather_ahead")
        elif phase == "training":
            strategy |= {"reshard_after_forward": lower(rng), "reduction_precision": f'"{rng.choice(["auto", "fp16"])}"', "fused_gradient_accumulation": lower(rng), "flat_parameters": lower(rng)}
    if pipeline == 1 and context == 1 and phase != "generation" and rng.random() < 0.3 and (data > 1 or machine.hosts):
        from_hosts = machine.hosts and machine.dead == 0 and (data == 1 or rng.random() < 0.5)
        strategy |= {"weight_streaming": '"hosts"' if from_hosts else '"devices"', "gather_ahead": rng.choice([0, 1, 1, 2, 5])} if data > 1 or from_hosts else {}
        for key in ("reshard_after_forward", "flat_parameters", "data_sharding", "overlap_parameter_gathering"):
            strategy.pop(key, None)
        if not experts and "weight_streaming" in strategy:  # some replicas have one less
            workload["global_batch"] = micro * (data * passes + rng.randrange(data))
    if tensor > 1:
        strategy |= {"sequence_parallel": lower(rng), "overlap_tensor_communication": lower(rng)}
    if experts:
        is_shared = rng.random() < 0.5
        if is_shared:
            model += f"shared_experts = {rng.choice([1, 2])}\nshared_gate = {lower(rng)}\n"
        if is_shared and phase in ("training", "prompt") and "weight_streaming" not in strategy and strategy.get("schedule") not in ('"dualpipe"', '"dualpipe-v"'):
            strategy["overlap_shared_experts"] = lower(rng)
        workload["expert_products"] = f'"{rng.choice(["grouped", "single"])}"'
        strategy |= {"expert_parallel": rng.choice([size for size in divisors(copies) if size in (1, 2, 4)]), "expert_imbalance": rng.choice([0, 0, 0.3])}
        if tensor > 1 and strategy["sequence_parallel"] == "true" and rng.random() < 0.5:
            groups = tensor // (cut_over := rng.choice([size for size in divisors(tensor) if size < tensor]))
            strategy |= {"expert_tensor": cut_over, "expert_parallel": rng.choice([size for size in (1, 2, 4) if groups % size == 0 or (size % groups == 0 and copies % (size // groups) == 0)])}
    if pipeline > 1 and rng.random() < 0.3:
        strategy["exchange_overhead"] = '"3 us"'
    if "data_sharding" in strategy or "weight_streaming" in strategy:  # refused with either
        strategy.pop("recomputation_method", None)
        if strategy.get("schedule") in APART:
            strategy.pop("schedule")
    groups = [size for size in divisors(copies) if 1 < size < copies and tensor * size % (strategy.get("expert_parallel", 1) * (strategy.get("expert_tensor", 0) or tensor)) == 0]
    if groups and rng.random() < 0.6 and strategy.get("weight_streaming") != '"hosts"' and strategy.get("gradient_reduction") != '"all-reduce"':
        strategy["shard_ranks"] = rng.choice(groups)
        if strategy.get("data_sharding") in ('"gradients"', '"parameters"') and "weight_streaming" not in strategy and rng.random() < 0.4:
            strategy["group_reduction"] = '"last-micro-batch"'
    can_combine = experts and phase == "training" and not both_ways and (pipeline == 1 or chunks == 2) and strategy["recomputation"] != '"full"'
    if can_combine and not {"data_sharding", "weight_streaming", "overlap_shared_experts"} & strategy.keys() and rng.random() < 0.5:
        strategy |= {"schedule": '"combined-1f1b"', "delay_weight_gradients": lower(rng)}
        return model + table("workload", workload) + table("strategy", strategy)
    if context == 1 and not both_ways and not {"data_sharding", "weight_streaming"} & strategy.keys() and rng.random() < 0.3:
        workload["sequence"] = max(32, workload["sequence"])
        model += tower(rng, hidden)
        if phase == "training" and rng.random() < 0.5:
            strategy["vision_recomputation"] = f'"{rng.choice(["selective", "full"])}"'
    more = stages(rng, machine, strategy, used) if phase == "training" else ""
    return model + table("workload", workload) + table("strategy", strategy) + more


def share_sequences(rng, context, tensor, workload, strategy):
    """Context ranks in place of replicas: so many of these are left."""
    strategy["context_parallel"] = context
    strategy["data"] //= context
    workload |= {"sequence": 2 * context * rng.choice([4, 8, 17]), "flash_attention": "true", "global_batch": workload["global_batch"] // context}
    by_heads = ["all-to-all"] if 4 // tensor % context == 0 else []
    strategy["context_exchange"] = f'"{rng.choice(["ring", "ring", "all-gather", *by_heads])}"'
    return strategy["data"]


APART = ('"zb-h1"', '"zb-h2"', '"dualpipe"', '"dualpipe-v"')
SETS = [["full"], ["selective"], ["none"], ["attention_norm"], ["qkv"], ["attention_core"], ["mlp_norm", "projection", "attention_residual"]]
DENSE_SETS = [["activation"], ["fc1"], ["fc1", "activation"], ["fc2", "activation", "mlp_residual"]]


def die_by_die(rng, devices, pair, count, used, tensor):
    """Some devices of the lending stage, each with one of the helper's in the same replica."""
    lenders, helpers = [], []
    from_stage, to_stage = (devices[stage * used // count:(stage + 1) * used // count] for stage in pair)
    for first in range(0, len(from_stage), tensor):
        some = rng.randint(0, tensor)
        lenders += rng.sample(from_stage[first:first + tensor], some)
        helpers += rng.sample(to_stage[first:first + tensor], some)
    return f"lenders = {lenders}\nhelpers = {helpers}\n" if lenders else ""


def stages(rng, machine, strategy, used):
    """Devices in any order, sets that run again, memory that is lent: each in some jobs."""
    count, experts = strategy["pipeline"], "expert_parallel" in strategy
    order = list(range(machine.devices))
    rng.shuffle(order)
    is_shuffled, has_sets = rng.random() < 0.3 and machine.dead == 0, rng.random() < 0.3
    text = ""
    for stage in range(count if is_shuffled or has_sets else 0):
        text += "\n[[strategy.stages]]\n"
        if is_shuffled:
            text += f"devices = {order[stage * used // count:(stage + 1) * used // count]}\n"
        if has_sets and rng.random() < 0.7:
            text += f"recomputation = {str(rng.choice(SETS if experts else SETS + DENSE_SETS))}\n"
    lends = count > 1 and strategy["interleave"] == 1 and "context_parallel" not in strategy and strategy.get("schedule") not in APART
    for _ in range(rng.choice([0, 1, 2]) if lends else 0):
        lender, helper = rng.sample(range(count), 2)
        text += f'\n[[strategy.loans]]\nfrom = {lender}\nto = {helper}\nbytes = "{rng.choice([1, 100, 1000, 1000, 4000])} B"\nlead = {rng.randint(1, 3)}\n'
        if machine.dead == 0 and rng.random() < 0.5:
            text += die_by_die(rng, order if is_shuffled else sorted(order), (lender, helper), count, used, strategy["tensor"])
    return text


def step(rng, groups):
    op = rng.choice(["compute", "compute", "all-reduce", "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast"])
    values = {"op": f'"{op}"'}
    if op == "compute":
        values |= {"flops": f"{rng.choice([1, 3, 9])}e{rng.randint(5, 8)}"}
    else:
        values |= {"group": f'"{rng.choice(groups)}"', "bytes": f'"{rng.choice([8, 1000, 12346, 65536, 300000])} B"'}
    return values


def exchange(rng, machine):
    """All send to the one so many places further, and receive from the other side."""
    shift, size = rng.randint(1, machine.devices - 1), rng.choice([8, 5000, 70000])
    return "".join(f'\n[[strategy.step]]\nop = "{op}"\ndevices = "all"\nshift = {by}\nbytes = "{size} B"\n' for op, by in (("send", shift), ("receive", -shift)))


def read(rng, machine):
    """A host sends to a device what it holds, or gets it from there."""
    host, device, size = rng.choice(machine.hosts), rng.randrange(machine.devices), rng.choice([8, 5000, 700000])
    ends = (("send", host, device), ("receive", device, host))
    if rng.random() < 0.3:
        ends = (("send", device, host), ("receive", host, device))
    held = "".join(f'\n[[strategy.step]]\nop = "{op}"\ndevices = "hosts"\nbytes = "{size} B"\nmemory = "weights"\n' for op in ("allocate", "release"))
    return held + "".join(f'\n[[strategy.step]]\nop = "{op}"\ndevices = [{at}]\npeer = {other}\nbytes = "{size} B"\n' for op, at, other in ends)


def script(rng, machine):
    """Collectives of nested groups, exchanges, reads from hosts and compute in rounds."""
    text, groups = table("strategy", {"name": '"script"'}), ["all"]
    text += '\n[[strategy.group]]\nname = "aside"\ndevices = "all"\n'  # of collectives beside those of the main stream
    if machine.alive == machine.devices:
        size = rng.choice(divisors(machine.devices))
        text += '\n[[strategy.group]]\nname = "part"\ndevices = "all"\n' + f"size = {size}\nstride = {rng.choice([1, machine.devices // size])}\n"
        groups.append("part")
    text += '\n[[strategy.block]]\nname = "work"\n'
    for _ in range(rng.randint(1, 5)):
        text += "\n[[strategy.block.step]]\n" + "".join(f"{key} = {value}\n" for key, value in step(rng, groups).items())
    for _ in range(rng.randint(1, 3)):
        values = {"op": '"run"', "block": '"work"', "repeat": rng.choice([1, 2, 5, 30])} if rng.random() < 0.6 else step(rng, groups)
        if rng.random() < 0.3 and "block" not in values:
            values["stream"] = 1
            if "group" in values:
                values["group"] = '"aside"'
        text += "\n[[strategy.step]]\n" + "".join(f"{key} = {value}\n" for key, value in values.items())
        if rng.random() < 0.3 and machine.alive == machine.devices:
            text += exchange(rng, machine)
        if machine.hosts and machine.dead == 0 and rng.random() < 0.7:
            text += read(rng, machine)
    return text


def collectives(rng, machine):
    chosen = {kind: f'"{rng.choice(algorithms)}"' for kind, algorithms in ALGORITHMS.items() if rng.random() < 0.3}
    if machine.grid and min(machine.grid) > 1 and not machine.faults and rng.random() < 0.2:
        for kind in ("all_reduce", "reduce_scatter", "all_gather"):
            chosen[kind] = f'"{rng.choice(["mesh", "mesh-scatter", "multitree", "synthesised"])}"'
    if machine.topology["kind"] == '"cluster"' and rng.random() < 0.3:  # where a group does not fit, it is refused
        chosen["all_reduce"] = rng.choice(['"double-tree"', '"in-switch"', '"auto"'])
    if rng.random() < 0.2:
        chosen["channels"] = 4
    if rng.random() < 0.3:
        chosen["reduction"] = '"free"'
    text = table("collectives", chosen)
    for name in ("quick", "wide") if rng.random() < 0.4 else ():
        protocol = {"name": f'"{name}"', "payload": rng.choice([1.0, 0.5, 0.92]), "start": f'"{rng.choice([0, 7])} us"', "step": f'"{rng.choice([0, 900, 3400])} ns"', "step_across": f'"{rng.choice([0, 4, 14])} us"'}
        if rng.random() < 0.3:
            protocol |= {"algorithm": '"ring"', "most": '"2 GB/s"', "most_across": '"1 GB/s"'}
        text += "\n[[collectives.protocols]]\n" + "".join(f"{key} = {value}\n" for key, value in protocol.items())
    return text


def experiment(rng):
    machine = Machine(rng)
    job = script(rng, machine) if rng.random() < 0.3 else megatron(rng, machine)
    cost = {"model": f'"{rng.choice(["roofline", "tile"])}"', "launch_overhead": f'"{rng.choice([0, 0, 1, 5])} us"'}
    if rng.random() < 0.3:
        cost["issue_interval"] = f'"{rng.choice([2, 15, 200])} us"'
    chosen = collectives(rng, machine)
    if "channels" not in chosen and rng.random() < 0.25:
        cost |= {"memory_traffic": '"shared"', "memory_packet": f'"{rng.choice([1, 16, 64])} KiB"'}
    return 'title = "random"\n' + machine.text() + job + table("cost", cost) + chosen
