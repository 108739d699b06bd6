"""The processor as NumPy drives it: no kernels of anybody's training, but the whole way of a measurement without PyTorch."""

import numpy

from calibration.devices import NUMPY, Unavailable, processor
from calibration.shapes import COPIES


class Arrays:
    kind, datatype, works_alone, replays = NUMPY, "fp32", False, False

    def make(self, row):
        maker = MAKERS.get((row.kind, row.operation))
        if maker is None:
            raise Unavailable("NumPy has no such kernel")
        return maker(row)

    def wait(self):
        """A call returns when it is done."""

    def captured(self, loop):
        return None

    def launched(self, call, count):
        return processor.launched(self, call, count)

    def beside(self, call, count, cores):
        source, target = numpy.zeros(processor.COPIED, numpy.uint8), numpy.zeros(processor.COPIED, numpy.uint8)
        return processor.beside(call, count, cores, lambda: numpy.copyto(target, source))

    def read(self):
        return {}

    def free_memory(self):
        return processor.free_memory()

    def about(self):
        return processor.name()

    def library(self):
        return f"NumPy {numpy.__version__}"

    def environment(self):
        return []


def random(*shape):
    return numpy.random.default_rng(1).standard_normal(shape, numpy.float32)


def launch(row):
    a, b = random(row.m), random(row.m)
    return lambda i: numpy.add(a, b, out=b)


def linear(row):
    x, weights = random(row.m, row.k), [random(row.k, row.n) for _ in range(COPIES)]
    return lambda i: x @ weights[i % COPIES]


def batched(row):
    x, others = random(row.batch, row.m, row.k), [random(row.batch, row.k, row.n) for _ in range(COPIES)]
    return lambda i: x @ others[i % COPIES]


def soft(x):
    powers = numpy.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(row):
    """Without a mask: what it saves, NumPy computes."""
    queries, keys, values = random(row.batch, row.m, row.k), random(row.batch, row.n, row.k), random(row.batch, row.n, row.k)
    return lambda i: soft(queries @ keys.swapaxes(-1, -2)) @ values


def rows_and_columns(function):
    def make(row):
        x = random(row.m, row.n)
        return lambda i: function(x)

    return make


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5)


def gelu(x):
    return 0.5 * x * (1 + numpy.tanh(0.7978846 * (x + 0.044715 * x * x * x)))


def copy(row):
    x, other = random(row.m, row.n), random(row.m, row.n)
    return lambda i: numpy.copyto(other, x)


MAKERS = {
    ("launch", "add"): launch, ("gemm", "linear"): linear, ("gemm", "batched"): batched, ("attention", "causal forward"): attention,
    ("decode", "decode"): attention, ("norm", "layer norm"): rows_and_columns(normalised), ("softmax", "softmax"): rows_and_columns(soft),
    ("elementwise", "gelu"): rows_and_columns(gelu), ("elementwise", "add"): rows_and_columns(lambda x: x + x),
    ("reduction", "sum over rows"): rows_and_columns(lambda x: x.sum(0)), ("reduction", "sum over columns"): rows_and_columns(lambda x: x.sum(1)),
    ("copy", "copy"): copy,
}
