#!/usr/bin/env python3
"""Files with columns to choose and values that are missing; sentences and notes in the package's words."""
import json
import pickle
import re
import struct
import threading
import warnings

import numpy as np
from package_case import Case, blobs, counts, main, python, vem
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from vem import _words


class Read(Case):
    def setUp(self):
        super().setUp()
        self.X = np.round(blobs(60, 3, 3), 6)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def table(self, name="t.csv", gaps=()):
        """x0, name, x1, x2 with gaps in x1."""
        lines = ["x0,name,x1,x2"]
        for i, (a, b, c) in enumerate(self.X.tolist()):
            lines.append(f"{a!r},r{i},{'' if i in gaps else repr(b)},{c!r}")
        return self.put(name, "\n".join(lines) + "\n")

    def test_safetensors(self):
        X = self.X.astype(np.float32)
        X = (X.view(np.uint32) & 0xffff0000).view(np.float32)  # what bfloat16 holds
        header = json.dumps({"rows": {"dtype": "BF16", "shape": X.shape, "data_offsets": [0, 2 * X.size]}}).encode()
        with open(self.path("x.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + (X.view(np.uint32) >> 16).astype("<u2").tobytes())
        table = vem.read(self.path("x.safetensors"))
        self.assertEqual(table.dtype, np.float32)  # NumPy has no bfloat16
        self.same(np.asarray(table), X)
        theirs = vem.KMeans(3, random_state=0).fit(X)
        for rows in (table, self.path("x.safetensors:rows")):
            km = vem.KMeans(3, random_state=0).fit(rows)
            self.same(km.cluster_centers_, theirs.cluster_centers_)
            self.same(km.labels_, theirs.labels_)
            self.assertEqual(km.cluster_centers_.dtype, np.float32)

    def test_columns(self):
        path = self.table()
        for chosen in ({"skip": "name"}, {"skip": ["name"]}, {"skip": 1}, {"skip": [1]},
                       {"columns": ["x0", "x1", "x2"]}, {"columns": [0, 2, 3]},
                       {"columns": range(4), "skip": [1]}, {"columns": ["x0", 2, "x2"]}):
            table = vem.read(path, **chosen)
            self.assertEqual((table.shape, len(table), table.ndim), ((60, 3), 60, 2))
            self.assertEqual(list(table.columns), ["x0", "x1", "x2"])
            self.same(np.asarray(table), self.X, chosen)
        self.same(np.asarray(vem.read(path, columns=["x2", "x0"])), self.X[:, [2, 0]])
        self.same(vem.read(path, skip=1)[5:9], self.X[5:9])
        self.same(vem.read(path, skip=1)[[3, 1]], self.X[[3, 1]])
        self.same(vem.read(path, skip=1).rows, np.arange(60))

    def test_a_table_goes_in_wherever_rows_do(self):
        path = self.table()
        table = vem.read(path, skip="name")
        km = vem.KMeans(3, random_state=0).fit(table)
        theirs = vem.KMeans(3, random_state=0).fit(self.X)
        self.same(km.cluster_centers_, theirs.cluster_centers_)
        self.same(km.predict(table), theirs.labels_)
        self.same(km.transform(table), theirs.transform(self.X))
        self.assertEqual(km.score(table), theirs.score(self.X))
        self.assertEqual(list(km.feature_names_in_), ["x0", "x1", "x2"])
        self.same(vem.AgglomerativeBayes(3).fit(table).labels_,
                  vem.AgglomerativeBayes(3).fit(self.X).labels_)
        self.assertEqual(vem.select(table, random_state=0).n_clusters_,
                         vem.select(self.X, random_state=0).n_clusters_)
        self.same(vem.coreset(table, 20, random_state=0)[2],
                  vem.coreset(self.X, 20, random_state=0)[2])
        self.same(vem.kmeans_plusplus(table, 3, random_state=0)[1],
                  vem.kmeans_plusplus(self.X, 3, random_state=0)[1])
        self.assertEqual(sum(c["rows"] for c in vem.describe(km, table)), 60)
        self.same(vem.KMeans(3, random_state=0).partial_fit(table).labels_.shape, (60,))
        self.same(StandardScaler().fit_transform(table).shape, (60, 3))
        with self.assertRaisesRegex(ValueError, "feature names"):
            km.predict(vem.read(path, columns=["x2", "x1", "x0"]))

    def test_weights_stay_with_their_fit(self):
        # A table is shared: weights of one fit are not there in the next.
        table = vem.read(self.table(), skip="name")
        weights = np.arange(60) % 3
        plain = vem.KMeans(3, random_state=0).fit(table).cluster_centers_
        weighted = vem.KMeans(3, random_state=0).fit(table, sample_weight=weights)
        self.assertFalse(np.array_equal(weighted.cluster_centers_, plain))
        self.same(vem.KMeans(3, random_state=0).fit(table).cluster_centers_, plain)
        np.testing.assert_allclose(
            weighted.score(table, sample_weight=weights), -weighted.inertia_, rtol=1e-9)

    def test_threads_share_a_table(self):
        table = vem.read(self.table(), skip="name")
        alone = [vem.KMeans(3, random_state=i).fit(table).cluster_centers_ for i in range(8)]
        found = [None] * 8

        def fit(i):
            found[i] = vem.KMeans(3, random_state=i).fit(table).cluster_centers_

        threads = [threading.Thread(target=fit, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for a, b in zip(alone, found):
            self.same(a, b)

    def test_missing(self):
        path = self.table(gaps=(4, 7))
        with self.assertRaisesRegex(ValueError, r"vem\.read\(\.\.\., missing='drop'\) leaves"):
            vem.KMeans(3).fit(vem.read(path, skip="name"))
        table = vem.read(path, skip="name", missing="drop")
        kept = np.delete(np.arange(60), [4, 7])
        self.same(table.rows, kept)
        self.assertEqual((table.shape, table.n_rows_read), ((58, 3), 60))
        self.same(np.asarray(table), self.X[kept])
        self.assertEqual(vem.KMeans(3, random_state=0).fit(table).labels_.shape, (58,))
        filled = np.asarray(vem.read(path, skip="name", missing="mean"))
        self.assertAlmostEqual(filled[4, 1], self.X[kept, 1].mean())
        self.same(filled[kept], self.X[kept])

    def test_text(self):
        path = self.put("d.csv", "1,5;2\n3;4,25\n")
        self.same(np.asarray(vem.read(path)), [[1.5, 2], [3, 4.25]])
        self.same(np.asarray(vem.read(path, decimal=",")), [[1.5, 2], [3, 4.25]])
        path = self.put("h.csv", "2019,2020\n1,2\n3,4\n")
        self.assertEqual(vem.read(path, header=False).shape, (3, 2))
        table = vem.read(path, header=True)
        self.assertEqual((table.shape, list(table.columns)), ((2, 2), ["2019", "2020"]))
        # A name wins over a number, as long as names are given.
        self.same(np.asarray(vem.read(path, header=True, columns=["2020"])), [[2], [4]])
        self.same(np.asarray(vem.read(path, header=True, columns=[1])), [[2], [4]])

    def test_binary_and_several(self):
        np.save(self.path("a.npy"), self.X[:20])
        np.save(self.path("b.npy"), self.X[20:])
        both = [self.path("a.npy"), self.path("b.npy")]
        self.same(np.asarray(vem.read(both, columns=[2, 0])), self.X[:, [2, 0]])
        with_gap = self.X.copy()
        with_gap[3, 1] = np.nan
        np.save(self.path("gap.npy"), with_gap)
        self.same(vem.read(self.path("gap.npy"), missing="drop").rows,
                  np.delete(np.arange(60), 3))
        np.save(self.path("f.npy"), self.X.astype(np.float32))
        self.assertEqual(vem.read(self.path("f.npy")).dtype, np.float32)
        self.assertEqual(np.asarray(vem.read(self.path("f.npy"))).dtype, np.float32)

    def test_pickle(self):
        table = vem.read(self.table(gaps=(2,)), skip="name", missing="drop")
        again = pickle.loads(pickle.dumps(table))
        self.same(np.asarray(again), np.asarray(table))
        self.same(again.rows, table.rows)
        self.assertIn("59 x 3", repr(again))

    def test_refused(self):
        path = self.table()
        for words, error, keywords in (
                ("columns are counted from 0", ValueError, {"columns": [-1]}),
                ("name or a number", TypeError, {"columns": [1.5]}),
                ("name or a number", TypeError, {"skip": [True]}),
                ("is empty", ValueError, {"skip": []}),
                ("one of error, drop, mean", ValueError, {"missing": "keep"}),
                ("True, False or None", ValueError, {"header": "yes"}),
                ("must be '.' or ','", ValueError, {"decimal": ";"}),
                ("no column named \"x9\"", ValueError, {"columns": ["x9"]}),
                ("skip='name'", ValueError, {}),
                ("n_threads", ValueError, {"skip": 1, "n_threads": 0})):
            with self.assertRaisesRegex(error, re.escape(words).replace("'name'", r".*name"),
                                        msg=words):
                vem.read(path, **keywords)
        with self.assertRaises(FileNotFoundError):
            vem.read(self.path("nowhere.csv"))


class Sentences(Case):
    """What is said names what the caller has."""

    def said(self, call):
        try:
            call()
        except Exception as problem:  # noqa: BLE001
            sentence = str(problem)
        else:
            self.fail("nothing was refused")
        self.assertNotIn("--", sentence)
        return sentence

    def test_a_column_of_text(self):
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write("name,city,x\nann,Ulm,1\nbob,Bonn,2\neve,Kiel,3\n")
        for call in (lambda: vem.KMeans(2).fit(self.path("t.csv")),
                     lambda: vem.select(self.path("t.csv")),
                     lambda: vem.coreset(self.path("t.csv"), 2),
                     lambda: vem.read(self.path("t.csv"))):
            sentence = self.said(call)
            self.assertIn("vem.read(..., skip=['name', 'city'])", sentence)
            self.assertNotIn("vem info", sentence)
        self.assertEqual(vem.read(self.path("t.csv"), skip=["name", "city"]).shape, (3, 1))

    def test_columns_without_names(self):
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write("1,ann,5\n2,bob,6\n")
        sentence = self.said(lambda: vem.KMeans(2).fit(self.path("t.csv")))
        self.assertIn("vem.read(..., skip=[1])", sentence)
        self.same(np.asarray(vem.read(self.path("t.csv"), skip=[1])), [[1, 5], [2, 6]])

    def test_missing_in_arrays(self):
        X = blobs(50, 3, 3)
        X[3, 1] = np.nan
        for make in (vem.KMeans, vem.GaussianMixture):
            sentence = self.said(lambda: make(2).fit(X))
            self.assertNotIn("missing=", sentence)  # there is no file to be read in another way
            self.assertIn("Row 4, column 2", sentence)
            self.assertNotIn("borrowed", sentence)

    def test_parameters_by_their_names(self):
        X = blobs(200, 3, 3)
        said = self.said
        self.assertIn("n_held is 5", said(lambda: vem.KMeans(3, n_held=5).fit(X)))
        self.assertRegex(said(lambda: vem.KMeans(3, n_probe=2).fit(X)), r"search='groups'")
        self.assertIn("memory is 1M",
                      said(lambda: vem.KMeans(3, memory="1M").fit(X)).replace(".00 MiB", "M")
                      .replace("1 MiB", "1M"))
        self.assertRegex(said(lambda: vem.GaussianMixture(3, margin=0.1).fit(X)),
                         r"n_held=1, covariance_type='tied-spherical', prior='flat'")
        self.assertIn("n_leaves is 1", said(lambda: vem.AgglomerativeBayes(n_leaves=1).fit(X)))

    def test_words(self):
        say = _words.speaker({"clusters": "n_clusters", "family": "covariance_type",
                              "standardize": "standardize", "max-steps": "max_iter"},
                             {"family": lambda word: repr({"iso": "spherical"}.get(word, word))})
        for text, words in (
                ("--clusters is 5, but", "n_clusters is 5, but"),
                ("with --max-steps 20, or", "with max_iter=20, or"),
                ("--family iso needs it.", "covariance_type='spherical' needs it."),
                ("use --family full.", "use covariance_type='full'."),
                ("--standardize or", "standardize=True or"),
                ("say --missing drop.", "say vem.read(..., missing='drop')."),
                ("say --missing drop or mean.", "say vem.read(..., missing='drop') or mean."),
                ("--id 3 leaves", "vem.read(..., skip=[2]) leaves"),
                ("with --id or --columns.",
                 "with vem.read(..., skip=...) or vem.read(..., columns=...)."),
                ("say --decimal ,.", "say vem.read(..., decimal=',')."),
                ("say --decimal '.'.", "say vem.read(..., decimal='.')."),
                ("say --header yes.", "say vem.read(..., header=True)."),
                ("--gap 0.1 was", "gap 0.1 was"),
                ("the free energy; --columns can leave it out.",
                 "the free energy; leave it out of X."),
                ("fewer clusters, or to leave that column out with --id, would help",
                 "fewer clusters, or to leave that column out, would help"),
                ("a file named a--clusters", "a file named a--clusters"),
                ("clusters; --pick K takes another.", "clusters; pick(K) takes another.")):
            self.assertEqual(say(text), words)

    def test_reports(self):
        gm = vem.GaussianMixture(3, random_state=0).fit(blobs(300, 3, 3))
        self.assertNotIn("--", gm.report_["choices"])
        self.assertIn("n_swaps=0", gm.report_["choices"])


class Notes(Case):
    """Notes of the library are warnings of the line that called."""

    def caught(self, call):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            result = call()
        return result, found

    def test_largest_number_tried(self):
        X, _ = vem.generate("separated", n_clusters=6, separation=8, random_state=0)
        found, said = self.caught(lambda: vem.select(X, method="bic", max_clusters=3))
        (warning,) = said
        self.assertIs(warning.category, vem.VemWarning)
        self.assertEqual(warning.filename, __file__)
        self.assertIn("best at the largest number tried", str(warning.message))
        self.assertIn("a larger max_clusters may", str(warning.message))
        self.assertIn("largest number tried", found.report_["notes"])

    def test_units(self):
        X = blobs(500, 3, 3)
        X[:, 1] *= 1e5
        _, said = self.caught(lambda: vem.KMeans(3, random_state=0).fit(X))
        (warning,) = said
        self.assertIn("standardize=True or a GaussianMixture of covariance_type diag",
                      str(warning.message))
        self.assertEqual(self.caught(lambda: vem.KMeans(3, standardize=True).fit(X))[1], [])

    def test_the_floor(self):
        X = np.repeat(blobs(6, 3, 3), 40, axis=0) + np.zeros((240, 3))
        X[::2] += 1e-12
        gm, said = self.caught(lambda: vem.GaussianMixture(3, random_state=0).fit(X))
        self.assertTrue(any(w.category is vem.VemWarning and "reg_covar" in str(w.message)
                            for w in said), [str(w.message) for w in said])
        self.assertTrue(hasattr(gm, "means_"))

    def test_the_end_of_time(self):
        # As scikit-learn's users know it. (A fit that a test could end by the clock is not at hand.)
        notes = ("ended by time=3 after 20 steps, before it had converged.\n"
                 "time=3 was over before the first step: the model is what the seeding gave.\n"
                 "measures are estimated from 10 of 100 rows: time=3.")
        _, said = self.caught(lambda: _words.warn(notes))
        self.assertEqual([w.category for w in said],
                         [ConvergenceWarning, ConvergenceWarning, vem.VemWarning])

    def test_what_was_asked_for_is_no_warning(self):
        X = blobs(3000, 3, 3)
        for call in (lambda: vem.KMeans(3, coreset_size=500, random_state=0).fit(X),
                     lambda: vem.KMeans(3, random_state=0).fit(X),
                     lambda: vem.GaussianMixture(3, random_state=0).fit(X),
                     lambda: vem.BayesianKMeans(random_state=0).fit(X[:300]),
                     lambda: vem.PoissonMixture(3, random_state=0).fit(counts())):
            self.assertEqual([str(w.message) for w in self.caught(call)[1]], [])

    def test_as_errors(self):
        # All attributes are there, whatever becomes of a warning.
        X = blobs(500, 3, 3)
        X[:, 1] *= 1e5
        km = vem.KMeans(3, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertRaises(vem.VemWarning, km.fit, X)
        self.assertEqual(km.predict(X).shape, km.labels_.shape)

    def test_a_log_is_not_flooded(self):
        done = python(
            "import numpy as np, vem\n"
            "X = np.random.RandomState(0).normal(size=(20000, 8))\n"
            "vem.GaussianMixture(16, verbose=2, random_state=0, tol=1e-7).fit(X)\n"
            "print('end')\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        # Nothing is written over in a log, and lines come ever more rarely: 5 s, 7.5 s, 11 s, ...
        self.assertNotIn("\r", done.stderr)
        self.assertLess(done.stderr.count("\n"), 20)
        self.assertLess(done.stdout.count("\n"), 15)
        self.assertNotIn("--", done.stdout)


if __name__ == "__main__":
    main()
