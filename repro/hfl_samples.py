#!/usr/bin/env python3
"""Lightweight coresets against uniform samples of the same size, on every set.

    repro/hfl_samples.py [--sets NAME...] [--seeds 10] [--threads 1] [--jobs P] [--fresh]

Both are drawn with replacement by `vem coreset`, then fitted alike: k-means (D^2 seeding on the
sample, Lloyd steps until F changes by less than 1e-4) and vem's defaults. A quarter, all and
four times the rows of the coreset in HFL Table 1. The error is exact, on all rows (cifar-10: on
rows held out), in percent over the mean of k-means++ on all rows.

Every fit is kept in repro/out/hfl and not made again without --fresh.
"""

import concurrent.futures
import json
import os
import sys

import numpy as np

import hfl
from hfl import REFERENCE, SETS, common

METHODS = ("lightweight", "uniform")
FITS = {"k-means": ["--algorithm", "kmeans", "--tolerance", hfl.TOLERANCE], "vem": []}
# Differences of so many standard errors count.
CLEAR = 2


def error(runs, name, method, fit, size, seed):
    """Exact error on the rows to judge by."""
    fitted, judged = hfl.files(name)
    label = runs.path(name, "sample", method, fit, size, seed)
    kept = label + ".json"
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            return json.load(file)["quantization_error"]
    sample, model = label + "-sample.npz", label + "-model.npz"
    common.vem("coreset", fitted, "-m", size, "--method", method, "--seed", seed, "-o", sample,
               "--threads", runs.threads)
    common.vem("fit", sample, "-k", SETS[name].clusters, *FITS[fit], "--seed", seed,
               "--threads", runs.threads, "-o", model)
    score = common.vem("score", model, judged, "--threads", runs.threads)
    with open(kept + ".part", "w", encoding="utf-8") as file:
        json.dump(score, file)
    os.replace(kept + ".part", kept)
    for path in (sample, model):
        os.remove(path)
    print(name, method, fit, size, seed, f"{score['quantization_error']:.6g}", file=sys.stderr,
          flush=True)
    return score["quantization_error"]


def compare(runs, name, seeds):
    """Rows of the table: (size, fit, errors of both in percent, difference)."""
    count = len(np.load(hfl.files(name)[0], mmap_mode="r"))
    sizes = [s for s in (SETS[name].size // 4, SETS[name].size, 4 * SETS[name].size)
             if s < count]
    reference = hfl.summary(runs.all([(name, REFERENCE, 0, 0, seed)
                                      for seed in range(1, seeds + 1)]))["error"]
    tasks = [(name, method, fit, size, seed) for size in sizes for fit in FITS
             for method in METHODS for seed in range(1, seeds + 1)]
    with concurrent.futures.ThreadPoolExecutor(runs.jobs) as pool:
        found = np.array(list(pool.map(lambda t: error(runs, *t), tasks)))
    percent = 100 * (found / reference - 1)
    shape = (len(sizes), len(FITS), len(METHODS), seeds)
    return sizes, percent.reshape(shape)


def main():
    parser = hfl.arguments(__doc__)
    options = parser.parse_args()
    sets = hfl.chosen(options, "-sample-*")
    runs = hfl.Runs(options.threads, options.jobs)
    rows, score = [], {"lower": 0, "higher": 0, "neither": 0}
    for name in sets:
        sizes, percent = compare(runs, name, options.seeds)
        for i, size in enumerate(sizes):
            for j, fit in enumerate(FITS):
                mean = percent[i, j].mean(1)
                spread = percent[i, j].std(1, ddof=1) / np.sqrt(options.seeds)
                apart, noise = mean[0] - mean[1], np.hypot(*spread)
                which = "neither" if abs(apart) < CLEAR * noise else \
                    "lower" if apart < 0 else "higher"
                score[which] += 1
                rows.append([name, f"{SETS[name].clusters:,}", f"{size:,}", fit,
                             *[f"{m:+.2f} ± {s:.2f}" for m, s in zip(mean, spread)],
                             f"{apart:+.2f} ± {noise:.2f}",
                             "" if which == "neither" else which])
    report = common.Report("Lightweight coresets against uniform samples", hfl.RESULTS)
    report.say(f"Mean ± standard error of {options.seeds} seeds. Error on all rows in percent "
               "over k-means++ on all rows, after the same fit to either sample of N' rows. "
               f"Lower, higher: the coreset's error, where the difference is {CLEAR} standard "
               "errors or more.", "")
    report.table(["", "C", "N'", "fit", "lightweight", "uniform", "difference", ""], rows)
    report.say(f"Of {len(rows)} lines the lightweight coreset has the lower error in "
               f"{score['lower']}, the higher in {score['higher']}; in {score['neither']} the "
               "difference is noise.")
    report.write("hfl_samples.md")


if __name__ == "__main__":
    main()
