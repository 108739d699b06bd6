"""What is read: odd files, deep files, values that no terminal should see, caches that cannot be used."""

import os
import re
import subprocess
import unittest

from harness import HERE, WITHOUT_MPI, CliTest

LONGEST_LINE = 2100


class Files(CliTest):
    def test_what_never_ends_is_refused_at_once(self):
        os.mkfifo(self.folder / "pipe")
        for path, what in (("/dev/zero", "is a device"), ("pipe", "is a pipe into which nobody writes"), (".", "is a directory")):
            self.assertEqual(self.tessera("check", path, code=2, environment=WITHOUT_MPI).stderr, f"{path}: {what}, expected a file\n")
            self.assertIn(what, self.tessera("run", path, "-o", "out.h5", ranks=2, code=2).stderr)
            self.assertIn(what, self.tessera("check", "training.toml", "--plan", path, code=2).stderr)
        for path in ("/dev/zero", "./pipe"):
            self.assertIn("expected a file", self.tessera("check", "training.toml", "--set", f"machine={path}", code=2).stderr)
            self.assertIn("expected a file", self.tessera("check", "training.toml", "--set", f"model={path}", code=2).stderr)
        self.assertNotIn("out.h5", self.files())

    def test_an_experiment_comes_through_a_pipe(self):
        text = (self.folder / "training.toml").read_text()
        done = subprocess.run(self.command(["check", "/dev/stdin"]), input=text, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, self.tessera("check", "training.toml").stdout)
        done = subprocess.run(["bash", "-c", f"yes | {self.command(['check', '/dev/stdin'])[0]} check /dev/stdin"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (2, "/dev/stdin: is longer than 64 MiB, the limit for an input\n"))

    def test_thousands_of_levels_are_one_line(self):
        levels = "a." * 5000
        broken = {"keys.toml": levels + "b = 1\n", "section.toml": "[" + levels + "b]\n", "sections.toml": "[[" + levels + "b]]\n",
                  "lists.toml": "a = " + "[" * 5000, "tables.toml": "a = " + "{ a = " * 5000}
        for name, text in broken.items():
            (self.folder / name).write_text(text)
            self.assertRegex(self.tessera("check", name, code=2).stderr, rf"^{name}:1:\d+: more than 256 levels[^\n]*allowed: 256\n$")
        self.assertIn("a key of more than 256 parts", self.tessera("check", "training.toml", "--set", levels + "b=1", code=2).stderr)
        (self.folder / "config.json").write_text('{"model_type": ' + "[" * 5000 + "]" * 5000 + "}")
        self.assertRegex(self.tessera("check", "training.toml", "--set", "model=config.json", code=2).stderr, r"config.json:1:\d+: more than 256 levels")

    def test_what_a_value_says_is_not_obeyed_by_a_terminal(self):
        hostile = "\\u001b[2J\\u001b]0;owned\\u0007\\n\\u009b31m"
        (self.folder / "x.toml").write_text(f'machine = "{hostile}"\n[strategy]\nname = "{hostile}"\n"{hostile}" = 1\n')
        said = self.tessera("check", "x.toml", code=2).stderr
        self.assertNotRegex(said, r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertIn(r"\u001B[2J\u001B]0;owned\u0007\n\u009B31m", said)
        self.assertNotRegex(self.tessera("check", "x\x1b[2J.toml", code=2).stderr, r"\x1b")
        self.assertNotRegex(self.tessera("check", "training.toml", "--x\x1b[2J", code=2).stderr, r"\x1b")
        done = subprocess.run([os.fsencode(word) for word in self.command(["check", "training.toml", "--set"])] + [b"strategy.name=\xff\x1b"],
                              cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(rb"\xFF\u001B", done.stderr)

    def test_dimensions_of_onnx_that_have_but_a_name(self):
        # y = x W with N x 4 and 4 x 6: 2 x 24 FLOP for each of N rows. The bytes are those of protobuf's messages.
        def field(tag, content):
            if isinstance(content, int):
                return bytes([tag * 8, content])
            content = content.encode() if isinstance(content, str) else content
            return bytes([tag * 8 + 2, len(content)]) + content

        def value(name, columns):
            sides = field(1, field(2, "N")) + field(1, field(1, columns))
            return field(1, name) + field(2, field(1, field(1, 1) + field(2, sides)))

        product = field(1, field(1, "x") + field(1, "W") + field(2, "y") + field(4, "MatMul"))
        weight = field(5, field(1, 4) + field(1, 6) + field(2, 1) + field(8, "W"))
        graph = product + field(2, "g") + weight + field(11, value("x", 4)) + field(12, value("y", 6))
        (self.folder / "n.onnx").write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 13)))
        model = "include = \"n.onnx\"\n"
        (self.folder / "m.toml").write_text(model)
        done = self.tessera("show", "m.toml", "--graph", "g.dot", code=2)
        if "built without ONNX" in done.stderr:
            return
        self.assertRegex(done.stderr, r'n.onnx: dimension "N" of input "x" has no size, write dimensions = \{ N = 1 \} beside the file\'s name[^\n]*\n$')
        (self.folder / "m.toml").write_text(model + "dimensions = { N = 5 }\n")
        self.assertIn("24 parameters, 2.4e-07 GFLOP", self.tessera("show", "m.toml", "--graph", "g.dot").stdout)
        for text, said in (("{ N = 5, M = 1 }", r'm.toml:2:23: unknown dimension "M", allowed: N'), ("{ N = 0 }", r'm.toml:2:20: "dimensions.N": expected a whole number from 1 to 1000000000'),
                           ("5", 'm.toml:2:14: "dimensions": a whole number is not allowed here, expected sizes of dimensions by their names, such as { N = 1 }')):
            (self.folder / "m.toml").write_text(f"{model}dimensions = {text}\n")
            self.assertRegex(self.tessera("show", "m.toml", "--graph", "g.dot", "--force", code=2).stderr, said.replace("{", r"\{").replace("}", r"\}") if "such" in said else said)

    def test_a_title_is_not_obeyed_either(self):
        printed = self.simulate("primepar-search.toml", "out.h5", "--set", 'title="\\u001b[2Jtitle"').stdout
        self.assertTrue(printed.startswith("\\u001B[2Jtitle\n"), printed[:50])
        self.assertEqual(self.tessera("show", "out.h5").stdout, printed)

    def test_a_megabyte_of_value_is_a_line(self):
        (self.folder / "x.toml").write_text('machine = "v100-ring"\n[strategy]\nname = "' + "m" * 1_000_000 + '"\n')
        said = self.tessera("check", "x.toml", code=2).stderr
        self.assertLess(len(said), LONGEST_LINE)
        self.assertRegex(said, r"characters left out\) .* allowed: mcm, megatron, primepar, script, t3, watos\n$")
        (self.folder / "x.toml").write_text("".join(f"key{i} = 1\n" for i in range(20_000)))
        self.assertRegex(self.tessera("check", "x.toml", code=2).stderr, r"\nand 19\d{3} more\n$")

    def test_a_plan_file_says_the_name_of_a_model_in_one_line(self):
        self.tessera("plan", "training.toml", "-o", "plan.toml", "--set", 'model.name="two\\nlines"')
        self.tessera("check", "training.toml", "--plan", "plan.toml", "--set", 'model.name="two\\nlines"')


class Cache(CliTest):
    """A cache that cannot be used costs the time of a search, never the search."""

    def plan(self, cache, ranks=None):
        done = self.tessera("plan", "primepar-search.toml", "-o", "plan.toml", "--force", *(["--cache", cache] if cache else []), ranks=ranks)
        return done.stdout, done.stderr

    def test_places_in_which_nothing_can_be_kept(self):
        expected, _ = self.plan(None)
        (self.folder / "a-file").write_text("here\n")
        for place, why in (("a-file", "cannot make this folder"), ("a-file/below", "cannot make this folder"), ("/proc/nowhere", "cannot make this folder"),
                           ("/proc/self", "cannot write")):
            said, warned = self.plan(place, ranks=2 if place == "a-file/below" else None)
            self.assertEqual(said, expected)
            self.assertRegex(warned, rf"^warning: --cache {place}: {why}[^\n]*\n$")
        self.assertEqual((self.folder / "a-file").read_text(), "here\n")

    def test_what_stands_in_the_place_of_its_file(self):
        expected, warned = self.plan("kept")
        self.assertEqual(warned, "")
        (file,) = (self.folder / "kept").iterdir()
        whole = file.read_text()

        def put_fifo():
            os.mkfifo(file)

        def put_link():
            file.symlink_to("/dev/zero")

        for put, why in ((put_fifo, "is a pipe into which nobody writes"), (put_link, "is a device"), (file.mkdir, "is a directory")):
            put_back = file.rmdir if put == file.mkdir else file.unlink
            file.unlink()
            put()
            said, warned = self.plan("kept")
            self.assertEqual(said, expected)
            self.assertRegex(warned, rf"^warning: --cache kept: kept/[^\n]*{why}[^\n]*goes on without it\n$")
            put_back()
            file.write_text(whole)

    def test_a_damaged_file_is_said_and_measured_anew(self):
        expected, _ = self.plan("kept")
        (file,) = (self.folder / "kept").iterdir()
        whole = file.read_text()
        lines = whole.splitlines(keepends=True)
        changed = lines[0] + "".join(lines[1:]).replace("1", "2", 1)
        for damaged in (whole[:-20], "".join(lines[:-1]), changed, "\0" * 4096, "x" * 4096, lines[0], whole + whole):
            file.write_text(damaged)
            said, warned = self.plan("kept", ranks=2 if damaged == lines[0] else None)
            self.assertEqual(said, expected)
            self.assertRegex(warned, r"^warning: kept/[^\n]*: damaged, everything is evaluated anew\n$")
            self.assertEqual(file.read_text(), whole)

    def test_files_of_an_earlier_version_are_passed_over(self):
        expected, _ = self.plan(None)
        (self.folder / "kept").mkdir()
        (self.folder / "kept" / "measured-0123456789abcdef.txt").write_text("# What searches measured, in ps. Hash of the lines below: 1\n")
        said, warned = self.plan("kept", ranks=2)
        self.assertEqual(said, expected)
        self.assertEqual(warned, "warning: --cache kept: measured-*.txt are of an earlier version of Tessera and are passed over\n")
        self.assertEqual(self.plan("kept"), (expected, ""))  # it has a file of its own now

    def test_a_file_of_another_version_is_passed_over(self):
        expected, _ = self.plan("kept")
        (file,) = (self.folder / "kept").iterdir()
        whole = file.read_text()
        version = whole.split("\n")[0]
        self.assertRegex(version, r"^# Tessera \d")
        file.write_text(whole.replace(version, "# Tessera 0.0.1", 1))
        said, warned = self.plan("kept")
        self.assertEqual(said, expected)
        self.assertRegex(warned, r"^warning: kept/[^\n]*: of another version of Tessera, everything is evaluated anew\n$")
        self.assertEqual(file.read_text(), whole)

    def test_what_a_cost_model_has_worked_out_is_kept_by_device(self):
        (self.folder / "cores.toml").write_text(
            'machine = "wafer-config3"\n[cost]\nmodel = "dataflow"\n[strategy]\nname = "script"\n'
            '[[strategy.step]]\nop = "gemm"\nm = 256\nn = 384\nk = 512\ndevices = [0, 1]\n')

        def run(name, *more, ranks=None):
            return self.tessera("run", "cores.toml", "-o", name, "--progress", "off", *more, ranks=ranks).stderr

        self.assertEqual(run("none.h5") + run("first.h5", "--cache", "kept", ranks=2), "")
        (file,) = (self.folder / "kept").iterdir()
        whole = file.read_text()
        self.assertTrue(file.name.startswith("operators-"))
        self.assertEqual(run("second.h5", "--cache", "kept"), "")
        self.assertEqual(file.read_text(), whole)
        file.write_text(whole[:-5])
        self.assertRegex(run("third.h5", "--cache", "kept"), r"^warning: kept/operators-[^\n]*: damaged[^\n]*everything is worked out anew\n$")
        self.assertEqual(file.read_text(), whole)
        run("other.h5", "--cache", "kept", "--set", "machine.device.array.sram=1 MB")
        self.assertEqual(len(list((self.folder / "kept").iterdir())), 2)
        for name in ("first.h5", "second.h5", "third.h5"):
            self.assert_same_results("none.h5", name)

    def test_two_searches_at_once(self):
        command = self.command(["plan", "primepar-search.toml", "--cache", "kept", "-o"])
        both = [subprocess.Popen([*command, f"{i}.toml"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for i in range(2)]
        answers = [process.communicate(timeout=100) for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(len(list((self.folder / "kept").iterdir())), 1)
        self.assertEqual(self.plan("kept"), (answers[0][0], ""))


class Lists(CliTest):
    def test_machines_and_models_in_a_line_each(self):
        machines = self.tessera("list", "machines", environment=WITHOUT_MPI).stdout
        self.assertRegex(machines, r"(?m)^v100-ring +calibrated: no +ring of 8, T3's GPU \(V100-like\), 115 TFLOP/s fp16, 34.1 GB at 1.00 TB/s$")
        self.assertRegex(machines, r"(?m)^b200-cluster +calibrated: kernels links power  cluster of 64, B200 SXM 180 GB, 2.25 PFLOP/s bf16, ")
        self.assertRegex(machines, r"(?m)^v100-cluster +calibrated: kernels links        cluster of 8, ")
        models = self.tessera("list", "models", environment=WITHOUT_MPI).stdout
        self.assertRegex(models, r"(?m)^gpt3-175b +175 G parameters, 96 layers, hidden 12288, 96 heads, .*$")
        self.assertRegex(models, r"(?m)^mixtral-8x7b-v0.1 +46.7 G parameters, .* 8 experts, .*$")
        self.assertNotIn("cannot be used", machines + models)
        for name in re.findall(r"(?m)^(\S+)", machines):
            self.assertNotIn("unknown machine", self.tessera_says("check", "training.toml", "--set", f"machine={name}"))
        self.assertIn("GPT-3 175B on 64 A100s\n", self.tessera("list", "experiments", environment=WITHOUT_MPI).stdout)

    def tessera_says(self, *arguments):
        return subprocess.run(self.command(arguments), cwd=self.folder, capture_output=True, text=True).stderr

    def test_folders_are_those_of_the_variable(self):
        (self.folder / "machines").mkdir()
        (self.folder / "machines" / "broken.toml").write_text("[machine]\nname = 1\n\x1b")
        said = self.tessera("list", "machines", environment={"TESSERA_INPUTS": str(self.folder)})
        self.assertRegex(said.stdout, r"^broken  cannot be used: .*broken.toml:\d+:\d+: .*\n$")
        none = self.tessera("list", "models", environment={"TESSERA_INPUTS": "nowhere"})
        self.assertEqual((none.stdout, none.stderr.count("warning: there are none")), ("", 1))

    def test_a_wrong_argument_is_refused(self):
        self.assertIn("machines", self.tessera("list", "machine", code=2).stderr)
        self.tessera("list", code=2)


class KeysWithoutEffect(CliTest):
    def test_a_network_of_one_switch_has_no_leaves(self):
        said = self.tessera("check", "training.toml", "--set", "machine.topology.oversubscription=4", "--set", "machine.topology.spines=2")
        self.assertRegex(said.stderr, r'oversubscription: oversubscription has no effect with fabric = "switch"')
        self.assertEqual(said.stderr.count("no effect"), 2)
        (self.folder / "resolved.toml").write_text(self.tessera("check", "training.toml").stdout)
        self.assertEqual(self.tessera("check", "resolved.toml").stderr, "")


class HelpByName(CliTest):
    def test_the_last_part_of_a_path_is_enough(self):
        for name, section in (("megatron", "strategy.megatron"), ("tile", "cost.tile"), ("cluster", "machine.topology.cluster"), ("fault", "machine.fault"),
                              ("mca", "machine.device.transaction"), ("hierarchical", "collectives")):
            self.assertTrue(self.tessera("help", name, environment=WITHOUT_MPI).stdout.endswith(self.tessera("help", section).stdout), name)  # behind a key of that name

    def test_a_name_in_several_sections_lists_them(self):
        said = self.tessera("help", "mesh").stdout
        self.assertTrue(said.endswith("\nmesh is in the sections collectives, machine.topology.mesh\n"), said)
        self.assertIn('(did you mean "megatron"?)', self.tessera("help", "megatrno", code=2).stderr)

    def test_a_key_is_found_in_all_sections_that_have_it(self):
        text = self.tessera("help", "bandwidth", environment=WITHOUT_MPI).stdout
        sections = re.findall(r"^\[(.*)\]$", text, re.MULTILINE)
        self.assertEqual(sections, ["machine.fault", "machine.host", "machine.template.dram", *(f"machine.topology.{kind}" for kind in ("mesh", "mesh-switch", "package", "ring", "torus", "torus-3d", "wafers"))])
        self.assertEqual(text.count("\n  bandwidth: "), 10)
        self.assertIn("of one link between two neighbours, per direction", text)
        # As sections print it.
        self.assertIn(self.tessera("help", "global_batch").stdout.split("\n", 1)[1], self.tessera("help", "workload").stdout)
        # A path says which.
        self.assertEqual(re.findall(r"^\[(.*)\]$", self.tessera("help", "strategy.tensor").stdout, re.MULTILINE), ["strategy.megatron", "strategy.primepar", "strategy.watos"])
        self.assertIn('(did you mean "global_batch"?)', self.tessera("help", "globl_batch", code=2).stderr)

    def test_a_value_prints_the_keys_that_can_be_it(self):
        for word, keys in (("dualpipe", {"strategy.megatron": ["schedule"]}), ("all-to-all", {"strategy.megatron": ["context_exchange"]}),
                           ("fp4", {"workload": ["product_datatype", "weight_datatype"]})):
            text = self.tessera("help", word, environment=WITHOUT_MPI).stdout
            found = {section: re.findall(r"^  (\w+): ", keys, re.MULTILINE) for section, keys in re.findall(r"^\[(.*)\]\n((?:  .*\n)*)", text, re.MULTILINE)}
            for section, expected in keys.items():
                self.assertEqual(found.get(section), expected, text)
        # A word that names parts as well says where those are.
        text = self.tessera("help", "ring").stdout
        self.assertIn("\n[strategy.megatron]\n  context_exchange: ", text)
        self.assertIn("\nring is in the sections collectives, machine.topology.ring\n", text)
        # Another tool's word for a value, and formats that are no value of their own.
        self.assertTrue(self.tessera("help", "zero-bubble").stdout.startswith('zero-bubble: it is "zb-h1" here\n\n[strategy.megatron]\n  schedule: '))
        self.assertIn("[workload]\n  operand_scaling: ", self.tessera("help", "mxfp8").stdout)
        for word in ("e5m2", "fp8_e4m3", "float8_e5m2"):
            text = self.tessera("help", word).stdout
            self.assertIn("[workload]\n  product_datatype: ", text)
            self.assertIn("E5M2 or E4M3 backward", " ".join(text.split()))

    def test_words_of_other_tools(self):
        said = self.tessera("help", "--", "--tensor-model-parallel-size").stdout
        self.assertTrue(said.startswith('--tensor-model-parallel-size: it is "tensor" of [strategy.megatron] here\n\n[strategy.megatron]\n  tensor: '), said)
        said = self.tessera("help", "hierarchical_context_parallel", code=2).stderr
        self.assertRegex(said, r'^tessera help: "hierarchical_context_parallel": not modelled: all-to-all inside of a ring; .*\n$')


class ListsAtOnce(CliTest):
    def test_no_list_takes_long(self):
        """Of processor time, beside what the smallest list takes: the tables of all nodes of all networks took twenty times that."""
        inputs = {**WITHOUT_MPI, "TESSERA_INPUTS": str(HERE.parents[1] / "inputs")}
        spent = {}
        for kind in ("recipes", "machines", "models", "experiments", "sweeps"):
            before = os.times()
            self.tessera("list", kind, environment=inputs)
            after = os.times()
            spent[kind] = after.children_user + after.children_system - before.children_user - before.children_system
        for kind, seconds in spent.items():
            self.assertLess(seconds, 0.1 + 4 * spent["recipes"], f"{kind}: {spent}")


class FilesOfOtherTools(CliTest):
    def test_they_are_called_by_their_names(self):
        files = {"trace.et": (b"\x07\x0a\x050.0.4\x20\x0a\x1esomething\x00", "a Chakra execution trace"),
                 "system.json": (b'{"matrix": {}, "vector": {}, "mem1": {}, "networks": []}', "a Calculon system"),
                 "network.yml": (b"topology: [ Ring ]\nnpus_count: [ 8 ]\n", "an ASTRA-sim network (YAML)"),
                 "nemo.yaml": (b"trainer:\n  num_nodes: 8\n", "a YAML file"),
                 "workload.txt": (b"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1\n5\n", "a SimAI workload")}
        for name, (content, kind) in files.items():
            (self.folder / name).write_bytes(content)
            self.assertEqual(self.tessera("run", name, "-o", "out.h5", code=2).stderr, f"{name}:1:1: this is {kind}, expected an experiment in TOML (docs/experiments.md)\n")
            for key in ("machine", "model"):
                said = self.tessera("check", "training.toml", "--set", f"{key}={name}", code=2).stderr
                self.assertIn(f"{name}:1:1: this is {kind}, expected a {key} in TOML", said)
            self.assertFalse((self.folder / "out.h5").exists())


if __name__ == "__main__":
    unittest.main()
