#!/usr/bin/env python3
"""Files that earlier versions wrote are read by this one, and mean the same."""

import os

from cli_case import SOURCE, Case, main, npz_parse

# Log-likelihood and quantisation error as the version that wrote the model gave them.
OLD = {
    "0.1.0": {
        "model-diag.npz": (-3.950334990239759, 97.02999470518554),
        "model-full.npz": (-3.940787828242455, 97.31960630622032),
        "model-iso-shared.npz": (-3.996370780298977, 96.94363547560434),
        "model-iso.npz": (-3.991622973751251, 97.10291647855016),
        "model-scaled.npz": (-3.9503344228774226, 11.85377175893505),
    },
}


# Mixtures of 1, 2, ... clusters beside the model of the second number: log-likelihood of each of the
# rows of 0.1.0.
PATHS = {
    "0.2.0": {
        "path-full.npz": (2, (-4.881166779309544, -4.314779032706034, -4.139173919570192,
                              -3.963809325793987)),
        "path-diag-shared.npz": (4, (-4.984381159203197, -4.752979363397916, -4.504209061248063,
                                     -3.9926501225439583)),
    },
}


class Museum(Case):
    def test_models(self):
        for version, models in OLD.items():
            folder = os.path.join(SOURCE, "tests", "museum", version)
            for name, (likelihood, error) in models.items():
                score = self.json("score", os.path.join(folder, name), os.path.join(folder, "rows.npy"))
                self.assertAlmostEqual(score["log_likelihood"], likelihood, delta=1e-9)
                self.assertAlmostEqual(score["quantization_error"], error, delta=1e-9 * error)

    def test_paths(self):
        rows = os.path.join(SOURCE, "tests", "museum", "0.1.0", "rows.npy")
        for version, paths in PATHS.items():
            for name, (chosen, likelihoods) in paths.items():
                file = os.path.join(SOURCE, "tests", "museum", version, name)
                told = self.json("info", file)
                self.assertEqual(told["path"], list(range(1, 1 + len(likelihoods))))
                self.assertEqual(told["clusters"], chosen)
                for clusters, likelihood in enumerate(likelihoods, 1):
                    self.json("select", "--pick", clusters, file, "-o", self.path("m.npz"))
                    score = self.json("score", self.path("m.npz"), rows)
                    self.assertEqual(score["clusters"], clusters)
                    self.assertAlmostEqual(score["log_likelihood"], likelihood, delta=1e-9)

    def test_statistics(self):
        for version in OLD:
            folder = os.path.join(SOURCE, "tests", "museum", version)
            rows = os.path.join(folder, "rows.npy")
            for family in ("iso-shared", "iso", "diag", "full"):
                start = os.path.join(folder, f"model-{family}.npz")
                before = self.json("score", start, rows)["log_likelihood"]
                self.vem("merge", os.path.join(folder, f"stats-{family}.npz"), "-q", "-o",
                         self.path("next.npz"))
                after = self.json("score", self.path("next.npz"), rows)["log_likelihood"]
                self.assertGreater(after, before - 1e-9)
                self.check_means(os.path.join(folder, f"stats-{family}.npz"),
                                 self.path("next.npz"))

    def check_means(self, stats, following):
        """0.1 wrote moments about the means of the model: the next ones are theirs plus
        first / mass."""
        sums, model = npz_parse(stats), npz_parse(following)
        (clusters, d), _, old = sums["means"]
        mass, first = sums["mass"][2], sums["first"][2]
        for c in range(clusters):
            for j in range(d):
                at = c * d + j
                self.assertAlmostEqual(model["means"][2][at], old[at] + first[at] / mass[c],
                                       delta=1e-12 * max(abs(old[at]), 1))
        total = sum(mass)
        for weight, part in zip(model["weights"][2], mass):
            self.assertAlmostEqual(weight, part / total if self.is_free(stats) else 1 / clusters,
                                   delta=1e-12)

    def is_free(self, stats):
        return self.json("info", stats)["prior"] == "free"


if __name__ == "__main__":
    main()
