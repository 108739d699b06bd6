"""Tables of candidates as `tessera plan --all` writes them, of rows that somebody says."""

import zlib

import h5py
import numpy

AXES = ("tensor", "pipeline", "data")
COLUMNS = [("point", "i8", "1"), ("name", "S40", "text"), *((axis, "i8", "1") for axis in AXES), ("code", "i8", "1"), ("message", "S60", "text"),
           ("devices", "i8", "1"), ("iteration_time_ps", "i8", "ps"), ("peak_memory", "i8", "B"), ("fate", "S24", "text"), ("bound_ps", "i8", "ps"),
           ("estimate_ps", "i8", "ps")]
S = 10**12  # ps


def simulated(tensor, pipeline, seconds, bound, memory=10**10):
    return {"tensor": tensor, "pipeline": pipeline, "fate": "simulated", "iteration_time_ps": round(seconds * S), "bound_ps": round(bound * S),
            "devices": 8, "peak_memory": memory}


def struck_out(tensor, pipeline, bound):
    return {"tensor": tensor, "pipeline": pipeline, "fate": "struck out by its bound", "bound_ps": round(bound * S)}


def left(tensor, pipeline):
    """The search ended before anything was known of it."""
    return {"tensor": tensor, "pipeline": pipeline, "fate": "left"}


def too_large(tensor, pipeline):
    return {"tensor": tensor, "pipeline": pipeline, "fate": "does not fit", "code": 3, "message": "some device needs at least 99 GB but has 80.0 GB"}


def write(path, candidates, title="A made-up search"):
    """Of eight devices: tensor and pipeline give data."""
    rows = numpy.zeros(len(candidates), dtype=[(name, kind) for name, kind, _ in COLUMNS])
    for number, candidate in enumerate(candidates):
        values = {"point": number, "data": 8 // (candidate["tensor"] * candidate["pipeline"]), **candidate}
        values.setdefault("name", f"tensor {values['tensor']}, pipeline {values['pipeline']}")
        for name, value in values.items():
            rows[name][number] = value
    axes = numpy.array([(axis, f"strategy.{axis}", 0) for axis in AXES], dtype=[("column", "S10"), ("key", "S20"), ("follows", "i4")])
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "tessera points", "title": title})
        file.attrs["schema_version"] = numpy.int64(2)
        for name, table, units in (("points", rows, [unit for *_, unit in COLUMNS]), ("axes", axes, ["text", "text", "1"])):
            dataset = file.create_dataset(name, data=table)
            dataset.attrs.update({"description": name, "column_units": units, "column_descriptions": list(table.dtype.names)})
            dataset.attrs["crc32"] = numpy.uint32(zlib.crc32(table.tobytes()))
    return path
