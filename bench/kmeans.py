#!/usr/bin/env python3
"""One exact k-means iteration (assignment and update) beside FAISS and scikit-learn.

    bench/kmeans.py [--data NAME...] [--clusters C...] [--threads P...] [--repeats R]
                    [--steps S] [--rows N]

Everyone starts from the same rows, works in single precision on all rows with the same number
of threads, and is timed over S iterations after a first one. The three take turns within a
repeat, and the best repeat of each counts: only ratios within one run mean anything on a
shared machine. Target (T6): at most half the time of the faster peer, and the same error.
"""

import argparse
import os

import faiss
import numpy as np
import sklearn

import common

TARGET = 0.5


def start_file(path, rows, clusters, seed=1):
    """A model whose means are rows drawn without replacement."""
    chosen = np.random.default_rng(seed).choice(len(rows), clusters, replace=False)
    common.write_model(path, rows[np.sort(chosen)], [float(rows[:10000].var())])


def measure(path, folder, start, threads, options):
    """Best seconds, the error after the same updates, and the peak of the processor."""
    best, error = {}, {}
    updates = options.steps + 1
    fit = (path, "--algorithm", "kmeans", "--init", start, "--precision", "single")
    means = os.path.join(folder, "means.npy")
    ours = common.Iteration(*fit, "--threads", threads, steps=options.steps)
    for repeat in range(options.repeats):
        ours.run()
        for name in ("faiss", "sklearn"):
            done = common.peer(threads, f"{name}-kmeans", path, start, updates, means)
            best[name] = min(done["seconds"], best.get(name, done["seconds"]))
            if repeat == 0:
                error[name] = common.exact_error(path, folder, means, threads)
    best["vem"] = ours.seconds()
    # The model given back is the one that entered the last E-step.
    model = os.path.join(folder, "model.npz")
    last = common.vem("fit", *fit, "--max-steps", updates + 1, "-o", model)
    error["vem"] = common.exact_error(path, folder, np.load(model)["means"], threads)
    top = common.peak(last["cpu"])
    return best, error, top * threads if top else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", nargs="+", default=["mixture", "glove100"])
    parser.add_argument("--clusters", nargs="+", type=int, default=[500, 4000])
    parser.add_argument("--threads", nargs="+", type=int,
                        default=sorted({os.cpu_count(), 1}, reverse=True))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--rows", type=int, help="only the first rows, for a quick look")
    parser.add_argument("--output", default="kmeans.md")
    options = parser.parse_args()
    report = common.Report("One exact k-means iteration")
    report.say(f"Beside {common.versions(faiss, sklearn)}; single precision; seconds of one "
               f"iteration, best of {options.repeats} repeats of {options.steps}.",
               f"Ratio: ours to the faster peer, target at most {TARGET}. GFLOP/s: 2 N C D of "
               "ours; peak: multiply-adds on one thread, measured beside it, times threads.",
               "Error: ours to each peer's after the same updates, by one exact evaluator.", "")
    table = []
    with common.scratch() as folder:
        for name in options.data:
            path = common.data(name)
            if not path:
                continue
            rows = np.load(path, mmap_mode="r")[:options.rows]
            if options.rows:
                path = os.path.join(folder, name + ".npy")
                np.save(path, rows)
            n, d = rows.shape
            for clusters in options.clusters:
                start = os.path.join(folder, "start.npz")
                start_file(start, rows, clusters)
                for threads in options.threads:
                    best, error, top = measure(path, folder, start, threads,
                                               options)
                    ratio = best["vem"] / min(best["faiss"], best["sklearn"])
                    speed = 2e-9 * n * clusters * d / best["vem"]
                    table.append([
                        f"{name} {n:,} x {d}", clusters, threads, best["vem"], best["faiss"],
                        best["sklearn"], ratio, "yes" if ratio <= TARGET else "NO",
                        speed, f"{100 * speed / top:.0f} %" if top else None,
                        f"{error['vem'] / error['faiss']:.6f}",
                        f"{error['vem'] / error['sklearn']:.6f}"])
    report.table(["data", "C", "threads", "vem s", "FAISS s", "sklearn s", "ratio", "met",
                  "GFLOP/s", "of peak", "error/FAISS", "error/sklearn"], table)
    report.write(options.output)


if __name__ == "__main__":
    main()
