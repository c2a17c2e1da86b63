#!/usr/bin/env python3
"""Nothing is left behind: whatever is called again and again, the bytes that malloc has given and the
references to what every call is given stay as they are. (The sanitizers do not see the package.)"""
import ctypes
import gc
import pickle
import sys
import warnings

from arrow_table import Batch, Table, columns_of
from package_case import Case, blobs, counts, main, np, vem

from vem import _vem

TIMES = 10  # calls in a round
SLACK = 600  # bytes: a leak of 60 in each call is seen
ROUNDS = 20  # caches (NumPy has some) fill in the first ones; what leaks does so in all


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
                 "fordblks", "keepcost")]


def bytes_in_use():
    """By malloc, in all arenas; None where the C library cannot say."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    mallinfo.restype = Mallinfo
    found = mallinfo()
    return found.uordblks + found.hblkhd


class Leaks(Case):
    def steady(self, name, call, *given):
        """call() leaves no bytes, and no references to what is given."""
        kinds = [None, True, *given, *(getattr(_vem, kind) for kind in
                                       ("Data", "Model", "Tree", "Path", "Stream", "Arrow"))]
        call()
        for _ in range(ROUNDS):
            gc.collect()
            before = [sys.getrefcount(kind) for kind in kinds]
            memory = bytes_in_use() or 0
            for _ in range(TIMES):
                call()
            gc.collect()
            grown = (bytes_in_use() or 0) - memory
            more = [sys.getrefcount(kind) - count for kind, count in zip(kinds, before)]
            if grown < SLACK and max(more) < TIMES // 2:
                return
        self.fail(f"{name}: {grown} bytes and {more} references are left by {TIMES} calls")

    def raises(self, call):
        def attempt():
            try:
                call()
            except (ArithmeticError, MemoryError, OSError, TypeError, ValueError):
                return
            raise AssertionError("nothing was raised")

        return attempt

    def test_estimators(self):
        for est, X in self.estimators():
            X = X[:60]
            est.set_params(n_threads=1)
            name = type(est).__name__
            self.steady(name + ".fit", lambda: est.fit(X), X)
            self.steady(name + " pickled", lambda: pickle.loads(pickle.dumps(est)).save(
                self.path("m.npz")))
            self.steady(name + " loaded", lambda: vem.load(self.path("m.npz")))
            if hasattr(est, "predict"):
                self.steady(name + " used", lambda: (est.predict(X), est.score(X),
                                                     est.predict_top(X, 2), vem.describe(est, X)))
            if hasattr(est, "sample"):
                self.steady(name + " as a density", lambda: (
                    est.sample(5), est.predict_proba(X), est.score_samples(X)))

    def test_functions_and_streams(self):
        X = blobs(400, 3, 3)
        self.steady("functions", lambda: (
            vem.coreset(X, 50, n_threads=1), vem.kmeans_plusplus(X, 3, n_threads=1),
            vem.generate("separated", n_clusters=3, random_state=0)), X)

        def batches():
            km = vem.KMeans(3, coreset_size=60, random_state=0, n_threads=1)
            km.partial_fit(X[:200]).partial_fit(X[200:])

        self.steady("partial_fit", batches, X)
        self.steady("selected", lambda: vem.select(X, max_clusters=4, random_state=0, n_threads=1,
                                                   prior={"mean": np.zeros(3), "scale": 1.0}))

    def test_what_fails(self):
        X = blobs(200, 3, 3)
        spoiled = X.copy()
        spoiled[7, 1] = np.nan
        km = vem.KMeans(3, random_state=0, n_threads=1).fit(X)

        def refuse(progress):
            raise ArithmeticError("no")

        told = vem.KMeans(3, n_threads=1, callback=refuse)
        np.save(self.path("x.npy"), X)
        np.save(self.path("spoiled.npy"), spoiled)
        with open(self.path("text.npz"), "wb") as file:
            file.write(b"PK\3\4 no model")
        for name, call in (
                ("NaN", lambda: km.predict(spoiled)), ("columns", lambda: km.predict(X[:, :2])),
                ("exception", lambda: told.fit(X)),
                ("file", lambda: km.predict(self.path("spoiled.npy"))),
                ("no file", lambda: km.predict(self.path("no.npy"))),
                ("no model", lambda: vem.load(self.path("text.npz"))),
                ("option", lambda: _vem.fit(_vem.borrow(X), {"clusters": "x"})),
                ("settings", lambda: _vem.fit(_vem.borrow(X), {}, None, {"memory": "x"})),
                ("buffer", lambda: _vem.borrow(b"bytes")),
                ("short", lambda: _vem.borrow(X).get(0, 200, bytearray(8))),
                ("model", lambda: _vem.model_new({**km._state, "means": np.zeros(1)})),
                ("large", lambda: _vem.model_new({**km._state, "columns": 2**31 - 1,
                                                  "clusters": 2**31 - 1, "family": "full"})),
                ("sparse", lambda: _vem.sparse(2, 2, np.array([0, 1, 9]), np.zeros(9, np.int32),
                                               np.zeros(1))),
                ("arrow", lambda: _vem.arrow("capsule"))):
            self.steady(name, self.raises(call), X)
        self.steady("file", lambda: km.fit(self.path("x.npy")))

    def test_tables_of_others(self):
        X, N = blobs(100, 3, 3), counts(60, 4)
        warnings.simplefilter("ignore")
        columns = columns_of(X)

        def tables():
            for kind in (Table, Batch):
                table = kind([columns])
                vem.coreset(table, 5, n_threads=1)
                # The schema and the batch, once each: what is in them is theirs.
                self.assertEqual(table.released, 2)

        self.steady("Arrow", tables)
        from scipy.sparse import csr_matrix

        thin = csr_matrix(N)
        pm = vem.PoissonMixture(2, random_state=0, n_threads=1)
        self.steady("sparse", lambda: pm.fit(thin).predict(thin), thin)


if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # of all that was imported: collections look at what is new
    main()
