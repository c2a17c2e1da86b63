#!/usr/bin/env python3
"""Cells beside coresets of as many items, on every set at hand: who ends higher on all rows?

    bench/cells_coresets.py [--sets NAME ...] [--clusters C ...] [--families F ...] [--each E] [--least L]
                            [--output FILE]

Each set is fitted with --cells M and with --coreset M, M being 64 items (E) for each cluster and 8,192 (L) at least, and
for scale with all rows by the default (where that is not too long: `--rows`). The likelihood is that of
all rows (for iso-shared with a flat prior, which is k-means, the squared error a row). Seconds are of the processor.
Cases in which M is more than half of the rows, or a cluster has fewer than 8 rows, are left out.
"""

import argparse
import os
import resource
import tempfile

import numpy as np

import common

SETS = ("sipu_birch1", "sipu_birch2", "sipu_birch3", "plane", "pixels", "codrna_331k", "susy_30k",
        "uci_keggundirected", "kddcup99_10pct", "uci_protein", "mixture", "glove100")
EACH, LEAST, ROWS_EACH, WIDE = 64, 8192, 8, 32


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def plane(folder, rows=1000000):
    """A hundred components in the plane."""
    path = os.path.join(folder, "plane.npy")
    random = np.random.default_rng(5)
    centers, shapes = random.normal(0, 10, (100, 2)), random.normal(0, 0.8, (100, 2, 2))
    label = random.integers(100, size=rows)
    noise = random.normal(size=(rows, 2))
    np.save(path, (centers[label] + np.einsum("nij,nj->ni", shapes[label], noise)).astype("f4"))
    return path


def fit(folder, path, clusters, family, seed, threads, *more):
    """(the measure on all rows, larger is better; seconds of the processor; the gap)"""
    model = os.path.join(folder, "model.npz")
    before = used()
    told = common.vem("fit", path, "-k", clusters, "--family", family, "--seed", seed,
                      "--threads", threads, "-o", model, *more)
    seconds = used() - before
    score = common.vem("score", model, path, "--threads", threads)
    plain = family == "iso-shared"
    return (-score["quantization_error"] if plain else score["log_likelihood"], seconds,
            told.get("gap"))


def mean(values):
    return sum(values) / len(values)


def compare(folder, name, path, clusters, family, options):
    rows, columns = np.load(path, mmap_mode="r").shape
    items = max(options.each * clusters, options.least)
    if 2 * items > rows or ROWS_EACH * clusters > rows or (family == "full" and columns > WIDE):
        return None
    results = {}
    for how in ("cells", "coreset"):
        results[how] = [fit(folder, path, clusters, family, seed, options.threads, "--" + how, items)
                        for seed in options.seeds]
    cells, coreset = (mean([r[0] for r in results[how]]) for how in ("cells", "coreset"))
    times = [mean([r[1] for r in results[how]]) for how in ("cells", "coreset")]
    gap = [r[2] for r in results["cells"] if r[2] is not None]
    if family == "iso-shared":
        lead, better = (cells - coreset) / -coreset, "share"
    else:
        lead, better = cells - coreset, "nats"
    line = [name, rows, columns, clusters, family, items, f"{-cells if better == 'share' else cells:.5g}",
            f"{-coreset if better == 'share' else coreset:.5g}",
            f"{100 * lead:+.2f} %" if better == "share" else f"{lead:+.4f}", f"{times[0]:.2f}",
            f"{times[1]:.2f}", f"{mean(gap):.4f}" if gap else "", "cells" if lead > 0 else "coreset"]
    print(*line, flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common.arguments(parser, seeds=(1, 2))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--clusters", nargs="+", type=int, default=[10, 64, 512, 4096])
    parser.add_argument("--families", nargs="+", default=["iso-shared", "diag", "full"])
    parser.add_argument("--each", type=int, default=EACH)
    parser.add_argument("--least", type=int, default=LEAST)
    parser.add_argument("--output", metavar="FILE")
    options = common.settle(parser)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sets:
            path = plane(folder) if name == "plane" else common.data(name)
            for clusters in options.clusters if path else ():
                for family in options.families:
                    lines.append(compare(folder, name, path, clusters, family, options))
    report = common.Report("Cells beside coresets of as many items")
    report.say(f"Seeds {' '.join(map(str, options.seeds))}, means over them; the measure is of all rows: the "
               "squared error a row for iso-shared, else the log-likelihood a row; seconds of the processor.", "")
    report.table(["data", "rows", "D", "C", "family", "items", "cells", "coreset", "cells better by",
                  "cells s", "coreset s", "gap", "winner"], [line for line in lines if line])
    if options.output:
        report.write(options.output)


if __name__ == "__main__":
    main()
