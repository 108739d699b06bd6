"""Pati et al. 2024 (T3): sub-layers of Transformers with their reduce-scatter fused into the GEMM, beside the paper's figures.

Fits the fixed time of a work-group to two ideal speedups and the memory's efficiency to one speedup of T3-MCA, simulates everything
with both, and writes docs/validation/t3.md and its figures.
"""

import argparse
import math
import sys

from _runs import ROOT, Simulator, table, write_into

FILE = "t3/sublayer.toml"
SEQUENCES = {"mega-gpt2": 16, "t-nlg": 8}  # of 1,024 tokens (table 2)
SUBLAYERS = ("op", "fc2", "fc1", "ip")
SMALL = [(model, sub, tp) for model in ("mega-gpt2", "t-nlg") for tp in (8, 16) for sub in SUBLAYERS]
HIDDEN = {"GPT-3": 12288, "PALM": 18432, "MT-NLG": 20480}  # table 2; all layers as it takes them, whatever the models' own are
DEPTHS = {"op": 1, "fc2": 4, "fc1": 4, "ip": 3}  # in hidden sizes
LARGE = [(model, sub, 32) for model in HIDDEN for sub in SUBLAYERS]
SPEEDUPS = ("ideal-gemm-rs-overlap", "ideal-rs-nmc", "t3", "t3-mca")
WORK_GROUP, MEMORY = "machine.device.transaction.work_group_time", "machine.device.transaction.memory_efficiency"
FITTED_IDEAL = {("t-nlg", "fc1", 16): 1.50, ("mega-gpt2", "op", 16): 1.15}  # section 6.1.1
FITTED_MCA = 1.30  # section 6.1.3, geomean


def geomean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def two(value):
    return f"{value:.2f}"


class Study:
    def __init__(self, simulator):
        self.simulator = simulator
        self.fitted = ()  # settings

    def job(self, case, configuration, settings=()):
        model, sub, tp = case
        if model in HIDDEN:
            hidden = HIDDEN[model]
            shape = (("strategy.m", 2048), ("strategy.n", hidden), ("strategy.k", DEPTHS[sub] * hidden // tp))
            return (FILE, (("strategy.sublayer", "gemm"), *shape, ("machine.topology.devices", tp),
                           ("strategy.configuration", configuration), *self.fitted, *settings))
        return (FILE, (("model", model), ("workload.global_batch", SEQUENCES[model]), ("machine.topology.devices", tp),
                       ("strategy.sublayer", sub), ("strategy.configuration", configuration), *self.fitted, *settings))

    def runs(self, cases, configurations, settings=()):
        """Results by (case, configuration)."""
        keys = [(case, configuration) for case in cases for configuration in configurations]
        return dict(zip(keys, self.simulator.many([self.job(*key, settings) for key in keys])))

    def speedups(self, cases, configuration, settings=()):
        runs = self.runs(cases, ("sequential", configuration), settings)
        return [seconds(runs[case, "sequential"]) / seconds(runs[case, configuration]) for case in cases]

    def fit(self):
        """Both fitted values: what lies between two trials is taken as linear."""
        low, high = 8, 14
        cases = list(FITTED_IDEAL)
        trials = [self.speedups(cases, "ideal-gemm-rs-overlap", ((WORK_GROUP, f"{us} us"),)) for us in (low, high)]
        slopes = [(b - a) / (high - low) for a, b in zip(*trials)]
        errors = [goal - a for goal, a in zip(FITTED_IDEAL.values(), trials[0])]
        work_group = round(low + sum(s * e for s, e in zip(slopes, errors)) / sum(s * s for s in slopes))
        fixed = (WORK_GROUP, f"{work_group} us")
        low, high = 0.5, 0.65
        at_low, at_high = [geomean(self.speedups(SMALL, "t3-mca", (fixed, (MEMORY, value)))) for value in (low, high)]
        efficiency = round(low + (high - low) * (FITTED_MCA - at_low) / (at_high - at_low), 2)
        self.fitted = (fixed, (MEMORY, efficiency))
        return work_group, efficiency

    def sublayers(self):
        runs = self.runs(SMALL, ("sequential", *SPEEDUPS))
        rows, found = [], {name: [] for name in SPEEDUPS}
        for case in SMALL:
            base = runs[case, "sequential"]
            for name in SPEEDUPS:
                found[name].append(seconds(base) / seconds(runs[case, name]))
            parts = [f"{1e6 * length:.0f}" for length in kernel_seconds(base)]
            rows.append((*case, *parts, *[two(found[name][-1]) for name in SPEEDUPS], fitted_mark(case)))
        header = ("model", "sub-layer", "TP", "GEMM us", "RS us", "AG us", *SPEEDUPS, "")
        return runs, found, table(header, rows)

    def totals(self, found):
        """The paper's figures of 6.1 beside ours."""
        ideal, t3, mca = (found[name] for name in ("ideal-gemm-rs-overlap", "t3", "t3-mca"))
        values = [("ideal overlap, geomean", 1.35, geomean(ideal), ""), ("ideal overlap, maximum", 1.50, max(ideal), "fitted"),
                  ("T3, geomean", 1.20, geomean(t3), ""), ("T3, maximum", 1.39, max(t3), ""),
                  ("T3-MCA, geomean", FITTED_MCA, geomean(mca), "fitted"), ("T3-MCA, maximum", 1.47, max(mca), ""),
                  ("T3-MCA over T3, maximum", 1.29, max(b / a for a, b in zip(t3, mca)), ""),
                  ("T3-MCA over ideal overlap, geomean", 0.95, geomean(mca) / geomean(ideal), "")]
        rows = [(name, two(paper), two(ours), f"{ours - paper:+.2f}", note) for name, paper, ours, note in values]
        return table(("speedup", "paper", "simulated", "difference", ""), rows)

    def traffic(self, runs):
        rows, totals = [], []
        ratios = {tp: {"rs": [], "writes": [], "gemm": []} for tp in (8, 16)}
        for case in SMALL:
            base, fused = (runs[case, name]["traffic"] for name in ("sequential", "t3-mca"))
            totals.append(sum(fused.values()) / sum(base.values()))
            own = ratios[case[2]]
            own["rs"].append(base["reduce_scatter_read"] / fused["reduce_scatter_read"])
            own["gemm"].append(base["gemm_read"] / fused["gemm_read"])
            own["writes"].append(writes(base) / writes(fused))
            rows.append((*case, *[f"{base[key] / 1e6:.0f} / {fused[key] / 1e6:.0f}" for key in TRAFFIC],
                         f"{100 * (totals[-1] - 1):+.0f} %"))
        header = ("model", "sub-layer", "TP", *[key.replace("_", " ") for key in TRAFFIC], "all")
        values = [("all, geomean", "-22 %", f"{100 * (geomean(totals) - 1):+.0f} %"),
                  ("all, greatest", "-36 %", f"{100 * (min(totals) - 1):+.0f} %"),
                  ("GEMM reads, fewer by", "1.56", two(geomean(ratios[8]["gemm"] + ratios[16]["gemm"])))]
        for tp, rs, write, gemm in ((8, "2.50", "1.143", "1.2"), (16, "2.21", "1.067", "2.0")):
            values += [(f"RS reads at TP {tp}, fewer by", rs, two(geomean(ratios[tp]["rs"]))),
                       (f"GEMM and RS writes at TP {tp}, fewer by", write, f"{geomean(ratios[tp]['writes']):.3f}"),
                       (f"GEMM reads at TP {tp}, fewer by", gemm, two(geomean(ratios[tp]["gemm"])))]
        return totals, ratios, table(header, rows), table(("DRAM traffic of a GPU", "paper", "simulated"), values)

    def large(self):
        runs = self.runs(LARGE, ("sequential", "ideal-gemm-rs-overlap", "t3-mca"))
        names = ("ideal-gemm-rs-overlap", "t3-mca")
        found = {name: [seconds(runs[case, "sequential"]) / seconds(runs[case, name]) for case in LARGE] for name in names}
        rows = [(*case, *[two(found[name][i]) for name in names]) for i, case in enumerate(LARGE)]
        mca = found["t3-mca"]
        rows += [("geomean", "", 32, two(geomean(found[names[0]])), f"{geomean(mca):.2f} (paper 1.29)"),
                 ("maximum", "", 32, two(max(found[names[0]])), f"{max(mca):.2f} (paper 1.35)")]
        return mca, table(("model", "sub-layer", "TP", *names), rows)

    def cu_sharing(self):
        """Figure 6: the longer of GEMM and all-reduce, each on its share of 80 CUs."""
        cases = [(model, sub, 8) for model in ("mega-gpt2", "t-nlg") for sub in ("op", "fc2")]
        rows, base = [], None
        for name, gemm, copy, paper in (("ideal", 80, 80, "1.67"), ("72-8", 72, 8, "1.18"), ("64-16", 64, 16, "1.49")):
            runs = self.runs(cases, ("sequential", "cu-split"),
                             (("strategy.gemm_cus", gemm), ("strategy.collective_cus", copy)))
            speedup = geomean([seconds(runs[c, "sequential"]) / seconds(runs[c, "cu-split"]) for c in cases])
            times = [split_seconds(runs[c, "cu-split"]) for c in cases]
            base = base or times
            slower = [geomean([t[i] / b[i] for t, b in zip(times, base)]) for i in (0, 1)]
            rows.append((name, paper, two(speedup), f"{100 * (slower[0] - 1):.0f} %", f"{100 * (slower[1] - 1):.0f} %"))
        return table(("CUs, GEMM-AR", "paper", "simulated", "GEMM slower by", "AR slower by"), rows)

    def future(self):
        """Figure 20: twice the CUs."""
        double = (("machine.device.cores", 160), ("machine.device.peak.fp16", "229.376 TFLOP/s"))
        rows = []
        for model in ("mega-gpt2", "t-nlg"):
            for sub in ("op", "fc2"):
                once, twice = (self.speedups([(model, sub, 8)], "t3-mca", settings)[0] for settings in ((), double))
                rows.append((model, sub, two(once), two(twice), "gains less" if sub == "op" else "gains more",
                             "gains less" if twice < once else "gains more"))
        return table(("model", "sub-layer", "80 CUs", "160 CUs", "paper", "simulated"), rows)

    def reduce_scatter(self):
        """Figure 14's sizes on 4 GPUs, against the closed form."""
        rows, worst = [], 0
        for megabytes in (6, 12, 24, 48, 96, 192):
            settings = (("strategy.sublayer", "gemm"), ("strategy.m", 1024 * megabytes), ("strategy.n", 512), ("strategy.k", 32),
                        ("strategy.configuration", "reduce-scatter"), ("machine.topology.devices", 4), (MEMORY, 1))
            simulated = kernel_seconds(self.simulator.summary(FILE, settings))[0]
            size = megabytes * 1024 * 1024
            # The last reduction reads two chunks and writes one; the L2 keeps what half of it holds, beside what it has read.
            written = max(0, size / 4 - 8 * 2**20)
            expected = 3 * (500e-9 + size / 4 / 75e9) + (2 * size / 4 + written) / 1.024e12
            worst = max(worst, abs(simulated / expected - 1))
            rows.append((f"{megabytes} MiB", f"{1e6 * expected:.1f}", f"{1e6 * simulated:.1f}",
                         f"{100 * (simulated / expected - 1):+.2f} %"))
        return worst, table(("reduce-scatter on 4 GPUs", "closed form us", "simulated us", "difference"), rows)

    def sensitivity(self):
        """What halving and doubling the values that the paper does not give does to T3 and T3-MCA."""
        t = "machine.device.transaction."
        values = {t + "granularity": ("512 B", "1 KiB", "2 KiB"), t + "prefetch": (0, 1, 2), t + "l2_latency": ("75 ns", "150 ns", "300 ns"),
                  t + "dram_latency": ("75 ns", "150 ns", "300 ns"), t + "turnaround": (5, 10, 20), t + "dram_queue": (32, 64, 128),
                  t + "group_run": ("128 B", "256 B", "512 B"), t + "starvation_limit": ("13.5 ns", "27 ns", "54 ns"),
                  t + "outstanding": ("4 KiB", "8 KiB", "16 KiB"), t + "copy_block": ("4 KiB", "8 KiB", "16 KiB"),
                  t + "l2_ways": (8, 16, None), t + "row_time": (None, 0, 3), t + "work_group_time": ("5 us", "10 us", "20 us"),
                  t + "memory_efficiency": (0.3, 0.59, None), "strategy.tile_k": (16, 32, 64), "strategy.dma_tiles": (None, 1, 2)}
        cases = [("t-nlg", "fc2", 8), ("mega-gpt2", "fc2", 16)]
        base = [geomean(self.speedups(cases, name)) for name in ("t3", "t3-mca")]
        rows = []
        for key, (half, normal, double) in values.items():
            cells = [key.rsplit(".", 1)[1], normal]
            for value in (half, double):
                if value is None:
                    cells.append("")
                    continue
                found = [geomean(self.speedups(cases, name, ((key, value),))) for name in ("t3", "t3-mca")]
                cells.append(f"{value}: " + ", ".join(f"{100 * (a / b - 1):+.1f} %" for a, b in zip(found, base)))
            rows.append(tuple(cells))
        return table(("value", "used", "less: T3, T3-MCA", "more: T3, T3-MCA"), rows)


TRAFFIC = ("gemm_read", "gemm_write", "reduce_scatter_read", "reduce_scatter_write", "all_gather_read", "all_gather_write")


def writes(traffic):
    return traffic["gemm_write"] + traffic["reduce_scatter_write"]


def seconds(result):
    return result["iteration_time_ps"] * 1e-12


def kernel_seconds(result):
    """Of the kernels of device 0, in order."""
    return [(row["end_ps"] - row["begin_ps"]) * 1e-12 for row in result["kernels"]]


def split_seconds(result):
    """GEMM, and reduce-scatter with all-gather, of cu-split."""
    gemm = [row for row in result["kernels"] if row["stream"] == 0]
    copies = [row for row in result["kernels"] if row["stream"] == 1]
    return [sum(row["end_ps"] - row["begin_ps"] for row in rows) * 1e-12 for rows in (gemm, copies)]


def fitted_mark(case):
    return "ideal fitted" if case in FITTED_IDEAL else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tessera", required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    study = Study(Simulator(arguments.tessera, arguments.seed))
    work_group, efficiency = study.fit()
    held = (ROOT / "inputs" / "machines" / "v100-ring.toml").read_text()
    for text in (f'work_group_time = "{work_group} us"', f"memory_efficiency = {efficiency}"):
        if text not in held:
            print(f"inputs/machines/v100-ring.toml should say {text}", file=sys.stderr)
    runs, found, sublayers = study.sublayers()
    totals, ratios, traffic, movement = study.traffic(runs)
    large, large_table = study.large()
    worst, passes = study.reduce_scatter()
    tables = {"t3-fit": f"work_group_time = {work_group} us, memory_efficiency = {efficiency}", "t3-sublayers": sublayers,
              "t3-totals": study.totals(found), "t3-traffic": traffic, "t3-movement": movement, "t3-large": large_table,
              "t3-cus": study.cu_sharing(), "t3-future": study.future(), "t3-passes": passes, "t3-sensitivity": study.sensitivity()}
    write_into(ROOT / "docs" / "validation" / "t3.md", tables)
    for name in tables:
        print(f"\n{name}\n{tables[name]}")
    goals = [(1.35, geomean(found["ideal-gemm-rs-overlap"])), (1.20, geomean(found["t3"])), (1.39, max(found["t3"])),
             (1.47, max(found["t3-mca"])), (1.29, geomean(large)), (1.35, max(large))]
    deviations = [100 * abs(ours / paper - 1) for paper, ours in goals]
    print(f"\nsummary: study=t3 mean_abs_deviation_pct={sum(deviations) / len(deviations):.2f} max_abs_deviation_pct={max(deviations):.2f} "
          f"geomean_ideal={goals[0][1]:.3f} geomean_t3={goals[1][1]:.3f} max_t3={goals[2][1]:.3f} "
          f"geomean_t3_mca={geomean(found['t3-mca']):.3f} max_t3_mca={goals[3][1]:.3f} geomean_large={goals[4][1]:.3f} max_large={goals[5][1]:.3f} "
          f"rs_reads_tp8={geomean(ratios[8]['rs']):.3f} rs_reads_tp16={geomean(ratios[16]['rs']):.3f} "
          f"total_traffic_geomean={geomean(totals):.3f} rs_closed_form_pct={100 * worst:.2f} "
          f"fitted=work_group_time_us:{work_group},memory_efficiency:{efficiency}")


if __name__ == "__main__":
    main()
