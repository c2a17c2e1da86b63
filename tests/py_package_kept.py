#!/usr/bin/env python3
"""What an estimator keeps: attributes that are changed, pickles, streams, what a stopped fit leaves."""
import json
import pickle
import threading
import unittest
import unittest.mock

from package_case import Case, blobs, command, python

import numpy as np
from sklearn.exceptions import NotFittedError

import vem
from vem import _functions, _gaussian
from arrow_table import Table, columns_of


class Changed(Case):
    """Attributes that are changed in place count, at once and after a pickle."""

    def test_means_in_place(self):
        X = blobs()
        gm = vem.GaussianMixture(3, covariance_type="diag", random_state=0).fit(X)
        gm.predict(X)
        before = gm.score(X)
        gm.means_ += 1.0
        moved = gm.score(X)
        self.assertLess(moved, before - 1e-3)
        self.assertEqual(pickle.loads(pickle.dumps(gm)).score(X), moved)
        gm.means_ -= 1.0
        self.assertAlmostEqual(gm.score(X), before, places=9)

    def test_weights_and_covariances_in_place(self):
        X = blobs()
        for make in (lambda: vem.GaussianMixture(3, random_state=0).fit(X),
                     lambda: vem.BayesianKMeans(max_clusters=4, random_state=0).fit(X),
                     lambda: self.loaded(X)):
            for name in ("weights_", "covariances_"):
                found = make()
                before = found.score(X)
                array = getattr(found, name)
                if name == "weights_":
                    array[:] = np.linspace(1, 9, len(array)) / np.linspace(1, 9, len(array)).sum()
                else:
                    array *= 2
                self.assertNotEqual(found.score(X), before, name)

    def loaded(self, X):
        file = self.path("gm.npz")
        vem.GaussianMixture(3, random_state=0).fit(X).save(file)
        return vem.load(file)


    def test_other_shapes_are_refused(self):
        X = blobs()
        km = vem.KMeans(3, random_state=0).fit(X)
        km.cluster_centers_ = np.zeros((5, 8))
        with self.assertRaisesRegex(ValueError, "shape"):
            km.predict(X)


class Sparse(Case):
    def test_indices_outside(self):
        from scipy.sparse import csc_matrix, coo_matrix, csr_matrix

        X = np.random.RandomState(0).poisson(2, size=(120, 5))
        for kind in (csr_matrix, csc_matrix, coo_matrix):
            for name, at, value in (("indices", 3, 10**6), ("indices", 3, -5),
                                    ("indptr", 2, 10**7), ("row", 3, 500), ("col", 3, -1)):
                bad = kind(X)
                if not hasattr(bad, name):
                    continue
                getattr(bad, name)[at] = value
                for found in (vem.PoissonMixture(2), vem.KMeans(2)):
                    with self.assertRaisesRegex(ValueError, "outside its shape"):
                        found.fit(bad)

    def test_large_whole_numbers(self):
        X = np.arange(40)[:, None] + 2**53
        rows, _, indices = vem.coreset(X, 10, random_state=0)
        np.testing.assert_array_equal(rows, X[indices])


class Distances(Case):
    """transform speaks of rows as the model takes them."""

    def check(self, km, X):
        distances = km.transform(X)
        np.testing.assert_array_equal(distances.argmin(axis=1), km.predict(X))
        self.assertAlmostEqual((distances.min(axis=1) ** 2).sum() / km.inertia_, 1, places=6)

    def test_units(self):
        X = blobs(seed=3) * np.array([1, 10, 100, 1000, 1, 1, 0.1, 1]) + 50
        for keywords in ({}, {"standardize": True}, {"normalize": True}):
            self.check(vem.KMeans(5, random_state=0, **keywords).fit(X), X)

    def test_far_from_zero(self):
        X = blobs() + 1e9
        self.check(vem.KMeans(5, random_state=0).fit(X), X)

    def test_a_file_in_pieces(self):
        X = blobs(n=3000)
        file = self.path("rows.npy")
        np.save(file, X)
        km = vem.KMeans(5, random_state=0).fit(X)
        before = vem._items.PIECE
        vem._items.PIECE = 800  # hundred rows
        try:
            np.testing.assert_allclose(km.transform(file), km.transform(X), rtol=1e-12)
        finally:
            vem._items.PIECE = before

    def test_a_zero_row_has_no_direction(self):
        X = blobs()
        km = vem.KMeans(3, random_state=0, normalize=True).fit(X)
        X[7] = 0
        with self.assertRaisesRegex(ValueError, "row 8 "):
            km.transform(X)


class Streams(Case):
    def test_fit_forgets_batches_of_a_pickle(self):
        for make in (lambda: vem.KMeans(2, random_state=0),
                     lambda: vem.GaussianMixture(2, random_state=0)):
            learned = make().partial_fit(blobs() + 1000)
            learned = pickle.loads(pickle.dumps(learned))
            learned.fit(blobs())
            learned.partial_fit(blobs(seed=1))
            found = getattr(learned, "cluster_centers_", getattr(learned, "means_", None))
            self.assertLess(np.abs(found).max(), 100)

    def test_after_fit_from_the_centers_there_are(self):
        X = blobs(clusters=3)
        km = vem.KMeans(3, random_state=0).fit(X)
        before = km.cluster_centers_.copy()
        km.partial_fit(X[:500])
        # Cluster c stays cluster c.
        gaps = ((km.cluster_centers_[:, None] - before[None]) ** 2).sum(axis=2)
        np.testing.assert_array_equal(gaps.argmin(axis=1), np.arange(3))
        with self.assertRaisesRegex(ValueError, "expecting 8 features"):
            km.partial_fit(X[:, :5])

    def test_weights_are_repetitions(self):
        X = blobs(n=400)
        weights = np.random.RandomState(0).randint(0, 3, size=len(X))
        for make in (lambda: vem.KMeans(3, random_state=0),
                     lambda: vem.GaussianMixture(3, random_state=0, covariance_type="diag")):
            a = make().partial_fit(X[:200], sample_weight=weights[:200])
            a.partial_fit(X[200:], sample_weight=weights[200:])
            b = make().partial_fit(np.repeat(X[:200], weights[:200], axis=0))
            b.partial_fit(np.repeat(X[200:], weights[200:], axis=0))
            for name in ("cluster_centers_", "means_", "weights_"):
                if hasattr(a, name):
                    np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9)


    def test_labels_where_some_rows_do_not_count(self):
        X, weights = blobs(n=200), np.ones(200)
        weights[:100] = 0
        km = vem.KMeans(3, random_state=0).partial_fit(X)
        km.partial_fit(X, sample_weight=weights)
        np.testing.assert_array_equal(km.labels_, km.predict(X))
        with self.assertRaisesRegex(ValueError, "(?i)weight"):
            km.partial_fit(X, sample_weight=weights - 5)

    def test_a_first_batch_that_is_refused(self):
        X = blobs(n=200)
        for make in (lambda: vem.KMeans(3, random_state=0),
                     lambda: vem.GaussianMixture(3, random_state=0, covariance_type="diag")):
            found = make()
            for bad in (np.full((50, 8), np.nan), X[:2]):
                with self.assertRaises(ValueError):
                    found.partial_fit(bad)
                pickle.dumps(found)
            with self.assertRaises(NotFittedError):
                found.predict(X)
            self.assertEqual(len(found.partial_fit(X).predict(X)), 200)

    def test_threads_take_turns(self):
        X = blobs(n=2000)
        km = vem.KMeans(5, random_state=0, coreset_size=300, n_threads=1).partial_fit(X)
        wrong = []

        def learn():
            try:
                for _ in range(10):
                    km.partial_fit(X)
                    pickle.dumps(km)
            except Exception as problem:
                wrong.append(problem)

        threads = [threading.Thread(target=learn) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(km.cluster_centers_.shape, (5, 8))


class Stopped(Case):
    """A fit that is ended leaves nothing of the one before it."""

    def test_labels_are_of_this_fit(self):
        def stop(progress):
            if progress["phase"] == "em":
                raise KeyboardInterrupt

        for found in (vem.BayesianKMeans(max_clusters=4, random_state=0),
                      vem.KMeans(4, random_state=0, coreset_size=50)):
            found.fit(blobs(n=600))
            self.assertEqual(len(found.labels_), 600)
            found.callback = stop
            with self.assertRaises(KeyboardInterrupt):
                found.fit(blobs(n=100, seed=1))
            self.assertIn(len(getattr(found, "labels_", ())), (0, 100))

    def test_every_long_verb_hears_ctrl_c(self):
        text = """
import signal, threading, time, os, sys, numpy as np, vem
X = np.random.RandomState(0).normal(size=(60000, 16))
def interrupt(progress):
    os.kill(os.getpid(), signal.SIGINT)
what = sys.argv[1]
try:
    if what == "bayes":
        vem.BayesianKMeans(callback=interrupt).fit(X[:5000])
    elif what == "tree":
        vem.AgglomerativeBayes(linkage="average", callback=interrupt).fit(X[:3000])
    print("ended")
except KeyboardInterrupt:
    print("heard")
"""
        for what in ("bayes", "tree"):
            self.assertEqual(python(text, what).stdout.strip(), "heard", what)


class Pickles(Case):
    def test_a_tree_of_groups(self):
        X = blobs(n=300)
        tree = vem.AgglomerativeBayes(n_clusters=3, n_leaves=10).fit(X)
        again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(tree))))
        for number, found in enumerate((tree, again)):
            file = self.path(f"tree{number}.npz")
            found.save(file)
            self.assertEqual(len(vem.load(file).labels_), 300)
        with np.load(self.path("tree0.npz")) as a, np.load(self.path("tree1.npz")) as b:
            self.assertEqual(sorted(a), sorted(b))
            for name in a:
                np.testing.assert_array_equal(a[name], b[name])

    def test_a_selection_keeps_its_path(self):
        X = blobs(n=500, d=2, clusters=3)
        rows = self.path("x.npy")
        np.save(rows, X)
        ours, theirs = self.path("ours.npz"), self.path("theirs.npz")
        found = vem.BayesianKMeans(method="bic", max_clusters=5, random_state=1, tol=1e-4).fit(X)
        vem.save(pickle.loads(pickle.dumps(found)), ours)
        command("select", rows, "--method", "bic", "--max-clusters", 5, "--seed", 1,
                "--tolerance", "1e-4", "-o", theirs)
        with np.load(ours) as a, np.load(theirs) as b:
            self.assertEqual(sorted(a), sorted(b))
            self.assertIn("path_clusters", a.files)
            for name in a:
                if name != "meta" and not name.endswith("seconds"):
                    np.testing.assert_array_equal(a[name], b[name], name)
        numbers = [point["clusters"] for point in found.path_]
        picked = found.pick(numbers[0])
        self.assertEqual(len(picked.weights_), numbers[0])
        command("select", "--pick", numbers[0], ours, "-o", theirs)
        np.testing.assert_array_equal(np.load(theirs)["means"], picked.means_)
        with self.assertRaisesRegex(ValueError, "a fit of that number makes one"):
            found.pick(max(numbers) + 7)

    def test_a_selection_does_what_the_command_does(self):
        X = blobs(n=300, d=2, clusters=3)
        rows = self.path("x.npy")
        np.save(rows, X)
        found = vem.select(X, covariance_type=["full", "spherical"], holdout=0.2, stability=3, max_clusters=6,
                           random_state=1, time=600, memory="1G")
        told = json.loads(command("select", rows, "--families", "full,iso", "--holdout", 0.2, "--stability", 3,
                                  "--max-clusters", 6, "--seed", 1, "--tolerance", "1e-4", "--json"))
        self.assertEqual(found.n_clusters_, told["clusters"])
        self.assertEqual(found.objective_, told["objective"])
        self.assertEqual([(p["clusters"], p["held_out"]) for p in found.path_],
                         [(p["clusters"], p["held_out"]) for p in told["path"]])
        for key in ("clusters", "ari", "done", "rows", "ari_mean", "clusters_sd"):
            self.assertEqual(found.stability_[key], told["stability"][key], key)
        shares = found.predict_proba(X)
        self.assertEqual(shares.shape, (300, found.n_clusters_))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(shares.argmax(axis=1), found.predict(X))
        self.assertAlmostEqual(found.score_samples(X).mean(), found.score(X), places=9)
        plain = vem.select(X, max_clusters=6, random_state=1)
        self.assertIsNone(plain.stability_)
        self.assertNotIn("held_out", plain.path_[0])
        for wrong in ({"holdout": 1.0}, {"holdout": -0.1}, {"stability": -1}):
            with self.assertRaises(ValueError, msg=str(wrong)):
                vem.select(X, **wrong)


class Arrow(Case):
    def test_names_of_a_stream(self):
        X = blobs(d=3)
        km = vem.KMeans(3, random_state=0).fit(Table([columns_of(X)]))
        self.assertEqual(list(km.feature_names_in_), ["c0", "c1", "c2"])
        with self.assertRaisesRegex(ValueError, "feature names"):
            km.predict(Table([{"d" + name: x for name, x in columns_of(X).items()}]))

    def test_a_tree_without_some_rows(self):
        X, weights = blobs(n=60, d=2, clusters=3), np.ones(60)
        weights[::7] = 0
        file = self.path("rows.npy")
        np.save(file, X)
        wanted = vem.AgglomerativeBayes(n_clusters=3).fit(X, sample_weight=weights)
        for rows in (Table([columns_of(X)]), file):
            found = vem.AgglomerativeBayes(n_clusters=3).fit(rows, sample_weight=weights)
            np.testing.assert_array_equal(found.labels_, wanted.labels_)
            self.assertEqual(found.n_leaves_, int(weights.sum()))


class Calls(Case):
    def test_a_forked_process(self):
        text = """
import os, sys, numpy as np, vem
X, y = vem.generate("separated", n_clusters=3, n_samples=200000, random_state=0)
km = vem.KMeans(3, random_state=0).fit(X)
if os.fork() == 0:
    A, b = vem.generate("separated", n_clusters=3, n_samples=200000, random_state=0)
    vem.coreset(X, 100, random_state=0)
    vem.KMeans(3, random_state=0).partial_fit(X)
    vem.AgglomerativeBayes().fit(X[:50])
    km.save(sys.argv[1])
    os._exit(0 if np.array_equal(A, X) and np.array_equal(km.predict(X), km.labels_) else 1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
        done = python(text, self.path("m.npz"))
        self.assertEqual(done.stdout.strip(), "0", done.stderr)

    def test_types_of_families_that_are_to_come(self):
        # Of the library's table, with one that has a shape and one of counts behind those there are.
        rows = [("full", "", 2, 0), ("axes", "", 1, 0), ("tallies", "", -1, 0)]
        types = _gaussian.types_of(rows)
        self.assertEqual(types["axes"], "axes")
        self.assertEqual(types["tied-spherical"], "iso-shared")
        self.assertNotIn("tallies", types)
        self.assertNotIn("full", list(types)[1:])

    def test_a_family_without_an_estimator_is_told(self):
        X = blobs()
        counts = np.abs(np.round(X)).astype(float)
        path = self.path("counts.npz")
        vem.PoissonMixture(3, random_state=0).fit(counts).save(path)
        with unittest.mock.patch.dict(_functions._COUNTS, clear=True):
            with self.assertRaisesRegex(ValueError, "poisson, for which this package has no estimator"):
                vem.load(path)
        self.assertIsInstance(vem.load(path), vem.PoissonMixture)

    def test_words_of_refusals(self):
        X = blobs()
        km = vem.KMeans(3, random_state=0).fit(X)
        with self.assertRaisesRegex(ValueError, "precision is 'x'"):
            km.set_params(precision="x").predict(X)
        with self.assertRaisesRegex(ValueError, "n_threads is 0"):
            vem.coreset(X, 10, n_threads=0)


if __name__ == "__main__":
    unittest.main()
