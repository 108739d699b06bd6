"""Fits a table: launches, shares of the memory bandwidth, power, GEMMs, attention, each with what the ones before it gave."""

import dataclasses

from calibration import Refused, gemm_fit, launch_fit, memory_fit, power_fit
from calibration.attention_fit import Attention
from calibration.observed import observed
from calibration.table import STREAMING


@dataclasses.dataclass
class Fit:
    """What a table gave."""

    constants: dict = dataclasses.field(default_factory=dict)  # {key of [machine.calibration.cost]: (value, where from)}
    of_software: dict = dataclasses.field(default_factory=dict)  # the same of keys that belong into a recipe, not into a machine file
    deviations: dict = dataclasses.field(default_factory=dict)  # {(m, n, k): ratio}
    remarks: list = dataclasses.field(default_factory=list)  # what a reader has to know
    compared: list = dataclasses.field(default_factory=list)  # (kind, {row: modelled us}): what remains

    def take(self, key, value, origin):
        self.constants[key] = value, origin


def of(rows, *kinds):
    return [row for row in rows if row.kind in kinds]


def datatype_of(rows, wanted):
    """Of the products and attention that are fitted, and these; a machine has one set of constants. FP8 is chosen or alone, never in doubt."""
    found = sorted({row.datatype for row in rows if row.datatype})
    found = [datatype for datatype in found if datatype != "fp8"] or found
    if wanted is None and len(found) > 1:
        raise Refused(f"the table has products of {' and '.join(found)}: --datatype chooses")
    datatype = wanted or (found[0] if found else "fp16")
    return datatype, [row for row in rows if row.datatype in ("", datatype)]


def fit_table(simulator, rows, options, name):
    """The constants of the table called `name`, in the order in which they are printed."""
    plain = [row for row in rows if not row.condition]
    datatype, products = datatype_of(of(plain, "gemm", "attention"), options.datatype)
    result, fitted = Fit(), f"fitted to {name}"
    result.take("model", "tile", "given")
    result.take("stores", "exposed", "given")
    overhead_ns = add_launches(result, rows, options, name)
    shares = memory_fit.Shares(simulator, of(plain, *STREAMING), overhead_ns)
    copies = f"that of copies of {name}"
    result.take("gemm_memory_efficiency", *((shares.copies, copies) if shares.copies else (options.memory_efficiency, "given")))
    if shares.all:
        result.take("memory_efficiency", *((shares.copies, copies) if shares.copies else (shares.all, f"{fitted}, all kinds together")))
    add_shares(result, shares, fitted)
    gemms = of(products, "gemm")
    if add_power(result, simulator, rows, name):
        gemms = as_bursts(result, gemms, rows)
    add_gemms(result, simulator, gemms, datatype, fitted, name)
    add_attention(result, Attention(simulator, of(products, "attention"), datatype, overhead_ns), overhead_ns, shares, fitted)
    result.remarks += missing(plain, shares) + observed(simulator, rows, overhead_ns / 1000)
    return result


def add_launches(result, rows, options, name):
    """ns that a streaming kernel takes beside its work: the launch overhead, and the floor that is added to it."""
    measured = memory_fit.launch_overhead(rows)
    launch_ns = measured if measured is not None else options.launch_overhead
    result.take("launch_overhead", f"{launch_ns} ns", "given" if measured is None else f"median of the smallest kernels of {name}")
    floor_ns, interval_ns = launch_fit.floor(rows, launch_ns), launch_fit.interval(rows)
    if floor_ns is not None:
        result.take("kernel_floor", f"{floor_ns} ns", "derived: intercept of the smallest kernels' time against launches, less launch_overhead")
    if interval_ns is not None:
        result.of_software["issue_interval"] = f"{interval_ns} ns", "derived: slope of time against launches; for the [cost] of a recipe that launches so"
    return launch_ns + (floor_ns or 0)


def add_power(result, simulator, rows, name):
    """Whether the table says what the device draws."""
    if not any(row.condition == "heat" for row in rows):
        return False
    bandwidth = simulator.bandwidth()
    kernels = power_fit.held(rows, simulator.peak, bandwidth) if bandwidth else []
    power = power_fit.fit(kernels, rows)
    if power is None:
        result.remarks.append("no power of hot kernels, at rest and at most: power_limit is missing, so kernels hold their full clock")
        return False
    result.take("power_limit", f"{power.limit:.0f} W", f"read: what the driver enforces, as {name} says")
    result.take("idle_power", f"{power.idle:.0f} W", f"measured: {name}, at rest")
    for key, watts in (("matrix_power", power.matrix), ("memory_power", power.memory)):
        result.take(key, f"{watts:.0f} W", f"derived: least squares over {len(kernels)} kernels of {name}, each as a burst and hot")
    result.compared.append(("hot, from bursts", power_fit.modelled(power, kernels)))
    return True


def as_bursts(result, gemms, rows):
    """With their times at full clock: how far the power holds them back is modelled."""
    bursts = {row.kernel: row.us for row in rows if row.condition == "burst"}
    found = [dataclasses.replace(row, us=bursts.get(row.kernel, row.us)) for row in gemms]
    count = sum(row.kernel in bursts for row in gemms)
    result.remarks.append(f"{count} of {len(gemms)} GEMMs count with their time as a burst, at full clock: what power_limit leaves of it is modelled")
    return found


def add_shares(result, shares, fitted):
    for kind, share in shares.found.items():
        result.take(f"{kind}_memory_efficiency", share, fitted)
        result.remarks += beyond(f"{kind} kernels move", shares.rates[kind], "memory_bandwidth")
    modelled = shares.modelled()
    result.compared += [(kind, {row: us for row, us in modelled.items() if row.kind == kind}) for kind in STREAMING]
    if shares.in_cache:
        result.remarks.append(f"left out: {len(shares.in_cache)} streaming kernels that move less than {memory_fit.CACHES} times the cache of "
                              f"{shares.cache / 1e6:.0f} MB, which may hold what they need")
    if shares.rows and shares.cache is None:
        result.remarks.append("the machine file states no cache, so kernels that fit into it were not left out")


def beyond(what, rate, key):
    return [f"{what} {rate:.2f} of the machine file's {key}, more than there is: is it right?"] if rate > 1 else []


def add_gemms(result, simulator, rows, datatype, fitted, name):
    if not rows:
        return
    taking_part = {row: row.us for row in rows if row.use != "return"}
    if not taking_part:
        raise Refused(f'{name}: all GEMMs are of use "return", none is left to fit the constants to; allowed beside: fit, point')
    given = {key: result.constants[key][0] for key in ("launch_overhead", "kernel_floor", "gemm_memory_efficiency") if key in result.constants}
    pricer = gemm_fit.Pricer(simulator, rows, datatype, given)
    best = gemm_fit.fit(pricer, taking_part)
    modelled = pricer.microseconds(best)
    result.deviations, too_far = gemm_fit.deviations(rows, modelled)
    limit = gemm_fit.limit(rows, simulator.peak(datatype))
    if limit is not None:
        result.take("matrix_limit", limit, f"the fastest GEMM of {name}, launch included: no shape between them is faster")
        pricer.given["matrix_limit"] = limit
    corrected = pricer.microseconds(best, result.deviations)
    for key in gemm_fit.START:
        result.take(key, f"{best[key]} ns" if key == "tile_latency" else best[key], fitted)
    result.compared.append(("gemm", {row: modelled[row] for row in taking_part}))
    result.remarks[:0] = gemm_remarks(taking_part, modelled, corrected, rows, name)
    if too_far:
        result.remarks.append(f"{len(too_far)} points are off by more than a factor of {gemm_fit.RATIOS[1]}, so the model does not return them: "
                              f"gemm {too_far[0].name}")


def gemm_remarks(taking_part, modelled, corrected, rows, name):
    """The two lines by which a fit of GEMMs is judged."""
    others = {row: row.us for row in rows if row.use == "fit"}
    beside = {row: row.us for row in rows if row.use == "return"}
    lines = [f"{len(taking_part)} GEMMs of {name}: {100 * gemm_fit.off(modelled, taking_part):.1f} % mean deviation by the constants alone"]
    if others:
        lines[0] += f"; the {len(others)} that are no"
        lines.append(f"points: {100 * gemm_fit.off(corrected, others):.1f} % with the deviations of their neighbours")
    if beside:
        lines.append(f"of use return, {len(beside)}: {100 * gemm_fit.off(modelled, beside):.1f} % by the constants, which were fitted without them")
    return lines


def add_attention(result, attention, overhead_ns, shares, fitted):
    if attention.efficiency is None:
        return
    result.take("attention_efficiency", attention.efficiency, fitted)
    result.take("attention_ramp", attention.ramp, fitted)
    result.remarks += beyond("fused attention does", attention.rate, "peak")
    modelled = attention.modelled(overhead_ns, result.constants.get("memory_efficiency", (1, ""))[0])
    for way in ("forward", "backward"):
        result.compared.append((f"attention {way}", {row: us for row, us in modelled.items() if row.operation.endswith(way)}))


def missing(rows, shares):
    """What the table does not have, and what counts instead."""
    remarks = []
    absent = [kind for kind in STREAMING if kind not in shares.found]
    if shares.found and absent:
        remarks.append(f"nothing (beyond the cache) of {', '.join(absent)}: memory_efficiency counts for them")
    elif absent:
        remarks.append("no streaming kernels: memory_efficiency is missing, so they run at the full memory bandwidth")
    if not of(rows, "attention"):
        remarks.append("no fused attention: attention_efficiency and attention_ramp are missing, so it runs at the peak")
    if not of(rows, "gemm"):
        remarks.append("no GEMMs: their constants are missing, so they run at the peak")
    return remarks
