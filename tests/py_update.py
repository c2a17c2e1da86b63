#!/usr/bin/env python3
"""vem update: clusters keep their numbers, those that are no longer needed find another place."""
import numpy as np

from cli_case import *


class Update(Case):
    """Sixty blobs far from each other; a model of the first fifty meets rows of the last fifty."""
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.centers = random.normal(0, 100, (60, 4))
        def rows(first):
            return self.centers[first + np.arange(5000) % 50] + random.normal(size=(5000, 4))
        self.old, self.new = rows(0), rows(10)
        for name, x in (("old.npy", self.old), ("new.npy", self.new)):
            np.save(self.path(name), x)
        self.vem("fit", self.path("old.npy"), "-k", 50, "-o", self.path("m.npz"), "-q")
        self.before = np.load(self.path("m.npz"))["means"]

    def update(self, rows, *options):
        said = self.json("update", self.path("m.npz"), self.path(rows), "-o", self.path("n.npz"), *options)
        return said, np.load(self.path("n.npz"))["means"]

    def test_ids_stay(self):
        said, after = self.update("new.npy", "--drift", self.path("d.csv"))
        blob = ((self.before[:, None] - self.centers) ** 2).sum(2).argmin(1)
        now = ((after[:, None] - self.centers) ** 2).sum(2).argmin(1)
        self.assertEqual(sorted(now), list(range(10, 60)))
        stays = blob >= 10
        np.testing.assert_array_equal(now[stays], blob[stays])
        # A blob that is gone and one that is new may be each other's nearest.
        moved = np.isin(np.arange(50), said["moved"])
        self.assertGreater(moved.sum(), 0)
        self.assertFalse((moved & stays).any())
        far = np.linalg.norm(after - self.before, axis=1)
        np.testing.assert_allclose(said["drift"], far, rtol=1e-12)
        self.assertLess(far[stays].max(), 2)
        table = np.loadtxt(self.path("d.csv"), delimiter=",", skiprows=1)
        np.testing.assert_allclose(table, np.column_stack((far, moved)), rtol=1e-12)
        text = self.vem("update", self.path("m.npz"), self.path("new.npy"), "-o", self.path("n.npz")).stdout
        self.assertIn(f"{50 - moved.sum()} clusters stayed", text)
        self.assertIn(f"{moved.sum()} are in another place", text)
        self.assertIn("vem update " + self.path("new.npy") + ":", text)

    def test_labels_go_with_numbers(self):
        self.update("new.npy", "--labels", self.path("l.npy"))
        self.vem("predict", self.path("n.npz"), self.path("new.npy"), "-o", self.path("p.npy"))
        np.testing.assert_array_equal(np.load(self.path("l.npy")), np.load(self.path("p.npy")))

    def test_same_rows(self):
        said, after = self.update("old.npy")
        self.assertEqual(said["moved"], [])
        np.testing.assert_allclose(after, self.before, atol=1e-6)

    def test_prior_stays(self):
        """Weights that were fitted are fitted again, equal ones stay equal, and on the same rows nothing moves."""
        random = np.random.default_rng(4)
        x = random.normal(size=(3000, 8)) + random.integers(0, 5, (3000, 1)) * 4
        np.save(self.path("x.npy"), x.astype("f4"))
        for options, equal in ((("--prior", "free"), False), (("--family", "diag", "--prior", "flat"), True)):
            self.vem("fit", self.path("x.npy"), "-k", 20, *options, "--tolerance", 1e-7, "-o", self.path("m.npz"), "-q")
            fitted = np.load(self.path("m.npz"))["weights"]
            said, _ = self.update("x.npy", "--swaps", 0)
            weights = np.load(self.path("n.npz"))["weights"]
            self.assertEqual(np.ptp(weights) == 0, equal)
            np.testing.assert_allclose(weights, fitted, atol=2e-3)
            self.assertLess(np.median(said["drift"]), 0.05)

    def test_no_swaps(self):
        said, _ = self.update("new.npy", "--swaps", 0)
        other, _ = self.update("new.npy")
        self.assertLess(said["free_energy"], other["free_energy"])

    def test_standardized(self):
        """Means are near to each other as the fit sees them, whatever the units of the columns."""
        noise = np.random.default_rng(7).normal(size=(5000, 1))
        for name, rows in (("s.npy", self.old), ("t.npy", self.old + 1)):
            np.save(self.path(name), np.hstack((rows, 1e6 * noise)))
        self.vem("fit", self.path("s.npy"), "-k", 50, "--standardize", "-o", self.path("m.npz"), "-q")
        before = np.load(self.path("m.npz"))["means"]
        said, after = self.update("t.npy", "--swaps", 0)
        self.assertEqual(said["moved"], [])
        far = np.linalg.norm(after - before, axis=1)
        np.testing.assert_allclose(said["drift"], far, rtol=1e-9) # in the units of the data
        # By these units the fifth column would be all that counts.
        nearest = ((after[:, None] - before) ** 2).sum(2).argmin(1)
        self.assertTrue((nearest != np.arange(50)).any())

    def test_other_models(self):
        """Units, lengths and families are the model's."""
        counts = np.random.default_rng(6).poisson(3, (400, 3)) * (1 + np.arange(400) % 2)[:, None]
        np.save(self.path("c.npy"), counts)
        for options in (["--standardize"], ["--normalize"], ["--metric", "cosine"], ["--family", "full"],
                        ["--family", "diag"]):
            self.vem("fit", self.path("old.npy"), "-k", 7, *options, "-o", self.path("m.npz"), "-q")
            said, after = self.update("old.npy")
            self.assertEqual(len(said["drift"]), 7, options)
            self.assertTrue(np.isfinite(after).all())
            # An update has no --metric: that of the model is nothing to note.
            self.assertFalse([note for note in said["notes"] if "--metric" in note])
            if "--family" in options:
                self.assertEqual(said["family"], options[1])
        self.vem("fit", self.path("c.npy"), "-k", 2, "--family", "poisson", "-o", self.path("m.npz"), "-q")
        self.assertEqual(self.update("c.npy")[0]["moved"], [])

    def test_refused(self):
        new = self.path("new.npy")
        self.refuse(2, ("update", new, self.path("m.npz")), "the model comes first")
        self.refuse(2, ("update", self.path("m.npz"), new, "-k", 3), "-k")
        self.refuse(2, ("update", self.path("m.npz"), new, "--empty", "drop"), "--empty")
        self.refuse(2, ("update", self.path("m.npz"), new, "--drift", self.path("d.txt")), "npy csv")
        self.refuse(2, ("update", self.path("m.npz"), new, "-o", self.path("m.npz")), "input")
        np.save(self.path("w.npy"), self.new[:, :3])
        self.refuse(1, ("update", self.path("m.npz"), self.path("w.npy")), "columns")


if __name__ == "__main__":
    unittest.main()
