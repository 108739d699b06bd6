"""What the parts of the study share: the cases, and how they run."""

from _parts import seconds

FILE = "t3/sublayer.toml"
SEQUENCES = {"mega-gpt2": 16, "t-nlg": 8}  # of 1,024 tokens (table 2)
SUBLAYERS = {"op": "OP", "fc2": "FC-2", "fc1": "FC-1", "ip": "IP"}  # as the paper writes them
SMALL = [(model, sub, tp) for model in ("mega-gpt2", "t-nlg") for tp in (8, 16) for sub in SUBLAYERS]
TITLES = {"mega-gpt2": "Mega-GPT-2", "t-nlg": "T-NLG"}
WORK_GROUP = "machine.device.transaction.work_group_time"
PEAK = 114.688  # TFLOP/s of the machine file in FP16
TWICE_THE_PEAK = f"{2 * PEAK} TFLOP/s"
IDEAL = "ideal-gemm-rs-overlap"


def layer_of_model(case):
    model, sub, tp = case
    return (("model", model), ("workload.global_batch", SEQUENCES[model]), ("machine.topology.devices", tp), ("strategy.sublayer", sub))


class Bench:
    """Runs cases: (model, sub-layer, TP degree). `fitted` are settings over those of the machine file."""

    def __init__(self, simulator, fitted=()):
        self.simulator, self.fitted = simulator, fitted

    def result(self, settings):
        return self.simulator.summary(FILE, settings)

    def runs(self, cases, configurations, settings=(), layer=layer_of_model):
        """Results by (case, configuration); `layer` gives the settings of a case."""
        keys = [(case, configuration) for case in cases for configuration in configurations]
        jobs = [(FILE, (*layer(case), ("strategy.configuration", configuration), *self.fitted, *settings))
                for case, configuration in keys]
        return dict(zip(keys, self.simulator.many(jobs)))

    def speedups(self, cases, configuration, settings=()):
        runs = self.runs(cases, ("sequential", configuration), settings)
        return [speedup(runs, case, configuration) for case in cases]


def speedup(runs, case, configuration):
    return seconds(runs[case, "sequential"]) / seconds(runs[case, configuration])


def kernel_seconds(result):
    """Of the kernels of device 0, in order."""
    return [(row["end_ps"] - row["begin_ps"]) * 1e-12 for row in result["kernels"]]


def place(case):
    """(group, label) of a case in a picture."""
    model, sub, tp = case
    return f"{TITLES[model]}, TP {tp}", SUBLAYERS[sub]
