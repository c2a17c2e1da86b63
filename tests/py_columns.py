"""A model knows its columns, and several files are one."""
import csv
import gzip
import json
import random
import struct
import zipfile

from cli_case import Case, blobs, main, npy_parse, npz_parse


def table(rows, names, sep=","):
    return "".join(sep.join(map(str, row)) + "\n" for row in [names, *rows])


def npy_bytes(text):
    """A vector of bytes as .npy."""
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(text)},), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + text


class Columns(Case):
    def setUp(self):
        super().setUp()
        self.rows, self.truth = blobs(d=3)
        rng = random.Random(5)
        self.noise = [rng.gauss(0, 1e6) for _ in self.rows]
        self.names = [f"p{i:03}" for i in range(len(self.rows))]
        lines = [[n, z, *row] for n, z, row in zip(self.names, self.noise, self.rows)]
        self.data = self.write("x.csv", table(lines, ["name", "noise", "a", "b", "c"]))
        self.model = self.path("m.npz")
        self.fit = self.json("fit", self.data, "-k", 3, "--id", "name", "--columns", "a,b,c",
                             "-o", self.model, "--labels",
                             self.path("l.npy"))
        self.labels = npy_parse(self.read("l.npy"))[2]
        self.energy = self.json("score", self.model, self.data)["free_energy"]

    def predict(self, *words, **more):
        self.vem("predict", self.model, *words, "-o", self.path("p.npy"), "-q", **more)
        return npy_parse(self.read("p.npy"))[2]

    def test_names_are_in_the_model(self):
        meta = json.loads(bytes(npz_parse(self.model)["meta"][2]))
        self.assertEqual(meta["columns"], ["a", "b", "c"])
        self.assertEqual(meta["ids"], ["name"])
        info = self.json("info", self.model)
        self.assertEqual(info["meta"]["columns"], ["a", "b", "c"])

    def test_a_coreset_knows_its_columns(self):
        core, model = self.path("core.npz"), self.path("of_core.npz")
        self.vem("coreset", self.data, "-m", 20, "--id", "name", "--columns", "c,b,a", "-o", core)
        self.vem("fit", core, "-k", 3, "--columns", "a,b,c", "-o", model)
        meta = json.loads(bytes(npz_parse(model)["meta"][2]))
        self.assertEqual((meta["columns"], meta["ids"]), (["a", "b", "c"], ["name"]))
        out = self.vem("predict", model, self.data).stdout.splitlines()
        self.assertEqual(out[0], "row,label,name")
        rows, labels = npz_parse(core)["indices"][2], []
        self.vem("predict", model, core, "-o", self.path("c.npy"))
        for row in rows:
            labels.append(int(out[1 + row].split(",")[1]))
        self.assertEqual(npy_parse(self.read("c.npy"))[2], labels)
        self.refuse(2, ["fit", core, "-k", 3, "--columns", "a,d"], "no column named \"d\"")
        # The meta is an array from a file like any other.
        for meta, what in ((b"{]", "no JSON object"), (b'{"columns": ["x"]}', "1 columns, but it has 3"),
                           (b'{"missing_means": [1, 2]}', "2 means"),
                           (b'{"missing_means": [1, 2, "x"]}', "no number")):
            bad = self.path("bad.npz")
            with zipfile.ZipFile(core) as old, zipfile.ZipFile(bad, "w") as new:
                for name in old.namelist():
                    new.writestr(name, old.read(name) if name != "meta.npy" else npy_bytes(meta))
            self.refuse(1, ["info", bad], what)

    def test_nothing_need_be_repeated(self):
        self.assertEqual(self.predict(self.data), self.labels)

    def test_any_order_and_more_columns(self):
        lines = [[row[2], "text", row[0], n, row[1]] for n, row in zip(self.names, self.rows)]
        other = self.write("y.csv", table(lines, ["c", "remark", "a", "name", "b"], ";"))
        self.assertEqual(self.predict(other), self.labels)
        self.assertEqual(self.json("score", self.model, other)["free_energy"], self.energy)
        init = self.json("fit", other, "--init", self.model, "--max-steps", 1)
        self.assertEqual((init["d"], init["n"]), (3, len(self.rows)))
        stats = [self.path("s1.npz"), self.path("s2.npz")]
        sums = [self.json("fit", data, "--init", self.model, "--accumulate", out,
                          "--part", f"{i}/2")  # the same rows twice are meant here
                for i, data, out in zip((1, 2), (self.data, other), stats)]
        self.assertEqual(sums[0]["free_energy"], sums[1]["free_energy"])
        self.vem("merge", *stats, "-o", self.path("next.npz"))
        self.assertEqual(self.json("info", self.path("next.npz"))["meta"]["columns"],
                         ["a", "b", "c"])

    def test_order_given_does_not_mix_up_columns(self):
        self.assertEqual(self.predict(self.data, "--columns", "c,a,b"), self.labels)

    def test_what_is_missing_is_named(self):
        lines = [[row[0], row[1]] for row in self.rows]
        other = self.write("y.csv", table(lines, ["a", "x"]))
        for verb in ("predict", "score"):
            self.refuse(1, [verb, self.model, other], '"b", "c"', "the model", "y.csv")
        self.refuse(1, ["fit", other, "--init", self.model], '"b", "c"')

    def test_without_names_the_number_counts(self):
        plain = self.npy("x.npy", self.rows)
        self.assertEqual(self.predict(plain), self.labels)
        text = self.write("x.txt", table(self.rows[1:], self.rows[0], " "))
        self.assertEqual(self.predict(text), self.labels)
        narrow = self.npy("n.npy", [row[:2] for row in self.rows])
        self.refuse(1, ["predict", self.model, narrow], "2 columns", "3")
        # Picked as for the fit, where that was by number.
        wide = self.npy("w.npy", [[z, *row] for z, row in zip(self.noise, self.rows)])
        self.vem("fit", wide, "-k", 3, "--columns", "2-4", "-o", self.path("w.npz"),
                 "--labels", self.path("lw.npy"))
        self.vem("predict", self.path("w.npz"), wide, "-o", self.path("pw.npy"))
        self.assertEqual(self.read("pw.npy"), self.read("lw.npy"))

    def test_names_with_commas(self):
        lines = [[*row, n] for row, n in zip(self.rows, self.names)]
        names = ['"Income, EUR"', "Income", '"EUR, or so"', '"name, first"']
        data = self.write("z.csv", table(lines, names))
        for words, columns in (("Income, EUR", [0]), ("Income", [1]), ("Income,EUR, or so", [1, 2]),
                               ("EUR, or so , Income, EUR,2", [2, 0, 1]), ("1-2", [0, 1])):
            out = self.json("info", data, "--columns", words)
            names = [c["name"] for c in out["columns"]]
            plain = self.json("info", self.npy("z.npy", [[row[j] for j in columns]
                                                         for row in self.rows]))
            self.assertEqual(names, [["Income, EUR", "Income", "EUR, or so"][j] for j in columns])
            for a, b in zip(out["columns"], plain["columns"]):
                self.assertAlmostEqual(a["mean"], b["mean"], delta=1e-9)
        out = self.json("fit", data, "-k", 3, "--id", "name, first,Income")
        self.assertEqual(out["d"], 2)
        self.assertIn("names that hold commas", " ".join(self.vem("fit", "--help").stdout.split()))

    def test_did_you_mean_a_column(self):
        data = self.write("z.csv", table(self.rows, ["Height, cm", "weight", "AGE"]).replace(
            "Height, cm", '"Height, cm"'))
        for word, meant in (("wieght", "weight"), ("age", "AGE"), ("Height", "Height, cm")):
            for option in ("--columns", "--id"):
                self.refuse(2, ["info", data, option, word], f'no column named "{word}"; did you '
                            rf'mean "{meant}"\? Its columns are Height, cm, weight, AGE.')
        self.refuse(2, ["info", data, "--columns", "zzzzz"], '"zzzzz"; its columns are Height')
        self.refuse(2, ["info", data, "--columns", "z" * 120], 'zz"; its columns are Height')
        # The same letters come before other capitals.
        data = self.write("z.csv", table(self.rows, ["Agenda", "age", "b"]))
        self.refuse(2, ["info", data, "--columns", "ag"], 'did you mean "age"')
        self.refuse(2, ["info", data, "--columns", "c"], '"c"; its columns are')

    def test_long_names_are_cut_at_a_character(self):
        for shift in range(3):
            name = "x" * shift + "\u20ac" * 60
            data = self.write("z.csv", table(self.rows, [name, name, "c"]))
            other = self.write("y.csv", table(self.rows, [name, "b", "c"]))
            whole = rf'"x{{{shift}}}\u20ac{{20}}\u20ac?"'
            self.refuse(2, ["info", data, "--columns", name], "named " + whole)
            self.refuse(2, ["info", other, "--columns", name[:40]], "named " + whole,
                        "did you mean " + whole)
            self.refuse(2, ["info", self.npy("z.npy", self.rows), "--columns", name],
                        "named " + whole)
            gap = [["", *row[1:]] for row in self.rows]
            gap = self.write("g.csv", table(gap, [name, "b", "c"]))
            self.refuse(1, ["fit", gap, "-k", 2], whole.replace('"', "").join((r"\(", r"\)")))

    def test_a_name_twice(self):
        lines = [[row[0], row[1], z] for row, z in zip(self.rows, self.noise)]
        data = self.write("z.csv", table(lines, ["x", "y", "x"]))
        for option in ("--columns", "--id"):
            self.refuse(2, ["fit", data, "-k", 3, option, "x"], 'two columns named "x", 1 and 3',
                        "by its number")
        self.assertEqual(self.json("fit", data, "-k", 3, "--columns", "y")["d"], 1)
        self.assertEqual(self.json("fit", data, "-k", 3)["d"], 3)
        # A model of the later one takes the later one again, and does not guess elsewhere.
        model, one = self.path("twice.npz"), self.path("one.npz")
        self.vem("fit", data, "-k", 3, "--columns", "2,3", "-o", model)
        energy = self.json("score", model, data, "--columns", "2,3")["free_energy"]
        self.assertEqual(self.json("score", model, data)["free_energy"], energy)
        self.assertEqual(self.json("score", model, data, data)["free_energy"], energy)
        self.vem("fit", self.write("y.csv", table(lines, ["x", "y", "z"])), "-k", 3, "-o", one,
                 "--id", "z")
        self.refuse(1, ["score", one, data], 'more columns named "x" than the model has',
                    "by their numbers")
        self.json("score", one, data, "--columns", "1,2")

    def test_several_ids(self):
        lines = [[n, i, *row] for i, (n, row) in enumerate(zip(self.names, self.rows))]
        data = self.write("z.csv", table(lines, ["name", "city", "a", "b", "c"]))
        models = []
        for words in (["--id", "name,city"], ["--id", "name", "--id", "city"],
                      ["--id", "1", "--id=2"]):
            model = self.path(f"m{len(models)}.npz")
            self.vem("fit", data, "-k", 3, *words, "-o", model)
            models.append(npz_parse(model)["means"])
            self.assertEqual(json.loads(bytes(npz_parse(model)["meta"][2]))["ids"],
                             ["name", "city"])
            self.vem("score", model, data)
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])

    def test_numbers_mean_columns_of_the_first_file(self):
        # The same columns in another order and among others: by number they would be mixed.
        lines = [[n, z, *row] for n, z, row in zip(self.names, self.noise, self.rows)]
        one = self.write("one.csv", table(lines, ["name", "noise", "a", "b", "c"]))
        two = self.write("two.csv", table([[c, z, b, n, a] for n, z, a, b, c in lines],
                                          ["c", "noise", "b", "name", "a"]))
        pick = ["--columns", "3-5", "--id", "1"]
        means = []
        same = self.write("same.csv", table(lines, ["name", "noise", "a", "b", "c"]))
        for files in ((one, same), (one, two)):
            self.vem("fit", *files, "-k", 3, *pick, "--header", "yes", "-o",
                     self.path("n.npz"), "--labels", self.path("n.csv"))
            means.append(npz_parse(self.path("n.npz"))["means"])
            with open(self.path("n.csv"), newline="") as file:
                ids = [line[2] for line in list(csv.reader(file))[1:]]
            self.assertEqual(ids, [str(n) for n in self.names] * 2)
        self.assertEqual(*means)
        self.vem("predict", self.path("n.npz"), one, two, "--columns", "3-5", "--id", "1",
                 "-o", self.path("p.npy"))
        labels = npy_parse(self.read("p.npy"))[2]
        self.assertEqual(labels[:len(lines)], labels[len(lines):])
        # What the first file has and another has not is named, and whose it is.
        three = self.write("three.csv", table([line[:4] + [line[4]] for line in lines],
                                              ["name", "noise", "a", "b", "d"]))
        self.refuse(1, ["fit", one, three, "-k", 3, *pick], "three.csv", '"c"',
                    "the first file")
        four = self.write("four.csv", table([[n, *line[1:]] for n, line
                                             in zip(self.names, lines)],
                                            ["key", "noise", "a", "b", "c"]))
        self.refuse(1, ["fit", one, four, "-k", 3, *pick], "four.csv", '"name"',
                    "the first file")
        # Without names there are only numbers.
        bare = self.write("bare.csv", table(lines[1:], lines[0]))
        self.vem("fit", one, bare, "-k", 3, *pick, "--header", "auto", "-o",
                 self.path("b.npz"))
        self.assertEqual(npz_parse(self.path("b.npz"))["means"], means[0])

    def test_files_without_the_id(self):
        lines = [[n, *row] for n, row in zip(self.names, self.rows)]
        one = self.write("one.csv", table(lines, ["name", "a", "b", "c"]))
        two = self.write("two.csv", table([line[1:] for line in lines], ["a", "b", "c"]))
        self.vem("fit", one, "-k", 3, "--id", "name", "-o", self.path("n.npz"))
        for files, expected in (((one, two), [*map(str, self.names), *[""] * len(lines)]),
                                ((two, one), [*[""] * len(lines), *map(str, self.names)])):
            self.vem("predict", self.path("n.npz"), *files, "-o", self.path("p.csv"))
            with open(self.path("p.csv"), newline="") as file:
                head, *rows = csv.reader(file)
            self.assertIn("name", head)
            self.assertEqual([row[head.index("name")] for row in rows], expected)

    def test_names_in_two_encodings(self):
        text = table(self.rows, ["h\u00f6he", "b", "c"])
        for name, encoding in (("u.csv", "utf-8"), ("l.csv", "latin-1")):
            self.write(name, text.encode(encoding))
        self.vem("fit", self.path("l.csv"), "-k", 3, "-o", self.path("e.npz"))
        scores = [self.json("score", self.path("e.npz"), self.path(name))["free_energy"]
                  for name in ("u.csv", "l.csv")]
        self.assertEqual(scores[0], scores[1])


class ResultsJoinBack(Case):
    def setUp(self):
        super().setUp()
        rows, _ = blobs(n=60)
        rows[7][0] = ""
        self.names = [f'p "{i}"' if i % 7 == 0 else f"p, {i}" for i in range(60)]
        quoted = ['"' + name.replace('"', '""') + '"' for name in self.names]
        self.data = self.write("x.csv", table([[q, *row, i] for i, (q, row)
                                               in enumerate(zip(quoted, rows))],
                                              ["name", "a", "b", "label"]))
        self.model = self.path("m.npz")
        self.fit = ["fit", self.data, "-k", 3, "--missing", "drop", "--id", "name,label", "-q",
                    "-o", self.model]

    def rows_of(self, name):
        opener = gzip.open if name.endswith(".gz") else open
        with opener(self.path(name), "rt", newline="") as file:
            return list(csv.reader(file))

    def test_ids_and_rows(self):
        for name in ("l.csv", "l.csv.gz"):
            self.vem(*self.fit, "--labels", self.path(name))
            head, *lines = self.rows_of(name)
            self.assertEqual(head, ["row", "label", "name", "label"])
            self.assertEqual([line[0] for line in lines], [str(i + 1) for i in range(60)])
            self.assertEqual([line[2] for line in lines], self.names)
            self.assertEqual([line[3] for line in lines], [str(i) for i in range(60)])
            self.assertEqual([i for i, line in enumerate(lines) if line[1] == ""], [7])
        self.vem(*self.fit, "--labels", self.path("l.npy"))
        labels = npy_parse(self.read("l.npy"))[2]
        self.assertEqual(["" if x < 0 else str(x) for x in labels], [x[1] for x in lines])
        # The same from predict, which needs to be told nothing again but what to do with gaps.
        self.vem("predict", self.model, self.data, "--missing", "drop", "-q", "-o",
                 self.path("p.csv.gz"))
        self.assertEqual(self.rows_of("p.csv.gz")[1:], lines)

    def test_soft(self):
        self.vem(*self.fit)
        self.vem("predict", self.model, self.data, "--missing", "drop", "--top", 2, "-q", "-o",
                 self.path("s.csv.gz"))
        head, *lines = self.rows_of("s.csv.gz")
        self.assertEqual(head, ["row", "cluster_1", "probability_1", "cluster_2",
                                "probability_2", "name", "label"])
        self.assertEqual([line[5] for line in lines], self.names)
        self.assertEqual(lines[7][:5], ["8", "", "", "", ""])

    def test_labels_as_truth(self):
        self.vem(*self.fit, "--labels", self.path("l.csv.gz"))
        score = self.json("score", self.model, self.data, "--missing", "drop", "--truth",
                          self.path("l.csv.gz"))
        self.assertEqual(score["ari"], 1)
        first = self.read("l.csv.gz")
        self.vem(*self.fit, "--labels", self.path("l.csv.gz"))  # its own it replaces
        self.assertEqual(self.read("l.csv.gz"), first)

    def test_parts_with_ids(self):
        with open(self.data) as file:
            head, *lines = file.read().splitlines()
        parts = [self.write(f"{i}.csv", "\n".join([head, *lines[20 * i:20 * i + 20]]) + "\n")
                 for i in range(3)]
        self.vem(*self.fit, "--labels", self.path("one.csv"))
        self.vem("fit", *parts, *self.fit[2:], "--labels", self.path("three.csv"))
        self.assertEqual(self.read("one.csv"), self.read("three.csv"))


class SeveralFiles(Case):
    def setUp(self):
        super().setUp()
        self.rows, self.truth = blobs(d=2)
        self.whole = self.npy("whole.npy", self.rows)

    def parts(self, code="<f8"):
        return [self.npy(f"part-{i}.npy", self.rows[100 * i:100 * i + 100], code)
                for i in range(3)]

    def fit(self, *data, out="m.npz", words=()):
        self.vem("fit", *data, "-k", 3, "-q", *words, "-o", self.path(out), "--labels",
                 self.path(out + ".npy"))
        model = npz_parse(self.path(out))
        return model["means"], npy_parse(self.read(out + ".npy"))

    def test_as_one(self):
        expected = self.fit(self.whole)
        parts = self.parts()
        self.assertEqual(self.fit(*parts), expected)
        self.assertEqual(self.fit(self.path("part-*.npy")), expected)
        self.assertEqual(self.fit(self.path("part-[01].npy"), parts[2]), expected)
        self.assertNotEqual(self.fit(*parts[::-1])[1], expected[1])  # in the order given
        said = self.vem("fit", *parts, "-k", 3).stdout
        self.assertIn("part-0.npy and 2 more", said)

    def test_every_verb(self):
        self.fit(self.whole)
        pattern, model = self.path("part-*.npy"), self.path("m.npz")
        self.parts()
        for verb in (["score", model], ["info"], ["predict", model, "-o",
                                                  self.path("p.npy")],
                     ["coreset", "-m", 40, "-o", self.path("c.npz")]):
            one, many = [self.json(*verb, data) for data in (self.whole, pattern)]
            for key in ("n", "free_energy", "columns", "coreset_mass"):
                self.assertEqual(one.get(key), many.get(key), (verb, key))

    def test_types_are_joined(self):
        expected = self.fit(self.whole)
        parts = self.parts("<f4")  # the values are exact in single precision
        self.assertEqual(self.json("info", *parts)["dtype"], "float32")
        parts[1] = self.npy("part-1.npy", self.rows[100:200], "<f8")
        self.assertEqual(self.json("info", *parts)["dtype"], "float64")
        self.assertEqual(self.fit(*parts), expected)
        text = self.write("part-2.csv", "x,y\n" + "".join(f"{a},{b}\n" for a, b
                                                          in self.rows[200:]))
        self.assertEqual(self.fit(*parts[:2], text), expected)

    def test_columns_by_name(self):
        a = self.write("a.csv", table(self.rows[:150], ["x", "y"]))
        b = self.write("b.csv", table([[y, "n", x] for x, y in self.rows[150:]],
                                      ["y", "id", "x"]))
        self.assertEqual(self.fit(a, b), self.fit(self.whole))
        lost = self.write("c.csv", table([[1, 2]], ["x", "z"]))
        self.refuse(1, ["info", a, lost], '"y"', "c.csv")

    def test_a_name_that_is_there_once_too_few(self):
        twice = self.write("a.csv", table([[1, 2, 3], [4, 5, 7], [6, 1, 2]], ["a", "a", "b"]))
        once = self.write("b.csv", table([[1, 2]], ["a", "b"]))
        self.vem("fit", twice, "-k", 1, "-q", "-o", self.path("m.npz"))
        self.refuse(1, ["predict", self.path("m.npz"), once, "-o", self.path("l.csv")],
                    'b.csv has 1 of the 2 columns named "a"')

    def test_what_is_wrong_has_its_file(self):
        a, b = self.write("a.csv", "1,2\n3,4\n5,6\n"), self.write("b.csv", "1,2\n3,nan\n")
        self.refuse(1, ["fit", a, b, "-k", 2, "-q"], "b.csv, row 2, column 2")
        self.refuse(1, ["fit", self.path("q-*.npy"), "-k", 2, "-q"], "no file has a name like")
        self.refuse(1, ["fit", a, self.path("absent.csv"), "-k", 2, "-q"], "absent.csv")
        self.refuse(1, ["fit", a, self.npy("wide.npy", [[1, 2, 3]]), "-k", 2, "-q"], "3 columns")
        parts = self.parts()
        self.refuse(2, ["fit", *parts, "-k", 2, "-q", "--labels", parts[1]], "is the input")
        self.refuse(2, ["fit", self.path("part-*.npy"), "-k", 2, "-q", "--labels", parts[1]],
                    "is the input")

    def test_weights_are_of_all_rows(self):
        weights = self.npy("w.npy", [float(1 + i % 3) for i in range(300)])
        expected = self.fit(self.whole, words=["--weights", weights])
        self.assertEqual(self.fit(*self.parts(), words=["--weights", weights]), expected)


class Advice(Case):
    """What the columns do to a fit is said, by their names."""

    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        self.rows = [[rng.gauss(0, 1), 1e4 * rng.random(), rng.random(), 7] for _ in range(200)]
        self.data = self.write("u.csv", table(self.rows, ["a", "income", "rate", "same"]))

    def notes(self, *words):
        return " ".join(self.json("fit", self.data, "-k", 3, *words)["notes"])

    def test_one_column_decides(self):
        for words in ([], ["--family", "iso"], ["--algorithm", "kmeans"], ["--coreset", 100]):
            self.assertIn("column 2 (income) holds more than 99.99 % of the squared distance",
                          self.notes(*words))
        for words in (["--standardize"], ["--family", "diag"], ["--normalize"],
                      ["--columns", "a,rate"], ["--columns", "income,same"]):
            self.assertNotIn("squared distance", self.notes(*words))

    def test_spread_of_balls(self):
        self.vem("fit", self.data, "-k", 3, "-o", self.path("u.npz"))
        for words in ([], [self.data]):
            found = self.json("describe", self.path("u.npz"), *words)["found"]
            for cluster in found:
                self.assertTrue(0 < cluster["spread"] < 1, cluster["spread"])

    def test_constant_column_is_named(self):
        for family in ("diag", "full"):
            notes = self.notes("--family", family)
            self.assertIn("column 4 (same) is constant", notes)
            self.assertNotIn("too few or too similar", notes)


if __name__ == "__main__":
    main()
