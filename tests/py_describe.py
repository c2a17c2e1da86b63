#!/usr/bin/env python3
"""What vem describe says, against numpy. Exit status 77 (skipped) where numpy is not installed."""
import csv
import sys

try:
    import numpy as np
except ImportError:
    print("numpy is not installed: skipped")
    sys.exit(77)

from cli_case import Case, main


class Describe(Case):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        self.clusters, self.d = 7, 3
        unit = np.array([1.0, 1000.0, 0.01])
        self.means = 4 * rng.standard_normal((7, 3)) * unit
        self.means[3] = self.means[2] + 0.5 * unit  # two that rows cannot tell apart
        self.variances = rng.uniform(0.5, 2, (7, 3)) * unit ** 2
        self.weights = rng.dirichlet(np.full(7, 5.0))
        np.savez(self.path("m.npz"), means=self.means, weights=self.weights, variances=self.variances)
        labels = rng.choice(7, 900, p=self.weights)
        self.x = self.means[labels] + rng.standard_normal((900, 3)) * np.sqrt(self.variances[labels])
        with open(self.path("x.csv"), "w", encoding="utf-8") as file:
            file.write("length,income,rate\n")
            file.writelines(",".join(repr(float(v)) for v in row) + "\n" for row in self.x)
        logs = np.log(self.weights) - 0.5 * np.sum(
            np.log(self.variances) + (self.x[:, None] - self.means) ** 2 / self.variances, axis=2)
        chance = np.exp(logs - logs.max(1, keepdims=True))
        self.chance = chance / chance.sum(1, keepdims=True)

    def differences(self, it, mean, sd):
        """The three columns of largest difference, with sign."""
        off = (self.means[it["cluster"]] - mean) / sd
        order = np.argsort(-np.abs(off))[:3]
        return order, off[order]

    def test_model_alone(self):
        report = self.json("describe", self.path("m.npz"))
        mean = self.weights @ self.means
        var = self.weights @ (self.variances + (self.means - mean) ** 2)
        np.testing.assert_allclose([c["mean"] for c in report["columns"]], mean, rtol=1e-9)
        np.testing.assert_allclose([c["sd"] for c in report["columns"]], np.sqrt(var), rtol=1e-9)
        self.assertEqual([it["cluster"] for it in report["found"]], list(np.argsort(-self.weights)))
        self.assertIsNone(report["n"])
        for it in report["found"]:
            c = it["cluster"]
            np.testing.assert_allclose(it["means"], self.means[c])
            self.assertAlmostEqual(it["spread"], np.sqrt(np.mean(self.variances[c] / var)), places=9)
            order, off = self.differences(it, mean, np.sqrt(var))
            self.assertEqual([x["column"] for x in it["differs"]], [f"column {j + 1}" for j in order])
            np.testing.assert_allclose([x["difference"] for x in it["differs"]], off, rtol=1e-8)
            joint = np.log(self.weights) - 0.5 * np.sum(
                np.log(self.variances) + (self.means[c] - self.means) ** 2 / self.variances, axis=1)
            joint[c] = -np.inf
            b = int(np.argmax(joint))
            self.assertEqual(it["nearest"], b)
            s = (self.variances[c] + self.variances[b]) / 2
            distance = np.sum((self.means[c] - self.means[b]) ** 2 / s) / 8 + 0.5 * np.sum(
                np.log(s / np.sqrt(self.variances[c] * self.variances[b])))
            self.assertAlmostEqual(it["overlap"], np.exp(-distance), places=9)
        self.assertEqual((report["merges"][0]["a"], report["merges"][0]["b"]), (2, 3))

    def test_with_data(self):
        report = self.json("describe", self.path("m.npz"), self.path("x.csv"))
        best = self.chance.argmax(1)
        top = self.chance.max(1)
        order = np.argsort(-self.chance, axis=1)
        counts = np.bincount(best, minlength=7)
        found = {it["cluster"]: it for it in report["found"]}
        self.assertEqual([it["rows"] for it in report["found"]], sorted(counts, reverse=True))
        self.assertAlmostEqual(report["doubtful"], np.mean(top < 0.9), places=9)
        pairs = {}
        for i, (a, b) in enumerate(order[:, :2]):
            pairs[min(a, b), max(a, b)] = pairs.get((min(a, b), max(a, b)), 0) + self.chance[i, b]
        shared = {p: min(v / min(counts[p[0]], counts[p[1]]), 1) for p, v in pairs.items()}
        np.testing.assert_allclose([c["mean"] for c in report["columns"]], self.x.mean(0), rtol=1e-9)
        np.testing.assert_allclose([c["sd"] for c in report["columns"]], self.x.std(0), rtol=1e-9)
        for c, it in found.items():
            mine = np.flatnonzero(best == c)
            self.assertEqual(it["rows"], len(mine))
            self.assertAlmostEqual(it["doubtful"], np.mean(top[mine] < 0.9), places=9)
            far = np.sum((self.x[mine] - self.means[c]) ** 2 / self.variances[c], axis=1)
            self.assertEqual([e["row"] for e in it["exemplars"]], list(mine[np.argsort(far)[:3]] + 1))
            columns, off = self.differences(it, self.x.mean(0), self.x.std(0))
            names = ["length", "income", "rate"]
            self.assertEqual([x["column"] for x in it["differs"]], [names[j] for j in columns])
            np.testing.assert_allclose([x["difference"] for x in it["differs"]], off, rtol=1e-8)
            rival = max((v, p) for p, v in shared.items() if c in p)
            self.assertAlmostEqual(it["shared"], rival[0], places=8)
        best_pair = max(shared, key=shared.get)
        self.assertEqual((report["merges"][0]["a"], report["merges"][0]["b"]), best_pair)
        self.assertAlmostEqual(report["merges"][0]["common"], shared[best_pair], places=8)

    def test_tables(self):
        for words in ([], [self.path("x.csv")]):
            text = self.vem("describe", self.path("m.npz"), *words, "--first", 3).stdout
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()[1:]), text)
            self.assertIn("4 more clusters", text)
            self.assertIn("Likely merges", text)
            self.assertIn("differs: its mean less that of all, in standard deviations", text)
            # Means of a column have one format.
            table = [line.split() for line in text.split("Means\n")[1].split("\n\n")[0].splitlines()[1:]]
            for column in list(zip(*table))[1:]:
                self.assertEqual(len({len(v.partition(".")[2]) for v in column}), 1, text)
        self.assertIn("income", text)
        self.vem("describe", self.path("m.npz"), self.path("x.csv"), "--csv", self.path("out.csv"))
        with open(self.path("out.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 7)
        for row in rows:
            self.assertEqual([float(row[name]) for name in ("length", "income", "rate")],
                             list(self.means[int(row["cluster"])]))
        wide = {"means": np.random.default_rng(1).standard_normal((1, 100)),
                "weights": np.ones(1), "variances": np.ones(1)}
        np.savez(self.path("w.npz"), **wide)
        text = self.vem("describe", self.path("w.npz")).stdout
        self.assertIn("all 100", text)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()[1:]), text)

    def test_headings_count_characters(self):
        names = ("H\u00f6he", "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", "plain")
        table = self.path("names.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write(",".join(names) + "\n1,2,3\n2,4,5\n4,8,6\n")
        self.vem("fit", table, "-k", 1, "-o", self.path("names.npz"), "-q")
        lines = self.vem("describe", self.path("names.npz")).stdout.splitlines()
        head = lines[lines.index("Means") + 1]
        self.assertEqual(head, " cluster" + "".join(f" {name[:11]:>11}" for name in names))

    def test_headings_can_be_told_apart(self):
        """Names that begin alike show their ends, and the number of a column is whole."""
        with open(self.path("n.csv"), "w", encoding="utf-8") as file:
            file.write("visits per month 2019,visits per month 2020,sepal length (cm)\n1,2,3\n2,4,5\n4,8,6\n")
        self.vem("fit", self.path("n.csv"), "-k", 1, "-o", self.path("n.npz"), "-q")
        lines = self.vem("describe", self.path("n.npz")).stdout.splitlines()
        self.assertEqual(lines[lines.index("Means") + 1], " cluster ..onth 2019 ..onth 2020 sepal lengt")
        means = np.zeros((2, 20000))
        means[:, [7, 12344, 12345, 19999]] = [[-1], [1]]
        np.savez(self.path("wide.npz"), means=means, weights=[0.5, 0.5], variances=np.ones(1))
        text = self.vem("describe", self.path("wide.npz")).stdout
        for name in " column 8 ", " ..umn 12345 ", " ..umn 12346 ", " ..umn 20000":
            self.assertIn(name, text + " ")

    def test_rows_that_are_all_one(self):
        """Where no column varies a spread is no number, and none is shown."""
        with open(self.path("same.csv"), "w", encoding="utf-8") as file:
            file.write("a,b\n" + "1,2\n" * 5)
        self.vem("fit", self.path("same.csv"), "-k", 1, "-o", self.path("same.npz"), "-q")
        for model in ([self.path("same.npz"), self.path("same.csv")], [self.path("same.npz")]):
            self.assertNotIn("nan", self.vem("describe", *model).stdout)
        self.assertIsNone(self.json("describe", self.path("same.npz"), self.path("same.csv"))["found"][0]["spread"])

    def test_names_stay_whole_in_files(self):
        """A terminal is spared control codes and long names; JSON and CSV are for programs."""
        names = ["n" * 80 + "a", "n" * 80 + "b", "tab\there"]
        with open(self.path("n.csv"), "w", encoding="utf-8") as file:
            file.write(",".join(f'"{name}"' for name in names) + "\n")
            file.writelines(",".join(repr(float(v)) for v in row) + "\n" for row in self.x)
        self.vem("fit", self.path("n.csv"), "-k", 2, "-o", self.path("n.npz"))
        model = [self.path("n.npz"), self.path("n.csv")]
        report = self.json("describe", *model)
        self.assertEqual([column["name"] for column in report["columns"]], names)
        for it in report["found"]:
            self.assertEqual({x["column"] for x in it["differs"]}, set(names))
        self.vem("describe", *model, "--csv", self.path("n.out.csv"))
        with open(self.path("n.out.csv"), encoding="utf-8", newline="") as file:
            self.assertEqual(next(csv.reader(file))[-3:], names)
        text = self.vem("describe", *model).stdout
        self.assertNotIn("\t", text)

    def test_csv_leaves_empty_what_is_not_there(self):
        """A lone cluster has no neighbor, one without rows no exemplar and no doubt."""
        np.savez(self.path("one.npz"), means=self.means[:1], weights=[1.0],
                 variances=self.variances[:1])
        far = np.vstack([self.means[:1], self.means[:1] + 1e6])
        np.savez(self.path("far.npz"), means=far, weights=[0.5, 0.5],
                 variances=self.variances[:2])
        for model, words in (("one.npz", []), ("far.npz", [self.path("x.csv")])):
            self.vem("describe", self.path(model), *words, "--csv", self.path("e.csv"))
            with open(self.path("e.csv"), encoding="utf-8") as file:
                table = list(csv.DictReader(file))
            for row in table:
                for name, value in row.items():
                    self.assertNotIn(value, ("nan", "-nan", "-1", "inf"), (model, name))
        self.assertEqual([row["doubtful"] for row in table if row["rows"] == "0"], [""])
        self.assertEqual([row["exemplar"] for row in table if row["rows"] == "0"], [""])

    def test_ids_and_several_files(self):
        lines = [",".join(repr(float(v)) for v in row) for row in self.x]
        for name, first, last in (("a.csv", 0, 400), ("b.csv", 400, 900)):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("name,length,income,rate\n")
                file.writelines(f"n{i + 1},{lines[i]}\n" for i in range(first, last))
        parts = [self.path("a.csv"), self.path("b.csv"), "--id", "name"]
        whole = self.json("describe", self.path("m.npz"), self.path("x.csv"))
        split = self.json("describe", self.path("m.npz"), *parts)
        for one, other in zip(whole["found"], split["found"]):
            self.assertEqual(one["rows"], other["rows"])
            for row, named in zip(one["exemplars"], other["exemplars"]):
                self.assertEqual((named["row"], named["id"]), (row["row"], f"n{row['row']}"))
                self.assertIsNone(row["id"])
        text = self.vem("describe", self.path("m.npz"), *parts).stdout
        row = split["found"][0]["exemplars"][0]["row"]
        self.assertIn(f"{row} n{row}", text)
        self.assertIn("a.csv and 1 more", text)

    def test_what_is_wrong_is_said(self):
        model, data = self.path("m.npz"), self.path("x.csv")
        self.refuse(2, ["describe", model, "--first", 0], "--first is 0")
        self.refuse(1, ["describe", model, data, self.path("none.csv")], "none.csv")
        self.refuse(2, ["describe", model, data, "--missing", "dorp"], "did you mean drop?")
        self.refuse(2, ["describe", data, model], "model comes first")
        self.refuse(2, ["describe", model, "--csv", self.path("x.npy")], "csv")
        self.refuse(1, ["describe", self.path("none.npz")], "none.npz")
        self.refuse(1, ["describe", model, self.npy("y.npy", [[1.0, 2.0]] * 9)], "2 columns", "model has 3")


if __name__ == "__main__":
    main()
