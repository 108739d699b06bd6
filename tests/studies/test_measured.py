"""Rows of inputs/measured/iterations.csv as settings, and their order; scripts/studies/_measured without a simulator."""

import math
import tomllib
import unittest

from _measured import SOURCES, STAND_INS, accuracy, collectives, compare, decode, kernels, memory, rows_of, sensitivity, without_stand_ins
from _measured.rows import read, settings
from _runs import ROOT


def row_like(**values):
    """The first row, with other values."""
    first = read()[0]
    return type(first)(values.pop("source", first.source), tuple({**dict(first.values), **values}.items()))


def settings_of(**values):
    return dict(settings(row_like(**values)))


class Rows(unittest.TestCase):
    def test_every_row_belongs_to_a_source_with_an_experiment(self):
        for row in read():
            self.assertTrue((ROOT / "inputs" / "experiments" / row.file).exists(), row.file)

    def test_the_cut_covers_the_gpus(self):
        for source in SOURCES:
            for row in rows_of(source):
                job = dict(settings(row))
                degrees = [int(job.get(f"strategy.{key}", 1)) for key in ("tensor", "context_parallel", "pipeline", "data")]
                self.assertEqual(math.prod(degrees), row.number("gpus"), row.values)
                self.assertEqual(8 * job["machine.topology.nodes"], row.number("gpus"))

    def test_stages_whose_ends_have_one_layer_less(self):
        # 22 layers and two places for embedding and logits over 8 stages: 3 each, the ends 2; over 24 chunks 1 each, the ends none.
        flags = {"flags": "first and last stage have one layer less", "layers": "22", "pp": "8"}
        self.assertEqual(settings_of(**flags, vp="1")["strategy.stage_layers"], str([2, 3, 3, 3, 3, 3, 3, 2]))
        self.assertEqual(settings_of(**flags, vp="3")["strategy.stage_layers"], str([0] + 22 * [1] + [0]))
        self.assertNotIn("strategy.stage_layers", settings_of(flags=""))

    def test_what_a_row_says_of_the_software(self):
        self.assertEqual(settings_of(flash_attention="flash-attn by TE default (NVTE_FUSED_ATTN=0)")["recipe"], "nemo-2024-flash-attention-2")
        self.assertNotIn("recipe", settings_of(flash_attention="yes (cuDNN fused)"))
        self.assertEqual(settings_of(grad_precision="fp32 (reduced in bf16)")["strategy.gradient_precision"], "fp32")
        self.assertEqual(settings_of(grad_precision="bf16 (grad_sync_dtype)")["strategy.gradient_precision"], "fp16")
        self.assertNotIn("strategy.gradient_precision", settings_of(grad_precision="unknown"))
        self.assertEqual(settings_of(recompute="full (every_layer)")["strategy.recomputation"], "full")
        self.assertEqual(settings_of(recompute="selective (YAML; core attention)")["strategy.recomputation"], "selective")
        self.assertEqual(settings_of(recompute="unknown")["strategy.recomputation"], "none")

    def test_the_machine_is_that_of_the_gpus(self):
        self.assertEqual(settings_of(gpu="A100 SXM")["machine.include"], "a100-80g-cluster")
        self.assertEqual(settings_of(gpu="H100 SXM")["machine.include"], "h100-cluster")

    def test_context_ranks_share_the_sequences_of_replicas(self):
        self.assertEqual(settings_of(dp="4", cp="2")["strategy.data"], "4")
        self.assertEqual(settings_of(dp="4", cp="2")["strategy.context_parallel"], "2")
        self.assertNotIn("strategy.context_parallel", settings_of(cp="1"))
        self.assertEqual(compare.cut(row_like(tp="4", pp="1", vp="1", dp="4", cp="2", ep="8", mbs="1")), "t4 d4 c2 e8")
        for source in SOURCES:  # each rank has two pieces of a sequence
            for row in rows_of(source):
                self.assertEqual(row.number("gbs") % (row.number("dp") * row.number("mbs")), 0, row.values)
                self.assertEqual(row.number("seq") % (2 * row.number("cp")), 0, row.values)

    def test_experts_are_spread_over_replicas(self):
        self.assertEqual(settings_of(ep="8")["strategy.expert_parallel"], "8")
        self.assertNotIn("strategy.expert_parallel", settings_of(ep="1"))

    def test_models_of_one_kind_share_a_file(self):
        self.assertEqual(row_like(source="dgxc-25.04", model="Llama 3.1 405B with 30 layers").file, "measured/dgxc-llama3.1.toml")
        self.assertEqual(row_like(source="dgxc-24.11", model="Nemotron-4 340B").file, "measured/dgxc-nemotron-340b.toml")

    def test_gpus_that_are_no_whole_nodes_are_refused(self):
        with self.assertRaises(SystemExit):
            settings_of(gpus="12")


class Order(unittest.TestCase):
    def test_pairs_closer_than_one_percent_have_no_order(self):
        # 1.0 and 1.005 are a tie; 2.0 is above both, and comes out above one of them.
        self.assertEqual(compare.kept([1.0, 1.005, 2.0], [5.0, 1.0, 4.0]), (1, 2))

    def test_only_cuts_of_one_job_are_compared(self):
        rows = [row_like(iter_time_s="1.0", tp="1"), row_like(iter_time_s="2.0", tp="2"), row_like(iter_time_s="9.0", model="another")]
        self.assertEqual(compare.order_of_cuts(rows, [1.0, 1.5, 0.1]), (1, 1))
        self.assertEqual(compare.order_of_cuts(rows, [1.5, 1.0, 0.1]), (0, 1))
        # Nor are jobs on other GPUs.
        self.assertEqual(compare.order_of_cuts([rows[0], row_like(iter_time_s="2.0", tp="2", gpu="H100 SXM")], [1.0, 1.5]), (0, 0))

    def test_regret_of_the_cut_that_comes_out_first(self):
        # Of three cuts the second comes out first: 1.5 measured, 50 % above the fastest one; the mean of all is 1.5 as well. Another job has one cut, a third two that come
        # out alike: their mean of 1.1 counts, 10 % above the fastest.
        rows = [row_like(iter_time_s="1.0", tp="1"), row_like(iter_time_s="1.5", tp="2"), row_like(iter_time_s="2.0", tp="4"), row_like(model="alone"),
                row_like(model="twice", iter_time_s="1.0", tp="1"), row_like(model="twice", iter_time_s="1.2", tp="2")]
        found = compare.regrets(rows, [0.9, 0.8, 0.9, 9.0, 0.5, 0.5])
        for (cuts, ours, random), expected in zip(found, [(3, 50, 50), (2, 10, 10)], strict=True):
            self.assertEqual(cuts, expected[0])
            self.assertAlmostEqual(ours, expected[1])
            self.assertAlmostEqual(random, expected[2])
        whole = compare.in_the_mean(found)
        self.assertEqual((whole["jobs"], whole["cuts"], whole["none"]), (2, 5, 0))
        self.assertAlmostEqual(whole["regret"], 30)
        self.assertAlmostEqual(whole["greatest"], 50)
        self.assertEqual(compare.regrets(rows[3:4], [9.0]), [])

    def test_what_is_missing_when_micro_batches_double(self):
        # 2 stages, 8 sequences a replica: 8 + 1 passes of micro-batches of 1, 4 + 1 of 2. 0.9 s are missing of nine, 1.0 s of five: 0.1 and 0.2 s a pass, twice as much.
        same = {"pp": "2", "dp": "1", "gbs": "8", "tp": "1"}
        rows = [row_like(**same, mbs="1", iter_time_s="2.9"), row_like(**same, mbs="2", iter_time_s="3.0"), row_like(**(same | {"tp": "2"}), mbs="4", iter_time_s="3.0")]
        (ratio,) = compare.missing_when_doubled(rows, [2.0, 2.0, 2.0])
        self.assertAlmostEqual(ratio, 2)

    def test_a_line_for_a_source(self):
        rows = [row_like(iter_time_s="1.0"), row_like(iter_time_s="2.0", gpus="64")]
        # 10 % too slow and 20 % too fast.
        self.assertEqual(compare.in_a_line(rows, [1.1, 1.6])[:5], (2, "32 to 64", "15.0", "-5.0", "20.0"))


class Collectives(unittest.TestCase):
    def row(self, **values):
        return {"source_id": "a source", "machine": "h100-cluster", "nodes": "2", "gpus_per_node": "4", "nics_per_node": "4", "op": "all-reduce", "bytes": str(1 << 20), "seconds": "0.001", "taken": ""} | values

    def test_every_row_is_a_step_on_a_machine_that_there_is(self):
        for row in collectives.read():
            job = dict(collectives.settings(row))
            self.assertTrue((ROOT / "inputs" / "machines" / f"{job['machine.include']}.toml").exists(), row)
            self.assertIn(f'bytes = "{row["bytes"]} B"', job["strategy.step"])
            self.assertEqual("machine.topology.pcie_bandwidth" in job, row["nics_per_node"] != row["gpus_per_node"])

    def test_bus_bandwidth_and_what_small_and_large_ones_are_off_by(self):
        # 1 MiB in 1 ms, all-reduced over eight: 2 x 7/8 of it pass each link, 1.835 GB/s; half of that where it takes twice as long.
        self.assertAlmostEqual(collectives.bus(self.row(), 1e-3), 1.835, 3)
        self.assertAlmostEqual(collectives.bus(self.row(op="reduce-scatter"), 1e-3), 0.9175, 3)
        rows = [self.row(), self.row(bytes=str(1 << 30), seconds="1"), self.row(bytes=str(1 << 31), seconds="1", nics_per_node="2"), self.row(bytes="8192", taken="FP16; fitted to")]
        found = collectives.outcome(rows, [0.002, 0.9, 1.3, 7])  # the last one does not count
        self.assertEqual(found.summary, {"collectives_small_mean_pct": "100.0", "collectives_small_most_pct": "100.0", "collectives_large_mean_pct": "20.0", "collectives_large_most_pct": "30.0"})
        self.assertIn("| a source | 2 x 4 H100, 2 NICs | all-reduce | 2,048 MiB |", found.tables["measured-collectives"])
        self.assertIn("| 2 x 4 H100 | all-reduce | 1 MiB | 2 | 1 | +100.0 |", found.tables["measured-collectives"])
        self.assertRegex(found.tables["measured-collectives"], r"8 KiB .* fitted \|")


class Decode(unittest.TestCase):
    def row(self, **values):
        return {"source_id": "ft", "model": "GPT", "layers": "4", "hidden": "64", "heads": "4", "tp": "2", "pp": "1", "batch": "8", "input": "60", "output": "21", "seconds": "1"} | values

    def test_the_prompt_makes_the_first_token(self):
        self.assertNotIn("workload.generated", dict(decode.settings(self.row(), "prompt")))
        self.assertEqual(dict(decode.settings(self.row(), "generation"))["workload.generated"], 20)
        # 0.3 s and 0.5 s of 1 s; 20 tokens in 0.5 s are 25 ms each.
        found = decode.outcome([self.row(), self.row(seconds="0.5")], [(0.3, 0.5), (0.1, 0.5)])
        self.assertIn("| ft | GPT | t2 | 8 | 60 | 21 | 1.000 | 0.800 | 300.0 | 25.00 | -20.0 |", found.tables["measured-decode"])
        self.assertEqual(found.summary, {"decode_mean_pct": "20.0", "decode_signed_pct": "0.0", "decode_most_pct": "20.0"})

    def test_gpus_stand_in_nodes_of_eight_and_stages_share_the_batch_where_that_comes_out_even(self):
        job = dict(decode.settings(self.row(tp="8", pp="2"), "prompt"))
        self.assertEqual((job["machine.topology.nodes"], job["machine.topology.gpus_per_node"], job["strategy.micro_batch"]), (2, 8, 4))
        self.assertEqual(decode.micro_batch(self.row(pp="3")), 8)
        for row in decode.read():
            gpus = int(row["tp"]) * int(row["pp"])
            self.assertTrue(gpus < 8 or gpus % 8 == 0, row)


class Memory(unittest.TestCase):
    def test_every_row_fills_eight_gpus(self):
        for row in memory.read():
            job = dict(memory.settings(row))
            self.assertEqual(int(row["tp"]) * int(row["cp"]) * int(row["pp"]) * int(row["dp"]), 8)
            self.assertEqual(job["workload.global_batch"], 4 * int(row["dp"]))
            self.assertEqual(job["strategy.sequence_parallel"], str(row["tp"] != "1").lower())

    def test_what_it_is_off_by(self):
        # 10 GiB measured, 9 and 10.5 simulated: -10 and +5 %.
        row = {"source_id": "a source", "model": "GPT", "seq": "4096", "tp": "1", "pp": "2", "cp": "1", "dp": "4", "gib": "10"}
        found = memory.outcome([row, row | {"tp": "2", "pp": "1", "cp": "4", "dp": "1"}], [9 << 30, 21 << 29])
        self.assertIn("| a source | GPT | 4096 | p2 d4 | 10 | 9.00 | -10.0 |", found.tables["measured-memory"])
        self.assertIn("| a source | GPT | 4096 | t2 c4 | 10 | 10.50 | +5.0 |", found.tables["measured-memory"])
        self.assertEqual(found.summary, {"memory_mean_pct": "7.5", "memory_signed_pct": "-2.5", "memory_most_pct": "10.0"})


class Accuracy(unittest.TestCase):
    def test_kinds_are_by_recipe_device_and_experts(self):
        grok = next(row for row in read() if row["model"] == "Grok-1" and row.source == "dgxc-25.01-grok")
        self.assertEqual(accuracy.kind(grok.file, settings(grok)), ("nemo-2024-flash-attention-2", "H100 SXM 80 GB", True))
        mixtral = rows_of("mcore-moe")[0]  # whose model is a file of its own
        self.assertEqual(accuracy.kind(mixtral.file, settings(mixtral)), ("megatron-core-0.8", "H100 SXM 80 GB", True))
        row = rows_of("llm-foundry")[0]
        self.assertEqual(accuracy.kind(row.file, settings(row)), ("llm-foundry-2023", "H100 SXM 80 GB", False))
        self.assertEqual(accuracy.kind("megatron/22b-full.toml", ()), ("megatron-lm-2022", "A100 SXM 80 GB", False))

    def test_mean_and_greatest_of_each(self):
        # Off by 3 % down and 1 % up: 2 % in the mean, 3 % at most.
        found = tomllib.loads(accuracy.text([(("b", "gpu", False), -3.0), (("a", "gpu", True), 5.0), (("b", "gpu", False), 1.0)]))["measured"]
        self.assertEqual([one["recipe"] for one in found], ["a", "b"])
        self.assertEqual(found[1], {"recipe": "b", "device": "gpu", "experts": False, "jobs": 2, "mean": 2.0, "greatest": 3.0})


class Sensitivity(unittest.TestCase):
    def test_numbers_and_quantities_are_halved_and_doubled(self):
        self.assertEqual([sensitivity.times(value, 0.5) for value in ("6 us", 0.94, 55)], ["3 us", 0.47, 28])
        self.assertEqual([sensitivity.times(value, 2) for value in ("700 ns", 0.94, 0.05)], ["1400 ns", 1.0, 0.1])
        tables = [{"name": "LL", "most": "10 GB/s", "most_across": "4 GB/s", "step": "1 us"}]
        self.assertEqual(tomllib.loads("x = " + sensitivity.scaled(tables, ("most", "most_across"), 2))["x"],
                         [{"name": "LL", "most": "20 GB/s", "most_across": "8 GB/s", "step": "1 us"}])

    def test_each_constant_of_each_machine_is_changed_both_ways(self):
        for machine in sensitivity.JOBS:
            names = [name for name, _ in sensitivity.changes(machine, 2)]
            self.assertEqual(len(set(names)), len(names))
            self.assertEqual(len(sensitivity.columns(machine)), len(sensitivity.JOBS[machine]) + len(sensitivity.COLLECTIVES[machine]))
        found = sensitivity.outcome_of("a-machine", ["job"], [("`a`", "half", ()), ("`a`", "double", ()), ("`b`", "half", ())], [[2.0], [1.0], [3.0], [2.0]])
        self.assertEqual(found.tables["measured-sensitivity-a"].splitlines()[2:], ["| `a` | half | -50.00 |", "| `a` | double | +50.00 |", "| `b` | half | +0.00 |"])

    def test_a_collective_has_no_stack_that_launches_it(self):
        own = [("cost.issue_interval", "22 us")]
        self.assertEqual(sensitivity.applied(own, collectives.EXPERIMENT), ())
        self.assertEqual(sensitivity.applied(own, "measured/mcore-0.8.toml"), own)


class Kernels(unittest.TestCase):
    def test_constants_of_attention_are_found_again(self):
        # 200 x k / (k + 100) over k = (s + 1) / 2 keys, of a peak of 400: a half, 100 keys.
        rates = {tokens: 200 / (1 + 200 / (tokens + 1)) for tokens in (511, 1023, 2047)}
        efficiency, ramp, off = kernels.fit(rates, 400)
        self.assertAlmostEqual(efficiency, 0.5)
        self.assertEqual(ramp, 100)
        self.assertLess(max(map(abs, off)), 1e-9)

    def test_machine_files_hold_what_the_table_gives(self):
        held = {}
        for gpu in ("A100", "H100"):
            for one in kernels.machine_of(gpu)["calibration"]["cost"]["attention_kernels"]:
                held[gpu, one["library"], one["head_dim"]] = one
        rates = kernels.causal_rates()
        self.assertEqual({(gpu, kernels.LIBRARIES[library], heads) for gpu, library, heads in rates}, {key for key in held if key[:2] != ("H100", "flash-attention-triton")})
        for (gpu, library, heads), own in rates.items():
            efficiency, ramp, _ = kernels.fit(own, kernels.peak(gpu))
            self.assertAlmostEqual(held[gpu, kernels.LIBRARIES[library], heads]["efficiency"], efficiency, delta=0.0015)
            self.assertEqual(held[gpu, kernels.LIBRARIES[library], heads]["ramp"], ramp)
        for heads in (64, 128):  # nobody published it
            self.assertEqual({**held["H100", "flash-attention-triton", heads], "library": ""}, {**held["H100", "flash-attention-1", heads], "library": ""})
        for gpu, library in (("A100", "flash-attention-2"), ("H100", "cudnn")):
            cost = kernels.machine_of(gpu)["calibration"]["cost"]
            self.assertEqual((cost["attention_efficiency"], cost["attention_ramp"]), (held[gpu, library, 128]["efficiency"], held[gpu, library, 128]["ramp"]))

    def test_what_a_mask_takes_of_cudnn_is_what_it_takes_of_its_forward_pass(self):
        # 8,192 tokens, heads of 128: 539 both ways without a mask; forward 600 without, 529 with one.
        self.assertAlmostEqual(kernels.causal_rates()["H100", "cudnn", 128][8192], 539 * 529 / 600)

    def test_grouped_products_beside_single_ones(self):
        row = {"source_id": "x", "experts": "2", "rows": "1000", "n": "1000", "k": "1000", "seconds": "0.00001"}
        self.assertEqual(kernels.step(row, True), '[{op = "gemm", m = 1000, n = 1000, k = 1000, repeat = 2}]')
        # 4 x 10^9 FLOP in 10 us: 400 TFLOP/s; in 8 and 20 us 500 and 200.
        found = kernels.outcome([row], [(8e-6, 2e-5)]).tables["measured-grouped"].splitlines()[2]
        self.assertEqual(found, "| x | 2 | 1000 | 1000 to 1000 | 400 | 500 | 200 | -20.0 | +100.0 |")


class Overview(unittest.TestCase):
    def test_sources_without_a_recipe_of_their_own_stand_apart(self):
        self.assertTrue(set(STAND_INS) < set(SOURCES))
        # 10 and 20 % off without the stand-in: 15 in the mean, one of two within 10.
        self.assertEqual(without_stand_ins([("a", 10.0), (STAND_INS[0], 90.0), ("b", -20.0)]), "15.0 % off in the mean, 50 % within 10 %")


if __name__ == "__main__":
    unittest.main()
