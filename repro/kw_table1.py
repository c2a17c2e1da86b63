#!/usr/bin/env python3
"""KW Table 1: how many clusters are found, of 10, by five methods.

    repro/kw_table1.py [--runs 10] [--side 30] [--short] [--only TAU,N,D] [--keep FILE] [--output FILE]

Kurihara and Welling, "Bayesian k-means as a maximization-expectation algorithm", Table 1: 27 settings of separation tau,
rows N and columns D, 10 sets of each; mean and sd of the number of clusters found by G-means, k-means with BIC, a
mixture with BIC, Bayesian k-means and a variational Bayesian mixture.

What the paper does not print, and what is chosen here: centers are uniform in a cube of side --side (30 times the mean
standard deviation), drawn again, in a cube of 1 % more, where one is nearer than tau (s_i + s_j) / 2; s is uniform
in [0.5, 1.5]; the points of a cluster are its center plus a D x D matrix of standard normal numbers times s times standard
normal numbers; clusters are equally likely. All methods are those of `vem select`, with what it chooses by itself.
The paper's methods begin with one cluster and divide it in two; ours divides in up to 16.

A run is one set of each setting; runs follow each other, so that one that is ended early has whole runs. --keep writes what
was found after every set and goes on from there. --only (several) leaves all other settings out.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import common  # noqa: E402  pylint: disable=wrong-import-position

METHODS = ("gmeans", "kmeans-bic", "bic", "bayes", "vb")
NAMES = ("G-means", "k-means+BIC", "MoG+BIC", "BKM", "VBMG")
# Of the paper: mean and sd of each method.
PAPER = {
    (0.1, 100, 2): "4.50 2.42 2.00 1.41 3.80 2.04 2.00 0.82 4.30 2.16",
    (0.1, 100, 32): "7.40 3.86 1.00 0.00 1.70 0.48 2.50 4.74 1.00 0.00",
    (0.1, 100, 64): "13.10 5.47 1.00 0.00 1.00 0.00 13.30 1.06 1.30 0.48",
    (0.1, 1000, 2): "32.10 12.33 3.50 1.90 7.80 1.32 7.40 1.96 8.80 0.79",
    (0.1, 1000, 32): "39.10 10.07 1.10 0.32 5.60 1.65 7.70 1.16 9.90 0.32",
    (0.1, 1000, 64): "49.40 22.51 1.00 0.00 3.60 1.43 5.70 4.79 2.90 0.74",
    (0.1, 5000, 2): "108.90 15.07 3.80 1.62 9.20 2.70 8.10 4.72 9.90 0.32",
    (0.1, 5000, 32): "130.90 46.17 2.70 1.49 3.90 2.64 10.00 0.00 9.80 0.42",
    (0.1, 5000, 64): "104.30 51.93 1.30 0.67 2.10 0.32 10.00 0.00 10.00 0.00",
    (0.5, 100, 2): "4.80 2.49 2.50 1.72 5.20 2.35 4.10 3.60 4.40 2.12",
    (0.5, 100, 32): "7.40 4.06 1.00 0.00 2.00 0.00 14.80 5.35 1.00 0.00",
    (0.5, 100, 64): "10.60 6.55 1.00 0.00 1.00 0.00 13.80 0.92 1.40 0.52",
    (0.5, 1000, 2): "21.30 4.55 4.20 1.87 9.20 1.32 4.30 3.65 9.40 0.84",
    (0.5, 1000, 32): "25.60 10.31 1.20 0.42 9.20 0.63 9.20 2.10 9.90 0.31",
    (0.5, 1000, 64): "37.90 9.72 1.60 1.08 3.80 0.84 11.40 6.15 3.80 1.03",
    (0.5, 5000, 2): "82.00 14.91 4.20 1.32 9.10 2.76 8.10 3.57 9.80 0.42",
    (0.5, 5000, 32): "74.00 32.40 2.60 0.97 8.90 1.45 9.90 0.32 10.00 0.00",
    (0.5, 5000, 64): "74.30 31.72 2.50 1.72 9.60 0.52 9.70 0.48 9.80 0.42",
    (2, 100, 2): "6.80 3.26 2.10 1.45 6.50 1.96 8.30 1.89 7.20 2.15",
    (2, 100, 32): "11.90 1.20 3.30 2.21 2.40 0.00 10.70 5.17 1.00 0.00",
    (2, 100, 64): "9.90 3.87 2.20 2.20 1.00 0.00 13.80 0.63 1.00 0.00",
    (2, 1000, 2): "18.30 5.29 4.30 1.57 9.50 1.65 9.60 1.26 9.80 0.42",
    (2, 1000, 32): "13.90 2.08 6.80 2.94 7.40 1.90 9.40 1.26 9.00 0.94",
    (2, 1000, 64): "13.50 3.66 8.60 2.41 3.00 0.67 12.60 3.31 4.00 1.03",
    (2, 5000, 2): "48.70 14.22 5.30 2.50 9.60 1.58 10.00 0.00 9.40 1.43",
    (2, 5000, 32): "15.00 5.79 9.50 1.84 7.90 1.10 10.00 0.00 10.00 0.00",
    (2, 5000, 64): "11.60 2.07 9.90 2.12 8.40 0.97 10.00 0.00 10.00 0.00",
}


def draw(tau, rows, columns, seed, side, clusters=10):
    """A set as the text above says."""
    random = np.random.default_rng([seed, rows, columns, int(10 * tau)])
    sizes = random.uniform(0.5, 1.5, clusters)
    centers = []
    while len(centers) < clusters:
        center = random.uniform(0, side, columns)
        own = sizes[len(centers)]
        if all(np.linalg.norm(center - other) >= tau * (own + size) / 2
               for other, size in zip(centers, sizes)):
            centers.append(center)
        else:
            side *= 1.01
    matrices = random.normal(size=(clusters, columns, columns))
    labels = random.integers(clusters, size=rows)
    x = np.empty((rows, columns))
    for cluster in range(clusters):
        mine = labels == cluster
        noise = sizes[cluster] * random.normal(size=(mine.sum(), columns))
        x[mine] = centers[cluster] + noise @ matrices[cluster].T
    return x


def found(path, method):
    model = path + ".model.npz"
    told = subprocess.run([common.command(), "select", path, "--method", method, "--json", "--threads", "1",
                           "-o", model], check=True, capture_output=True, text=True)
    return json.loads(told.stdout)["clusters"]


def chosen(options):
    only = {tuple(float(text) for text in setting.split(",")) for setting in options.only or ()}
    return [setting for setting in PAPER if (not only or setting in only)
            and not (options.short and setting[1] * setting[2] > 100000)]


def find_all(options, settings):
    """The number of clusters of each (run, setting, method), as far as they are not kept already."""
    counts, seconds = {}, 0
    if options.keep and os.path.exists(options.keep):
        with open(options.keep, encoding="utf-8") as file:
            kept = json.load(file)
        counts, seconds = kept["counts"], kept["seconds"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.npy")
        for run in range(options.runs):
            for tau, rows, columns in settings:
                key = f"{run} {tau:g} {rows} {columns}"
                if key in counts:
                    continue
                before = used()
                np.save(path, draw(tau, rows, columns, run, options.side))
                counts[key] = [found(path, method) for method in METHODS]
                seconds += used() - before
                print(key, *counts[key], f"{used() - before:.1f} s", flush=True)
                if options.keep:
                    with open(options.keep + ".new", "w", encoding="utf-8") as file:
                        json.dump({"counts": counts, "seconds": seconds}, file)
                    os.replace(options.keep + ".new", options.keep)
    return counts, seconds


def used():
    """Seconds of the processor of the commands that were run."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--side", type=float, default=30)
    parser.add_argument("--short", action="store_true", help="no 5,000 rows of 32 or 64 columns")
    parser.add_argument("--only", nargs="+", metavar="TAU,N,D")
    parser.add_argument("--keep", metavar="FILE")
    parser.add_argument("--output", metavar="FILE",
                        default=os.path.join(ROOT, "repro", "results", "kw_table1.md"))
    options = parser.parse_args()
    settings = chosen(options)
    counts, seconds = find_all(options, settings)
    report = common.Report("KW Table 1: clusters found, of 10")
    lines = []
    for tau, rows, columns in settings:
        paper = [float(text) for text in PAPER[tau, rows, columns].split()]
        line = [tau, f"{rows:,}", columns]
        for i in range(len(METHODS)):
            ours = [counts[f"{run} {tau:g} {rows} {columns}"][i] for run in range(options.runs)]
            sd = statistics.stdev(ours) if len(ours) > 1 else 0
            line.append(f"{statistics.mean(ours):.2f} ± {sd:.2f} "
                        f"({paper[2 * i]:.2f} ± {paper[2 * i + 1]:.2f})")
        lines.append(line)
    report.say(f"Mean and sd of {options.runs} sets of each setting; the paper's in brackets. Side of the cube "
               f"{options.side:g}. Made by repro/kw_table1.py, which says what the paper does not. "
               f"{seconds:.0f} s of the processor.", "")
    report.table(["tau", "N", "D", *NAMES], lines)
    report.write(options.output)


if __name__ == "__main__":
    main()
