#!/usr/bin/env python3
"""The package and the command are one library: the same bits, by files, threads, pickles."""
import copy
import json
import pickle
import threading
import warnings

from package_case import Case, blobs, command, counts, main, np, vem

from sklearn.base import clone


class Bits(Case):
    def fit_by_command(self, X, *options):
        data, model, labels = self.path("x.npy"), self.path("m.npz"), self.path("l.npy")
        np.save(data, X)
        command("fit", data, "-o", model, "--labels", labels, "-q", *options)
        with np.load(model) as file:
            return {name: file[name] for name in file}, np.load(labels), model

    def test_kmeans_is_that_of_the_command(self):
        for dtype in (np.float32, np.float64, np.uint8):
            X = (np.abs(blobs(2000)) * 9 + 1).astype(dtype)
            km = vem.KMeans(8, random_state=7).fit(X)
            model, labels, path = self.fit_by_command(
                X, "-k", 8, "--seed", 7, "--family", "iso-shared", "--held", 1,
                "--tolerance", 1e-4, "--max-steps", 301)
            self.same(km._state["means"], model["means"], dtype)
            self.same(km._state["variances"].ravel(), model["variances"].ravel())
            self.same(km.labels_, labels)
            self.same(vem.load(path).predict(X), km.predict(X))

    def test_mixtures_are_those_of_the_command(self):
        X = blobs(1500, 4, 3)
        for family, kind in (("full", "full"), ("full-shared", "tied"), ("diag", "diag"),
                             ("iso", "spherical")):
            gm = vem.GaussianMixture(3, covariance_type=kind, random_state=3).fit(X)
            model, labels, _ = self.fit_by_command(X, "-k", 3, "--seed", 3, "--family", family)
            self.same(gm.means_, model["means"], family)
            self.same(gm.weights_, model["weights"], family)
            self.same(gm.covariances_, model["variances"], family)
            self.same(gm.fit_predict(X), labels, family)

    def test_defaults_are_those_of_the_command(self):
        X, _ = vem.generate("separated", n_clusters=12, n_samples=3000, separation=3, random_state=5)
        X = X[np.random.RandomState(1).permutation(len(X))]
        N = np.random.RandomState(2).poisson(np.repeat([[3, 9, 4] * 4, [5, 2, 4] * 4], 300, axis=0))
        for est, rows, family in ((vem.GaussianMixture(12, random_state=4), X, "full"),
                                  (vem.PoissonMixture(4, random_state=4), N, "poisson"),
                                  (vem.MultinomialMixture(3, random_state=4), N, "multinomial")):
            est.fit(rows)
            model, labels, _ = self.fit_by_command(
                rows.astype(float), "-k", est.n_components, "--seed", 4, "--family", family)
            self.same(est.means_, model["means"], family)
            self.same(est.weights_, model["weights"], family)
            self.same(est.predict(rows), labels, family)

    def test_a_mixture_that_ends_at_the_default_limit_is_that_of_the_command(self):
        X = np.random.RandomState(3).standard_normal((200, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gm = vem.GaussianMixture(6, tol=0, n_swaps=0, random_state=0).fit(X)
        model, _, _ = self.fit_by_command(X, "-k", 6, "--seed", 0, "--family", "full",
                                          "--tolerance", 0, "--swaps", 0)
        self.assertEqual(gm.report_["outcome"], "step-limit")
        self.same(gm.means_, model["means"])

    def test_what_a_model_file_says_of_its_fit_is_what_the_command_says(self):
        X = blobs(1500, 4, 3)
        gm = vem.GaussianMixture(3, random_state=3).fit(X)
        vem.save(gm, self.path("p.npz"))
        model, _, _ = self.fit_by_command(X, "-k", 3, "--seed", 3, "--family", "full")
        with np.load(self.path("p.npz")) as file:
            ours, theirs = (json.loads(bytes(m["meta"].tobytes()).rstrip(b"\0").decode())
                            for m in (file, model))
        self.assertEqual(list(ours), list(theirs))
        for meta in (ours, theirs):
            meta["options"].pop("threads")
            for step in meta["trace"]:
                self.assertGreaterEqual(step.pop("seconds"), 0)
        self.assertEqual(ours, theirs)

    def test_models_go_to_the_command_and_back(self):
        X, N = blobs(500, 3, 3), counts()
        for est, rows in ((vem.KMeans(3, random_state=0), X),
                          (vem.GaussianMixture(3, random_state=0), X),
                          (vem.PoissonMixture(3, random_state=0), N)):
            est.fit(rows)
            first, second, out = self.path("a.npz"), self.path("b.npz"), self.path("l.npy")
            vem.save(est, first)
            again = vem.load(first)
            vem.save(again, second)
            with open(first, "rb") as a, open(second, "rb") as b:
                self.assertEqual(a.read(), b.read())
            np.save(self.path("x.npy"), rows.astype(float))
            command("predict", first, self.path("x.npy"), "-o", out, "-q", "--exact")
            self.same(np.load(out), est.predict(rows))
            self.same(again.predict(rows), est.predict(rows))
            self.assertIn("trace", again.report_)

    def test_names_travel(self):
        pandas = __import__("pandas")
        frame = pandas.DataFrame(blobs(200, 3, 2), columns=["a", "b", "c"])
        path = self.path("m.npz")
        vem.save(vem.KMeans(2, random_state=0).fit(frame), path)
        again = vem.load(path)
        self.assertEqual(list(again.feature_names_in_), ["a", "b", "c"])
        self.assertIn("a", command("describe", path))
        self.same(again.predict(frame), vem.KMeans(2, random_state=0).fit(frame).labels_)

    def test_pickles_clones_and_copies(self):
        for est, X in self.estimators():
            est.fit(X)
            for again in (pickle.loads(pickle.dumps(est)), copy.deepcopy(est)):
                self.assertEqual(again.get_params(), est.get_params())
                if hasattr(est, "predict"):
                    self.same(again.predict(X), est.predict(X))
                a, b = self.path("a.npz"), self.path("b.npz")
                vem.save(est, a)
                vem.save(again, b)
                with np.load(a) as x, np.load(b) as y:
                    self.assertEqual(sorted(x), sorted(y))
                    for name in x:
                        if name != "meta":
                            self.assertTrue(np.array_equal(x[name], y[name], equal_nan=True), name)
            self.assertFalse(hasattr(clone(est), "n_features_in_"))

    def test_any_number_of_threads(self):
        X = blobs(3000, 5, 6)
        for make in (lambda n: vem.KMeans(6, random_state=1, n_threads=n),
                     lambda n: vem.GaussianMixture(6, random_state=1, n_threads=n)):
            one, three = make(1).fit(X), make(3).fit(X)
            self.same(one._state["means"], three._state["means"])
            self.same(one.predict(X), three.predict(X))

    def test_fifty_threads_at_once(self):
        X = blobs(400, 4, 4)
        alone = [vem.KMeans(4, random_state=s, n_threads=1).fit(X) for s in range(5)]
        found, wrong = [None] * 50, []

        def fit(i):
            try:
                km = vem.KMeans(4, random_state=i % 5, n_threads=1 + i % 2).fit(X)
                found[i] = (km.cluster_centers_, km.predict(X), alone[i % 5].predict(X))
            except BaseException as problem:
                wrong.append(problem)

        threads = [threading.Thread(target=fit, args=(i,)) for i in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        for i, (centers, labels, shared) in enumerate(found):
            self.same(centers, alone[i % 5].cluster_centers_)
            self.same(labels, alone[i % 5].labels_)
            self.same(shared, alone[i % 5].labels_)

    def test_estimators_of_all_kinds_at_once(self):
        kinds = self.estimators()
        alone = [est.fit_predict(X) for est, X in kinds]
        found, wrong = [None] * 28, []

        def fit(i):
            try:
                est, X = self.estimators()[i % len(kinds)]
                est.n_threads = 1 + i % 3
                found[i] = est.fit_predict(X)
            except BaseException as problem:
                wrong.append(problem)

        threads = [threading.Thread(target=fit, args=(i,)) for i in range(len(found))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        for i, labels in enumerate(found):
            self.same(labels, alone[i % len(kinds)], type(kinds[i % len(kinds)][0]).__name__)

    def test_changed_attributes_count(self):
        X = blobs(200, 2, 2)
        km = vem.KMeans(2, random_state=0).fit(X)
        km.cluster_centers_ = km.cluster_centers_[::-1].copy()
        self.same(km.predict(X), 1 - km.labels_)
        gm = vem.GaussianMixture(2, random_state=0).fit(X)
        before = gm.predict_proba(X)
        gm.means_, gm.weights_ = gm.means_[::-1], gm.weights_[::-1]
        gm.covariances_ = gm.covariances_[::-1]
        np.testing.assert_allclose(gm.predict_proba(X), before[:, ::-1], atol=1e-12)


if __name__ == "__main__":
    main()
