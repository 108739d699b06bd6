"""Runs under mpirun: determinism, outputs, large sums."""

import os
import shutil
import subprocess
import time
import unittest

from harness import HERE, CliTest


EVERY = [(ranks, synchroniser) for ranks in (1, 2, 3, 4) for synchroniser in ("window", "null-message")]
# Of variants of one experiment, and in a second build of what has been tested (scripts/test-mpich.sh).
SOME = [(2, "null-message"), (3, "window")]
if "TESSERA_FEW_CASES" in os.environ:
    EVERY = SOME


class Determinism(CliTest):
    """The same bits on 1, 2, 3 and 4 ranks and with both synchronisers."""

    def check(self, experiment, *arguments, on=EVERY):
        self.simulate(experiment, "reference.h5", *arguments)
        for ranks, synchroniser in on:
            output = f"{synchroniser}-{ranks}.h5"
            self.simulate(experiment, output, "--sync", synchroniser, *arguments, ranks=ranks)
            self.assert_same_results("reference.h5", output)


@unittest.skipUnless(shutil.which("h5diff"), "h5diff is not installed (package hdf5-tools)")
class DeterminismOfExperiments(Determinism):
    def test_a_training_iteration_with_all_records(self):
        self.check("training.toml")

    def test_two_streams_and_a_recommender_without_a_vocabulary(self):
        self.check("two-streams.toml", on=SOME)
        self.check("recommender.toml", on=SOME)

    def test_uneven_stages_on_a_part_of_a_machine_beside_overlap(self):
        self.check("uneven.toml")

    def test_stages_in_tiles_that_run_sets_again_and_lend_memory(self):
        self.check("lending.toml")

    def test_weights_cut_over_replicas(self):
        self.check("sharded.toml")
        self.check("sharded.toml", "--set", "strategy.gather_ahead=0", "--set", "strategy.reshard_after_forward=false", "--set", "record.timeline=false", on=SOME)
        self.check("sharded.toml", "--set", "strategy.data_sharding=gradients", "--set", "record.timeline=false", on=SOME)
        four = ("--set", "strategy.data=4", "--set", "strategy.pipeline=1", "--set", "strategy.shard_ranks=2", "--set", "strategy.spare_devices=idle", "--set", "record.timeline=false")
        self.check("sharded.toml", *four, on=SOME)

    def test_weights_streamed_layer_by_layer(self):
        one_stage = ("--set", "strategy.pipeline=1", "--set", "strategy.data=6", "--set", "workload.global_batch=20", "--set", "record.timeline=false")
        self.check("sharded.toml", "--set", "strategy.weight_streaming=devices", *one_stage, on=SOME)
        host = ("--set", "machine.host=[{name='host', memory_capacity='8 GB', memory_bandwidth='400 GB/s', bandwidth='5 GB/s', latency='1 us', links=[[0, 0], [1, 0]]}]")
        self.check("sharded.toml", "--set", "strategy.weight_streaming=hosts", *host, *one_stage, on=SOME)

    def test_products_of_fewer_bits(self):
        self.check("low-products.toml")
        whole = ("--set", "strategy.tensor=1", "--set", "strategy.sequence_parallel=false", "--set", "workload.gather_operands=false")
        self.check("low-products.toml", "--set", "strategy.data_sharding=parameters", *whole, on=SOME)

    def test_flows_that_share_links_on_a_wafer_with_faults(self):
        self.check("contention.toml")

    def test_a_timeline_of_folded_replicas_whose_rounds_are_left_out(self):
        """What stands for others and for other rounds, beside all devices and rounds simulated one by one."""
        job = ("--set", "workload.global_batch=64", "--set", "record.memory_timeline=false")
        self.simulate("training.toml", "reference.h5", *job, "--set", "simulation.laws=trains", "--set", "simulation.fold=none")
        for ranks in (None, 2, 3):
            done = self.simulate("training.toml", "left-out.h5", *job, ranks=ranks)
            self.assertIn("laws: trains, rings, rounds, fold;", done.stdout)
            self.assert_same_results("reference.h5", "left-out.h5")

    def test_folded_replicas(self):
        """With a timeline, and through the norm over all devices of the distributed optimizer: the rows of all, simulated one by one."""
        for nodes, distributed, said in (("8", "false", "2 of 8 replicas simulated for all\n"), ("2", "true", "1 of 2 replicas simulated for all\n")):
            job = ("--set", f"machine.topology.nodes={nodes}", "--set", f"strategy.distributed_optimizer={distributed}")
            self.simulate("training.toml", "reference.h5", *job)
            for ranks in (None, 2, 3):
                done = self.simulate("training.toml", "folded.h5", *job, "--set", "simulation.fold=replicas", ranks=ranks)
                self.assertIn(said, done.stdout)
                self.assert_same_results("reference.h5", "folded.h5")
        slow = ("--set", "machine.fault=[{device=5,speed=0.5}]", "--set", "simulation.fold=replicas")
        refused = self.tessera("run", "training.toml", "-o", "out.h5", *slow, code=2, ranks=2).stderr
        self.assertIn("--set simulation.fold: replicas cannot be folded: gpu 5 has 0.5 times the normal speed, gpu 7 1 times", refused)
        self.assertFalse((self.folder / "out.h5").exists())

    def test_kernels(self):
        self.check("t3.toml", "--set", "strategy.configuration=t3")
        self.check("t3-switch.toml")
        for configuration in ("sequential", "t3-mca", "ideal-rs-nmc"):
            self.check("t3.toml", "--set", f"strategy.configuration={configuration}", on=SOME)
        for collective in ("ring-all-gather", "direct-all-gather"):
            self.check("t3.toml", "--set", f"strategy.collective={collective}", on=SOME)
        self.check("t3.toml", "--set", "strategy.reduction=atomics", on=SOME)
        for configuration in ("sequential", "t3"):
            self.check("t3.toml", "--set", "strategy.input=ring-all-gather", "--set", f"strategy.configuration={configuration}", on=SOME)
        for collective in ("send", "all-to-all"):
            for configuration in ("sequential", "t3"):
                self.check("t3-switch.toml", "--set", "strategy.reduction=near-memory", "--set", f"strategy.collective={collective}",
                           "--set", f"strategy.configuration={configuration}", on=SOME)
        self.check("t3.toml", "--set", "strategy.following=near-memory", "--set", "strategy.configuration=t3", on=SOME)

    def test_kernels_among_operators(self):
        self.check("kernels-in-a-layer.toml")

    def test_operators_cut_in_space_and_time(self):
        self.check("primepar.toml")
        self.check("primepar-search.toml", on=SOME)
        stages = ("strategy.graph=layer", "model.layers=4", "strategy.pipeline=2", "strategy.micro_batches=4", "strategy.overlap_gradient_reduction=true",
                  "strategy.recomputation=true")
        self.check("primepar-search.toml", *[word for stage in stages for word in ("--set", stage)], on=SOME)

    def test_partitions_whose_sums_are_fused(self):
        self.check("primepar-fused.toml")

    def test_a_mixture_of_experts(self):
        self.check("mixture.toml")
        eight = [word for key in ("machine.topology.nodes=2", "workload.global_batch=16", "strategy.tensor=1", "strategy.pipeline=4", "strategy.stage_layers=[1,2,2,1]", "strategy.interleave=1",
                                  "strategy.recomputation=full") for word in ("--set", key)]
        self.check("mixture.toml", *eight, "--set", "strategy.schedule=dualpipe", on=SOME)
        self.check("mixture.toml", *eight, "--set", "strategy.schedule=zb-h1", "--set", "strategy.recomputed_layers=1", on=SOME)
        self.check("mixture.toml", "--set", "strategy.sequence_parallel=true", "--set", "strategy.expert_tensor=1", on=SOME)
        self.check("mixture.toml", "--set", "strategy.schedule=combined-1f1b", "--set", "strategy.delay_weight_gradients=true", on=SOME)
        beside = ("--set", "model.shared_experts=1", "--set", "strategy.overlap_shared_experts=true")
        self.check("mixture.toml", *beside, "--set", "strategy.sequence_parallel=true", "--set", "strategy.recomputation=full")
        self.check("mixture.toml", *beside, *eight, "--set", "strategy.schedule=zb-h1", on=SOME)

    def test_sums_amid_a_section_and_predictions_further_ahead(self):
        model = ("--set", "model.query_key_norm=whole-width", "--set", "model.sublayer_norms=output", "--set", "model.prediction_depth=2", "--set", "record.timeline=false")
        self.check("training.toml", *model)
        self.check("uneven.toml", *model, "--set", "strategy.overlap_parameter_gathering=true", on=SOME)
        eight = [word for key in ("machine.topology.nodes=2", "workload.global_batch=16", "strategy.tensor=1", "strategy.pipeline=4", "strategy.stage_layers=[1,2,2,1]", "strategy.interleave=1",
                                  "strategy.recomputation=full") for word in ("--set", key)]
        self.check("mixture.toml", *model, *eight, "--set", "strategy.schedule=dualpipe", on=SOME)
        self.check("mixture.toml", *model, *eight, "--set", "strategy.schedule=zb-h1", on=SOME)

    def test_vision_towers_in_front(self):
        tower = [word for key in ("layers=3", "layers_run=2", "hidden=128", "heads=4", "image_height=56", "patch=14", "class_token=true", "position_rows=17", "projector=[512, 512]", "images=2")
                 for word in ("--set", f"model.vision.{key}")]
        self.check("training.toml", *tower)
        self.check("training.toml", *tower, "--set", "model.vision.frozen=true", "--set", "strategy.schedule=zb-h1", "--set", "record.timeline=false", on=SOME)
        self.check("uneven.toml", *tower, "--set", "strategy.vision_recomputation=full", "--set", "strategy.overlap_parameter_gathering=true", "--set", "record.timeline=false", on=SOME)
        self.check("generation.toml", *tower, "--set", "workload.phase=prompt-and-generation", "--set", "strategy.tensor=2", "--set", "strategy.pipeline=2", on=SOME)

    def test_prompt_and_generation(self):
        self.check("generation.toml", "--set", "workload.phase=prompt", on=SOME)
        self.check("generation.toml")
        both = ("--set", "workload.phase=prompt-and-generation", "--set", "workload.kv_cache_datatype=fp8")
        self.check("generation.toml", *both)
        self.check("generation.toml", *both, "--set", "strategy.tensor=2", "--set", "strategy.pipeline=2", on=SOME)

    def test_the_partition_is_no_result(self):
        self.simulate("training.toml", "auto.h5", ranks=2)
        for partition in ("block", "metis"):
            self.simulate("training.toml", f"{partition}.h5", "--set", f"simulation.partition={partition}", ranks=2)
            self.assert_same_results("auto.h5", f"{partition}.h5")

    def test_the_seed_is_one(self):
        self.simulate("mixture.toml", "one.h5", "--seed", 1)
        self.simulate("mixture.toml", "two.h5", "--seed", 2)
        with self.assertRaises(AssertionError):
            self.assert_same_results("one.h5", "two.h5")


class Folds(CliTest):
    def test_whoever_is_simulated_for_others_does_as_they_do(self):
        for experiment in ("slots-of-peers.toml", "turned-stage.toml"):
            self.simulate(experiment, "folded.h5")
            self.simulate(experiment, "all.h5", "--set", "simulation.fold=none")
            self.assert_same_results("folded.h5", "all.h5")

    def test_what_a_machine_cannot_carry_out_is_refused_before_anything_is_compared(self):
        # Dies 0 and 3 of four are no rectangle; nor are those of the other pair.
        done = self.tessera("run", "turned-stage.toml", "-o", "never.h5", "--progress", "off", "--set", "collectives.all_reduce=mesh-scatter", code=3)
        self.assertIn("rectangle", done.stderr)


class Outputs(CliTest):
    def test_an_existing_output_is_left_alone_without_force(self):
        (self.folder / "out.h5").write_text("precious")
        self.tessera("run", "training.toml", "-o", "out.h5", code=4, ranks=2)
        self.assertEqual((self.folder / "out.h5").read_text(), "precious")
        self.simulate("training.toml", "out.h5", ranks=2)
        self.tessera("show", "out.h5")

    def test_a_run_leaves_its_output_and_nothing_else(self):
        before = self.files()
        self.simulate("training.toml", "out.h5", ranks=3)
        self.assertEqual(self.files(), sorted([*before, "out.h5"]))

    def test_a_file_that_is_read_is_no_output_under_whatever_name(self):
        machine = "name = 'm'\ninclude = 'v100-ring'\n"
        (self.folder / "m.toml").write_text(machine)
        text = (self.folder / "training.toml").read_text()
        experiment = self.folder / "e.toml"
        experiment.write_text(text)
        os.link(experiment, self.folder / "hard.toml")
        os.symlink("e.toml", self.folder / "soft.toml")
        os.symlink("nowhere.h5", self.folder / "dangling.h5")
        before = self.files()
        for name in ("e.toml", "hard.toml", "soft.toml", str(experiment)):
            for command in ("run", "plan", "check"):
                said = self.tessera(command, "e.toml", "-o", name, "--force", code=4).stderr
                self.assertEqual(said, f"cannot write '{name}': it is 'e.toml', which is read\n")
        said = self.tessera("run", "e.toml", "-o", "dangling.h5", "--force", code=4).stderr
        self.assertEqual(said, "cannot write 'dangling.h5': it is a link to 'nowhere.h5', which does not exist\n")
        self.tessera("plan", "e.toml", "-o", "plan.toml")
        said = self.tessera("run", "e.toml", "--plan", "plan.toml", "-o", "plan.toml", "--force", code=4, ranks=2).stderr
        self.assertIn("cannot write 'plan.toml': it is 'plan.toml', which is read\n", said)
        self.assertEqual(experiment.read_text(), text)
        self.assertEqual(self.files(), sorted([*before, "plan.toml"]))

    def test_a_machine_and_a_model_that_are_included_are_no_outputs(self):
        shipped = HERE.parents[1] / "inputs"
        shutil.copy(shipped / "machines" / "v100-ring.toml", self.folder / "m.toml")
        shutil.copy(shipped / "models" / "gpt2.json", self.folder / "config.json")
        (self.folder / "e.toml").write_text('machine = "m.toml"\n[model]\nhugging_face = "config.json"\n[workload]\nsequence = 64\n'
                                            '[strategy]\nname = "megatron"\n')
        before = {name: (self.folder / name).read_bytes() for name in self.files()}
        for name in ("m.toml", "config.json"):
            said = self.tessera("run", "e.toml", "-o", name, "--force", code=4).stderr
            self.assertRegex(said, rf"^cannot write '{name}': it is '(\./)?{name}', which is read\n$")
        self.assertEqual({name: (self.folder / name).read_bytes() for name in self.files()}, before)

    def test_a_link_to_an_output_stays_one(self):
        (self.folder / "scratch").mkdir()
        (self.folder / "scratch" / "out.h5").write_text("old")
        os.symlink("scratch/out.h5", self.folder / "out.h5")
        self.tessera("run", "training.toml", "-o", "out.h5", code=4)
        self.simulate("training.toml", "out.h5", ranks=2)
        self.assertTrue((self.folder / "out.h5").is_symlink())
        self.assertEqual(os.listdir(self.folder / "scratch"), ["out.h5"])
        self.tessera("show", "scratch/out.h5")

    def test_a_job_that_does_not_fit_runs_when_it_may(self):
        small = ("--set", "machine.device.memory_reserve=0 B", "--set", "machine.device.memory_capacity=10 MB")
        self.assertIn("needs 47.7 MB but has 10.0 MB", self.tessera("run", "training.toml", "-o", "out.h5", *small, code=3, ranks=2).stderr)
        done = self.simulate("training.toml", "out.h5", *small, "--allow-oversubscription", ranks=2)
        self.assertIn("warning:", done.stderr)


@unittest.skipUnless(shutil.which("h5diff"), "h5diff is not installed (package hdf5-tools)")
class Counters(CliTest):
    """Sums beyond 2^63, which a long run reaches in time."""

    def test_flop_of_eight_hours_and_more(self):
        # 20 x 10^18 FLOP a device at 100 TFLOP/s and an efficiency of 1 take 55.6 h; 2^63 is 9.2 x 10^18.
        said = self.simulate("large-sums.toml", "out.h5").stdout
        self.assertRegex(said, r"iteration time +200000 s")
        checked = self.tessera("check", "large-sums.toml").stdout
        self.assertRegex(checked, r"FLOP executed +160 E\n")
        self.assertRegex(checked, r"bytes sent +24\.0 EB in 24 messages")
        # Three messages of 1 EB from each of eight devices.
        self.assertRegex(said, r"ring +16 +24 EB")
        dump = subprocess.run(["h5dump", "-d", "/devices", "out.h5"], cwd=self.folder, capture_output=True, text=True).stdout
        self.assertEqual(dump.count("2e+19"), 8)
        self.assertEqual(dump.count("3e+18"), 16)  # sent and received
        self.simulate("large-sums.toml", "three.h5", ranks=3)
        self.assert_same_results("out.h5", "three.h5")


if __name__ == "__main__":
    unittest.main()
