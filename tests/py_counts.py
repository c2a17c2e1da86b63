#!/usr/bin/env python3
"""Families of counts beside EM written down in numpy: from the same start every step has the same
likelihood to 1e-9 and the same model; predict, score, describe, sample, accumulate and merge; what
is no count is named by row and column. Skipped (77) without numpy."""
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)
from math import lgamma

from cli_case import *

FAMILIES = ("bernoulli", "poisson", "multinomial")
FLOOR, LEAST = 1e-6, 1e-12


# ---- the reference ----------------------------------------------------------------------

log_factorial = np.vectorize(lambda x: lgamma(x + 1))


def log_base(family, x):
    if family == "bernoulli":
        return np.zeros(len(x))
    base = -log_factorial(x).sum(1)
    return base + log_factorial(x.sum(1)) if family == "multinomial" else base


def log_joint(family, x, means, weights):
    """log p(c, x), without the base measure."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    if family == "bernoulli":
        return x @ np.log(means).T + (1 - x) @ np.log1p(-means).T + log_weights
    rate = means.sum(1) if family == "poisson" else 0
    return x @ np.log(means).T - rate + log_weights


def limit(family, means, of_all, floor):
    """The nearest means that the floor allows."""
    if family == "multinomial":
        least = np.maximum(floor * of_all / of_all.sum(), LEAST)
        out = np.empty_like(means)
        for c, mean in enumerate(means):
            fixed = np.zeros(len(mean), bool)
            while True:
                scaled = mean * (1 - least[fixed].sum()) / mean[~fixed].sum()
                more = ~fixed & (scaled <= least)
                if not more.any():
                    break
                fixed |= more
            out[c] = np.where(fixed, least, scaled)
        return out
    means = np.maximum(means, np.maximum(floor * of_all, LEAST))
    if family == "bernoulli":
        means = np.minimum(means, 1 - np.maximum(floor * (1 - of_all), LEAST))
    return means


def em(family, x, means, weights, steps, mass=None, floor=FLOOR):
    """(mean log-likelihood of each step, the last model): `steps` E-steps."""
    mass = np.ones(len(x)) if mass is None else mass
    of_all, base = mass @ x / mass.sum(), log_base(family, x)
    means, found = limit(family, means, of_all, floor), []
    for step in range(steps):
        joint = log_joint(family, x, means, weights)
        top = joint.max(1)
        log_sum = top + np.log(np.exp(joint - top[:, None]).sum(1))
        found.append(mass @ (log_sum + base) / mass.sum())
        if step + 1 < steps:
            q = np.exp(joint - log_sum[:, None]) * mass[:, None]
            weights = q.sum(0) / q.sum()
            means = limit(family, q.T @ x / q.sum(0)[:, None], of_all, floor)
    return found, means, weights


def mixture(family, n=400, d=12, clusters=4, seed=3):
    rng = np.random.default_rng(seed)
    label = rng.integers(clusters, size=n)
    if family == "bernoulli":
        return (rng.random((n, d)) < rng.beta(.6, .6, (clusters, d))[label]).astype(float)
    if family == "poisson":
        return rng.poisson(rng.gamma(.7, 3, (clusters, d))[label]).astype(float)
    shares = rng.dirichlet(np.full(d, .4), clusters)
    return np.array([rng.multinomial(rng.integers(0, 30), shares[c]) for c in label], float)


class Counts(Case):
    def start(self, family, x, clusters=4, name="start.npz"):
        """A model file written by hand."""
        rng = np.random.default_rng(8)
        means = (x[rng.choice(len(x), clusters, replace=False)] + x.mean(0) + 1e-3) / 2.002
        if family == "multinomial":
            means /= means.sum(1, keepdims=True)
        weights = rng.dirichlet(np.full(clusters, 5.0))
        meta = np.frombuffer(json.dumps({"family": family, "prior": "free"}).encode(), np.uint8)
        np.savez(self.path(name), means=means, weights=weights, meta=meta)
        return self.path(name), means, weights

    def save(self, name, x):
        np.save(self.path(name), x)
        return self.path(name)

    def test_single_precision_files_of_large_counts(self):
        """Rates near 1e6 that differ by 0.05 %: predict and score do as fit did."""
        generator = random.Random(2)
        rows = [[round(generator.gauss(rate, rate ** 0.5)) for _ in range(20)]
                for rate in (1e6, 1.0005e6, 0.9995e6) for _ in range(60)]
        single, double = self.npy("a.npy", rows, "<f4"), self.npy("b.npy", rows, "<f8")
        self.vem("fit", double, "-k", 3, "--family", "poisson", "-o", self.path("m.npz"))
        labels = []
        for data in (single, double):
            self.vem("predict", self.path("m.npz"), data, "-o", self.path("l.npy"))
            labels.append(open(self.path("l.npy"), "rb").read())
        self.assertEqual(*labels)
        scores = [self.json("score", self.path("m.npz"), data)["log_likelihood"]
                  for data in (single, double)]
        self.assertAlmostEqual(*scores, delta=1e-6)

    def test_every_step_is_that_of_the_reference(self):
        rng = np.random.default_rng(5)
        for family in FAMILIES:
            x = mixture(family)
            mass = rng.integers(0, 4, len(x)).astype(float)
            data, weigh = self.save("x.npy", x), self.save("w.npy", mass)
            start, means, weights = self.start(family, x)
            for w, floor in ((None, FLOOR), (mass, FLOOR), (None, 0.05)):
                found, _, _ = em(family, x, means, weights, 8, w, floor)
                more = [] if w is None else ["--weights", weigh]
                before = -np.inf
                for steps in (1, 2, 3, 8):
                    told = self.json("fit", data, "--family", family, "--init", start, "--max-steps",
                                     steps, "--tolerance", 0, "--empty", "keep", "--search", "all",
                                     "--measure", "exact", "--floor", floor, "-o",
                                     self.path("m.npz"), *more)
                    self.assertEqual(told["steps"], steps, family)
                    scale = 1e-9 * max(1, abs(found[steps - 1]))
                    self.assertAlmostEqual(told["free_energy"], found[steps - 1], delta=scale)
                    self.assertAlmostEqual(told["log_likelihood"], found[steps - 1], delta=scale)
                    self.assertGreaterEqual(told["free_energy"], before - scale)
                    before = told["free_energy"]
                    _, expected, shares = em(family, x, means, weights, steps, w, floor)
                    model = np.load(self.path("m.npz"))
                    self.assertEqual(sorted(model.files), ["means", "meta", "weights"])
                    np.testing.assert_allclose(model["means"], expected, rtol=1e-8, atol=1e-14)
                    np.testing.assert_allclose(model["weights"], shares, rtol=1e-8)

    def test_weighted_rows_are_repeated_rows(self):
        for family in FAMILIES:
            x = mixture(family)
            mass = np.random.default_rng(2).integers(1, 4, len(x))
            start, _, _ = self.start(family, x)
            how = ["--family", family, "--init", start, "--max-steps", 6, "--search", "all"]
            one = self.json("fit", self.save("x.npy", x), "--weights",
                            self.save("w.npy", mass.astype(float)), *how, "-o", self.path("a.npz"))
            two = self.json("fit", self.save("y.npy", np.repeat(x, mass, 0)), *how, "-o",
                            self.path("b.npz"))
            self.assertAlmostEqual(one["free_energy"], two["free_energy"], delta=1e-9)

    def test_fit_finds_the_clusters(self):
        for family in FAMILIES:
            x = mixture(family, n=1500, d=40)
            told = self.json("fit", self.save("x.npy", x), "-k", 4, "--family", family, "--restarts",
                             3, "-o", self.path("m.npz"), "--measure", "exact")
            self.assertEqual(told["outcome"], "converged")
            rng = np.random.default_rng(0)
            best = max(em(family, x, limit(family, (x[rng.choice(len(x), 4)] + x.mean(0)) / 2,
                                           x.mean(0), FLOOR), np.full(4, .25), 60)[0][-1]
                       for _ in range(5))
            self.assertGreater(told["log_likelihood"], best - 0.05, family)

    def test_other_verbs(self):
        for family in FAMILIES:
            x = mixture(family, n=300)
            data = self.save("x.npy", x)
            told = self.json("fit", data, "-k", 3, "--family", family, "-o", self.path("m.npz"),
                             "--measure", "exact", "--labels", self.path("l.npy"))
            free = 3 * 12 + 2 - (3 if family == "multinomial" else 0)
            self.assertEqual(told["parameters"], free)
            self.assertIsNone(told["quantization_error"])
            self.assertAlmostEqual(told["bic"], free * np.log(300) - 600 * told["log_likelihood"],
                                   delta=1e-6)
            scored = self.json("score", self.path("m.npz"), data)
            self.assertAlmostEqual(scored["log_likelihood"], told["log_likelihood"], delta=1e-9)
            self.vem("predict", self.path("m.npz"), data, "-o", self.path("p.npy"))
            np.testing.assert_array_equal(np.load(self.path("p.npy")), np.load(self.path("l.npy")))
            self.vem("describe", self.path("m.npz"))
            self.vem("describe", self.path("m.npz"), data)
            shown = self.vem("info", self.path("m.npz")).stdout
            self.assertIn(family, shown)
            self.assertNotIn("variances", shown)
            self.vem("sample", self.path("m.npz"), "-n", 20000, "-o", self.path("s.npy"))
            drawn, model = np.load(self.path("s.npy")), np.load(self.path("m.npz"))
            self.assertTrue((drawn == np.floor(drawn)).all() and (drawn >= 0).all())
            means = model["weights"] @ model["means"]
            if family == "multinomial":
                self.assertAlmostEqual(drawn.sum() / len(drawn), x.sum() / len(x), delta=0.3)
                means *= x.sum() / len(x)
            error = np.sqrt(drawn.var(0) / len(drawn)) + 1e-3
            self.assertLess((abs(drawn.mean(0) - means) / error).max(), 5)
            again = self.json("score", self.path("m.npz"), self.path("s.npy"))
            self.assertTrue(np.isfinite(again["log_likelihood"]))

    def test_parts_and_a_merge_are_a_step(self):
        for family in FAMILIES:
            x = mixture(family, n=240)
            start, means, weights = self.start(family, x)
            names = []
            for i, (a, b) in enumerate(((0, 3), (3, 100), (100, 240))):
                names.append(self.path(f"s{i}.npz"))
                self.json("fit", self.save("part.npy", x[a:b]), "--init", start, "--accumulate",
                          names[-1], "--search", "all")
            told = self.json("merge", *names, "-o", self.path("g.npz"))
            found, expected, shares = em(family, x, means, weights, 2)
            self.assertAlmostEqual(told["free_energy"], found[0], delta=1e-9)
            merged = np.load(self.path("g.npz"))
            np.testing.assert_allclose(merged["means"], expected, rtol=1e-8, atol=1e-14)
            np.testing.assert_allclose(merged["weights"], shares, rtol=1e-8)

    def test_coreset(self):
        for family in FAMILIES:
            x = mixture(family, n=4000, d=20)
            told = self.json("fit", self.save("x.npy", x), "-k", 4, "--family", family, "--coreset",
                             1000, "--measure", "exact", "-o", self.path("m.npz"))
            self.assertAlmostEqual(told["log_likelihood_coreset"], told["log_likelihood"], delta=1)
            x[3999, 7] = 0.5
            self.refuses(1, family, x, "Row 4000, column 8 is 0.5", "--coreset", 1000)

    def test_cells(self):
        """F on cells is a bound of the likelihood."""
        for family in FAMILIES:
            x = mixture(family, n=800, d=6, seed=4)
            data = self.save("x.npy", x)
            start, _, _ = self.start(family, x)
            how = ["--family", family, "--init", start, "--max-steps", 5, "--search", "all",
                   "--tolerance", 0, "--measure", "exact", "-o", self.path("m.npz")]
            for cells in (64, 100000):
                told = self.json("fit", data, *how, "--cells", cells)
                self.assertLessEqual(told["free_energy"], told["log_likelihood"] + 1e-9)
                again = self.json("fit", data, "--family", family, "-k", 4, "--cells", cells,
                                  "--measure", "exact", "-o", self.path("m.npz"))
                self.assertLessEqual(again["free_energy"], again["log_likelihood"] + 1e-9)
            exact = self.json("fit", data, *how)
            self.assertLessEqual(told["free_energy"], exact["free_energy"] + 1e-9)

    def refuses(self, code, family, x, words, *more):
        self.refuse(code, ["fit", self.save("bad.npy", x), "-k", 3, "--family", family, "-o",
                           self.path("bad.npz"), *more], words)

    def test_what_is_no_count_is_named(self):
        for family in FAMILIES:
            x = mixture(family, n=300)
            for value in (-1, 0.5, np.nan, np.inf) + ((2,) if family == "bernoulli" else (1e17,)):
                bad = x.copy()
                bad[41, 2] = bad[200, 0] = value
                self.refuses(1, family, bad, "row 42, column 3")
            self.refuses(2, family, x, "--standardize", "--standardize")
            self.refuses(2, family, x, "--normalize", "--normalize")
            self.refuses(2, family, x, "--swaps", "--swaps", 3)
            self.vem("fit", self.save("x.npy", x), "-k", 3, "--family", family, "-o",
                     self.path("m.npz"))
            x[5, 1] = 0.25
            self.refuse(1, ["predict", self.path("m.npz"), self.save("y.npy", x), "-o",
                            self.path("p.npy")], f"row 6, column 2 is 0.25, but family {family} takes")

    def test_no_mean_stands_for_a_count(self):
        """Missing values: only drop is advised, and mean is refused, for fit and for a model."""
        x = mixture("poisson", n=60)
        x[3, 2] = np.nan
        rows = ["".join(f",{v:g}" for v in row)[1:].replace("nan", "") for row in x]
        files = (self.save("x.npy", x), self.write("x.csv", "\n".join(rows) + "\n"))
        self.vem("fit", files[0], "-k", 2, "--family", "poisson", "--missing", "drop", "-o",
                 self.path("m.npz"))
        for file in files:
            for words in (["fit", file, "-k", 2, "--family", "poisson"],
                          ["score", self.path("m.npz"), file],
                          ["fit", file, "--init", self.path("m.npz")]):
                said = self.refuse(1, words, "--missing drop leaves such rows out")
                self.assertNotIn("mean", said)
                self.refuse(2, [*words, "--missing", "mean"], "a mean is no count")
                self.vem(*words, "--missing", "drop")
            self.assertIn("--missing mean", self.refuse(1, ["fit", file, "-k", 2], "drop"))
            self.vem("fit", file, "-k", 2, "--missing", "mean")
        texts = self.write("t.csv", "\n".join([*rows, ",".join(["1"] * 11 + ["x"])]) + "\n")
        self.assertIn("or mean.", self.refuse(1, ["fit", texts, "-k", 2], "1 of"))
        self.assertNotIn("or mean", self.refuse(1, ["fit", texts, "-k", 2, "--family", "poisson"],
                                                "1 of"))

    def test_counts_below_2_to_the_53(self):
        """They are taken up to 2^53 - 1, as by every reader. F is a bound of the likelihood up to the rounding of the terms both are made of."""
        rng = np.random.default_rng(3)
        for family in ("poisson", "multinomial"):
            for big in (1e3, 2. ** 30, 2. ** 45, 2. ** 53 - 1):
                x = np.floor(rng.random((40, 3)) * 4)
                x[:20, 0] = x[20:, 1] = big
                h = np.mean(log_base(family, x))
                for more in ([], ["--search", "closest", "--held", 1], ["--cells", 20]):
                    told = self.json("fit", self.save("x.npy", x), "-k", 2, "--family", family,
                                     "--measure", "exact", *more)
                    F, L = told["free_energy"], told["log_likelihood"]
                    bound = 4 * np.finfo(float).eps * (abs(h) + abs(F - h))
                    self.assertLessEqual(F - L, max(bound, 1e-12))
                    self.assertGreaterEqual(told["gap"] or 0, 0)
                    noted = [note for note in told["notes"] if "rounding" in note]
                    self.assertEqual(len(noted), int(bound > 0.01), (big, told["notes"]))
            x[3, 0] = 2. ** 53
            self.refuse(1, ["fit", self.save("x.npy", x), "-k", 2, "--family", family], "Row 4, column 1 is")

    def test_the_base_of_large_counts(self):
        """The probability of an even split of 2^53 trials, sqrt(2 / (pi n)): to rounding."""
        for n in (2. ** 21, 2. ** 40, 2. ** 53):
            x = np.full((5, 2), n / 2)
            told = self.json("fit", self.save("x.npy", x), "-k", 1, "--family", "multinomial",
                             "--measure", "exact")
            self.assertAlmostEqual(told["log_likelihood"], 0.5 * np.log(2 / (np.pi * n)),
                                   delta=1e-6 + 4 * np.finfo(float).eps * n)

    def test_models_by_hand(self):
        x = mixture("poisson", n=60)
        data = self.save("x.npy", x)
        for means, words in (([[.5, 1.5]], "at most 1"), ([[-.1, .5]], "0 or more"),
                             ([[.5, .4]], "sum to 0.9")):
            meta = np.frombuffer(b'{"family": "multinomial"}', np.uint8)
            np.savez(self.path("h.npz"), means=np.array(means), weights=np.ones(1), meta=meta)
            self.refuse(1, ["info", self.path("h.npz")], words)
        np.savez(self.path("h.npz"), means=np.ones((1, 12)), weights=np.ones(1))
        self.refuse(1, ["score", self.path("h.npz"), data], "is not a model")
        # A probability of 0 in a file is taken for a very small one, so that costs are numbers.
        meta = np.frombuffer(b'{"family": "poisson"}', np.uint8)
        np.savez(self.path("h.npz"), means=np.zeros((1, 12)), weights=np.ones(1), meta=meta)
        self.assertLess(self.json("score", self.path("h.npz"), data)["log_likelihood"], -100)
        for family in ("iso", "multinomial"):
            self.refuse(2, ["fit", data, "--init", self.path("h.npz"), "--family", family, "-o",
                            self.path("n.npz")], "cannot express")

    def test_columns_that_never_vary(self):
        for family in FAMILIES:
            x = mixture(family, n=200)
            x[:, 3], x[:, 4] = 0, 1
            told = self.json("fit", self.save("x.npy", x), "-k", 3, "--family", family, "-o",
                             self.path("m.npz"), "--measure", "exact")
            self.assertTrue(np.isfinite(told["log_likelihood"]))
            same = np.ones((50, 3))
            told = self.json("fit", self.save("y.npy", same), "-k", 1, "--family", family, "-o",
                             self.path("m.npz"))
            self.assertTrue(np.isfinite(told["free_energy"]))
            empty = np.zeros((50, 3))
            told = self.json("fit", self.save("z.npy", empty), "-k", 1, "--family", family, "-o",
                             self.path("m.npz"))
            self.assertAlmostEqual(told["free_energy"], 0, delta=1e-6)


if __name__ == "__main__":
    main()
