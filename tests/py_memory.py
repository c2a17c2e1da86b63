#!/usr/bin/env python3
"""Files larger than memory: --memory holds for the resident size, and changes no result. Files
that become shorter while they are read, and disks that are full: a sentence, the right status,
and nothing half written."""
import array
import functools
import os
import random
import resource
import shutil
import subprocess
import sys
import unittest

from cli_case import *

MB = 1 << 20
D = 64


LAUNCH = """
import os, sys
child = os.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


@functools.lru_cache(None)
def block(seed, values=1 << 19):
    rng = random.Random(seed)
    some = [rng.gauss(4 * (i // D % 8 == i % 8), 1) for i in range(values // 8)]
    return array.array("f", [x + k for k in range(8) for x in some]).tobytes()


def big_npy(path, megabytes):
    """Single-precision rows, blocks of 2 MB in turns; no row comes twice, by its first column."""
    blocks = [block(seed) for seed in range(3)]
    count = megabytes // 2
    n = count * (1 << 19) // D
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {D}), }}".ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for k in range(count):
            shift = 4 * D * (k * 37 % (1 << 13))
            rows = array.array("f", blocks[k % 3][shift:] + blocks[k % 3][:shift])
            first = range(k * (n // count), (k + 1) * (n // count))
            rows[::D] = array.array("f", [1e-5 * row for row in first])
            rows.tofile(file)
    return n


class Memory(Case):
    def run_peak(self, *words, **more):
        """(exit status, what it said, highest resident bytes) of a command. Started by a small
        process: what a parent holds counts as its child's until the child is another program."""
        done = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCH, VEM, *map(str, words)],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
        said, _, last = done.stdout.rstrip().rpartition("\n")
        status, kilobytes = map(int, last.split())
        return status, said + done.stderr, kilobytes * 1024

    def peak(self, *words, code=0, **more):
        """Highest resident bytes of a command that must end with this status."""
        status, said, peak = self.run_peak(*words, **more)
        self.assertEqual(status, code, said)
        return peak

    def within(self, megabytes, *words, **more):
        peak = self.peak(*words, "--memory", f"{megabytes}M" if SLOW == 1 else "4G", **more)
        if SLOW == 1:  # what is resident under a sanitizer is the sanitizer's
            self.assertLessEqual(peak / MB, megabytes, words)
        return peak

    def same(self, a, b):
        with open(self.path(a), "rb") as x, open(self.path(b), "rb") as y:
            self.assertTrue(x.read() == y.read(), f"{a} and {b} differ")

    def same_model(self, a, b):
        a, b = npz_parse(self.path(a)), npz_parse(self.path(b))
        for name in a:
            if name != "meta":
                self.assertEqual(a[name], b[name], name)

    def test_rows_that_are_checked(self):
        """.fvecs: every row begins with its dimension, which is looked at."""
        size, limit = (160, 80) if SLOW == 1 else (4, 80)
        d = 256
        row = struct.pack("<i", d) + array.array("f", [0.5] * d).tobytes()
        with open(self.path("x.fvecs"), "wb") as file:
            for k in range(size):
                file.write(row * (MB // len(row)))
        # One row short: what is wrong is found by the check itself, and nothing else is done.
        with open(self.path("bad.fvecs"), "wb") as file, open(self.path("x.fvecs"), "rb") as x:
            while piece := x.read(MB):
                file.write(piece)
            file.write(b"\0\0")
        peak = self.peak("info", self.path("bad.fvecs"), "--memory", f"{limit}M" if SLOW == 1
                         else "4G", code=1)
        if SLOW == 1:
            self.assertLessEqual(peak / MB, limit)
        self.within(limit, "info", self.path("x.fvecs"))

    def test_rows_of_a_mapped_file(self):
        size, limit = (160, 110) if SLOW == 1 else (16, 110)
        data = self.path("x.npy")
        big_npy(data, size)
        fit = ["fit", data, "-k", 8, "--max-steps", 3, "-q"]
        wide = self.peak(*fit, "-o", self.path("a.npz"), "--labels", self.path("a.npy"))
        self.within(limit, *fit, "-o", self.path("b.npz"), "--labels", self.path("b.npy"))
        if SLOW == 1:
            self.assertGreater(wide, size * MB)
        self.same_model("a.npz", "b.npz")
        self.same("a.npy", "b.npy")
        # Many clusters: rows are put in order, from one temporary file to another.
        groups = ["fit", data, "-k", 64, "--search", "groups", "--seeding", "two-level",
                  "--max-steps", 2, "--swaps", 0, "-q"]
        self.peak(*groups, "-o", self.path("c.npz"))
        self.within(limit, *groups, "-o", self.path("d.npz"))
        self.same_model("c.npz", "d.npz")
        # Using a model, and a coreset, are passes over chunks.
        self.peak("predict", self.path("a.npz"), data, "-o", self.path("p.npy"))
        self.within(64, "predict", self.path("a.npz"), data, "-o", self.path("q.npy"))
        self.same("p.npy", "q.npy")
        self.within(64, "score", self.path("a.npz"), data)
        self.within(64, "coreset", data, "-m", 1000, "-o", self.path("core.npz"))
        self.within(64, "fit", data, "--init", self.path("a.npz"), "--accumulate",
                    self.path("s.npz"), "-q")
        self.within(64, "fit", data, "-k", 8, "--coreset", 2000, "--measure",
                    "--max-steps", 3, "-q")
        self.within(64, "info", data)

    @unittest.skipIf(SLOW > 1, "what is resident under a sanitizer is the sanitizer's")
    def test_kept_or_refused(self):
        """Near the least there is, too: it holds, or a sentence says that it cannot."""
        data, model = self.path("x.npy"), self.path("m.npz")
        big_npy(data, 40)
        self.vem("fit", data, "-k", 8, "--max-steps", 1, "-o", model)
        commands = [["fit", data, "-k", 8, "--family", family, "--max-steps", 1, *more]
                    for family, more in (("iso-shared", ["--measure"]), ("diag", ["--standardize"]),
                                         ("diag", ["--coreset", 2000]), ("full", []))]
        commands += [["fit", data, "-k", 300, "--max-steps", 1, "--labels", self.path("l.npy")],
                     ["predict", model, data, "-o", self.path("p.npy")],
                     ["score", model, data], ["describe", model, data]]
        held = refused = 0
        for words in commands:
            for limit in (16, 24, 32, 60):
                for old in ("l.npy", "p.npy"):
                    if os.path.exists(self.path(old)):
                        os.unlink(self.path(old))
                status, said, peak = self.run_peak(*words, "--memory", f"{limit}M")
                if status == 0:
                    self.assertLessEqual(peak / MB, limit, words)
                    held += 1
                else:
                    self.assertEqual(status, 1, said)
                    self.assertIn("--memory", said)
                    refused += 1
        self.assertGreater(held, len(commands))
        self.assertGreater(refused, 0)

    def test_score_has_the_same_bits(self):
        data = self.path("x.npy")
        big_npy(data, 40)
        self.json("fit", data, "-k", 5, "--max-steps", 2, "-o", self.path("m.npz"))
        found = [self.json("score", self.path("m.npz"), data, *more)
                 for more in ([], ["--memory", "48M" if SLOW == 1 else "100M"])]
        for key in ("log_likelihood", "free_energy", "quantization_error"):
            self.assertEqual(found[0][key], found[1][key])

    def test_text(self):
        rng, lines, limit = random.Random(1), 10000, 48
        some = "".join(",".join(f"{rng.gauss(5 * (i % 3), 1):.4f}" for _ in range(16)) + "\n"
                       for i in range(lines)).encode()
        with open(self.path("x.csv"), "wb") as file:
            for _ in range(60 * MB // len(some) if SLOW == 1 else 3):
                file.write(some)
        fit = ["fit", self.path("x.csv"), "-k", 3, "--max-steps", 3, "-q"]
        self.peak(*fit, "-o", self.path("a.npz"))
        self.within(limit, *fit, "-o", self.path("b.npz"))
        self.same_model("a.npz", "b.npz")
        with open(self.path("x.csv"), "rb") as file:
            process = subprocess.Popen([VEM, "fit", "-", *map(str, fit[2:]), "-o", self.path("c.npz"),
                                        "--memory", f"{limit}M" if SLOW == 1 else "4G"], stdin=subprocess.PIPE)
            shutil.copyfileobj(file, process.stdin)
            process.stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        if SLOW == 1:
            self.assertLessEqual(usage.ru_maxrss / 1024, limit)
        self.same_model("a.npz", "c.npz")

    def test_hdf5(self):
        data = self.path("x.npy")
        big_npy(data, 60 if SLOW == 1 else 6)
        made = subprocess.run(
            [sys.executable, "-c", "import sys, numpy, h5py; x = numpy.load(sys.argv[1], "
             "mmap_mode='r'); h5py.File(sys.argv[2], 'w').create_dataset('x', data=x, "
             "chunks=(5000, x.shape[1]), compression='gzip', compression_opts=1)",
             data, self.path("x.h5")], capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("needs h5py")
        probe = subprocess.run([VEM, "info", self.path("x.h5") + ":/x"], capture_output=True,
                               text=True)
        if "without HDF5" in probe.stderr:
            self.skipTest("this build has no HDF5")
        fit = ["fit", "-k", 5, "--max-steps", 2, "-q"]
        self.peak(*fit, data, "-o", self.path("a.npz"))
        self.within(64, *fit, self.path("x.h5") + ":/x", "-o", self.path("b.npz"))
        self.same_model("a.npz", "b.npz")

    def test_what_was_done_is_said(self):
        data = self.path("x.npy")
        big_npy(data, 80)
        said = self.vem("fit", data, "-k", 4, "--max-steps", 2, "--memory",
                        "64M" if SLOW == 1 else "2G", "-v")
        if SLOW == 1:
            self.assertRegex(said.stdout, r"rows rest in a temporary file \(\d+ MiB of disk\)")
            self.assertRegex(said.stderr, r"MiB of disk and about")
            self.refuse(1, ["fit", data, "-k", 4, "--memory", "20M", "-o", self.path("m.npz")],
                        "--memory 20 MiB leaves", "the program itself takes", "even with its rows in a temporary file")


# ---- Files that become shorter -----------------------------------------------------------

class Shortened(Case):
    def shorten(self, *words):
        """The weights come through a pipe: when it is opened the rows are mapped, but not read."""
        data, pipe = self.path("x.npy"), self.path("w.csv")
        n = big_npy(data, 2)
        os.mkfifo(pipe)
        before = sorted(os.listdir(self.folder.name))
        process = subprocess.Popen([VEM, words[0], *[data if w == "DATA" else w for w in words[1:]],
                                    "--weights", pipe], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        with open(pipe, "w") as weights:
            os.truncate(data, 4096)
            weights.write("1\n" * n)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 1, err)
        self.assertEqual(err, f"vem: {data} became shorter while it was read, or its disk failed.\n")
        self.assertEqual(out, "")
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)
        os.unlink(pipe)

    @unittest.skipIf(SLOW > 1, "a sanitizer has a handler of its own")
    def test_every_command(self):
        self.shorten("fit", "DATA", "-k", "3", "-o", self.path("m.npz"), "-q")
        self.shorten("coreset", "DATA", "-m", "100", "-o", self.path("c.npz"), "-q")
        big_npy(self.path("y.npy"), 2)
        self.vem("fit", self.path("y.npy"), "-k", 3, "-o", self.path("model.npz"), "--max-steps", 1)
        self.shorten("score", self.path("model.npz"), "DATA", "-q")


# ---- Disks that are full -----------------------------------------------------------------

class FullDisk(Case):
    def commands(self, where):
        data = self.path("x.npy")
        big_npy(data, 2)
        self.vem("fit", data, "-k", 300, "--max-steps", 1, "-o", self.path("m.npz"), "-q")
        out = lambda name: os.path.join(where, name)
        return [["fit", data, "-k", 300, "--max-steps", 1, "-q", "-o", out("a.npz")],
                ["fit", data, "-k", 3, "--max-steps", 1, "-q", "--labels", out("l.npy")],
                ["fit", data, "--init", self.path("m.npz"), "-q", "--accumulate", out("s.npz")],
                ["coreset", data, "-m", 2000, "-q", "-o", out("c.npz")],
                ["predict", self.path("m.npz"), data, "-o", out("p.npy")],
                ["predict", self.path("m.npz"), data, "--top", 3, "-o", out("p.npz")]]

    def test_files_that_may_not_grow(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        for words in self.commands(self.folder.name):
            self.refuse(1, words, "could not be written",
                        "would be too large|disk is full", preexec_fn=limit)

    @unittest.skipIf(SLOW > 1, "what is resident is the sanitizer's")
    def test_no_room_for_the_rows(self):
        data = self.path("x.npy")
        big_npy(data, 80)
        words = ["fit", data, "-k", 3, "--memory", "64M", "-o", self.path("m.npz"), "-q"]
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        self.refuse(1, words, "temporary file", "would be too large", preexec_fn=limit)
        self.refuse(1, words, "temporary file", "nowhere", "no such file",
                    env={**os.environ, "VEM_TMPDIR": "/nowhere"})

    def test_a_small_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        inside = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=16k tmpfs "$0" && "$@"; '
                  'code=$?; ls -A "$0"; exit $code', disk]
        if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
            self.skipTest("needs the right to mount")
        for words in self.commands(disk):
            done = subprocess.run([*inside, VEM, *map(str, words)], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertRegex(done.stderr, r"^vem: .*could not be written: the disk is full\.\n$")
        if SLOW == 1:
            data = self.path("y.npy")
            big_npy(data, 80)
            done = subprocess.run([*inside, VEM, "fit", data, "-k", "3", "--memory", "64M", "-q"],
                                  capture_output=True, text=True,
                                  env={**os.environ, "VEM_TMPDIR": disk})
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertRegex(done.stderr, r"^vem: A temporary file of 80 MiB in .* the disk is full\.\n$")


if __name__ == "__main__":
    main()
