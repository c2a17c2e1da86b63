#!/usr/bin/env python3
"""Tables as people have them: headers, missing values, decimal commas, compressed files, classes
as words; and names out of files that must not reach the terminal as control codes."""
import gzip
import json
import math
import random
import zipfile

import cli_case
from cli_case import SLOW, npy_parse, npz_parse


def rows(n=60, seed=1):
    rng = random.Random(seed)
    return [[10 * (i % 3) + rng.gauss(0, 0.3), 5 * (i % 3) + rng.gauss(0, 0.3)]
            for i in range(n)]


def text(table, header="x,y", separator=",", point="."):
    lines = [header.replace(",", separator)] if header else []
    for row in table:
        lines.append(separator.join(
            v if isinstance(v, str) else repr(v).replace(".", point) for v in row))
    return "\n".join(lines) + "\n"


class Headers(cli_case.Case):
    def test_said(self):
        fit = ["-k", 2, "--algorithm", "kmeans"]
        data = self.write("a.csv", text(rows()))
        out = self.json("fit", data, *fit)
        self.assertIs(out["header"], True)
        self.assertEqual(out["n"], 60)
        said = self.vem("fit", data, *fit).stderr
        self.assertIn("the first row is taken for the names of the columns", said)
        self.assertNotIn("taken for", self.vem("fit", data, *fit, "-q").stderr)
        self.assertNotIn("taken for",
                         self.vem("fit", data, *fit, "--header", "yes").stderr)
        years = self.write("b.csv", text(rows(), "2019,2020"))
        said = self.vem("fit", years, *fit).stderr
        self.assertIn("the first row is taken for data (else say --header yes)", said)
        self.assertEqual(self.json("fit", years, *fit)["n"], 61)
        out = self.json("fit", years, *fit, "--header", "yes")
        self.assertEqual((out["n"], out["header"]), (60, True))
        lands = self.write("d.csv", text([[f"n{i}", *row] for i, row in enumerate(rows())],
                                         "land,2019,2020"))
        said = self.vem("fit", lands, *fit, "--id", 1).stderr
        self.assertIn("the first row is taken for the names of the columns", said)
        self.assertEqual(self.json("fit", lands, *fit, "--id", 1)["n"], 60)
        self.assertIsNone(self.json("fit", self.npy("c.npy", rows()), *fit)["header"])
        self.refuse(2, ["fit", data, *fit, "--header", "maybe"], r"auto\|yes\|no")

    def test_dates_in_tables_with_blanks(self):
        for ending, separator in (("tsv", "\t"), ("txt", " "), ("txt", "  ")):
            data = self.write("t." + ending, text([[f"2024-01-{i + 10}", *row] for i, row
                                                   in enumerate(rows(9))], "day,x,y", separator))
            out = self.json("info", data)
            self.assertEqual((out["n"], out["nan"]), (9, 9))

    def test_pipe(self):
        out = self.vem("info", "-", "--json", stdin=None, input=text(rows()))
        self.assertEqual(json.loads(out.stdout)["n"], 60)


class Missing(cli_case.Case):
    fit = ["-k", 3, "--algorithm", "kmeans", "--seed", 3]

    def setUp(self):
        super().setUp()
        self.table = rows()
        self.full = [list(row) for row in self.table]
        for i, j in ((4, 0), (4, 1), (31, 1), (59, 0)):
            self.table[i][j] = "NA"
        self.gone = {4, 31, 59}
        self.csv = self.write("gaps.csv", text(self.table))
        numbers = [[math.nan if v == "NA" else v for v in row] for row in self.table]
        self.array = self.npy("gaps.npy", numbers)
        self.kept = [row for i, row in enumerate(self.table) if i not in self.gone]

    def test_error(self):
        for data in (self.csv, self.array):
            self.refuse(1, ["fit", data, *self.fit],
                        r"4 values are missing, in 3 of 60 rows", r"[Rr]ow 5, column 1",
                        "--missing drop")
        self.refuse(2, ["fit", self.csv, *self.fit, "--missing", "no"], r"error\|drop\|mean")

    def test_drop(self):
        model, small = self.path("m.npz"), self.write("small.csv", text(self.kept))
        expected = self.json("fit", small, *self.fit, "--measure")
        for data in (self.csv, self.array):
            for ending in ("npy", "csv"):
                labels = self.path("l." + ending)
                out = self.json("fit", data, *self.fit, "--missing", "drop", "--measure",
                                "--labels", labels, "-o", model)
                self.assertEqual((out["n"], out["rows_read"], out["missing"]), (57, 60, 4))
                self.assertEqual(out["quantization_error"], expected["quantization_error"])
                self.check_labels(labels, ending)
                labels = self.path("p." + ending)
                self.vem("predict", model, data, "--missing", "drop", "-o", labels)
                self.check_labels(labels, ending)
        said = self.vem("fit", self.csv, *self.fit, "--missing", "drop").stderr
        self.assertIn("3 rows of 60 left out, because of 4 missing values", said)
        self.vem("predict", model, self.csv, "--missing", "drop", "--top", 2, "-o",
                 self.path("s.npz"))
        soft = npz_parse(self.path("s.npz"))
        self.assertEqual(soft["clusters"][0], (60, 2))
        self.assertEqual(soft["clusters"][2][8:10], [-1, -1])
        self.vem("predict", model, self.csv, "--missing", "drop", "--top", "all", "-o",
                 self.path("dense.npy"))
        shape, _, values = npy_parse(self.read("dense.npy"))
        self.assertEqual(shape[0], 60)
        for i in range(60):
            row = values[i * shape[1]:(i + 1) * shape[1]]
            if i in self.gone:
                self.assertTrue(all(math.isnan(value) for value in row))
            else:
                self.assertAlmostEqual(sum(row), 1)
        out = self.json("score", model, self.csv, "--missing", "drop")
        self.assertEqual(out["n"], 57)
        self.vem("coreset", self.csv, "-m", 500, "--missing", "drop", "-o",
                 self.path("c.npz"))
        self.assertEqual(npz_parse(self.path("c.npz"))["indices"][2],
                         [i for i in range(60) if i not in self.gone])
        out = self.json("fit", self.csv, "--init", model, "--accumulate",
                        self.path("stats.npz"), "--missing", "drop")
        self.assertEqual((out["rows"], out["rows_read"], out["missing"]), (57, 60, 4))

    def check_labels(self, path, ending):
        if ending == "npy":
            with open(path, "rb") as file:
                labels = npy_parse(file.read())[2]
            self.assertEqual(len(labels), 60)
            gone = {i for i, label in enumerate(labels) if label == -1}
        else:
            with open(path) as file:
                lines = file.read().splitlines()[1:]
            self.assertEqual(len(lines), 60)
            gone = {i for i, line in enumerate(lines) if line.split(",")[1] == ""}
        self.assertEqual(gone, self.gone)

    def test_mean(self):
        means = [sum(row[j] for row in self.table if row[j] != "NA")
                 / sum(row[j] != "NA" for row in self.table) for j in range(2)]
        filled = [[means[j] if v == "NA" else v for j, v in enumerate(row)]
                  for row in self.table]
        expected = self.json("fit", self.write("f.csv", text(filled)), *self.fit, "--measure")
        for data in (self.csv, self.array):
            model = self.path("m.npz")
            out = self.json("fit", data, *self.fit, "--missing", "mean", "--measure", "-o",
                            model)
            self.assertEqual((out["n"], out["missing"]), (60, 4))
            self.assertAlmostEqual(out["quantization_error"], expected["quantization_error"],
                                   delta=1e-9 * expected["quantization_error"])
        # Rows to predict get the means of the fit, whatever their own are.
        meta = bytes(npz_parse(model)["meta"][2]).decode()
        stored = json.loads(meta)["missing_means"]
        self.assertAlmostEqual(stored[0], means[0], places=9)
        lone = self.write("lone.csv", "x,y\nNA,5\nNA,5\n")
        said = self.vem("predict", model, lone, "--missing", "mean", "-o",
                        self.path("l.csv")).stderr
        self.assertIn("2 missing values replaced by the model's means of the columns", said)

    def labels_of(self, model, *rows):
        """Labels of these rows, each of them alone in a file with others that move its means."""
        labels = set()
        for other in ("1e6,1e6", "-1e6,-1e6"):
            data = self.write("lone.csv", "\n".join(("x,y", *rows, other)) + "\n")
            out = self.path("l.csv")
            self.vem("predict", model, data, "--missing", "mean", "-o", out)
            with open(out) as file:
                labels.add(tuple(line.split(",")[1] for line in file.read().split()[1:-1]))
        self.assertEqual(len(labels), 1, "the rest of the file counts")
        return labels.pop()

    def test_means_of_any_model(self):
        # Whatever the fit did with missing values, and whatever was made of the model since.
        full = self.write("f.csv", text(self.full))
        mean_of = [sum(row[j] for row in self.full) / len(self.full) for j in range(2)]
        plain, stats = self.path("plain.npz"), self.path("stats.npz")
        ways = {"plain": ["fit", full, *self.fit, "-o", plain],
                "coreset": ["fit", full, *self.fit, "--coreset", 40, "-o", self.path("m.npz")],
                "normal": ["fit", full, *self.fit, "--normalize", "-o", self.path("m.npz")],
                "sums": ["fit", full, "--init", plain, "--accumulate", stats],
                "merged": ["merge", stats, "-o", self.path("m.npz")]}
        for name, way in ways.items():
            self.vem(*way)
            if name == "sums":
                continue
            model = way[-1]
            stored = json.loads(bytes(npz_parse(model)["meta"][2]))["missing_means"]
            for j in range(2):
                self.assertAlmostEqual(stored[j], mean_of[j], 
                                       delta=3 if name == "coreset" else 1e-9)
            self.labels_of(model, "NA,5", "3,NA")

    def test_model_without_means(self):
        # As 0.1 wrote them: the mixture's mean stands for what is missing.
        plain, bare = self.path("plain.npz"), self.path("bare.npz")
        self.vem("fit", self.write("f.csv", text(self.full)), *self.fit, "-o", plain)
        with zipfile.ZipFile(plain) as old, zipfile.ZipFile(bare, "w") as new:
            for name in old.namelist():
                if name != "meta.npy":
                    new.writestr(name, old.read(name))
        self.labels_of(bare, "NA,5", "3,NA")

    def test_score_lines_up(self):
        model = self.path("m.npz")
        self.vem("fit", self.csv, *self.fit, "--missing", "drop", "-o", model)
        truth = self.write("truth.csv",
                           "class\n" + "".join(f"class {i % 3}\n" for i in range(60)))
        option = "--truth" if "--truth" in self.vem("score", "--help").stdout else "--labels"
        out = self.json("score", model, self.csv, "--missing", "drop", option, truth)
        self.assertAlmostEqual(out["ari"], 1)


class Reading(cli_case.Case):
    """What people meet on the way from a table to a table."""

    def setUp(self):
        super().setUp()
        lines = "".join(f"n{i},{row[0]!r},{row[1]!r}\n" for i, row in enumerate(rows()))
        self.data = self.write("x.csv", 'name,"x, first",y\n' + lines)
        self.model = self.path("x.npz")
        self.first = self.vem("fit", self.data, "-k", 3, "--id", "name", "-o", self.model)

    def test_sample_has_names(self):
        for ending in ("csv", "csv.gz"):
            out, labels = self.path("s." + ending), self.path("l." + ending)
            self.vem("sample", self.model, "-n", 5, "-o", out, "--labels", labels)
            with (gzip.open if ending == "csv.gz" else open)(out, "rt") as file:
                lines = file.read().splitlines()
            self.assertEqual((lines[0], len(lines)), ('"x, first",y', 6))
            self.vem("score", self.model, out)
        table = self.path("d.csv.gz")
        self.vem("describe", self.model, "--csv", table)
        with gzip.open(table, "rt") as file:
            self.assertEqual(len(file.read().splitlines()), 4)
        bare = self.path("bare.npz")
        self.vem("fit", self.write("bare.csv", text(rows(), "")), "-k", 2, "-o", bare)
        self.vem("sample", bare, "-n", 5, "-o", self.path("s.csv"))
        with open(self.path("s.csv")) as file:
            self.assertEqual(file.readline(), "column_1,column_2\n")

    def test_info_says_why_numbers_are_text(self):
        table = self.write("signs.csv", 'a,b,c,d,e,f\n1,"1,234",1 234,7 %,"1,234,567",x\n'
                                        '2,987,2 345,8 %,"1,234,568",y\n')
        said = " ".join(self.vem("info", table).stdout.split())
        self.assertIn("column 2 (b): values", said)
        self.assertIn("write 1234 for 1,234. Commas part the fields", said)
        self.assertIn("column 3 (c) and 1 more column: values", said)
        self.assertIn("without signs between their thousands", said)
        self.assertIn("column 4 (d): values", said)
        columns = self.json("info", table)["columns"]
        self.assertEqual([c["advice"] is not None for c in columns],
                         [False, True, True, True, True, False])
        both = self.json("info", self.write("plain.csv", "a,b,c,d,e,f\n1,2,3,4,5,6\n"), table)
        self.assertEqual([c["advice"] for c in both["columns"]], [c["advice"] for c in columns])
        plain = self.vem("info", self.write("words.csv", "a,b\n1,x\n2,y\n")).stdout
        self.assertNotIn("count as text", plain)

    def test_info_looks_at_anything(self):
        said = self.vem("info", self.data).stdout
        self.assertIn("no numbers", said)
        self.assertIn("every other value is finite", said)
        self.assertIn("1 column has no numbers (text, or all missing): --id leaves it out", said)
        mixed = self.write("mixed.csv", "name,x,kind\na,1,b\nc,NA,d\ne,2,f\n")
        said = self.vem("info", mixed).stdout
        self.assertIn("1 value is NaN (missing, or text) and 0 infinite; the first is in row 2, column 2", said)
        self.assertIn("2 columns have no numbers", said)
        # Several files are the rows of one set; of anything else one is looked at.
        self.assertIn("6 rows", self.vem("info", mixed, mixed).stdout)
        for words in ([self.model, self.model], [self.data, self.model]):
            self.assertIn(f"(model): look at it alone, vem info {self.model}.",
                          self.vem("info", *words, code=2).stderr)
        self.assertIn("x, first, y", self.vem("info", self.model).stdout)
        self.assertIn("ids", self.vem("info", self.model).stdout)
        dates = self.write("d.csv", "id,date,x,time\na,2024-01-01,1,12:30\nb,2024-01-02,3,12:31\n")
        self.assertEqual(self.json("info", dates)["columns"][2]["mean"], 2)
        gaps = self.write("g.csv", "x,y\n1,2\nNA,3\n5,7\n")
        self.assertEqual(self.json("info", gaps, "--missing", "drop")["n"], 2)
        self.assertEqual(self.json("info", gaps, "--missing", "mean")["columns"][0]["mean"], 3)
        self.refuse(1, ["info", gaps, "--missing", "error"], "1 value is missing")

    def test_no_more_than_is_new(self):
        self.assertIn("first row is taken", self.first.stderr)
        self.assertNotIn("first row", self.vem("predict", self.model, self.data).stderr)
        fit = ["fit", self.data, "-k", 3, "--id", "name"]
        self.assertIn("(-v says why)", self.vem(*fit).stdout)
        self.assertNotIn("says why", self.vem(*fit, "-v").stdout)
        gaps = self.write("g.csv", 'name,"x, first",y\na,1,2\nb,NA,3\nc,5,7\n')
        for words, told in (["predict", 1], ["score", 0], ["describe", 0]):
            said = self.vem(words, self.model, gaps, "--missing", "drop").stderr
            self.assertIn("1 row of 3 left out", said)
            self.assertEqual("an empty label" in said, bool(told))
        drop = ["--missing", "drop", "-o"]
        for words, name, told in ((drop, "l.csv", "has an empty label in "), (drop, "l.npy", "has the label -1 in "),
                                  (["--top", "all", *drop], "p.npy", "has NaN for probabilities in ")):
            self.assertIn(told, self.vem("predict", self.model, gaps, *words, self.path(name)).stderr)
        self.assertIn("coreset was fitted", self.vem(*fit, "--coreset", 30).stdout)

    def test_differences_that_have_no_room(self):
        names = ",".join(c * 40 for c in "abc")
        table = [[row[0], row[1], -row[0]] for row in rows()]
        model = self.path("long.npz")
        self.vem("fit", self.write("long.csv", text(table, names)), "-k", 3, "-o", model)
        self.assertIn(" ...\n", self.vem("describe", model).stdout)


class Text(cli_case.Case):
    def test_decimal_comma(self):
        table = rows()
        fit = ["-k", 3, "--algorithm", "kmeans", "--measure"]
        plain = self.json("fit", self.write("a.csv", text(table)), *fit)
        comma = self.write("b.csv", text(table, "x,y", ";", ","))
        out = self.json("fit", comma, *fit)
        self.assertEqual(out["decimal"], ",")
        self.assertEqual(out["quantization_error"], plain["quantization_error"])
        self.assertIn("decimal comma", self.vem("fit", comma, *fit).stderr)
        tabs = self.write("c.tsv", text(table, "x,y", "\t", ","))
        self.refuse(1, ["fit", tabs, *fit], "say --decimal ,")
        out = self.json("fit", tabs, *fit, "--decimal", ",")
        self.assertEqual(out["quantization_error"], plain["quantization_error"])
        self.refuse(2, ["fit", tabs, *fit, "--decimal", ";"], "--decimal is")

    def test_files_that_differ_from_the_first(self):
        table = rows()
        fit = ["-k", 3, "--algorithm", "kmeans"]
        first = self.write("a.csv", text(table))
        data = self.write("b.csv", text(table, None))
        comma = self.write("c.csv", text(table, "x,y", ";", ","))
        said = self.vem("fit", first, first, *fit).stderr
        self.assertEqual(said.count("taken for"), 1)
        self.assertNotIn("decimal", said)
        said = self.vem("fit", first, data, comma, *fit).stderr
        self.assertIn("b.csv: the first row is taken for data (else say --header yes)", said)
        self.assertIn("c.csv: numbers have a decimal comma", said)
        self.assertEqual((said.count("taken for"), said.count("decimal")), (2, 1))
        said = self.vem("fit", data, comma, first, *fit).stderr
        self.assertIn("a.csv: the first row is taken for the names of the columns", said)
        said = self.vem("fit", comma, first, data, *fit).stderr
        self.assertIn("c.csv: numbers have a decimal comma", said)
        self.assertIn("a.csv: numbers have a decimal point", said)
        model = self.path("m.npz")
        self.vem("fit", first, *fit, "-o", model)
        said = self.vem("score", model, first, data).stderr
        self.assertEqual(said.count("taken for"), 1)
        self.assertIn("b.csv: the first row is taken for data", said)
        self.assertEqual(self.vem("fit", first, data, comma, *fit, "-q").stderr, "")

    def test_compressed(self):
        table = rows(5000)
        fit = ["-k", 3, "--algorithm", "kmeans", "--measure"]
        plain = self.json("fit", self.write("a.csv", text(table)), *fit)
        for ending, separator in (("csv", ","), ("tsv", "\t"), ("txt", " ")):
            path = self.path(f"b.{ending}.gz")
            with gzip.open(path, "wt") as file:
                file.write(text(table, "x,y", separator))
            for more in ([], ["--memory", "40M" if SLOW == 1 else "4G"]):
                out = self.json("fit", path, *fit, *more)
                self.assertEqual(out["quantization_error"], plain["quantization_error"])

    def test_terminal_is_safe(self):
        evil = "\x1b]0;gone\x07,\x9b31m\u009b2J"
        data = self.write("e.csv", f"{evil},\u00e4\n1,2,3\n4,5,x\n")
        def look(*words, code):
            out = self.vem(*words, code=code)
            for stream in (out.stdout, out.stderr):
                self.assertFalse([c for c in stream if ord(c) < 32 and c != "\n"
                                  or 127 <= ord(c) < 160], ascii(stream))
            return out
        look("fit", data, "-k", 2, code=1)
        look("info", data, "--columns", "1,2", code=0)
        look("fit", data, "-k", 1, "--columns", "nothing", code=2)
        look("fit", data, "-k", 1, code=1)
        # What goes well speaks of columns and ids, too: one column decides, one is constant.
        lines = "".join(f"n\x1b[2J{i},{i % 3 * 1e6 + i},{i % 7},5\n" for i in range(60))
        data = self.write("g.csv", "id,\x1b]0;gone\x07,\u009b2J,\x1b[31m\n" + lines)
        model, tree = self.path("g.npz"), self.path("t.npz")
        said = look("fit", data, "-k", 2, "--id", "id", "-v", "-o", model, code=0).stdout
        self.assertIn("almost alone", " ".join(said.split()))
        for words in (["describe", model, data], ["describe", model], ["info", model],
                      ["info", data, "--id", "id"], ["score", model, data],
                      ["select", data, "--id", "id"],
                      ["tree", data, "--id", "id", "-o", tree], ["info", tree]):
            look(*words, code=0)
        # Notes of a tree come out of its file.
        with zipfile.ZipFile(tree) as old, zipfile.ZipFile(self.path("bad.npz"), "w") as new:
            for name in old.namelist():
                meta = {"kind": "tree", "method": "bayes", "notes": "\x1b]0;gone\x07\x9b2J"}
                new.writestr(name, cli_case.npy_bytes(list(json.dumps(meta).encode()), "|u1")
                             if name == "meta.npy" else old.read(name))
        for words in (["info", self.path("bad.npz")], ["tree", self.path("bad.npz"), "-k", 3]):
            self.assertIn("gone", look(*words, code=0).stdout)


class Advice(cli_case.Case):
    """What is refused comes with a remedy that works."""

    def refused(self, content, *options):
        data = self.write("bad.csv", content)
        return self.vem("fit", data, "-k", 2, *options, code=1).stderr

    def test_texts(self):
        table = [[f"c{i}", *row, "Rome"] for i, row in enumerate(rows())]
        said = self.refused(text(table, "name,x,y,city"))
        self.assertIn("Columns of text are left out with --id name,city (vem info", said)
        self.vem("fit", self.path("bad.csv"), "-k", 2, "--id", "name,city")
        said = self.refused(text(table, "name,x,y,home town"))
        self.assertIn("--id 1,4 ", said)
        for columns, told in (("1", "The column is text, and no other is taken (vem info"),
                              ("1,4", "All columns that are taken are text (vem info")):
            said = self.refused(text(table, "name,x,y,home town"), "--columns", columns)
            self.assertIn(told, said)
            self.assertNotIn("--id", said)

    def test_one_bad_value(self):
        table = rows()
        table[7][1] = "$53643.67"
        self.assertIn("1 of 60 values of this column is no number", self.refused(text(table)))
        table[7][1] = "n.a."
        data = self.write("na.csv", text(table))
        self.assertIn("1 row of 60 left out",
                      self.vem("fit", data, "-k", 2, "--missing", "drop").stderr)

    def test_decimal_commas(self):
        quoted = [['"%.3f"' % v for v in row] for row in rows()]
        said = self.refused(text([[v.replace(".", ",") for v in row] for row in quoted]))
        self.assertIn("save it with semicolons", said)
        self.assertNotIn("--decimal", said)

    def test_empty_column(self):
        for header, name in (("x,y,", ""), ("x,y,z", " (z)")):
            for missing in ("error", "drop", "mean"):
                said = self.refused(text([[*row, ""] for row in rows()], header),
                                    "--missing", missing)
                self.assertIn(f"column 3{name} has no values at all; --id 3 leaves it out",
                              said)
            self.vem("fit", self.path("bad.csv"), "-k", 2, "--id", 3)

    def test_positions_are_said(self):
        model = self.path("m.npz")
        self.vem("fit", self.write("a.csv", text(rows())), "-k", 2, "-o", model)
        said = self.vem("score", model, self.write("b.csv", text(rows(), ""))).stderr
        self.assertIn("b.csv has no names: its columns are taken to be x, y.", said)


if __name__ == "__main__":
    cli_case.main()
