#!/usr/bin/env python3
"""What the package takes for rows, and that it takes them without a copy where it can."""
import gc
import os
import tracemalloc
import warnings

from arrow_table import FORMATS, Batch, Table, columns_of
from package_case import Case, blobs, command, counts, main, np, python, vem

from scipy import sparse
from vem import _arrays, _arrow, _items, _vem

# The limit is what the process has already, and as much as half the file for all the rest.
LIMITED = """
import re, sys, vem

def highest():
    with open("/proc/self/status") as file:
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", file.read()).group(1))

path, size = sys.argv[1], int(sys.argv[2])
limit = highest() + size // 2
km = vem.KMeans(2, random_state=0, memory=limit, n_threads=1, max_iter=3, tol=1).fit(path)
km.predict(path)
km.score(path)
assert highest() < limit, (highest(), limit)
"""


class Interface:
    """An object that only has __array_interface__."""

    def __init__(self, X):
        self._keep, self.__array_interface__ = X, X.__array_interface__


class DLPack:
    def __init__(self, X):
        self._X = X

    def __dlpack__(self, **keywords):
        return self._X.__dlpack__()

    def __dlpack_device__(self):
        return self._X.__dlpack_device__()


class Arrays(Case):
    def setUp(self):
        super().setUp()
        self.X = blobs(500, 4, 3)
        self.known = vem.KMeans(3, random_state=0).fit(self.X)

    def check(self, rows, exact=True):
        km = vem.KMeans(3, random_state=0).fit(rows)
        if exact:
            self.same(km.cluster_centers_, self.known.cluster_centers_)
        self.same(km.labels_, self.known.labels_)
        self.same(km.predict(rows), self.known.labels_)
        return km

    def test_buffers_interfaces_and_tensors(self):
        self.check(Interface(self.X))
        self.check(DLPack(self.X))
        self.check(memoryview(self.X))
        self.check(self.X.tolist())
        self.check(np.asfortranarray(self.X))
        self.check(self.X[::-1][::-1])
        wide = np.zeros((500, 9))
        wide[:, 1::2] = self.X
        self.check(wide[:, 1::2])
        self.check(self.X.astype(">f8"))
        self.check(self.X.astype(np.longdouble))
        self.check(self.X.astype(object))
        self.check(np.ma.masked_array(self.X))
        bytes_off = np.frombuffer(b"\0" + self.X.tobytes(), dtype=np.uint8)[1:]
        self.check(bytes_off.view(np.float64).reshape(500, 4))
        with self.assertRaisesRegex(ValueError, "cannot lie"):
            _vem.borrow(bytes_off.view(np.float64).reshape(500, 4))

    def test_types_that_stay(self):
        for dtype in ("f4", "f2", "u1", "i1", "i2", "i4", "i8", "u2", "u4"):
            X = (np.abs(self.X) * 5).astype(dtype)
            checked = _arrays.check_rows(X, name="x")
            self.assertIs(checked, X)
            self.assertEqual(vem.KMeans(3, random_state=0).fit(X).labels_.shape, (500,))

    def test_no_copy(self):
        big = np.random.RandomState(0).normal(size=(1 << 17, 16)).astype(np.float32)
        path = self.path("big.npy")
        np.save(path, big)
        for X in (big, np.load(path, mmap_mode="r"), big.T.copy().T):
            gc.collect()
            tracemalloc.start()
            checked = _arrays.check_rows(X, name="x")
            data = _arrays.borrow(checked)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            self.assertTrue(np.shares_memory(checked, X))
            self.assertEqual(data.shape, X.shape)
            self.assertLess(peak, X.nbytes / 16)

    def test_a_buffer_lives_as_long_as_its_data(self):
        X = bytearray(8 * 20)
        data = _vem.borrow(memoryview(X).cast("d", (10, 2)))
        with self.assertRaises(BufferError):
            X.append(0)
        del data
        X.append(0)

    def test_paths(self):
        np.save(self.path("x.npy"), self.X)
        km = self.check(self.path("x.npy"))
        self.assertEqual(km.n_features_in_, 4)
        half = [self.path("a.npy"), self.path("b.npy")]
        np.save(half[0], self.X[:200])
        np.save(half[1], self.X[200:])
        self.check(half)
        text = self.path("x.csv")
        with open(text, "w", encoding="utf-8") as file:
            file.write("a,b,c,d\n")
            np.savetxt(file, self.X, delimiter=",", fmt="%.17g")
        km = self.check(text)
        self.assertEqual(list(km.feature_names_in_), list("abcd"))
        # Later files are read by the names of the columns.
        with open(self.path("y.csv"), "w", encoding="utf-8") as file:
            file.write("d,c,b,a,e\n")
            np.savetxt(file, np.c_[self.X[:, ::-1], self.X[:, 0]], delimiter=",", fmt="%.17g")
        self.same(km.predict(self.path("y.csv")), km.labels_)
        self.assertEqual(km.transform(text).shape, (500, 3))
        self.assertAlmostEqual(km.score(text), -km.inertia_, places=6)
        with self.assertRaisesRegex(FileNotFoundError, "nowhere.npy"):
            vem.KMeans(3).fit(self.path("nowhere.npy"))

    def test_arrow(self):
        table = Table([columns_of(self.X[:200]), columns_of(self.X[200:])])
        self.check(table)
        del table
        self.check(Table([{"v": self.X[:100]}, {"v": self.X[100:]}], lists=True))
        self.check(Batch([columns_of(self.X)]))
        single = vem.KMeans(3, random_state=0).fit(Table([columns_of(self.X.astype("f4"))]))
        self.assertEqual(single.cluster_centers_.dtype, np.float32)
        self.same(single.labels_, self.known.labels_)
        for dtype in ("int32", "uint8", "int64", "float16", "int8"):
            X = (np.abs(self.X) * 3).astype(dtype)
            self.same(_arrow.rows_of(Table([columns_of(X)]))[0], X.astype(float))
        nulls = np.zeros(500, dtype=bool)
        nulls[17] = True
        with self.assertRaisesRegex(ValueError, "(?i)row 18.*NaN"):
            vem.KMeans(3).fit(Table([columns_of(self.X)], nulls=nulls))

    def test_arrow_of_what_is_no_number(self):
        table = Table([columns_of(self.X)])
        FORMATS["float64"] = b"u"
        try:
            with self.assertRaisesRegex(TypeError, "format 'u'"):
                vem.KMeans(3).fit(table)
        finally:
            FORMATS["float64"] = b"g"

    def test_long_arrow_streams_rest_in_a_file(self):
        table = Table([columns_of(self.X[i:i + 250]) for i in range(0, 500, 250)])
        left, folder = _vem.allowed({"memory": "1G"}), os.environ.get("VEM_TMPDIR")
        self.assertLess(left, 2**30)
        self.assertGreater(left, _vem.allowed({"memory": 2**29}))
        before, _arrow.PIECE = _arrow.PIECE, 100
        # The limit is such that a quarter of what it leaves has room for 1000 values.
        allowed, _vem.allowed = _vem.allowed, lambda settings: 4 * 8 * 1000
        os.environ["VEM_TMPDIR"] = self._folder.name
        try:
            with self.assertWarnsRegex(UserWarning, "memory='1G' leaves.*temporary file"):
                km = vem.KMeans(3, random_state=0, memory="1G").fit(table)
            self.same(km.cluster_centers_, self.known.cluster_centers_)
            self.same(km.labels_, self.known.labels_)
            with self.assertWarnsRegex(UserWarning, "this machine has left"):
                self.same(self.known.predict(table), self.known.labels_)
            nulls = np.zeros(500, dtype=bool)
            nulls[17] = True
            with self.assertRaisesRegex(ValueError, "(?i)row 18.*NaN"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                vem.KMeans(3).fit(Table([columns_of(self.X)], nulls=nulls))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                _vem.allowed = lambda settings: 4 * self.X.nbytes
                self.check(table)
        finally:
            _arrow.PIECE, _vem.allowed = before, allowed
            os.environ.pop("VEM_TMPDIR") if folder is None else os.environ.update(VEM_TMPDIR=folder)
        self.assertEqual(os.listdir(self._folder.name), [])

    def test_sparse_counts(self):
        N = counts()
        for family in (vem.PoissonMixture, vem.MultinomialMixture, vem.BernoulliMixture):
            # Dense zeros and ones are bytes, for which single precision is enough.
            dense = family(3, random_state=0, precision="double").fit(N)
            for format in ("csr", "csc", "coo"):
                rows = sparse.csr_matrix(N).asformat(format)
                thin = family(3, random_state=0, precision="double").fit(rows)
                np.testing.assert_allclose(thin.means_, dense.means_, rtol=1e-9)
                self.same(thin.predict(rows), dense.predict(N))
                np.testing.assert_allclose(thin.score_samples(rows), dense.score_samples(N))
        with self.assertRaisesRegex(TypeError, "sparse"):
            vem.GaussianMixture(2).fit(sparse.csr_matrix(N))
        with self.assertRaisesRegex(TypeError, "dense rows.*MultinomialMixture.*--method sweep"):
            vem.select(sparse.csr_matrix(N))

    def test_files_of_scipy(self):
        N = counts()
        sparse.save_npz(self.path("n.npz"), sparse.csr_matrix(N))
        pm = vem.PoissonMixture(3, random_state=0, tol=1e-12, max_iter=5000)
        by_path = np.sort(pm.fit(self.path("n.npz")).means_, axis=0)
        by_rows = np.sort(pm.fit(sparse.csr_matrix(N)).means_, axis=0)
        np.testing.assert_allclose(by_path, by_rows, rtol=1e-3)

    def test_frames(self):
        pandas = __import__("pandas")
        frame = pandas.DataFrame(self.X, columns=list("abcd"))
        km = self.check(frame)
        self.assertEqual(list(km.feature_names_in_), list("abcd"))
        with self.assertRaisesRegex(ValueError, "feature names should match"):
            km.predict(frame.rename(columns={"a": "z"}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            km.predict(frame)
        with self.assertWarnsRegex(UserWarning, "does not have valid feature names"):
            km.predict(self.X)
        out = km.set_output(transform="pandas").transform(frame)
        self.assertEqual(list(out.columns), ["kmeans0", "kmeans1", "kmeans2"])

    def test_what_is_wrong_is_said(self):
        X = self.X.copy()
        X[16, 2] = np.nan
        with self.assertRaisesRegex(ValueError, "(?i)row 17, column 3.*NaN"):
            vem.KMeans(3).fit(X)
        for bad, words in (({"n_clusters": 0}, "n_clusters is 0"), ({"n_held": -1}, "n_held is -1"),
                           ({"n_threads": 1.5}, "n_threads is 1.5"),
                           ({"search": "x"}, "search is 'x'"), ({"algorithm": "x"}, "algorithm"),
                           ({"init": "x"}, "init is 'x'"), ({"tol": -1}, "tol"),
                           ({"tol": None}, "tol is None"), ({"standardize": "no"}, "True or False"),
                           ({"memory": "much"}, "memory is"),
                           ({"random_state": -1}, "random_state")):
            with self.assertRaisesRegex(ValueError, words):
                vem.KMeans(3).set_params(**bad).fit(self.X)
        for bad, words in ((np.float64(3), "2D array"), (None, "2D array"),
                           (self.X[:, 0], "2D array"), (self.X[None], "dim 3"),
                           (np.empty((0, 4)), "0 sample"),
                           (np.empty((5, 0)), "0 feature"), ([[1, 2], [3]], "inhomogeneous"),
                           (np.array([[1, None, 2, 3]] * 9, dtype=object),
                            "(?i)row 1, column 2.*NaN"),
                           ([["a", "b"]] * 9, "strings"), (self.X * 1j, "(?i)complex"),
                           (np.zeros((9, 2), dtype="M8[s]"), "datetime64"),
                           (np.where(self.X > 2, np.inf, self.X), "infinite"),
                           (self.X * 1e290, "overflow"), ("", "could not be opened"),
                           ("a\0b.npy", "null byte"), (os.path.dirname(__file__), "directory"),
                           (np.ma.masked_greater(self.X, 3), "(?i)missing")):
            for est in (vem.KMeans(3, random_state=0), vem.GaussianMixture(3, random_state=0),
                        vem.BayesianKMeans(3, random_state=0), vem.AgglomerativeBayes(3)):
                with self.assertRaisesRegex((ValueError, TypeError, OSError), words):
                    est.fit(bad)
                with self.assertRaisesRegex((ValueError, TypeError, OSError), words):
                    self.known.predict(bad)
        for weights in ([1, 2], np.full(500, -1.0), np.full(500, np.nan), np.zeros(500)):
            with self.assertRaises(ValueError):
                vem.KMeans(3).fit(self.X, sample_weight=weights)

    def test_a_path_is_mapped(self):
        X = np.random.RandomState(0).normal(size=(1 << 16, 16)).astype(np.float32)
        np.save(self.path("x.npy"), X)
        km = vem.KMeans(4, random_state=0, memory="1G").fit(self.path("x.npy"))
        self.same(km.cluster_centers_, vem.KMeans(4, random_state=0).fit(X).cluster_centers_)
        rows = _items.Rows(self.path("x.npy"), name="x")
        with open("/proc/self/maps", encoding="utf-8") as maps:
            self.assertIn(os.path.realpath(self.path("x.npy")), maps.read())
        self.assertIsNone(rows.array)

    def test_a_mapped_file_keeps_to_the_limit(self):
        # More bytes than the limit leaves: the pages of the file are let go, in fits and after.
        path = self.path("x.npy")
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(1 << 18, 64))
        X[:] = np.random.RandomState(0).normal(size=(1 << 8, 64))[np.arange(1 << 18) % 256]
        size = X.nbytes
        del X
        done = python(LIMITED, path, size)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_batches_that_are_not_what_their_schema_says(self):
        class Short(Table):
            def fill_batch(self, out, batch):
                super().fill_batch(out, batch)
                self.spoil(out)

        def fewer(out):
            out.n_children -= 1

        def longer(out):
            out.length += 1

        def empty(out):
            out.children[0].contents.n_buffers = 1

        for spoil in (fewer, longer, empty):
            table = Short([columns_of(self.X)])
            table.spoil = spoil
            with self.assertRaisesRegex(ValueError, "schema"):
                vem.KMeans(3).fit(table)


if __name__ == "__main__":
    main()
