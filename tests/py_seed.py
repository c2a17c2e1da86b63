#!/usr/bin/env python3
"""vem seed: the model that a fit begins with; where a fit from it has the bits of one without."""
from cli_case import *


class Seed(Case):
    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        rows = [[100 + 6 * (i % 5) + rng.gauss(0, 1), 9 * (i % 3) + rng.gauss(0, 1.5)]
                for i in range(600)]
        self.data = self.npy("x.npy", rows, "<f4")
        self.weights = self.npy("w.npy", [0.0 if i % 11 == 0 else rng.uniform(0.1, 3)
                                          for i in range(600)])

    def arrays(self, name):
        found = npz_parse(self.path(name))
        return [found[key][2] for key in ("means", "weights", "variances")]

    def test_is_where_a_fit_begins(self):
        """A fit gives back the model that entered its last step: with one step, the first."""
        for how in (["--algorithm", "kmeans"], ["--algorithm", "kmeans", "--seeding", "random"],
                    ["--algorithm", "kmeans", "--seeding", "afkmc2", "--chain", 5],
                    ["--algorithm", "kmeans", "--weights", self.weights, "--seed", 9],
                    ["--algorithm", "gmm", "--family", "diag"],
                    ["--algorithm", "lwcs-kmeans", "--coreset", 100]):
            self.vem("seed", self.data, "-k", 8, "-o", self.path("s.npz"), "-q", *how)
            self.vem("fit", self.data, "-k", 8, "--max-steps", 1, "-o", self.path("f.npz"), "-q",
                     *how)
            ours, theirs = self.arrays("s.npz"), self.arrays("f.npz")
            self.assertEqual(ours[:2], theirs[:2], how)
            if how[:2] == ["--algorithm", "kmeans"] and "--seeding" not in how:
                self.assertEqual(ours, theirs, how)  # these seedings know the variance

    def test_goes_on_to_the_same_bits(self):
        for how in (["--algorithm", "kmeans"], ["--algorithm", "kmeans", "--precision", "double"],
                    ["--algorithm", "kmeans", "--seeding", "random", "--weights", self.weights],
                    ["--algorithm", "kmeans-c", "--held", 3]):
            self.vem("seed", self.data, "-k", 8, "-o", self.path("s.npz"), "-q", *how)
            for name, start in (("a.npz", ["-k", 8]), ("b.npz", ["--init", self.path("s.npz")])):
                self.vem("fit", self.data, *start, "-o", self.path(name), "-q", *how)
            self.assertEqual(self.arrays("a.npz"), self.arrays("b.npz"), how)

    def test_what_it_says(self):
        told = self.json("seed", self.data, "-k", 4, "-o", self.path("s.npz"), "--seed", 3)
        self.assertEqual([told[key] for key in ("command", "n", "d", "clusters", "seed", "output")],
                         ["seed", 600, 2, 4, 3, self.path("s.npz")])
        info = self.vem("info", self.path("s.npz")).stdout
        self.assertIn("after 0 steps", info)
        self.assertIn("seed 3, 600 rows", info)
        self.assertIn("4 clusters at rows of 600 rows, seed 1",
                      self.vem("seed", self.data, "-k", 4, "-o", self.path("s.npz")).stdout)
        self.assertEqual(len(set(self.arrays("s.npz")[1])), 1)
        written = set()
        for threads in (1, 2, 3):
            self.vem("seed", self.data, "-k", 4, "-o", self.path("t.npz"), "-q", "--threads", threads)
            written.add(str(self.arrays("t.npz")))
        self.assertEqual(len(written), 1)

    def test_sentences(self):
        out = ["-o", self.path("s.npz")]
        self.refuse(2, ["seed", self.data, *out], "-k C")
        self.refuse(2, ["seed", self.data, "-k", 4], "-o MODEL.npz")
        self.refuse(2, ["seed", self.data, "-k", 4, "--max-steps", 3, *out], "max-steps")
        self.refuse(2, ["seed", self.data, "-k", 4, "--algorithm", "kmeans", "--family", "full",
                        "--metric", "cosine", *out], "family")
        self.refuse(1, ["seed", self.data, "-k", 601, *out], "fewer rows")
        self.assertFalse(os.path.exists(self.path("s.npz")))


if __name__ == "__main__":
    main()
