"""tessera merge and tessera show of a table: folders of sweeps as they come, and what is refused. None of it starts MPI."""

import json
import subprocess
import unittest
import zlib

from harness import WITHOUT_MPI, CliTest

AXES = [{"key": "machine.topology.nodes", "unit": ""}]


def checked(line):
    """JSON on a line, with its checksum as docs/sweeps.md says."""
    text = json.dumps(line, separators=(",", ":"))[:-1]
    return f'{text},"crc32":"{zlib.crc32(text.encode()):08x}"}}'


def row(point, code=0, time=10**9, **others):
    line = {"point": point, "name": f"nodes={point + 1}", "identity": "0" * 16, "version": "0.1.0", "results_schema": 2, "code": code,
            "message": "file.toml:1:2: too few\nin two lines" if code else "", "values": {"machine.topology.nodes": point + 1}, **others}
    if not code:
        line.update(summary={"title": "a, \"b\"", "iteration_time_ps": time}, links={"nvlink": {"mean_use": 0.25, "peak_use": 0.5}},
                    memory={"weights": 7})
    return checked(line) + "\n"


class Merge(CliTest):
    def sweep(self, name, points, text, **head):
        folder = self.folder / name
        (folder / "rows").mkdir(parents=True)
        (folder / "sweep.json").write_text(checked({
            "schema": 2, "identity": "0123456789abcdef", "title": "Nodes", "version": "0.1.0", "results_schema": 2, "points": points,
            "axes": AXES, **head}))
        (folder / "rows" / "host-1.jsonl").write_text(text)
        return name

    def refused(self, *arguments, code=2):
        done = self.tessera("merge", *arguments, code=code, environment=WITHOUT_MPI)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertNotIn("all.h5", self.files())
        return done.stderr.rstrip("\n")

    def test_a_whole_sweep_says_nothing_but_what_it_wrote(self):
        self.sweep("d", 2, row(1) + row(0, time=2 * 10**9))
        done = self.tessera("merge", "d", "-o", "all.h5", environment=WITHOUT_MPI)
        self.assertEqual((done.stdout, done.stderr), ("2 points in 'all.h5'\n", ""))
        shown = self.tessera("show", "all.h5", environment=WITHOUT_MPI)
        self.assertEqual(shown.stderr, "")
        self.assertRegex(shown.stdout, r"^Nodes\n2 points, 2 of them with a time\n\nbest points[^\n]*\n  1: nodes=2 +1\.000 ms +1\.00")
        self.assertEqual(self.files().count("all.h5"), 1)

    def test_missing_points_are_said_once(self):
        self.sweep("d", 22, "".join(row(point) for point in range(22) if point not in (12, 17, 18, 19, 20)))
        done = self.tessera("merge", "d", "-o", "all.h5")
        self.assertEqual(done.stderr, "warning: 5 points are missing: 12, 17-20\n")
        done = self.tessera("merge", self.sweep("e", 2, row(0)), "-o", "e.h5")
        self.assertEqual(done.stderr, "warning: 1 point is missing: 1\n")

    def test_two_folders_of_one_sweep_and_a_torn_line(self):
        self.sweep("a", 3, row(0) + row(1)[:60])
        self.sweep("b", 3, row(2, code=3) + row(1))
        done = self.tessera("merge", "a", "b", "-o", "all.h5", "--csv", "all.csv")
        self.assertEqual((done.stdout, done.stderr), ("3 points in 'all.h5'\n", ""))
        lines = (self.folder / "all.csv").read_bytes().decode()
        self.assertEqual(lines.split("\r\n")[0], "point,name,nodes,code,message,title,iteration_time_ps,link_nvlink_mean_use,"
                                                 "link_nvlink_peak_use,memory_weights")
        self.assertEqual(lines.split("\r\n")[1], '0,nodes=1,1,0,,"a, ""b""",1000000000,0.25,0.5,7')
        self.assertTrue(lines.endswith('2,nodes=3,3,3,"file.toml:1:2: too few\nin two lines",,,,,\r\n'))
        self.assertRegex(self.tessera("show", "all.h5").stdout, r"\n  3, cannot be carried out +1  2: file\.toml:1:2: too few\\nin two lines\n")

    def test_the_same_rows_in_any_order_make_the_same_tables(self):
        self.sweep("a", 3, row(0) + row(1) + row(2))
        self.sweep("b", 3, row(2) + row(0) + row(1))
        for name in "ab":
            self.tessera("merge", name, "-o", name + ".h5")
        self.assert_same_results("a.h5", "b.h5")

    def test_an_existing_table_stays_without_force(self):
        self.sweep("d", 1, row(0))
        (self.folder / "all.h5").write_text("mine")
        done = self.tessera("merge", "d", "-o", "all.h5", code=4)
        self.assertEqual(done.stderr, "cannot write 'all.h5': it exists already (--force replaces it)\n")
        self.assertEqual((self.folder / "all.h5").read_text(), "mine")
        self.tessera("merge", "d", "-o", "all.h5", "--force")
        self.assertIn("Nodes", self.tessera("show", "all.h5").stdout)

    def test_what_cannot_be_merged_is_refused_in_one_line(self):
        self.sweep("good", 1, row(0))
        self.sweep("empty", 1, "")
        self.sweep("other", 1, row(0), identity="f" * 16)
        self.sweep("newer", 1, row(0, version="0.2.0"), version="0.2.0")
        self.sweep("schema", 1, row(0, results_schema=1), results_schema=1)
        self.sweep("later", 1, row(0, results_schema=9), results_schema=9)
        (self.folder / "folder").mkdir()
        for folders, message in (
                (["empty"], "there is nothing to merge: no point of 'empty' is done"),
                (["good", "other"], "'good' and 'other' are of different sweeps (\"Nodes\", 0123456789abcdef and \"Nodes\", ffffffffffffffff)"),
                (["good", "newer"], "'good' has points of version 0.1.0, 'newer' has 0.2.0: merge what belongs together"),
                (["good", "schema"], "'good' has results of schema 2, 'schema' has 1: merge what belongs together"),
                (["later"], "'later' has results of schema 9, this program merges 1 to 2"),
                (["folder"], "'folder' is not the folder of a sweep: there is no sweep.json in it")):
            self.assertEqual(self.refused(*folders, "-o", "all.h5"), message)
        self.assertEqual(self.refused("nowhere", "-o", "all.h5", code=4), "cannot read 'nowhere/sweep.json': No such file or directory")
        self.assertIn("DIR is required", self.refused("-o", "all.h5"))
        self.assertIn("-o", self.refused("good"))
        self.assertEqual(self.refused("good", "-o", "all.h5", "--csv", "all.h5"), "tessera merge: -o and --csv name one file")
        self.assertEqual(self.refused("good", "-o", "no/all.h5", code=4), "cannot write 'no/all.h5': there is no directory 'no'")

    def test_a_table_is_no_result_of_a_run(self):
        self.sweep("d", 1, row(0))
        self.tessera("merge", "d", "-o", "all.h5")
        done = self.tessera("timeline", "all.h5", "-o", "t.json", code=2)
        self.assertEqual(done.stderr, "'all.h5' is not a result file of tessera run, but a table of points: tessera show prints it\n")

    def test_a_damaged_table_is_refused_by_its_name(self):
        self.sweep("d", 1, row(0))
        self.tessera("merge", "d", "-o", "all.h5")
        whole = (self.folder / "all.h5").read_bytes()
        (self.folder / "all.h5").write_bytes(whole.replace(b"nodes=1", b"nodes=7"))
        done = self.tessera("show", "all.h5", code=4)
        self.assertEqual(done.stderr, "cannot read 'all.h5': table /points is damaged: it differs from its checksum\n")

    def test_a_digit_that_has_changed_gives_no_other_best_point(self):
        self.sweep("d", 3, row(0, time=3 * 10**9) + row(1, time=2 * 10**9).replace('"iteration_time_ps":2', '"iteration_time_ps":1') + row(2, time=4 * 10**9))
        done = self.tessera("merge", "d", "-o", "all.h5")
        self.assertEqual(done.stderr, "warning: 1 row is damaged and passed over: d/rows/host-1.jsonl:2\nwarning: 1 point is missing: 1\n")
        self.assertIn("3.000 ms     1.00", self.tessera("show", "all.h5").stdout)

    def test_a_folder_of_an_earlier_version_is_taken_with_a_warning(self):
        self.sweep("d", 1, row(0))
        for name in ("sweep.json", "rows/host-1.jsonl"):
            path = self.folder / "d" / name
            line = json.loads(path.read_text())
            del line["crc32"]
            if name == "sweep.json":
                line["schema"] = 1
            path.write_text(json.dumps(line) + "\n")
        done = self.tessera("merge", "d", "-o", "all.h5")
        self.assertEqual(done.stderr, "warning: the rows of 'd' have no checksums (an earlier Tessera wrote them): damage to them would not be seen\n")
        self.assertEqual(done.stdout, "1 points in 'all.h5'\n")

    def test_tables_are_taken_by_h5_tools(self):
        self.sweep("d", 1, row(0))
        self.tessera("merge", "d", "-o", "all.h5")
        dumped = subprocess.run(["h5dump", "-a", "/points/units", "all.h5"], cwd=self.folder, capture_output=True, text=True)
        self.assertIn("nodes: 1, code: 1, message: text", dumped.stdout)


if __name__ == "__main__":
    unittest.main()
