"""What the reproductions of FL18 share: BIRCH grids, the algorithms, initial E-steps."""

import csv
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import common  # noqa: E402

OUT = os.path.join(ROOT, "repro", "out")
RESULTS = os.path.join(ROOT, "repro", "results")
PER_CLUSTER = 100
# The smallest tolerance that is not "until no held set changes".
TINY = "1e-12"
ALGORITHMS = {
    "k-means": ["--algorithm", "kmeans"],
    "var-k-means-S, 2+1": ["--algorithm", "var-kmeans-s", "--reach", "2"],
    "var-k-means-S, 5+1": ["--algorithm", "var-kmeans-s", "--reach", "5"],
    "var-GMM-S, 2+1": ["--algorithm", "var-gmm-s", "--reach", "2", "--held", "2"],
    "var-GMM-S, 5+1": ["--algorithm", "var-gmm-s", "--reach", "5", "--held", "5"],
}
MOST_INITIAL = 120


def data_of(clusters):
    """The path of a BIRCH grid."""
    os.makedirs(OUT, exist_ok=True)
    path = os.path.join(OUT, f"fl18-{clusters}.npy")
    if not os.path.exists(path):
        common.vem("generate", "birch-grid", "-k", clusters, "-n", PER_CLUSTER * clusters,
                   "--seed", 1, "-o", path)
    return path


def rows_of(path):
    return len(np.load(path, mmap_mode="r"))


def fit(path, clusters, algorithm, chain, seed, *more):
    options = list(ALGORITHMS[algorithm])
    if algorithm != "k-means":
        options += ["--explore", 1, "--tolerance", TINY]
    return common.vem("fit", path, "-k", clusters, *options, "--seeding", "afkmc2", "--chain",
                      chain, "--seed", seed, *more, "-o",
                      os.path.join(OUT, f"fl18-model-{os.getpid()}.npz"))


def initial_steps(path, clusters, algorithm, chain, settled):
    """E-steps until fewer than this share of the rows changes what it holds, as the first seed
    tells. Looks at no error."""
    if algorithm == "k-means":
        return 0
    trace = os.path.join(OUT, f"fl18-trace-{os.getpid()}.csv")
    fit(path, clusters, algorithm, chain, 1, "--init-steps", MOST_INITIAL, "--max-steps", 1,
        "--trace", trace)
    with open(trace, newline="", encoding="utf-8") as file:
        changed = [int(row["changed"]) for row in csv.DictReader(file)]
    os.remove(trace)
    calm = [t for t, count in enumerate(changed, 1) if count < settled * rows_of(path)]
    return calm[0] if calm else MOST_INITIAL


def clean():
    """Removes what only this process needed."""
    path = os.path.join(OUT, f"fl18-model-{os.getpid()}.npz")
    if os.path.exists(path):
        os.remove(path)
