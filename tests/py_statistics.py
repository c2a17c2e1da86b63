#!/usr/bin/env python3
"""Rows drawn from a mixture, and all probabilities, against numpy. Exit status 77 (skipped) where
numpy is not installed."""
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("numpy is not installed: skipped")
    sys.exit(77)

from cli_case import Case, main

FAMILIES = ("iso-shared", "iso", "diag", "full")


def mixture(family, clusters, d, seed, weights=None):
    rng = np.random.default_rng(seed)
    model = {"means": 10 * rng.standard_normal((clusters, d)),
             "weights": rng.dirichlet(np.full(clusters, 3.0)) if weights is None else weights}
    if family == "iso-shared":
        model["variances"] = np.array([1.7])
    elif family == "iso":
        model["variances"] = rng.uniform(0.5, 3, clusters)
    elif family == "diag":
        model["variances"] = rng.uniform(0.1, 9, (clusters, d))
    else:
        a = rng.standard_normal((clusters, d, d))
        model["variances"] = a @ a.transpose(0, 2, 1) + 0.3 * np.eye(d)
    return model


def covariance(model, family, c, scale=None):
    d = model["means"].shape[1]
    v = model["variances"]
    if family in ("iso-shared", "iso"):
        return np.diag(v[0 if family == "iso-shared" else c] * (np.ones(d) if scale is None else scale ** 2))
    return np.diag(v[c]) if family == "diag" else v[c]


class Sample(Case):
    def draw(self, model, n, *more, **arrays):
        np.savez(self.path("m.npz"), **model, **arrays)
        report = self.json("sample", self.path("m.npz"), "-n", n, "-o", self.path("x.npy"),
                           "--labels", self.path("l.npy"), *more)
        self.assertEqual((report["n"], report["d"]), (n, model["means"].shape[1]))
        return np.load(self.path("x.npy")), np.load(self.path("l.npy"))

    def check(self, model, family, x, labels, scale=None):
        """Means and covariances of every cluster within 5 standard errors, counts by chi-square."""
        n, clusters = len(x), len(model["weights"])
        counts = np.bincount(labels, minlength=clusters)
        expected = n * model["weights"]
        inside = expected > 0
        self.assertTrue((counts[~inside] == 0).all())
        chi = np.sum((counts - expected)[inside] ** 2 / expected[inside])
        self.assertLess(chi, clusters + 5 * np.sqrt(2 * clusters))
        for c in np.flatnonzero(inside):
            rows, cov = x[labels == c], covariance(model, family, c, scale)
            sd, m = np.sqrt(np.diag(cov)), len(rows)
            self.assertTrue((np.abs(rows.mean(0) - model["means"][c]) < 5 * sd / np.sqrt(m)).all())
            found = np.cov(rows.T).reshape(cov.shape)
            error = np.sqrt((cov ** 2 + np.outer(sd, sd) ** 2) / m)
            self.assertTrue((np.abs(found - cov) < 5 * error).all(), (family, c))
            # Squared lengths are chi-square with D degrees of freedom: the third moment too.
            z = np.linalg.solve(np.linalg.cholesky(cov), (rows - model["means"][c]).T)
            self.assertLess(abs(np.mean(z ** 4) - 3), 5 * np.sqrt(96 / z.size))
            self.assertLess(abs(np.mean(z ** 3)), 5 * np.sqrt(15 / z.size))

    def test_moments_of_every_family(self):
        for family in FAMILIES:
            for d in (1, 3):
                with self.subTest(family=family, d=d):
                    weights = np.array([0.1, 0, 0.4, 0.3, 0.2, 0])
                    model = mixture(family, 6, d, seed=d, weights=weights)
                    self.check(model, family, *self.draw(model, 20000, "--seed", 3))

    def test_scaled_model(self):
        model, scale = mixture("iso", 3, 2, seed=4), np.array([100.0, 0.01])
        x, labels = self.draw(model, 9000, scale=scale)
        self.check(model, "iso", x, labels, scale)

    def test_same_rows_for_any_threads_and_number(self):
        model = mixture("full", 4, 5, seed=9)
        x, labels = self.draw(model, 3000, "--threads", 1)
        y, more = self.draw(model, 3500, "--threads", 3)
        self.assertEqual(x.tobytes(), y[:3000].tobytes())
        self.assertEqual(labels.tobytes(), more[:3000].tobytes())
        z, _ = self.draw(model, 3000, "--seed", 2)
        self.assertFalse((x == z).any())

    def test_what_is_wrong_is_said(self):
        np.savez(self.path("m.npz"), **mixture("iso", 3, 2, seed=4))
        model, out = self.path("m.npz"), self.path("x.npy")
        self.refuse(2, ["sample", model, "-o", out], "number of rows is missing")
        self.refuse(2, ["sample", model, "-n", 0, "-o", out], r"-n \(--rows\) is 0")
        self.refuse(2, ["sample", model, "-n", 5], "-o OUT.npy")
        self.refuse(2, ["sample", model, "-n", 5, "-o", model], "npy")
        self.refuse(2, ["sample", model, "-n", 5, "-o", out, "--labels", out], "same file")
        self.refuse(1, ["sample", self.path("none.npz"), "-n", 5, "-o", out], "none.npz")
        self.vem("sample", model, "-n", 5, "-o", self.path("x.csv"))


class Posterior(Case):
    def test_all_probabilities(self):
        for family, clusters in (("full", 5), ("diag", 130), ("iso", 70)):
            with self.subTest(family=family):
                model = mixture(family, clusters, 3, seed=1)
                np.savez(self.path("m.npz"), **model)
                x = 10 * np.random.default_rng(2).standard_normal((400, 3))
                np.save(self.path("x.npy"), x)
                logs = np.empty((400, clusters))
                for c in range(clusters):
                    cov = covariance(model, family, c)
                    off = x - model["means"][c]
                    logs[:, c] = (np.log(model["weights"][c]) - 0.5 * np.linalg.slogdet(cov)[1]
                                  - 0.5 * np.sum(off * np.linalg.solve(cov, off.T).T, 1))
                logs -= logs.max(1, keepdims=True)
                expected = np.exp(logs) / np.exp(logs).sum(1, keepdims=True)
                report = self.json("predict", self.path("m.npz"), self.path("x.npy"), "--top", "all",
                                   "-o", self.path("p.npy"))
                self.assertEqual((report["top"], report["search"]), (clusters, "scan"))
                dense = np.load(self.path("p.npy"))
                self.assertEqual((dense.shape, dense.dtype), ((400, clusters), np.float64))
                np.testing.assert_allclose(dense, expected, atol=1e-9)
                np.testing.assert_allclose(dense.sum(1), 1, rtol=1e-12)
                self.vem("predict", self.path("m.npz"), self.path("x.npy"), "--top", "all",
                         "--exact", "-o", self.path("p.npz"))
                with np.load(self.path("p.npz")) as soft:
                    order, chance = soft["clusters"], soft["probabilities"]
                self.assertEqual(order.shape, (400, clusters))
                self.assertTrue((np.diff(chance, axis=1) <= 0).all())
                self.assertTrue((np.sort(order, axis=1) == np.arange(clusters)).all())
                np.testing.assert_array_equal(np.take_along_axis(dense, order, 1), chance)

    def test_endings(self):
        np.savez(self.path("m.npz"), **mixture("iso", 3, 2, seed=4))
        np.save(self.path("x.npy"), np.zeros((5, 2)))
        words = ["predict", self.path("m.npz"), self.path("x.npy"), "-o", self.path("p.npy")]
        self.refuse(2, [*words, "--top", 3], "npz csv")
        self.refuse(2, [*words, "--top", "al"], "or all")


if __name__ == "__main__":
    main()
