"""What a table says beside the constants of [cost]: a line each, with its kind. Whoever models it reads it here; no constant follows from it."""

import statistics

from calibration.rates import grouped, together


def observed(simulator, rows, overhead):
    """`overhead`: us of a kernel beside its work."""
    return [*layers(rows), *beside(rows, simulator.cores()), *fp8(rows, simulator), *decode(rows, simulator, overhead)]


def layers(rows):
    apart = {(row.m, row.n, row.k): row.us for row in rows if row.kind == "layer" and row.operation == "apart"}
    return [f"measured: the kernels of a layer of {row.m} tokens, {row.n} wide, {row.k} heads take together "
            f"{row.us / apart[row.m, row.n, row.k]:.3f} of their sum"
            for row in rows if row.kind == "layer" and row.operation == "together" and (row.m, row.n, row.k) in apart]


def beside(rows, cores):
    """By cores that the copy holds, with what the cores that are left would explain."""
    alone = {row.kernel: row.us for row in rows if row.condition == "beside" and row.cores == 0}
    ratios = {}
    for row in rows:
        if row.condition == "beside" and row.cores and row.kernel in alone:
            ratios.setdefault(row.cores, []).append(row.us / alone[row.kernel])
    return [f"measured: {len(found)} GEMMs beside a copy that holds {held} cores take {statistics.mean(found):.3f} of their time alone"
            + (f"; derived: that of {cores - held:.0f} of {cores:.0f} cores is {cores / (cores - held):.3f}" if cores and cores > held else "")
            for held, found in ratios.items()]


def fp8(rows, simulator):
    found = [row for row in rows if row.kind == "gemm" and row.datatype == "fp8" and not row.condition]
    peak = simulator.peak("fp8") if found else None
    if not peak:
        return []
    rates = {row: 2e6 * row.m * row.n * row.k * row.batch / row.us for row in found}
    best = max(rates, key=rates.get)
    return [f"measured: of {len(found)} FP8 GEMMs the fastest, {best.m} x {best.n} x {best.k}, does {rates[best] / 1e12:.4g} TFLOP/s, "
            f"{rates[best] / peak:.3f} of peak.fp8; --datatype fp8 fits the constants to them"]


def decode(rows, simulator, overhead):
    """The share of the memory bandwidth at which keys and values are read."""
    found = [row for row in rows if row.kind == "decode" and not row.condition]
    bandwidth, cache = (simulator.bandwidth(), simulator.cache()) if found else (None, None)
    found = [row for row in found if cache is None or row.bytes >= 4 * cache]
    if not bandwidth or not found:
        return []
    pure = {row: 1e6 * row.bytes / bandwidth for row in found}
    rate = together(grouped(found, pure, lambda row: row.m), overhead)
    return [] if rate is None else [f"derived: decode reads keys and values at {rate[0]:.3f} of the memory bandwidth ({len(found)} kernels beyond the cache); "
                                    "the cost models take memory_efficiency for it"]
