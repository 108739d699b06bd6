"""Figure 10(a, c): what the operators of a layer keep and how long they take, by roofline and on the cores of a die; figure 14: what each
dataflow moves between a die's memory and its cores; and how far the assumed cores move that."""

from _parts import Outcome, seconds, three, two
from _runs import table

from .jobs import MEGATRON, ON_THE_WAFER

GPT = (ON_THE_WAFER[0], (*ON_THE_WAFER[1], *MEGATRON))  # TP 8, PP 7 on configuration 3
DATAFLOW = (("cost.model", "dataflow"),)
SECTIONS = ("attention_norm", "qkv", "attention_core", "projection", "mlp_norm", "fc1", "activation", "fc2")
IMAGES = ("watos/figure-14.toml", ())
LAYERS = {"stem.conv": "7 x 7, stride 2, 3 to 64", "stage1.block0.conv2": "3 x 3, 64 to 64", "stage4.block2.conv2": "3 x 3, 512 to 512",
          "stage4.block2.conv3": "1 x 1, 512 to 2048"}
FLOWS = ("output-stationary", "weight-stationary", "input-stationary", "row-stationary")
CORES = {  # half, as assumed, double
    "machine.device.array.sram": ("0.625 MB", "1.25 MB", "2.5 MB"),
    "machine.device.array.banks": (4, 8, 16),
    "machine.device.array.link_bytes": (32, 64, 128),
}
SHAPES = ((16, 32), (32, 16), (8, 64))  # rows and columns of 512 MACs


def study(simulator):
    whole = Outcome(tables={"figure 10": operators(simulator)})
    whole.add(accesses(simulator))
    whole.tables["cores sensitivity"] = sensitivity(simulator)
    return whole


def operators(simulator):
    """Of a stage with the same layers as all: what a micro-batch keeps by section, and how long a section takes to run again."""
    repeated = [GPT[1] + (("strategy.recomputed_sections", f'["{name}"]'),) for name in ("none", *SECTIONS)]
    jobs = [(GPT[0], (*settings, *model)) for settings in repeated for model in ((), DATAFLOW)]
    found = [result["stages"][1] for result in simulator.many(jobs)]
    layers = found[0]["layers"]
    lines = []
    for number, name in enumerate(SECTIONS, 1):
        roofline, dataflow = found[2 * number], found[2 * number + 1]
        kept = (found[0]["kept_bytes"] - roofline["kept_bytes"]) / layers
        lines.append((name, f"{kept * 1e-6:.1f}", *[f"{one['repeated_ps'] * 1e-6 / layers:.1f}" for one in (roofline, dataflow)]))
    return table(("section of a layer", "keeps MB", "roofline us", "dataflow us"), lines)


def accesses(simulator):
    """MB between the memory and the cores of a die, by dataflow, counted in the nest; the formula's are the same, or this fails."""
    products = rows_of(simulator.summary(*with_dataflow(GPT)))
    images = rows_of(simulator.summary(*with_dataflow(IMAGES)))
    for row in products + images:
        if (row["read_bytes"], row["written_bytes"]) != (row["formula_read_bytes"], row["formula_written_bytes"]):
            raise SystemExit(f"{row['operator']}, {row['dataflow']}: the nest moves other bytes than the formula says")
    gemms = [name for name in dict.fromkeys(row["operator"] for row in products if row["kind"] == "gemm")]
    lines = [line_of(name, name, products) for name in gemms] + [line_of(name, f"{name}, {what}", images) for name, what in LAYERS.items()]
    header = ("operator", "m x n x k", "each once", *[f"{flow.split('-')[0]}" for flow in FLOWS], "taken", "us", "peak and memory us")
    return Outcome(tables={"figure 14": table(header, lines)}, summary={"nests": str(len(products) + len(images))})


def with_dataflow(job):
    experiment, settings = job
    return experiment, (*settings, *DATAFLOW)


def rows_of(result):
    return [row for row in result["dataflow"] if row["dataflow"]]


def line_of(name, title, rows):
    own = [row for row in rows if row["operator"] == name]
    first = [row for row in own if all(row[side] == own[0][side] for side in ("batch", "m", "n", "k"))]
    moved = {row["dataflow"]: row["read_bytes"] + row["written_bytes"] for row in first}
    taken = next(row for row in first if row["taken"])
    batch = f"{taken['batch']} x " if taken["batch"] > 1 else ""
    return (title, f"{batch}{taken['m']} x {taken['n']} x {taken['k']}", f"{taken['operand_bytes'] * 1e-6:.1f}",
            *[f"{moved[flow] * 1e-6:.1f}" if flow in moved else "" for flow in FLOWS], taken["dataflow"].split("-")[0],
            f"{taken['time_ps'] * 1e-6:.1f}", f"{taken['least_ps'] * 1e-6:.1f}")


def sensitivity(simulator):
    """An iteration of GPT-175B with each figure of the cores that the paper does not state halved and doubled, and MACs laid out otherwise."""
    settings = [((key, value),) for key, values in CORES.items() for value in values]
    settings += [(("machine.device.array.pe_rows", rows), ("machine.device.array.pe_columns", columns)) for rows, columns in SHAPES]
    found = simulator.many([(GPT[0], (*GPT[1], *DATAFLOW, *one)) for one in settings])
    roofline = seconds(simulator.summary(*GPT))
    names = [(key.split(".")[-1], value) for key, values in CORES.items() for value in values] + [("MACs", f"{rows} x {columns}") for rows, columns in SHAPES]
    lines = [(*name, three(seconds(result)), two(seconds(result) / roofline)) for name, result in zip(names, found)]
    return table(("of a core", "value", "iteration s", "over roofline"), lines)
