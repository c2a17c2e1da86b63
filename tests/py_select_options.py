#!/usr/bin/env python3
"""vem select and sweeps of vem fit by their options: priors, numbers, rows held out, families, and what
they tell of themselves."""

from cli_case import *

MOVES = {"split", "join", "split and join", "resplit", "settle", "soften", "beside"}


class Options(Case):
    def data(self, n=150, name="x.npy", **more):
        return self.npy(name, blobs(n=n, **more)[0])

    def counts(self, name="c.npy"):
        chance = random.Random(3)
        rows = [[float(chance.randint(0, 3) + (9 if (i % 2) == j else 0)) for j in range(2)]
                for i in range(60)]
        return self.npy(name, rows)

    def meta(self, name):
        shape, code, values = npz_parse(self.path(name))["meta"]
        return json.loads(bytes(int(v) for v in values))

    def test_priors(self):
        data = self.data()
        plain = self.json("select", data)
        self.assertEqual(plain["clusters"], 3)
        # Numbers, lists and files say the same.
        self.npy("mean.npy", [[1.0, 2.0]])
        self.write("scale.csv", "4,0.5\n0.5,3\n")
        said = [self.json("select", data, "--prior-mean", mean, "--prior-scale", scale, "--prior-strength",
                          0.02, "--prior-dof", 4, "--prior-count", 1.5)
                for mean, scale in (("1,2", self.path("scale.csv")), (self.path("mean.npy"), "4,0.5,0.5,3"))]
        self.assertEqual(said[0]["objective"], said[1]["objective"])
        self.assertNotEqual(said[0]["objective"], plain["objective"])
        # One number stands for all columns.
        one, two = (self.json("select", data, "--prior-scale", s, "--family", "diag") for s in ("2", "2,2"))
        self.assertEqual(one["objective"], two["objective"])
        # A cluster that is expected to be as wide as all rows is all rows.
        self.assertEqual(self.json("select", data, "--prior-dof", 1e5, "--prior-scale", "1e9")["clusters"], 1)
        # More rows that each cluster is expected to have beside its own: no more clusters.
        self.assertLessEqual(self.json("select", data, "--prior-count", 500)["clusters"], 3)
        for option, value, words in (("--prior-strength", "-1", "positive number"),
                                     ("--prior-strength", "nan", "positive number"),
                                     ("--prior-dof", "x", "positive number"),
                                     ("--prior-dof", "0.5", "degrees of freedom"),
                                     ("--prior-count", "0", "positive number"),
                                     ("--prior-mean", "1,2,3", "3 values, but the data have 2"),
                                     ("--prior-scale", "1,2,2,1", "positive definite"),
                                     ("--prior-scale", "1,2,0,1", "symmetric")):
            self.refuse(2, ["select", data, option, value], words)
        self.refuse(1, ["select", data, "--prior-mean", self.path("none.npy")], "none.npy")
        for method in ("bic", "gmeans", "greedy"):
            self.refuse(2, ["select", data, "--method", method, "--prior-dof", 4], "bayes and vb")

    def test_few_items(self):
        """How many clusters there may be follows the cells or the coreset, where nobody says."""
        data = self.data(n=600)
        for words, most in ((["--cells", 30], 7), (["--cells", 3], 1), (["--coreset", 15], 15),
                            (["--method", "greedy", "--cells", 30], 7), (["--cells", 599], 50)):
            told = self.json("select", data, *words)
            self.assertLessEqual(max(p["clusters"] for p in told["path"]), most)
        self.refuse(2, ["select", data, "--cells", 30, "--max-clusters", 9], "9 clusters need at least 36")
        self.refuse(2, ["select", data, "--method", "greedy", "--min-clusters", 30],
                    "--max-clusters is 20 by default")
        self.refuse(1, ["select", data, "--min-clusters", 601], "600 rows, --min-clusters 601")

    def test_numbers(self):
        data = self.data(n=300, d=3)
        swept = self.json("fit", data, "-k", "2-40", "--family", "diag", "-o", self.path("m.npz"))
        self.assertEqual([p["clusters"] for p in swept["path"]], list(range(2, 41)))
        self.assertEqual((swept["method"], swept["criterion"], swept["clusters"]), ("sweep", "BIC", 3))
        best = min(swept["path"], key=lambda p: p["bic"])
        self.assertEqual(best["clusters"], 3)
        some = self.json("fit", data, "-k", "2,5-6,9", "--family", "diag")
        self.assertEqual([p["clusters"] for p in some["path"]], [2, 5, 6, 9])
        # The first is what a fit finds.
        alone = self.json("fit", data, "-k", 2, "--family", "diag")
        self.assertAlmostEqual(some["path"][0]["free_energy"], alone["free_energy"], delta=1e-6)
        self.refuse(2, ["select", "--pick", 41, self.path("m.npz"), "-o", self.path("o.npz")], "2 to 40")
        self.vem("fit", data, "-k", "2,5-6,9", "--family", "diag", "-o", self.path("m.npz"), "-q")
        self.refuse(2, ["select", "--pick", 7, self.path("m.npz"), "-o", self.path("o.npz")],
                    "those of 2, 5, 6 and 9", r"a fit of that number \(-k 7\)")
        text = self.vem("fit", data, "-k", "2-5", "--family", "diag", "--picture", self.path("p.svg")).stdout
        self.assertRegex(text, r"picture +\S+p\.svg")
        self.assertIn("method sweep: 3 clusters", self.read("p.svg").decode())
        self.refuse(2, ["fit", data, "-k", 2, "--picture", self.path("p.svg")], "as in -k 2-40")
        text = " ".join(self.vem("fit", data, "-k", "2,5-6,9").stdout.split())
        self.assertIn("in all, of several numbers of clusters", text)
        self.assertNotIn("in all", self.vem("fit", data, "-k", 3).stdout)
        self.assertIn("of 2 to 9 clusters", " ".join(self.vem("fit", data, "-k", "2,9", "-v").stdout.split()))
        for numbers in ("5-2", "0-3", "3,", "2-", "a-b"):
            self.refuse(2, ["fit", data, "-k", numbers], "-k is")

    def test_rows_held_out(self):
        data = self.data(n=200)
        words = ["-k", "1-6", "--family", "full", "--holdout", 0.3]
        said = self.json("fit", data, *words, "-o", self.path("m.npz"))
        held = {p["clusters"]: p["held_out"] for p in said["path"]}
        self.assertTrue(all(math.isfinite(v) for v in held.values()))
        best = max(held, key=lambda k: held[k])
        self.assertEqual(said["held_out_clusters"], best)
        text = " ".join(self.vem("fit", data, *words).stdout.split())
        self.assertIn(f"held-out rows most likely with {best} clusters", text)
        self.assertNotIn("held-out rows", self.vem("select", data, "--method", "sweep", "--max-clusters", 1,
                                                   "--holdout", 0.3).stdout)
        self.assertIn("200 rows, 2 columns; 140 rows fitted, the others held out", text)
        self.assertNotIn("held out", self.vem("fit", data, "-k", "1-3").stdout)
        # The file keeps them.
        kept = npz_parse(self.path("m.npz"))["path_held_out"][2]
        self.assertEqual(kept, [held[k] for k in sorted(held)])
        without = self.json("fit", data, "-k", "1-6", "-o", self.path("m.npz"))
        self.assertNotIn("held_out_clusters", without)
        self.assertNotIn("path_held_out", npz_parse(self.path("m.npz")))
        for share in ("1", "-0.1", "x"):
            self.refuse(2, ["fit", data, "-k", "2-3", "--holdout", share], "--holdout")

    def test_families(self):
        data, counts = self.data(), self.counts()
        help_text = " ".join(self.vem("select", "--help").stdout.split())
        self.assertIn("full, diag or iso (bayes, vb, bic, icl)", help_text)
        for method, families in (("bayes", ("full-shared", "poisson")), ("bic", ("iso-shared", "bernoulli")),
                                 ("gmeans", ("full", "multinomial")), ("greedy", ("poisson",))):
            for family in families:
                said = self.refuse(2, ["select", counts, "--method", method, "--family", family],
                                   f"--family is {family}", f"--method {method}",
                                   "sweep takes any family, greedy any of Gaussian clusters"
                                   if family in ("full", "full-shared", "iso-shared") else "sweep takes any family")
        self.assertEqual(self.json("select", counts, "--method", "sweep", "--family", "poisson",
                                   "--max-clusters", 4)["family"], "poisson")
        for family in ("iso-shared", "full-shared"):
            self.vem("select", data, "--method", "greedy", "--family", family, "--max-clusters", 3, "-q")

    def test_words(self):
        data = self.data()
        for method in ("bayes", "vb", "kmeans-bic", "gmeans"):
            text = " ".join(self.vem("select", data, "--method", method, "-v").stdout.split())
            self.assertIn("no seeding and no starts", text)
            self.assertNotIn("seeding kmeans++", text)
            self.assertNotIn("starts on all rows", text)
        self.assertIn("a test finds", text)
        text = " ".join(self.vem("fit", data, "-k", "2-4", "-v").stdout.split())
        self.assertIn("each other from the one before it", text)
        said = self.json("select", data, "--method", "gmeans", "--min-clusters", 9)
        self.assertEqual(said["clusters"], 9)
        self.assertTrue(any("to the 9 of --min-clusters" in n for n in said["notes"]))
        five = self.npy("five.npy", [[float(v)] for v, count in enumerate((1, 4, 6, 4, 1)) for _ in range(count)])
        said = self.json("select", five, "--method", "gmeans", "--min-clusters", 9, "--max-clusters", 12)
        text = " ".join(said["notes"])
        self.assertIn("divided on, best first, to 5.", text)
        self.assertNotIn("of --min-clusters", text)
        self.assertIn("that is fewer than --min-clusters 9", text)

    def test_states(self):
        """A search that ended is found again; one with another limit of steps is another one."""
        again = ["--checkpoint", self.path("state"), "--resume", "-q"]
        for method in ("bayes", "vb", "bic", "icl", "gmeans", "kmeans-bic", "greedy"):
            for rows in ([[float(i % 2 * 9 + i % 7 / 5)] for i in range(60)], blobs(n=40)[0]):
                words = ["select", self.npy("s.npy", rows), "--method", method, "-o", self.path("m.npz"), *again]
                whole = self.json(*words, "--max-steps", 20)
                self.assertEqual(self.json(*words, "--max-steps", 20)["objective"], whole["objective"])
                with open(self.path("state"), "rb") as file:
                    state = file.read()
                self.refuse(2, [*words, "--max-steps", 30], "--max-steps 20, which cannot go on with --max-steps 30")
                with open(self.path("state"), "rb") as file:
                    self.assertEqual(file.read(), state)
                os.remove(self.path("state"))

    def test_paths_of_counts(self):
        counts = self.counts()
        for family in ("poisson", "multinomial"):
            said = self.json("fit", counts, "-k", "2-4", "--family", family, "-o", self.path("m.npz"))
            self.assertNotIn("path_variances", npz_parse(self.path("m.npz")))
            for point in said["path"]:
                taken = self.json("select", "--pick", point["clusters"], self.path("m.npz"), "-o", self.path("n.npz"))
                self.assertEqual(taken["bic"], point["bic"])
                score = self.json("score", self.path("n.npz"), counts)
                self.assertAlmostEqual(score["log_likelihood"], point["log_likelihood"], delta=1e-9)

    def test_soft_methods_are_soft(self):
        data = self.data(n=240, clusters=4, gap=4.0)
        for method in ("bic", "vb"):
            plain, asked = (self.json("select", data, "--method", method, *more) for more in ((), ("--finish", "soft")))
            self.assertEqual(plain["path"], asked["path"], method)
            self.assertEqual(plain["free_energy"], asked["free_energy"], method)

    def test_several_families(self):
        data = self.data(n=240, clusters=4, gap=8.0)
        said = self.json("select", data, "--families", "full,diag,iso", "--finish", "soft", "-o", self.path("m.npz"))
        self.assertEqual(said["family"], "iso")
        told = [c for c in said["choices"] if c.startswith("family iso, the largest log evidence of full ")]
        self.assertEqual(len(told), 1, said["choices"])
        self.assertIn("diag", told[0])
        alone = self.json("select", data, "--family", "iso", "--finish", "soft", "-o", self.path("n.npz"))
        self.assertEqual(said["free_energy"], alone["free_energy"])
        self.assertEqual(said["path"], alone["path"])
        self.refuse(2, ["select", data, "--families", "full,round"], "--families is", "round")
        self.refuse(2, ["select", data, "--families", "full,full"], "full twice")
        self.refuse(2, ["select", data, "--families", "full,iso", "--family", "iso"], "only one of the two")
        self.refuse(2, ["select", data, "--families", "full,poisson"], "--families has poisson")

    def test_moves_are_named(self):
        for method in ("bayes", "vb"):
            said = self.json("select", self.data(n=240, clusters=6, gap=6.0), "--method", method, "-o",
                             self.path("m.npz"), "--trace", self.path("t.csv"))
            trace = self.meta("m.npz")["trace"]
            moves = [(s["move"], s["moved"]) for s in trace if s["move"] in MOVES]
            self.assertTrue(any(m == "split" and count > 0 for m, count in moves), moves)
            self.assertEqual(any(m == "soften" for m, _ in moves), method == "vb")
            self.assertTrue(all(math.isfinite(s["free_energy"]) for s in trace))
            self.assertEqual(said["clusters"], 6)
            self.assertIn(b",split", self.read("t.csv"))
        text = " ".join(self.vem("select", self.path("x.npy"), "-v").stdout.split())
        self.assertRegex(text, r"moves (\d+ [a-z ]+( \(\d+ in all\))?, )*\d+ split \(\d+ in all\)")


if __name__ == "__main__":
    main()
