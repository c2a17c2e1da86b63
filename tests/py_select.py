#!/usr/bin/env python3
"""vem select: the table, the path in the file, other mixtures taken from it, and what is refused."""
import json
import os
import signal
import subprocess
import zipfile

from cli_case import *

GREEDY = ("--method", "greedy")


class Select(Case):
    def data(self, n=300, name="x.npy"):
        return self.npy(name, blobs(n=n)[0])

    def test_path_and_pick(self):
        data, model, other = self.data(), self.path("m.npz"), self.path("other.npz")
        found = self.json("select", data, "--method", "greedy", "--max-clusters", 6, "-o", model)
        self.assertEqual(found["command"], "select")
        self.assertEqual(found["method"], "greedy")
        path = found["path"]
        self.assertEqual([p["clusters"] for p in path], list(range(1, 7)))
        best = min(path, key=lambda p: p["bic"])
        self.assertEqual(found["clusters"], best["clusters"])
        self.assertEqual(found["bic"], best["bic"])
        self.assertEqual(found["clusters"], 3)  # as many as there are blobs
        for before, after in zip(path, path[1:]):
            self.assertGreaterEqual(after["free_energy"], before["free_energy"])
        # The chosen model, as any reader sees it.
        score = self.json("score", model, data)
        self.assertEqual(score["clusters"], 3)
        self.assertAlmostEqual(score["bic"], best["bic"], delta=1e-6)
        arrays = npz_parse(model)
        self.assertEqual(arrays["path_means"][0], (21, 2))
        self.assertEqual(arrays["path_variances"][0], (21, 2, 2))
        for p in path:
            said = self.json("select", "--pick", p["clusters"], model, "-o", other)
            self.assertEqual(said["bic"], p["bic"])
            score = self.json("score", other, data)
            self.assertEqual(score["clusters"], p["clusters"])
            for key in ("log_likelihood", "bic", "aic", "icl", "parameters"):
                self.assertAlmostEqual(score[key], p[key], delta=1e-8 * max(1, abs(p[key])))
            self.assertNotIn("path_means", npz_parse(other))

    def test_words(self):
        text = self.vem("select", self.data(), *GREEDY, "--max-clusters", 4, "-o", self.path("m.npz")).stdout
        self.assertRegex(text, r"\n  clusters +free energy +log-lik\. +BIC +AIC +ICL\n")
        self.assertEqual(len(re.findall(r"chosen by BIC", text)), 1)
        self.assertEqual(self.vem("select", self.data(), *GREEDY, "-q").stdout, "")
        log = self.vem("select", self.data(3000), "--threads", 1, env=self.ticking(0.5)).stderr
        self.assertRegex(log, r"dividing: \d+ clusters? so far, F = -")
        self.assertNotRegex(log, r"dividing: .*(%|left)")  # nobody knows how many rounds follow
        lines = [line for line in log.splitlines() if "dividing" in line]
        self.assertTrue(all(a != b for a, b in zip(lines, lines[1:])), log)  # each says something new
        log = self.vem("select", self.data(3000), *GREEDY, "--max-clusters", 20, "--threads", 1,
                       env=self.ticking(0.5)).stderr
        self.assertRegex(log, r"vem: fitting: \d+/20 clusters, step \d+")
        text = self.vem("select", self.data(), *GREEDY, "--min-clusters", 4, "--max-clusters", 5, "-v").stdout
        self.assertIn("4 clusters, the least BIC of 4 to 5 clusters", " ".join(text.split()))

    def test_families_weights_and_coresets(self):
        rows = blobs(n=400)[0]
        data = self.npy("x.npy", rows)
        weights = self.npy("w.npy", [[1 + i % 2] for i in range(len(rows))])
        for family in ("iso", "diag", "full", "iso-shared", "diag-shared", "full-shared"):
            found = self.json("select", data, *GREEDY, "--family", family, "--max-clusters", 4, "--weights",
                              weights)
            self.assertEqual(found["clusters"], 3, family)
        found = self.json("select", data, *GREEDY, "--coreset", 100, "--max-clusters", 4, "--labels",
                          self.path("l.npy"), "-o", self.path("m.npz"))
        self.assertEqual(found["items"], 100)
        score = self.json("score", self.path("m.npz"), data)  # of all rows
        self.assertAlmostEqual(score["log_likelihood"], found["log_likelihood"], delta=1e-9)
        self.assertEqual(found["path"][found["clusters"] - 1]["log_likelihood"],
                         found["log_likelihood"])
        self.assertEqual(len(set(self.labels("l.npy"))), 3)

    def labels(self, name):
        raw = self.read(name)
        return struct.unpack(f"<{400}i", raw[-1600:])

    def test_time_and_interrupts(self):
        data = self.data(20000)
        timed = self.json("select", data, *GREEDY, "--max-clusters", 200, "--time", 0.5, "--threads", 1,
                          env=self.ticking(2e-4))
        self.assertEqual(timed["outcome"], "budget")
        self.assertLess(len(timed["path"]), 200)
        self.assertTrue(any("the path ends with" in note for note in timed["notes"]), timed["notes"])
        text = self.vem("select", data, *GREEDY, "--max-clusters", 200, "--time", 0.5, "--threads", 1,
                        env=self.ticking(2e-4)).stdout
        self.assertIn("tried: the search was ended, and others may be better", text)
        self.refuse(1, ["select", data, *GREEDY, "--time", 1e-9, "-o", self.path("m.npz")], "--time was over")
        # Ctrl-C keeps what there is.
        process = subprocess.Popen([VEM, "select", data, *GREEDY, "--max-clusters", "300", "-v", "-o",
                                    self.path("m.npz")], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.wait_for_line(process.stderr, "insert 1")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 130)
        self.assertIn("stopped by Ctrl-C", out)
        self.assertIn("chosen by BIC", out)
        self.vem("select", "--pick", 1, self.path("m.npz"), "-o", self.path("one.npz"))
        self.assertEqual(self.json("info", self.path("one.npz"))["clusters"], 1)

    def test_checkpoint(self):
        data, state = self.data(), self.path("state")
        words = ["select", data, *GREEDY, "--max-clusters", 5]
        whole = self.json(*words)
        first = self.json(*words, "--checkpoint", state)
        again = self.json(*words, "--checkpoint", state, "--resume")
        self.assertEqual(first["path"], whole["path"])
        self.assertEqual(again["path"], whole["path"])
        # The state of another verb: it has no path.
        fit = ["fit", data, "-k", 5, "--algorithm", "greedy", "--checkpoint", state, "--resume"]
        self.refuse(2, fit, "--tolerance was 0.0001")
        self.refuse(1, [*fit, "--tolerance", 1e-4], "state")

    def test_the_last_insertions_are_counted_once(self):
        """Those that a search ended with: whoever goes on from there does not try them again."""
        data, state, found = self.data(), self.path("end"), []
        for more in ([], ["--resume"]):
            told = self.json("select", data, *GREEDY, "--family", "full", "--max-clusters", 40, "--trace",
                             self.path("t.csv"), "--checkpoint", state, *more)
            self.assertLess(len(told["path"]), 40)
            found.append((told["path"], told["scored_pairs"], self.column("t.csv", "pairs")))
        self.assertEqual(found[1], found[0])

    def test_refusals(self):
        data, model = self.data(), self.path("m.npz")
        self.refuse(2, ["select", data, "--method", "greddy"], "did you mean greedy")
        self.refuse(2, ["select", data, *GREEDY, "--max-clusters", 0], "--max-clusters is 0")
        self.refuse(2, ["select", data, *GREEDY, "--min-clusters", 5, "--max-clusters", 3],
                    "--min-clusters is 5")
        self.refuse(2, ["select", data, *GREEDY, "-k", 3], "-k")
        self.refuse(2, ["fit", data, "-k", 3, "--algorithm", "greedy", "--swaps", 2], "--swaps is 2")
        self.refuse(2, ["fit", data, "-k", 3, "--algorithm", "greedy", "--seeding", "afkmc2"],
                    "--seeding is afkmc2", "no seeds")
        self.vem("fit", data, "-k", 3, "--algorithm", "greedy", "--seeding", "random")
        self.vem("fit", data, "-k", 2, "-o", model, "-q")
        self.refuse(1, ["select", "--pick", 2, model, "-o", self.path("o.npz")], "holds no path")
        self.vem("select", data, *GREEDY, "--max-clusters", 3, "-o", model, "-q")
        self.refuse(2, ["select", "--pick", 9, model, "-o", self.path("o.npz")],
                    "no mixture of 9 clusters", "1 to 3")
        self.refuse(2, ["select", "--pick", 2, model], "-o OTHER.npz")
        self.refuse(2, ["select", "--pick", 2, model, data, "-o", self.path("o.npz")], "one file")
        self.assertFalse(os.path.exists(self.path("o.npz")))

    def test_pick_ignores_nothing(self):
        """What a mixture taken out of a file has no use for is refused by name."""
        data, model, out = self.data(), self.path("m.npz"), self.path("o.npz")
        self.vem("select", data, *GREEDY, "--max-clusters", 3, "-o", model, "-q")
        words = ["select", "--pick", 2, model, "-o", out]
        for more in (["--method", "greedy"], ["--min-clusters", 2], ["--max-clusters", 3],
                     ["--weights", data], ["--columns", "1"], ["--id", "1"], ["--header", "no"],
                     ["--decimal", "."], ["--missing", "drop"], ["--labels", self.path("l.npy")],
                     ["--trace", self.path("t.csv")], ["--checkpoint", self.path("state")],
                     ["--resume"], ["--family", "diag"], ["--prior", "free"], ["--cells", 100],
                     ["--coreset", 100], ["--measure"], ["--standardize"], ["--normalize"],
                     ["--time", 5], ["--memory", "1G"], ["--threads", 2], ["--seed", 4]):
            self.refuse(2, words + more, f"{more[0]} cannot stand beside --pick")
            self.refuse(2, words[:1] + more + words[1:], f"{more[0]} cannot stand beside --pick")
        for name in ("o.npz", "l.npy", "t.csv", "state"):
            self.assertFalse(os.path.exists(self.path(name)), name)
        self.assertEqual(self.vem(*words, "-q", "-v").stdout, "")
        self.assertEqual(self.json(*words)["clusters"], 2)

    def test_a_damaged_path(self):
        model = self.path("m.npz")
        self.vem("select", self.data(), *GREEDY, "--max-clusters", 3, "-o", model, "-q")
        with open(model, "rb") as file:
            raw = file.read()
        for cut in (len(raw) // 3, len(raw) - 40):
            self.write("cut.npz", raw[:cut])
            self.refuse(1, ["select", "--pick", 2, self.path("cut.npz"), "-o", self.path("o.npz")],
                        "cut.npz")

    def changed(self, model, array, place, value):
        """The file with one number of an array changed."""
        out = self.path("changed.npz")
        with zipfile.ZipFile(model) as old, zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                raw = old.read(name)
                if name == array + ".npy":
                    at = 10 + int.from_bytes(raw[8:10], "little") + 8 * place
                    raw = raw[:at] + struct.pack("<d", value) + raw[at + 8:]
                new.writestr(name, raw)
        return out

    def test_broken_mixtures_are_named(self):
        model = self.path("m.npz")
        self.vem("select", self.data(), *GREEDY, "--max-clusters", 3, "-o", model, "-q")
        for array, place, value, words in (
                ("path_weights", 4, -1.0, "changed.npz .* mixture of 3 clusters .number 3 of 3."),
                ("path_means", 3, float("nan"), "changed.npz .* mixture of 2 clusters .number 2 of 3."),
                ("path_variances", 0, -1.0, "changed.npz .* mixture of 1 cluster .number 1 of 3."),
                ("path_clusters", 1, 1.0, "changed.npz .* path_clusters do not ascend .1 after 1."),
                ("path_clusters", 2, 2.5, "changed.npz .* array path_clusters"),
                ("path_steps", 1, -4.0, "changed.npz .* array path_steps")):
            broken = self.changed(model, array, place, value)
            self.refuse(1, ["select", "--pick", 1, broken, "-o", self.path("o.npz")], words)
            self.refuse(1, ["info", broken], words)
            self.vem("score", broken, self.data())  # the model itself is right

    def test_info_tells_of_the_path(self):
        model = self.path("m.npz")
        self.vem("select", self.data(), *GREEDY, "--min-clusters", 2, "--max-clusters", 4, "-o", model, "-q")
        self.assertEqual(self.json("info", model)["path"], [1, 2, 3, 4])
        self.assertRegex(self.vem("info", model).stdout,
                         r"\n  path +4 mixtures, of 1 to 4 clusters; that of 3 is the model")
        self.vem("select", "--pick", 2, model, "-o", self.path("two.npz"), "-q")
        self.assertIsNone(self.json("info", self.path("two.npz"))["path"])
        self.assertNotIn("path", self.vem("info", self.path("two.npz")).stdout.split("made")[0])

    def test_greedy_preset(self):
        data = self.data()
        found = self.json("fit", data, "-k", 3, "--algorithm", "greedy", "--trace",
                          self.path("t.csv"))
        self.assertEqual((found["clusters"], found["family"]), (3, "full"))
        self.assertEqual(self.read("t.csv").count(b",insert,1,"), 2)
        few = self.npy("few.npy", [[0.0, 1.0]] * 9 + [[2.0, 1.0]] * 9)
        self.refuse(1, ["fit", few, "-k", 3, "--algorithm", "greedy"], "distinct rows")


if __name__ == "__main__":
    main()
