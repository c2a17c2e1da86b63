"""What the tests of the command share: running it, and .npy and .npz by hand, so that files are
checked against the format and not against a library. Standard library only; VEM is the path of
the command."""
import ast
import csv
import json
import math
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

VEM = os.environ.get("VEM", "build/vem")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("VEM_SOURCE", os.path.dirname(HERE))
SLOW = 20 if os.environ.get("ASAN_OPTIONS") or os.environ.get("TSAN_OPTIONS") else 1
# Seconds after which a command hangs. No test may ask how fast the machine is.
LIMIT = 1500

FIT_KEYS = """command version algorithm family search n d clusters items rows_used held reach
    outcome steps init_steps free_energy free_energy_first scored_pairs seed_pairs reduce_pairs
    quantization_error log_likelihood quantization_error_se log_likelihood_se
    quantization_error_coreset log_likelihood_coreset measured_rows seconds threads seed peak_bytes""".split()
SECONDS_KEYS = "read reduce seed em measure total".split()
OUTCOMES = ("converged", "step-limit", "stopped", "budget")


# ---- .npy and .npz by hand ---------------------------------------------------------------

def npy_bytes(rows, code="<f8", fortran=False):
    """Rows (lists of equal length, or plain numbers) as the bytes of an .npy file."""
    flat = not rows or not isinstance(rows[0], (list, tuple))
    n, d = len(rows), 1 if flat else len(rows[0])
    shape = f"({n},)" if flat else f"({n}, {d})"
    header = f"{{'descr': '{code}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    header = header.ljust((10 + len(header) + 1 + 63) // 64 * 64 - 11) + "\n"
    letter = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}[code]
    if fortran and not flat:
        values = [rows[i][j] for j in range(d) for i in range(n)]
    else:
        values = list(rows) if flat else [x for row in rows for x in row]
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}{letter}", *values))


def npy_parse(blob):
    """(shape, dtype, flat list) of an .npy file's bytes."""
    assert blob[:6] == b"\x93NUMPY", blob[:6]
    size = struct.unpack("<H", blob[8:10])[0]
    header = ast.literal_eval(blob[10:10 + size].decode("latin1"))
    assert (10 + size) % 64 == 0 and not header["fortran_order"]
    letter = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}[header["descr"]]
    count = math.prod(header["shape"])
    values = struct.unpack(f"<{count}{letter}", blob[10 + size:])
    return header["shape"], header["descr"], list(values)


def npz_parse(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name[:-4]: npy_parse(archive.read(name)) for name in archive.namelist()}


def blobs(n=300, d=2, clusters=3, seed=0, spread=0.3, gap=10.0):
    """Well separated clusters; values are multiples of 1/1024, exact after an offset of 1e8."""
    rng = random.Random(seed)
    truth = [i % clusters for i in range(n)]
    return [[round((gap * ((c >> j) + c) + rng.gauss(0, spread)) * 1024) / 1024
             for j in range(d)] for c in truth], truth


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def ticking(self, tick, **more):
        """An environment in which every look at the clock takes so many seconds."""
        fake = os.environ.get("VEM_FAKE_TIME")
        if not fake:
            self.skipTest("VEM_FAKE_TIME names no clock (build/tests/libfake_time.so)")
        asan = os.environ.get("ASAN_OPTIONS", "")
        return {**os.environ, "LD_PRELOAD": fake, "VEM_FAKE_TICK": str(tick),
                "ASAN_OPTIONS": f"{asan}:verify_asan_link_order=0", **more}

    def wait_for(self, happened, process):
        """Until that is so; the process must not end before."""
        while not happened():
            self.assertIsNone(process.poll(), "the command ended too soon")
            time.sleep(0.01)

    def wait_for_line(self, stream, pattern):
        """The lines of a stream up to one that matches."""
        lines = []
        for line in iter(stream.readline, ""):
            lines.append(line)
            if re.search(pattern, line):
                return "".join(lines)
        self.fail(f"{pattern} was not said: {lines}")

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def column(self, name, column):
        """Whole numbers of a column of a table that the command wrote."""
        with open(self.path(name), newline="") as file:
            return [int(row[column]) for row in csv.DictReader(file)]

    def npy(self, name, rows, code="<f8", **more):
        return self.write(name, npy_bytes(rows, code, **more))

    def vem(self, *words, code=0, **more):
        done = subprocess.run([VEM, *map(str, words)], capture_output=True, text=True,
                              timeout=LIMIT, stdin=more.pop("stdin", subprocess.DEVNULL),
                              **more)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def json(self, *words, **more):
        out = self.vem(*words, "--json", "-q", **more).stdout
        self.assertEqual(out.count("\n"), 1, out)
        return json.loads(out, parse_constant=lambda word: self.fail(f"{word} in JSON"))

    def refuse(self, code, words, *patterns, **more):
        """The command fails with this status, says one sentence, writes no file."""
        before = sorted(os.listdir(self.folder.name))
        done = self.vem(*words, code=code, **more)
        self.assertEqual(done.stdout, "")
        lines = [line for line in done.stderr.splitlines() if line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], r"^vem: .*[.?]$")
        for pattern in patterns:
            self.assertRegex(lines[0], re.compile(pattern, re.I))
        self.assertEqual(sorted(os.listdir(self.folder.name)), before)
        return lines[0]


# ---- Words of the command line -----------------------------------------------------------


def main():
    if not os.path.exists(VEM):
        print(f"The command {VEM} is not there; set VEM to its path.")
        sys.exit(77)
    unittest.main()
