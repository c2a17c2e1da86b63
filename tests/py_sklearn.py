#!/usr/bin/env python3
"""scikit-learn as oracle: from the same start and after the same number of steps the command
gives the same mixtures, the same k-means, the same BIC, NMI and ARI. Exit status 77 (skipped)
where scikit-learn is not installed."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.mixture import GaussianMixture
except ImportError:
    print("scikit-learn is not installed: skipped")
    sys.exit(77)

VEM = os.environ.get("VEM", "build/vem")
FAMILY = {"spherical": "iso", "diag": "diag", "full": "full", "tied": "full-shared"}


def blobs(n, d, clusters, seed, spread=3.0):
    """Overlapping correlated blobs of different sizes and shapes, with their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(clusters, n, p=np.arange(1, clusters + 1) / sum(range(clusters + 1)))
    centers = spread * rng.standard_normal((clusters, d))
    shapes = rng.standard_normal((clusters, d, d)) / np.sqrt(d) + np.eye(d)
    noise = np.einsum("nij,nj->ni", shapes[labels], rng.standard_normal((n, d)))
    return centers[labels] + noise, labels


def start_model(x, clusters, kind, seed, units=1.0):
    """Means at rows, unequal weights, and shapes around the variance of the data, of which the
    columns are in these units."""
    means, weights, variances = even_start(x / units, clusters, kind, seed)
    if kind == "diag":
        variances = variances * np.square(units)
    elif kind in ("full", "tied"):
        variances = variances * np.outer(units, np.ones(x.shape[1])) \
            * np.outer(np.ones(x.shape[1]), units)
    return means * units, weights, variances


def even_start(x, clusters, kind, seed):
    rng = np.random.default_rng(seed)
    d = x.shape[1]
    means = x[rng.choice(len(x), clusters, replace=False)].copy()
    weights = rng.uniform(0.5, 1.5, clusters)
    weights /= weights.sum()
    scale = x.var() * rng.uniform(0.5, 1.5, clusters)
    if kind == "spherical":
        return means, weights, scale
    if kind == "diag":
        return means, weights, scale[:, None] * rng.uniform(0.5, 1.5, (clusters, d))
    if kind == "tied":
        factor = np.eye(d) + 0.2 * rng.standard_normal((d, d)) / np.sqrt(d)
        return means, weights, scale[0] * (factor @ factor.T)
    factors = np.eye(d) + 0.2 * rng.standard_normal((clusters, d, d)) / np.sqrt(d)
    return means, weights, scale[:, None, None] * (factors @ factors.transpose(0, 2, 1))


class Oracle(unittest.TestCase):
    def setUp(self):
        self.box = tempfile.TemporaryDirectory()
        self.addCleanup(self.box.cleanup)

    def path(self, name):
        return os.path.join(self.box.name, name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def save_model(self, name, family, means, weights, variances):
        meta = json.dumps({"family": family, "prior": "free"}).encode()
        np.savez(self.path(name), means=means, weights=weights, variances=variances,
                 meta=np.frombuffer(meta, dtype=np.uint8))

    def vem(self, *arguments):
        done = subprocess.run([VEM, *map(str, arguments), "--json", "-q"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def mixture(self, kind, x, clusters, steps, seed, units=1.0, floor="1e-300"):
        """Ours and scikit-learn's after `steps` M-steps from one start."""
        means, weights, variances = start_model(x, clusters, kind, seed, units)
        self.save_model("start.npz", FAMILY[kind], means, weights, variances)
        matrices = kind in ("full", "tied")
        precisions = np.linalg.inv(variances) if matrices else 1 / variances
        theirs = GaussianMixture(clusters, covariance_type=kind, tol=0, reg_covar=0,
                                 max_iter=steps, weights_init=weights, means_init=means,
                                 precisions_init=precisions, init_params="random",
                                 random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it has not converged, as was asked
            theirs.fit(x)
        report = self.vem("fit", self.save("x.npy", x), "--init", self.path("start.npz"),
                          "--family", FAMILY[kind], "--prior", "free", "--search", "all",
                          "--tolerance", "1e-300", "--max-steps", steps + 1, "--floor", floor,
                          "--empty", "keep", "--precision", "double",
                          "-o", self.path("model.npz"))
        with np.load(self.path("model.npz")) as model:
            ours = {name: model[name] for name in ("means", "weights", "variances")}
        return report, ours, theirs

    def test_mixtures(self):
        for kind in FAMILY:
            for n, d, clusters, steps in ((500, 1, 3, 20), (800, 3, 4, 30), (600, 8, 5, 15),
                                          (2000, 35, 3, 10)):
                with self.subTest(kind=kind, d=d, clusters=clusters):
                    x, _ = blobs(n, d, clusters, seed=d)
                    report, ours, theirs = self.mixture(kind, x, clusters, steps, seed=7)
                    # Fewer only where F stood still to the last bit.
                    self.assertTrue(report["steps"] == steps + 1
                                    or report["outcome"] == "converged")
                    likelihood = theirs.score(x)
                    self.assertAlmostEqual(report["free_energy"], likelihood,
                                           delta=1e-8 * abs(likelihood))
                    np.testing.assert_allclose(ours["weights"], theirs.weights_, rtol=1e-6)
                    np.testing.assert_allclose(ours["means"], theirs.means_, rtol=1e-6,
                                               atol=1e-6)
                    np.testing.assert_allclose(ours["variances"], theirs.covariances_,
                                               rtol=1e-6, atol=1e-6 * x.var())

    def test_tied_step_by_step(self):
        """One covariance for all clusters, after every single M-step."""
        for d, clusters in ((1, 3), (4, 4), (7, 5)):
            x, _ = blobs(700, d, clusters, seed=d)
            for steps in range(1, 13):
                with self.subTest(d=d, clusters=clusters, steps=steps):
                    report, ours, theirs = self.mixture("tied", x, clusters, steps, seed=5)
                    self.assertAlmostEqual(report["free_energy"], theirs.score(x), delta=1e-8)
                    for name, expected in (("weights", theirs.weights_),
                                           ("means", theirs.means_),
                                           ("variances", theirs.covariances_)):
                        np.testing.assert_allclose(ours[name], expected, rtol=1e-8,
                                                   atol=1e-8 * np.abs(expected).max())

    def test_shared_diagonal(self):
        """One variance per column for all clusters: scikit-learn has none, so the step is
        written out."""
        x, _ = blobs(700, 3, 4, seed=2)
        means, weights, variances = start_model(x, 4, "diag", 5)
        variances = variances[0]
        self.save_model("start.npz", "diag-shared", means, weights, variances)
        for steps in range(1, 9):
            off = x[:, None] - means
            log_q = np.log(weights) - 0.5 * np.sum(off**2 / variances, axis=2)
            q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
            q /= q.sum(axis=1, keepdims=True)
            means = q.T @ x / q.sum(axis=0)[:, None]
            weights = q.mean(axis=0)
            variances = np.einsum("nc,ncj->j", q, (x[:, None] - means)**2) / len(x)
            self.vem("fit", self.save("x.npy", x), "--init", self.path("start.npz"),
                     "--prior", "free", "--search", "all", "--tolerance", "1e-300",
                     "--max-steps", steps + 1, "--floor", "1e-300", "--empty", "keep",
                     "--precision", "double", "-o", self.path("model.npz"))
            with np.load(self.path("model.npz")) as model:
                np.testing.assert_allclose(model["means"], means, rtol=1e-8, atol=1e-8)
                np.testing.assert_allclose(model["weights"], weights, rtol=1e-8)
                np.testing.assert_allclose(model["variances"], variances, rtol=1e-8)

    def test_units(self):
        """Incomes beside rates: columns in units that differ by ten orders of magnitude, with
        the floor off and with the default one, which must not be felt."""
        for kind in ("diag", "full", "tied"):
            for d, clusters, steps in ((2, 3, 40), (5, 4, 30)):
                for floor in ("1e-300", "1e-6"):
                    with self.subTest(kind=kind, d=d, floor=floor):
                        units = 10.0 ** np.linspace(6, -4, d)
                        x = blobs(900, d, clusters, seed=d)[0] * units
                        report, ours, theirs = self.mixture(kind, x, clusters, steps, 7, units,
                                                            floor)
                        likelihood = theirs.score(x)
                        self.assertAlmostEqual(report["free_energy"], likelihood,
                                               delta=1e-8 * abs(likelihood))
                        self.assertEqual(report["floored"], 0)
                        np.testing.assert_allclose(ours["weights"], theirs.weights_, rtol=1e-6)
                        np.testing.assert_allclose(ours["means"] / units, theirs.means_ / units,
                                                   rtol=1e-6, atol=1e-6)
                        over = np.square(units) if kind == "diag" else np.outer(units, units)
                        np.testing.assert_allclose(ours["variances"] / over,
                                                   theirs.covariances_ / over,
                                                   rtol=1e-6, atol=1e-6)

    def test_incomes_and_rates(self):
        """From its own start and with no option typed, ours finds the likelihood that
        scikit-learn finds on standardized columns."""
        rng = np.random.default_rng(0)
        labels = rng.integers(3, size=4000)
        income = np.array([3e4, 6e4, 1.2e5])[labels] \
            + np.array([5e3, 8e3, 2e4])[labels] * rng.standard_normal(4000)
        rate = np.array([2.0, 3.0, 4.0])[labels] + 0.3 * rng.standard_normal(4000)
        x = np.column_stack([income, rate])
        for kind in ("diag", "full"):
            with self.subTest(kind=kind):
                theirs = GaussianMixture(3, covariance_type=kind, reg_covar=0, n_init=3, tol=1e-6,
                                         max_iter=1000, random_state=0)
                likelihood = theirs.fit(x / x.std(0)).score(x / x.std(0)) - np.log(x.std(0)).sum()
                report = self.vem("fit", self.save("x.npy", x), "-k", 3, "--family", FAMILY[kind],
                                  "--measure", "-o", self.path("model.npz"))
                self.assertGreater(report["log_likelihood"], likelihood - 1e-3)
                self.assertEqual(report["floored"], 0)

    def test_scores_of_mixtures(self):
        for kind in FAMILY:
            with self.subTest(kind=kind):
                x, _ = blobs(700, 4, 4, seed=11)
                _, _, theirs = self.mixture(kind, x, 4, 10, seed=3)
                new, truth = blobs(900, 4, 4, seed=12)
                np.save(self.path("truth.npy"), truth.astype(np.int32))
                scores = self.vem("score", self.path("model.npz"), self.save("new.npy", new),
                                  "--truth", self.path("truth.npy"))
                bic = theirs.bic(new)
                self.assertAlmostEqual(scores["log_likelihood"], theirs.score(new),
                                       delta=1e-8 * abs(theirs.score(new)))
                self.assertAlmostEqual(scores["bic"], bic, delta=1e-8 * abs(bic))
                self.assertAlmostEqual(scores["aic"], theirs.aic(new), delta=1e-8 * abs(bic))
                self.assertEqual(scores["parameters"], theirs._n_parameters())
                chance = theirs.predict_proba(new)
                entropy = -np.sum(chance * np.log(np.maximum(chance, 1e-300)))
                self.assertAlmostEqual(scores["entropy"], entropy, delta=1e-8 * entropy)
                self.assertAlmostEqual(scores["icl"], bic + 2 * entropy, delta=1e-8 * abs(bic))
                labels = theirs.predict(new)
                subprocess.run([VEM, "predict", self.path("model.npz"), self.path("new.npy"),
                                "-o", self.path("labels.npy"), "-q"], check=True)
                np.testing.assert_array_equal(np.load(self.path("labels.npy")), labels)
                self.assertAlmostEqual(scores["nmi"],
                                       normalized_mutual_info_score(truth, labels), delta=1e-9)
                self.assertAlmostEqual(scores["ari"], adjusted_rand_score(truth, labels),
                                       delta=1e-9)
                subprocess.run([VEM, "predict", self.path("model.npz"), self.path("new.npy"),
                                "--top", "4", "-o", self.path("soft.npz"), "-q"], check=True)
                with np.load(self.path("soft.npz")) as soft:
                    chosen, chance = soft["clusters"], soft["probabilities"]
                expected = theirs.predict_proba(new)
                np.testing.assert_allclose(chance, np.take_along_axis(expected, chosen, 1),
                                           atol=1e-9)
                self.assertTrue((np.diff(chance, axis=1) <= 0).all())

    def test_criteria_of_a_fit(self):
        """--measure gives what score gives, in either precision and for any number of tiles."""
        for kind, clusters, precision, rtol in (("full", 5, "double", 1e-9), ("diag", 70, "double", 1e-9),
                                                ("diag", 130, "single", 1e-4)):
            with self.subTest(kind=kind, clusters=clusters):
                x, _ = blobs(1500, 3, 6, seed=5, spread=1.0)
                weights = np.random.default_rng(1).uniform(0.5, 2, len(x))
                report = self.vem("fit", self.save("x.npy", x), "-k", clusters, "--family", kind,
                                  "--prior", "free", "--held", clusters, "--max-steps", 5,
                                  "--precision", precision, "--measure", "--weights",
                                  self.save("w.npy", weights), "-o", self.path("model.npz"))
                scores = self.vem("score", self.path("model.npz"), self.path("x.npy"),
                                  "--weights", self.path("w.npy"))
                with np.load(self.path("model.npz")) as m:
                    theirs = GaussianMixture(clusters, covariance_type=kind)
                    theirs.means_, theirs.weights_, theirs.covariances_ = m["means"], m["weights"], m["variances"]
                    inverse = np.linalg.inv(m["variances"]) if kind == "full" else 1 / m["variances"]
                    theirs.precisions_cholesky_ = np.linalg.cholesky(inverse) if kind == "full" else inverse ** 0.5
                chance = theirs.predict_proba(x)
                entropy = -weights @ np.sum(chance * np.log(np.maximum(chance, 1e-300)), axis=1)
                total = weights @ theirs.score_samples(x)
                self.assertAlmostEqual(scores["entropy"], entropy, delta=rtol * entropy)
                expected = {"aic": 2 * scores["parameters"] - 2 * total,
                            "bic": scores["parameters"] * np.log(weights.sum()) - 2 * total}
                expected["icl"] = expected["bic"] + 2 * entropy
                for name in expected:
                    self.assertAlmostEqual(scores[name], expected[name], delta=rtol * abs(total))
                    self.assertAlmostEqual(report[name], expected[name], delta=rtol * abs(total))
                self.assertEqual(report["parameters"], scores["parameters"])

    def kmeans(self, x, clusters, weights=None, seed=1, dtype=np.float64):
        rng = np.random.default_rng(seed)
        x = x.astype(dtype)
        centers = x[rng.choice(len(x), clusters, replace=False)].copy()
        theirs = KMeans(clusters, algorithm="lloyd", init=centers, n_init=1, tol=0,
                        max_iter=300).fit(x, sample_weight=weights)
        np.savez(self.path("start.npz"), means=centers.astype(np.float64),
                 weights=np.full(clusters, 1 / clusters), variances=np.ones(1))
        extra = []
        if weights is not None:
            extra = ["--weights", self.save("w.npy", weights)]
        report = self.vem("fit", self.save("x.npy", x), "--algorithm", "kmeans", "--init",
                          self.path("start.npz"), "--labels", self.path("labels.npy"),
                          "--measure", "-o", self.path("model.npz"), *extra)
        self.assertEqual(report["outcome"], "converged")
        with np.load(self.path("model.npz")) as model:
            means = model["means"]
        return report, means, np.load(self.path("labels.npy")), theirs

    def test_kmeans(self):
        for n, d, clusters in ((1000, 1, 6), (1000, 2, 10), (2000, 20, 12), (1500, 90, 40)):
            with self.subTest(n=n, d=d, clusters=clusters):
                x, _ = blobs(n, d, 8, seed=d + 1)
                report, means, labels, theirs = self.kmeans(x, clusters)
                np.testing.assert_array_equal(labels, theirs.labels_)
                np.testing.assert_allclose(means, theirs.cluster_centers_, atol=1e-9)
                self.assertAlmostEqual(report["quantization_error"], theirs.inertia_,
                                       delta=1e-9 * theirs.inertia_)

    def test_weighted_kmeans(self):
        rng = np.random.default_rng(5)
        x, _ = blobs(1200, 5, 6, seed=21)
        for weights in (rng.integers(1, 5, len(x)).astype(float), rng.uniform(0.1, 9, len(x))):
            report, means, labels, theirs = self.kmeans(x, 7, weights)
            np.testing.assert_array_equal(labels, theirs.labels_)
            np.testing.assert_allclose(means, theirs.cluster_centers_, atol=1e-9)
            self.assertAlmostEqual(report["quantization_error"], theirs.inertia_,
                                   delta=1e-9 * theirs.inertia_)

    def test_kmeans_in_single(self):
        x, _ = blobs(3000, 16, 6, seed=31)
        report, means, labels, theirs = self.kmeans(x, 6, dtype=np.float32)
        self.assertGreater((labels == theirs.labels_).mean(), 0.999)
        np.testing.assert_allclose(means, theirs.cluster_centers_, atol=1e-3)
        self.assertAlmostEqual(report["quantization_error"], theirs.inertia_,
                               delta=1e-4 * theirs.inertia_)

    def test_kmeans_of_parts(self):
        """Rounds over files of parts end where scikit-learn ends with all rows."""
        x, _ = blobs(2000, 12, 8, seed=13)
        report, _, _, theirs = self.kmeans(x, 12)
        parts = [self.save(f"part{i}.npy", rows) for i, rows in enumerate(np.split(x, [300, 350, 1500]))]
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "parts.py")
        subprocess.run([sys.executable, script, self.path("start.npz"), self.path("out.npz"), *parts, "--parts",
                        "2", "--", "--algorithm", "kmeans"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "VEM": os.path.abspath(VEM)})
        with np.load(self.path("out.npz")) as model:
            np.testing.assert_allclose(model["means"], theirs.cluster_centers_, atol=1e-9)
        self.assertGreater(report["steps"], 3)

    def test_kmeans_free_energy_is_a_mixture(self):
        """F of a k-means model is at most the likelihood scikit-learn gives that mixture."""
        x, _ = blobs(500, 3, 4, seed=41)
        report, means, _, _ = self.kmeans(x, 4)
        variance = report["quantization_error"] / x.size
        mixture = GaussianMixture(4, covariance_type="spherical")
        mixture.weights_, mixture.means_ = np.full(4, 0.25), means
        mixture.covariances_ = np.full(4, variance)
        mixture.precisions_cholesky_ = 1 / np.sqrt(mixture.covariances_)
        self.assertAlmostEqual(report["log_likelihood"], mixture.score(x), delta=1e-8)
        self.assertLessEqual(report["free_energy"], report["log_likelihood"])


if __name__ == "__main__":
    unittest.main()
