"""Memory that stages lend, as a user sees it: what fits, what check says, plans that say where stages stand."""

import re
import unittest

from harness import HERE, CliTest


class Lending(CliTest):
    RUN = ("run", "lending.toml", "-o", "out.h5", "--progress", "off", "--force")

    def bytes_of(self, table, column):
        """The largest value of a column that `show --table` prints."""
        text = self.tessera("show", "out.h5", "--table", table).stdout.splitlines()
        place = text[1].split().index(column)
        return max(int(line.split()[place]) for line in text[2:] if line.split() and line.split()[0].isdigit())

    def test_it_says_what_was_lent_waited_for_and_moved(self):
        said = self.tessera(*self.RUN).stdout
        self.assertIn("stage 0 lends to 3", said)
        self.assertIn("stage 1 lends to 2 on each device 50.0 kB to 80.0 kB of a micro-batch", said)
        self.assertIn("lent in all 31.7 MB, and as much back", " ".join(said.split()))
        self.assertRegex(said, r"offload +[\d.]+ [pnum]?s")

    def test_what_a_device_holds_at_its_peak_is_what_it_needs(self):
        """Between what check says at least and at most; a byte less is refused at the moment when it is missing."""
        self.tessera(*self.RUN)
        peak = self.bytes_of("devices", "peak_memory")
        said = self.tessera("check", "lending.toml").stdout
        least, most = (float(number) * 1e6 for number in re.search(r"at least ([\d.]+) MB, at most ([\d.]+) MB", said).groups())
        self.assertTrue(least * 0.999 <= peak <= most * 1.001, f"{least} to {most}, it holds {peak}")
        for capacity, spare in ((least + 1e5, r"at most 1?\d\d(\.\d)? kB of"), (most + 1e6, r"at least (1\.0\d MB|9\d\d kB), ")):
            said = self.tessera("check", "lending.toml", "--set", f"machine.device.memory_capacity={capacity:.0f} B").stdout
            self.assertRegex(said, rf"memory to spare +{spare}")
        self.tessera(*self.RUN, "--set", f"machine.device.memory_capacity={peak} B")
        refused = self.tessera(*self.RUN, "--set", f"machine.device.memory_capacity={peak - 1} B", code=3).stderr
        self.assertRegex(refused, r"^device die \(\d,\d\) .* has ")
        self.assertEqual(refused.count("\n"), 1)

    def test_rounds_of_stages_that_lend_stay_rounds(self):
        """Eight times the micro-batches cost at most 1.2 times the events: GPT-175B on 56 dies."""
        events = {}
        for batch in (64, 512):
            said = self.tessera("run", HERE.parents[1] / "inputs" / "experiments" / "watos" / "offload.toml", "-o", "out.h5", "--force", "--progress", "off",
                                "--set", f"workload.global_batch={batch}").stdout
            self.assertIn("laws: trains, rings, rounds", said)
            number, unit = re.search(r"s: ([\d.,]+) ?([kM]?) ?events", said).groups()
            events[batch] = float(number.replace(",", "")) * {"": 1, "k": 1e3, "M": 1e6}[unit]
        self.assertLessEqual(events[512], 1.2 * events[64])

    def test_a_plan_may_say_where_stages_stand_and_is_for_that_wafer(self):
        settings = ("--set", "strategy.loans=[]", "--set", "strategy.placement.tiles=[]", "--set", "strategy.spare_devices=idle", "--set", "strategy.data=1")
        self.tessera("plan", "lending.toml", "-o", "plan.toml", "--progress", "off", *settings, "--set", "strategy.stages=[]", "--set", "strategy.pipeline=[2]")
        plan = self.folder / "plan.toml"
        self.assertIn("\nstages = []\n", plan.read_text())
        plan.write_text(plan.read_text().replace("\nstages = []\n", "\nstages = [{devices = [0, 1, 2]}, {devices = [8, 9, 10]}]\n"))
        said = self.tessera(*self.RUN, "--plan", "plan.toml", *settings).stdout
        self.assertIn("device by device", said)
        smaller = self.tessera(*self.RUN, "--plan", "plan.toml", *settings, "--set", "machine.topology.rows=2", code=2).stderr
        self.assertIn("stage 1: there is no device 8, allowed: 0 to 7", smaller)


if __name__ == "__main__":
    unittest.main()
