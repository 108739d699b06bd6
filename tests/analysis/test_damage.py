"""Result files with damage everywhere: nothing that reads them may give a wrong answer, crash, or call it its own fault.

$MADE_UP_RUN OUT.h5 STAGES TENSOR MICRO_BATCHES makes a file, $TESSERA reads it."""

import json
import os
import random
import subprocess
import tempfile
import time
import unittest
import warnings

import h5py
import numpy

import tessera_analysis

PLACES = 80  # keyed, over the whole file; and EACH in every dataset and every object's header
EACH = 2


def run(*arguments):
    return subprocess.run([os.environ["TESSERA"], *arguments], capture_output=True, timeout=60)


class Damage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "whole.h5")
        subprocess.run([os.environ["MADE_UP_RUN"], cls.path, "3", "2", "5"], check=True, stdout=subprocess.DEVNULL)
        with open(cls.path, "rb") as file:
            cls.whole = file.read()
        cls.bad = os.path.join(cls.folder.name, "bad.h5")
        cls.trace = os.path.join(cls.folder.name, "t.json")
        cls.shown = run("show", cls.path).stdout
        cls.exported = cls.export(cls.path)[1]
        cls.tables = cls.load(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def export(cls, path):
        done = run("timeline", path, "-o", cls.trace, "--force")
        if done.returncode:
            return done, None
        with open(cls.trace) as file:
            return done, json.load(file)

    @staticmethod
    def load(path):
        """Everything that tessera_analysis can give, as texts."""
        results = tessera_analysis.load(path)
        tables = {name: [results.table(name).to_csv(), results.table(name).attrs]
                  for name in sorted(results.tables) if name == "provenance/run" or "provenance" not in name}
        tables["named"] = [results.summary.to_csv(), results.timeline.to_csv(), results.memory_timeline.to_csv(), results.experiment]
        return json.dumps(tables)

    def judge(self, where):
        """Either the right answer, or exit code 2 or 4 and one line; returns how many of the three tools refused."""
        refused = 0
        show, (timeline, events) = run("show", self.bad), self.export(self.bad)
        for name, done, right in (("show", show, show.stdout == self.shown), ("timeline", timeline, events == self.exported)):
            with self.subTest(damage=where, tool=name):
                self.assertIn(done.returncode, (0, 2, 4), done.stderr)
                if done.returncode == 0:
                    self.assertTrue(right, "a wrong answer without a word")
                    self.assertEqual(done.stderr, b"")
                else:
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            refused += done.returncode != 0
        with self.subTest(damage=where, tool="tessera_analysis"):
            try:
                self.assertEqual(self.load(self.bad), self.tables)
            except tessera_analysis.ResultsError as error:
                self.assertIn(error.exit_code, (2, 4))
                refused += 1
        return refused

    def write(self, content):
        with open(self.bad, "wb") as file:
            file.write(content)

    def places(self):
        """Offsets of bytes: all over the file, in the rows of each dataset, in each object's header."""
        draw = random.Random("damage")
        places = [("file", draw.randrange(len(self.whole))) for _ in range(PLACES)]
        places += [("superblock", at) for at in range(0, 48, 6)]
        with h5py.File(self.path) as file:
            objects = [("/", file)]
            file.visititems(lambda name, item: objects.append((name, item)) or None)
            for name, item in objects:
                info = h5py.h5o.get_info(item.id)
                places += [(f"header of {name}", info.addr + draw.randrange(64)) for _ in range(EACH)]
                if isinstance(item, h5py.Dataset) and item.id.get_offset() is not None:
                    size = item.id.get_storage_size()
                    places += [(f"rows of {name}", item.id.get_offset() + draw.randrange(size)) for _ in range(EACH)]
            for offset, count, _ in file["provenance"].attrs["text_blocks"]:
                places += [("texts", offset + 8 * i) for i in range(6)]
                places += [("texts", offset + draw.randrange(int(count))) for _ in range(4)]
        return [(f"{where}, byte {at}", at, draw.randrange(1, 256)) for where, at in places]

    def test_a_damaged_root_is_damage_and_no_foreign_file(self):
        root = self.whole.index(b"OHDR")  # behind the superblock
        for place in range(root + 6, root + 40, 3):
            with open(self.bad, "wb") as file:
                file.write(self.whole[:place] + bytes([self.whole[place] ^ 0x55]) + self.whole[place + 1:])
            done = run("show", self.bad)
            self.assertEqual(done.returncode, 4, (place, done.stderr))
            self.assertIn(b"damaged", done.stderr)

    def test_a_table_without_its_column_is_named(self):
        with h5py.File(self.path, "r") as file:
            plan = file["plan"][:]
        with open(self.bad, "wb") as file:
            file.write(self.whole)
        with h5py.File(self.bad, "r+") as file:
            attributes = dict(file["plan"].attrs)
            del file["plan"]
            file["plan"] = numpy.zeros(len(plan), dtype=[("key", plan.dtype["key"]), ("other", "S4")])
            for name, value in attributes.items():
                if name != "crc32":
                    file["plan"].attrs[name] = value
        with self.assertRaisesRegex(tessera_analysis.ResultsError, "table /plan is damaged: it has no column 'value'"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                print(tessera_analysis.load(self.bad).plan)

    def test_a_byte_that_has_changed(self):
        unseen, refusals = [], 0
        for where, at, change in self.places():
            content = bytearray(self.whole)
            content[at] ^= change
            self.write(content)
            refused = self.judge(where)
            refusals += refused > 0
            if where.startswith("rows of") and refused == 0:
                unseen.append(where)
        self.assertEqual(unseen, [])
        self.assertGreater(refusals, PLACES)

    def test_rows_that_were_lost(self):
        # As a full disk leaves them: zeros.
        with h5py.File(self.path) as file:
            places = {name: (file[name].id.get_offset(), file[name].id.get_storage_size())
                      for name in ("summary", "devices", "links", "memory", "timeline", "memory_timeline")}
        for name, (offset, count) in places.items():
            self.write(self.whole[:offset] + bytes(count) + self.whole[offset + count:])
            self.assertEqual(self.judge(f"zeros in {name}"), 3)
            self.assertIn(f"table /{name} is damaged".encode(), run("show", self.bad).stderr)

    def test_a_file_that_was_cut_short(self):
        for twentieths in range(0, 20, 2):
            self.write(self.whole[:len(self.whole) * twentieths // 20])
            self.assertEqual(self.judge(f"{twentieths} twentieths of the file"), 3)


class Unchecked(Damage):
    """What a tool other than Tessera changes, and files without checksums: no crash, no internal error."""

    test_a_byte_that_has_changed = test_rows_that_were_lost = test_a_file_that_was_cut_short = None

    def edited(self, edit):
        self.write(self.whole)
        with h5py.File(self.bad, "a") as file:
            edit(file)

    def codes(self):
        codes = []
        for done in (run("show", self.bad), self.export(self.bad)[0]):
            self.assertIn(done.returncode, (0, 2, 4), done.stderr)
            self.assertLessEqual(len(done.stderr.splitlines()), 1, done.stderr)
            codes.append(done.returncode)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.load(self.bad)
                codes.append(0)
            except tessera_analysis.ResultsError as error:
                codes.append(error.exit_code)
        return codes

    @staticmethod
    def without_checksums(file):
        file.visititems(lambda name, item: item.attrs.pop("crc32", None) and None)

    @staticmethod
    def replace(file, name, rows):
        attributes = {key: value for key, value in file[name].attrs.items() if key != "crc32"}
        del file[name]
        file[name] = rows
        for key, value in attributes.items():
            file[name].attrs[key] = value

    def test_rows_that_the_file_does_not_hold_are_refused_at_once(self):
        # 2^33 rows in a file of some kB: chunks that are not there, a chunk of zeros that says that it is a million rows, other files.
        def chunk_of_zeros(file, name, **what):
            made = file.create_dataset(name, chunks=(1 << 20,), compression="gzip", **what)
            made[:1] = numpy.zeros(1, made.dtype)

        def elsewhere(file, name, shape, dtype):
            file.create_dataset(name, shape=(1 << 20,), dtype=dtype, external=[("/dev/zero", 0, h5py.h5f.UNLIMITED)])

        def virtual(file, name, shape, dtype):
            file.create_virtual_dataset(name, h5py.VirtualLayout(shape=shape, dtype=dtype))

        makers = {"chunks": lambda file, name, **what: file.create_dataset(name, chunks=(1024,), **what),
                  "nothing": lambda file, name, **what: file.create_dataset(name, **what),
                  "zeros": chunk_of_zeros, "elsewhere": elsewhere, "virtual": virtual}
        for kind, make in makers.items():
            def claim(file):
                attributes, dtype = dict(file["links"].attrs), file["links"].dtype
                del file["links"]
                make(file, "links", shape=(1 << 33,), dtype=dtype)
                for key, value in attributes.items():
                    file["links"].attrs[key] = value
            with self.subTest(kind=kind):
                self.edited(claim)
                began = time.monotonic()
                self.assertEqual(self.codes(), [4, 4, 4])
                self.assertLess(time.monotonic() - began, 20)
                self.assertRegex(run("show", self.bad).stderr.decode(), r"the file is damaged: /links claims \d+ rows, which the file does not hold\n$")

    def test_what_h5repack_leaves_is_read(self):
        for options in ([], ["-f", "GZIP=9"], ["-f", "SHUF", "-f", "GZIP=6"], ["-l", "CHUNK=16"]):
            if os.path.exists(self.bad):
                os.remove(self.bad)
            subprocess.run(["h5repack", *options, self.path, self.bad], check=True)
            self.assertEqual(self.judge(options), 0)

    def test_a_link_to_somewhere_else_is_none_of_ours(self):
        for link in (h5py.SoftLink("/devices"), h5py.ExternalLink("other.h5", "/links")):
            def put(file):
                file["more"] = link
            self.edited(put)
            self.assertIn(b"/more is a link to somewhere else", run("show", self.bad).stderr)

    def test_a_file_without_checksums_is_read_and_said_to_be_unchecked(self):
        self.edited(self.without_checksums)
        show = run("show", self.bad)
        self.assertEqual((show.returncode, show.stdout), (0, self.shown))
        self.assertIn(b"has no checksums", show.stderr)
        done, events = self.export(self.bad)
        self.assertEqual(events, self.exported)
        self.assertIn(b"has no checksums", done.stderr)
        with self.assertWarnsRegex(UserWarning, "has no checksums"):
            self.assertEqual(self.load(self.bad), self.tables)

    def test_a_format_and_a_version_that_are_something_else(self):
        def attribute(name, value):
            def edit(file):
                file.attrs[name] = value
            return edit
        for name, value in (("format", "something else"), ("format", 7), ("schema_version", "one"),
                            ("schema_version", [1, 2]), ("schema_version", 3)):
            self.edited(attribute(name, value))
            self.assertEqual(self.codes(), [2, 2, 2], (name, value))

    def test_tables_without_rows(self):
        for name in ("summary", "provenance/run", "names/activities", "names/nodes", "timeline"):
            self.edited(lambda file: self.replace(file, name, file[name][:0]))
            codes = self.codes()
            if name == "summary":
                self.assertEqual(codes, [4, 4, 4])

    def test_columns_of_another_name_or_type(self):
        for name in ("summary", "links", "timeline", "names/labels", "memory"):
            def renamed(file):
                rows = file[name][:]
                rows.dtype.names = ["x" + column for column in rows.dtype.names]
                self.replace(file, name, rows)
            def retyped(file):
                rows = file[name][:]
                kinds = [(column, "S3" if rows.dtype[column].kind == "i" else "i8") for column in rows.dtype.names]
                self.replace(file, name, numpy.zeros(len(rows), dtype=kinds))
            for edit in (renamed, retyped, lambda file: self.replace(file, name, numpy.arange(3))):
                self.edited(edit)
                self.assertIn(4, self.codes())

    def test_indices_beyond_their_names(self):
        for column, value in (("label", 1000), ("label", -1), ("activity", 1000), ("activity", -5)):
            def edit(file):
                rows = file["timeline"][:]
                rows[column][3] = value
                self.replace(file, "timeline", rows)
            self.edited(edit)
            self.assertEqual(self.codes()[1:], [4, 4])

    def test_a_compressed_copy_is_checked_as_well(self):
        def compress(file):
            rows, crc32 = file["timeline"][:], file["timeline"].attrs["crc32"]
            attributes = dict(file["timeline"].attrs)
            del file["timeline"]
            file.create_dataset("timeline", data=rows, compression="gzip")
            for key, value in attributes.items():
                file["timeline"].attrs[key] = value
            self.assertEqual(file["timeline"].attrs["crc32"], crc32)
        self.edited(compress)
        self.assertEqual(self.codes(), [0, 0, 0])
        with h5py.File(self.bad, "a") as file:
            rows = file["timeline"][:]
            rows["end_ps"][5] += 1
            file["timeline"][:] = rows
        self.assertEqual(self.codes()[:2], [4, 4])


if __name__ == "__main__":
    unittest.main()
