#!/usr/bin/env python3
"""What vem select says of numbers that mean less than they seem to: of samples, of floors, of columns that
are constant, of values that were missing; and what it says instead of a refusal that helps nobody."""
from cli_case import *


class Said(Case):
    def notes(self, *words):
        return " ".join(self.json(*words)["notes"])

    def test_paths_of_samples(self):
        """The chosen mixture has the numbers that were measured; those of a sample are marked."""
        data, model, other = self.npy("x.npy", blobs(n=20000)[0]), self.path("m.npz"), self.path("o.npz")
        words = ("select", data, "--cells", 256, "--max-clusters", 6, "-o", model)
        said = self.json(*words)
        chosen = [p for p in said["path"] if p["clusters"] == said["clusters"]][0]
        for key in ("log_likelihood", "bic", "aic", "icl", "log_likelihood_se"):
            self.assertEqual(chosen[key], said[key], key)
        self.assertEqual(chosen["log_likelihood_se"], 0)
        sampled = [p for p in said["path"] if p["log_likelihood_se"] > 0]
        self.assertEqual(len(sampled), len(said["path"]) - 1)
        lines = self.vem(*words).stdout.splitlines()
        self.assertTrue(any("~ of a sample of the rows" in line for line in lines), lines)
        for p in said["path"]:
            line = [text for text in lines if re.match(rf" +{p['clusters']} +-", text)][0]
            self.assertEqual("~" in line, p["log_likelihood_se"] > 0, line)
        for p in said["path"]:
            told = self.vem("select", "--pick", p["clusters"], model, "-o", other).stdout
            self.assertEqual("of a sample" in told, p["log_likelihood_se"] > 0, told)
            picked = self.json("select", "--pick", p["clusters"], model, "-o", other)
            self.assertEqual(picked["log_likelihood_se"], p["log_likelihood_se"])
        small = self.vem("select", self.npy("y.npy", blobs(n=300)[0])).stdout
        self.assertNotIn("~", small)

    def test_floors(self):
        """A likelihood that the floor makes is no evidence for a number of clusters."""
        rows = blobs(n=300, clusters=2)[0]
        heap = self.npy("heap.npy", rows + [[40.0, 40.0]] * 30)
        for words in (("--method", "greedy"), ("--method", "sweep")):
            text = " ".join(self.vem("select", heap, *words, "--max-clusters", 3).stdout.split())
            self.assertIn("how sure BIC", text)
            self.assertIn("what --floor makes of clusters", text)
            self.assertNotIn("clearly better", text)
            plain = self.vem("select", self.npy("x.npy", rows), *words, "--max-clusters", 3).stdout
            self.assertNotIn("--floor", plain)
        constant = self.npy("c.npy", [[*row, 1.0] for row in rows])
        text = self.vem("select", constant, "--method", "greedy", "--max-clusters", 4).stdout
        self.assertNotIn("makes of clusters", text)  # as it does of all others

    def test_a_flat_cluster_in_both(self):
        """What the floor gives both of two mixtures is no reason to doubt the choice between them."""
        r = random.Random(0)
        rows = [[r.gauss(x, 1), r.gauss(y, 1) if x or y else 0.0]
                for x, y in ((0, 0), (30, 0), (0, 30), (30, 30)) for _ in range(300)]
        data = self.npy("four.npy", rows)
        for words in (("--method", "greedy", "--max-clusters", 8),
                      ("--method", "sweep", "--family", "diag", "--max-clusters", 6, "--holdout", 0.2)):
            text = " ".join(self.vem("select", data, *words).stdout.split())
            self.assertRegex(text, "how sure [A-Za-z-]+ of 4 clusters is", words)
            self.assertNotIn("makes of clusters", text, words)

    def test_even_weights(self):
        """Weights of a model to start from are kept by no search, which finds its own."""
        data = self.npy("e.npy", blobs(n=100)[0])
        for method in ("bayes", "greedy", "sweep"):
            self.refuse(2, ["select", data, "--method", method, "--prior", "even"], "--prior is even", "leave")

    def test_constant_columns(self):
        rows = blobs(n=300)[0]
        data = self.npy("c.npy", [[row[0], 7.25, row[1]] for row in rows])
        for words in (("select",), ("select", "--method", "vb"), ("select", "--method", "icl"), ("fit", "-k", 3, "--family", "full")):
            self.assertRegex(self.notes(*words, data), "column 2 is constant", words)
        self.assertNotIn("constant", self.notes("select", self.npy("x.npy", rows)))

    def test_means_for_missing_values(self):
        rows = blobs(n=300)[0]
        text = "".join(f"{'' if i % 10 == 3 else row[0]},{row[1]}\n" for i, row in enumerate(rows))
        data = self.write("x.csv", text)
        for words in (("select", data), ("fit", data, "-k", 3), ("fit", data, "-k", "2-4")):
            said = self.notes(*words, "--header", "no", "--missing", "mean")
            self.assertIn("30 missing values are the means of their columns", said)
            self.assertIn("--missing drop", said)
            self.assertNotIn("means of their", self.notes(*words, "--header", "no", "--missing", "drop"))
        few = self.write("y.csv", "".join(f"{'' if i == 3 else row[0]},{row[1]}\n" for i, row in enumerate(rows)))
        self.assertNotIn("means of their", self.notes("select", few, "--header", "no", "--missing", "mean"))

    def test_sweeps_of_kmeans(self):
        data = self.npy("x.npy", blobs(n=300)[0])
        said = self.notes("fit", data, "-k", "2-4")
        self.assertIn("these are k-means, family iso-shared with equal weights", said)
        self.assertIn("--family full --prior free", said)
        self.assertNotIn("k-means", self.notes("fit", data, "-k", "2-4", "--family", "full", "--prior", "free"))
        self.refuse(2, ["fit", data, "-k", "2-4", "--restarts", 5], "fit the number that is found with --restarts")

    def test_forecasts(self):
        """Nobody knows how many rounds a search has; what inserts or sweeps knows its numbers."""
        data = self.npy("x.npy", blobs(n=300)[0])
        self.assertIn(" and at least 1 second; rounds", self.vem("select", data, "-v").stderr)
        for method in ("greedy", "sweep"):
            self.assertIn(" and about 1 second\n", self.vem("select", data, "--method", method, "-v").stderr)

    def test_refusals(self):
        data = self.npy("x.npy", blobs(n=300)[0])
        sparse = self.write("x.mtx", "%%MatrixMarket matrix coordinate integer general\n4 3 4\n"
                                     "1 1 2\n2 3 1\n3 2 5\n4 1 1\n")
        self.refuse(1, ["select", sparse], "--method sweep --family multinomial")
        self.refuse(1, ["tree", sparse], "a tree takes dense ones")
        self.assertNotIn("needs about", self.vem("tree", sparse, code=1).stderr)
        for several in ("10-2", "2:6", "2..6", "5,"):
            self.refuse(2, ["fit", data, "-k", several], f'-k is "{several}", but', "a range such as 2-20")
        self.refuse(2, ["select", data, "-k", 3], "--max-clusters", "--pick", "vem fit -k")

    def test_trees(self):
        data, tree = self.npy("x.npy", blobs(n=60)[0]), self.path("t.npz")
        self.assertRegex(self.vem("tree", data, "-o", tree).stdout, r"\n  family +full; columns in their own units\n")
        text = self.vem("tree", data, "--standardize", "--family", "diag").stdout
        self.assertRegex(text, r"\n  family +diag; columns of variance 1\n")
        text = self.vem("tree", data, "--method", "single", "--normalize").stdout
        self.assertRegex(text, r"\n  distances +rows of length 1\n")
        self.assertIn("with: vem tree", self.vem("info", tree).stdout)
        for verb in (["describe", tree], ["predict", tree, data]):
            self.refuse(2, verb, "is a tree, but a model is wanted here", "--clusters K")

    def test_names_of_the_energy(self):
        data, model, other = self.npy("x.npy", blobs(n=300)[0]), self.path("m.npz"), self.path("o.npz")
        for method, name in (("bayes", "log evidence"), ("greedy", "free energy")):
            self.vem("select", data, "--method", method, "-o", model)
            self.assertIn(f", {name} ", self.vem("info", model).stdout)
            self.assertIn(f", {name} ", self.vem("select", "--pick", 2, model, "-o", other).stdout)
            self.assertIn(f", {name} ", self.vem("info", other).stdout)


if __name__ == "__main__":
    main()
