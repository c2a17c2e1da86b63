#!/usr/bin/env python3
"""The command as people and scripts meet it: exit status, JSON, sentences, files, Ctrl-C.

VEM is the path of the command. Standard library only; .npy and .npz are read and written here
by hand, so that the files are checked against the format and not against a library."""
import ast
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

FIT_KEYS = """command version algorithm family search n d clusters items rows_used held reach
    outcome steps init_steps free_energy free_energy_first scored_pairs seed_pairs reduce_pairs
    quantization_error log_likelihood seconds threads seed peak_bytes""".split()
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

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def npy(self, name, rows, code="<f8", **more):
        return self.write(name, npy_bytes(rows, code, **more))

    def vem(self, *words, code=0, **more):
        done = subprocess.run([VEM, *map(str, words)], capture_output=True, text=True,
                              timeout=120 * SLOW, stdin=more.pop("stdin", subprocess.DEVNULL),
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

class Usage(Case):
    def test_help_and_version(self):
        self.assertRegex(self.vem("--version").stdout, r"^vem \d+\.\d+\.\d+\n$")
        text = self.vem("--help").stdout
        for verb in "fit predict score generate info".split():
            self.assertIn(f"vem {verb}", text)
            own = self.vem(verb, "--help").stdout
            self.assertIn(f"Usage: vem {verb}", own)
            self.assertIn("Examples:", own)
            self.assertEqual(own, self.vem("help", verb).stdout)
            self.assertEqual(own, self.vem(verb, "-h").stdout)
            self.assertLessEqual(max(map(len, own.splitlines())), 90)
        done = self.vem(code=2)
        self.assertIn("Usage:", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_fit_help_lists_options_and_presets(self):
        text = self.vem("fit", "--help").stdout
        for name in """clusters output algorithm family held search weights prior seeding chain
                init-steps init restarts tolerance max-steps empty floor margin threads seed
                precision labels measure json trace quiet verbose standardize normalize columns
                id""".split():
            self.assertIn(f"--{name}", text)
        self.assertIn("iso-shared, iso,", text)
        presets = text[text.index("Presets"):]
        self.assertRegex(presets, r"\n  kmeans +iso-shared +flat +closest +1 +kmeans\+\+ +0 +300")
        self.assertRegex(presets, r"\n  lazy-kmeans +iso-shared +flat +closest +1 +0\.1 ")
        self.assertRegex(presets, r"\n  kmeans-c +iso-shared +flat +closest +2 ")
        self.assertRegex(presets, r"\n  gmm +full +free +all +C ")

    def test_man_page_is_up_to_date(self):
        with open(os.path.join(SOURCE, "docs", "vem.1"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.vem("--man").stdout,
                             "docs/vem.1 is old: make it with `vem --man`")

    def test_mistyped_words(self):
        data = self.npy("x.npy", blobs()[0])
        self.refuse(2, ["fti", data], "did you mean fit")
        self.refuse(2, ["frobnicate"], "vem --help")
        self.refuse(2, ["--frob"], "--frob")
        self.refuse(2, ["fit", data, "--clustres", 3], "--clustres", "did you mean --clusters")
        self.refuse(2, ["fit", data, "--cl=3"], "did you mean --clusters")
        self.refuse(2, ["fit", data, "--xyzzy"], "vem fit --help")
        self.refuse(2, ["fit", data, "-k", 3, "-Z"], "-Z")
        self.refuse(2, ["fit", data, "-k"], "-k needs a value")
        self.refuse(2, ["fit", data, "-k", 3, "-o", "--json"], "-o needs a value")
        self.refuse(2, ["fit", data, "-k", 3, "--json=1"], "--json takes no value")
        self.refuse(2, ["fit", data, "-k", 3, "--labels="], "--labels is empty")
        self.refuse(2, ["fit", data], "number of clusters", "-k")
        self.refuse(2, ["fit"], "DATA is missing")
        self.refuse(2, ["fit", data, data, "-k", 3], "too many")
        self.refuse(2, ["predict", data], "DATA is missing")
        self.refuse(2, ["generate", "birch-gird", "-o", self.path("y.npy")], "birch-grid")

    def test_spellings_of_an_option(self):
        data = self.npy("x.npy", blobs()[0])
        for words in (["-k3"], ["-k", "3"], ["--clusters=3"], ["--clusters", "3"]):
            self.assertEqual(self.json("fit", data, *words)["clusters"], 3)
        out = self.vem("fit", "-k", "3", "--json", "--", data).stdout
        self.assertEqual(json.loads(out)["clusters"], 3)
        self.assertEqual(self.json("fit", data, "-k2", "-k", "3")["clusters"], 3)

    def test_options_out_of_range(self):
        data = self.npy("x.npy", blobs()[0])
        for words, patterns in [
                (["-k", 0], [r"--clusters is 0", "1"]),
                (["-k", -3], [r"-3"]),
                (["-k", "three"], [r"three", "whole number"]),
                (["-k", "1e3"], [r"1e3"]),
                (["-k", 10 ** 30], [r"between 1 and"]),
                (["-k", 3, "--tolerance", 2], [r"--tolerance is 2", "0 and 1"]),
                (["-k", 3, "--tolerance", "nan"], [r"nan"]),
                (["-k", 3, "--max-steps", 0], [r"--max-steps is 0"]),
                (["-k", 3, "--family", "round"], [r"round", r"iso-shared\|iso\|diag\|full"]),
                (["-k", 3, "--held", 5], [r"--held is 5", "3"]),
                (["-k", 3, "--search", "all", "--held", 2], [r"--held is 2"]),
                (["-k", 3, "--threads", 100000], [r"--threads"]),
                (["-k", 3, "--seed", -1], [r"--seed is -1"])]:
            self.refuse(2, ["fit", data, "-o", self.path("m.npz"), *words], *patterns)


# ---- fit ---------------------------------------------------------------------------------

class Fit(Case):
    def test_json(self):
        rows, _ = blobs()
        result = self.json("fit", self.npy("x.npy", rows), "-k", 3, "-o", self.path("m.npz"))
        for key in FIT_KEYS:
            self.assertIn(key, result)
        for key in SECONDS_KEYS:
            self.assertGreaterEqual(result["seconds"][key], 0)
        self.assertEqual((result["command"], result["n"], result["d"], result["clusters"]),
                         ("fit", 300, 2, 3))
        self.assertEqual(result["rows_used"], 300)
        self.assertIn(result["outcome"], OUTCOMES)
        self.assertIsNone(result["quantization_error"])
        self.assertIsNone(result["log_likelihood"])
        self.assertGreaterEqual(result["free_energy"], result["free_energy_first"])
        self.assertGreater(result["scored_pairs"], 0)
        self.assertGreater(result["peak_bytes"], 1e6)
        self.assertLess(result["seconds"]["em"], result["seconds"]["total"])

    def test_measure(self):
        rows, _ = blobs()
        data = self.npy("x.npy", rows)
        result = self.json("fit", data, "-k", 3, "--algorithm", "kmeans", "--restarts", 5,
                           "--measure", "-o", self.path("m.npz"))
        means = npz_parse(self.path("m.npz"))["means"][2]
        error = sum(min((x - means[2 * c]) ** 2 + (y - means[2 * c + 1]) ** 2
                        for c in range(3)) for x, y in rows)
        self.assertAlmostEqual(result["quantization_error"], error, delta=1e-9 * error)
        self.assertGreaterEqual(result["log_likelihood"], result["free_energy"] - 1e-12)
        self.assertEqual(result["algorithm"], "kmeans")

    def test_model_file(self):
        data = self.npy("x.npy", blobs()[0])
        for family, shape in [("iso-shared", (1,)), ("iso", (3,)), ("diag", (3, 2)),
                              ("full", (3, 2, 2))]:
            result = self.json("fit", data, "-k", 3, "--family", family, "--restarts", 3,
                               "-o", self.path("m.npz"))
            model = npz_parse(self.path("m.npz"))
            self.assertEqual(model["means"][:2], ((3, 2), "<f8"))
            self.assertEqual(model["weights"][:2], ((3,), "<f8"))
            self.assertEqual(model["variances"][:2], (shape, "<f8"))
            self.assertAlmostEqual(sum(model["weights"][2]), 1, delta=1e-12)
            self.assertEqual(model["meta"][1], "|u1")
            meta = json.loads(bytes(model["meta"][2]).decode())
            self.assertEqual(meta["family"], family)
            self.assertEqual(meta["options"]["clusters"], 3)
            self.assertEqual(meta["options"]["restarts"], 3)
            for key in "version seed rows_used outcome trace free_energy normalize".split():
                self.assertIn(key, meta)
            self.assertEqual(meta["free_energy"], result["free_energy"])

    def test_summary_and_quiet(self):
        data = self.npy("x.npy", blobs()[0])
        text = self.vem("fit", data, "-k", 3).stdout
        for words in ("300 rows, 2 columns", "clusters", "outcome", "free energy", "pairs",
                      "seconds", "not written"):
            self.assertIn(words, text)
        done = self.vem("fit", data, "-k", 3, "-q", "-o", self.path("m.npz"))
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        done = self.vem("fit", data, "-k", 3, "-v")
        self.assertIn("threads", done.stderr)
        self.assertRegex(done.stderr, r"step +free energy")

    def test_labels_and_trace(self):
        rows, truth = blobs()
        data = self.npy("x.npy", rows)
        result = self.json("fit", data, "-k", 3, "--restarts", 5, "--labels", self.path("l.npy"),
                           "--trace", self.path("t.csv"))
        shape, dtype, labels = npy_parse(self.read("l.npy"))
        self.assertEqual((shape, dtype), ((300,), "<i4"))
        self.assertEqual(len(set(zip(labels, truth))), 3)
        lines = self.read("t.csv").decode().splitlines()
        self.assertEqual(lines[0], "step,free_energy,pairs,changed,empty,move,moved,seconds")
        self.assertGreaterEqual(len(lines), 2)
        steps = [line.split(",") for line in lines[1:]]
        self.assertTrue(all(len(step) == 8 for step in steps))
        self.assertEqual(len([s for s in steps if int(s[0]) > 0]), result["steps"])
        self.json("fit", data, "-k", 3, "--restarts", 5, "--labels", self.path("l.csv"),
                  "--trace", self.path("t.json"))
        trace = json.loads(self.read("t.json"))
        self.assertEqual([step["pairs"] for step in trace], [int(s[2]) for s in steps])
        energies = [step["free_energy"] for step in trace if step["step"] > 0]
        for a, b in zip(energies, energies[1:]):
            self.assertGreaterEqual(b, a - 1e-9 * abs(a))
        text = self.read("l.csv").decode().split()
        self.assertEqual([int(x) for x in text if re.fullmatch(r"-?\d+", x)], labels)

    def test_same_seed_same_bits_for_any_threads(self):
        data = self.npy("x.npy", blobs(2000, 3, 6, spread=4.0)[0])
        seen = set()
        for threads in (1, 2, 3, 7):
            self.json("fit", data, "-k", 6, "--threads", threads, "--seed", 5,
                      "-o", self.path("m.npz"))
            model = npz_parse(self.path("m.npz"))
            seen.add(struct.pack("<18d", *model["means"][2]))
        self.assertEqual(len(seen), 1)

    def test_warm_start(self):
        data = self.npy("x.npy", blobs(500, 2, 4, spread=3.0)[0])
        first = self.json("fit", data, "-k", 4, "--algorithm", "kmeans", "-o", self.path("m.npz"))
        again = self.json("fit", data, "--init", self.path("m.npz"), "--algorithm", "kmeans")
        self.assertEqual(again["clusters"], 4)
        self.assertGreaterEqual(again["free_energy"], first["free_energy"] - 1e-9)
        self.assertLessEqual(again["steps"], first["steps"])
        self.refuse(1, ["fit", data, "--init", self.path("none.npz")], "none.npz")

    def test_weights(self):
        rows, _ = blobs(90)
        weights = [i % 3 for i in range(90)]
        many = [row for row, w in zip(rows, weights) for _ in range(w)]
        data, plain = self.npy("x.npy", rows), self.npy("y.npy", many)
        self.json("fit", plain, "-k", 2, "--algorithm", "kmeans", "-o", self.path("s.npz"))
        common = ["--init", self.path("s.npz"), "--algorithm", "kmeans", "--measure"]
        a = self.json("fit", data, "--weights", self.npy("w.npy", weights), *common)
        b = self.json("fit", plain, *common)
        self.assertAlmostEqual(a["free_energy"], b["free_energy"], delta=1e-9)
        self.assertAlmostEqual(a["quantization_error"] / b["quantization_error"], 1, delta=1e-9)
        self.assertEqual(a["rows_used"], 60)
        text = self.write("w.csv", "\n".join(map(str, weights)) + "\n")
        c = self.json("fit", data, "--weights", text, *common)
        self.assertEqual(a["free_energy"], c["free_energy"])

    def test_csv_columns_and_standard_input(self):
        rows, _ = blobs()
        lines = ["name,a,b,c"] + [f"row{i},{x},7,{y}" for i, (x, y) in enumerate(rows)]
        data = self.write("x.csv", "\n".join(lines) + "\n")
        a = self.json("fit", data, "-k", 3, "--columns", "a,c")
        b = self.json("fit", self.npy("x.npy", rows), "-k", 3)
        c = self.json("fit", data, "-k", 3, "--columns", "2,4")
        self.assertEqual((a["d"], a["free_energy"]), (2, b["free_energy"]))
        self.assertEqual(c["free_energy"], b["free_energy"])
        self.assertEqual(self.json("fit", data, "-k", 3, "--id", "name")["d"], 3)
        with open(data, "rb") as stream:
            d = self.json("fit", "-", "-k", 3, "--columns", "a,c", stdin=stream)
        self.assertEqual(d["free_energy"], b["free_energy"])

    def test_standardize_and_normalize(self):
        rows, truth = blobs()
        far = self.npy("x.npy", [[x * 1e-6, y * 1e6] for x, y in rows])
        self.json("fit", far, "-k", 3, "--standardize", "--restarts", 5, "-o", self.path("m.npz"),
                  "--labels", self.path("l.npy"))
        labels = npy_parse(self.read("l.npy"))[2]
        self.assertEqual(len(set(zip(labels, truth))), 3)
        self.vem("predict", self.path("m.npz"), far, "-o", self.path("p.npy"))
        self.assertEqual(npy_parse(self.read("p.npy"))[2], labels)
        rng = random.Random(1)
        rays = [[s * rng.uniform(1, 9), s * rng.uniform(0, 0.1)] for s in (1, -1)
                for _ in range(50)]
        data = self.npy("y.npy", rays)
        self.json("fit", data, "-k", 2, "--normalize", "--restarts", 5, "-o", self.path("m.npz"))
        means = npz_parse(self.path("m.npz"))["means"][2]
        self.assertLess(max(map(abs, means)), 1.000001)
        self.vem("predict", self.path("m.npz"), data, "-o", self.path("p.npy"))
        labels = npy_parse(self.read("p.npy"))[2]
        self.assertEqual(labels, [labels[0]] * 50 + [labels[50]] * 50)
        self.assertNotEqual(labels[0], labels[50])


# ---- predict, score, generate, info --------------------------------------------------------

class Use(Case):
    def setUp(self):
        super().setUp()
        self.rows, self.truth = blobs(spread=3.0)
        self.data = self.npy("x.npy", self.rows)
        self.model = self.path("m.npz")
        self.json("fit", self.data, "-k", 3, "--algorithm", "gmm", "--restarts", 5,
                  "-o", self.model, "--labels", self.path("l.npy"))
        self.labels = npy_parse(self.read("l.npy"))[2]

    def test_hard_labels(self):
        result = self.json("predict", self.model, self.data, "-o", self.path("p.npy"))
        self.assertEqual((result["n"], result["clusters"], result["top"]), (300, 3, 1))
        self.assertEqual(npy_parse(self.read("p.npy")), ((300,), "<i4", self.labels))
        self.vem("predict", self.model, self.data, "--exact", "-o", self.path("p.csv"))
        self.assertEqual([int(x) for x in self.read("p.csv").split() if x.isdigit()],
                         self.labels)
        out = self.vem("predict", self.model, self.data, "-q").stdout
        self.assertEqual([int(x) for x in out.split() if x.isdigit()], self.labels)

    def test_soft_assignments(self):
        self.vem("predict", self.model, self.data, "--top", 2, "-o", self.path("s.npz"))
        soft = npz_parse(self.path("s.npz"))
        self.assertEqual(soft["clusters"][:2], ((300, 2), "<i4"))
        self.assertEqual(soft["probabilities"][0], (300, 2))
        self.assertEqual(soft["clusters"][2][::2], self.labels)
        for a, b in zip(soft["probabilities"][2][::2], soft["probabilities"][2][1::2]):
            self.assertTrue(a >= b >= 0 and a + b <= 1 + 1e-12)
        self.vem("predict", self.model, self.data, "--top", 3, "-o", self.path("s.npz"))
        soft = npz_parse(self.path("s.npz"))["probabilities"][2]
        for i in range(0, 900, 3):
            self.assertAlmostEqual(sum(soft[i:i + 3]), 1, delta=1e-12)
        self.vem("predict", self.model, self.data, "--top", 3, "-o", self.path("s.csv"))
        text = self.read("s.csv").decode()
        self.assertEqual(self.vem("predict", self.model, self.data, "--top", 3, "-q").stdout,
                         text)

    def test_wrong_use_of_a_model(self):
        out = self.path("p.npy")
        self.refuse(2, ["predict", self.model, self.data, "--top", 0, "-o", out], "--top is 0")
        self.refuse(2, ["predict", self.model, self.data, "--top", 4, "-o", self.path("p.npz")],
                    "--top is 4", "3 clusters")
        self.refuse(2, ["predict", self.data, self.model, "-o", out], "model comes first")
        self.refuse(2, ["predict", self.model, self.data, "-o", self.path("p.xyz")], "npy csv")
        self.refuse(2, ["predict", self.model, self.data, "-o", self.data], "is the input")
        self.refuse(1, ["predict", self.path("none.npz"), self.data, "-o", out], "none.npz")
        wide = self.npy("w.npy", [[1.0, 2.0, 3.0]] * 5)
        message = self.refuse(1, ["predict", self.model, wide, "-o", out], "3", "2")
        self.assertIn("column", message)
        self.refuse(1, ["score", self.model, wide], "3", "2")
        short = self.npy("t.npy", [0, 1], "<i8")
        self.refuse(1, ["score", self.model, self.data, "--labels", short], "2 labels", "300 rows")
        with open(self.model, "rb") as file:
            torn = self.write("torn.npz", file.read()[:-40])
        self.refuse(1, ["predict", torn, self.data, "-o", out], "torn.npz")

    def test_score(self):
        truth = self.npy("t.npy", [c * 1000 - 7 for c in self.truth], "<i8")
        plain = self.json("score", self.model, self.data)
        self.assertIsNone(plain["nmi"])
        result = self.json("score", self.model, self.data, "--labels", truth)
        for key in "free_energy log_likelihood quantization_error bic".split():
            self.assertEqual(plain[key], result[key])
        self.assertAlmostEqual(result["free_energy"], result["log_likelihood"], delta=1e-9)
        self.assertGreater(result["purity"], 0.9)
        for key in "nmi ari".split():
            self.assertTrue(0.5 < result[key] <= 1)
        # Three full Gaussians in two dimensions: 2 + 6 + 9 parameters.
        self.assertEqual(result["parameters"], 17)
        bic = 17 * math.log(300) - 2 * 300 * result["log_likelihood"]
        self.assertAlmostEqual(result["bic"] / bic, 1, delta=1e-12)
        held = self.json("score", self.model, self.data, "--held", 1)
        self.assertLess(held["free_energy"], held["log_likelihood"])
        text = self.vem("score", self.model, self.data, "--labels", truth).stdout
        for word in ("log-likelihood", "free energy", "quantisation error", "BIC", "NMI"):
            self.assertIn(word, text)

    def test_info_on_a_model(self):
        text = self.vem("info", self.model).stdout
        for words in ("model (full)", "3 clusters", "2 columns", "weights", "variances", "gmm"):
            self.assertIn(words, text)
        result = self.json("info", self.model)
        self.assertEqual((result["kind"], result["family"], result["clusters"], result["d"]),
                         ("model", "full", 3, 2))
        self.assertEqual(result["meta"]["options"]["algorithm"], "gmm")


class Info(Case):
    def test_data(self):
        result = self.json("info", self.npy("x.npy", [[1, 10], [3, 10], [5, 10]], "<i4"))
        self.assertEqual((result["kind"], result["format"], result["dtype"]),
                         ("data", "npy", "int32"))
        self.assertEqual((result["n"], result["d"], result["nan"]), (3, 2, 0))
        first = result["columns"][0]
        self.assertEqual((first["min"], first["mean"], first["max"]), (1, 3, 5))
        self.assertAlmostEqual(first["sd"], math.sqrt(8 / 3))
        self.assertEqual(result["columns"][1]["sd"], 0)
        data = self.write("x.csv", "height,weight\n1.5,60\n1.7,72\n")
        text = self.vem("info", data).stdout
        for words in ("csv", "2 rows", "2 columns", "1 height", "2 weight", "finite"):
            self.assertIn(words, text)

    def test_values_that_are_not_finite(self):
        rows = [[0.0, 1.0]] * 10
        rows[6] = [0.0, math.nan]
        rows[8] = [math.inf, 1.0]
        data = self.npy("x.npy", rows)
        result = self.json("info", data)
        self.assertEqual((result["nan"], result["infinite"]), (1, 1))
        self.assertEqual((result["first_bad_row"], result["first_bad_column"]), (7, 2))
        self.assertIn("row 7, column 2", self.vem("info", data).stdout)

    def test_many_columns(self):
        data = self.npy("x.npy", [[0.5] * 50] * 3, "<f4")
        self.assertIn("30 more columns", self.vem("info", data).stdout)
        self.assertEqual(len(self.json("info", data)["columns"]), 50)


class Generate(Case):
    def test_kinds(self):
        for kind, words, n, d, clusters in [
                ("birch-grid", [], 2500, 2, 25),
                ("birch-random", ["-k", 16, "-n", 500], 500, 2, 16),
                ("separated", ["-k", 4, "-d", 3, "--separation", 3], 400, 3, 4),
                ("tau-separated", ["-k", 5, "--rows", 77, "--box", 40], 77, 2, 5)]:
            result = self.json("generate", kind, *words, "-o", self.path("x.npy"),
                               "--labels", self.path("l.npy"), "--centers", self.path("c.npy"))
            self.assertEqual((result["kind"], result["n"], result["d"], result["clusters"]),
                             (kind, n, d, clusters))
            self.assertEqual(npy_parse(self.read("x.npy"))[:2], ((n, d), "<f8"))
            shape, dtype, labels = npy_parse(self.read("l.npy"))
            self.assertEqual((shape, dtype), ((n,), "<i4"))
            self.assertEqual(set(labels), set(range(clusters)))
            self.assertEqual(npy_parse(self.read("c.npy"))[0], (clusters, d))

    def test_seed_format_and_precision(self):
        def make(name, *words):
            self.vem("generate", "separated", "-q", "-n", 50, "-o", self.path(name), *words)
            return self.read(name)
        self.assertEqual(make("a.npy", "--seed", 4), make("b.npy", "--seed", 4, "--threads", 3))
        self.assertNotEqual(make("a.npy", "--seed", 4), make("b.npy", "--seed", 5))
        wide = npy_parse(make("a.npy"))[2]
        _, dtype, narrow = npy_parse(make("b.npy", "--precision", "single"))
        self.assertEqual(dtype, "<f4")
        for a, b in zip(wide, narrow):
            self.assertAlmostEqual(a, b, delta=1e-6 * (1 + abs(a)))
        make("c.csv")
        self.assertEqual(self.json("info", self.path("c.csv"))["n"], 50)

    def test_wrong_options(self):
        out = ["-o", self.path("x.npy")]
        self.refuse(2, ["generate", "birch-grid", "-k", 24, *out], "24", "square")
        self.refuse(2, ["generate", "birch-grid", "-d", 3, *out], "2 dimensions", "3")
        self.refuse(2, ["generate", "separated", "-n", 0, *out], "--rows is 0")
        self.refuse(2, ["generate", "separated", "-n", "1e9999", *out], "--rows")
        self.refuse(2, ["generate", "separated", "--separation", -1, *out], "--separation is -1")
        self.refuse(2, ["generate", "separated", "--precision", "half", *out], "half")
        self.refuse(2, ["generate", "tau-separated", "-k", 500, "--box", 3, *out],
                    "side 3", "500 centers")
        self.refuse(2, ["generate", "separated"], "-o")
        self.refuse(2, ["generate", "separated", "-o", self.path("x.bin")], "npy csv")
        if SLOW == 1:  # a sanitizer ends the process where malloc would say no
            self.refuse(1, ["generate", "separated", "-k", 2000000000, "-n", 1000, "-d", 1000000,
                            *out], "memory")


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
                              timeout=60 * SLOW, stdin=subprocess.DEVNULL)
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
                                  stderr=subprocess.PIPE, timeout=60 * SLOW)
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


# ---- Ctrl-C ------------------------------------------------------------------------------

class Interrupt(Case):
    def start(self, *words):
        """A fit that would take very long; comes back when its loop is about to begin."""
        data = self.path("big.npy")
        self.vem("generate", "separated", "-q", "-n", 40000, "-d", 12, "-k", 40,
                 "--separation", 0.5, "-o", data)
        process = subprocess.Popen(
            [VEM, "fit", data, "-k", "40", "--algorithm", "gmm", "--tolerance", "1e-300",
             "--max-steps", "1000000", "--seeding", "random", "-v", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        self.addCleanup(process.kill)
        self.assertIn("threads", process.stderr.readline())
        time.sleep(1.0 if SLOW == 1 else 10)
        self.assertIsNone(process.poll(), "the fit ended too soon")
        return process

    def test_once(self):
        process = self.start("-o", self.path("m.npz"), "--json")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60 * SLOW)
        self.assertEqual(process.returncode, 130)
        result = json.loads(out)
        self.assertEqual(result["outcome"], "stopped")
        self.assertGreaterEqual(result["steps"], 1)
        model = npz_parse(self.path("m.npz"))
        self.assertEqual(model["means"][0], (40, 12))
        meta = json.loads(bytes(model["meta"][2]).decode())
        self.assertEqual(meta["outcome"], "stopped")
        self.assertEqual(meta["free_energy"], result["free_energy"])

    def test_twice(self):
        process = self.start("-o", self.path("m.npz"))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60 * SLOW)
        self.assertEqual(process.returncode, 130)
        names = os.listdir(self.folder.name)
        if "m.npz" in names:  # it was just quick enough to end well
            npz_parse(self.path("m.npz"))
            names.remove("m.npz")
        self.assertEqual(names, ["big.npy"])

    def test_progress_in_a_log(self):
        process = self.start()
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60 * SLOW)
        self.assertRegex(err, r"vem: fitting: step \d+/1000000, F = \S+, \S+ steps/s, < .* left")
        self.assertIn("stopped by Ctrl-C", out)
        self.assertNotIn("\r", err)


if __name__ == "__main__":
    if not os.path.exists(VEM):
        print(f"The command {VEM} is not there; set VEM to its path.")
        sys.exit(77)
    unittest.main()
