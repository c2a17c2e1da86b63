#!/usr/bin/env python3
"""With others: FAISS, pipelines and searches of scikit-learn, pandas, scipy's trees, joblib."""
import sys

from package_case import Case, blobs, main, np, vem

import joblib
from scipy.cluster import hierarchy
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def fit_centers(seed):
    return vem.KMeans(4, random_state=seed).fit(blobs(400, 4, 4)).cluster_centers_


class Interop(Case):
    def test_faiss_coarse_quantiser(self):
        try:
            import faiss
        except ImportError:
            self.skipTest("FAISS is not installed")
        X = blobs(5000, 16, 32, dtype=np.float32)
        km = vem.KMeans(32, random_state=0).fit(X)
        quantizer = faiss.IndexFlatL2(16)
        quantizer.add(km.cluster_centers_)
        index = faiss.IndexIVFFlat(quantizer, 16, 32)
        index.train(X[:32])  # the quantiser has its centers: there is nothing to train
        self.same(quantizer.reconstruct_n(0, 32), km.cluster_centers_)
        index.add(X)
        # Lists hold the rows of our clusters.
        sizes = [index.invlists.list_size(i) for i in range(32)]
        self.assertEqual(sizes, np.bincount(km.labels_, minlength=32).tolist())
        index.nprobe = 8
        exact = faiss.IndexFlatL2(16)
        exact.add(X)
        found, right = index.search(X[:200], 5)[1], exact.search(X[:200], 5)[1]
        self.assertGreater(np.mean([len(set(a) & set(b)) / 5 for a, b in zip(found, right)]), 0.95)

    def test_pipeline_and_search(self):
        X, y = load_digits(return_X_y=True)
        X, y = X[:400], y[:400]
        pipe = make_pipeline(StandardScaler(), vem.KMeans(random_state=0),
                             RidgeClassifier())
        search = GridSearchCV(pipe, {"kmeans__n_clusters": [5, 30]}, cv=3).fit(X, y)
        self.assertEqual(search.best_params_, {"kmeans__n_clusters": 30})
        self.assertGreater(search.best_score_, 0.7)
        X = load_iris().data
        search = GridSearchCV(vem.GaussianMixture(random_state=0),
                              {"n_components": [1, 2, 3], "covariance_type": ["full", "diag"]})
        search.fit(np.random.RandomState(0).permutation(X))
        self.assertGreater(search.best_params_["n_components"], 1)

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        iris = load_iris(as_frame=True)
        gm = vem.GaussianMixture(3, random_state=0, n_init=3).fit(iris.data)
        self.assertEqual(list(gm.feature_names_in_), list(iris.data.columns))
        table = pandas.DataFrame(vem.describe(gm, iris.data))
        self.assertEqual(table["rows"].sum(), 150)
        self.assertIn(table["columns"][0][0], iris.data.columns)
        km = vem.KMeans(3, random_state=0).set_output(transform="pandas")
        out = km.fit_transform(iris.data)
        self.assertEqual(out.shape, (150, 3))
        self.same(out.index, iris.data.index)
        weights = pandas.Series(np.ones(150))
        self.same(km.fit(iris.data, sample_weight=weights).labels_, km.fit(iris.data).labels_)

    def test_scipy_trees(self):
        X = blobs(40, 3, 3)
        for linkage in ("bayes", "single", "complete", "average"):
            tree = vem.AgglomerativeBayes(3, linkage=linkage).fit(X)
            self.assertTrue(hierarchy.is_valid_linkage(tree.linkage_))
            drawn = hierarchy.dendrogram(tree.linkage_, no_plot=True)
            self.assertEqual(sorted(drawn["leaves"]), list(range(40)))
            if linkage != "bayes":
                theirs = hierarchy.linkage(X, linkage)
                np.testing.assert_allclose(tree.distances_, theirs[:, 2], rtol=1e-9)
                cut = hierarchy.fcluster(theirs, 3, "maxclust")
                pairs = set(zip(cut, tree.labels_))
                self.assertEqual(len(pairs), 3)
        path = self.path("tree.npz")
        vem.save(tree, path)
        self.same(vem.load(path).linkage_, tree.linkage_)

    def test_joblib(self):
        alone = [fit_centers(seed) for seed in range(6)]
        for backend in ("loky", "threading", "multiprocessing"):
            together = joblib.Parallel(n_jobs=3, backend=backend)(
                joblib.delayed(fit_centers)(seed) for seed in range(6))
            for a, b in zip(alone, together):
                self.same(a, b, backend)


if __name__ == "__main__":
    import os

    # Workers find this file and the package.
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
    main()
