#!/usr/bin/env python3
"""Guided search against the scan in vem predict: time, pairs and recall.

    bench/predict.py [--threads P] [--repeats R] [--clusters C ...] [--recall R ...]

The models are fits with our defaults, to all rows or, for "held out", to three quarters of them, the
other quarter being predicted: rows that no mean was fitted to are harder. Times are the whole command, reading and writing included; scan and guided search alternate and the best
of each is taken. "recall, all rows" compares all labels with those of the scan; "recall, stated" is
what the command measured on its sample.
"""

import argparse
import os

import numpy as np

import common


def measure(folder, path, model, recalls, options):
    """Rows of the table for one model: one for each recall asked for."""
    scan, found = os.path.join(folder, "scan.npy"), os.path.join(folder, "found.npy")
    threads = ["--threads", options.threads]
    best, kept = {}, {}
    for _ in range(options.repeats):
        for recall in ["scan", *recalls]:
            how = ["--exact", "-o", scan] if recall == "scan" else ["--recall", recall, "-o", found]
            done = common.vem("predict", model, path, *how, *threads)
            if done["seconds"] < best.get(recall, float("inf")):
                best[recall] = done["seconds"]
            kept[recall] = done
            if recall != "scan":
                kept[recall]["true"] = float((np.load(scan) == np.load(found)).mean())
    pairs = kept["scan"]["scored_pairs"]
    for recall in recalls:
        done = kept[recall]
        yield [done["search"], done["buckets"], done["probes"], recall, f"{done['recall']:.4f}",
               f"{done['true']:.4f}", f"{done['scored_pairs'] / pairs:.3f}",
               f"{best['scan']:.2f}", f"{best[recall]:.2f}", f"{best[recall] / best['scan']:.2f}"]


def part(path, folder):
    """Three quarters of the rows, drawn at random, and the others."""
    rows = np.load(path)
    order = np.random.default_rng(0).permutation(len(rows))
    paths = [os.path.join(folder, name) for name in ("seen.npy", "others.npy")]
    for name, which in zip(paths, np.split(order, [len(rows) * 3 // 4])):
        np.save(name, rows[which])
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--clusters", type=int, nargs="+", default=[4096, 16384, 65536])
    parser.add_argument("--recall", type=float, nargs="+", default=[0.9, 0.99, 0.999])
    parser.add_argument("--generated", action="store_true",
                        help="also a generated mixture, 200,000 x 16, C = 4,096")
    parser.add_argument("--output", default="predict.md")
    options = parser.parse_args()
    report = common.Report("vem predict: guided search against the scan")
    report.say(f"{options.threads} threads, seconds of the whole command, best of "
               f"{options.repeats}. The goal is the recall asked for; its measure on a sample of "
               "the rows is stated by the command.", "")
    table = []
    with common.scratch() as folder:
        model = os.path.join(folder, "model.npz")
        jobs = []
        glove = common.data("glove100")
        if glove:
            seen, others = part(glove, folder)
            for clusters in options.clusters:
                jobs += [("glove100", glove, glove, clusters),
                         ("glove100, held out", seen, others, clusters)]
        if options.generated:
            random = np.random.default_rng(0)
            path = os.path.join(folder, "mixture.npy")
            centers = 4 * random.standard_normal((4096, 16))
            rows = centers[random.integers(4096, size=200_000)]
            np.save(path, (rows + random.standard_normal(rows.shape)).astype(np.float32))
            jobs.append(("mixture 200,000 x 16", path, path, 4096))
        for name, fitted, path, clusters in jobs:
            common.vem("fit", fitted, "-k", clusters, "-o", model, "--threads", options.threads)
            for row in measure(folder, path, model, options.recall, options):
                table.append([name, clusters, *row])
    report.table(["data", "C", "search", "buckets", "probes", "goal", "recall, stated",
                  "recall, all rows", "pairs", "scan s", "guided s", "time"], table)
    report.say("`pairs` and `time` are ratios to the scan.")
    report.write(options.output)


if __name__ == "__main__":
    main()
