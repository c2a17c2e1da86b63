#!/usr/bin/env python3
"""Weights are repetitions, to the bit; streams, scores, samples, sparse soft assignments."""
import pickle
import warnings

from package_case import Case, blobs, counts, main, np, vem

from sklearn.mixture import GaussianMixture as SkMixture


class Weights(Case):
    def kinds(self):
        X, N = blobs(150, 3, 3), counts(150, 4)
        return [(vem.KMeans(3, random_state=0), X), (vem.GaussianMixture(3, random_state=0), X),
                (vem.BayesianKMeans(5, random_state=0), X),
                (vem.PoissonMixture(3, random_state=0), N),
                (vem.BernoulliMixture(3, random_state=0, binarize=2), N)]

    def test_weight_is_repetition(self):
        rng = np.random.RandomState(1)
        for est, X in self.kinds():
            for w in (rng.randint(0, 4, len(X)), rng.randint(0, 2, len(X)), np.full(len(X), 2)):
                order = rng.permutation(int(w.sum())) if w.max() > 1 else np.arange(w.sum())
                repeated = np.repeat(X, w, axis=0)[order]
                a = est.fit(X, sample_weight=w)
                means, labels = a._state["means"], a.fit_predict(X, sample_weight=w)
                b = est.fit(repeated)
                self.same(means, b._state["means"], type(est).__name__)
                c = est.fit(repeated, sample_weight=np.ones(len(repeated)))
                self.same(means, c._state["means"], type(est).__name__)
                self.same(labels, est.fit(X, sample_weight=w).predict(X))

    def test_weights_in_scores(self):
        X = blobs(200, 3, 3)
        w = np.random.RandomState(0).randint(0, 4, len(X))
        repeated = np.repeat(X, w, axis=0)
        km = vem.KMeans(3, random_state=0).fit(X)
        self.assertAlmostEqual(km.score(X, sample_weight=w), km.score(repeated), places=6)
        gm = vem.GaussianMixture(3, random_state=0).fit(X)
        for name in ("score", "bic", "aic", "icl"):
            verb = getattr(gm, name)
            self.assertAlmostEqual(verb(X, sample_weight=w), verb(repeated), places=6)

    def test_trees_leave_out_rows_without_weight(self):
        X = blobs(60, 2, 2)
        w = np.ones(60)
        w[::7] = 0
        tree = vem.AgglomerativeBayes(2).fit(X, sample_weight=w)
        alone = vem.AgglomerativeBayes(2).fit(X[w > 0])
        self.same(tree.linkage_, alone.linkage_)
        self.same(tree.labels_[w > 0], alone.labels_)
        self.assertEqual(tree.labels_.shape, (60,))

    def test_against_scikit_learn(self):
        X = blobs(600, 3, 3)
        for kind in ("full", "tied", "diag", "spherical"):
            gm = vem.GaussianMixture(3, covariance_type=kind, tol=1e-9, random_state=0,
                                     max_iter=500).fit(X)
            sk = SkMixture(3, covariance_type=kind, random_state=0)
            sk.weights_, sk.means_, sk.covariances_ = gm.weights_, gm.means_, gm.covariances_
            sk.precisions_cholesky_ = gm.precisions_cholesky_
            np.testing.assert_allclose(gm.score_samples(X), sk.score_samples(X), rtol=1e-8)
            np.testing.assert_allclose(gm.predict_proba(X), sk.predict_proba(X), atol=1e-8)
            self.assertAlmostEqual(gm.bic(X), sk.bic(X), places=5)
            self.assertAlmostEqual(gm.aic(X), sk.aic(X), places=5)
            self.assertAlmostEqual(gm.lower_bound_, gm.score(X), places=6)
            best = SkMixture(3, covariance_type=kind, random_state=0, tol=1e-9, n_init=5,
                             max_iter=500).fit(X)
            self.assertGreater(gm.score(X), best.score(X) - 1e-4)

    def test_probabilities_of_single_add_up(self):
        """Within what numpy asks of those it draws from, also of rows that are computed in single."""
        rng = np.random.default_rng(5)
        X = rng.normal(size=(3000, 6)).astype(np.float32)
        gm = vem.GaussianMixture(20, random_state=1, max_iter=5).fit(X)
        chances = gm.predict_proba(X)
        self.assertLess(np.abs(chances.sum(axis=1) - 1).max(), 1e-14)
        self.assertGreater((chances.max(axis=1) < 0.9).sum(), 100)  # not all of them are sure
        rng.choice(20, p=chances[0])

    def test_soft_assignments(self):
        X = blobs(100, 2, 4)
        gm = vem.GaussianMixture(4, random_state=0).fit(X)
        whole = gm.predict_proba(X)
        for t in (1, 2, 4):
            top = gm.predict_top(X, t)
            self.assertEqual((top.format, top.shape, top.nnz), ("csr", (100, 4), 100 * t))
            self.same(top.indices[::t], gm.predict(X))
            thin = top.toarray()
            np.testing.assert_allclose(thin[thin > 0], whole[thin > 0], atol=1e-12)
        np.testing.assert_allclose(whole.sum(axis=1), 1)
        with self.assertRaisesRegex(ValueError, "4 clusters"):
            gm.predict_top(X, 5)

    def test_batches(self):
        X = blobs(900, 3, 3)
        w = np.random.RandomState(0).randint(1, 3, len(X))
        for est in (vem.KMeans(3, random_state=0), vem.GaussianMixture(3, random_state=0)):
            whole = est.fit(X).score(X)
            for batch in (slice(0, 300), slice(300, 600), slice(600, 900)):
                est.partial_fit(X[batch], sample_weight=w[batch])
                est = pickle.loads(pickle.dumps(est))  # a stream goes with its estimator
            self.assertEqual(est.n_features_in_, 3)
            self.assertGreater(est.score(X), whole - 0.02 * abs(whole))
            self.assertIsNone(est.coreset_size)
        small = vem.KMeans(3, random_state=0, coreset_size=100)
        for batch in np.array_split(blobs(5000, 3, 3), 10):
            small.partial_fit(batch)
        self.assertGreater(small.score(X), 1.2 * vem.KMeans(3, random_state=0).fit(X).score(X))
        self.assertEqual(small.coreset_size, 100)
        with self.assertRaisesRegex(ValueError, "expecting 3 features"):
            small.partial_fit(X[:, :2])

    def test_samples_and_functions(self):
        gm = vem.GaussianMixture(3, random_state=0).fit(blobs(500, 2, 3))
        X, y = gm.sample(2000)
        self.assertEqual((X.shape, y.shape), ((2000, 2), (2000,)))
        np.testing.assert_allclose(np.bincount(y) / 2000, gm.weights_, atol=0.05)
        self.same(gm.sample(2000)[0], X)
        rows, weights, indices = vem.coreset(X, 200, random_state=1)
        self.same(rows, X[indices])
        self.assertAlmostEqual(weights.sum() / 2000, 1, delta=0.2)
        centers, where = vem.kmeans_plusplus(X, 3, random_state=0)
        self.same(centers, X[where])
        found = vem.describe(gm, X)
        self.assertEqual(sum(f["rows"] for f in found), 2000)
        self.assertEqual(vem.select(X, random_state=0, max_clusters=6).n_clusters_, 3)
        for kind in ("birch-grid", "birch-random", "separated", "tau-separated"):
            X, y, centers = vem.generate(kind, n_clusters=4, n_samples=100, random_state=0,
                                         return_centers=True)
            self.assertEqual((X.shape, y.shape, centers.shape), ((100, 2), (100,), (4, 2)))

    def test_fewer_distinct_rows_than_clusters(self):
        X = np.repeat([[0.0, 0], [0, 1], [1, 0]], 4, axis=0)
        for est in (vem.KMeans(5, random_state=0), vem.GaussianMixture(5, random_state=0)):
            with self.assertWarnsRegex(UserWarning, r"distinct clusters \(3\)"):
                labels = est.fit_predict(X)
            self.assertEqual(len(set(labels)), 3)
            self.assertTrue((np.diff(labels.reshape(3, 4), axis=1) == 0).all())
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                est.predict(X)


if __name__ == "__main__":
    main()
