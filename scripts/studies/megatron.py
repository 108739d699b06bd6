"""Korthikanti et al. 2022, Table 5: iterations of four models on up to 512 A100s, measured beside simulated.

Simulates all eight on the stock machine file, nothing fitted, and writes docs/validation/megatron.md.
"""

import argparse
import os

from _runs import ROOT, Simulator, deviation, max_abs, mean_abs, table, write_into

# Seconds an iteration: full recomputation; sequence parallelism with selective recomputation.
MEASURED = {"22b": (1.42, 1.10), "175b": (18.13, 13.75), "530b": (49.05, 37.83), "1t": (94.42, 71.49)}
WAYS = ("full", "selective")
ROWS = [(model, way) for model in MEASURED for way in WAYS]
# Milliseconds of one layer of the 22B model, forward and backward (Table 4, column Combined).
LAYER = {
    "tensor parallel": (19.6, "none", False),
    "and sequence parallel": (19.0, "none", True),
    "tensor parallel, full recomputation": (27.2, "full", False),
    "tensor parallel, selective recomputation": (20.9, "selective", False),
    "and sequence parallel, selective recomputation": (20.3, "selective", True),
}
REPLICATED = 39.15  # section 6.3: 530B with data parallelism of 8


def measured(row):
    return MEASURED[row[0]][WAYS.index(row[1])]


def file_of(row):
    return f"megatron/{row[0]}-{row[1]}.toml"


class Study:
    def __init__(self, simulator, ranks):
        self.simulator, self.ranks = simulator, ranks

    def deviations(self, rows, settings):
        found = []
        for row in rows:
            ranks = 1 if row[0] == "22b" else self.ranks
            found.append(deviation(self.simulator.seconds(file_of(row), settings, ranks), measured(row)))
        return found

    def rows(self):
        deviations = self.deviations(ROWS, ())
        lines = []
        for row, dev in zip(ROWS, deviations):
            summary = self.simulator.summary(file_of(row))
            lines.append((
                row[0].upper(), row[1], f"{measured(row):.2f}", f"{summary['iteration_time_ps'] * 1e-12:.2f}",
                f"{dev:+.2f}", f"{100 * summary['model_flops_utilisation']:.1f}", f"{summary['peak_memory'] / 1e9:.1f}"))
        header = ("model", "recomputation", "measured s", "simulated s", "deviation %", "model FLOP/s of peak %",
                  "peak memory GB")
        return deviations, table(header, lines)

    def shares(self):
        """Where the time of an average device goes, in percent."""
        names = ["forward", "backward", "recomputation", "optimizer", "tensor_communication", "pipeline_communication",
                 "waiting", "bubble", "idle"]
        lines = []
        for row in ROWS:
            summary = self.simulator.summary(file_of(row))
            total = summary["iteration_time_ps"]
            parts = [100 * summary[f"mean_{name}_ps"] / total for name in names]
            lines.append((row[0].upper(), row[1], *[f"{part:.1f}" for part in parts]))
        return table(("model", "recomputation", *[name.replace("_", " ") for name in names]), lines)

    def layers(self):
        """One layer of the 22B model: six layers against five."""
        lines, deviations = [], []
        for name, (milliseconds, recomputation, sequence) in LAYER.items():
            settings = [("strategy.recomputation", recomputation), ("strategy.sequence_parallel", str(sequence).lower())]
            runs = self.simulator.many([("megatron/22b-full.toml", (*settings, ("model.layers", n))) for n in (6, 5)])
            difference = [runs[0][key] - runs[1][key] for key in ("iteration_time_ps", "mean_optimizer_ps")]
            simulated = (difference[0] - difference[1]) * 1e-9
            deviations.append(deviation(simulated, milliseconds))
            lines.append((name, f"{milliseconds:.1f}", f"{simulated:.1f}", f"{deviations[-1]:+.1f}"))
        return deviations, table(("22B layer", "measured ms", "simulated ms", "deviation %"), lines)

    def replicas(self):
        """What eight replicas add to an iteration: it does not depend on the number of micro-batches, so few will do."""
        times = [self.simulator.seconds(file, (("workload.global_batch", batch),), self.ranks)
                 for file, batch in (("megatron/530b-selective.toml", 70), ("megatron/530b-2240.toml", 560))]
        added, simulated = REPLICATED - measured(("530b", "selective")), times[1] - times[0]
        return table(("530B, 8 replicas", "measured s", "simulated s", "deviation %"),
                     [("added to an iteration", f"{added:.2f}", f"{simulated:.2f}",
                       f"{deviation(simulated, added):+.0f}")])

    def sensitivity(self):
        """Changes of the iteration when a constant is halved or doubled."""
        constants = {
            "`cost.tile_latency`": ("cost.tile_latency", "2300 ns", ("1150 ns", "4600 ns")),
            "`cost.launch_overhead`": ("cost.launch_overhead", "900 ns", ("450 ns", "1800 ns")),
            "`cost.operand_bytes_per_clock`": ("cost.operand_bytes_per_clock", "36", ("18", "72")),
            "`topology.nvlink_latency`": ("machine.topology.nvlink_latency", "3.4 us", ("1.7 us", "6.8 us")),
            "`topology.nic_latency`": ("machine.topology.nic_latency", "9.6 us", ("4.8 us", "19.2 us")),
            "`cost.fused_memory_efficiency` (double: 1)": ("cost.fused_memory_efficiency", "0.56", ("0.28", "1.0")),
            "`cost.dropout_memory_efficiency`": ("cost.dropout_memory_efficiency", "0.41", ("0.205", "0.82")),
            "`strategy.exchange_overhead`": ("strategy.exchange_overhead", "380 us", ("190 us", "760 us")),
            "`packet`": ("machine.packet", "64 KiB", ("32 KiB", "128 KiB")),
        }
        rows = [("22b", "full"), ("22b", "selective"), ("175b", "full"), ("175b", "selective")]
        base = [self.simulator.seconds(file_of(row), (), self.ranks) for row in rows]
        lines = []
        for label, (key, value, others) in constants.items():
            for word, other in zip(("half", "double"), others):
                settings = ((key, other),)
                times = [self.simulator.seconds(file_of(row), settings) for row in rows]
                lines.append((f"{label} = {value}", word, *[f"{deviation(t, b):+.2f}" for t, b in zip(times, base)]))
        header = ("constant", "", *[f"{model.upper()} {way} %" for model, way in rows])
        return table(header, lines)

    def variants(self):
        """Other choices than ours."""
        choices = {
            "ours": (),
            "stores overlap with the next tiles": (("cost.stores", "overlapped"),),
            "all memory-bound kernels as fast as copies": tuple((f"cost.{kind}_memory_efficiency", "0.85") for kind in (
                "elementwise", "fused", "dropout", "norm", "softmax", "reduction", "copy", "embedding", "optimizer")),
            "no limit of GEMMs": (("cost.matrix_limit", "1"),),
            "GEMM main loop at 0.80 of peak": (("cost.matrix_efficiency", "0.80"),),
            "GEMM main loop at 0.9255 of peak (1,305 of 1,410 MHz)": (("cost.matrix_efficiency", "0.9255"),),
            "NVLink at 300 GB/s, additions cost memory time": (("machine.topology.nvlink_efficiency", "1.0"),
                                                             ("collectives.reduction", "memory")),
            "gradients added by a kernel of their own": (("strategy.fused_gradient_accumulation", "false"),),
        }
        rows = [row for row in ROWS if row[0] in ("22b", "175b")]
        lines = []
        for name, settings in choices.items():
            found = self.deviations(rows, settings)
            lines.append((name, *[f"{dev:+.2f}" for dev in found]))
        return table(("choice", *[f"{model.upper()} {way} %" for model, way in rows]), lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=min(2, os.cpu_count() or 1))
    arguments = parser.parse_args()
    study = Study(Simulator(arguments.tessera, arguments.seed), arguments.ranks)
    deviations, rows = study.rows()
    print(rows, flush=True)
    layer_deviations, layers = study.layers()
    print("\n" + layers, flush=True)
    tables = {
        "rows": rows, "shares": study.shares(), "layers": layers, "replicas": study.replicas(), "sensitivity": study.sensitivity(), "variants": study.variants(),
        "mean in short": f"{mean_abs(deviations):.2f}", "max in short": f"{max_abs(deviations):.2f}", "mean": f"{mean_abs(deviations):.2f}", "max": f"{max_abs(deviations):.2f}",
        "layer mean": f"{mean_abs(layer_deviations):.1f}",
    }
    for name in ("replicas", "sensitivity", "variants"):
        print("\n" + tables[name])
    write_into(ROOT / "docs" / "validation" / "megatron.md", tables)
    print(f"summary: study=megatron mean_abs_deviation_pct={mean_abs(deviations):.2f} "
          f"max_abs_deviation_pct={max_abs(deviations):.2f} rows={len(ROWS)}")


if __name__ == "__main__":
    main()
