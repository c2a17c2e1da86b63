#!/usr/bin/env python3
"""KW Fig. 2: what labels box by box of a kd-tree cost, beside a sweep over all rows and clusters.

    repro/kw_fig2.py [--runs 10] [--short]

KW is Kurihara and Welling, "Bayesian k-means as a maximization-expectation algorithm". Their figure shows how
many times fewer cost evaluations (one for each bound, one for each row and cluster that are scored), and how much less
time, hard assignments of a mixture with full covariances take on a kd-tree: against rows (10, 20, 40, 80 thousand),
columns (4, 16, 64, 256) and separation tau (1 to 7), about N = 20,000, D = 2, tau = 3, K = 5. In the text are two
numbers: 67 times at N = 80,000, and 3.6 times at D = 256.

Data: K centers, uniform in a box of side 30, and standard deviations s from 0.5 to 1.5, with |c_i - c_j| >= tau (s_i + s_j) / 2; round
points; then a Gaussian D x D matrix for each cluster. The paper does not say whether the matrix acts on the deviations from
the center ("deviations") or on the points themselves ("points"), nor how large the box is. Both are here; and since tau hardly
matters in so large a box, one of side 3 tau. The same centers and matrices are drawn for every number of rows.

Fits: `vem fit --family full --held 1 --swaps 0`, K = 5, until no label changes, in one thread, with `--search closest` (the sweep)
and `--search boxes`, from the same start. Overall: of the whole fit, its time with that of the tree and without. An iteration: the
last one. Geometric means over the runs, each of data of its own. Labels are compared at the
end of every fit, and how many change in each of its steps.

The paper's own count has leaves of 1,000 rows, one bound for each box and cluster, and a top-down search that begins with one
cluster, for which any tree needs a single bound; the number of clusters is 5 throughout here.
"""

import argparse
import csv
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import common  # noqa: E402

OUT = os.path.join(ROOT, "repro", "out")
RESULT = os.path.join(ROOT, "repro", "results", "kw_fig2.md")
CLUSTERS, SIDE, SIDE_TAU = 5, 30.0, 3.0
DEVIATIONS, POINTS, CROWDED = "deviations", "points", "deviations, in a box of side 3 tau"
BASE = {"n": 20000, "d": 2, "tau": 3}
AXES = [("n", "rows", (10000, 20000, 40000, 80000)),
        ("d", "columns", (2, 4, 16, 64, 256)),
        ("tau", "separation", (1, 2, 3, 4, 5, 6, 7))]
SETS = [(DEVIATIONS, ("n", "d", "tau")), (POINTS, ("n", "d", "tau")), (CROWDED, ("n", "tau"))]
# Columns from which fewer runs are made: a sweep takes half a second.
WIDE, WIDE_RUNS = 64, 3


def centers_of(rng, d, tau, side):
    """Centers and deviations that are far enough apart."""
    while True:
        deviations = rng.uniform(0.5, 1.5, CLUSTERS)
        centers = rng.uniform(0, side, (CLUSTERS, d))
        far = np.linalg.norm(centers[:, None] - centers[None], axis=2)
        least = tau * (deviations[:, None] + deviations[None]) / 2
        if np.all(far + np.diag(np.full(CLUSTERS, np.inf)) >= least):
            return centers, deviations


def rows_of(setting, how, seed):
    n, d, tau = setting["n"], setting["d"], setting["tau"]
    rng = np.random.default_rng([seed, d])
    centers, deviations = centers_of(rng, d, tau, SIDE_TAU * tau if how == CROWDED else SIDE)
    matrices = rng.normal(size=(CLUSTERS, d, d))
    labels = rng.integers(0, CLUSTERS, n)
    rows = np.empty((n, d))
    for k in range(CLUSTERS):
        mine = labels == k
        points = rng.normal(size=(mine.sum(), d)) * deviations[k]
        if how == POINTS:
            rows[mine] = (centers[k] + points) @ matrices[k].T
        else:
            rows[mine] = centers[k] + points @ matrices[k].T
    return rows


def fit(path, search, seed):
    """Steps (pairs, seconds, labels that changed), seconds of the loop with its tree, and labels."""
    trace, labels = (os.path.join(OUT, f"kw-{os.getpid()}.{end}") for end in ("csv", "npy"))
    found = common.vem("fit", path, "-k", CLUSTERS, "--family", "full", "--held", 1, "--swaps", 0, "--cells", 0,
                       "--search", search, "--seed", seed, "--tolerance", 0, "--max-steps", 200,
                       "--threads", 1, "--trace", trace, "--labels", labels)
    with open(trace, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    steps = [(int(line["pairs"]), float(line["seconds"]), int(line["changed"])) for line in lines]
    result = steps, found["seconds"]["em"], np.load(labels)
    os.remove(trace)
    os.remove(labels)
    return result


def compare(setting, how, seed):
    """Factors: pairs and time overall, pairs and time of the last step, time without the tree; steps."""
    path = os.path.join(OUT, f"kw-{os.getpid()}-rows.npy")
    np.save(path, rows_of(setting, how, seed))
    sweep, sweep_time, sweep_labels = fit(path, "closest", seed)
    boxes, boxes_time, boxes_labels = fit(path, "boxes", seed)
    os.remove(path)
    same = np.array_equal(sweep_labels, boxes_labels) and \
        [s[2] for s in sweep] == [s[2] for s in boxes]
    if not same:
        sys.exit(f"Labels differ: {setting}, {how}, seed {seed}.")
    return (sum(s[0] for s in sweep) / sum(s[0] for s in boxes), sweep_time / boxes_time,
            sweep[-1][0] / boxes[-1][0], sweep[-1][1] / boxes[-1][1],
            sum(s[1] for s in sweep) / sum(s[1] for s in boxes), len(sweep))


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def table(axis, words, values, how, runs):
    lines = [f"| {words} | evaluations, overall | least of the runs | an iteration | time, overall | without the tree | an iteration | steps | runs |",
             "|---|---|---|---|---|---|---|---|---|"]
    for value in values:
        setting = {**BASE, axis: value}
        count = min(runs, WIDE_RUNS) if setting["d"] >= WIDE else runs
        found = np.array([compare(setting, how, seed) for seed in range(1, count + 1)])
        mean = np.exp(np.log(found[:, :5]).mean(axis=0))
        lines.append(f"| {value:,} | {number(mean[0])} | {number(found[:, 0].min())} | {number(mean[2])} | "
                     f"{number(mean[1])} | {number(mean[4])} | {number(mean[3])} | "
                     f"{found[:, 5].mean():.1f} | {count} |")
        print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--short", action="store_true", help="few rows and runs; nothing is written")
    options = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    text = ["# KW Fig. 2: labels box by box", "", common.machine(), ""]
    text += __doc__.split("\n\n", 2)[2].strip().splitlines() + [""]
    for how, axes in SETS:
        text += [f"## Matrices on {how}", ""]
        for axis, words, values in AXES:
            if axis not in axes:
                continue
            if options.short:
                values = values[:2]
            print(f"{how}: {words}", flush=True)
            text += table(axis, words, values, how, 2 if options.short else options.runs) + [""]
    if not options.short:
        with open(RESULT, "w", encoding="utf-8") as file:
            file.write("\n".join(text).rstrip() + "\n")


if __name__ == "__main__":
    main()
