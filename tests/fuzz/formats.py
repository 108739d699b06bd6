"""Files that are no text: an ONNX file made here, and mutations of an HDF5 file that know what it is."""

import numpy

try:
    import h5py
except ImportError:
    h5py = None


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(tag, content):
    """Of protobuf: a number, text, or a message."""
    if isinstance(content, int):
        return varint(tag * 8) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(tag * 8 + 2) + varint(len(content)) + content


def onnx_network(strides=1):
    """Convolution, normalisation, activation, pooling and a product of a batch that is called N; one weight is a constant node."""
    def shape(*sides):
        return field(2, b"".join(field(1, field(2, side) if isinstance(side, str) else field(1, side)) for side in sides))

    def value(name, *sides):
        return field(1, name) + field(2, field(1, field(1, 1) + shape(*sides)))

    def weight(name, *sides):
        return b"".join(field(1, side) for side in sides) + field(2, 1) + field(8, name)

    def attribute(name, *values):
        return field(5, field(1, name) + b"".join(field(8, one) for one in values) + field(20, 7))

    def node(op, inputs, output, extra=b""):
        return field(1, b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, op) + extra)

    constant = field(5, field(1, "value") + field(5, weight("", 8, 8, 3, 3)) + field(20, 4))
    nodes = [field(1, field(2, "W2") + field(4, "Constant") + constant),
             node("Conv", ["x", "W"], "a", attribute("strides", strides, strides) + attribute("pads", 1, 1, 1, 1) + attribute("dilations", 1, 1)),
             node("BatchNormalization", ["a", "s", "b", "m", "v"], "n"), node("Relu", ["n"], "r"),
             node("Conv", ["r", "W2"], "c", attribute("kernel_shape", 3, 3)),
             node("MaxPool", ["c"], "p", attribute("kernel_shape", 2, 2) + attribute("strides", 2, 2)),
             node("GlobalAveragePool", ["p"], "g"), node("Flatten", ["g"], "f"), node("Gemm", ["f", "G"], "y")]
    weights = [weight("W", 8, 3, 3, 3), weight("s", 8), weight("b", 8), weight("m", 8), weight("v", 8), weight("G", 8, 10)]
    graph = b"".join(nodes) + field(2, "g") + b"".join(field(5, one) for one in weights) + field(11, value("x", "N", 3, 16, 16)) + field(12, value("y", "N", 10))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def datasets_of(file):
    found = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return sorted(found)


def make_again(file, name, keep_checksum, **what):
    """Another dataset under the name, with the attributes of the one that was there."""
    attributes = {key: value for key, value in file[name].attrs.items() if keep_checksum or key != "crc32"}
    del file[name]
    made = file.create_dataset(name, **what)
    for key, value in attributes.items():
        made.attrs[key] = value


def change_once(rng, file):
    name = rng.choice(datasets_of(file))
    data, keep = file[name], rng.random() < 0.5
    rows = data[()] if data.id.get_storage_size() < 1 << 22 else None
    action = rng.randrange(12)
    claims = (rng.choice([2**20, 2**33, 2**62]),)
    if action == 0:
        del file[name]
    elif action == 1:
        make_again(file, name, keep, shape=claims, dtype=data.dtype, chunks=(rng.choice([16, 4096]),))
    elif action == 2:
        make_again(file, name, keep, shape=claims, dtype=data.dtype, chunks=(1 << 16,), compression="gzip")
        file[name][:1] = numpy.zeros(1, file[name].dtype)
    elif action == 3:
        make_again(file, name, keep, shape=rng.choice([(), (0,), (1,), (2, 2), (2**31, 2**31)]), dtype=data.dtype)
    elif action == 4 and data.dtype.names:
        fields = [(one, data.dtype[one]) for one in data.dtype.names]
        at = rng.randrange(len(fields))
        fields[at] = (fields[at][0], rng.choice(["<f4", ">i8", "u1", "S3", "<f8", "<i2"]))
        make_again(file, name, keep, shape=data.shape, dtype=numpy.dtype(fields))
    elif action == 5 and data.dtype.names and len(data.dtype.names) > 1:
        less = [one for one in data.dtype.names if one != rng.choice(data.dtype.names)]
        make_again(file, name, keep, shape=data.shape, dtype=numpy.dtype([(one, data.dtype[one]) for one in less]))
    elif action == 6:
        make_again(file, name, keep, shape=(3,), dtype=rng.choice([h5py.string_dtype(), numpy.dtype("<f8"), numpy.dtype("S5")]))
    elif action == 7 and rows is not None and data.dtype.names and len(rows.shape) == 1:
        rows = rows.copy()
        column = rng.choice(data.dtype.names)
        if rows.dtype[column].kind in "if" and len(rows):
            rows[column] = rng.choice([-1, 0, 2**62] if rows.dtype[column].kind == "i" else [float("nan"), float("inf"), -1.0, 1e300])
        make_again(file, name, False, data=rows)
    elif action == 8:
        del file[name]
        file[name] = rng.choice([h5py.SoftLink("/links"), h5py.SoftLink("/" + name), h5py.ExternalLink("other.h5", "/links")])
    elif action == 9:
        key = rng.choice(sorted(file.attrs))
        file.attrs[key] = rng.choice([0, -1, 2**62, 0.5, "", "x" * 1000, numpy.arange(5)])
    elif action == 10 and len(data.attrs):
        key = rng.choice(sorted(data.attrs))
        data.attrs[key] = rng.choice([0, 2**62, "", "x", numpy.arange(3)])
    else:
        file.require_group("more").create_dataset(f"d{rng.randrange(10**9)}", shape=claims, dtype="i8", chunks=(64,))


def change_structure(rng, path):
    """A file that is sound for HDF5, and says something else than Tessera's: types, shapes, claims, names, links."""
    with h5py.File(path, "r+") as file:
        for _ in range(rng.choice([1, 1, 2, 4])):
            try:
                change_once(rng, file)
            except (ValueError, TypeError, KeyError, IndexError, RuntimeError, OSError):  # what HDF5 does not make is no case
                pass
