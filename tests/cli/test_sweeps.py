"""Sweeps: many points, shared out over ranks, processes and shares, that come out as `tessera run` makes them."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from harness import CliTest, WITHOUT_MPI

DONE = [0, 2, 4, 6, 10, 11]          # tensor 1, 2 and 4 with 80 GB; points 8 and 9 have tensor 3: data = 1.33
REFUSED = [8, 9]
INFEASIBLE = [1, 3, 5, 7]            # 10 MB


class Sweeps(CliTest):
    def sweep(self, folder, *arguments, ranks=None, code=0):
        return self.tessera("sweep", "sweep.toml", "-o", folder, "--progress", "off", *arguments, ranks=ranks, code=code)

    def rows(self, folder):
        """What counts of each point, by number."""
        rows = {}
        for path in sorted((self.folder / folder / "rows").iterdir()):
            for line in path.read_text().splitlines():
                row = json.loads(line)
                rows[row["point"]] = row
        return rows

    def merged(self, *folders, name):
        self.tessera("merge", *folders, "-o", name, "--force")
        return name

    def points(self, folder):
        return sorted(path.name for path in (self.folder / folder / "points").iterdir())

    def assert_whole(self, folder, files=True):
        rows = self.rows(folder)
        codes = {point: row["code"] for point, row in rows.items()}
        self.assertEqual(codes, {**dict.fromkeys(DONE, 0), **dict.fromkeys(REFUSED, 2), **dict.fromkeys(INFEASIBLE, 3)})
        self.assertEqual(self.points(folder), [f"{point:06}.h5" for point in DONE] if files else [])

    def test_every_point_has_its_row_and_the_sweep_goes_on_after_one_that_is_refused(self):
        said = self.sweep("d").stdout
        self.assertIn("12 points in d: 6 done, 2 refused, 4 infeasible, 0 failed", said)
        self.assert_whole("d")
        rows = self.rows("d")
        self.assertEqual(rows[8]["message"].split("sweep.toml:")[1],
                         "13:23: strategy.data = devices / (strategy.tensor * strategy.pipeline) is 1.33333 here, which is no whole number")
        self.assertIn("needs", rows[1]["message"])
        self.assertEqual(rows[2]["values"], {"strategy.tensor": 1, "machine.topology.nvlink_bandwidth": 300000000000,
                                             "machine.device.memory_capacity": 80000000000, "strategy.data": 4})

    def test_a_machine_that_is_not_calibrated_is_marked_where_it_is_the_fastest_and_in_the_ranking(self):
        (self.folder / "machines.toml").write_text('''
title = "Two machines"
experiment = "training.toml"
[workload]
datatype = "bf16"
[sweep.axes.machine]
h100 = { include = "h100-cluster", topology.nodes = 1 }
gaudi3 = { include = "gaudi3-cluster", topology.nodes = 1 }
''')
        said = self.tessera("sweep", "machines.toml", "-o", "d", "--progress", "off").stdout
        self.assertRegex(said, r"\nthe fastest: machine=gaudi3, [^\n]* \(not calibrated: peak rates of a data sheet\)\n")
        shown = self.tessera("show", self.merged("d", name="machines.h5")).stdout
        self.assertRegex(shown, r"\n  1: machine=gaudi3 .* no\n  0: machine=h100 .* yes\n  not calibrated: ")
        self.assertRegex(shown, r"\n  gaudi3 .*  not calibrated\n  h100 .*s\n")
        self.tessera("sweep", "machines.toml", "-o", "h100", "--point", 0, "--progress", "off")
        self.assertNotIn("not calibrated", self.tessera("show", self.merged("h100", name="h100.h5")).stdout)

    def test_a_point_is_what_run_writes_for_the_experiment_that_print_prints(self):
        self.sweep("d")
        for point in DONE:
            (self.folder / "p.toml").write_text(self.tessera("sweep", "sweep.toml", "--print", point).stdout)
            self.tessera("run", "p.toml", "-o", "p.h5", "--progress", "off", "--force")
            self.assert_same_results("p.h5", f"d/points/{point:06}.h5")

    def test_the_same_on_any_number_of_ranks_and_teams(self):
        self.sweep("one")
        table = self.merged("one", name="one.h5")
        for ranks, team, synchroniser in ((2, 1, "window"), (2, 2, "null-message"), (3, 2, "window"), (4, 4, "window"), (4, 1, "null-message")):
            folder = f"d{ranks}-{team}"
            self.sweep(folder, "--ranks-per-point", team, "--sync", synchroniser, ranks=ranks)
            self.assert_whole(folder)
            self.assert_same_results(table, self.merged(folder, name="more.h5"))
            for point in DONE:
                self.assert_same_results(f"one/points/{point:06}.h5", f"{folder}/points/{point:06}.h5")

    def test_wafers_of_a_template_are_the_same_on_any_number_of_ranks_and_ranked_beside_what_forbids_the_others(self):
        """97 mm and a chiplet of 5 mm do not fit on 100 mm; on top of the die there is room. The printed point is the point."""
        self.tessera("sweep", "wafers.toml", "-o", "one", "--progress", "off")
        table = self.merged("one", name="one.h5")
        for ranks, team in ((2, 1), (3, 2), (4, 1)):
            folder = f"d{ranks}"
            self.tessera("sweep", "wafers.toml", "-o", folder, "--progress", "off", "--ranks-per-point", team, ranks=ranks)
            self.assert_same_results(table, self.merged(folder, name="more.h5"))
        self.assertEqual({point: row["code"] for point, row in self.rows("one").items()}, {0: 0, 1: 0, 2: 0, 3: 2, 4: 2, 5: 0})
        said = self.tessera("show", "one.h5").stdout
        self.assertIn("6 points, 4 of them with a time", said)
        self.assertIn("2  3: wafers.toml:5:9: wafer template, columns of dies: 1 die with its DRAM of 102 mm takes 102 mm", said)
        (self.folder / "p.toml").write_text(self.tessera("sweep", "wafers.toml", "--print", 5).stdout)
        self.tessera("run", "p.toml", "-o", "p.h5", "--progress", "off")
        self.assert_same_results("p.h5", "one/points/000005.h5")

    def test_shares_and_single_points_come_together(self):
        self.sweep("whole")
        for share in (1, 2, 3):
            self.sweep("shares", "--shard", f"{share}/3")
        self.assert_whole("shares")
        self.assert_same_results(self.merged("whole", name="a.h5"), self.merged("shares", name="b.h5"))
        self.sweep("alone", "--point", 4)
        self.assertEqual(list(self.rows("alone")), [4])

    def test_rows_alone(self):
        self.sweep("files")
        self.sweep("rows", "--keep", "summary", ranks=2)
        self.assert_whole("rows", files=False)
        self.assert_same_results(self.merged("files", name="a.h5"), self.merged("rows", name="b.h5"))
        # Files that are asked for later are made.
        self.sweep("rows")
        self.assert_whole("rows")

    def test_what_is_complete_is_passed_over(self):
        self.sweep("d")
        before = {path: path.stat().st_mtime_ns for path in (self.folder / "d" / "points").iterdir()}
        said = self.sweep("d").stdout
        self.assertIn("(12 of them before)", said)
        self.assertEqual({path: path.stat().st_mtime_ns for path in before}, before)
        self.assertEqual(len(list((self.folder / "d" / "rows").iterdir())), 1)
        (self.folder / "d" / "points" / "000004.h5").unlink()
        self.assertIn("(11 of them before)", self.sweep("d").stdout)
        self.assert_whole("d")
        self.assertIn("12 points in d: 6 done", self.sweep("d", "--force").stdout)

    def test_what_is_damaged_is_done_again(self):
        self.sweep("d")
        whole = self.merged("d", name="whole.h5")
        # The fastest point with another digit in its time; results that are empty, cut short, and changed in a byte.
        (path,) = (self.folder / "d" / "rows").iterdir()
        text = path.read_text()
        time_of = f'"iteration_time_ps":{self.rows("d")[2]["summary"]["iteration_time_ps"]}'
        self.assertEqual(text.count(time_of), 1)
        path.write_text(text.replace(time_of, time_of[:-1] + str((int(time_of[-1]) + 1) % 10)))
        points = self.folder / "d" / "points"
        (points / "000000.h5").write_bytes(b"")
        data = (points / "000004.h5").read_bytes()
        (points / "000004.h5").write_bytes(data[:len(data) // 2])
        place = (points / "000006.h5").read_bytes().find(b"nvlink")
        with open(points / "000006.h5", "r+b") as file:
            file.seek(place)
            file.write(b"NVLINK")
        for ranks in (None, 2):
            done = self.sweep("d", ranks=ranks)
            self.assertIn("rows/", done.stderr)
            if ranks is None:
                self.assertRegex(done.stderr, r"warning: 1 row is damaged and passed over: d/rows/[^ ]*\.jsonl:\d+\n")
                self.assertIn("warning: result files are damaged and made again, of points 0, 4, 6\n", done.stderr)
                self.assertIn("(8 of them before)", done.stdout)
            else:
                self.assertIn("(12 of them before)", done.stdout)
            self.assert_same_results(whole, self.merged("d", name="again.h5"))
        for point in DONE:
            self.tessera("show", f"d/points/{point:06}.h5")

    def test_words_that_refuse_all_points_are_said_and_its_exit_code(self):
        (self.folder / "alike.toml").write_text('experiment = "training.toml"\n[sweep]\naxes."machine.topology.nodes" = [1, 2]\nset."simulation.seed" = "0 - 5"\n')
        for ranks in (None, 2):
            done = self.tessera("sweep", "alike.toml", "-o", f"d{ranks}", "--progress", "off", ranks=ranks, code=2)
            self.assertIn('alike.toml:4:25: "seed": -5 is out of range, allowed: at least 0 (all 2 points)\n', done.stderr)
            self.assertIn("0 done, 2 refused", done.stdout)
        # A part of a sweep may be refused while the rest of it is not.
        self.assertIn("which is no whole number", self.sweep("one", "--point", 8).stderr)

    def test_axes_are_counted_before_they_take_memory(self):
        for ends in ("{ from = 3, to = 1000000000 }", "{ from = -9000000000000000000, to = 9000000000000000000 }", "{ from = 1.5, to = 2.5, steps = 900000000 }"):
            (self.folder / "long.toml").write_text(f'experiment = "training.toml"\n[sweep]\naxes."machine.topology.nodes" = {ends}\n')
            began = time.monotonic()
            done = self.tessera("sweep", "long.toml", "--list", code=2)
            self.assertRegex(done.stderr, r"^long.toml:3:\d+: .*allowed: (at most 1000000 of all axes together|0 to 1000000)\n$")
            self.assertLess(time.monotonic() - began, 10)
        # Together, too: values are counted before combinations are.
        many = "{ from = 1, to = 600000 }"
        (self.folder / "long.toml").write_text(f'experiment = "training.toml"\n[sweep]\naxes."simulation.seed" = {many}\naxes."machine.topology.nodes" = {many}\n')
        self.assertIn('axis "machine.topology.nodes" has 600000 values', self.tessera("sweep", "long.toml", "--list", code=2).stderr)

    def test_a_folder_of_another_sweep_is_refused_and_left_alone(self):
        self.sweep("d", "--point", 0)
        before = sorted(str(path) for path in (self.folder / "d").rglob("*"))
        done = self.sweep("d", "--set", "workload.global_batch=32", code=2)
        self.assertIn("'d' holds another sweep", done.stderr)
        self.assertEqual(sorted(str(path) for path in (self.folder / "d").rglob("*")), before)

    def test_two_processes_share_a_folder_and_one_may_be_killed(self):
        for victim_ranks in (None, 2):
            folder = f"d{victim_ranks}"
            self.slow_sweep()
            command = self.command(["sweep", "slow.toml", "-o", folder, "--progress", "off"], victim_ranks)
            victim = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                self.wait_for(lambda: list((self.folder / folder).glob("rows/*")))
                other = subprocess.Popen(self.command(["sweep", "slow.toml", "-o", folder, "--progress", "off"]), cwd=self.folder,
                                         stdout=subprocess.PIPE, text=True)
                time.sleep(0.5)
            finally:
                os.killpg(victim.pid, signal.SIGKILL)
                victim.wait()
            said = other.communicate(timeout=120)[0]
            self.assertEqual(other.returncode, 0)
            self.assertIn("24 points", said)
            self.assertEqual(sorted(self.rows_of(folder)), list(range(24)))
            self.tessera("merge", folder, "-o", "killed.h5", "--force")
            self.tessera("sweep", "slow.toml", "-o", f"{folder}-whole", "--progress", "off", ranks=2)
            self.tessera("merge", f"{folder}-whole", "-o", "whole.h5", "--force")
            self.assert_same_results("killed.h5", "whole.h5")
            for path in (self.folder / folder / "points").iterdir():
                self.assert_same_results(path, f"{folder}-whole/points/{path.name}")

    def slow_sweep(self):
        (self.folder / "slow.toml").write_text('experiment = "training.toml"\n[record]\ntimeline = false\nmemory_timeline = false\n'
                                               '[sweep]\naxes."workload.global_batch" = { from = 1600, to = 1968, steps = 24 }\n')

    def rows_of(self, folder):
        """Points that have a row which can be read, each once: nothing is done twice."""
        points = []
        for path in (self.folder / folder / "rows").iterdir():
            for line in path.read_text().splitlines():
                try:
                    points.append(json.loads(line)["point"])
                except json.JSONDecodeError:
                    pass
        return points

    def wait_for(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "nothing happens")
            time.sleep(0.02)

    def test_a_signal_ends_the_sweep_and_the_same_command_goes_on(self):
        self.slow_sweep()
        command = self.command(["sweep", "slow.toml", "-o", "d", "--progress", "off"])
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.wait_for(lambda: list((self.folder / "d").glob("rows/*")))
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 4, said)
        self.assertLess(len(self.rows_of("d")), 24)
        self.tessera("sweep", "slow.toml", "-o", "d", "--progress", "off")
        self.assertEqual(sorted(self.rows_of("d")), list(range(24)))

    def test_a_point_that_fails_is_done_again_and_its_code_is_the_sweeps(self):
        blocked = self.folder / "d" / "points" / "000004.h5"
        blocked.mkdir(parents=True)      # no file can be written there
        done = self.sweep("d", code=4)
        self.assertIn("5 done, 2 refused, 4 infeasible, 1 failed", done.stdout)
        self.assertRegex(done.stderr, r"^1 of 12 points failed with code 4, the first of them 4 \(tensor=2[^\n]*\): cannot write 'd/points/000004.h5': it is a directory\n$")
        self.assertEqual(self.rows("d")[4]["code"], 4)
        blocked.rmdir()
        self.assertIn("(11 of them before)", self.sweep("d").stdout)
        self.assert_whole("d")

    def test_teams_are_no_larger_than_the_machine(self):
        (self.folder / "small.toml").write_text(
            'title = "one or eight devices"\nexperiment = "training.toml"\n[strategy]\ntensor = 1\npipeline = 1\nsequence_parallel = false\n[sweep]\n'
            'axes."machine.topology.nodes" = [1, 2]\naxes."machine.topology.gpus_per_node" = [1, 4]\n')
        self.tessera("sweep", "small.toml", "-o", "a", "--progress", "off")
        self.tessera("sweep", "small.toml", "-o", "b", "--progress", "off", "--ranks-per-point", 4, ranks=4)
        for path in sorted((self.folder / "a" / "points").iterdir()):
            self.assert_same_results(path, f"b/points/{path.name}")
        self.assertEqual(len(self.points("b")), 4)

    def test_list_and_print_start_no_mpi(self):
        said = self.tessera("sweep", "sweep.toml", "--list", environment=WITHOUT_MPI).stdout
        self.assertIn("12 points of 16 combinations", said)
        self.assertEqual(said.count("infeasible"), 4)
        self.assertEqual(said.count("refused"), 2)
        share = self.tessera("sweep", "sweep.toml", "--list", "--shard", "1/2", environment=WITHOUT_MPI).stdout
        self.assertIn("3 in share 1/2", share)  # what costs nothing goes where less is to do
        self.tessera("sweep", "sweep.toml", "--print", "3", environment=WITHOUT_MPI)

    def test_what_is_wrong_is_one_line_and_leaves_nothing(self):
        for arguments, line in ((("-o", "d", "--shard", "4/3"), "--shard 4/3: expected I/N with 1 <= I <= N, such as 3/8"),
                                (("-o", "d", "--point", "12"), "--point 12: the sweep has points 0 to 11"),
                                (("--print", "12"), "--print 12: the sweep has points 0 to 11"),
                                ((), "sweep needs -o DIR, the folder of its points; --list needs none")):
            done = self.tessera("sweep", "sweep.toml", *arguments, code=2)
            self.assertEqual(done.stderr.splitlines(), [line])
            self.assertFalse((self.folder / "d").exists())
        done = self.tessera("sweep", "training.toml", "-o", "d", code=2, ranks=2)
        self.assertIn("a sweep is an experiment with a table [sweep], and this file has none", done.stderr)
        self.assertFalse((self.folder / "d").exists())


if __name__ == "__main__":
    unittest.main()
