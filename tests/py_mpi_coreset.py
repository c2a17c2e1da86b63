#!/usr/bin/env python3
"""Several processes draw the coreset that one draws, each from its own rows, and on it they do whatever
one process does: all searches, seedings and families, swaps, starts, cells, numbers of clusters."""
from mpi_case import *


class Coresets(MpiCase):
    def draws(self, processes, *words):
        told = self.same(processes, "coreset", *words, files=(("-o", ".npz"),))
        self.assertGreater(told["n"], told["items"])

    def test_coreset(self):
        """Pieces of 8,192 rows: the second and the last process have none of their own."""
        a = self.data("a.npy", 40001, 3, 12, "f4")
        self.draws(3, a, "-m", 900)
        self.draws(5, a, "-m", 900, "--weights", self.weights(40001))
        self.draws(2, a, "-m", 900, "--weights", self.weights(40001), "--method", "uniform")
        self.draws(3, a, "-m", 30000, "--method", "uniform")
        self.draws(8, self.data("few.npy", 900, 3, 4, "f8"), "-m", 300)
        x = np.clip(10 * rows(9000, 100, 8, "f8", seed=8) + 120, 0, 255)
        for kind in ("u1", "f4"):
            np.save(self.path("x.npy"), x.astype(kind))
            self.draws(3, self.path("x.npy"), "-m", 500)

    def test_bad_rows(self):
        x = rows(40000, 3, 4, "f4", seed=6)
        words = ("-q", "-m", 100, "-o", self.path("c.npz"))
        for value, at in ((math.nan, 30000), (3e38, 20000)):
            y = x.astype("f8") if value > 0 else x.copy()
            y[at, 1] = y[39000, 2] = value if value != value else value * 1e270
            np.save(self.path("x.npy"), y)
            one = self.vem("coreset", self.path("x.npy"), *words, code=1).stderr
            self.assertIn(f"Row {at + 1}, column 2", one)
            self.assertIn(self.sentence(one),
                          self.run_many(3, "coreset", self.path("x.npy"), *words, code=1)[1])
        self.assertFalse(os.path.exists(self.path("c.npz")))

    def test_fits(self):
        a = self.data("a.npy", 40001, 5, 12, "f4")
        few, many = ("--coreset", 1500), ("--coreset", 4000)
        self.fits(a, (1, 3, 5), "-k", 5, *few)  # starts on a sample, swaps
        self.fits(a, (2,), "-k", 70, *many, "--measure", "--restarts", 2)  # groups
        self.fits(a, (3,), "-k", 5, *few, "--family", "full", "--measure", "sample")
        self.fits(a, (2,), "-k", 4, *few, "--family", "diag", "--standardize")
        self.fits(a, (3,), "-k", 20, "--algorithm", "vc-gmm", *many, "--weights", self.weights(40001))
        self.fits(a, (2,), "-k", 6, "--algorithm", "greedy", *few)
        self.fits(a, (3,), "-k", 6, "--algorithm", "kd-em", *many)
        self.fits(a, (2,), "-k", 80, *many, "--balance", "soft", "--normalize")
        np.save(self.path("p.npy"), np.random.default_rng(1).poisson(2, (20000, 6)).astype("u1"))
        self.fits(self.path("p.npy"), (3,), "-k", 3, *few, "--family", "poisson", "--measure")

    def test_numbers_of_clusters(self):
        a = self.data("a.npy", 40001, 5, 12, "f4")
        found = (("-o", ".npz"), ("--labels", ".npy"))
        for p, words in ((3, ("fit", a, "-k", "2-4", "--holdout", 0.2, "--family", "full")),
                         (2, ("select", a, "--max-clusters", 6)),
                         (3, ("select", a, "--max-clusters", 6, "--method", "bayes"))):
            self.same(p, *words, "--coreset", 700, files=found, json_of=self.without_seconds)

    def without_seconds(self, told):
        for point in told["path"]:
            point.pop("seconds", None)
        return told

    def test_states(self):
        a = self.data("a.npy", 40001, 5, 12, "f4")
        self.keeps(a, "-k", 70, "--coreset", 4000, pairs=((3, 2), (0, 3), (2, 0)))

    def test_time(self):
        """Enough of it changes nothing."""
        a = self.data("a.npy", 40001, 5, 12, "f4")
        models = []
        for p, time in ((0, ()), (3, ("--time", 1e6))):
            self.run_any(p, "fit", a, "-k", 70, "--coreset", 4000, "-q", "-o", self.path("m.npz"), *time)
            models.append(npz_parse(self.path("m.npz")))
            models[-1].pop("meta", None)
        self.assertEqual(*models)


if __name__ == "__main__":
    run_tests()
