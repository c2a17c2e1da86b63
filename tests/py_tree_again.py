#!/usr/bin/env python3
"""A tree that is read and cut again: the same rows, ids and words as when it was made; and its notes."""
from cli_case import *


class Again(Case):
    def table(self):
        """Eight rows with ids, two of them with holes."""
        lines = ["name,x,y"] + [f"row {i},{'NA' if i in (0, 3) else i % 2 * 9},{i}" for i in range(8)]
        return self.write("t.csv", "\n".join(lines) + "\n")

    def test_rows_and_ids(self):
        self.table()
        for id_words in ((), ("--id", "name")):
            columns = ("--columns", "x,y")
            self.vem("tree", self.path("t.csv"), *id_words, *columns, "--missing", "drop", "--method", "average",
                     "-k", 2, "-o", self.path("t.npz"), "--labels", self.path("first.csv"), "-q")
            self.vem("tree", self.path("t.npz"), "-k", 2, "--labels", self.path("again.csv"), "-q")
            first = self.read("first.csv").decode().splitlines()
            again = self.read("again.csv").decode().splitlines()
            self.assertEqual(len(again), 9)
            for line in (0, 2, 3, 5, 6, 7, 8):
                self.assertEqual(again[line], first[line])
            for line in (1, 4):  # rows that were left out have no label
                self.assertEqual(again[line].split(",")[:2], [str(line), ""])
            self.vem("tree", self.path("t.npz"), "-k", 2, "--labels", self.path("again.npy"), "-q")
            labels = npy_parse(self.read("again.npy"))[2]
            self.assertEqual((len(labels), labels[0], labels[3]), (8, -1, -1))
        self.assertIn(",name", again[0])
        # Classes are those of all rows that were read.
        self.write("truth.csv", "label\n" + "".join(f"{'ab'[i % 2]}\n" for i in range(8)))
        said = self.json("tree", self.path("t.npz"), "-k", 2, "--truth", self.path("truth.csv"))
        self.assertEqual((said["n"], said["ari"]), (6, 1))
        # Written again, it says the same.
        self.vem("tree", self.path("t.npz"), "-o", self.path("u.npz"), "-q")
        self.assertEqual(self.read("u.npz"), self.read("t.npz"))

    def test_ids_of_rows_in_groups(self):
        """Leaves are groups: labels have the ids of the rows all the same, and a file of other ids is refused."""
        lines = ["n\xe4me,x,y"] + [f"r\xf6w {i},{'NA' if i in (0, 3) else i % 7 * 9},{i}" for i in range(40)]
        self.write("g.csv", "\n".join(lines).encode("latin-1"))
        self.vem("tree", self.path("g.csv"), "--id", 1, "--missing", "drop", "--leaves", 9, "-k", 3, "-o",
                 self.path("t.npz"), "--labels", self.path("first.csv"), "-q")
        self.vem("tree", self.path("t.npz"), "-k", 3, "--labels", self.path("again.csv"), "-q")
        first, again = self.read("first.csv").splitlines(), self.read("again.csv").splitlines()
        self.assertEqual(len(again), 41)
        for line in range(1, 41):
            if line not in (1, 4):  # rows that were left out
                self.assertEqual(again[line].split(b",")[1:], first[line].split(b",")[1:])
        self.assertEqual(again[2].split(b",")[2], "r\xf6w 1".encode("latin-1"))
        self.vem("tree", self.path("t.npz"), "-o", self.path("u.npz"), "--newick", self.path("t.nwk"), "-q")
        self.assertEqual(self.read("u.npz"), self.read("t.npz"))
        self.assertNotIn("w 1", self.read("t.nwk").decode("latin-1"))  # leaves are numbered
        for odd in (b"one\0two\0", b"x" * 76, b"a\0" * 38 + b"b"):
            with zipfile.ZipFile(self.path("t.npz")) as old, zipfile.ZipFile(self.path("odd.npz"), "w") as new:
                for name in old.namelist():
                    blob = old.read(name)
                    if name == "row_ids.npy":
                        head = b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(odd)
                        head += b" " * (117 - len(head)) + b"\n"
                        blob = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + odd
                    new.writestr(name, blob)
            self.refuse(1, ["tree", self.path("odd.npz"), "-k", 3], "row_ids", "38 rows")

    def test_names_of_other_encodings(self):
        """Names that are not UTF-8 are taken for Latin-1, that of ids and those in notes as the ids themselves."""
        lines = ["n\xe4me,gr\xf6\xdfe,y"] + [f"\xfc{i},{i * 1000},{i % 3}" for i in range(8)]
        self.write("t.csv", "\n".join(lines).encode("latin-1"))
        self.vem("tree", self.path("t.csv"), "--id", 1, "--method", "average", "-o", self.path("t.npz"), "-q")
        meta = json.loads(bytes(npz_parse(self.path("t.npz"))["meta"][2]))
        self.assertEqual((meta["id_name"], meta["leaf_ids"][1]), ("n\xe4me", "\xfc1"))
        self.assertIn("gr\xf6\xdfe", meta["notes"])
        self.vem("tree", self.path("t.npz"), "-k", 2, "--labels", self.path("again.csv"), "-q")
        self.assertIn("n\xe4me", self.read("again.csv").decode().splitlines()[0])

    def test_broken_rows(self):
        self.table()
        self.vem("tree", self.path("t.csv"), "--columns", "x,y", "--missing", "drop", "-o", self.path("t.npz"),
                 "-q")
        for values in ([0.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 2.0, 5.0, 6.0, 7.0],
                       [1.0, 2.0, 4.0, 5.0, 6.0, 8.0], [-1.0, 2.0, 4.0, 5.0, 6.0, 7.0],
                       [1.5, 2.0, 4.0, 5.0, 6.0, 7.0]):
            with zipfile.ZipFile(self.path("t.npz")) as old, \
                    zipfile.ZipFile(self.path("odd.npz"), "w") as new:
                for name in old.namelist():
                    blob = npy_bytes(values) if name == "rows.npy" else old.read(name)
                    new.writestr(name, blob)
            self.refuse(1, ["tree", self.path("odd.npz")], "odd.npz", "its array rows")

    def test_prior_scale_follows_dof(self):
        """The size that clusters are expected to have is the same for any degrees of freedom."""
        data = self.npy("x.npy", blobs(n=60)[0])
        for family, usual in (("full", 2), ("diag", 1)):
            plain = self.json("tree", data, "--family", family)
            self.assertEqual(plain["prior_dof"], usual)
            more = self.json("tree", data, "--family", family, "--prior-dof", 8)
            self.assertAlmostEqual(more["prior_scale"] / more["prior_dof"],
                                   plain["prior_scale"] / plain["prior_dof"], delta=1e-12)

    def test_prior(self):
        data = self.npy("x.npy", blobs(n=60)[0])
        made = self.json("tree", data, "--prior-strength", 0.5, "--prior-dof", 7, "-o", self.path("t.npz"))
        self.assertEqual((made["prior_strength"], made["prior_dof"]), (0.5, 7))
        for words in (("tree",), ("info",)):
            again = self.json(*words, self.path("t.npz"))
            for name in ("prior_strength", "prior_dof", "prior_count", "prior_scale"):
                self.assertEqual(again[name], made[name])

    def test_family_and_units(self):
        data = self.npy("x.npy", blobs(n=60)[0])
        for words, family, line in ((("--family", "diag", "--standardize"), "diag", "diag; columns of variance 1"),
                                    ((), "full", "full; columns in their own units"),
                                    (("--method", "single", "--normalize"), None, "rows of length 1")):
            said = self.vem("tree", data, *words, "-o", self.path("t.npz")).stdout
            for verb in ("tree", "info"):
                self.assertEqual(self.json(verb, self.path("t.npz"))["family"], family)
                again = self.vem(verb, self.path("t.npz")).stdout
                self.assertIn(line, again)
                self.assertEqual(again.splitlines()[1], said.splitlines()[1])

    def test_too_many_clusters(self):
        """Refused where the rows are known, before the work, which would find that the prior is none."""
        data = self.npy("x.npy", blobs(n=60)[0])
        for words, leaves in (((), 60), (("--leaves", 20), 20)):
            self.refuse(2, ["tree", data, "-k", leaves + 1, "-o", self.path("t.npz"), "--prior-scale", "1,2,2,1", *words],
                        f"--clusters is {leaves + 1}, but the tree has {leaves} leaves")

    def test_words(self):
        data = self.npy("x.npy", blobs(n=60)[0])
        names = {"newick": "t.nwk", "r": "t.R", "picture": "t.svg", "output": "t.npz", "labels": "t.csv"}
        words = [w for option, name in names.items() for w in ("--" + option, self.path(name))]
        text = self.vem("tree", data, *words).stdout
        said = self.json("tree", data, *words)
        for option, name in names.items():
            self.assertIn(self.path(name), text)
            self.assertEqual(said[option], self.path(name))
        # A picture is an .svg.
        self.refuse(2, ["tree", data, "--picture", self.path("t.png")], "svg")

    def test_columns_that_decide(self):
        """Of people the incomes alone would be clustered: a note says so, until something is done."""
        people = os.path.join(SOURCE, "examples", "customers.csv")
        def notes(*words):
            return " ".join(self.json("tree", people, "--id", "name", *words)["notes"])
        for words in ([], ["--family", "iso"], ["--method", "average"]):
            self.assertRegex(notes(*words), r"column \d \(income\) holds .* decides the merges almost alone")
        self.assertIn("--family diag", notes())
        self.assertNotIn("--family", notes("--method", "single"))
        for words in (["--standardize"], ["--family", "diag"], ["--normalize"],
                      ["--method", "average", "--standardize"], ["--prior-scale", "9"]):
            self.assertEqual(notes(*words), "")


if __name__ == "__main__":
    main()
