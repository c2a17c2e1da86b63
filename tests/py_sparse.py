#!/usr/bin/env python3
"""Sparse rows, from .mtx and from .npz as scipy.sparse.save_npz writes them: the same fits,
labels and likelihoods as of the same rows written out; broken files; what takes no such rows. The
files are made by hand; skipped (77) without numpy."""
import gzip
import io
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from cli_case import *

FAMILIES = ("bernoulli", "poisson", "multinomial")


def counts(family, n=300, d=40, seed=1):
    rng = np.random.default_rng(seed)
    label = rng.integers(4, size=n)
    rate = rng.gamma(.25, 1.5, (4, d))[label]
    x = rng.poisson(rate).astype(float)
    x[7] = 0  # a row without counts
    return (x > 0).astype(float) if family == "bernoulli" else x


def mtx(x, field="integer", order=None, comment="% made by hand\n"):
    """A Matrix Market file; the order of the entries is free."""
    rows, columns = np.nonzero(x)
    order = np.arange(len(rows)) if order is None else order
    lines = [f"{rows[e] + 1} {columns[e] + 1}"
             + ("" if field == "pattern" else f" {x[rows[e], columns[e]]:g}") for e in order]
    return (f"%%MatrixMarket matrix coordinate {field} general\n{comment}"
            f"{x.shape[0]} {x.shape[1]} {len(lines)}\n" + "".join(l + "\n" for l in lines))


def arrays(x, layout, dtype=np.int64, index=np.int32):
    """What scipy.sparse.save_npz writes."""
    rows, columns = np.nonzero(x if layout != "csc" else x.T)
    values = (x if layout != "csc" else x.T)[rows, columns].astype(dtype)
    out = {"format": np.array(layout.encode()), "shape": np.array(x.shape), "data": values}
    if layout == "coo":
        return {**out, "row": rows.astype(index), "col": columns.astype(index)}
    lines = x.shape[0] if layout == "csr" else x.shape[1]
    starts = np.searchsorted(rows, np.arange(lines + 1)).astype(index)
    return {**out, "indptr": starts, "indices": columns.astype(index)}


class Sparse(Case):
    def dense(self, x, name="x.npy"):
        np.save(self.path(name), x)
        return self.path(name)

    def save(self, name, parts, compress=True):
        (np.savez_compressed if compress else np.savez)(self.path(name), **parts)
        return self.path(name)

    def same(self, family, x, file, *more):
        """Fits, scores and labels of the file are those of the rows written out."""
        how = ["-k", 3, "--family", family, "--max-steps", 20, "--measure", "exact", *more]
        one = self.json("fit", self.dense(x), *how, "-o", self.path("a.npz"), "--labels",
                        self.path("a.npy"))
        two = self.json("fit", file, *how, "-o", self.path("b.npz"), "--labels",
                        self.path("b.npy"))
        for key in ("free_energy", "free_energy_first", "log_likelihood"):
            self.assertAlmostEqual(one[key], two[key], delta=1e-9 * max(1, abs(one[key])))
        self.assertEqual(one["steps"], two["steps"])
        a, b = np.load(self.path("a.npz")), np.load(self.path("b.npz"))
        np.testing.assert_allclose(a["means"], b["means"], rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(np.load(self.path("a.npy")), np.load(self.path("b.npy")))

    def test_the_same_as_dense(self):
        for family in FAMILIES:
            x = counts(family)
            file = self.write("x.mtx", mtx(x))
            # bernoulli seeds among all rows where they are dense, in a sample where not: the same
            # here, as the sample is all of them
            for more in (["--seed", 1], ["--seed", 2, "--search", "closest", "--held", 2],
                         ["--empty", "drop"], ["--held", 1, "--search", "closest"]):
                self.same(family, x, file, *more)

    def test_blocks_are_of_rows_in_random_order(self):
        """As those of a table are: the same seed puts both in the same order."""
        for family in FAMILIES:
            x = counts(family)
            x = x[np.argsort(x.sum(1), kind="stable")]
            self.same(family, x, self.write("x.mtx", mtx(x)), "--algorithm", "incremental-em",
                      "--blocks", 7)

    def test_starts_on_a_sample(self):
        """Rows of a sample are looked at where they lie."""
        for family in FAMILIES:
            x = counts(family, n=5000)
            self.same(family, x, self.write("x.mtx", mtx(x)))

    def test_weights(self):
        x = counts("poisson")
        np.save(self.path("w.npy"), np.random.default_rng(1).uniform(0, 3, len(x)))
        self.same("poisson", x, self.write("x.mtx", mtx(x)), "--weights", self.path("w.npy"))

    def test_every_form(self):
        x = counts("multinomial")
        shuffled = np.random.default_rng(5).permutation(np.count_nonzero(x))
        bits = counts("bernoulli")
        self.same("multinomial", x, self.write("x.mtx", mtx(x, "real", shuffled)))
        self.same("multinomial", x, self.write("x.mtx.gz", gzip.compress(mtx(x).encode())))
        self.same("multinomial", x, self.write("y.mtx", mtx(x).replace("\n", "\r\n")))
        self.same("bernoulli", bits, self.write("z.mtx", mtx(bits, "pattern")))
        for layout in ("csr", "csc", "coo"):
            for dtype, index, compress in ((np.int64, np.int32, True), (np.float32, np.int64, False),
                                           (np.uint8, np.int32, True)):
                self.same("multinomial", x,
                          self.save("s.npz", arrays(x, layout, dtype, index), compress))
        self.same("bernoulli", bits, self.save("t.npz", arrays(bits, "csr", bool)))

    def test_scipy(self):
        try:
            import scipy.io
            import scipy.sparse
        except ImportError:
            self.skipTest("scipy is not installed")
        x = counts("poisson")
        for layout in ("csr", "csc", "coo"):
            scipy.sparse.save_npz(self.path("s.npz"), scipy.sparse.coo_matrix(x).asformat(layout))
            self.same("poisson", x, self.path("s.npz"))
        scipy.io.mmwrite(self.path("s.mtx"), scipy.sparse.csr_matrix(x))
        self.same("poisson", x, self.path("s.mtx"))
        scipy.io.mmwrite(self.path("u.mtx"), scipy.sparse.coo_matrix(x.astype("u1")), field="unsigned-integer")
        self.same("poisson", x, self.path("u.mtx"))

    def test_other_verbs(self):
        for family in FAMILIES:
            x = counts(family)
            file, rows = self.write("x.mtx", mtx(x)), self.dense(x)
            self.vem("fit", file, "-k", 3, "--family", family, "-o", self.path("m.npz"))
            one, two = (self.json("score", self.path("m.npz"), f) for f in (rows, file))
            self.assertAlmostEqual(one["log_likelihood"], two["log_likelihood"], delta=1e-9)
            for name, f in (("a.npy", rows), ("b.npy", file)):
                self.vem("predict", self.path("m.npz"), f, "--top", "all", "-o", self.path(name))
            np.testing.assert_allclose(np.load(self.path("a.npy")), np.load(self.path("b.npy")),
                                       atol=1e-12)
            one, two = (self.vem("describe", self.path("m.npz"), f).stdout.split("\n", 1)[1]
                        for f in (rows, file))
            self.assertEqual(one, two)
            for name, f in (("a.npz", rows), ("b.npz", file)):
                self.json("fit", f, "--init", self.path("m.npz"), "--accumulate", self.path(name))
            a, b = (npz_parse(self.path(name)) for name in ("a.npz", "b.npz"))
            np.testing.assert_allclose(a["first"][2], b["first"][2], rtol=1e-9)
            told = self.json("info", file)
            self.assertEqual((told["n"], told["d"]), x.shape)

    def test_describe_is_that_of_the_table(self):
        """Moments and exemplars, with weights (some of them 0), from the values alone."""
        for family in FAMILIES:
            x = counts(family, n=500)
            file, rows = self.write("x.mtx", mtx(x)), self.dense(x)
            weights = np.random.default_rng(2).integers(0, 3, len(x)).astype(float)
            np.save(self.path("w.npy"), weights)
            self.vem("fit", file, "-k", 3, "--family", family, "-o", self.path("m.npz"))
            for more in ([], ["--weights", self.path("w.npy")]):
                one, two = (self.json("describe", self.path("m.npz"), f, *more)
                            for f in (rows, file))
                self.near(one, two)

    def near(self, one, two, where="describe"):
        self.assertEqual(type(one), type(two), where)
        if isinstance(one, dict):
            self.assertEqual(set(one), set(two), where)
            for key in set(one) - {"seconds", "dtype", "format", "data"}:
                self.near(one[key], two[key], f"{where}.{key}")
        elif isinstance(one, list):
            self.assertEqual(len(one), len(two), where)
            for k, (a, b) in enumerate(zip(one, two)):
                self.near(a, b, f"{where}[{k}]")
        elif isinstance(one, float):
            self.assertAlmostEqual(one, two, delta=1e-9 * max(1, abs(one)), msg=where)
        else:
            self.assertEqual(one, two, where)

    def test_the_same_bits_for_any_threads(self):
        for family in FAMILIES:
            file = self.write("x.mtx", mtx(counts(family, n=3000)))
            for search in (["--search", "all"], ["--search", "closest", "--held", 2]):
                bits = []
                for threads in (1, 2, 3, 7):
                    self.vem("fit", file, "-k", 6, "--family", family, "--threads", threads,
                             "--max-steps", 6, *search, "-o", self.path("m.npz"))
                    model = np.load(self.path("m.npz"))
                    bits.append(model["means"].tobytes() + model["weights"].tobytes())
                self.assertEqual(len(set(bits)), 1)

    def test_a_fit_goes_on(self):
        x = counts("poisson")
        file = self.write("x.mtx", mtx(x))
        how = ["fit", file, "-k", 3, "--family", "poisson", "--tolerance", 0]
        whole = self.json(*how, "--max-steps", 9, "-o", self.path("a.npz"))
        self.json(*how, "--max-steps", 4, "--checkpoint", self.path("s"), "-o", self.path("b.npz"))
        more = self.json(*how, "--max-steps", 9, "--checkpoint", self.path("s"), "--resume", "-o",
                         self.path("c.npz"))
        self.assertEqual(whole["free_energy"], more["free_energy"])

    def test_what_takes_no_sparse_rows(self):
        x = counts("poisson")
        file = self.write("x.mtx", mtx(x))
        out = ["-o", self.path("m.npz")]
        self.refuse(2, ["fit", file, "-k", 3, *out], "sparse", "bernoulli, poisson and multinomial")
        for more in (["--search", "groups"], ["--search", "estimated"]):
            self.refuse(2, ["fit", file, "-k", 3, "--family", "poisson", *more, *out], "all and closest")
        self.refuse(2, ["fit", file, "-k", 3, "--family", "poisson", "--coreset", 50, *out], "coreset")
        self.refuse(2, ["fit", file, "-k", 3, "--family", "poisson", "--cells", 50, *out], "cells")
        self.refuse(2, ["coreset", file, "-m", 20, "-o", self.path("c.npz")], "sparse")
        self.refuse(2, ["fit", file, "-k", 3, "--family", "poisson", "--columns", "1,2", *out],
                    "--columns")
        for missing in ("drop", "mean"):
            self.refuse(2, ["fit", file, "-k", 3, "--family", "poisson", "--missing", missing, *out],
                        f"--missing is {missing}", "sparse")
        self.vem("fit", file, "-k", 3, "--family", "poisson", "--missing", "error", *out)
        self.refuse(1, ["fit", file, file, "-k", 3, "--family", "poisson", *out], "one file")
        self.vem("fit", self.dense(x), "-k", 3, "-o", self.path("k.npz"))
        self.refuse(2, ["predict", self.path("k.npz"), file, "-o", self.path("l.npy")],
                    "families of counts")

    def test_values_that_are_no_counts(self):
        for value, family in ((-1, "poisson"), (0.5, "multinomial"), (2, "bernoulli")):
            x = counts("bernoulli")
            x[20, 5] = value
            for file in (self.write("x.mtx", mtx(x, "real")),
                         self.save("x.npz", arrays(x, "csc", float))):
                self.refuse(1, ["fit", file, "-k", 3, "--family", family, "-o", self.path("m.npz")],
                            f"row 21, column 6 is {value}, but family {family}")

    def broken(self, text, *patterns):
        self.refuse(1, ["fit", self.write("b.mtx", text), "-k", 2, "--family", "poisson", "-o",
                        self.path("m.npz")], *patterns)

    def test_broken_text(self):
        head = "%%MatrixMarket matrix coordinate integer general\n"
        good = head + "3 4 3\n1 1 2\n2 4 1\n3 2 5\n"
        self.vem("fit", self.write("g.mtx", good), "-k", 2, "--family", "poisson", "-o",
                 self.path("g.npz"))
        self.broken("", "empty")
        self.broken("1,2\n3,4\n", "Matrix Market")
        self.broken(head, "ends before its sizes")
        self.broken(head + "3 4\n1 1 2\n", "line 2")
        self.broken(head + "3 4 3\n1 1 2\n", "truncated", "ends after 1")
        self.broken(good + "1 2 3\n", "line 6", "announced")
        self.broken(head + "3 4 3\n1 1 2\n4 1 1\n3 2 5\n", "row 4, column 1", "3 rows")
        self.broken(head + "3 4 3\n1 1 2\n2 5 1\n3 2 5\n", "column 5", "4 columns")
        self.broken(head + "3 4 3\n1 1 2\n0 1 1\n3 2 5\n", "row 0")
        self.broken(head + "3 4 3\n1 1 2\n1 1 1\n3 2 5\n", "row 1, column 1 more than once")
        self.broken(head + "3 4 3\n1 1 2\n2 4 x\n3 2 5\n", "line 4")
        for value in ("nan", "NaN", "-inf", "Infinity"):
            self.broken(head + f"3 4 3\n1 1 2\n2 4 {value}\n3 2 5\n", "b.mtx, line 4",
                        "NaN or an infinite value")
        self.broken(head + "3 4 3\n1 1 2\n2 4 9007199254740993\n3 2 5\n", "b.mtx, line 4", "2\\^53")
        for exact in (head + "3 4 3\n1 1 2\n2 4 9007199254740991\n3 2 5\n",
                      head.replace("integer", "real") + "3 4 3\n1 1 2\n2 4 9007199254740993\n3 2 5\n"):
            self.vem("info", self.write("g.mtx", exact))
        self.broken(head + "3 4 3\n1 1 2\n2 4 1e999\n3 2 5\n", "row 2, column 4", "infinite")
        self.broken(head + "3 4 3\n1 1 2\n2 4 1 7\n3 2 5\n", "line 4")
        self.broken(head + "3 4 3\n1 1 2\n-2 4 1\n3 2 5\n", "line 4")
        self.broken(head + "3 4 99999999999\n1 1 2\n", "cannot hold")
        self.broken(head + "999999999999 4 1\n1 1 2\n", "nearly all rows would be empty")
        self.broken(head + "3 99999999999 1\n1 1 2\n", "columns")
        self.broken(head + "0 4 0\n", "at least 1")
        self.broken(head + "99999999999999999999 4 1\n1 1 2\n", "line 2")
        for words in ("array integer general", "coordinate complex general",
                      "coordinate integer symmetric"):
            self.broken(f"%%MatrixMarket matrix {words}\n3 4 1\n1 1 2\n", "vem reads")

    def test_broken_archives(self):
        x = counts("poisson", n=30)
        good = arrays(x, "csr")

        def refuse(pattern, **other):
            parts = {k: v for k, v in {**good, **other}.items() if v is not None}
            self.refuse(1, ["fit", self.save("b.npz", parts), "-k", 2, "--family", "poisson", "-o",
                            self.path("m.npz")], pattern)

        start, index = good["indptr"], good["indices"]
        refuse("format bsr", format=np.array(b"bsr"))
        refuse("named indptr", indptr=None)
        refuse("named indices", indices=None)
        refuse("array indices has .* numbers, but there are", data=good["data"][:-1])
        refuse("array indptr has 30 numbers, but 31 are needed for 30 rows", indptr=start[:-1])
        refuse("shape", shape=np.array([30]))
        refuse("no number of rows", shape=np.array([-1, 40]), indptr=start[:1])
        refuse("no number of rows or columns", shape=np.array([30.5, 40]))
        refuse("b.npz ends with 5, but there are", indptr=np.minimum(start, 5))
        refuse("b.npz does not begin with 0", indptr=start + 1)
        refuse("holds -3 as number 6", indptr=np.where(np.arange(31) == 5, -3, start))
        refuse("holds 0.25 as number 1", indptr=start + .25)
        # Past the values, in the middle and at the end; falling.
        refuse("falls: number 7", indptr=np.where(np.arange(31) == 5, start[-1] + 9, start))
        refuse(f"ends with {start[-1] + 9}, but there are {start[-1]} values",
               indptr=np.where(np.arange(31) == 30, start[-1] + 9, start))
        refuse("falls: number 6 is 0", indptr=np.where(np.arange(31) == 5, 0, start))
        refuse("indices of .*b.npz holds .*5 as number 1", indices=index + .5)
        refuse("there are 30 rows and 40", indices=index + 40)
        refuse("there are 30 rows and 40", indices=-index - 1)
        refuse("more than once", indices=np.zeros_like(index))
        refuse("dimensions", indices=index[None])
        for value, words in ((np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")):
            refuse(fr"b.npz, value 4 \(row 1, column {index[3] + 1}\) is {words}",
                   data=np.where(np.arange(len(index)) == 3, value, 1.0))

    def test_broken_triples(self):
        x = counts("poisson", n=30)
        good = arrays(x, "coo")

        def refuse(pattern, **other):
            self.refuse(1, ["fit", self.save("b.npz", {**good, **other}), "-k", 2, "--family",
                            "poisson", "-o", self.path("m.npz")], pattern)

        refuse("row of .*b.npz holds 0.5 as number 1", row=good["row"] + .5)
        refuse("col of .*b.npz holds nan as number 3",
               col=np.where(np.arange(len(good["col"])) == 2, np.nan, good["col"]))
        refuse("there are 30 rows", row=good["row"] + 1)
        for layout in ("csr", "csc", "coo"):
            self.refuse(1, ["fit", self.save("b.npz", arrays(0 * x, layout)), "-k", 1, "--family",
                            "poisson"], "b.npz holds a sparse matrix without values")


if __name__ == "__main__":
    main()
