#!/usr/bin/env python3
"""Few clusters: how good the default is, and what it costs, beside one start of others.

    bench/few.py [kmeans] [mixtures] [million] [--vem PATH] [--seeds S...] [--sets NAME...]

kmeans: squared error over the best known, mean over the seeds, beside scikit-learn's KMeans with
one start. mixtures: log-likelihood of a row below the best known, beside GaussianMixture with one
start (columns standardised, double precision); as a share of F in the units of the data, and, since
those set the size of F, as what it would be of the squared error, exp(2 gap / D) - 1. million:
1,000,000 x 8 beside FAISS's default, which draws 256 rows for each cluster, has 25 iterations and
gives no labels.

Everyone takes turns, seed by seed, with one thread each. Seconds are those of the processor (user
and system): for vem of the process, reading included, less those of `vem --version` beside it; for
the others of the call that fits, since importing them takes longer than most of these fits.
What is best known is the best of this run and of results/few_best.json, which --restarts R fills
with fits of R restarts.
"""

import argparse
import json
import os
import subprocess
import sys

import numpy as np

import common
import data

KMEANS = {"mixture8": 16, "mixture20": 12, "pendigits": (10, 64), "codrna_331k": 16,
          "susy_30k": 32, "usps": 20, "uci_protein": 24, "uci_keggundirected": 50,
          "sipu_birch3": 64, "sipu_s4": 15, "sipu_s3": 5}
MIXTURES = {"pendigits": 10, "sipu_s4": 15, "susy_30k": 8, "uci_protein": 12, "mixture20": 12,
            "mixture8": 16}
MADE = {"mixture8": ((200000, 8), 16), "mixture20": ((100000, 20), 12),
        "million": ((1000000, 8), 300)}
KNOWN = os.path.join(common.ROOT, "bench", "results", "few_best.json")
NEAR = 1.005


def prepare(name, folder):
    """The path of a set: made here, or one of bench/data."""
    path = os.path.join(folder, name + ".npy")
    if name in MADE and not os.path.exists(path):
        data.mixture(path, *MADE[name])
    return path if name in MADE else common.data(name)


def standardize(path, folder):
    """The same in double with columns of variance 1; how much lower F is in the old units."""
    rows = np.load(path).astype(np.float64)
    rows = rows[:, rows.std(0) > 0]
    made = os.path.join(folder, "standard.npy")
    np.save(made, (rows - rows.mean(0)) / rows.std(0))
    return made, rows.shape[1], np.log(rows.std(0)).sum()


def spent_by(line):
    """Processor seconds of one process, and the last line it prints."""
    environment = common.threads_environment(1)
    process = subprocess.Popen(list(map(str, line)), stdout=subprocess.PIPE, env=environment)
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, line))} failed.")
    return used.ru_utime + used.ru_stime, printed.splitlines()[-1]


def by_vem(path, clusters, seed, model, *more):
    line = [common.command(), "fit", path, "-k", clusters, "--seed", seed, "--threads", 1, "-q",
            "--json", "-o", model, *more]
    return spent_by(line)[0] - spent_by([common.command(), "--version"])[0]


def by_peer(peer, path, clusters, seed, model):
    line = [sys.executable, os.path.join(common.ROOT, "bench", "few_peers.py"), peer, path,
            clusters, seed, model]
    return json.loads(spent_by(line)[1])["seconds"]


def judge(model, path, measure):
    return common.vem("score", model, path, "--precision", "double")[measure]


class Known:
    """The best that was ever found, by set, clusters and family."""

    def __init__(self):
        self.best = {}
        if os.path.exists(KNOWN):
            with open(KNOWN, encoding="utf-8") as file:
                self.best = json.load(file)

    def learn(self, key, values, better):
        if key in self.best:
            values = [*values, self.best[key]]
        self.best[key] = better(values)
        return self.best[key]

    def write(self):
        with open(KNOWN, "w", encoding="utf-8") as file:
            json.dump(self.best, file, indent=1, sort_keys=True)
            file.write("\n")


def turns(fits, path, clusters, options, model, measure):
    """For each way to fit: measures and seconds, seed by seed."""
    found = [[] for _ in fits]
    for seed in options.seeds:
        for fit, values in zip(fits, found):
            seconds = fit(path, clusters, seed, model)
            values.append((judge(model, path, measure), seconds))
    return [np.array(values).T for values in found]


def search_best(known, key, path, clusters, options, model, measure, better, *more):
    if options.restarts:
        by_vem(path, clusters, 1000, model, "--restarts", options.restarts, *more)
        known.learn(key, [judge(model, path, measure)], better)


def kmeans(options, report, known, folder):
    model = os.path.join(folder, "model.npz")
    table = []
    for name, numbers in KMEANS.items():
        path = prepare(name, folder) if name in options.sets else None
        for clusters in np.atleast_1d(numbers) if path else ():
            key = f"{name} {clusters}"
            search_best(known, key, path, clusters, options, model, "quantization_error", min)
            fits = [by_vem, lambda *given: by_peer("kmeans", *given)]
            ours, peer = turns(fits, path, clusters, options, model, "quantization_error")
            best = known.learn(key, [*ours[0], *peer[0]], min)
            ratio, time = ours[0].mean() / best, ours[1].mean() / peer[1].mean()
            table.append([name, "{:,} x {}".format(*np.load(path, mmap_mode="r").shape),
                          clusters, f"{ratio:.4f}", f"{ours[0].max() / best:.4f}",
                          f"{peer[0].mean() / best:.4f}", ours[1].mean(), peer[1].mean(),
                          f"{time:.2f}", "yes" if ratio <= NEAR else "NO",
                          "yes" if time <= 1 else "NO"])
    report.say("## k-means", "")
    report.table(["data", "rows", "C", "vem: mean error", "greatest", "scikit-learn: mean error",
                  "vem s", "scikit-learn s", "ratio", "within 0.5 %", "no slower"], table)


def mixtures(options, report, known, folder):
    model = os.path.join(folder, "model.npz")
    table = []
    for name, clusters in MIXTURES.items():
        path = prepare(name, folder) if name in options.sets else None
        if not path:
            continue
        path, columns, shift = standardize(path, folder)
        for family in ("diag", "full"):
            key = f"{name} {clusters} {family}"
            asked = ["--family", family]
            search_best(known, key, path, clusters, options, model, "log_likelihood", max, *asked)
            fits = [lambda *given, asked=asked: by_vem(*given, *asked),
                    lambda *given, family=family: by_peer(family, *given)]
            ours, peer = turns(fits, path, clusters, options, model, "log_likelihood")
            best = known.learn(key, [*ours[0], *peer[0]], max)
            below, theirs = (best - found[0].mean() for found in (ours, peer))
            share, error = below / abs(best - shift), np.expm1(2 * below / columns)
            time = ours[1].mean() / peer[1].mean()
            table.append([name, clusters, family, f"{best - shift:.3f}", f"{below:.3f}",
                          f"{100 * share:.2f} %", f"{100 * error:.2f} %", f"{theirs:.3f}",
                          ours[1].mean(), peer[1].mean(), f"{time:.2f}",
                          "yes" if share <= NEAR - 1 else "NO",
                          "yes" if error <= NEAR - 1 else "NO", "yes" if time <= 1 else "NO"])
    report.say("## Mixtures", "")
    report.table(["data", "C", "family", "best known F", "vem: below it", "of it", "as error",
                  "scikit-learn: below it", "vem s", "scikit-learn s", "ratio",
                  "within 0.5 % of F", "as error", "no slower"], table)


def million(options, report, _known, folder):
    path = prepare("million", folder)
    model = os.path.join(folder, "model.npz")
    table = []
    for clusters in (16, 64):
        sample = ["--coreset", 256 * clusters]
        fits = [lambda *given: by_peer("faiss", *given), by_vem,
                lambda *given, sample=sample: by_vem(*given, *sample)]
        found = turns(fits, path, clusters, options, model, "quantization_error")
        faiss = found[0]
        names = ["FAISS, 256 rows a cluster", "vem", f"vem --coreset {256 * clusters}"]
        for name, (errors, seconds) in zip(names, found):
            error, time = (a.mean() / b.mean() for a, b in zip((errors, seconds), faiss))
            table.append([clusters, name, f"{error:.4f}",
                          f"{errors.max() / faiss[0].mean():.4f}", seconds.mean(), seconds.min(),
                          f"{time:.2f}", "yes" if error <= 1 else "NO",
                          "yes" if time <= 1 else "NO"])
    report.say("## A million rows", "", "Errors over FAISS's mean; all rows are judged. FAISS and "
               "a coreset give means alone; vem by default has a label for each row, and F of all "
               "of them at rest.", "")
    report.table(["C", "", "mean error", "greatest", "s", "least s", "s over FAISS's",
                  "no higher error", "no slower"], table)


PARTS = {"kmeans": kmeans, "mixtures": mixtures, "million": million}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    sets = sorted({*KMEANS, *MIXTURES})
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    common.arguments(parser, range(1, 11))
    parser.add_argument("--sets", nargs="+", choices=sets, default=sets, metavar="NAME")
    parser.add_argument("--restarts", type=int, default=0)
    parser.add_argument("--output", default="few.md", help="in results/; '' writes nothing")
    options = common.settle(parser)
    known = Known()
    report = common.Report("Few clusters")
    report.say(f"Seeds {' '.join(map(str, options.seeds))}; one thread; seconds of the processor, "
               "means over the seeds, everyone in turn.", "")
    with common.scratch() as folder:
        for part in options.parts or PARTS:
            PARTS[part](options, report, known, folder)
    if options.output:
        report.write(options.output)
        known.write()


if __name__ == "__main__":
    main()
