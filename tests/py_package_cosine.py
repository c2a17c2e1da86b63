#!/usr/bin/env python3
"""KMeans(metric='cosine')."""
import pickle
import unittest

from package_case import Case, blobs, command

import numpy as np
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import vem


def unit(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Cosine(Case):
    def setUp(self):
        super().setUp()
        self.X = blobs() * np.random.RandomState(1).lognormal(0, 2, size=(1000, 1))

    def test_fit(self):
        for kind in (np.float32, np.float64):
            X = self.X.astype(kind)
            km = vem.KMeans(8, metric="cosine", random_state=0).fit(X)
            self.assertEqual(km.cluster_centers_.dtype, kind)
            np.testing.assert_allclose(np.linalg.norm(km.cluster_centers_, axis=1), 1, atol=1e-6)
            cosines = unit(X) @ np.asarray(km.cluster_centers_, np.float64).T
            best = cosines.max(axis=1)
            np.testing.assert_allclose(cosines[np.arange(1000), km.labels_], best, atol=1e-6)
            self.assertAlmostEqual(km.inertia_, 2 * (1 - best).sum(), delta=1e-3)
            self.assertAlmostEqual(km.score(X), -km.inertia_, delta=1e-3)
            self.assertGreaterEqual(km.inertia_, 0)
            np.testing.assert_array_equal(km.predict(X), km.labels_)
            np.testing.assert_array_equal(km.predict(X * kind(4)), km.labels_)
            np.testing.assert_allclose(1 - km.transform(X) ** 2 / 2, cosines, atol=1e-5)
            again = pickle.loads(pickle.dumps(km))
            np.testing.assert_array_equal(again.predict(X), km.labels_)
            np.testing.assert_array_equal(clone(km).fit(X).labels_, km.labels_)
            self.assertEqual(km.report_["options"]["metric"], "cosine")

    def test_sizes(self):
        X = self.X * np.where(np.arange(1000) % 2, 1e200, 1e-200)[:, None]
        km = vem.KMeans(8, metric="cosine", random_state=0).fit(X)
        self.assertTrue(np.isfinite(km.transform(X)).all())
        self.assertTrue(np.isfinite(km.cluster_centers_).all())

    def test_as_the_command(self):
        np.save(self.path("x.npy"), self.X)
        km = vem.KMeans(8, metric="cosine", random_state=3).fit(self.X)
        command("fit", self.path("x.npy"), "-k", 8, "--metric", "cosine", "--seed", 3, "--family",
                "iso-shared", "--held", 1, "--max-steps", 301, "--tolerance", 1e-4, "-q", "-o",
                self.path("m.npz"))
        np.testing.assert_array_equal(np.load(self.path("m.npz"))["means"], km.cluster_centers_)
        km.save(self.path("k.npz"))
        found = vem.load(self.path("k.npz"))
        self.assertEqual(found.metric, "cosine")  # as it would be fitted again
        np.testing.assert_array_equal(found.predict(self.X), km.labels_)
        self.assertIn("cosine", command("info", self.path("k.npz")))

    def test_starts_weights_batches(self):
        km = vem.KMeans(3, metric="cosine", init=self.X[:3], random_state=0).fit(self.X)
        np.testing.assert_allclose(np.linalg.norm(km.cluster_centers_, axis=1), 1, atol=1e-12)
        weights = np.random.RandomState(2).randint(0, 3, size=1000)
        a = vem.KMeans(4, metric="cosine", random_state=0).fit(self.X, sample_weight=weights)
        b = vem.KMeans(4, metric="cosine", random_state=0).fit(np.repeat(self.X, weights, axis=0))
        self.assertAlmostEqual(a.inertia_, b.inertia_, places=6)
        km = vem.KMeans(4, metric="cosine", random_state=0)
        for first in range(0, 1000, 250):
            km.partial_fit(self.X[first : first + 250])
        np.testing.assert_allclose(np.linalg.norm(km.cluster_centers_, axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(km)).predict(self.X),
                                      km.predict(self.X))

    def test_changed_centers(self):
        km = vem.KMeans(4, metric="cosine", random_state=0).fit(self.X)
        before = km.predict(self.X)
        km.cluster_centers_ = km.cluster_centers_ * 7  # a direction is no longer
        np.testing.assert_array_equal(km.predict(self.X), before)

    def test_refusals(self):
        X = self.X.copy()
        X[6] = 0
        for learn in ("fit", "partial_fit"):
            with self.assertRaisesRegex(ValueError, "Row 7 has no value but 0.*metric"):
                getattr(vem.KMeans(4, metric="cosine", random_state=0), learn)(X)
        km = vem.KMeans(4, metric="cosine", random_state=0).fit(self.X)
        for ask in (km.predict, km.score, km.transform):
            with self.assertRaisesRegex(ValueError, "[Rr]ow 7"):
                ask(X)
        with self.assertRaisesRegex(ValueError, "metric is 'cos', but"):
            vem.KMeans(4, metric="cos").fit(self.X)
        with self.assertRaisesRegex(ValueError, "standardize"):
            vem.KMeans(4, metric="cosine", standardize=True).fit(self.X)
        self.assertNotIn("metric", vem.GaussianMixture().get_params())

    def test_scikit_learn(self):
        """Some of its checks have rows of zeros: these are refused, and nothing else is."""
        for estimator, check in check_estimator(vem.KMeans(3, metric="cosine"),
                                                generate_only=True):
            try:
                check(estimator)
            except (ValueError, AssertionError) as why:
                self.assertIn("no direction", f"{why} {why.__cause__}")


if __name__ == "__main__":
    unittest.main()
