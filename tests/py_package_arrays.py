#!/usr/bin/env python3
"""What the package takes for rows, and that it takes them without a copy where it can."""
import ctypes
import gc
import os
import tracemalloc
import warnings

from package_case import Case, blobs, command, counts, main, np, vem

from scipy import sparse
from vem import _arrays, _vem

# ---- A producer of Arrow tables, by hand ---------------------------------------------------


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowStream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))
ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.c_void_p), ("release", RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.c_void_p), ("release", RELEASE_ARRAY), ("private_data", ctypes.c_void_p)]
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream),
                              ctypes.POINTER(ArrowSchema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.POINTER(ArrowArray))
LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowStream))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowStream))
ArrowStream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT),
                        ("get_last_error", LAST_ERROR), ("release", RELEASE_STREAM),
                        ("private_data", ctypes.c_void_p)]
capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype = ctypes.py_object
capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
FORMATS = {"float64": b"g", "float32": b"f", "int32": b"i", "uint8": b"C", "int64": b"l",
           "float16": b"e", "int8": b"c"}


class Table:
    """Batches of columns (a dict from names to arrays, or lists of them), or of fixed-size lists."""

    def __init__(self, batches, lists=False, nulls=None):
        self.batches, self.lists, self.nulls = batches, lists, nulls
        self.keep = []  # what the structs point at
        self.released = 0

    def _schema_of(self, out, format, name=b"", children=()):
        out.format, out.name, out.n_children = format, name, len(children)
        pointers = (ctypes.POINTER(ArrowSchema) * max(len(children), 1))(
            *[ctypes.pointer(c) for c in children])
        out.children = pointers
        out.release = self._release_schema = RELEASE_SCHEMA(self._on_release)
        self.keep += [pointers, children, out.release]

    def _on_release(self, pointer):
        self.released += 1
        pointer.contents.release = type(pointer.contents.release)()

    def fill_schema(self, out):
        first = self.batches[0]
        children = []
        for name, column in first.items():
            child = ArrowSchema()
            kind = FORMATS[str(column.dtype)]
            if self.lists:
                item = ArrowSchema()
                self._schema_of(item, kind, b"item")
                self._schema_of(child, b"+w:%d" % column.shape[1], name.encode(), [item])
            else:
                self._schema_of(child, kind, name.encode())
            children.append(child)
        self._schema_of(out, b"+s", b"", children)

    def _array_of(self, out, length, buffers, children=(), nulls=0):
        out.length, out.null_count, out.offset = length, nulls, 0
        out.n_buffers, out.n_children = len(buffers), len(children)
        addresses = (ctypes.c_void_p * max(len(buffers), 1))(*buffers)
        pointers = (ctypes.POINTER(ArrowArray) * max(len(children), 1))(
            *[ctypes.pointer(c) for c in children])
        out.buffers, out.children = addresses, pointers
        out.release = RELEASE_ARRAY(self._on_release)
        self.keep += [addresses, pointers, children, out.release]

    def fill_batch(self, out, batch):
        children = []
        for column in batch.values():
            column = np.ascontiguousarray(column)
            self.keep.append(column)
            child = ArrowArray()
            if self.lists:
                item = ArrowArray()
                self._array_of(item, column.size, [None, column.ctypes.data])
                self._array_of(child, len(column), [None], [item])
            elif self.nulls is not None:
                bits = np.packbits(~self.nulls, bitorder="little")
                self.keep.append(bits)
                self._array_of(child, len(column), [bits.ctypes.data, column.ctypes.data],
                               nulls=int(self.nulls.sum()))
            else:
                self._array_of(child, len(column), [None, column.ctypes.data])
            children.append(child)
        self._array_of(out, len(next(iter(batch.values()))), [None], children)

    def __arrow_c_stream__(self, requested_schema=None):
        stream, left = ArrowStream(), list(self.batches)

        def get_schema(_, out):
            self.fill_schema(out.contents)
            return 0

        def get_next(_, out):
            if left:
                self.fill_batch(out.contents, left.pop(0))
            else:
                out.contents.release = RELEASE_ARRAY()
            return 0

        stream.get_schema, stream.get_next = GET_SCHEMA(get_schema), GET_NEXT(get_next)
        stream.get_last_error = LAST_ERROR(lambda _: b"none")
        stream.release = RELEASE_STREAM(lambda _: None)
        self.keep.append(stream)
        return capsule_new(ctypes.addressof(stream), b"arrow_array_stream", None)


class Batch(Table):
    """The same as one array."""

    __arrow_c_stream__ = property()

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = ArrowSchema(), ArrowArray()
        self.fill_schema(schema)
        self.fill_batch(array, self.batches[0])
        self.keep += [schema, array]
        return (capsule_new(ctypes.addressof(schema), b"arrow_schema", None),
                capsule_new(ctypes.addressof(array), b"arrow_array", None))


def columns_of(X):
    return {f"c{j}": X[:, j].copy() for j in range(X.shape[1])}


# ---- Tests ---------------------------------------------------------------------------------


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
        with self.assertRaisesRegex(OSError, "nowhere.npy"):
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
            self.same(_arrays.check_rows(Table([columns_of(X)]), name="x"), X.astype(float))
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
        from vem import _arrow

        before, _arrow.IN_MEMORY = _arrow.IN_MEMORY, 4096
        try:
            with self.assertWarnsRegex(UserWarning, "temporary file"):
                X = _arrays.check_rows(Table([columns_of(self.X[i:i + 100])
                                              for i in range(0, 500, 100)]), name="x")
        finally:
            _arrow.IN_MEMORY = before
        self.same(X, self.X)

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
                           ({"random_state": -1}, "random_state")):
            with self.assertRaisesRegex(ValueError, words):
                vem.KMeans(3).set_params(**bad).fit(self.X)
        for weights in ([1, 2], np.full(500, -1.0), np.full(500, np.nan), np.zeros(500)):
            with self.assertRaises(ValueError):
                vem.KMeans(3).fit(self.X, sample_weight=weights)

    def test_a_path_is_mapped(self):
        # Larger than what may be resident: the rows rest in their file.
        X = np.random.RandomState(0).normal(size=(1 << 16, 16)).astype(np.float32)
        np.save(self.path("x.npy"), X)
        km = vem.KMeans(4, random_state=0, memory="1G").fit(self.path("x.npy"))
        self.same(km.cluster_centers_, vem.KMeans(4, random_state=0).fit(X).cluster_centers_)
        self.assertIn("float32", command("info", self.path("x.npy")))
        self.assertTrue(os.path.exists(self.path("x.npy")))


if __name__ == "__main__":
    main()
