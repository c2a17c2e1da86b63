#!/usr/bin/env python3
"""vem score --index: what the command says of an index, beside loops in numpy, and docs/guide/ivf.md."""
import csv
import json
import os
import re
import subprocess
import xml.etree.ElementTree as tree

import numpy as np

from cli_case import *


def curve(rows, queries, means, neighbors):
    """(mean rows scanned, recall) for every number of lists, and the sizes of the lists."""
    def distances(a, b):
        return ((a[:, None, :] - b[None, :, :]) ** 2).sum(2)
    label = distances(rows, means).argmin(1)
    sizes = np.bincount(label, minlength=len(means))
    wanted = distances(queries, rows).argsort(1, kind="stable")[:, :neighbors]
    order = distances(queries, means).argsort(1, kind="stable")
    scanned = sizes[order].cumsum(1)
    rank = order.argsort(1)
    needed = np.take_along_axis(rank, label[wanted], 1)
    recall = [(needed < p).mean() for p in range(1, len(means) + 1)]
    return scanned.mean(0), np.array(recall), sizes


class Index(Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(4)
        centers = random.normal(0, 3, (20, 6))
        self.rows = (centers[random.integers(20, size=3000)] + random.normal(size=(3000, 6))).astype("f8")
        self.queries = self.rows[::60] + random.normal(0, 0.1, (50, 6))
        np.save(self.path("x.npy"), self.rows)
        np.save(self.path("q.npy"), self.queries)

    def fitted(self, *options):
        self.vem("fit", self.path("x.npy"), "-k", 200, "-o", self.path("m.npz"), *options)
        return np.load(self.path("m.npz"))["means"]

    def test_as_numpy(self):
        for options, length in (((), 0), (("--normalize",), 1)):
            means = self.fitted(*options)
            rows, queries = self.rows, self.queries
            if length:
                rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
                queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
            told = self.json("score", self.path("m.npz"), self.path("x.npy"), "--index",
                             self.path("q.npy"), "--neighbors", 5)
            scanned, recall, sizes = curve(rows, queries, means, 5)
            self.assertAlmostEqual(told["size_cv"], sizes.std() / sizes.mean())
            self.assertEqual(told["size_largest"], sizes.max())
            self.assertEqual(told["size_empty"], (sizes == 0).sum())
            for point in told["curve"]:
                p = int(point["probes"])
                self.assertAlmostEqual(point["scanned"], scanned[p - 1])
                self.assertAlmostEqual(point["recall"], recall[p - 1])
            by = {b["share"]: b for b in told["budgets"]}
            self.assertEqual(sorted(by), [0.005, 0.01, 0.02, 0.05])
            self.assertAlmostEqual(by[0.02]["recall"], np.interp(0.02 * 3000, scanned, recall))

    def test_words_and_picture(self):
        self.fitted()
        told = self.vem("score", self.path("m.npz"), self.path("x.npy"), "--index", self.path("q.npy"),
                        "--picture", self.path("recall.svg")).stdout
        self.assertIn("3,000 rows in 200 lists; 50 queries", told)
        self.assertIn("recall@10", told)
        self.assertRegex(told, rf"picture +{re.escape(self.path('recall.svg'))}")
        root = tree.parse(self.path("recall.svg")).getroot()
        text = "".join(root.itertext())
        self.assertIn("3000 rows in 200 lists", text)
        self.assertNotIn("nan", text)

    def test_refused(self):
        self.fitted()
        score = ("score", self.path("m.npz"), self.path("x.npy"))
        self.refuse(2, (*score, "--neighbors", 5), "belongs to --index")
        self.refuse(2, (*score, "--index", self.path("q.npy"), "--neighbors", 65), "64")
        self.refuse(2, (*score, "--index", self.path("q.npy"), "--held", 3), "--held")
        self.refuse(1, (*score, "--index", self.path("none.npy")), "none.npy")
        self.refuse(2, (*score, "--index", self.path("q.npy"), "--picture", self.path("a.png")), "svg")
        np.save(self.path("w.npy"), self.queries[:, :4])
        self.refuse(1, (*score, "--index", self.path("w.npy")), "columns")

    def spilled(self, means, lam):
        """The two lists of each row, by the rule, among the 32 nearest means."""
        rows = self.rows.astype(float)
        squares = ((rows[:, None] - means[None]) ** 2).sum(2)
        near = np.argsort(squares, 1, kind="stable")[:, :32]
        first = near[:, 0]
        r = rows - means[first]
        along = ((rows[:, None] - means[near]) * r[:, None]).sum(2)
        cost = np.take_along_axis(squares, near, 1) + lam * along ** 2 / (r ** 2).sum(1)[:, None]
        cost[:, 0] = np.inf
        second = np.take_along_axis(near, cost.argmin(1)[:, None], 1)[:, 0]
        return np.stack([first, second], 1), squares

    def test_spill(self):
        self.fitted()
        means = np.load(self.path("m.npz"))["means"]
        predict = ("predict", self.path("m.npz"), self.path("x.npy"))
        number = np.arange(len(self.rows))[:, None]
        plain = None
        for lam in 0, 1, 10:
            lists, squares = self.spilled(means, lam)
            self.vem(*predict, "--spill", lam, "--precision", "double", "-o", self.path("s.npz"), "-q")
            got = np.load(self.path("s.npz"))
            np.testing.assert_array_equal(got["clusters"], lists)
            np.testing.assert_allclose(got["squares"], squares[number, lists], rtol=1e-9)
            plain = lists if plain is None else plain
        self.assertTrue((lists != plain).any())
        # Rows that are all but infinitely far away have two lists, too.
        for far in 1e76, 1e150:
            np.save(self.path("far.npy"), self.rows[:40].astype(float) * far)
            for lam in 0, 1, 1e6:
                self.vem("predict", self.path("m.npz"), self.path("far.npy"), "--spill", lam, "-o", self.path("s.npz"), "-q")
                got = np.load(self.path("s.npz"))
                self.assertGreaterEqual(got["clusters"].min(), 0)
                self.assertTrue((got["clusters"][:, 0] != got["clusters"][:, 1]).all())
                self.assertTrue(np.isfinite(got["squares"]).all())
        for threads in 1, 3:
            self.vem(*predict, "--spill", 10, "--threads", threads, "--precision", "double",
                     "-o", self.path("t.npz"), "-q")
            np.testing.assert_array_equal(np.load(self.path("t.npz"))["clusters"], lists)
        self.vem(*predict, "--spill", 10, "-o", self.path("s.csv"), "--precision", "double", "-q")
        with open(self.path("s.csv"), encoding="utf-8", newline="") as stream:
            table = list(csv.DictReader(stream))
        self.assertEqual([(int(a["cluster_1"]), int(a["cluster_2"])) for a in table], [tuple(a) for a in lists])
        self.assertAlmostEqual(float(table[5]["square_2"]), squares[5, lists[5, 1]])
        # The lists of an index: found in either, scanned once.
        told = self.json("score", *predict[1:], "--index", self.path("q.npy"), "--spill", 10, "--precision", "double")
        order = np.argsort(((self.queries[:, None].astype(float) - means[None]) ** 2).sum(2), 1, kind="stable")
        rank = np.argsort(order, 1)
        met = rank[:, lists].min(2)
        true = np.argsort(((self.queries[:, None].astype(float) - self.rows[None]) ** 2).sum(2), 1)[:, :10]
        for point in told["curve"]:
            self.assertAlmostEqual(point["scanned"], (met < point["probes"]).sum(1).mean())
            self.assertAlmostEqual(point["recall"],
                                   (np.take_along_axis(met, true, 1) < point["probes"]).mean())
        self.assertAlmostEqual(told["size_mean"], 2 * len(self.rows) / 200)
        for bad in "-1", "x", "nan", "1e7":
            self.refuse(2, (*predict, f"--spill={bad}"), "between 0 and 1000000")
        self.refuse(2, (*predict, "--spill", 1, "--top", 2), "--top")
        self.refuse(2, (*predict, "--spill", 1, "-o", self.path("s.npy")), "npz csv")
        self.refuse(2, ("score", *predict[1:], "--spill", 1), "belongs to --index")
        self.vem("fit", predict[2], "-k", 1, "-o", self.path("one.npz"), "-q")
        self.refuse(2, ("predict", self.path("one.npz"), predict[2], "--spill", 1), "the model has one cluster")
        np.save(self.path("c.npy"), np.abs(self.rows[:300]).round())
        self.vem("fit", self.path("c.npy"), "-k", 3, "--family", "poisson", "-o", self.path("c.npz"), "-q")
        self.refuse(1, ("predict", self.path("c.npz"), self.path("c.npy"), "--spill", 1), "mixture of counts")

    def test_lists(self):
        """Rows in lists that are given: those of the nearest means change nothing, others are as numpy says."""
        self.fitted()
        means = np.load(self.path("m.npz"))["means"]
        score = ("score", self.path("m.npz"), self.path("x.npy"), "--index", self.path("q.npy"), "--precision", "double")
        nearest = ((self.rows[:, None].astype(float) - means[None]) ** 2).sum(2).argmin(1)
        np.save(self.path("near.npy"), nearest)
        plain, told = self.json(*score), self.json(*score, "--lists", self.path("near.npy"))
        for key in "budgets", "curve", "size_cv", "size_largest":
            self.assertEqual(plain[key], told[key])
        given = np.random.RandomState(5).randint(-1, len(means), len(self.rows))  # -1: in no list
        with open(self.path("given.csv"), "w", encoding="utf-8") as out:
            out.write("row,label\n" + "".join(f"{i + 1},{c if c >= 0 else ''}\n" for i, c in enumerate(given)))
        told = self.json(*score, "--lists", self.path("given.csv"))
        order = np.argsort(((self.queries[:, None].astype(float) - means[None]) ** 2).sum(2), 1, kind="stable")
        rank = np.concatenate([np.argsort(order, 1), np.full((len(order), 1), len(means))], 1)[:, given]
        true = np.argsort(((self.queries[:, None].astype(float) - self.rows[None]) ** 2).sum(2), 1)[:, :10]
        for point in told["curve"]:
            self.assertAlmostEqual(point["scanned"], (rank < point["probes"]).sum(1).mean())
            self.assertAlmostEqual(point["recall"], (np.take_along_axis(rank, true, 1) < point["probes"]).mean())
        size = np.bincount(given[given >= 0], minlength=len(means))
        self.assertEqual(told["size_largest"], size.max())
        self.assertEqual(told["unlisted"], (given < 0).sum())
        for key, value in ("size_mean", size.mean()), ("size_cv", size.std() / size.mean()):
            self.assertAlmostEqual(told[key], value)
        self.assertIn(f"3,000 rows in 200 lists of {self.path('given.csv')}; 50 queries", self.vem(
            *score, "--lists", self.path("given.csv")).stdout)
        for bad, words in (([0] * 5, "has 5 labels"), ([-1] * len(self.rows), "All labels are -1"), (nearest + 200, "lists 0 to 199"), (nearest - 2, "list -2")):
            np.save(self.path("bad.npy"), np.array(bad))
            self.refuse(1, (*score, "--lists", self.path("bad.npy")), words)
        self.refuse(2, (*score, "--lists", self.path("near.npy"), "--spill", 1), "not both")
        self.refuse(2, (score[0], *score[1:3], "--lists", self.path("near.npy")), "belongs to --index")

    def test_hierarchy(self):
        self.fitted("--hierarchy", self.path("h.npz"), "--levels", 3)
        tree, means = np.load(self.path("h.npz")), np.load(self.path("m.npz"))["means"]
        vectors, parents, levels = tree["vectors"], tree["parents"], tree["levels"]
        fit = ("fit", self.path("x.npy"), "-k", 200, "--hierarchy", self.path("h.npz"), "--levels", 3)
        self.assertIn(f"{self.path('h.npz')}: {len(vectors) - 200} centres above the clusters, 3 levels in all",
                      self.vem(*fit).stdout)
        told = self.json(*fit)
        self.assertEqual((told["hierarchy_nodes"], told["hierarchy_levels"]), (len(vectors), 3))
        np.testing.assert_array_equal(vectors[:200], means)
        self.assertEqual(sorted(set(levels)), [0, 1, 2])
        for level in 0, 1:
            inside, above = (np.flatnonzero(levels == l) for l in (level, level + 1))
            far = ((vectors[inside][:, None] - vectors[above][None]) ** 2).sum(2)
            own = ((vectors[inside] - vectors[parents[inside]]) ** 2).sum(1)
            np.testing.assert_allclose(own, far.min(1), rtol=1e-12)
        self.assertTrue((parents[levels == 2] == -1).all())
        self.fitted("--hierarchy", self.path("h.csv"))
        with open(self.path("h.csv"), encoding="utf-8", newline="") as stream:
            table = list(csv.DictReader(stream))
        self.assertEqual([int(line["id"]) for line in table], list(range(len(table))))
        self.assertEqual({line["parent"] for line in table[200:]}, {""})
        self.assertEqual({line["parent"] for line in table[:200]}, {str(i) for i in range(200, len(table))})
        np.testing.assert_allclose([json.loads(line["vector"]) for line in table[:200]],
                                   np.load(self.path("m.npz"))["means"], rtol=1e-8)
        fit = ("fit", self.path("x.npy"), "-k", 9)
        self.refuse(2, (*fit, "--levels", 2), "--hierarchy")
        self.refuse(2, (*fit, "--hierarchy", self.path("h.npz"), "--levels", 1), "2 and 8")
        self.refuse(2, (*fit, "--hierarchy", self.path("h.npy")), "npz csv")
        # Before the rows are looked at, which are no counts.
        self.refuse(2, (*fit, "--hierarchy", self.path("h.npz"), "--family", "poisson"), "distances")

    def test_small_types(self):
        """Half and byte values are computed with as float32 values are: the same bits; double ones are not."""
        rows = (self.rows * 9).round().clip(-127, 127)
        found = {}
        for kind in "f4", "f2", "i1", "f8":
            np.save(self.path(kind + ".npy"), rows.astype(kind))
            self.vem("fit", self.path(kind + ".npy"), "-k", 20, "-o", self.path(kind + ".npz"), "-q")
            found[kind] = np.load(self.path(kind + ".npz"))["means"]
        np.testing.assert_array_equal(found["f2"], found["f4"])
        np.testing.assert_array_equal(found["i1"], found["f4"])
        self.assertTrue((found["f8"] != found["f4"]).any())

    def test_guide(self):
        """The blocks of the guide, run one after another in a folder with these vectors."""
        with open(os.path.join(SOURCE, "docs", "guide", "ivf.md"), encoding="utf-8") as stream:
            text = stream.read()
        blocks = re.findall(r"```(sh|python)\n(.*?)```", text, re.S)
        self.assertGreaterEqual(len(blocks), 3)
        np.save(self.path("vectors.npy"), self.rows.astype("f4"))
        np.save(self.path("queries.npy"), self.queries.astype("f4"))
        try:
            import faiss  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
        except ImportError:
            self.skipTest("faiss is not here")
        folder = os.path.dirname(os.path.abspath(VEM))
        environment = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
        told = ""
        for kind, block in blocks:
            line = ["sh", "-ec", block] if kind == "sh" else [sys.executable, "-c", block]
            done = subprocess.run(line, cwd=self.folder.name, env=environment, capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, block + done.stdout + done.stderr)
            told += done.stdout
        self.assertIn("recall@10", told)
        found = float(re.search(r"recall@10 ([\d.]+)", told).group(1))
        self.assertGreater(found, 0.5)


if __name__ == "__main__":
    unittest.main()
