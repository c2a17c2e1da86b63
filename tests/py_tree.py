#!/usr/bin/env python3
"""vem tree: files that scipy and R read, cuts, exports, pictures, and what is refused."""
import shutil
import xml.etree.ElementTree

from cli_case import *

try:
    import numpy as np
    import scipy.cluster.hierarchy as hierarchy
except ImportError:
    np = hierarchy = None

METHODS = ("bayes", "single", "complete", "average")
LINKAGES = METHODS[1:]


class Tree(Case):
    def data(self, n=60, name="x.npy", **more):
        rows, self.truth = blobs(n=n, **more)
        return self.npy(name, rows)

    def merges(self, name="t.npz"):
        """Of a file: rows of the linkage, checked as scipy's is_valid_linkage does, and more."""
        arrays = npz_parse(self.path(name))
        shape, code, flat = arrays["linkage"]
        self.assertEqual((shape[1], code), (4, "<f8"))
        rows = [flat[i:i + 4] for i in range(0, len(flat), 4)]
        n, used, sizes, height = len(rows) + 1, set(), {}, 0
        for k, (a, b, h, size) in enumerate(rows):
            self.assertLess(a, b)
            self.assertLess(b, n + k)
            self.assertFalse({a, b} & used)
            used |= {a, b}
            self.assertGreaterEqual(h, height)
            height = h
            sizes[n + k] = sizes.get(a, 1) + sizes.get(b, 1)
            self.assertEqual(size, sizes[n + k])
        for name in ("delta", "log_evidence"):
            self.assertEqual(arrays[name][:2], ((n - 1,), "<f8"))
        return rows, arrays

    def meta(self, name="t.npz"):
        return json.loads(bytes(npz_parse(self.path(name))["meta"][2]))

    def test_long_work_names_the_short_one(self):
        """Before the work of hours: what takes less. The process is ended when it has said so."""
        with open(self.path("many.npy"), "wb") as stream:
            header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1), }".ljust(117) + "\n"
            stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            stream.write(struct.pack("<1000f", *(i * i % 1009 for i in range(1000))) * 1000)
        for more, told in ((), True), (("--leaves", 2000), False):
            with subprocess.Popen([VEM, "tree", self.path("many.npy"), "-o", self.path("t.npz"), "--method",
                                   "single", "-v", *map(str, more)],
                                  stderr=subprocess.PIPE, text=True) as process:
                said = [process.stderr.readline()]
                while "needs about" not in said[-1] and process.poll() is None:
                    said.append(process.stderr.readline())
                said.append(process.stderr.readline())
                process.kill()
            self.assertEqual("--leaves" in said[-1], told, said)

    def test_weights_that_count_no_rows(self):
        data, weights = self.data(40), self.path("w.npy")
        for each, methods in ((1e155, ("bayes", "bic", "greedy", "vb")), (5e-324, ("bayes", "gmeans", "icl", "greedy")),
                              (0.025, ("bayes", "bic", "kmeans-bic", "greedy"))):
            self.npy("w.npy", [each] * 40)
            for method in methods:
                self.refuse(1, ["select", data, "--weights", weights, "--method", method, "--max-clusters", 4],
                            "weights of all rows add up to", "at most 1e.100")
        self.npy("w.npy", [1e155] * 40)
        self.refuse(1, ["tree", data, "--weights", weights, "-o", self.path("t.npz")], "at most 1e.100")
        self.vem("tree", data, "--weights", weights, "--method", "single", "-o", self.path("t.npz"), "-q")

    def test_file_and_json(self):
        data = self.data()
        for method in METHODS:
            said = self.json("tree", data, "--method", method, "-o", self.path("t.npz"))
            rows, arrays = self.merges()
            self.assertEqual((said["command"], said["method"], said["n"], said["leaves"]),
                             ("tree", method, 60, 60))
            delta, evidence = arrays["delta"][2], arrays["log_evidence"][2]
            if method == "bayes":
                self.assertEqual((said["clusters"], said["evidence_clusters"]), (3, 3))
                self.assertEqual(said["log_evidence"], max(evidence))
                self.assertEqual(60 - 1 - evidence.index(max(evidence)), 3)
                base = min(0, delta[0])
                for k, row in enumerate(rows):
                    self.assertEqual(row[2], max(delta[:k + 1]) - base)
            else:
                self.assertIsNone(said["clusters"])
                self.assertTrue(all(math.isnan(x) for x in evidence))
                self.assertEqual([row[2] for row in rows], delta)
            info = self.json("info", self.path("t.npz"))
            self.assertEqual((info["kind"], info["method"], info["leaves"]), ("tree", method, 60))
            self.assertIn("a tree of 60 leaves", self.vem("info", self.path("t.npz")).stdout)

    def test_same_bytes_for_any_threads(self):
        data = self.data(400)
        for method in METHODS:
            first = None
            for threads in (1, 2, 3, 7):
                self.vem("tree", data, "--method", method, "--threads", threads, "-q", "-o",
                         self.path("t.npz"))
                first = first or self.read("t.npz")
                self.assertEqual(self.read("t.npz"), first)

    def test_pairs(self):
        data = self.data(90, d=3)
        counts = {}
        for pairs in ("fastpair", "conga", "brute"):
            said = self.json("tree", data, "--pairs", pairs, "-o", self.path(pairs + ".npz"))
            counts[pairs] = said["distances"]
        for pairs in ("conga", "brute"):
            self.assertEqual(npz_parse(self.path(pairs + ".npz"))["linkage"],
                             npz_parse(self.path("fastpair.npz"))["linkage"])
        self.assertEqual(counts["brute"], sum(k * (k - 1) // 2 for k in range(2, 91)))
        self.assertLess(counts["fastpair"], counts["conga"])

    @unittest.skipUnless(hierarchy, "scipy is not here")
    def test_scipy(self):
        rng = np.random.default_rng(3)
        for n, d in ((2, 1), (5, 2), (300, 1), (600, 3), (700, 40)):
            x = rng.normal(size=(n, d)) * 3 + 1000
            np.save(self.path("x.npy"), x)
            for method in LINKAGES:
                self.vem("tree", self.path("x.npy"), "--method", method, "-o", self.path("t.npz"), "-q")
                ours = np.load(self.path("t.npz"))["linkage"]
                theirs = hierarchy.linkage(x, method)
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)
            self.vem("tree", self.path("x.npy"), "-o", self.path("t.npz"), "-q")
            self.assertTrue(hierarchy.is_valid_linkage(np.load(self.path("t.npz"))["linkage"]))
            self.assertTrue(hierarchy.is_monotonic(np.load(self.path("t.npz"))["linkage"]))
        # And back: a file of theirs is a tree for us.
        theirs = hierarchy.linkage(x, "ward")
        np.savez(self.path("theirs.npz"), linkage=theirs)
        self.vem("tree", self.path("theirs.npz"), "-k", 5, "--labels", self.path("l.npy"), "-q")
        labels = np.load(self.path("l.npy"))
        expected = hierarchy.fcluster(theirs, 5, "maxclust")
        self.assertEqual(len(set(zip(labels.tolist(), expected.tolist()))), 5)

    def test_cuts(self):
        data = self.data(name="x.npy")
        tree = self.path("t.npz")
        self.vem("tree", data, "-o", tree, "--labels", self.path("own.csv"), "-q")
        self.assertEqual(self.column("own.csv", "label"), self.truth)  # blobs in turn
        text = self.vem("tree", tree, "--labels", self.path("again.csv")).stdout
        self.assertIn("cut into      3 clusters", text)
        self.assertEqual(self.read("again.csv"), self.read("own.csv"))
        for clusters in (1, 2, 5, 60):
            self.vem("tree", tree, "-k", clusters, "--labels", self.path("l.csv"), "-q")
            self.assertEqual(sorted(set(self.column("l.csv", "label"))), list(range(clusters)))
        self.refuse(2, ["tree", tree, "-k", 61, "--labels", self.path("o.csv")], "61", "60 leaves")
        self.refuse(2, ["tree", data, "--method", "single", "--labels", self.path("o.csv")],
                    "--clusters K")
        self.vem("tree", data, "--method", "single", "-o", tree, "-q")
        self.refuse(2, ["tree", tree, "--labels", self.path("o.csv")], "--clusters K")

    def test_rows_that_are_left_out(self):
        table = "a,b\n" + "".join(f"{i % 2 * 9},{i}\n" if i != 3 else "NA,3\n" for i in range(8))
        self.write("t.csv", table)
        self.vem("tree", self.path("t.csv"), "--missing", "drop", "--method", "average", "-k", 2,
                 "--labels", self.path("l.npy"), "-q")
        labels = npy_parse(self.read("l.npy"))[2]
        self.assertEqual((len(labels), labels[3]), (8, -1))
        self.write("truth.csv", "label\n" + "".join(f"{'ab'[i % 2]}\n" for i in range(8)))
        said = self.json("tree", self.path("t.csv"), "--missing", "drop", "--method", "single",
                         "-k", 2, "--truth", self.path("truth.csv"))
        self.assertEqual(said["n"], 7)
        self.assertEqual(said["ari"], 1)

    def test_truth(self):
        data = self.data()
        self.npy("truth.npy", self.truth, "<i8")
        said = self.json("tree", data, "--truth", self.path("truth.npy"), "-o", self.path("t.npz"))
        for key in ("dendrogram_purity", "dendrogram_purity_rows", "nmi", "ari", "purity"):
            self.assertAlmostEqual(said[key], 1)
        again = self.json("tree", self.path("t.npz"), "--truth", self.path("truth.npy"))
        self.assertEqual(again["dendrogram_purity"], said["dendrogram_purity"])
        self.assertIsNone(self.json("tree", data)["dendrogram_purity"])
        self.assertIn("tree purity   1.0000", self.vem("tree", self.path("t.npz"), "--truth",
                                                       self.path("truth.npy")).stdout)
        self.npy("few.npy", [1, 2, 3], "<i8")
        self.refuse(1, ["tree", data, "--truth", self.path("few.npy")], "3 labels", "60 rows")
        self.refuse(2, ["tree", data, "--truth-column", "x"], "no --truth")

    def test_groups(self):
        data = self.data(3000)
        self.npy("truth.npy", self.truth, "<i8")
        for method in METHODS:
            done = self.vem("tree", data, "--method", method, "--leaves", 40, "-k", 3, "-o",
                            self.path("t.npz"), "--labels", self.path("l.npy"), "--truth",
                            self.path("truth.npy"))
            self.assertRegex(" ".join(done.stdout.split()), r"groups of (the )?3,?000 rows")
            rows, arrays = self.merges()
            self.assertLessEqual(len(rows), 39)
            self.assertEqual(arrays["leaves"][:2], ((3000,), "<i4"))
            self.assertEqual(set(arrays["leaves"][2]), set(range(len(rows) + 1)))
            self.assertIn("tree purity   1.0000", done.stdout)
            self.assertEqual(list(npy_parse(self.read("l.npy"))[2]), self.truth)
            again = self.json("tree", self.path("t.npz"), "-k", 3, "--truth", self.path("truth.npy"))
            self.assertEqual((again["n"], again["ari"]), (3000, 1))
        said = self.json("tree", self.data(50, name="few.npy"), "--leaves", 50)
        self.assertIn("leaves are the rows", said["notes"][0])

    def test_families_and_priors(self):
        data = self.data(d=3)
        for family in ("full", "diag", "iso"):
            self.assertEqual(self.json("tree", data, "--family", family)["clusters"], 3, family)
        said = self.json("tree", data, "--prior-mean", "1,2,3", "--prior-strength", 0.5, "--prior-dof",
                         4, "--prior-scale", 2, "--prior-count", 1)
        self.assertEqual([said["prior_" + k] for k in ("strength", "dof", "count", "scale")],
                         [0.5, 4, 1, 2])
        self.npy("b.npy", [[2.0, 0.5, 0], [0.5, 1, 0], [0, 0, 3]])
        matrix = self.json("tree", data, "--prior-scale", self.path("b.npy"))
        self.assertEqual(matrix["prior_scale"], 2)
        columns = self.json("tree", data, "--prior-scale", "2,1,3")
        self.assertNotEqual(columns["log_evidence"], matrix["log_evidence"])
        for words, pattern in ((["--prior-mean", "1,2"], "2 values, but the data have 3 columns"),
                               (["--prior-scale", "1,2"], "2 values"),
                               (["--prior-dof", 2], "prior has 2 degrees of freedom, but there must be more than 2"),
                               (["--prior-count", -1], "--prior-count is -1"),
                               (["--prior-strength", "0"], "--prior-strength is 0"),
                               (["--family", "full-shared"], "evidence is that of"),
                               (["--method", "single", "--prior-dof", 5], "--method bayes"),
                               (["--method", "single", "--pairs", "conga"], "--method bayes")):
            self.refuse(2, ["tree", data, *words], pattern)

    def test_weights(self):
        data = self.data(30)
        weights = self.npy("w.npy", [[1 + i % 3] for i in range(30)])
        plain = self.json("tree", data, "-o", self.path("t.npz"))
        said = self.json("tree", data, "--weights", weights)
        self.assertNotEqual(said["log_evidence"], plain["log_evidence"])
        self.npy("zero.npy", [[float(i > 0)] for i in range(30)])
        self.refuse(1, ["tree", data, "--weights", self.path("zero.npy")], "Row 1 has the weight 0")

    def newick(self, text):
        """(leaves in order, depth by branch lengths of each) of a tree."""
        tokens = re.findall(r"'(?:[^']|'')*'|[(),:;]|[^(),:;']+", text.strip())
        at, leaves = 0, []

        def node():
            nonlocal at
            if tokens[at] == "(":
                inside = []
                while tokens[at] != ")":
                    at += 1
                    inside += node()
                at += 1
            else:
                inside = [[tokens[at].strip("'").replace("''", "'"), 0.0]]
                at += 1
            if tokens[at] == ":":
                for leaf in inside:
                    leaf[1] += float(tokens[at + 1])
                at += 2
            return inside

        leaves = node()
        self.assertEqual(tokens[at:], [";"])
        return leaves

    def test_newick(self):
        data = self.data(40)
        for method in METHODS:
            self.vem("tree", data, "--method", method, "-o", self.path("t.npz"), "--newick",
                     self.path("t.nwk"), "-q")
            rows, _ = self.merges()
            leaves = self.newick(self.read("t.nwk").decode())
            self.assertEqual(sorted(int(name) for name, _ in leaves), list(range(40)))
            for _, depth in leaves:  # all leaves are as deep as the root is high
                self.assertAlmostEqual(depth, rows[-1][2], delta=1e-9 * max(1, rows[-1][2]))

    def test_names(self):
        names = ["plain", "two words", "it's", "a,b", "\"q\"", "<&>", "ü(1):2;"]
        lines = ["name,x,y"] + [f"\"{name.replace(chr(34), 2 * chr(34))}\",{i},{i * i}"
                                for i, name in enumerate(names)]
        self.write("t.csv", "\n".join(lines) + "\n")
        exports = ["--newick", self.path("t.nwk"), "--r", self.path("t.json"), "--picture",
                   self.path("t.svg"), "-q"]
        self.vem("tree", self.path("t.csv"), "--id", "name", *exports)
        self.check_names(names)
        self.vem("tree", self.path("t.csv"), "--id", "name", "-o", self.path("t.npz"), "-q")
        self.vem("tree", self.path("t.npz"), *exports)  # the file keeps the ids
        self.check_names(names)
        self.assertEqual(self.meta()["leaf_ids"], names)
        self.vem("tree", self.path("t.npz"), "-o", self.path("again.npz"), "-q")
        self.assertEqual(self.read("again.npz"), self.read("t.npz"))
        self.vem("tree", self.path("t.csv"), "--id", "name", "--leaves", 3, "-o", self.path("t.npz"), *exports)
        self.assertNotIn("leaf_ids", self.meta())  # leaves are no rows
        self.assertEqual(json.loads(self.read("t.json"))["labels"], ["0", "1", "2"])

    def test_names_of_kept_rows(self):
        """Ids are those of the rows that are leaves, and in whichever encoding."""
        self.write("t.csv", b"name,x\na,1\nb,\n\xfc,5\nd,9\n")
        self.vem("tree", self.path("t.csv"), "--id", "name", "--missing", "drop", "-o", self.path("t.npz"),
                 "--r", self.path("t.json"), "-q")
        self.assertEqual(self.meta()["leaf_ids"], ["a", "\u00fc", "d"])
        self.assertEqual(json.loads(self.read("t.json"))["labels"], ["a", "\u00fc", "d"])
        for text, words in ((b" 17,", "entry 1 of leaf_ids in its meta is no text"),
                            (b"    ", "2 ids of leaves, but it has 3 leaves")):
            with zipfile.ZipFile(self.path("t.npz")) as old, \
                    zipfile.ZipFile(self.path("odd.npz"), "w") as new:
                for name in old.namelist():
                    new.writestr(name, old.read(name).replace(b'"a",', text))
            self.refuse(1, ["tree", self.path("odd.npz")], "odd.npz", words)

    def check_names(self, names):
        leaves = self.newick(self.read("t.nwk").decode())
        self.assertEqual(sorted(name for name, _ in leaves), sorted(names))
        self.assertEqual(json.loads(self.read("t.json"))["labels"], names)
        shown = self.picture("t.svg")[1]
        self.assertEqual(sorted(shown), sorted(names))

    def picture(self, name):
        """(number of branches, texts of the ends) of an SVG, whose parts lie inside it."""
        root = xml.etree.ElementTree.fromstring(self.read(name))
        width, height = float(root.get("width")), float(root.get("height"))
        space = "{http://www.w3.org/2000/svg}"
        lines = [[float(line.get(key)) for key in ("x1", "y1", "x2", "y2")]
                 for line in root.findall(space + "line") if line.get("stroke-width") == "1.5"]
        for x0, y0, x1, y1 in lines:
            self.assertTrue(0 <= x0 <= width and 0 <= x1 <= width)
            self.assertTrue(0 <= y0 <= y1 <= height)  # downwards, or level
            self.assertTrue(x0 == x1 or y0 == y1)
        return len(lines) // 2, [t.text for t in root.findall(space + "text") if t.get("transform")]

    def test_pictures(self):
        for n, ends in ((2, 2), (60, 60), (500, 120)):
            for method in METHODS:
                words = ["tree", self.data(n), "--method", method, "--picture", self.path("t.svg")]
                self.vem(*words, "-q")
                paths, texts = self.picture("t.svg")
                self.assertEqual((paths, len(texts)), (2 * ends - 2, ends))
                numbers = [int(t) for t in texts if t[0] != "("]
                below = [int(t[1:-1]) for t in texts if t[0] == "("]
                self.assertEqual(len(numbers) + sum(below), n)
        self.vem(*words, "-k", 3, "-q")
        colors = set(re.findall(r'stroke="(#\w+)"', self.read("t.svg").decode()))
        self.assertGreaterEqual(len(colors), 4)

    def test_r(self):
        data = self.data(30)
        for method in METHODS:
            self.vem("tree", data, "--method", method, "-k", 4, "-o", self.path("t.npz"), "--labels",
                     self.path("l.npy"), "--r", self.path("t.json"), "-q")
            rows, _ = self.merges()
            r = json.loads(self.read("t.json"))
            self.assertEqual(r["height"], [row[2] for row in rows])
            self.assertEqual(sorted(r["order"]), list(range(1, 31)))
            for (a, b, _, _), merge in zip(rows, r["merge"]):
                self.assertEqual(merge, [-(x + 1) if x < 30 else x - 29 for x in (a, b)])
            if shutil.which("Rscript"):
                self.vem("tree", self.path("t.npz"), "--r", self.path("t.R"), "-q")
                script = (f'h <- dget("{self.path("t.R")}"); stopifnot(inherits(h, "hclust")); '
                          'd <- as.dendrogram(h); cat(labels(d), "\\n"); cat(cutree(h, 4))')
                out = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True,
                                     timeout=LIMIT)
                self.assertEqual(out.returncode, 0, out.stderr)
                order, cut = out.stdout.split("\n")
                self.assertEqual([int(x) + 1 for x in order.split()], r["order"])
                if method != "bayes":  # heights of evidence are tied at 0
                    labels = npy_parse(self.read("l.npy"))[2]
                    self.assertEqual([int(x) - 1 for x in cut.split()], list(labels))

    def changed(self, array, place, value, code="d"):
        """The tree with one number of an array changed."""
        out = self.path("changed.npz")
        size = struct.calcsize(code)
        with zipfile.ZipFile(self.path("t.npz")) as old, zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                raw = old.read(name)
                if name == array + ".npy":
                    at = 10 + int.from_bytes(raw[8:10], "little") + size * place
                    raw = raw[:at] + struct.pack("<" + code, value) + raw[at + size:]
                new.writestr(name, raw)
        return out

    def test_hostile_files(self):
        self.vem("tree", self.data(500), "--leaves", 30, "-o", self.path("t.npz"), "-q")
        n = len(self.merges()[0]) + 1
        raw = self.read("t.npz")
        nan = float("nan")
        for array, place, value, words in (
                ("linkage", 0, -1.0, "merge 1 joins node -1"),
                ("linkage", 1, float(n), f"merge 1 joins node {n}"),  # itself
                ("linkage", 4 * (n - 2), 1e300, f"merge {n - 1} joins node -1"),
                ("linkage", 5, 0.5, "merge 2 joins node -1"),
                ("linkage", 4 * (n - 2), 0.0, "node 0 is joined twice"),
                ("linkage", 2, nan, "merge 1 has the height nan"),
                ("linkage", 2, -2.0, "merge 1 has the height -2"),
                ("linkage", 3, 7.0, "merge 1 says that it has 7 leaves"),
                ("delta", 3, nan, "merge 4 has the height .* cost nan"),
                ("leaves", 9, -1, "leaf -1 of row 10"),
                ("leaves", 9, n, f"leaf {n} of row 10")):
            broken = self.changed(array, place, value, "i" if array == "leaves" else "d")
            for verb in ("tree", "info"):
                self.refuse(1, [verb, broken], "changed.npz", words)
        for cut in range(0, len(raw), 97):
            self.write("cut.npz", raw[:cut])
            done = subprocess.run([VEM, "tree", self.path("cut.npz"), "-o", self.path("o.npz")],
                                  capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"^vem: .*cut\.npz.*\.\n$")
        self.refuse(1, ["fit", self.path("t.npz"), "-k", 2], "t.npz is a tree")
        # What is another file altogether.
        self.vem("fit", self.path("x.npy"), "-k", 2, "-o", self.path("m.npz"), "-q")
        self.refuse(1, ["tree", self.path("m.npz")], "is a model")

    def test_refusals(self):
        data, tree = self.data(), self.path("t.npz")
        self.refuse(2, ["tree", data, "--method", "bayez"], "did you mean bayes")
        self.refuse(2, ["tree", data, "--pairs", "x"], "fastpair|conga|brute")
        self.refuse(2, ["tree", data, "--leaves", 1], "--leaves is 1")
        self.refuse(2, ["tree", data, "--leaves", 0], "--leaves is 0")
        self.refuse(2, ["tree", data, "-o", self.path("t.npy")], "npz")
        self.refuse(2, ["tree", data, "--picture", self.path("t.png")], "svg")
        self.refuse(2, ["tree", data, "--r", self.path("t.txt")], "json")
        self.refuse(1, ["tree", self.npy("one.npy", [[1.0, 2.0]])], "at least 2 rows")
        self.refuse(1, ["tree", self.npy("nan.npy", [[1.0], [float("nan")]])], "row 2")
        self.vem("tree", data, "-o", tree, "-q")
        for more in (["--method", "single"], ["--leaves", 9], ["--pairs", "conga"], ["--id", "1"],
                     ["--weights", data], ["--prior-dof", 3], ["--family", "diag"], ["--seed", 3],
                     ["--time", 3], ["--standardize"]):
            self.refuse(2, ["tree", tree, *more], f"{more[0]} says how a tree is made")
        self.refuse(2, ["tree", tree, data], "taken alone")
        big = self.data(8000, name="big.npy")  # beside which a sanitizer is small
        self.refuse(1, ["tree", big, "--method", "average", "--memory", "120M"],
                    r"8000 leaves .average, 2 columns. would take about .* --leaves \d+.* would fit",
                    "--method single")

    def test_units(self):
        """Standardized rows and rows of other units give the same tree."""
        rows, _ = blobs(80, d=2)
        self.npy("x.npy", rows)
        self.npy("y.npy", [[1e6 * a, 1e-3 * b] for a, b in rows])
        for method in METHODS:
            trees = []
            for name in ("x.npy", "y.npy"):
                self.vem("tree", self.path(name), "--method", method, "--standardize", "-o",
                         self.path("t.npz"), "-q")
                trees.append([row[:2] for row in self.merges()[0]])
            self.assertEqual(*trees)

    def test_time_and_interrupts(self):
        data = self.data(400, d=6)
        line = self.refuse(1, ["tree", data, "--pairs", "brute", "-o", self.path("o.npz"), "--time",
                               3, "-q"], "--time 3 was over", env=self.ticking(0.05))
        self.assertIn("half a tree is none", line)
        process = subprocess.Popen([VEM, "tree", data, "--pairs", "brute", "-o", self.path("o.npz"),
                                    "--labels", self.path("l.npy")], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.ticking(0.5))
        self.addCleanup(process.kill)
        self.wait_for_line(process.stderr, "merging")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assertIn("nothing was written", err)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["x.npy"])

    def test_help(self):
        """What is said of the options holds for trees, not for fits."""
        text = " ".join(self.vem("tree", "--help").stdout.split())
        said = dict(re.findall(r"--([a-z]+) [A-Z]+ (.*?)(?= (?:-\w, )?--[a-z-]+ [A-Z]|$)", text))
        families = re.search(r"one of ([a-z, ]+);", said["family"])[1].split(", ")
        data = self.data(30)
        for family in ("iso-shared", "iso", "diag", "full", "diag-shared", "full-shared", "poisson"):
            if family in families:
                self.vem("tree", data, "--family", family, "-q")
            else:
                self.refuse(2, ["tree", data, "--family", family], "--family")
        self.assertIn("nothing is written", said["time"])
        self.assertNotIn("fewer rows", said["time"])
        self.assertIn("refused before the work", said["memory"])
        self.assertNotIn("temporary file", said["memory"])
        self.vem("tree", data, "-o", self.path("t.npz"), "-q")
        for option, value in (("--memory", "4G"), ("--time", 5), ("--seed", 3)):
            self.refuse(2, ["tree", self.path("t.npz"), option, value], "is one already")

    def test_words(self):
        data = self.data()
        text = self.vem("tree", data).stdout
        self.assertRegex(text, r"x.npy: a tree of 60 leaves, bayes; height ")
        self.assertIn("most evidence 3 clusters", text)
        self.assertIn("not written; name a file with -o TREE.npz", text)
        self.assertEqual(self.vem("tree", data, "-q").stdout, "")
        self.assertIn("needs about", self.vem("tree", data, "-v").stderr)


if __name__ == "__main__":
    main()
