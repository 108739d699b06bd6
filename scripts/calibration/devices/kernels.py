"""The kernels of a table as calls of PyTorch. Operands are random: a device that multiplies zeros draws less power and clocks higher.

Each function makes the operands of a row and returns call(i), which launches the kernel for the i-th time.
"""

from calibration import Refused
from calibration.devices import Unavailable
from calibration.shapes import COPIES


class Maker:
    """Makes kernels on one device."""

    def __init__(self, torch, device, datatype):
        self.torch, self.device, self.datatype = torch, device, datatype
        names = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
        self.types = names
        if datatype == "tf32" and device.type != "cuda":
            raise Refused(f'--datatype tf32: only GPUs of NVIDIA have it, not device "{device}"; allowed: fp32, fp16, bf16')
        # Without this, products of FP32 operands may be rounded to TF32.
        torch.backends.cuda.matmul.allow_tf32 = datatype == "tf32"

    def random(self, *shape, datatype=None):
        return self.torch.randn(*shape, device=self.device, dtype=self.types[datatype or self.datatype])

    def make(self, row):
        return MAKERS[row.kind, row.operation](self, row)


def add(maker, row):
    a, b = maker.random(row.m, row.n), maker.random(row.m, row.n)
    return lambda i: maker.torch.add(a, b)


def launch(maker, row):
    a, b = maker.random(row.m), maker.random(row.m)
    sum_of_both = maker.torch.empty_like(a)
    return lambda i: maker.torch.add(a, b, out=sum_of_both)


def linear(maker, row):
    x = maker.random(row.m, row.k)
    weights = [maker.random(row.n, row.k) for _ in range(COPIES)]
    return lambda i: maker.torch.nn.functional.linear(x, weights[i % COPIES])


def batched(maker, row):
    x = maker.random(row.batch, row.m, row.k)
    others = [maker.random(row.batch, row.k, row.n) for _ in range(COPIES)]
    return lambda i: maker.torch.bmm(x, others[i % COPIES])


def fp8(maker, row):
    """With the fast sums that training takes forward; the result in BF16. Operands of one scale: its value changes no time."""
    torch = maker.torch
    if not hasattr(torch, "float8_e4m3fn") or not hasattr(torch, "_scaled_mm"):
        raise Unavailable(f"PyTorch {torch.__version__} has no FP8 products (2.2 or later)")
    x = maker.random(row.m, row.k).to(torch.float8_e4m3fn)
    weights = [maker.random(row.n, row.k).to(torch.float8_e4m3fn) for _ in range(COPIES)]
    scale = torch.ones((), device=maker.device, dtype=torch.float32)

    def call(i):
        return torch._scaled_mm(x, weights[i % COPIES].t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16, use_fast_accum=True)

    try:
        call(0)
    except (RuntimeError, TypeError, ValueError) as error:
        raise Unavailable(f"no FP8 products: {str(error).splitlines()[0]}") from None
    return call


def attention_of(maker):
    """Older versions of PyTorch have no fused kernel."""
    function = getattr(maker.torch.nn.functional, "scaled_dot_product_attention", None)
    if function is None:
        raise Unavailable(f"PyTorch {maker.torch.__version__} has no scaled_dot_product_attention (2.0 or later)")
    return function


def fused_attention(maker, row):
    """The call, and what it needs."""
    function = attention_of(maker)
    inputs = [maker.random(1, row.batch, row.m, row.k).requires_grad_(row.operation.endswith("backward")) for _ in range(3)]
    return lambda: function(*inputs, is_causal=row.operation.startswith("causal")), inputs


def attention_forward(maker, row):
    forward, _ = fused_attention(maker, row)
    return lambda i: forward()


def attention_backward(maker, row):
    forward, inputs = fused_attention(maker, row)
    with maker.torch.enable_grad():
        result = forward()
    gradient = maker.torch.randn_like(result)

    def call(i):
        return maker.torch.autograd.grad(result, inputs, gradient, retain_graph=True)

    call.needs_host = True  # autograd launches into the stream of the forward pass, which no CUDA graph would see
    return call


def decode(maker, row):
    """A new token's queries, those that share a head of keys as rows of one product."""
    function = attention_of(maker)
    queries, keys, values = (maker.random(1, row.batch, length, row.k) for length in (row.m, row.n, row.n))
    return lambda i: function(queries, keys, values)


def layer_norm(maker, row):
    x, weight, bias = maker.random(row.m, row.n), maker.random(row.n), maker.random(row.n)
    return lambda i: maker.torch.nn.functional.layer_norm(x, (row.n,), weight, bias)


def layer_norm_dgrad(maker, row):
    x, gradient, weight, bias = maker.random(row.m, row.n), maker.random(row.m, row.n), maker.random(row.n), maker.random(row.n)
    _, mean, deviation = maker.torch.native_layer_norm(x, (row.n,), weight, bias, 1e-5)
    backward = maker.torch.ops.aten.native_layer_norm_backward
    return lambda i: backward(gradient, x, [row.n], mean, deviation, weight, bias, [True, True, True])


def softmax(maker, row):
    x = maker.random(row.m, row.n)
    return lambda i: maker.torch.softmax(x, -1)


def softmax_dgrad(maker, row):
    gradient, result = maker.random(row.m, row.n), maker.torch.softmax(maker.random(row.m, row.n), -1)
    backward = maker.torch.ops.aten._softmax_backward_data
    return lambda i: backward(gradient, result, -1, result.dtype)


def gelu(maker, row):
    x = maker.random(row.m, row.n)
    return lambda i: maker.torch.nn.functional.gelu(x)


def gelu_dgrad(maker, row):
    gradient, x = maker.random(row.m, row.n), maker.random(row.m, row.n)
    return lambda i: maker.torch.ops.aten.gelu_backward(gradient, x)


def compiled(maker, function, *operands):
    """Several operations in one kernel, as PyTorch's compiler makes it. The first call compiles."""
    if not hasattr(maker.torch, "compile"):
        raise Unavailable(f"PyTorch {maker.torch.__version__} has no compile (2.0 or later)")
    one = maker.torch.compile(function, dynamic=False)
    one(*operands)
    return lambda i: one(*operands)


def bias_gelu(maker, row):
    gelu_of = maker.torch.nn.functional.gelu
    return compiled(maker, lambda x, bias: gelu_of(x + bias, approximate="tanh"), maker.random(row.m, row.n), maker.random(row.n))


def bias_gelu_dgrad(maker, row):
    backward = maker.torch.ops.aten.gelu_backward
    return compiled(maker, lambda gradient, x, bias: backward(gradient, x + bias, approximate="tanh"), maker.random(row.m, row.n),
                    maker.random(row.m, row.n), maker.random(row.n))


def bias_dropout_residual(maker, row):
    dropped = maker.torch.nn.functional.dropout
    return compiled(maker, lambda x, bias, residual: residual + dropped(x + bias, 0.1, True), maker.random(row.m, row.n), maker.random(row.n),
                    maker.random(row.m, row.n))


def dropout(maker, row):
    x = maker.random(row.m, row.n)
    return lambda i: maker.torch.native_dropout(x, 0.1, True)


def dropout_dgrad(maker, row):
    gradient = maker.random(row.m, row.n)
    mask = maker.torch.rand(row.m, row.n, device=maker.device) > 0.1
    backward = maker.torch.ops.aten.native_dropout_backward
    return lambda i: backward(gradient, mask, 1 / 0.9)


def sum_over(dimension):
    def make(maker, row):
        x = maker.random(row.m, row.n)
        return lambda i: maker.torch.sum(x, dimension)

    return make


def copy(maker, row):
    x = maker.random(row.m, row.n)
    other = maker.torch.empty_like(x)
    return lambda i: other.copy_(x)


def transpose(maker, row):
    x = maker.random(row.m, row.n)
    other = maker.torch.empty(row.n, row.m, device=x.device, dtype=x.dtype)
    return lambda i: other.copy_(x.t())


def chosen_rows(maker, row):
    return maker.torch.randint(row.k, (row.m,), device=maker.device)


def lookup(maker, row):
    table, chosen = maker.random(row.k, row.n), chosen_rows(maker, row)
    return lambda i: maker.torch.nn.functional.embedding(chosen, table)


def scatter(maker, row):
    table, chosen, added = maker.random(row.k, row.n), chosen_rows(maker, row), maker.random(row.m, row.n)
    return lambda i: table.index_add_(0, chosen, added)


def zero(maker, row):
    x = maker.random(row.m, datatype="fp32")
    return lambda i: x.zero_()


def scale(maker, row):
    x = maker.random(row.m, datatype="fp32")
    return lambda i: x.mul_(-1.0)  # never decays into zeros


def norm(maker, row):
    x = maker.random(row.m, datatype="fp32")
    return lambda i: maker.torch.linalg.vector_norm(x)


def cast(maker, row):
    x = maker.random(row.m, datatype="fp32")
    other = maker.random(row.m)
    return lambda i: other.copy_(x)


def adam(maker, row):
    """Fused, as training frameworks run it. Adam of many kernels moves several times the bytes, so it is no stand-in."""
    parameter = maker.torch.nn.Parameter(maker.random(row.m, datatype="fp32"))
    parameter.grad = maker.random(row.m, datatype="fp32")
    on_gpu = maker.device.type == "cuda"
    try:
        optimizer = maker.torch.optim.Adam([parameter], lr=1e-6, fused=True, capturable=on_gpu)
        optimizer.step()
    except (RuntimeError, TypeError, ValueError) as error:
        raise Unavailable(f"no fused Adam: {str(error).splitlines()[0]}") from None
    return lambda i: optimizer.step()


MAKERS = {
    ("launch", "add"): launch, ("gemm", "linear"): linear, ("gemm", "batched"): batched, ("gemm", "fp8"): fp8,
    ("decode", "decode"): decode, ("attention", "causal forward"): attention_forward,
    ("attention", "causal backward"): attention_backward, ("norm", "layer norm"): layer_norm, ("norm", "layer norm dgrad"): layer_norm_dgrad,
    ("softmax", "softmax"): softmax, ("softmax", "softmax dgrad"): softmax_dgrad, ("elementwise", "gelu"): gelu, ("elementwise", "gelu dgrad"): gelu_dgrad,
    ("elementwise", "add"): add, ("fused", "bias gelu"): bias_gelu,
    ("fused", "bias gelu dgrad"): bias_gelu_dgrad, ("fused", "bias dropout residual"): bias_dropout_residual,
    ("dropout", "dropout"): dropout, ("dropout", "dropout dgrad"): dropout_dgrad, ("reduction", "sum over rows"): sum_over(0),
    ("reduction", "sum over columns"): sum_over(1), ("copy", "copy"): copy, ("copy", "transpose"): transpose, ("embedding", "lookup"): lookup,
    ("embedding", "scatter"): scatter, ("optimizer", "zero"): zero, ("optimizer", "scale"): scale, ("optimizer", "norm"): norm,
    ("optimizer", "cast"): cast, ("optimizer", "adam"): adam,
}
