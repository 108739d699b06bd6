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
# A GEMM as given has no sequences, of which the file has some: those keys go back to their defaults.
OWN_GEMM = (("strategy.sublayer", "gemm"), ("workload.sequence", 2048), ("workload.global_batch", 1))


def layer_of_model(case):
    model, sub, tp = case
    return (("model", model), ("workload.global_batch", SEQUENCES[model]), ("machine.topology.devices", tp), ("strategy.sublayer", sub))


class Bench:
    """Runs cases: (model, sub-layer, TP degree). `fitted` are settings over those of the machine file."""

    def __init__(self, simulator, fitted=()):
        self.simulator, self.fitted = simulator, fitted

    def jobs(self, cases, configurations, settings=(), layer=layer_of_model):
        """By (case, configuration); `layer` gives the settings of a case."""
        return {(case, configuration): (FILE, (*layer(case), ("strategy.configuration", configuration), *self.fitted, *settings))
                for case in cases for configuration in configurations}

    def runs(self, cases, configurations, settings=(), layer=layer_of_model):
        """Results of those jobs, by the same."""
        return self.runs_of([self.jobs(cases, configurations, settings, layer)])[0]

    def runs_of(self, many):
        """The same of several at once."""
        self.simulator.many([job for jobs in many for job in jobs.values()])
        return [dict(zip(jobs, self.simulator.many(jobs.values()))) for jobs in many]

    def sublayers(self, settings=()):
        """Results of inputs/sweeps/t3/sublayers.toml: SMALL in all configurations of figure 16."""
        points = self.sweep("sublayers", settings)
        return {((at["model"], at["strategy.sublayer"], at["machine.topology.devices"]), at["strategy.configuration"]): result for at, result in points}

    def sweep(self, name, settings=()):
        """Points of one of inputs/sweeps/t3."""
        return self.simulator.sweep(f"t3/{name}", (*self.fitted, *settings))


def speedups(runs, cases, configuration):
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
