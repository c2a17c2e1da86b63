#!/usr/bin/env python3
"""--balance: sizes that are promised, prices in files and predictions, and what it does not go with."""
import numpy as np
from scipy.optimize import linear_sum_assignment

from cli_case import *


def distances(rows, means):
    return ((rows[:, None, :] - means[None, :, :]) ** 2).sum(2)


class Balance(Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(8)
        rows = random.standard_t(3, (1201, 3)) * np.array([3, 1, 1])
        self.rows = rows
        np.save(self.path("x.npy"), rows)

    def fit(self, *options, data="x.npy", k=30, model="m.npz"):
        return self.json("fit", self.path(data), "-k", k, "-o", self.path(model), "--labels",
                         self.path("l.npy"), *options)

    def sizes(self, k=30, weights=None):
        return np.bincount(np.load(self.path("l.npy")), weights, minlength=k)

    def test_sizes(self):
        plain = self.fit()
        self.assertNotIn("prices", np.load(self.path("m.npz")))
        size = self.sizes()
        self.assertAlmostEqual(plain["cv"], size.std() / size.mean())
        self.assertAlmostEqual(plain["largest"], size.max() / size.mean())
        before = plain
        for how in ("soft", "auto"):
            told = self.fit("--balance", how)
            self.assertEqual(told["options"]["balance"], how)
            self.assertLess(told["cv"], before["cv"])
            before = told
        for cap in (2, 1.25, 1):
            told = self.fit("--balance", cap)
            size = self.sizes()
            self.assertLessEqual(size.max(), max(int(cap * 1201 / 30), 41))
            self.assertAlmostEqual(told["largest"], size.max() / size.mean())
            self.assertEqual(size.sum(), 1201)
        self.assertGreaterEqual(size.min(), 40)

    def test_a_weight_of_two_is_two_rows(self):
        weights = np.random.default_rng(3).integers(0, 4, len(self.rows))
        np.save(self.path("w.npy"), weights.astype(float))
        np.save(self.path("more.npy"), np.repeat(self.rows, weights, axis=0))
        self.fit("--algorithm", "kmeans", model="start.npz")
        for how in ("soft", "auto"):
            words = ["--balance", how, "--init", self.path("start.npz")]
            one = self.fit(*words, "--weights", self.path("w.npy"))
            other = self.fit(*words, data="more.npy")
            for what in ("free_energy", "cv", "largest", "steps"):
                self.assertAlmostEqual(one[what], other[what], 9, (how, what))

    def test_gaps_beyond_exp(self):
        """Tight clusters, and a far one of few rows: prices of hundreds of nats stay numbers."""
        random = np.random.RandomState(0)
        for wide in (200, 1000):
            centers = random.uniform(-wide, wide, size=(10, 2))
            rows = np.vstack([center + random.normal(size=(100 if i else 300, 2))
                              for i, center in enumerate(centers)] + [[[3000.0, 3000.0]]])
            np.save(self.path("wide.npy"), rows)
            for how in ("soft", "auto", 1.5):
                self.fit("--balance", how, data="wide.npy", k=11)
                with np.load(self.path("m.npz")) as model:
                    self.assertTrue((model["weights"] > 0).all())
                    self.assertTrue(np.isfinite(model["prices"]).all())
                self.assertEqual(self.sizes(11).sum(), len(rows))

    def test_least_cost(self):
        """As many slots for each cluster as it has rows: no assignment of them costs less."""
        told = self.fit("--balance", 1, "--max-steps", 30, "--precision", "double")
        model = np.load(self.path("m.npz"))
        labels = np.load(self.path("l.npy"))
        cost = distances(self.rows, model["means"])
        slots = np.repeat(np.arange(30), self.sizes())
        row, slot = linear_sum_assignment(cost[:, slots])
        least = cost[row, slots[slot]].sum()
        ours = cost[np.arange(len(labels)), labels].sum()
        self.assertLessEqual(ours, least * (1 + 1e-6))
        # And F is that of these labels.
        variance = model["variances"].item()
        energy = (np.log(model["weights"])[labels].mean() - ours / len(labels) / (2 * variance)
                  - 1.5 * np.log(2 * np.pi * variance))
        self.assertAlmostEqual(told["free_energy"], energy, 9)

    def test_many_clusters(self):
        """More clusters than lists have: all sizes are kept, means are those of the rows, and places
        cost little more than the least there is."""
        for cap in (1, 1.25):
            self.fit("--balance", cap, "--precision", "double", k=100)
            size = self.sizes(100)
            self.assertLessEqual(size.max(), max(int(cap * 12.01), 13))
            if cap == 1:
                self.assertEqual(sorted(set(size)), [12, 13])
            means, labels = np.load(self.path("m.npz"))["means"], np.load(self.path("l.npy"))
            held = np.array([self.rows[labels == c].mean(0) for c in range(100) if size[c]])
            np.testing.assert_allclose(means[size > 0], held, rtol=1e-6, atol=1e-9)
            cost = distances(self.rows, means)
            slots = np.repeat(np.arange(100), size)
            row, slot = linear_sum_assignment(cost[:, slots])
            ours = cost[np.arange(len(labels)), labels].sum()
            self.assertLessEqual(ours, cost[row, slots[slot]].sum() * 1.05)

    def test_hostile_rows(self):
        random = np.random.default_rng(1)
        twice = np.repeat(random.normal(size=(50, 2)), 7, axis=0)
        np.save(self.path("twice.npy"), twice)
        self.fit("--balance", 1, data="twice.npy", k=9)
        self.assertEqual(sorted(set(self.sizes(9))), [38, 39])
        np.save(self.path("few.npy"), random.normal(size=(12, 2)))
        self.fit("--balance", 1, data="few.npy", k=12)
        self.assertEqual(set(self.sizes(12)), {1})
        told = self.fit("--balance", 1, data="few.npy", k=1)
        self.assertEqual((told["largest"], told["cv"]), (1, 0))
        weights = random.exponential(size=1201)
        np.save(self.path("w.npy"), weights)
        for cap in (1, 1.25):
            self.fit("--balance", cap, "--weights", self.path("w.npy"))
            self.assertLessEqual(self.sizes(30, weights).max(),
                                 cap * weights.sum() / 30 * (1 + 1e-9) + weights.max())

    def test_one_heavy_row(self):
        """It lets its own cluster be larger, and no other."""
        weights = np.ones(1201)
        weights[3] = 60
        np.save(self.path("w.npy"), weights)
        for k in (30, 80):
            for cap in (1, 1.25):
                self.fit("--balance", cap, "--weights", self.path("w.npy"), k=k)
                labels = np.load(self.path("l.npy"))
                heaviest = np.where(np.arange(k) == labels[3], 60, 1)
                most = cap * weights.sum() / k * (1 + 1e-9) + heaviest
                self.assertTrue((self.sizes(k, weights) <= most).all(), (k, cap))

    def test_a_bound_that_is_rounded(self):
        """1.15 times 100 is below 115 by rounding: 115 rows are allowed, and no note says otherwise."""
        np.save(self.path("round.npy"), np.random.default_rng(4).standard_t(2, (3000, 2)))
        told = self.fit("--balance", 1.15, data="round.npy")
        self.assertEqual(self.sizes().max(), 115)
        self.assertFalse([note for note in told["notes"] if "--balance" in note])

    def test_rows_that_weigh_the_same(self):
        """They are counted, whatever they weigh, and beside rows that weigh nothing."""
        for k in (30, 80):
            for weight in (2, 0.1):
                np.save(self.path("w.npy"), np.full(1201, float(weight)))
                self.fit("--balance", 1, "--weights", self.path("w.npy"), k=k)
                self.assertEqual(set(self.sizes(k)), {1201 // k, 1201 // k + 1}, (k, weight))
            counted = np.random.default_rng(5).random(1201) < 0.7
            rows = counted.sum()
            np.save(self.path("w.npy"), 3.0 * counted)
            for cap in (1, 1.25):
                self.fit("--balance", cap, "--weights", self.path("w.npy"), k=k)
                size = self.sizes(k, counted)
                self.assertLessEqual(size.max(), max(int(cap * rows / k), -(-rows // k)))
                if cap == 1:
                    self.assertGreaterEqual(size.min(), rows // k)

    def test_all_are_full(self):
        """Masses that do not add up to the last digit: rows find all clusters full, and are put
        where they are least too much."""
        weights = np.append(np.ones(6600), np.full(1000, 1e-17))
        np.save(self.path("w.npy"), weights)
        for seed in (0, 1):
            random = np.random.default_rng(seed)
            rows = np.repeat(random.normal(size=(70, 2)), 120, axis=0)
            np.save(self.path("full.npy"), rows[random.permutation(8400)[:7600]])
            told = self.fit("--balance", 1, "--weights", self.path("w.npy"), data="full.npy", k=66)
            labels = np.load(self.path("l.npy"))
            self.assertEqual((labels.min(), labels.max()), (0, 65))
            np.testing.assert_allclose(self.sizes(66, weights), 100, rtol=1e-12)
            self.assertAlmostEqual(told["largest"], 1)

    def test_prices(self):
        """Files have them, prediction goes by them, --nearest does not."""
        self.fit("--balance", "soft", "--precision", "double")
        model = np.load(self.path("m.npz"))
        self.assertEqual(model["prices"].shape, (30,))
        np.testing.assert_allclose(np.exp(-model["prices"]) / 30, model["weights"], rtol=1e-12)
        cost = distances(self.rows, model["means"])
        priced = cost / (2 * model["variances"].item()) + model["prices"]
        self.vem("predict", self.path("m.npz"), self.path("x.npy"), "-o", self.path("p.npy"),
                 "--exact")
        predicted = np.load(self.path("p.npy"))
        np.testing.assert_array_equal(predicted, priced.argmin(1))
        np.testing.assert_array_equal(predicted, np.load(self.path("l.npy")))
        self.assertTrue((predicted != cost.argmin(1)).any())
        self.vem("predict", self.path("m.npz"), self.path("x.npy"), "-o", self.path("p.npy"),
                 "--nearest")
        np.testing.assert_array_equal(np.load(self.path("p.npy")), cost.argmin(1))

    def test_nearest_of_shapes(self):
        """--nearest goes by the means alone, in the units of the fit, whatever the family."""
        rows = self.rows * np.array([1, 10, 100])
        np.save(self.path("y.npy"), rows)
        differ = 0
        for family in ("iso-shared", "iso", "diag", "full", "diag-shared", "full-shared"):
            for words in ([], ["--standardize"]):
                self.fit("--family", family, "--precision", "double", *words, data="y.npy", k=5)
                model, units = np.load(self.path("m.npz")), rows.std(0) if words else np.ones(3)
                near = distances(rows / units, model["means"] / units).argmin(1)
                for how in (["--nearest"], ["--nearest", "--precision", "double"], []):
                    self.vem("predict", self.path("m.npz"), self.path("y.npy"), "-o",
                             self.path("p.npy"), *how)
                    found = np.load(self.path("p.npy"))
                    if how:
                        np.testing.assert_array_equal(found, near, f"{family} {words} {how}")
                differ += (found != near).any()
        self.assertGreater(differ, 6)

    def test_bits(self):
        for how, k in (("auto", 80), ("1.25", 80), ("1", 80), ("1", 30)):
            found = []
            for threads in (1, 2, 3, 7):
                told = self.fit("--balance", how, "--threads", threads, k=k)
                model = np.load(self.path("m.npz"))
                found.append([told["free_energy"], model["means"].tobytes(),
                              model["prices"].tobytes(), np.load(self.path("l.npy")).tobytes()])
            for other in found[1:]:
                self.assertEqual(other, found[0])

    def test_resume(self):
        whole = self.fit("--balance", "1.25")
        means, labels = np.load(self.path("m.npz"))["means"], np.load(self.path("l.npy"))
        lines = whole["steps"]
        # From the first, where no price was found yet; and memory is not zero by chance.
        os.environ["MALLOC_PERTURB_"] = "190"
        self.addCleanup(os.environ.pop, "MALLOC_PERTURB_")
        for steps in range(1, lines):
            state = self.path(f"state{steps}")
            self.fit("--balance", "1.25", "--max-steps", steps, "--checkpoint", state)
            told = self.fit("--balance", "1.25", "--checkpoint", state, "--resume")
            self.assertEqual(told["free_energy"], whole["free_energy"], steps)
            np.testing.assert_array_equal(np.load(self.path("m.npz"))["means"], means)
            np.testing.assert_array_equal(np.load(self.path("l.npy")), labels)

    def test_parts(self):
        """Statistics of parts keep the prices of the model, and the next step has them."""
        self.fit("--balance", "soft")
        before = np.load(self.path("m.npz"))
        for part in (0, 1):
            np.save(self.path(f"{part}.npy"), self.rows[part::2])
            self.vem("fit", self.path(f"{part}.npy"), "--init", self.path("m.npz"),
                     "--accumulate", self.path(f"{part}.npz"))
        self.vem("merge", self.path("0.npz"), self.path("1.npz"), "-o", self.path("next.npz"))
        after = np.load(self.path("next.npz"))
        np.testing.assert_array_equal(after["weights"], before["weights"])
        np.testing.assert_array_equal(after["prices"], before["prices"])
        told = self.json("fit", self.path("x.npy"), "--init", self.path("m.npz"), "--prior", "even",
                         "-o", self.path("on.npz"), "--trace", self.path("t.csv"))
        np.testing.assert_array_equal(np.load(self.path("on.npz"))["prices"], before["prices"])
        with open(self.path("t.csv")) as lines:
            trace = [float(line["free_energy"]) for line in csv.DictReader(lines)]
        self.assertEqual(len(trace), told["steps"])
        for a, b in zip(trace, trace[1:]):
            self.assertGreaterEqual(b, a - 1e-9 * abs(a))

    def test_prices_are_no_shares(self):
        """Weights that are prices say nothing of sizes: not to describe, to sample, or to criteria."""
        told = self.json("fit", self.path("x.npy"), "-k", 30, "--balance", "soft", "-o", self.path("m.npz"))
        model = np.load(self.path("m.npz"))
        self.assertGreater(model["weights"].max(), 2 / 30)  # else nothing is shown
        for words in ((), (self.path("x.npy"),)):
            said = self.json("describe", self.path("m.npz"), *words)
            for cluster in said["found"]:
                self.assertAlmostEqual(cluster["weight"], 1 / 30)
        said = self.json("describe", self.path("m.npz"))
        np.testing.assert_allclose([c["mean"] for c in said["columns"]], model["means"].mean(axis=0))
        self.vem("sample", self.path("m.npz"), "-n", 9000, "-o", self.path("s.npy"), "--labels",
                 self.path("l.npy"))
        drawn = np.bincount(np.load(self.path("l.npy")), minlength=30)
        self.assertLess(np.abs(drawn - 300).max(), 6 * 300 ** 0.5)
        score = self.json("score", self.path("m.npz"), self.path("x.npy"))
        self.assertEqual(score["parameters"], told["parameters"])
        self.assertEqual(score["parameters"], model["means"].size + 1)
        self.assertIn("prices", self.vem("info", self.path("m.npz")).stdout)

    def test_even_needs_a_model(self):
        self.refuse(2, ["fit", self.path("x.npy"), "-k", 3, "--prior", "even"], "--prior is even",
                    "--init MODEL")

    def test_with_others(self):
        self.fit("--balance", "soft", "--search", "closest")
        self.fit("--balance", "soft", "--search", "estimated")
        self.fit("--balance", "soft", "--family", "iso")
        self.fit("--balance", 1.5, "--memory", "100M")
        self.fit("--balance", 1, "--restarts", 2)
        self.assertLessEqual(self.sizes().max(), 41)
        self.fit("--balance", 1, "--max-steps", 2)
        self.assertLessEqual(self.sizes().max(), 41)
        self.vem("fit", self.path("x.npy"), "-k", 30, "--balance", "soft", "--coreset", 600, "-o",
                 self.path("m.npz"))

    def test_refused(self):
        x, m = self.path("x.npy"), self.path("m.npz")
        for value in ("0.5", "nan", "1e308", "x", "-1", "inf", ""):
            self.refuse(2, ["fit", x, "-k", 5, "-o", m, "--balance", value], "--balance is")
        for options, words in ((("--family", "full"), "--family iso-shared or iso"),
                               (("--held", "2"), "--held 1"),
                               (("--prior", "free", "--held", "1"), "--prior flat"),
                               (("--margin", "0.1", "--search", "closest"), "--margin"),
                               (("--cells", "100"), "--cells 0"),
                               (("--algorithm", "greedy"), "--balance is 2"),
                               (("--coreset", "200"), "coreset")):
            self.refuse(2, ["fit", x, "-k", 5, "-o", m, "--balance", "2", *options], words)
        for numbers in ("3,5", "3-5"):  # labels of one fit keep it
            self.refuse(2, ["fit", x, "-k", numbers, "-o", m, "--balance", 1], "--balance auto")
        self.vem("fit", x, "-k", "3,5", "-o", m, "--balance", "auto")
        self.fit()
        self.refuse(2, ["fit", x, "--init", m, "--accumulate", self.path("s.npz"), "--balance",
                        "soft"], "--balance")


if __name__ == "__main__":
    main()
