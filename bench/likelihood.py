#!/usr/bin/env python3
"""Whole fits of Gaussian mixtures beside scikit-learn: likelihood and time.

    bench/likelihood.py [--threads P] [--seeds S...] [--sets NAME...]

Each set is standardised and cut in two halves at random; both programs fit a mixture with their
defaults (scikit-learn with up to 300 iterations, and a tolerance of 1e-4 instead of 1e-3, with
which it ends sooner and lower) to one half in double precision. The mean log-likelihood of a row
is told for that half and for the other one, by one evaluator; time without reading.
"""

import argparse
import os
import time

import numpy as np
import sklearn
from sklearn.mixture import GaussianMixture

import common

SETS = {"pendigits": 64, "susy_30k": 64, "uci_protein": 64, "uci_keggundirected": 64}
SKLEARN = {"max_iter": 300, "tol": 1e-4}


def halves(name, folder):
    """The paths of two halves of the set, columns to mean 0 and variance 1."""
    source = common.data(name)
    if not source:
        return None
    rows = np.load(source).astype(np.float64)
    rows = rows[:, rows.std(0) > 0]
    rows = (rows - rows.mean(0)) / rows.std(0)
    order = np.random.default_rng(0).permutation(len(rows))
    paths = [os.path.join(folder, f"{name}-{part}.npy") for part in ("fitted", "other")]
    for path, which in zip(paths, np.array_split(order, 2)):
        np.save(path, rows[which])
    return paths


def by_vem(paths, clusters, family, seed, model, threads):
    done = common.vem("fit", paths[0], "-k", clusters, "--family", family, "--seed", seed,
                      "-o", model, "--threads", threads)
    spent = done["seconds"]
    return sum(spent[part] for part in ("reduce", "seed", "em"))


def by_sklearn(paths, clusters, family, seed, model, _threads):
    rows = np.load(paths[0])
    fitted = GaussianMixture(clusters, covariance_type=family, random_state=seed, **SKLEARN)
    start = time.perf_counter()
    fitted.fit(rows)
    seconds = time.perf_counter() - start
    common.write_model(model, fitted.means_, fitted.covariances_, fitted.weights_)
    return seconds


def judge(model, path, threads):
    return common.vem("score", model, path, "--precision", "double",
                      "--threads", threads)["log_likelihood"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    common.arguments(parser)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="NAME",
                        help=", ".join(SETS))
    options = common.settle(parser)
    report = common.Report("Likelihood of whole mixture fits")
    report.say(f"{common.versions(np, sklearn)}; {options.threads} threads; mean over seeds "
               f"{' '.join(map(str, options.seeds))}, in brackets the least and the greatest of "
               "them. Log-likelihood for each row, of the half that was fitted and of the other; "
               "seconds: medians.", "")
    table = []
    with common.scratch() as folder:
        model = os.path.join(folder, "model.npz")
        for name in options.sets:
            paths = halves(name, folder)
            for family in ("diag", "full") if paths else ():
                row = [name, "{:,} x {}".format(*np.load(paths[0], mmap_mode="r").shape),
                       SETS[name], family]
                for fit in (by_vem, by_sklearn):
                    found = []
                    for seed in options.seeds:
                        seconds = fit(paths, SETS[name], family, seed, model, options.threads)
                        found.append([judge(model, path, options.threads) for path in paths]
                                     + [seconds])
                    fitted, other, seconds = np.array(found).T
                    row += [f"{fitted.mean():.3f} ({fitted.min():.3f}, {fitted.max():.3f})",
                            f"{other.mean():.3f} ({other.min():.3f}, {other.max():.3f})",
                            float(np.median(seconds))]
                table.append(row)
    report.table(["data", "fitted", "C", "family", "vem", "vem, other half", "vem s",
                  "scikit-learn", "scikit-learn, other half", "scikit-learn s"], table)
    report.write("likelihood.md")


if __name__ == "__main__":
    main()
