#!/usr/bin/env python3
"""`vem select` beside mclust and scikit-learn's BayesianGaussianMixture: K, ARI, held-out likelihood, time.

    bench/how_many.py [--sets NAME ...] [--methods bayes ...] [--peers mclust bgm] [--limit 1200] [--seed 1] [--output FILE]

Labelled sets: sipu s1-s4, a1-a3, unbalance, d31, pendigits, usps projected to 16 columns by its first principal axes; a fifth
of the rows is held out. mclust (R): G = 1:60 and the models VVV, EEE, VVI, EII, its hierarchical start on 2,000 of the rows
(`initialization = list(subset = ...)`, which is what it does by itself from 2,000 rows on), the best by its BIC. With --limit
it tries G = 1, 5, 10, ..., 60 first, then those beside the best so far, and ends when that many seconds of the processor
are over; what it was best at then is what is told ("cut": it would have gone on). scikit-learn:
BayesianGaussianMixture with 60 components, full covariances, its defaults otherwise; K: components to which rows are
assigned. bayes+soft: with --finish soft, rows share the clusters in the end; bayes+best: the same with --families
full,diag,iso, of which the one with the most evidence is taken, as mclust takes the best of its models. Everyone fits the same rows;
ARI is of these, likelihoods are of the rows held out. Seconds are of the processor.
"""

import argparse
import os
import resource
import subprocess
import tempfile

import numpy as np

import common

SETS = ("sipu_s1", "sipu_s2", "sipu_s3", "sipu_s4", "sipu_a1", "sipu_a2", "sipu_a3", "sipu_unbalance",
        "sipu_d31", "pendigits", "usps")
MORE = {"": [], "soft": ["--finish", "soft"], "best": ["--finish", "soft", "--families", "full,diag,iso"]}
MCLUST = """
suppressMessages(library(mclust))
settings <- commandArgs(trailingOnly = TRUE)
limit <- as.numeric(settings[1])
set.seed(as.numeric(settings[2]))
models <- c("VVV", "EEE", "VVI", "EII")
x <- as.matrix(read.csv("train.csv", header = FALSE))
y <- as.matrix(read.csv("test.csv", header = FALSE))
late <- function() limit > 0 && sum(proc.time()[1:2]) > limit
if (nrow(x) > 2000) {
  some <- sample(nrow(x), 2000)
  start <- list(subset = some, hcPairs = hc(x[some, ], modelName = mclust.options("hcModelName"), use = mclust.options("hcUse")))
} else start <- list(hcPairs = hc(x, modelName = mclust.options("hcModelName"), use = mclust.options("hcUse")))
cut <- FALSE
if (limit == 0) {
  bic <- mclustBIC(x, G = 1:60, modelNames = models, initialization = start, verbose = FALSE)
} else {
  tried <- c(1, 5)
  bic <- mclustBIC(x, G = tried, modelNames = models, initialization = start, verbose = FALSE)
  repeat {
    g <- setdiff(seq(10, 60, 5), tried)
    if (length(g) == 0) {  # beside the best
      best <- as.numeric(rownames(bic)[which(bic == max(bic, na.rm = TRUE), arr.ind = TRUE)[1]])
      g <- setdiff(best + c(-1, 1, -2, 2, -3, 3, -4, 4), tried)
      g <- g[g >= 1 & g <= 60]
    }
    if (length(g) == 0) break
    if (late()) { cut <- TRUE; break }
    tried <- sort(c(tried, g[1]))
    bic <- mclustBIC(x, G = tried, modelNames = models, x = bic, verbose = FALSE)
    write(paste(g[1], max(bic, na.rm = TRUE), sum(proc.time()[1:2])), stderr())
  }
}
m <- Mclust(x, x = bic, verbose = FALSE)
d <- dens(data = y, modelName = m$modelName, parameters = m$parameters, logarithm = TRUE)
cat(m$G, m$modelName, mean(d), cut, "\\n")
write.table(m$classification, "labels.csv", row.names = FALSE, col.names = FALSE)
"""


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime + own.ru_utime + own.ru_stime


def rows(name, seed):
    """Rows to fit and to hold out, and the classes of the first."""
    path, labels = common.data(name), common.data(name + "_labels")
    x, y = np.load(path).astype(np.float64), np.load(labels)
    if name == "usps":
        x = x - x.mean(0)
        x = x @ np.linalg.svd(x[:5000], full_matrices=False)[2][:16].T
    order = np.random.default_rng(seed).permutation(len(x))
    fifth = len(x) // 5
    return x[order[fifth:]], x[order[:fifth]], y[order[fifth:]]


def ours(folder, train, test, method):
    model, labels = os.path.join(folder, "model.npz"), os.path.join(folder, "labels.npy")
    np.save(os.path.join(folder, "train.npy"), train)
    np.save(os.path.join(folder, "test.npy"), test)
    before = used()
    data = os.path.join(folder, "train.npy")
    name, _, more = method.partition("+")
    told = common.vem("select", data, "--method", name, "-o", model, "--labels", labels, *MORE[more])
    seconds = used() - before
    scored = common.vem("score", model, os.path.join(folder, "test.npy"))
    clusters = told["clusters"] if more != "best" else f"{told['clusters']} {told['family']}"
    return clusters, np.load(labels), scored["log_likelihood"], seconds


def mclust(folder, train, test, options):
    np.savetxt(os.path.join(folder, "train.csv"), train, delimiter=",")
    np.savetxt(os.path.join(folder, "test.csv"), test, delimiter=",")
    with open(os.path.join(folder, "mclust.R"), "w", encoding="utf-8") as script:
        script.write(MCLUST)
    before = used()
    done = subprocess.run(["Rscript", "mclust.R", str(options.limit), str(options.seed)], cwd=folder,
                          check=True, stdout=subprocess.PIPE, text=True)
    clusters, kind, likelihood, cut = done.stdout.split()[:4]
    labels = np.loadtxt(os.path.join(folder, "labels.csv"))
    return f"{clusters} {kind}{', cut' if cut == 'TRUE' else ''}", labels, float(likelihood), used() - before


def bgm(_folder, train, test, _options):
    from sklearn.mixture import BayesianGaussianMixture  # pylint: disable=import-outside-toplevel
    before = used()
    mixture = BayesianGaussianMixture(n_components=60, max_iter=500, random_state=1).fit(train)
    labels = mixture.predict(train)
    return len(set(labels)), labels, mixture.score(test), used() - before


def main():
    from sklearn.metrics import adjusted_rand_score  # pylint: disable=import-outside-toplevel
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--methods", nargs="+", default=["bayes", "bayes+soft", "bayes+best", "vb"])
    parser.add_argument("--peers", nargs="*", default=["mclust", "bgm"])
    parser.add_argument("--limit", type=float, default=0, metavar="SECONDS", help="of mclust's time; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vem", metavar="PATH")
    parser.add_argument("--output", metavar="FILE")
    options = common.settle(parser)
    peers = {"mclust": mclust, "bgm": bgm}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sets:
            if not common.data(name):
                continue
            train, test, classes = rows(name, options.seed)
            who = [(f"vem {method}", ours(folder, train, test, method)) for method in options.methods]
            who += [(peer, peers[peer](folder, train, test, options)) for peer in options.peers]
            for method, (clusters, labels, likelihood, seconds) in who:
                line = [name, f"{len(train):,} x {train.shape[1]}", len(set(classes)), method, clusters,
                        f"{adjusted_rand_score(classes, labels):.3f}", f"{likelihood:.4f}",
                        f"{seconds:.2f}"]
                print(*line, flush=True)
                lines.append(line)
    report = common.Report("The number of clusters")
    report.say("Four fifths of the rows are fitted; the likelihood is of a row that was held out; seconds of the "
               "processor.", "")
    report.table(["data", "rows", "classes", "who", "K", "ARI", "held-out likelihood", "seconds"], lines)
    if options.output:
        report.write(options.output)


if __name__ == "__main__":
    main()
