#!/usr/bin/env python3
"""Input that is wrong, and Ctrl-C: a sentence, the right status, and nothing half written."""
import json
import math
import os
import random
import signal
import subprocess
import time
import unittest

import resource

from cli_case import *


# ---- Input that is wrong -----------------------------------------------------------------

class Hostile(Case):
    def fit(self, data, *words):
        return ["fit", data, "-k", 3, "-o", self.path("m.npz"), "--labels", self.path("l.npy"),
                *words]

    def test_nan_and_infinity(self):
        for value, name in ((math.nan, "nan"), (math.inf, "inf"), (-math.inf, "inf")):
            for code in ("<f8", "<f4"):
                rows = [list(row) for row in blobs()[0]]
                rows[16][1] = value
                self.refuse(1, self.fit(self.npy("x.npy", rows, code)), "row 17, column 2", name)
        lines = [f"{x},{y}" for x, y in blobs()[0]]
        lines[16] = "1.5,nan"
        self.refuse(1, self.fit(self.write("x.csv", "\n".join(lines))), "row 17, column 2")

    def test_values_too_large_or_too_small(self):
        rows = blobs()[0]
        for scale in (1e200, 1e-200):
            self.refuse(1, self.fit(self.npy("x.npy", [[x * scale, y * scale] for x, y in rows])))
        single = self.npy("x.npy", [[x * 1e30, y * 1e30] for x, y in rows], "<f4")
        self.refuse(1, self.fit(single))

    def test_fewer_rows_than_clusters(self):
        data = self.npy("x.npy", [[1.0, 2.0], [3.0, 4.0]])
        self.refuse(1, self.fit(data), r"\b2\b", r"\b3\b")
        one = self.npy("y.npy", [[1.0, 2.0]])
        self.assertEqual(self.json("fit", one, "-k", 1)["clusters"], 1)
        self.refuse(1, ["fit", one, "-k", 2], r"\b1\b", r"\b2\b")
        self.refuse(1, ["fit", data, "-k", 2000000000, "-o", self.path("m.npz")],
                    r"\b2\b", "2,?000,?000,?000")

    def test_all_rows_equal(self):
        data = self.npy("x.npy", [[3.25, -1.0]] * 50)
        self.json("fit", data, "-k", 1, "-o", self.path("m.npz"))
        self.assertEqual(npz_parse(self.path("m.npz"))["means"][2], [3.25, -1.0])
        self.refuse(1, ["fit", data, "-k", 2, "-o", self.path("n.npz")], "distinct",
                    r"\b1\b", r"\b2\b")

    def test_one_column_constant(self):
        rows = [[x, 5.0, y] for x, y in blobs(60)[0]]
        data = self.npy("x.npy", rows)
        for family in ("iso-shared", "iso", "diag", "full"):
            self.json("fit", data, "-k", 3, "--family", family, "-o", self.path("m.npz"))
            model = npz_parse(self.path("m.npz"))
            for mean in model["means"][2][1::3]:
                self.assertAlmostEqual(mean, 5, delta=1e-12)
            self.assertTrue(all(map(math.isfinite, model["variances"][2])))
        self.json("fit", data, "-k", 3, "--standardize")

    def test_large_offset(self):
        rows, _ = blobs(1000, 2, 5, spread=2.0)
        near = self.npy("x.npy", rows)
        far = self.npy("y.npy", [[x + 1e8, y + 1e8] for x, y in rows])
        for algorithm in ("kmeans", "kmeans-c", "gmm"):
            found = []
            for data in (near, far):
                result = self.json("fit", data, "-k", 5, "--algorithm", algorithm, "--seed", 3,
                                   "-o", self.path("m.npz"), "--labels", self.path("l.npy"))
                found.append((result["free_energy"], npz_parse(self.path("m.npz"))["means"][2],
                              npy_parse(self.read("l.npy"))[2]))
            self.assertAlmostEqual(found[0][0], found[1][0], delta=1e-7)
            self.assertEqual(found[0][2], found[1][2])
            for a, b in zip(found[0][1], found[1][1]):
                self.assertAlmostEqual(a, b - 1e8, delta=1e-6)

    def test_files_that_are_no_data(self):
        os.mkdir(self.path("folder"))
        for name in ("none.npy", "none.csv", "none.fvecs"):
            self.refuse(1, self.fit(self.path(name)), name)
        for name in ("empty.npy", "empty.csv", "empty.fvecs", "empty.fbin"):
            self.refuse(1, self.fit(self.write(name, b"")), name)
        self.refuse(1, self.fit(self.path("folder")), "folder")
        os.mkdir(self.path("folder.npy"))
        self.refuse(1, self.fit(self.path("folder.npy")), "folder.npy", "directory")
        self.refuse(1, self.fit(self.write("x.xyz", "1,2\n")), "x.xyz")
        self.refuse(1, self.fit(self.write("y.npy", "1,2\n3,4\n")), "y.npy")
        noise = bytes(random.Random(7).randrange(256) for _ in range(4096))
        message = self.refuse(1, self.fit(self.write("z.csv", noise + b"\0\n")), "z.csv")
        self.assertTrue(message.isprintable())
        self.refuse(1, self.fit(self.write("h.csv", "a,b\n")), "h.csv")
        for name in ("none.npy", "empty.npy", "folder.npy"):
            self.refuse(1, ["info", self.path(name)], name)

    @unittest.skipUnless(os.path.exists("/dev/zero"), "needs /dev/zero")
    def test_devices_without_an_end(self):
        said = "is a device that may never end"
        data, model = self.npy("x.npy", blobs()[0]), self.path("m.npz")
        self.vem("fit", data, "-k", 3, "-o", model, "-q")
        os.symlink("/dev/zero", self.path("zero.csv.gz"))
        for name in ("/dev/zero", self.path("zero.csv.gz")):
            self.refuse(1, ["fit", name, "-k", 3], name + " " + said)
            self.refuse(1, ["score", model, data, "--truth", name], said)
        with open("/dev/zero", "rb") as zero:
            self.refuse(1, ["fit", "-", "-k", 3], "Standard input " + said, stdin=zero)
        for name in ("/dev/null", "-"):  # standard input is /dev/null here
            self.refuse(1, ["fit", name, "-k", 3], "is empty")
        text = "".join(f"{i % 2 * 9},{i}\n" for i in range(20))
        for name in ("/dev/stdin", "-"):
            self.vem("fit", name, "-k", 2, input=text, stdin=None)

    def test_truncated_npy(self):
        whole = npy_bytes(blobs()[0])
        for size in (3, 9, 40, 127, 128, len(whole) // 2, len(whole) - 1):
            self.refuse(1, self.fit(self.write("x.npy", whole[:size])), "x.npy")
        huge = npy_bytes([[1.0, 2.0]]).replace(b"(1, 2), }" + b" " * 24,
                                               b"(4611686018427387904, 2), }" + b" " * 6)
        self.refuse(1, self.fit(self.write("h.npy", huge)), "h.npy")

    def test_csv_with_wrong_rows(self):
        lines = [f"{x},{y}" for x, y in blobs()[0]]
        lines[9] = "1.5"
        self.refuse(1, self.fit(self.write("x.csv", "\n".join(lines))), "row 10|line 10",
                    r"\b1\b", r"\b2\b")
        lines[9] = "1.5,2.5,3.5"
        self.refuse(1, self.fit(self.write("x.csv", "\n".join(lines))), "row 10|line 10")
        lines[9] = "1.5,abc"
        self.refuse(1, self.fit(self.write("x.csv", "\n".join(lines))), "row 10|line 10",
                    "column 2", "abc")
        lines[9] = "1.5,2.5"
        data = self.write("x.csv", "\n".join(lines))
        self.refuse_any(self.fit(data, "--columns", "3"), "3", "2")
        self.refuse_any(self.fit(data, "--columns", "height"), "height")
        self.refuse_any(self.fit(data, "--id", "9"), "9")

    def refuse_any(self, words, *patterns):
        """A wrong column is the command line's fault or the file's; both are right."""
        before = sorted(os.listdir(self.folder.name))
        done = subprocess.run([VEM, *map(str, words)], capture_output=True, text=True,
                              timeout=LIMIT, stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, (1, 2))
        for pattern in patterns:
            self.assertRegex(done.stderr, pattern)
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)

    def test_wrong_weights(self):
        data = self.npy("x.npy", blobs()[0])
        for weights, patterns in [([1.0] * 299, ["299", "300"]), ([1.0] * 301, ["301", "300"]),
                                  ([0.0] * 300, ["weight"]),
                                  ([1.0] * 20 + [-0.5] + [1.0] * 279, ["-0.5", r"\b21\b"]),
                                  ([1.0] * 20 + [math.nan] + [1.0] * 279, [r"\b21\b"]),
                                  ([1.0] * 20 + [math.inf] + [1.0] * 279, [r"\b21\b"])]:
            self.refuse(1, self.fit(data, "--weights", self.npy("w.npy", weights)), *patterns)
        self.refuse(1, self.fit(data, "--weights", self.path("none.npy")), "none.npy")

    def test_output_that_cannot_be_written(self):
        data = self.npy("x.npy", blobs()[0])
        self.refuse(1, ["fit", data, "-k", 3, "-o", self.path("no/such/m.npz")], "no/such")
        self.refuse(1, ["fit", data, "-k", 3, "-o", os.path.join(data, "m.npz")],
                    "not a directory")
        self.refuse(1, ["fit", data, "-k", 3, "-o", self.folder.name], "is a directory")
        self.refuse(2, ["fit", data, "-k", 3, "-o", data], "x.npy")
        self.refuse(2, ["fit", data, "-k", 3, "--labels", data], "is the input")
        os.symlink(data, self.path("other.npy"))
        self.refuse(2, ["fit", data, "-k", 3, "--labels", self.path("other.npy")], "is the input")
        self.refuse(2, ["fit", data, "-k", 3, "-o", self.path("m.csv")], "npz")
        self.refuse(2, ["fit", data, "-k", 3, "--trace", self.path("t.xml")], "csv json")
        self.refuse(2, ["fit", data, "-k", 3, "--labels", self.path("a.csv"), "--trace",
                        self.path("a.csv")], "same file")
        if os.path.isdir("/proc"):
            self.refuse(1, ["fit", data, "-k", 3, "-o", "/proc/m.npz"], "/proc")
        if os.geteuid() != 0:
            os.mkdir(self.path("locked"), 0o555)
            self.refuse(1, ["fit", data, "-k", 3, "-o", self.path("locked/m.npz")], "locked")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_full_disk(self):
        data = self.npy("x.npy", blobs()[0])
        self.refuse(1, ["fit", data, "-k", 3, "-o", "/dev/full"], "/dev/full",
                    "disk is full|no space left")
        self.assertTrue(os.path.exists("/dev/full"))
        os.symlink("/dev/full", self.path("full.npy"))
        self.refuse(1, ["fit", data, "-k", 3, "-q", "--labels", self.path("full.npy")],
                    "full.npy", "disk is full|no space left")
        self.refuse(1, ["generate", "birch-grid", "-o", self.path("full.npy")], "full.npy")
        with open("/dev/full", "w") as full:
            done = subprocess.run([VEM, "fit", data, "-k", "3"], stdout=full, text=True,
                                  stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output could not be written", done.stderr)

    def test_old_output_survives_a_failure(self):
        good, bad = self.npy("x.npy", blobs()[0]), self.npy("y.npy", [[math.nan, 1.0]] * 9)
        self.json("fit", good, "-k", 3, "-o", self.path("m.npz"))
        before = self.read("m.npz")
        self.refuse(1, ["fit", bad, "-k", 3, "-o", self.path("m.npz")], "row 1, column 1")
        self.assertEqual(self.read("m.npz"), before)

    def test_kernels_that_do_not_exist(self):
        done = subprocess.run([VEM, "info", self.npy("x.npy", [[1.0]])], capture_output=True,
                              text=True, env={**os.environ, "VEM_CPU": "abacus"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("abacus", done.stderr)


class Threads(Case):
    @unittest.skipIf(SLOW > 1, "a sanitizer needs the address space for itself")
    def test_threads_that_cannot_be_had(self):
        data = self.path("x.npy")
        self.vem("generate", "separated", "-q", "-n", 300000, "-d", 2, "-k", 5, "-o", data)
        words = ["fit", data, "-k", 5, "--max-steps", 2, "--seeding", "random", "--json", "-q"]
        plain = json.loads(self.vem(*words, "--threads", 1).stdout)

        def limit():  # stacks of 8 MB each do not fit
            resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        done = self.vem(*words, "--threads", 1000, preexec_fn=limit)
        self.assertRegex(done.stderr, r"vem: only \d+ of 1000 threads could be had")
        self.assertEqual(json.loads(done.stdout)["free_energy"], plain["free_energy"])


if __name__ == "__main__":
    main()
