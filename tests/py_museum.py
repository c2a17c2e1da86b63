#!/usr/bin/env python3
"""Files that earlier versions wrote are read by this one, and mean the same."""

import os

from cli_case import SOURCE, Case, main

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


class Museum(Case):
    def test_models(self):
        for version, models in OLD.items():
            folder = os.path.join(SOURCE, "tests", "museum", version)
            for name, (likelihood, error) in models.items():
                score = self.json("score", os.path.join(folder, name), os.path.join(folder, "rows.npy"))
                self.assertAlmostEqual(score["log_likelihood"], likelihood, delta=1e-9)
                self.assertAlmostEqual(score["quantization_error"], error, delta=1e-9 * error)

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


if __name__ == "__main__":
    main()
