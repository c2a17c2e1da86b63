#!/usr/bin/env python3
"""What vem select tells beside its model: how sure the choice is, the picture, flows, stability."""
import json
import os
import signal
import subprocess
import xml.etree.ElementTree as tree
import zipfile

from cli_case import *

GREEDY = ("--method", "greedy")

SVG = "{http://www.w3.org/2000/svg}"


class More(Case):
    def data(self, n=300, name="x.npy", **more):
        return self.npy(name, blobs(n=n, **more)[0])

    def words(self, name):
        """All texts of a picture, which is well-formed."""
        root = tree.fromstring(self.read(name))
        self.assertEqual(root.tag, SVG + "svg")
        texts = [t.text or "" for t in root.iter(SVG + "text")]
        for mark in ("nan", "inf"):
            self.assertNotIn(mark, "".join(e for e in root.itertext()).lower())
            for element in root.iter():
                self.assertFalse(any(mark in v for v in element.attrib.values()), element.attrib)
        return texts

    def test_margins(self):
        data = self.data()
        for method in ("greedy", "bayes", "vb", "bic", "icl", "kmeans-bic"):
            found = self.json("select", data, "--method", method, "--max-clusters", 8)
            lower = found["criterion"] != "log evidence"
            path = {p["clusters"]: p["objective"] for p in found["path"]}
            best = path.pop(found["clusters"])
            self.assertEqual(found["objective"], best)
            sign = -1 if lower else 1
            rest = max(path, key=lambda k: sign * path[k])
            self.assertEqual(found["next"], rest, method)
            self.assertAlmostEqual(found["margin"], sign * (best - path[rest]), delta=1e-9 * abs(best))
            self.assertGreater(found["margin"], 0)
            text = " ".join(self.vem("select", data, "--method", method, "--max-clusters", 8).stdout.split())
            self.assertIn("how sure " + found["criterion"] + " of 3 clusters is", text)
            self.assertIn("chosen by " + found["criterion"], text)
        found = self.json("select", data, "--method", "gmeans")
        self.assertEqual((found["margin"], found["next"]), (None, None))
        self.assertIn("chosen by its test", self.vem("select", data, "--method", "gmeans").stdout)
        # The objective is what its name says.
        found = self.json("select", data, "--method", "bic")
        for p in found["path"]:
            self.assertAlmostEqual(p["objective"], p["bic"], delta=1e-6 * abs(p["bic"]))
        found = self.json("select", data, "--method", "bayes")
        for p in found["path"]:
            self.assertAlmostEqual(p["objective"], p["free_energy"] * found["n"],
                                   delta=1e-9 * abs(p["objective"]))
        # The free energy of a summary is called what it is.
        for method, name in (("bayes", "log evidence"), ("vb", "log evidence"), ("greedy", "free energy"),
                             ("bic", "free energy less what parameters cost"), ("gmeans", "free energy")):
            text = self.vem("select", data, "--method", method, "--max-clusters", 5, "-o", self.path("m.npz")).stdout
            self.assertRegex(text, rf"clusters; {name} -[\d.]+ per row\n")
            text = self.vem("select", "--pick", 3, self.path("m.npz"), "-o", self.path("o.npz")).stdout
            self.assertRegex(text, rf": 3 clusters, {name} -[\d.]+ per row, BIC")
        self.assertRegex(self.vem("select", data, "--finish", "soft").stdout, r"clusters; free energy -[\d.]+ per")
        # Where time was over before a mixture was measured, it has no BIC.
        for tick in (2e-4, 3e-4, 4e-4, 5e-4):
            words = ["select", data, "--time", 0.05, "--threads", 1, "-o", self.path("m.npz")]
            found = self.json(*words, env=self.ticking(tick))
            if found["bic"] is None:
                break
        self.assertIsNone(found["bic"])
        self.assertTrue(all(p["bic"] is None for p in found["path"]), found["path"])
        text = self.vem("select", "--pick", found["path"][0]["clusters"], self.path("m.npz"), "-o",
                        self.path("o.npz")).stdout
        self.assertRegex(text, r"log evidence -[\d.]+ per row\n")
        # Words of odds are for what was tried: here no more than two were.
        text = self.vem("select", data, "--max-clusters", 2).stdout
        self.assertIn("tried: no larger number was tried, and more may be better", text)
        self.assertNotIn("clearly", text)
        self.assertIn("clearly better", self.vem("select", data, "--max-clusters", 5).stdout)
        # And where no insertion raised F: that says nothing of fits of more.
        apart = self.npy("apart.npy", [[i % 2 * 40 + c for c in row]
                                       for i, row in enumerate(blobs(n=40, d=8, clusters=1)[0])])
        words = ["select", apart, *GREEDY, "--family", "iso"]
        found = self.json(*words)
        self.assertEqual((found["clusters"], found["limit"], len(found["path"])), (2, 2, 2))
        text = " ".join(self.vem(*words).stdout.split())
        self.assertIn("the path ends with 2 of 20 clusters: no insertion that was tried raises the free energy", text)
        self.assertIn("--method sweep makes and compares them", text)
        self.assertIn("tried: no larger number was tried, and more may be better", text)
        # Where a limit forbids a better one, that is said.
        words = ["select", data, *GREEDY, "--min-clusters", 5, "--max-clusters", 7]
        self.assertLess(self.json(*words)["margin"], 0)
        self.assertIn("--min-clusters forbids it", self.vem(*words).stdout)
        alone = self.json("select", data, *GREEDY, "--max-clusters", 1)
        self.assertEqual((alone["margin"], alone["next"]), (None, None))
        self.assertNotIn("how sure", self.vem("select", data, *GREEDY, "--max-clusters", 1).stdout)
        # Numbers that may not be chosen are compared with, too.
        self.assertRegex(self.vem("select", self.data(1500, spread=6.0), "--min-clusters", 6).stdout,
                         r"\d clusters? would have a log evidence that is [\d.]+ higher, but --min-clusters")

    def test_tables_are_short(self):
        data = self.data(1500, spread=6.0)
        text = self.vem("select", data, *GREEDY, "--max-clusters", 20).stdout
        self.assertEqual(len(re.findall(r"\n +\d+ +-?\d", text)), 12)
        self.assertIn("... 8 more, from 1 to 20 clusters", text)
        text = self.vem("select", data, *GREEDY, "--max-clusters", 20, "-v").stdout
        self.assertEqual(len(re.findall(r"\n +\d+ +-?\d+[.\d]+ +-?\d+[.\d]+ +", text)), 20)
        self.assertEqual(len(self.json("select", data, *GREEDY, "--max-clusters", 20)["path"]), 20)
        text = self.vem("select", data, "--method", "bayes").stdout
        self.assertRegex(text, r"\n  clusters +log evidence +log-lik\. +BIC +AIC +ICL\n")
        text = self.vem("select", data, "--method", "icl").stdout
        self.assertRegex(text, r"\n  clusters +hard ICL +log-lik\. +BIC +AIC +ICL\n")

    def test_pictures(self):
        data, model = self.data(), self.path("m.npz")
        for method in ("greedy", "bayes", "gmeans"):
            found = self.json("select", data, "--method", method, "--max-clusters", 8, "-o", model,
                              "--picture", self.path("p.svg"))
            texts = self.words("p.svg")
            self.assertIn(f"{found['clusters']} chosen", texts)
            self.assertIn(f"vem select, method {method}: {found['clusters']} clusters", texts)
            self.assertTrue(any(t.startswith("300 rows") for t in texts), texts)
            whole = self.read("p.svg")
            self.vem("select", "--picture", self.path("q.svg"), model)
            texts = self.words("q.svg")
            self.assertIn(f"{found['clusters']} chosen", texts)
            self.assertFalse(any("rows" in t for t in texts), texts)
            for threads in (2, 3):
                self.vem("select", data, "--method", method, "--max-clusters", 8, "--threads", threads,
                         "--picture", self.path("p.svg"), "-q")
                self.assertEqual(self.read("p.svg"), whole)
        said = self.json("select", "--picture", self.path("q.svg"), model)
        for key in ("path", "criterion", "margin", "objective", "clusters"):
            self.assertEqual(said[key], found[key], key)
        # Of many mixtures some are shown, of many clusters the largest.
        rng = random.Random(1)
        many = self.npy("many.npy", [[10 * (c % 9) + rng.gauss(0, 0.3), 10 * (c // 9) + rng.gauss(0, 0.3)]
                                     for c in range(81) for _ in range(20)])
        self.vem("select", many, "--method", "icl", "--picture", self.path("p.svg"), "-q")
        self.assertTrue(any("beyond the 59 largest" in t for t in self.words("p.svg")))
        self.vem("select", self.data(1500, spread=6.0), *GREEDY, "--max-clusters", 20, "--picture", self.path("p.svg"), "-q")
        self.assertTrue(any("10 of 20 mixtures" in t for t in self.words("p.svg")))

    def test_flows(self):
        data = self.data()
        found = self.json("select", data, *GREEDY, "--max-clusters", 5, "--flows")
        self.assertEqual([f["clusters"] for f in found["flows"]], [[1, 2], [2, 3], [3, 4], [4, 5]])
        for f in found["flows"]:
            self.assertAlmostEqual(sum(share for _, _, share in f["shares"]), 1, delta=1e-9)
            for a, b, share in f["shares"]:
                self.assertTrue(0 <= a < f["clusters"][0] and 0 <= b < f["clusters"][1] and share > 0)
        self.assertEqual(len(found["flows"][0]["shares"]), 2)
        # As the mixtures themselves label the rows.
        model, counts = self.path("m.npz"), {}
        self.vem("select", data, *GREEDY, "--max-clusters", 5, "-o", model, "-q")
        labels = []
        for k in (2, 3):
            self.vem("select", "--pick", k, model, "-o", self.path("k.npz"), "-q")
            self.vem("predict", self.path("k.npz"), data, "-o", self.path("l.npy"), "-q")
            labels.append(npy_parse(self.read("l.npy"))[2])
        for pair in zip(*labels):
            counts[pair] = counts.get(pair, 0) + 1 / 300
        shares = {(a, b): share for a, b, share in found["flows"][1]["shares"]}
        self.assertEqual(set(shares), set(counts))
        for pair, share in shares.items():
            self.assertAlmostEqual(share, counts[pair], delta=1e-9)
        plain = self.json("select", data, *GREEDY, "--max-clusters", 5)
        self.assertNotIn("flows", plain)
        self.assertNotIn("stability", plain)
        self.refuse(2, ["select", data, *GREEDY, "--flows"], "--json")

    def test_stability(self):
        data = self.data()
        words = ["select", data, "--method", "bayes", "--stability", 5]
        first = self.json(*words, "--threads", 1)
        s = first["stability"]
        self.assertEqual((s["resamples"], s["done"], s["rows"], s["share"]), (5, 5, 270, 0.9))
        self.assertEqual(s["clusters"], [3] * 5)
        self.assertEqual((s["clusters_mean"], s["clusters_sd"]), (3, 0))
        self.assertAlmostEqual(s["ari_mean"], 1, delta=1e-12)
        for threads in (2, 3):
            self.assertEqual(self.json(*words, "--threads", threads)["stability"], s)
        self.assertEqual(self.json("select", data, "--method", "bayes")["path"], first["path"])
        text = " ".join(self.vem(*words).stdout.split())
        self.assertIn("stability 5 resamples of 270 rows (90 %); clusters found: 3 (5 times) in the mean 3", text)
        self.assertEqual(self.json(*words[:-1], 1)["stability"]["clusters"], [3])
        weights = self.npy("w.npy", [[1 + i % 3] for i in range(300)])
        s = self.json(*words, "--weights", weights)["stability"]
        self.assertEqual(s["clusters"], [3] * 5)
        # A state file is that of the selection, not of a resample.
        state = self.path("state")
        self.vem(*words, "--checkpoint", state, "-q")
        self.assertEqual(self.json(*words, "--checkpoint", state, "--resume")["path"], first["path"])

    def test_stability_within_time(self):
        data = self.data(3000)
        words = ["select", data, *GREEDY, "--stability", 1000, "--max-clusters", 4, "--threads", 1]
        found = self.json(*words, "--time", 5, env=self.ticking(2e-4))
        self.assertEqual(found["clusters"], 3)
        self.assertLess(found["stability"]["done"], 1000)
        text = self.vem(*words, "--time", 5, env=self.ticking(2e-4)).stdout
        self.assertIn("--time was over", text)

    def test_interrupts_keep_the_model(self):
        model = self.path("m.npz")
        process = subprocess.Popen([VEM, "select", self.data(3000), *GREEDY, "--stability", "100000", "-o", model,
                                    "--max-clusters", "4", "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.ticking(0.5))
        self.addCleanup(process.kill)
        self.wait_for_line(process.stderr, "resample 2/100000")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 130)
        found = json.loads(out)
        self.assertGreaterEqual(found["stability"]["done"], 1)
        self.assertEqual(len(found["stability"]["clusters"]), found["stability"]["done"])
        self.assertEqual(self.json("info", model)["clusters"], 3)

    def test_few_rows(self):
        for rows in ([[1.0, 2.0]], [[1.0, 2.0], [3.0, 1.0]], [[0.0, 0.0]] * 5, [[0.0], [1.0], [5.0]]):
            for method in ("greedy", "bayes", "bic", "gmeans"):
                data = self.npy("few.npy", rows)
                found = self.json("select", data, "--method", method, "--stability", 2, "--picture",
                                  self.path("p.svg"), "-o", self.path("m.npz"))
                self.assertEqual(found["stability"]["done"], 2)
                self.assertGreaterEqual(min(found["stability"]["clusters"]), 1)
                self.words("p.svg")

    def test_refusals(self):
        data, model = self.data(), self.path("m.npz")
        for value in (0, -1, "1e30", 99999999999999999999, "x", 2.5):
            self.refuse(2, ["select", data, *GREEDY, "--stability", value, "-o", model], f"--stability is {value}")
        self.refuse(1, ["select", data, *GREEDY, "--picture", self.path("no/p.svg"), "-o", model], "no/p.svg")
        self.refuse(2, ["select", data, *GREEDY, "--picture", self.path("p.png"), "-o", model], r"\.svg")
        self.refuse(2, ["select", data, *GREEDY, "--picture", model, "-o", model], "")
        self.assertFalse(os.path.exists(model))  # refused before the work
        self.vem("select", data, *GREEDY, "--max-clusters", 3, "-o", model, "-q")
        picture = ["select", "--picture", self.path("p.svg")]
        self.refuse(2, [*picture, model, "-o", self.path("o.npz")], "--output cannot stand beside --picture")
        self.refuse(2, [*picture, model, "--stability", 3], "--stability cannot stand beside")
        self.refuse(2, [*picture, model, "--seed", 3], "--seed cannot stand beside")
        self.refuse(2, [*picture, model, model], "one such file")
        self.refuse(2, ["select", "--pick", 2, model, "-o", self.path("o.npz"), "--stability", 2], "--pick")
        self.assertFalse(os.path.exists(self.path("p.svg")))

    def test_older_files_have_paths(self):
        """Versions with one method wrote neither the objective nor who chose."""
        model, old = self.path("m.npz"), self.path("old.npz")
        self.vem("select", self.data(), *GREEDY, "--max-clusters", 4, "-o", model, "-q")
        with zipfile.ZipFile(model) as new, zipfile.ZipFile(old, "w") as out:
            for name in new.namelist():
                if name not in ("path_objective.npy", "path_choice.npy"):
                    out.writestr(name, new.read(name))
        new, said = (self.json("select", "--picture", self.path("p.svg"), file) for file in (model, old))
        for key in ("path", "criterion", "margin", "next"):
            self.assertEqual(said[key], new[key])
        self.assertIn("3 chosen", self.words("p.svg"))

    def test_broken_choices_are_named(self):
        model, broken = self.path("m.npz"), self.path("broken.npz")
        self.vem("select", self.data(), *GREEDY, "--max-clusters", 3, "-o", model, "-q")
        for value in (-1.0, 99.0, 0.5, float("nan")):
            with zipfile.ZipFile(model) as old, zipfile.ZipFile(broken, "w") as out:
                for name in old.namelist():
                    raw = old.read(name)
                    if name == "path_choice.npy":
                        raw = npy_bytes([value, 300.0])
                    out.writestr(name, raw)
            self.refuse(1, ["select", "--picture", self.path("p.svg"), broken], "path_choice")


if __name__ == "__main__":
    main()
