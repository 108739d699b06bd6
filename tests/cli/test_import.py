"""tessera import: files of other tools become experiments that run as they are, with answers beside those tools' own."""

import re
import shutil
import unittest

from harness import HERE, WITHOUT_MPI, CliTest

INPUTS = HERE.parents[1] / "inputs"


def seconds(summary):
    number, unit = re.search(r"iteration time\s+([\d.,]+) (ps|ns|us|ms|s)", summary).groups()
    return float(number.replace(",", "")) * {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def memory(summary, category):
    number, unit = re.search(rf"^  {category}\s+([\d.]+) ([MG])B", summary, re.MULTILINE).groups()
    return float(number) * {"M": 1e6, "G": 1e9}[unit]


# Chakra's messages of protocol buffers, each behind its length (schema/protobuf/et_def.proto of mlcommons/chakra).
def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def message(content):
    return varint(len(content)) + content


def node(number, name, kind, after=(), microseconds=0, **attributes):
    content = field(1, number) + field(2, name.encode()) + field(3, kind) + b"".join(field(5, other) for other in after)
    content += field(7, microseconds) if microseconds else b""
    return message(content + b"".join(field(10, field(1, key.encode()) + field(9, value)) for key, value in attributes.items()))


COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
TRACE = message(field(1, b"0.0.4"))


class ImportTest(CliTest):
    def setUp(self):
        super().setUp()
        for source in (HERE / "import").iterdir():
            shutil.copy(source, self.folder)

    def run_imported(self, *arguments, check=True):
        """The summary of what the files become."""
        self.tessera("import", *arguments, "-o", "made.toml", "--force", environment=WITHOUT_MPI)
        if check:
            self.tessera("check", "made.toml", environment=WITHOUT_MPI)
        return self.simulate("made.toml", "out.h5").stdout

    def write_ring(self, name, **keys):
        """A machine of eight in a ring: ASTRA-sim's examples/network/analytical/Ring_8npus.yml."""
        device = {"memory_bandwidth": "50 GB/s", **keys}
        (self.folder / name).write_text('[machine]\nname = "ring"\n[machine.device]\nname = "npu"\npeak.fp16 = "900 TFLOP/s"\nmemory_capacity = "80 GB"\n'
                                        + "".join(f'{key} = "{value}"\n' for key, value in device.items())
                                        + '[machine.topology]\nkind = "ring"\ndevices = 8\nbandwidth = "50 GB/s"\nlatency = "500 ns"\n')


class Options(ImportTest):
    def test_without_output_the_experiment_is_printed_and_warnings_are_not(self):
        done = self.tessera("import", "gpt3-175b.sh", "--machine", "a100-80g-cluster", "--nodes", "16", environment=WITHOUT_MPI)
        self.assertIn('title = "gpt3-175b"\n', done.stdout)
        self.assertEqual(done.stderr, "warning: gpt3-175b.sh:17:5: --step-batch-size-schedule: left out, not modelled: batches that grow; an iteration "
                                      "of the full batch is simulated\n")
        (self.folder / "made.toml").write_text(done.stdout)
        self.tessera("check", "made.toml", environment=WITHOUT_MPI)

    def test_an_existing_file_is_kept_unless_force_says_so(self):
        (self.folder / "made.toml").write_text("mine\n")
        arguments = ("import", "gpt3-175b.sh", "--machine", "a100-80g-cluster", "--nodes", "16", "-o", "made.toml")
        self.assertIn("made.toml", self.tessera(*arguments, code=4).stderr)
        self.assertEqual((self.folder / "made.toml").read_text(), "mine\n")
        self.tessera(*arguments, "--force")
        self.assertIn("[strategy]", (self.folder / "made.toml").read_text())
        said = self.tessera("import", "gpt3-175b.sh", "-o", "gpt3-175b.sh", "--force", code=4).stderr
        self.assertIn("gpt3-175b.sh", said)

    def test_nothing_is_written_where_something_is_refused(self):
        done = self.tessera("import", "gpt3-175b.sh", "--machine", "a100-80g-cluster", "-o", "made.toml", code=2)
        self.assertEqual(done.stderr, "gpt3-175b.sh:6:11: 8 devices are no multiple of the 128 of a replica (tensor x pipeline); --nodes 16 has room for one replica\n")
        self.assertNotIn("made.toml", self.files())

    def test_wrong_uses_are_one_line(self):
        for arguments, said in (((), "FILE"), (("none.sh",), "none.sh: there is no such file"), (("README.md",), "README.md: of no format that is known"),
                                (("gpt3-175b.sh", "--format", "nonesuch"), "--format"), (("gpt3-175b.sh", "--set", "x"), "expected KEY=VALUE"),
                                (("gpt3-175b.sh", "--machine", "h100-clustr"), 'unknown machine "h100-clustr" (did you mean "h100-cluster"?)'),
                                (("gpt3-175b.sh", "--machine", "h100-cluster", "--nodes", "0"), "--nodes"), ((".",), "a folder without config.json")):
            done = self.tessera("import", *arguments, code=2)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_help_names_the_formats(self):
        text = self.tessera("import", "--help").stdout
        for name in ("megatron-lm", "nemo", "calculon", "hugging-face", "chakra"):
            self.assertIn(f"  {name} ", text)


class MegatronLM(ImportTest):
    def test_the_first_row_of_a_paper_is_the_experiment_that_is_written_by_hand(self):
        # inputs/experiments/measured/narayanan21-t1.toml says the same job key by key; on one of its four nodes it is simulated faster.
        imported = self.run_imported("sc21.sh", "--machine", "a100-80g-cluster", "--nodes", "1", "--set", "model.vocabulary=51200", "--set", "workload.global_batch=128")
        by_hand = self.simulate(INPUTS / "experiments/measured/narayanan21-t1.toml", "hand.h5", "--set", "machine.topology.nodes=1", "--set", "strategy.data=8",
                                "--set", "workload.global_batch=128").stdout
        self.assertEqual(seconds(imported), seconds(by_hand))

    def test_the_last_row_is_near_what_was_measured(self):
        # 1T on 3,072 A100s: 102.63 s by the FLOP/s of table 1 (inputs/measured/iterations.csv).
        imported = self.run_imported("sc21.sh", "--var", "MODEL_SIZE=1T", "--machine", "a100-80g-cluster", "--set", "model.vocabulary=51200")
        self.assertAlmostEqual(seconds(imported) / 102.63, 1, delta=0.04)

    def test_the_published_example(self):
        # With its batch of 1,536 sequences too, which takes longer to simulate.
        summary = self.run_imported("gpt3-175b.sh", "--machine", "a100-80g-cluster", "--nodes", "16", "--set", "workload.global_batch=64")
        self.assertIn("tensor parallel 8, pipeline parallel 16, data parallel 1", summary)


class NeMo(ImportTest):
    def test_a_measured_job(self):
        # 8.91 s an iteration (inputs/measured/iterations.csv, dgxc-24.11), with FlashAttention-2.
        imported = self.run_imported("gpt3-175b-h100.yaml", "--machine", "h100-cluster", "--recipe", "nemo-2024-flash-attention-2", "--set", "model.vocabulary=51200")
        self.assertAlmostEqual(seconds(imported) / 8.91, 1, delta=0.06)


class Calculon(ImportTest):
    FILES = ("megatron-1t.json", "1t-3072.json", "a100-80g.json")

    def test_its_example_on_its_own_figures(self):
        # Calculon's answer: 131.90 s, 50 GiB of checkpoints, which it does not cut along the sequence, so four times what is kept here
        # (docs/validation/imports.md).
        summary = self.run_imported(*self.FILES)
        self.assertAlmostEqual(seconds(summary) / 131.9006, 1, delta=0.04)
        # Two layers of 64 micro-batches: 2,048 tokens x 4 sequences x 25,600 x 2 B, over four ranks.
        checkpoints = 2 * 64 * 2048 * 4 * 25600 * 2 / 4
        self.assertLess(checkpoints, memory(summary, "activations"))
        self.assertLess(memory(summary, "activations"), 50 * 2**30 / 2)

    def test_with_the_same_assumptions_it_is_the_same(self):
        # Calculon with processing_mode "roofline" and factors of 1 for rings: 123.58 s. It has no embedding, logits or loss.
        summary = self.run_imported(*self.FILES, "--set", "model.vocabulary=128")
        self.assertAlmostEqual(seconds(summary) / 123.5826, 1, delta=0.01)

    def test_its_order_and_its_machine_do_not_matter_to_what_the_job_is(self):
        self.tessera("import", *self.FILES, "-o", "a.toml")
        self.tessera("import", *reversed(self.FILES), "-o", "b.toml")
        self.assertEqual((self.folder / "a.toml").read_text(), (self.folder / "b.toml").read_text())


class HuggingFace(ImportTest):
    def test_a_folder_runs_as_it_is_and_finds_its_model_from_where_it_is_written(self):
        model = self.folder / "models" / "Llama-2-7b-hf"
        model.mkdir(parents=True)
        shutil.copy(INPUTS / "models/llama-2-7b-hf.json", model / "config.json")
        (self.folder / "jobs").mkdir()
        self.tessera("import", model, "--machine", "a100-80g-cluster", "-o", "jobs/llama.toml")
        self.assertIn('hugging_face = "../models/Llama-2-7b-hf/config.json"', (self.folder / "jobs/llama.toml").read_text())
        # 6,738,415,616 parameters: Llama 2 7B (Touvron et al. 2023b).
        self.assertIn("parameters                    6.74 G", self.tessera("check", "jobs/llama.toml").stdout)
        summary = self.simulate("jobs/llama.toml", "out.h5").stdout
        self.assertIn("nothing is faster", summary)


class Chakra(ImportTest):
    def test_the_all_reduce_of_astra_sims_regression_test(self):
        # One of 1 MiB over a ring of eight. ASTRA-sim cuts it into four that run one behind the other, and passes three times over its memory
        # (50 GB/s) for what is added: 117,780 ns. As four collectives here: 4 x (14 x (655.36 + 500) + 7 x 3 x 655.36) ns = 119.75 us.
        self.write_ring("ring.toml")
        for rank in range(8):
            (self.folder / f"chakra_trace.{rank}.et").write_bytes(
                TRACE + b"".join(node(part, f"All-Reduce {part}", COLLECTIVE, after=[part - 1] if part else [], comm_type=0, comm_size=1 << 18) for part in range(4)))
        summary = self.run_imported(*(f"chakra_trace.{rank}.et" for rank in range(8)), "--machine", "ring.toml")
        self.assertAlmostEqual(seconds(summary), 4 * (14 * 1155.36e-9 + 7 * 1966.08e-9), delta=5e-8)
        self.assertAlmostEqual(seconds(summary) / 117.780e-6, 1, delta=0.02)

    def test_a_ring_of_messages_gives_the_same_on_any_number_of_ranks(self):
        # As examples/system/custom_collectives: each rank sends an eighth on, receives one, adds it for 7 us, seven times; then hands on seven.
        size = (1 << 20) // 8
        (self.folder / "traces").mkdir()
        for rank in range(8):
            nodes, last = b"", []
            for step in range(14):
                peers = {"send": (rank + 1) % 8, "receive": (rank + 7) % 8}
                nodes += node(3 * step, "send", SEND, after=last, comm_size=size, comm_dst=peers["send"], comm_tag=step)
                nodes += node(3 * step + 1, "receive", RECEIVE, after=[3 * step], comm_size=size, comm_src=peers["receive"], comm_tag=step)
                last = [3 * step + 1]
                if step < 7:
                    nodes += node(3 * step + 2, "add", COMPUTE, after=last, microseconds=7)
                    last = [3 * step + 2]
            (self.folder / "traces" / f"ring.{rank}.et").write_bytes(TRACE + nodes)
        self.write_ring("ring.toml")
        # 131,072 B at 50 GB/s are 2,621.44 ns: 14 x (2,621.44 + 500) + 7 x 7,000 ns.
        summary = self.run_imported("traces", "--machine", "ring.toml")
        self.assertAlmostEqual(seconds(summary), (14 * 3121.44 + 7 * 7000) * 1e-9, delta=5e-9)  # four digits
        for ranks in (2, 3, 4):
            self.simulate("made.toml", "on-ranks.h5", ranks=ranks)
            self.assert_same_results("out.h5", "on-ranks.h5")
        self.simulate("made.toml", "no-laws.h5", "--set", "simulation.laws=none")
        self.assertEqual(seconds(self.tessera("show", "no-laws.h5").stdout), seconds(summary))


if __name__ == "__main__":
    unittest.main()
