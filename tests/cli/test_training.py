"""tessera train: policies that searches begin with; kept, gone on from, refused."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from harness import CliTest

SPLIT = 'training = ["alexnet", "vgg-11", "squeezenet-1.0"]\nvalidation = ["squeezenet-1.1"]\ntest = ["vgg-13"]\n'


class Training(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "three-networks.toml").write_text(SPLIT)

    def train(self, output, *arguments, **how):
        return self.tessera("train", "train.toml", "-o", output, "--progress", "off", *arguments, **how)

    def test_a_policy_is_the_same_on_any_number_of_ranks_and_searches_begin_with_it(self):
        for ranks in (None, 2, 3, 4):
            said = self.train(f"{ranks}.h5", ranks=ranks).stdout
            self.assert_same_results("None.h5", f"{ranks}.h5")
        self.assertRegex(said, r"learnt from 3 graphs, 80 samples\n  kernels +\w+\n")
        self.assertNotIn("4.h5.checkpoint", self.files())  # it has done its work
        given = ("--set", "strategy.policy=4.h5", "--set", "model=vgg-13")
        for search in ("ppo", "zero-shot"):
            chosen = ("--set", f"strategy.search={search}", *given)
            for ranks in (1, 2, 3, 4):
                self.tessera("plan", "train.toml", "-o", f"{ranks}.toml", "--history", f"history{ranks}.h5", "--force", "--progress", "off", *chosen, ranks=ranks)
                self.assertEqual((self.folder / f"{ranks}.toml").read_bytes(), (self.folder / "1.toml").read_bytes())
                self.assert_same_results("history1.h5", f"history{ranks}.h5")
        # The plan is one partition, by whatever found it; the policy's hash stands in the resolved experiment.
        self.simulate("train.toml", "run.h5", "--plan", "1.toml", *given)
        resolved = self.tessera("check", "train.toml", *given).stdout
        self.assertRegex(resolved, r'\[attachments\]\n#? *policy = "[0-9a-f]{16}"|policy = "[0-9a-f]{16}"')

    def test_going_on_from_any_checkpoint_comes_to_the_same_policy(self):
        os.mkdir(self.folder / "all")
        self.train("whole.h5", "--checkpoints", "all")
        kept = sorted(path.name for path in (self.folder / "all").iterdir())
        self.assertEqual(kept, ["000001.h5", "000002.h5", "000003.h5", "000004.h5"])
        for checkpoint, ranks in (("000001.h5", None), ("000003.h5", 2), ("000004.h5", None)):
            shutil.copy(self.folder / "all" / checkpoint, self.folder / "again.h5.checkpoint")
            self.train("again.h5", "--resume", "--force", ranks=ranks)
            self.assert_same_results("whole.h5", "again.h5")
        shutil.copy(self.folder / "all" / "000002.h5", self.folder / "again.h5.checkpoint")
        done = self.train("again.h5", "--resume", "--force", "--seed", "2", code=2)
        self.assertEqual(done.stderr, "the checkpoint is of another training: its experiment, graphs or options were different\n")

    def test_a_signal_leaves_the_last_whole_checkpoint(self):
        more = ("--set", "training.samples=100000", "--set", "training.checkpoints=5000")
        for ranks in (None, 2):
            command = self.command(["train", "train.toml", "-o", "long.h5", "--progress", "off", "--force", *more], ranks)
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            checkpoint = self.folder / "long.h5.checkpoint"
            for _ in range(300):
                if checkpoint.exists():
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=60)[1]
            self.assertNotEqual(process.returncode, 0)
            if ranks is None:
                self.assertEqual(process.returncode, 4)
                self.assertRegex(said, r"^(interrupted by a signal: train --resume goes on from 'long.h5.checkpoint'|cannot write 'long.h5.checkpoint': interrupted by a signal.*)\n$")
            self.assertNotIn("long.h5", self.files())
            self.assertFalse([name for name in self.files() if ".tmp" in name])
            checkpoint.rename(self.folder / "kept.h5")  # whole: it is read without a complaint
            done = self.tessera("plan", "train.toml", "-o", "plan.toml", "--force", "--progress", "off", "--set", "strategy.policy=kept.h5")
            self.assertIn("partition = [", done.stdout)

    def test_what_cannot_be_learnt_from_is_refused(self):
        self.assertIn('there is no split "none"', self.train("p.h5", "--set", "training.split=none", code=2).stderr)
        (self.folder / "three-networks.toml").write_text(SPLIT.replace('"vgg-13"', '"vgg-11", "squeezenet-1.1"'))
        for ranks in (None, 3):
            said = self.train("p.h5", code=2, ranks=ranks).stderr
            self.assertIn('"vgg-11" is in two lists, training and test: what is learnt from is not what is tested with\n', said)
            self.assertIn('"squeezenet-1.1" is in two lists, validation and test', said)
        (self.folder / "three-networks.toml").write_text("training = []\nvalidation = [1]\n")
        said = self.train("p.h5", code=2).stderr
        self.assertIn('"training": expected a list of models, at least one', said)
        self.assertIn('"validation": expected names of models', said)
        (self.folder / "three-networks.toml").write_text(SPLIT.replace("alexnet", "alexnett"))
        self.assertIn('unknown model "alexnett" (did you mean "alexnet"?)', self.train("p.h5", code=2).stderr)
        (self.folder / "three-networks.toml").write_text(SPLIT)
        done = self.tessera("train", "training.toml", "-o", "p.h5", "--set", "training.split=three-networks.toml", "--progress", "off", code=2)
        self.assertIn("cuts transformers, and this model is a computation graph", done.stderr)
        # What has been learnt is for searches; a disagreement about the prior is said.
        self.train("p.h5", "--set", "training.samples=40", "--set", "strategy.sigma=1")
        self.assertIn("a training begins with nothing learnt: it takes no `policy`", self.train("q.h5", "--set", "strategy.policy=p.h5", code=2, ranks=2).stderr)
        done = self.tessera("plan", "train.toml", "-o", "plan.toml", "--progress", "off", "--set", "strategy.policy=p.h5")
        self.assertIn("the policy was trained beside sigma = 1, and here it is 0", done.stderr)
        done = self.tessera("plan", "train.toml", "-o", "plan.toml", "--force", "--progress", "off", "--set", "strategy.policy=p.h5", "--set", "strategy.sigma=1")
        self.assertEqual(done.stderr, "")
        os.remove(self.folder / "p.h5")
        self.assertEqual(self.train("p.h5", "--resume", code=4).stderr, "cannot read 'p.h5.checkpoint': No such file or directory\n")
        self.assertEqual(self.train("p.h5", "--checkpoints", "nowhere", code=4).stderr, "--checkpoints: there is no folder 'nowhere'\n")
        self.assertNotIn("p.h5", self.files())

    def test_a_policy_that_cannot_be_used_is_refused(self):
        self.train("policy.h5")

        def refused(policy, *arguments, code=2):
            return self.tessera("plan", "train.toml", "-o", "plan.toml", "--force", "--progress", "off", "--set", f"strategy.policy={policy}", *arguments, code=code).stderr

        self.assertIn("the policy was trained for 6 chips, and there are 9: stretch_policy = true takes it all the same\n",
                      refused("policy.h5", "--set", "machine.topology.chiplets=9"))
        self.tessera("plan", "train.toml", "-o", "plan.toml", "--force", "--progress", "off", "--set", "strategy.policy=policy.h5", "--set", "strategy.stretch_policy=true",
                     "--set", "machine.topology.chiplets=9", "--set", "strategy.search=zero-shot")
        self.assertIn("search zero-shot draws from a trained policy: `policy` names its file",
                      self.tessera("plan", "train.toml", "-o", "plan.toml", "--force", "--progress", "off", "--set", "strategy.search=zero-shot", code=2).stderr)
        self.assertIn("train.toml is not a policy (tessera train)\n", refused("train.toml"))
        self.assertIn("there is no such file", refused("nothing.h5"))
        self.simulate("train.toml", "run.h5")
        self.assertIn("is not a policy (tessera train)", refused("run.h5"))
        whole = (self.folder / "policy.h5").read_bytes()
        for place in (len(whole) // 3, len(whole) // 2):
            (self.folder / "damaged.h5").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1:])
            self.assertIn("is damaged: it differs from its checksum", refused("damaged.h5"))
        # Anywhere else it is refused as well, if it matters: nothing crashes.
        for place in range(1000, len(whole), len(whole) // 40):
            (self.folder / "damaged.h5").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1:])
            done = subprocess.run(self.command(["check", "train.toml", "--set", "strategy.policy=damaged.h5"]), cwd=self.folder, capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 2), done.stderr)
        for place in (found.start() + 40 for found in re.finditer(b"FHDB|OHDR|OCHK|BTLF|SNOD|HEAP", whole)):
            (self.folder / "damaged.h5").write_bytes(whole[:place] + bytes([whole[place] ^ 0x01]) + whole[place + 1:])
            done = subprocess.run(self.command(["check", "train.toml", "--set", "strategy.policy=damaged.h5"]), cwd=self.folder, capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 2), done.stderr)
        (self.folder / "damaged.h5").write_bytes(whole[:len(whole) // 2])
        self.assertIn("the file is damaged or cut short", refused("damaged.h5"))

    def test_a_predictor_is_the_same_on_any_number_of_ranks_and_serves_its_device(self):
        for ranks in (None, 2, 3, 4):
            said = self.tessera("train", "products.toml", "-o", f"{ranks}.h5", "--progress", "off", ranks=ranks).stdout
            self.assert_same_results("None.h5", f"{ranks}.h5")
        self.assertRegex(said, r"learnt from 40\n  kernels +\w+\noff on 10 others: .*\n  predictor +[0-9.]+ %")
        given = ("--set", "cost.model=predictor", "--set", "cost.file=4.h5")
        self.simulate("products.toml", "one.h5", *given)
        self.simulate("products.toml", "two.h5", *given, ranks=2)
        self.assert_same_results("one.h5", "two.h5")
        self.assertRegex(self.tessera("check", "products.toml", *given).stdout, r'file = "[0-9a-f]{16}"')
        refused = self.tessera("check", "products.toml", *given, "--set", "machine.device.array.banks=16", code=2).stderr
        self.assertRegex(refused, "^--set cost.file: .*4.h5: the predictor was trained for .* in 8 banks of .*; this device has .* in 16 banks of .*\n$")
        self.assertEqual(self.tessera("train", "products.toml", "-o", "5.h5", "--resume", code=4).stderr, "cannot read '5.h5.checkpoint': No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
