#!/usr/bin/env python3
"""--metric cosine in the command: a golden case, files, predictions, scores, parts, states, and what it
refuses."""

import numpy as np

from cli_case import *


def unit(rows):
    rows = np.asarray(rows, dtype=np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Cosine(Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(4)
        centers = random.normal(size=(9, 6))
        rows = centers[random.integers(9, size=800)] + 0.5 * random.normal(size=(800, 6))
        self.rows = rows * random.lognormal(0, 3, size=(800, 1))
        np.save(self.path("x.npy"), self.rows)

    def fit(self, *options, data="x.npy", k=9, model="m.npz"):
        told = self.json("fit", self.path(data), "-k", k, "-o", self.path(model), "--labels",
                         self.path("l.npy"), "--metric", "cosine", *options)
        with np.load(self.path(model)) as found:
            return told, found["means"], json.loads(bytes(found["meta"]))

    def test_golden(self):
        """Spherical k-means of six rows, worked out by hand: two steps from the first two rows."""
        rows = [[1, 0], [0, 2], [3, 3.1], [-1, 0.1], [5, 1], [0.1, 9]]
        np.save(self.path("g.npy"), np.array(rows))
        u = unit(rows)
        means = u[:2].copy()
        for _ in range(10):
            labels = (u @ means.T).argmax(axis=1)
            means = unit([u[labels == c].sum(axis=0) for c in range(2)])
        np.savez(self.path("s.npz"), means=np.array(rows[:2], float), weights=[0.5, 0.5],
                 variances=[1.0])
        told = self.json("fit", self.path("g.npy"), "--init", self.path("s.npz"), "--metric",
                         "cosine", "-o", self.path("m.npz"), "--labels", self.path("l.npy"),
                         "--measure", "--tolerance", 0)
        found = np.load(self.path("m.npz"))["means"]
        np.testing.assert_allclose(found, means, atol=1e-15)
        np.testing.assert_array_equal(np.load(self.path("l.npy")), labels)
        self.assertAlmostEqual(told["quantization_error"],
                               2 * (1 - (u * means[labels]).sum(axis=1)).sum(), places=12)

    def test_fit_predict_score(self):
        told, means, meta = self.fit("--measure")
        self.assertEqual((told["metric"], told["options"]["metric"]), ("cosine", "cosine"))
        self.assertTrue(told["options"]["normalize"])
        self.assertEqual((meta["metric"], meta["normalize"]), ("cosine", True))
        np.testing.assert_allclose(np.linalg.norm(means, axis=1), 1, atol=1e-12)
        cosines = unit(self.rows) @ means.T
        labels = np.load(self.path("l.npy"))
        np.testing.assert_array_equal(labels, cosines.argmax(axis=1))
        self.json("predict", self.path("m.npz"), self.path("x.npy"), "-o", self.path("p.npy"))
        np.testing.assert_array_equal(np.load(self.path("p.npy")), labels)
        scores = self.json("score", self.path("m.npz"), self.path("x.npy"))
        loss = (1 - cosines.max(axis=1)).mean()
        self.assertEqual(scores["metric"], "cosine")
        self.assertAlmostEqual(scores["cosine_loss"], loss, places=12)
        self.assertAlmostEqual(scores["quantization_error"], 2 * 800 * loss, places=9)
        self.assertEqual(scores["parameters"], 9 * 5 + 1)
        self.assertEqual(self.json("info", self.path("m.npz"))["metric"], "cosine")
        for verb in (["describe", self.path("m.npz"), self.path("x.npy")],
                     ["sample", self.path("m.npz"), "-n", 5, "-o", self.path("r.npy")],
                     ["score", self.path("m.npz"), self.path("x.npy"), "--index",
                      self.path("x.npy")]):
            self.vem(*verb)
        text = self.vem("fit", self.path("x.npy"), "-k", 9, "--metric", "cosine", "-o",
                        self.path("t.npz"))
        self.assertIn("metric cosine", text.stdout)
        # Other lengths, the same bits; another type, the same clusters.
        np.save(self.path("y.npy"), self.rows * 2.0 ** np.arange(-400, 400)[:, None])
        _, other, _ = self.fit(data="y.npy", model="n.npz")
        np.testing.assert_array_equal(other, means)
        np.save(self.path("f.npy"), self.rows.astype(np.float32))
        told, single, _ = self.fit("--measure", data="f.npy", model="n.npz")
        np.testing.assert_allclose(np.linalg.norm(single, axis=1), 1, atol=1e-12)
        self.assertAlmostEqual(told["quantization_error"], 1600 * loss, delta=0.02 * 1600 * loss)

    def test_narrow(self):
        """Directions within 1e-2 to 1e-12: views are divided by a power of two, and know the sphere."""
        random = np.random.default_rng(3)
        for scale in (1e-2, 1e-7, 1e-12):
            rows = random.normal(size=(6, 5))[random.integers(6, size=600)]
            rows = scale * (rows + 0.1 * random.normal(size=(600, 5)))
            rows = np.c_[np.ones(600), rows] * random.lognormal(0, 1, size=(600, 1))
            np.save(self.path("narrow.npy"), rows)
            for precision in ("single", "double"):
                told, means, _ = self.fit("--precision", precision, "--measure", "--trace",
                                          self.path("t.csv"), data="narrow.npy", k=6)
                error = ((unit(rows)[:, None] - means[None]) ** 2).sum(2).min(1).sum()
                self.assertAlmostEqual(told["quantization_error"] / error, 1, places=5)
                self.assertLess(error, 600 * 5 * (0.2 * scale) ** 2)
                np.testing.assert_allclose(np.linalg.norm(means, axis=1), 1, atol=1e-12)
                with open(self.path("t.csv"), newline="") as lines:
                    energies = [float(line["free_energy"]) for line in csv.DictReader(lines)]
                for a, b in zip(energies, energies[1:]):
                    self.assertGreaterEqual(b, a - 1e-6 * max(abs(a), 6))

    def test_prices(self):
        self.fit("--balance", "soft", k=20)
        self.vem("predict", self.path("m.npz"), self.path("x.npy"), "-o", self.path("p.npy"),
                 "--nearest")
        means = np.load(self.path("m.npz"))["means"]
        np.testing.assert_array_equal(np.load(self.path("p.npy")),
                                      (unit(self.rows) @ means.T).argmax(axis=1))

    def test_parts(self):
        """A step of parts is a step of all rows; parts of another metric do not add."""
        _, start, _ = self.fit("--max-steps", 1)
        np.save(self.path("a.npy"), self.rows[:300])
        np.save(self.path("b.npy"), self.rows[300:])
        names = []
        for part in "ab":
            names.append(self.path(part + ".stats.npz"))
            self.json("fit", self.path(part + ".npy"), "--init", self.path("m.npz"),
                      "--accumulate", names[-1])
        self.json("merge", *names, "-o", self.path("next.npz"))
        u = unit(self.rows)
        labels = (u @ start.T).argmax(axis=1)
        expected = unit([u[labels == c].sum(axis=0) for c in range(9)])
        np.testing.assert_allclose(np.load(self.path("next.npz"))["means"], expected, atol=1e-12)
        self.assertEqual(self.json("info", self.path("next.npz"))["metric"], "cosine")
        self.json("fit", self.path("x.npy"), "-k", 9, "--normalize", "-o", self.path("l2.npz"))
        self.json("fit", self.path("b.npy"), "--init", self.path("l2.npz"), "--accumulate",
                  self.path("c.stats.npz"))
        self.refuse(1, ["merge", names[0], self.path("c.stats.npz"), "-o", self.path("no.npz")],
                    "--metric cosine")

    def test_resume(self):
        """A fit that was ended early goes on to the same bits; not with another metric."""
        options = ["--seeding", "random", "--swaps", 0, "--tolerance", 0, "--search", "closest"]
        _, whole, _ = self.fit(*options)
        state = self.path("state")
        for steps in (1, 3, 6):
            if os.path.exists(state):
                os.remove(state)
            self.fit(*options, "--max-steps", steps, "--checkpoint", state, model="part.npz")
            _, means, _ = self.fit(*options, "--checkpoint", state, "--resume", model="r.npz")
            np.testing.assert_array_equal(means, whole)
        self.fit(*options, "--max-steps", 2, "--checkpoint", self.path("other"))
        self.refuse(2, ["fit", self.path("x.npy"), "-k", 9, *options, "--normalize", "--checkpoint",
                        self.path("other"), "--resume", "-o", self.path("no.npz")], "metric")

    def test_files_made_by_hand(self):
        """Means of any length in a file that says cosine are directions; what is none is refused."""
        meta = np.frombuffer(b'{"metric": "cosine"}', dtype=np.uint8)
        means = np.random.default_rng(1).normal(size=(4, 6)) * [[1e-3], [1], [7], [1e100]]

        def save(means, meta=meta, **more):
            np.savez(self.path("h.npz"), means=means, weights=np.full(len(means), 0.25),
                     variances=np.array([0.1]), meta=meta, **more)

        save(means)
        self.json("predict", self.path("h.npz"), self.path("x.npy"), "-o", self.path("p.npy"))
        np.testing.assert_array_equal(np.load(self.path("p.npy")),
                                      (unit(self.rows) @ unit(means * 1e-90).T).argmax(axis=1))
        predict = ["predict", self.path("h.npz"), self.path("x.npy"), "-o", self.path("q.npy")]
        save(means * [[1], [1], [0], [1]])
        self.refuse(1, predict, "cluster 3 is 0")
        save(means, scale=np.ones(6))
        self.refuse(1, predict, "cosine")
        save(means, meta=np.frombuffer(b'{"metric": "hamming"}', dtype=np.uint8))
        self.refuse(1, predict, "hamming")

    def test_refusals(self):
        rows = self.rows.copy()
        rows[41] = 0
        np.save(self.path("z.npy"), rows)
        self.fit()
        new = ["-o", self.path("no.npz")]
        cosine = ["-k", 3, "--metric", "cosine"]
        z, named = self.path("z.npy"), "Row 42 has no value but 0"
        self.refuse(1, ["fit", z, *cosine, *new], named)
        self.refuse(1, ["fit", z, *cosine, "--coreset", 50, *new], named)
        for verb in ("score", "describe"):
            self.refuse(1, [verb, self.path("m.npz"), z], named)
        self.refuse(1, ["predict", self.path("m.npz"), z, "-o", self.path("no.npy")], named)
        x = self.path("x.npy")
        for word, options in (("iso-shared", ["--family", "full"]),
                              ("iso-shared", ["--algorithm", "gmm"]),
                              ("--standardize", ["--standardize"]),
                              ("moore-em", ["--algorithm", "moore-em", "--family",
                                            "iso-shared"])):
            self.refuse(2, ["fit", x, *cosine, *options, *new], word)
        self.refuse(2, ["fit", x, "-k", 3, "--metric", "cosin", *new], "cosine")


if __name__ == "__main__":
    main()
