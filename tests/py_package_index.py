#!/usr/bin/env python3
"""hierarchy, spill and update: the same bits as the command writes."""
import json
import unittest

from package_case import Case, blobs, command

import numpy as np

import vem


class Index(Case):
    def setUp(self):
        super().setUp()
        self.X = blobs().astype(np.float32)
        np.save(self.path("rows.npy"), self.X)
        self.km = vem.KMeans(64, random_state=3).fit(self.X)

    def test_hierarchy(self):
        command("fit", self.path("rows.npy"), "-k", "64", "--family", "iso-shared", "--held", "1", "--seed",
                "3", "-o", self.path("model.npz"), "--hierarchy", self.path("levels.npz"), "--levels", "3")
        found = vem.hierarchy(self.km, n_levels=3)
        with np.load(self.path("levels.npz")) as file:
            for name in found._fields:
                np.testing.assert_array_equal(getattr(found, name), file[name], name)
        self.assertEqual(np.bincount(found.levels).tolist(), [64, 16, 4])
        inner = found.parents >= 0
        self.assertTrue((found.levels[found.parents[inner]] == found.levels[inner] + 1).all())
        self.assertTrue((found.levels[~inner] == 2).all())
        np.testing.assert_array_equal(found.vectors[:64].astype(np.float32),
                                      self.km.cluster_centers_)
        self.assertEqual(np.bincount(vem.hierarchy(self.km).levels).tolist(), [64, 8])
        other = vem.hierarchy(self.km, random_state=4)
        self.assertFalse(np.array_equal(other.vectors, vem.hierarchy(self.km).vectors))
        for wrong in (1, 9, 0, 2.5, "two"):
            with self.assertRaisesRegex(ValueError, "n_levels"):
                vem.hierarchy(self.km, n_levels=wrong)
        with self.assertRaises(TypeError):
            vem.hierarchy(self.X)
        counts = vem.PoissonMixture(2, random_state=0).fit(np.arange(40).reshape(20, 2))
        with self.assertRaisesRegex(ValueError, "distance"):
            vem.hierarchy(counts)

    def test_spill(self):
        vem.save(self.km, self.path("model.npz"))
        command("predict", self.path("model.npz"), self.path("rows.npy"), "--spill", "1.5", "-o", self.path("lists.npz"))
        lists = vem.spill(self.km, self.X, 1.5)
        with np.load(self.path("lists.npz")) as file:
            np.testing.assert_array_equal(lists, file["clusters"])
        np.testing.assert_array_equal(lists[:, 0], self.km.labels_)
        self.assertTrue((lists[:, 0] != lists[:, 1]).all())
        second = np.argsort(self.km.transform(self.X), axis=1)[:, 1]
        self.assertGreater((vem.spill(self.km, self.X, 0)[:, 1] == second).mean(), 0.999)
        np.testing.assert_array_equal(lists, vem.spill(self.km, self.path("rows.npy"), 1.5))
        for wrong in (-1, np.nan, "much"):
            with self.assertRaisesRegex(ValueError, "weight"):
                vem.spill(self.km, self.X, wrong)
        with self.assertRaisesRegex(ValueError, "one cluster"):
            vem.spill(vem.KMeans(1).fit(self.X), self.X)

    def later(self):
        """Rows of which those of three clusters are gone, and others are there."""
        gone = np.isin(self.km.labels_, [0, 1, 2])
        new = self.X[~gone][:50] * 0.1 + np.float32(40)
        return np.vstack([self.X[~gone], new])

    def test_update(self):
        later = self.later()
        np.save(self.path("later.npy"), later)
        vem.save(self.km, self.path("model.npz"))
        told = json.loads(command("update", self.path("model.npz"), self.path("later.npy"), "-o", self.path("new.npz"), "--seed",
                                  "3", "--json", "-q", "--labels", self.path("labels.npy")))
        before = self.km.cluster_centers_.copy()
        found = vem.update(self.km, later)
        with np.load(self.path("new.npz")) as file:
            np.testing.assert_array_equal(found._state["means"], file["means"])
        np.testing.assert_array_equal(found.drift_, told["drift"])
        self.assertEqual(np.flatnonzero(found.moved_).tolist(), told["moved"])
        self.assertTrue(found.moved_[:3].all())
        self.assertFalse(found.moved_.all())
        np.testing.assert_array_equal(found.labels_, np.load(self.path("labels.npy")))
        np.testing.assert_array_equal(found.predict(later), found.labels_)
        self.assertAlmostEqual(-found.score(later), found.inertia_, delta=1e-5 * found.inertia_)
        np.testing.assert_array_equal(self.km.cluster_centers_, before)  # it stays as it was
        self.assertIs(type(found), vem.KMeans)
        self.assertEqual(found.get_params(), self.km.get_params())
        loaded = vem.load(self.path("model.npz"))
        self.assertEqual(vem.update(loaded, later).cluster_centers_.shape, before.shape)

    def test_parameters(self):
        later = self.later()
        self.assertFalse(vem.update(self.km.set_params(n_swaps=0), self.X).moved_.any())
        self.km.set_params(n_swaps=None)
        short = vem.update(self.km.set_params(max_iter=1), later)
        self.assertEqual(short.n_iter_, 1)
        self.km.set_params(max_iter=300)
        twice = vem.update(self.km, later, sample_weight=np.full(len(later), 2.0))
        self.assertAlmostEqual(twice.inertia_, 2 * vem.update(self.km, later).inertia_,
                               delta=1e-2 * twice.inertia_)
        with self.assertRaises(ValueError):
            vem.update(self.km, later[:, :2])
        with self.assertRaises(TypeError):
            vem.update(later, later)

    def test_mixtures(self):
        gm = vem.GaussianMixture(4, covariance_type="diag", random_state=0).fit(self.X)
        found = vem.update(gm, self.X + np.float32(0.01))
        self.assertIs(type(found), vem.GaussianMixture)
        self.assertFalse(found.moved_.any())
        np.testing.assert_allclose(found.means_, gm.means_, atol=0.1)
        self.assertTrue(found.converged_)
        self.assertEqual(found.predict_proba(self.X).shape, (len(self.X), 4))

    def test_families(self):
        told = json.loads(command("select", self.path("rows.npy"), "--families", "full,iso", "--seed",
                                  "0", "-o", self.path("chosen.npz"), "--json", "-q"))
        found = vem.select(self.X, covariance_type=["full", "spherical"], random_state=0)
        self.assertEqual(found.n_clusters_, told["clusters"])
        self.assertEqual({"full": "full", "iso": "spherical"}[told["family"]],
                         found.covariance_type_)
        self.assertEqual(found.covariance_type_, "spherical")  # of which the blobs are
        with np.load(self.path("chosen.npz")) as file:
            np.testing.assert_array_equal(found._state["means"], file["means"])
        for wrong in ([], ["full", "full"], ["full", "round"]):
            with self.assertRaisesRegex(ValueError, "covariance_type"):
                vem.select(self.X, covariance_type=wrong)

    def test_loaded_as_fitted(self):
        """What comes from a file is the estimator that went there, and fits the same again."""
        file = self.path("kept.npz")
        for asked in ({}, {"balance": 1.0}, {"balance": "auto"}, {"metric": "cosine"}, {"normalize": True},
                      {"standardize": True}, {"standardize": True, "balance": "soft"}):
            km = vem.KMeans(8, random_state=0, **asked).fit(self.X)
            vem.save(km, file)
            found = vem.load(file)
            self.assertEqual(found.get_params(), vem.KMeans(8, **asked).get_params(), asked)
            np.testing.assert_array_equal(found.predict(self.X), km.predict(self.X))
            found.set_params(random_state=0).fit(self.X)
            np.testing.assert_array_equal(found.cluster_centers_, km.cluster_centers_)
            np.testing.assert_array_equal(found.labels_, km.labels_)
        gm = vem.GaussianMixture(3, covariance_type="diag", normalize=True, random_state=0).fit(self.X)
        vem.save(gm, file)
        self.assertEqual(vem.load(file).get_params(), gm.set_params(random_state=None).get_params())

    def test_true_is_no_number(self):
        for asked in ({"balance": True}, {"n_swaps": True}, {"margin": np.True_}):
            with self.assertRaisesRegex(ValueError, "number"):
                vem.KMeans(8, **asked).fit(self.X)

    def test_units_of_lists(self):
        """Lists are those of an index, which knows the means and no scale."""
        X = self.X * np.logspace(0, 3, self.X.shape[1])
        km = vem.KMeans(16, standardize=True, random_state=0).fit(X)
        nearest = ((X[:, None] - km.cluster_centers_) ** 2).sum(2).argmin(1)
        self.assertTrue((nearest != km.labels_).any())
        np.testing.assert_array_equal(vem.spill(km, X, 1.0)[:, 0], nearest)
        levels = vem.hierarchy(km)
        above = levels.vectors[16:]
        parents = ((levels.vectors[:16, None] - above) ** 2).sum(2).argmin(1)
        np.testing.assert_array_equal(levels.parents[:16], 16 + parents)

    def test_cosine(self):
        km = vem.KMeans(8, metric="cosine", random_state=0).fit(self.X)
        found = vem.update(km, self.X * np.float32(3))
        np.testing.assert_allclose(np.linalg.norm(found.cluster_centers_, axis=1), 1, atol=1e-6)
        self.assertFalse(found.moved_.any())


if __name__ == "__main__":
    unittest.main()
