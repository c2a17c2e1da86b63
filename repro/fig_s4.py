#!/usr/bin/env python3
"""LF Fig. S4: started from the truth, k-means raises F and lowers the error while L falls.

    repro/fig_s4.py [--points 100000]

Seven overlapping isotropic Gaussians of variance 0.2 at (-2,0), (-1,0), (0,0.2), (0,0),
(0,-0.2), (1,0), (2,0). k-means starts at the true centers; for every step the free energy F of
the hard assignments, the likelihood L of the mixture with the same means and variance, and the
error are those that the command measures.
"""

import argparse
import os
import sys

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import common  # noqa: E402

CENTERS = np.array([[-2, 0], [-1, 0], [0, 0.2], [0, 0], [0, -0.2], [1, 0], [2, 0]])
VARIANCE = 0.2
RESULTS = os.path.join(ROOT, "repro", "results")


def points_to_show(most):
    """All the early updates, then ever fewer."""
    return sorted({*range(12), *np.geomspace(12, most, 30).astype(int).tolist()})


def follow(rows, start, folder, algorithm, most):
    """(updates, F, L, error) along one fit, and its last means.

    The fit is made in pieces, each from the model that the piece before left: a fit of s + 1
    E-steps gives back the model after s updates, with its own F.
    """
    trace, model, updates = [], start, 0
    for goal in points_to_show(most):
        piece = os.path.join(folder, "piece.npz")
        done = common.vem("fit", rows, "--init", model, *algorithm, "--measure", "--max-steps",
                          goal - updates + 1, "-o", piece)
        updates += done["steps"] - 1
        model = piece
        trace.append((updates, done["free_energy"], done["log_likelihood"],
                      done["quantization_error"]))
        if done["outcome"] == "converged":
            break
    return np.array(trace), np.load(model)["means"]


def draw(path, hard, soft, rows, means):
    plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False, "svg.hashsalt": "vem"})
    figure, (top, low, plane) = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
    top.plot(hard[:, 0], hard[:, 1], color="#4477aa", label="F of k-means")
    top.plot(hard[:, 0], hard[:, 2], color="#ee6677", label="L of k-means")
    top.plot(soft[:, 0], soft[:, 2], color="#888888", linestyle="--", label="L of EM")
    top.set(xlabel="step", ylabel="per point", xscale="symlog", title="F rises, L falls")
    top.legend(frameon=False)
    low.plot(hard[:, 0], hard[:, 3] / hard[0, 3], color="#228833", label="k-means")
    low.plot(soft[:, 0], soft[:, 3] / hard[0, 3], color="#888888", linestyle="--", label="EM")
    low.set(xlabel="step", ylabel="error, relative to the truth's", xscale="symlog",
            title="the quantisation error")
    low.legend(frameon=False)
    shown = rows[:: max(1, len(rows) // 1500)]
    plane.scatter(*shown.T, s=1, color="#bbbbbb", linewidths=0, rasterized=True)
    plane.scatter(*CENTERS.T, marker="x", color="black", label="truth", zorder=3)
    plane.scatter(*means.T, marker="o", facecolors="none", edgecolors="#ee6677",
                  label="k-means", zorder=3)
    plane.set(aspect="equal", title="centers")
    plane.legend(frameon=False, loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--points", type=int, default=100000, help="of each Gaussian")
    parser.add_argument("--most", type=int, default=300, help="steps at most")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    rows = np.repeat(CENTERS, options.points, 0)
    rows = rows + np.sqrt(VARIANCE) * random.standard_normal(rows.shape)
    hard_preset = ["--algorithm", "kmeans"]
    soft_preset = ["--algorithm", "gmm", "--family", "iso-shared", "--prior", "flat",
                   "--tolerance", "1e-12"]
    with common.scratch() as folder:
        data, start = os.path.join(folder, "rows.npy"), os.path.join(folder, "truth.npz")
        np.save(data, rows)
        # F of k-means belongs to the variance of its own assignments, phi / (D N).
        common.write_model(start, CENTERS, [VARIANCE])
        error = common.vem("score", start, data)["quantization_error"]
        common.write_model(start, CENTERS, [error / rows.size])
        hard, means = follow(data, start, folder, hard_preset, options.most)
        common.write_model(start, CENTERS, [VARIANCE])
        soft, _ = follow(data, start, folder, soft_preset, options.most)
    os.makedirs(RESULTS, exist_ok=True)
    draw(os.path.join(RESULTS, "fig_s4.svg"), hard, soft, rows, means)
    report = common.Report("LF Fig. S4: k-means from the truth", RESULTS)
    report.say(f"Seven Gaussians of variance {VARIANCE}, {options.points:,} points each; per "
               "point. Picture: fig_s4.svg.", "")
    chosen = sorted({*range(0, len(hard), 4), len(hard) - 1})
    report.table(["step", "F", "L", "error"],
                 [[int(hard[i, 0]), f"{hard[i, 1]:.4f}", f"{hard[i, 2]:.4f}",
                   f"{hard[i, 3]:,.0f}"] for i in chosen])
    rises = bool((np.diff(hard[:, 1]) >= -1e-12).all())
    falls = bool((np.diff(hard[:, 3]) <= 1e-9 * hard[0, 3]).all())
    report.say(f"F rises in every step: {'yes' if rises else 'NO'}. The error falls in every "
               f"step: {'yes' if falls else 'NO'}.",
               f"L goes from {hard[0, 2]:.4f} to {hard[-1, 2]:.4f}, F from {hard[0, 1]:.4f} to "
               f"{hard[-1, 1]:.4f}; EM ends at L = {soft[-1, 2]:.4f}.",
               f"Largest shift of a coordinate of a center: {np.abs(means - CENTERS).max():.3f} "
               "(reference: L -2.3153 to -2.3441, F -2.7694 to -2.5992, shift 0.485).")
    report.write("fig_s4.md")


if __name__ == "__main__":
    main()
