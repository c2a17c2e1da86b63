#!/usr/bin/env python3
"""The command as people and scripts meet it: exit status, JSON, sentences, files."""
import json
import math
import os
import random
import re
import struct

from cli_case import *


class Usage(Case):
    def test_help_and_version(self):
        self.assertRegex(self.vem("--version").stdout, r"^vem \d+\.\d+\.\d+\n$")
        text = self.vem("--help").stdout
        for verb in "fit predict score coreset generate info".split():
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
                coreset precision labels measure memory time json trace quiet verbose standardize normalize columns
                id""".split():
            self.assertIn(f"--{name}", text)
        self.assertIn("iso-shared, iso,", text)
        presets = text[text.index("Presets"):]
        self.assertRegex(presets, r"\n  kmeans +iso-shared +flat +closest +1 +kmeans\+\+ +0 +300")
        self.assertRegex(presets, r"\n  lazy-kmeans +iso-shared +flat +closest +1 +0\.1 ")
        self.assertRegex(presets, r"\n  kmeans-c +iso-shared +flat +closest +2 ")
        self.assertRegex(presets, r"\n  gmm +full +free +all +C ")

    def test_help_names_every_option(self):
        """Whatever heading a table gives an option, it is shown."""
        tables = 0
        for verb in re.findall(r"^  vem ([a-z]+) ", self.vem("--help").stdout, re.MULTILINE):
            with open(os.path.join(SOURCE, "cli", f"{verb}.c"), encoding="utf-8") as file:
                own = re.findall(r"""\{"([a-z-]+)", (?:0|'.'), (?:"[^"]*"|[A-Z]+),""", file.read())
            text = self.vem(verb, "--help").stdout
            tables += len(own) > 0
            for name in own:
                self.assertRegex(text, rf"(?m)^  (    |-., )--{name}\b", verb)
        self.assertGreater(tables, 5)

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
        for option, typed, meant in (("--family", "dag", "diag"), ("--algorithm", "k-means", "kmeans"),
                                     ("--algorithm", "vargmm-s", "var-gmm-s"),
                                     ("--seeding", "two-levle", "two-level"),
                                     ("--measure", "smaple", "sample")):
            self.refuse(2, ["fit", data, "-k", 3, option, typed], f'{option} is "{typed}"',
                        "must be one of", f"did you mean {meant}?")
        self.refuse(2, ["fit", data, "-k", 3, "--family", "zzz"], "must be one of", "full.")
        self.refuse(2, ["coreset", data, "-m", 5, "--method", "unifrom", "-o", self.path("c.npz")],
                    "did you mean uniform?")
        self.refuse(2, ["fit", data, "--xyzzy"], "vem fit --help")
        self.refuse(2, ["sample", data, "-n", 0, "-o", self.path("s.npy")], r"-n \(--rows\) is 0, but")
        self.refuse(2, ["predict", data, data, "--top", 0], "--top is 0, but")
        self.refuse(2, ["fit", data, "-k", 3, "-Z"], "-Z")
        self.refuse(2, ["fit", data, "-k"], "-k needs a value")
        self.refuse(2, ["fit", data, "-k", 3, "-o", "--json"], "-o needs a value")
        self.refuse(2, ["fit", data, "-k", 3, "--json=1"], "--json takes no value")
        self.refuse(2, ["fit", data, "-k", 3, "--labels="], "--labels is empty")
        self.refuse(2, ["fit", data], "number of clusters", "-k")
        self.refuse(2, ["fit"], "DATA is missing")
        self.refuse(2, ["generate", "separated", "birch-grid"], "too many")
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
                (["-k", "1e-3"], [r"1e-3"]), (["-k", "1e30"], [r"1e30"]),
                (["-k", "10-1"], [r"10-1", "such as 2-20"]), (["-k", "2,3,x"], [r"2,3,x", "5,10,20"]),
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
        self.assertEqual(result["seconds"]["tree"], 0)

    def test_the_tree_has_its_own_time(self):
        rows, _ = blobs()
        told = self.json("fit", self.npy("x.npy", rows), "-k", 3, "--cells", 60, "-o",
                         self.path("m.npz"))["seconds"]
        self.assertGreater(told["tree"], 0)
        parts = ("read", "reduce", "seed", "em", "tree", "measure")
        self.assertLessEqual(sum(told[part] for part in parts), told["total"])

    @unittest.skipUnless(os.path.exists("/proc/self/status"), "the peak is getrusage's")
    def test_peak_is_its_own(self):
        rows, _ = blobs()
        data, large = self.npy("x.npy", rows), b"x" * 400_000_000
        result = self.json("fit", data, "-k", 3, "-o", self.path("m.npz"))
        self.assertLess(result["peak_bytes"], len(large) / 2)

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
        self.assertEqual([line[:16].strip() for line in text.splitlines()[1:]],
                         ["clusters", "sizes", "outcome", "time", "model"])
        self.assertRegex(text, r"sizes +least \d+ rows, median \d+, largest \d+; none empty\n")
        for words in ("300 rows, 2 columns", "free energy", "MiB", "not written"):
            self.assertIn(words, text)
        twins = self.npy("twins.npy", [[float(i % 6), 0.0] for i in range(300)])
        text = self.vem("fit", twins, "-k", 5, "--algorithm", "kmeans", "--seeding", "random",
                        "--empty", "keep", "--seed", 1).stdout
        self.assertRegex(text, r"sizes +least 0 rows, .*; [1-4] empty\n")
        why = self.vem("fit", data, "-k", 3, "-v").stdout
        self.assertLessEqual(max(map(len, why.splitlines()[1:])), 80)
        for words in ("chosen", "pairs", "seeding", "--swaps 0 for none"):
            self.assertNotIn(words, text)
            self.assertIn(words, why)
        self.assertIn("family iso-shared, the model behind k-means; --family diag or full for other "
                      "shapes.", self.json("fit", data, "-k", 3)["choices"])

    def test_one_is_not_many(self):
        data = self.npy("x.npy", [row[:1] for row in blobs()[0]])
        text = self.vem("fit", data, "-k", 1, "--max-steps", 1).stdout
        self.assertIn("300 rows, 1 column\n", text)
        self.assertIn("after 1 step;", text)

    def test_notes_are_shown_without_asking(self):
        data = self.npy("x.npy", blobs()[0])
        words = "all 300 rows are fitted: a coreset of 400 would be no smaller."
        self.assertIn(words, self.vem("fit", data, "-k", 3, "--coreset", 400).stdout)
        self.assertEqual(self.json("fit", data, "-k", 3, "--coreset", 400)["notes"], [words])

    def test_a_floor_that_is_raised_is_said(self):
        data = self.npy("x.npy", blobs()[0])
        words = ["fit", data, "-k", 3, "--family", "full", "--floor"]
        self.assertIn("--floor 1e-12 is raised to 1.19e-07", self.json(*words, 1e-12)["notes"][0])
        self.assertEqual(self.json(*words, 1e-6)["notes"], [])

    def test_quiet_and_verbose(self):
        data = self.npy("x.npy", blobs()[0])
        done = self.vem("fit", data, "-k", 3, "-q", "-o", self.path("m.npz"))
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        done = self.vem("fit", data, "-k", 3, "-v")
        self.assertIn("threads", done.stderr)
        self.assertRegex(done.stderr, r"step +free energy")
        done = self.vem("fit", data, "-k", 3, "-q", "-v", "-o", self.path("m.npz"))
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        # Each step of each restart, in order.
        done = self.vem("fit", data, "-k", 3, "-v", "--restarts", 3, "--algorithm", "kmeans")
        table = [line.split()[0] for line in done.stderr.splitlines()
                 if re.match(r" +(step|\d+) +\S", line)]
        self.assertEqual(table.count("step"), 3)
        self.assertEqual(table.count("1"), 3)

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
        self.assertEqual(self.column("l.csv", "label"), labels)

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


# ---- predict, score, info -------------------------------------------------------------------

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
        self.assertEqual((result["search"], result["recall"], result["recall_rows"]),
                         ("scan", 1, 0))  # few clusters
        self.assertEqual((result["approximate"], result["note"], result["recall_least"]),
                         (False, None, 1))
        self.assertEqual(result["scored_pairs"], result["n"] * result["clusters"])
        self.vem("predict", self.model, self.data, "--exact", "-o", self.path("p.csv"))
        self.assertEqual(self.column("p.csv", "label"), self.labels)
        out = self.vem("predict", self.model, self.data, "-q").stdout
        self.assertEqual([int(x.split(",")[1]) for x in out.splitlines()[1:]], self.labels)

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
        for recall in ("0", "1.5", "nan", "x"):
            self.refuse(2, ["predict", self.model, self.data, "--recall", recall, "-o", out],
                        "--recall is " + recall)
        self.refuse(2, ["predict", self.data, self.model, "-o", out], "model comes first")
        self.refuse(2, ["predict", self.model, self.data, "-o", self.path("p.xyz")], "npy csv")
        self.refuse(2, ["predict", self.model, self.data, "-o", self.data], "is the input")
        self.refuse(1, ["predict", self.path("none.npz"), self.data, "-o", out], "none.npz")
        wide = self.npy("w.npy", [[1.0, 2.0, 3.0]] * 5)
        message = self.refuse(1, ["predict", self.model, wide, "-o", out], "3", "2")
        self.assertIn("column", message)
        self.refuse(1, ["score", self.model, wide], "3", "2")
        short = self.npy("t.npy", [0, 1], "<i8")
        self.refuse(1, ["score", self.model, self.data, "--truth", short], "2 labels", "300 rows")
        with open(self.model, "rb") as file:
            torn = self.write("torn.npz", file.read()[:-40])
        self.refuse(1, ["predict", torn, self.data, "-o", out], "torn.npz")

    def test_score(self):
        truth = self.npy("t.npy", [c * 1000 - 7 for c in self.truth], "<i8")
        plain = self.json("score", self.model, self.data)
        self.assertIsNone(plain["nmi"])
        result = self.json("score", self.model, self.data, "--truth", truth)
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
        # Weights that a flat prior keeps at 1/C are not fitted, and not counted.
        flat = self.path("flat.npz")
        self.json("fit", self.data, "-k", 3, "--family", "full", "--prior", "flat", "-o", flat)
        flat = self.json("score", flat, self.data)
        self.assertEqual(flat["parameters"], 15)
        bic = 15 * math.log(300) - 2 * 300 * flat["log_likelihood"]
        self.assertAlmostEqual(flat["bic"] / bic, 1, delta=1e-12)
        held = self.json("score", self.model, self.data, "--held", 1)
        self.assertLess(held["free_energy"], held["log_likelihood"])
        text = self.vem("score", self.model, self.data, "--truth", truth).stdout
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
        text = self.vem("info", data).stdout
        self.assertIn("row 7, column 2", text)
        self.assertEqual([column["missing"] for column in result["columns"]], [0, 1])
        self.assertEqual([line.split()[-1] for line in text.splitlines()[1:4]], ["missing", "0", "1"])

    def test_many_columns(self):
        data = self.npy("x.npy", [[0.5] * 50] * 3, "<f4")
        self.assertIn("30 more columns", self.vem("info", data).stdout)
        self.assertEqual(len(self.json("info", data)["columns"]), 50)


class Singular(Case):
    def test_one_of_everything(self):
        """No "1 rows": a number and its noun come from one place."""
        data, model = self.npy("one.npy", [[1.0]]), self.path("one.npz")
        stats, few = self.path("stats.npz"), self.path("few.npz")
        said = []
        for words in (["generate", "birch-grid", "-k", 1, "-n", 1, "-o", self.path("g.npy")],
                      ["fit", data, "-k", 1, "-o", model, "-q"],
                      ["fit", self.npy("two.npy", [[1.0], [2.0]]), "-k", 1, "-v",
                       "--threads", 1],
                      ["fit", data, "--init", model, "--accumulate", stats],
                      ["merge", stats, "-o", self.path("next.npz")],
                      ["coreset", data, "-m", 1, "-o", few],
                      ["predict", model, data, "-o", self.path("l.npy")],
                      ["score", model, data], ["info", data], ["info", model],
                      ["info", stats], ["describe", model, data]):
            done = self.vem(*words)
            said.append(done.stdout + done.stderr)
        wrong = re.findall(r"\b1 (?:rows|columns|clusters|parts|threads|steps)\b.*",
                           "\n".join(said))
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    main()
