"""Which kernels are measured: some 300 of a Transformer's sizes, or a few small ones that a CPU has done within a minute."""

import dataclasses

from calibration.table import Row

BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1}
COPIES = 5  # of a GEMM's second operand, taken in turn, so that it comes from memory, as a weight does
MEGA = 2**20
VOCABULARY = 32768  # rows of the table that an embedding looks up


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What a list of shapes is made of."""

    points: tuple  # dimensions of the GEMMs that become gemm_deviations: m, then n and k
    between: tuple  # of those that only the constants are fitted to
    skinny: tuple  # rows of GEMMs that libraries have kernels of their own for: returned, no reason for the constants to move
    wide: tuple  # n and k of these
    batches: tuple  # (products, m, n, k) of unfused attention
    sequences: tuple  # of fused attention
    heads: tuple  # dimensions of one
    elements: tuple  # of streaming kernels
    columns: tuple  # their rows' lengths
    launches: tuple  # elements of kernels that take no time
    layers: tuple  # (tokens, hidden size, heads), measured kernel by kernel and as a whole
    decodes: tuple  # (heads of keys x sequences, queries that share a head, keys, dimension of a head)
    eager: tuple  # GEMMs that are launched one by one; none of the others'
    beside: tuple  # GEMMs beside which a copy runs
    held_cores: int  # by the copy
    heat: float  # seconds of heat before GEMMs are measured hot, and what each of them is held for
    hold: float


FULL = Sizes(points=((512, 2048, 8192), (512, 1536, 4096, 12288)), between=((1024, 4096, 16384), (1024, 2048, 6144, 16384)), skinny=(16, 64, 256),
             wide=((4096, 4096), (4096, 12288), (12288, 4096)),
             batches=tuple((b, s, n, k) for b in (16, 64) for s in (1024, 2048) for n, k in ((s, 128), (128, s))),
             sequences=(1024, 2048, 4096, 8192, 16384), heads=(64, 128), elements=tuple(MEGA * size for size in (64, 128, 256, 512)),
             columns=(2048, 12288), launches=(256, 1024, 4096, 16384), layers=((2048, 4096, 32), (4096, 8192, 64)),
             decodes=tuple((b, q, n, 128) for b in (128, 1024) for q in (1, 8) for n in (2048, 8192)),
             eager=((16, 1024, 1024), (512, 1024, 1024), (2048, 2048, 2048)), beside=((2048, 12288, 12288), (8192, 4096, 4096), (8192, 12288, 12288)),
             held_cores=16, heat=30, hold=3)
QUICK = Sizes(points=((128, 512), (128, 512)), between=((256,), (256, 1024)), skinny=(16,), wide=((512, 512),), batches=((4, 128, 128, 64),),
              sequences=(256, 512), heads=(64,), elements=(4 * MEGA, 16 * MEGA), columns=(4096,), launches=(256, 1024, 4096),
              layers=((128, 256, 4),), decodes=((4, 1, 512, 64), (4, 8, 512, 64)), eager=((16, 64, 64),), beside=((256, 256, 256),), held_cores=1,
              heat=0.5, hold=0.3)
# What NumPy has done within seconds.
TINY = Sizes(points=((32, 128), (32, 128)), between=((64,), (64, 256)), skinny=(16,), wide=((128, 128),), batches=((4, 64, 64, 32),), sequences=(64, 128),
             heads=(32,), elements=(MEGA // 4, MEGA), columns=(1024,), launches=(256, 1024, 4096), layers=((32, 64, 2),),
             decodes=((4, 1, 256, 32), (4, 8, 256, 32)), eager=((16, 16, 16),), beside=((128, 64, 128),), held_cores=1, heat=0.5, hold=0.1)


def shapes(sizes, datatype):
    """Rows without times."""
    return launches(sizes, datatype) + gemms(sizes, datatype) + attention(sizes, datatype) + streaming(sizes, datatype) + optimizer(sizes, datatype)


def launches(sizes, datatype):
    return [Row("launch", "add", m=count, n=1, datatype=datatype, read=2 * BYTES[datatype] * count, written=BYTES[datatype] * count)
            for count in sizes.launches]


def gemms(sizes, datatype):
    rows = []
    for use, (lengths, widths) in (("point", sizes.points), ("fit", sizes.between)):
        rows += [Row("gemm", "linear", m, n, k, datatype=datatype, use=use) for m in lengths for n in widths for k in widths]
    rows += [Row("gemm", "linear", m, n, k, datatype=datatype, use="return") for m in sizes.skinny for n, k in sizes.wide]
    return rows + [Row("gemm", "batched", m, n, k, batch, datatype) for batch, m, n, k in sizes.batches]


def bursts(sizes, datatype):
    """All GEMMs, and a copy, whose power is the memory's."""
    copies = [row for row in streaming(sizes, datatype) if row.kind == row.operation == "copy"]
    return [dataclasses.replace(row, use="fit") for row in gemms(sizes, datatype)] + copies[-1:]


def heated(sizes, datatype):
    """Those of the bursts that a machine file returns exactly, and the copy."""
    points = {row.kernel for row in gemms(sizes, datatype) if row.use == "point"}
    return [row for row in bursts(sizes, datatype) if row.kind == "copy" or row.kernel in points]


def fp8(sizes):
    lengths, widths = sizes.points
    return [Row("gemm", "fp8", m, n, k, datatype="fp8") for m in lengths for n in widths[-2:] for k in widths[-2:]]


def decodes(sizes, datatype):
    element = BYTES[datatype]
    return [Row("decode", "decode", queries, keys, head, heads, datatype, read=element * heads * head * (2 * keys + queries),
                written=element * heads * head * queries) for heads, queries, keys, head in sizes.decodes]


def layer(tokens, hidden, heads, datatype):
    """The forward kernels of a Transformer's layer, in order."""
    def moved(tensors, width):
        return {"read": (tensors - 1) * BYTES[datatype] * tokens * width, "written": BYTES[datatype] * tokens * width}

    def linear(inputs, outputs):
        return Row("gemm", "linear", tokens, outputs, inputs, datatype=datatype)

    norm = Row("norm", "layer norm", tokens, hidden, datatype=datatype, **moved(2, hidden))
    add = Row("elementwise", "add", tokens, hidden, datatype=datatype, **moved(3, hidden))
    gelu = Row("elementwise", "gelu", tokens, 4 * hidden, datatype=datatype, **moved(2, 4 * hidden))
    attention_core = Row("attention", "causal forward", tokens, tokens, hidden // heads, heads, datatype)
    return [norm, linear(hidden, 3 * hidden), attention_core, linear(hidden, hidden), add,
            norm, linear(hidden, 4 * hidden), gelu, linear(4 * hidden, hidden), add]


def attention(sizes, datatype):
    """As many heads as make 64 times the longest sequence, so that each fills the device."""
    total = 64 * max(sizes.sequences) if len(sizes.sequences) > 2 else 4 * max(sizes.sequences)
    return [Row("attention", operation, length, length, head, total // length, datatype)
            for length in sizes.sequences for head in sizes.heads for operation in ("causal forward", "causal backward")]


# kind, operation: elements read and written, and further bytes read and written for each element
STREAMED = (("norm", "layer norm", 1, 1, 0, 0), ("norm", "layer norm dgrad", 2, 1, 0, 0),
            ("softmax", "softmax", 1, 1, 0, 0), ("softmax", "softmax dgrad", 2, 1, 0, 0),
            ("elementwise", "gelu", 1, 1, 0, 0), ("elementwise", "gelu dgrad", 2, 1, 0, 0), ("elementwise", "add", 2, 1, 0, 0),
            ("fused", "bias gelu", 1, 1, 0, 0), ("fused", "bias gelu dgrad", 2, 1, 0, 0), ("fused", "bias dropout residual", 2, 1, 0, 0),
            ("dropout", "dropout", 1, 1, 0, 1), ("dropout", "dropout dgrad", 1, 1, 1, 0),  # its mask has a byte an element
            ("reduction", "sum over rows", 1, 0, 0, 0), ("reduction", "sum over columns", 1, 0, 0, 0),
            ("copy", "copy", 1, 1, 0, 0), ("copy", "transpose", 1, 1, 0, 0),
            ("embedding", "lookup", 1, 1, 0, 0), ("embedding", "scatter", 2, 1, 0, 0))


def streaming(sizes, datatype):
    element = BYTES[datatype]
    rows = []
    for kind, operation, read, written, read_beside, written_beside in STREAMED:
        rows += [Row(kind, operation, count // columns, columns, VOCABULARY if kind == "embedding" else 0, datatype=datatype,
                     read=(count // columns * columns) * (element * read + read_beside),
                     written=(count // columns * columns) * (element * written + written_beside))
                 for count in sizes.elements for columns in sizes.columns]
    return rows


def optimizer(sizes, datatype):
    """In FP32: state and master weights. Adam reads gradient, weight and two moments, and writes all but the gradient."""
    kernels = [("zero", 0, 4), ("scale", 4, 4), ("norm", 4, 0), ("adam", 16, 12)]
    if BYTES[datatype] != 4:
        kernels.append(("cast", 4, BYTES[datatype]))
    return [Row("optimizer", operation, count, 1, datatype=datatype if operation == "cast" else "fp32", read=read * count, written=written * count)
            for operation, read, written in kernels for count in sizes.elements]


def footprint(row):
    """Bytes that a row's tensors need at most, its copies of the second operand among them."""
    if row.kind == "gemm":
        # FP8 operands are rounded from random ones of two bytes; the result has two as well.
        return max(2, BYTES[row.datatype]) * row.batch * (row.m * row.k + COPIES * row.k * row.n + row.m * row.n)
    if row.kind == "attention":
        return 12 * BYTES[row.datatype] * row.batch * row.m * row.k
    table = BYTES[row.datatype] * row.n * row.k if row.kind == "embedding" else 0
    return 2 * row.bytes + table
