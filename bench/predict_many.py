#!/usr/bin/env python3
"""How the cost of vem predict grows with the number of clusters: pairs and processor time for each row.

    bench/predict_many.py [--vem PATH] [--rows N] [--recall R] [--clusters C ...] [--data KIND ...]

The clusters are rows drawn from the same distribution as those that are predicted, in 32 columns, so that there can be
any number of them without a fit:

    mixture   1,000 components, each of 8 dimensions of its own and a little noise
    gauss     one normal distribution, the variance of column j is 1 / j: no structure that buckets could find

Processor time (user and system, one thread) is that of the whole command: model and rows are read, the sample is scanned, the
buckets are made. The exponent is log(cost ratio) / log(ratio of clusters), from the first number of clusters on.
"""

import argparse
import os
import resource

import numpy as np

import common

COLUMNS = 32


def draw(kind, count, seed):
    """Rows of a distribution whose parameters are always the same."""
    shape, rows = np.random.default_rng(0), np.random.default_rng(1000 + seed)
    falling = 1 / np.sqrt(np.arange(1, COLUMNS + 1))
    if kind == "gauss":
        return (rows.standard_normal((count, COLUMNS)) * falling).astype(np.float32)
    means = 2 * shape.standard_normal((1000, COLUMNS)) * falling
    factors = shape.standard_normal((1000, COLUMNS, 8)) * (0.5 * falling[:8])
    of = rows.integers(1000, size=count)
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(1001))
    inside, noise = rows.standard_normal((count, 8)), rows.standard_normal((count, COLUMNS))
    out = np.empty((count, COLUMNS), np.float32)
    for k in range(1000):
        some = order[bounds[k]:bounds[k + 1]]
        out[some] = means[k] + inside[some] @ factors[k].T + 0.1 * noise[some]
    return out


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--vem", metavar="PATH", help="the command; default build/vem")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--recall", type=float, default=0.99)
    parser.add_argument("--clusters", type=int, nargs="+",
                        default=[4096, 16384, 65536, 262144, 1048576])
    parser.add_argument("--data", nargs="+", default=["mixture", "gauss"])
    parser.add_argument("--output", default="predict-many.md")
    options = common.settle(parser)
    report = common.Report("vem predict: how its cost grows with the number of clusters")
    report.say(f"{options.rows:,} rows of {COLUMNS} columns, --recall {options.recall}, one thread; processor time of "
               "the whole command (other programs ran beside it).", "")
    table = []
    with common.scratch() as folder:
        rows, model = os.path.join(folder, "rows.npy"), os.path.join(folder, "model.npz")
        for kind in options.data:
            np.save(rows, draw(kind, options.rows, 2))
            first = None
            for clusters in options.clusters:
                common.write_model(model, draw(kind, clusters, 1), [0.05])
                begun = processor_time()
                done = common.vem("predict", model, rows, "--recall", options.recall, "--threads", 1,
                                  "-o", os.path.join(folder, "found.npy"))
                time = (processor_time() - begun) / options.rows * 1e6
                pairs = done["scored_pairs"] / options.rows
                first = first or (clusters, pairs, time)
                growth = np.log(clusters / first[0])
                table.append([kind, clusters, done["search"], done["buckets"], done["probes"],
                              f"{done['recall']:.4f}", f"{pairs:.0f}", f"{time:.1f}",
                              *(f"{np.log(cost / before) / growth:.2f}" if growth else ""
                                for cost, before in ((pairs, first[1]), (time, first[2])))])
    report.table(["data", "C", "search", "buckets", "probes", "recall, stated", "pairs a row", "us a row",
                  "exponent, pairs", "exponent, time"], table)
    report.write(options.output)


if __name__ == "__main__":
    main()
