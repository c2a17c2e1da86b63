"""What the reproduction of VNV06 is made of: mixtures, fits kept one by one, operations.

VNV06 is Verbeek, Nunnink and Vlassis 2006, "Accelerated EM-based clustering of large data sets".

Floating-point operations are derived from what the command counts, not measured. A multiply-add is
two, an exponential is one. For one row or cell and one cluster with a full covariance in d columns:

    score     d (difference) + d (d + 1) (times a triangle) + 2 d (squares) + 3 (half, constants)
              of a cell also d (d + 1) for the trace of precision times spread
    normalise 4 (largest subtracted, exponential, sum, division)
    collect   1 + 2 d (mass, first moment) + d + d (d + 1) (second moment)
              of a cell also d (d + 1) for its spread

and for each cluster of an M-step d^3 + 3 d^2, of incremental EM, which makes one for each block, also
1 + 3 d + d (d + 1) for each block whose statistics are moved and added. The trace of a fit says how
many pairs each step has scored: of the E-step and of greedy's candidates, all scored, normalised and
collected. What scored_pairs counts beside them is what gains of divided cells are judged by (both
children of every cell, at every rest): scored and normalised. The tree is left out, as is k-means,
from which both start.
"""

import csv
import json
import os
import resource
import sys
import time
from typing import NamedTuple

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import common  # noqa: E402

OUT = os.path.join(ROOT, "repro", "out", "vnv06")
TOLERANCE = "1e-5"
STARTED_FROM = 100000  # rows that k-means sees, at most
MOST_CELLS = 8192  # as `--algorithm kd-em` has it; no more than one for two rows
GREEDY_CELLS = 1024
FEW = 32  # cells a cluster
REPEATS = 3  # of a fit, unless it takes long: the least of its times counts
SHORT = 0.01  # seconds

EM, CELLS, FEW_CELLS, PRINTED = "EM", "cells", "few cells", "as printed"
INCREMENTAL = "incremental EM"
MOORE, OF_64, OF_64_PRINTED = "very fast EM", "cells, from 16 on", "cells, as printed"
GREEDY, GREEDY_CELLS_NAME, GREEDY_PRINTED = "greedy", "greedy on cells", "greedy as printed"
GREEDY_METHODS = (GREEDY, GREEDY_CELLS_NAME, GREEDY_PRINTED)


class Setting(NamedTuple):
    """n rows of a mixture of k clusters in d columns, c-separated."""

    n: int
    k: int
    d: int
    c: float


def options_of(method, setting):
    """What `vem fit` is told, but for rows, start and seed."""
    def cells(most):
        return ["--cells", min(most, setting.n // 2)]
    kd, printed = ["--algorithm", "kd-em"], ["--depth", 2, "--expand", 1]
    greedy = ["--algorithm", "greedy"]
    more = {
        EM: ["--algorithm", "gmm"],
        CELLS: [*kd, *cells(MOST_CELLS)],
        FEW_CELLS: [*kd, *cells(FEW * setting.k)],
        PRINTED: [*kd, *cells(MOST_CELLS), *printed],
        INCREMENTAL: ["--algorithm", "incremental-em"],  # in 25 blocks, as the paper
        MOORE: ["--algorithm", "moore-em", "--tau", 0.5, "--depth", 6],
        OF_64: [*kd, *cells(64), "--depth", 4, "--expand", 1],
        OF_64_PRINTED: [*kd, *cells(64), *printed],
        GREEDY: greedy,
        GREEDY_CELLS_NAME: [*greedy, *cells(GREEDY_CELLS)],
        GREEDY_PRINTED: [*greedy, *cells(GREEDY_CELLS), *printed],
    }[method]
    return [*more, "--family", "full", "--tolerance", TOLERANCE]


# ---- mixtures ----

def mixture(random, k, d, c):
    """(weights, means, covariances): ||m_i - m_j|| >= c sqrt(d max eigenvalue of both) for all pairs.

    Not printed, and chosen here: eigenvalues uniform in [0.25, 1], any rotation, weights
    Dirichlet(5), means uniform in the smallest box that was met when it grew by 1 % a try.
    """
    turns = [np.linalg.qr(random.normal(size=(d, d)))[0] for _ in range(k)]
    values = random.uniform(0.25, 1, (k, d))
    shapes = np.array([turn * value @ turn.T for turn, value in zip(turns, values)])
    apart = c * np.sqrt(d * np.maximum.outer(values.max(1), values.max(1)))
    np.fill_diagonal(apart, 0)
    side = 1.0
    while True:
        means = random.uniform(0, side, (k, d))
        if (np.linalg.norm(means[:, None] - means[None], axis=2) >= apart).all():
            return random.dirichlet(np.full(k, 5.0)), means, shapes
        side *= 1.01


def draw(random, mixed, n, path):
    """n rows of it, a million at a time."""
    weights, means, shapes = mixed
    roots = np.linalg.cholesky(shapes)
    rows = np.lib.format.open_memmap(path, "w+", np.float64, (n, means.shape[1]))
    for begin in range(0, n, 1000000):
        end = min(n, begin + 1000000)
        label = random.choice(len(weights), end - begin, p=weights)
        noise = random.normal(size=(end - begin, means.shape[1]))
        rows[begin:end] = means[label] + np.einsum("nij,nj->ni", roots[label], noise)
    del rows


def start_from(folder, train, setting, seed):
    """Weights, means and covariances of the clusters of k-means, from random rows."""
    some = np.load(train, mmap_mode="r")[:STARTED_FROM]
    path, labels = os.path.join(folder, "some.npy"), os.path.join(folder, "labels.npy")
    np.save(path, some)
    common.vem("fit", path, "-k", setting.k, "--algorithm", "kmeans", "--seeding", "random", "--empty",
               "reseed", "--seed", seed, "--threads", 1, "--labels", labels, "-o",
               os.path.join(folder, "means.npz"))
    label = np.load(labels)
    shared = np.cov(some.T).reshape(setting.d, setting.d)
    weights, means, shapes = [], [], []
    for c in range(setting.k):
        own = some[label == c]
        if len(own) == 0:
            sys.exit("k-means left a cluster empty.")
        weights.append(len(own) / len(some))
        means.append(own.mean(0))
        few = len(own) <= 2 * setting.d
        shapes.append(shared if few else np.cov(own.T, bias=True).reshape(setting.d, setting.d))
    start = os.path.join(folder, "start.npz")
    common.write_model(start, means, shapes, weights)
    return start


# ---- operations ----

def operations(setting, steps, blocks, paired, judged, cells):
    """paired: scored, normalised, collected; judged: scored and normalised."""
    d = setting.d
    square = d * (d + 1)
    score = 3 * d + square + 3 + (square if cells else 0) + 4
    collect = 1 + 3 * d + square + (square if cells else 0)
    maximize = d**3 + 3 * d**2 + (blocks * (1 + 3 * d + square) if blocks > 1 else 0)
    return (paired + judged) * score + paired * collect + steps * blocks * setting.k * maximize


def read_trace(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# ---- fits ----

def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Trials:
    """Fits of one setting from one seed, each made once and kept, so that an interrupted run can go
    on. Rows are drawn only if one of the fits is missing."""

    def __init__(self, tests, name):
        self.tests = tests  # rows that mixtures are judged by
        self.name = name
        os.makedirs(OUT, exist_ok=True)

    def path(self, setting, trial):
        name = "-".join(map(str, (self.name, *setting, trial)))
        return os.path.join(OUT, name + ".json")

    def of(self, setting, trial, methods):
        """{method: what became of it}, and "truth": the test likelihood of the mixture."""
        kept = self.path(setting, trial)
        found = {}
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                found = json.load(file)
        asked = {m: list(map(str, options_of(m, setting))) for m in methods}
        missing = [m for m in methods if found.get(m, {}).get("asked") != asked[m]]
        if missing or "truth" not in found:
            with common.scratch() as folder:
                self.make(folder, setting, trial, missing, found)
            with open(kept + ".part", "w", encoding="utf-8") as file:
                json.dump(found, file)
            os.replace(kept + ".part", kept)
        return found

    def make(self, folder, setting, trial, missing, found):
        random = np.random.default_rng([trial, setting.k, setting.d, round(100 * setting.c)])
        mixed = mixture(random, setting.k, setting.d, setting.c)
        train, test, truth = (os.path.join(folder, name) for name in
                              ("train.npy", "test.npy", "truth.npz"))
        draw(random, mixed, self.tests, test)
        draw(random, mixed, setting.n, train)
        common.write_model(truth, mixed[1], mixed[2], mixed[0])
        found["truth"] = common.vem("score", truth, test)["log_likelihood"]
        start = None
        for method in missing:
            greedy = method in GREEDY_METHODS
            if not start and not greedy:
                start = start_from(folder, train, setting, trial + 1)
            begin = ["-k", setting.k] if greedy else ["--init", start]
            found[method] = self.fit(folder, setting, method, [train, *begin, "--seed",
                                                               trial + 1], test)
            print(*setting, trial, method, f"{found[method]['em']:.4f} s", file=sys.stderr,
                  flush=True)

    def fit(self, folder, setting, method, arguments, test):
        """Operations, seconds of the processor without and of the tree, test likelihood."""
        model, trace = os.path.join(folder, "model.npz"), os.path.join(folder, "trace.csv")
        options = options_of(method, setting)
        spent = {"em": np.inf, "tree": np.inf}
        long = method == GREEDY or (setting.n > 100000 and method == EM)
        for _ in range(1 if long else REPEATS):
            before, clock = used(), time.monotonic()
            done = common.vem("fit", *arguments, *options, "--threads", 1, "--trace", trace, "-o",
                              model)
            # Others use the machine. What is short ran undisturbed in one of the repeats; else, of
            # the seconds by the clock, as many as the process ran.
            share = min(1, (used() - before) / (time.monotonic() - clock))
            lines = read_trace(trace)
            if method == INCREMENTAL:  # without dealing the rows out into blocks, once
                done["seconds"]["em"] = sum(float(line["seconds"]) for line in lines)
            for key, least in spent.items():
                taken = done["seconds"][key]
                spent[key] = min(least, taken if taken < SHORT else taken * share)
        cells = done["cells"] > 0  # "along": those of each step; of greedy it has no meaning
        judged = done["scored_pairs"] - sum(int(line["pairs"]) for line in lines)
        kept = {"asked": list(map(str, options)), "steps": done["steps"], "cells": done["cells"],
                "clusters": done["clusters"], "outcome": done["outcome"],
                "free_energy": done["free_energy"], "pairs": done["scored_pairs"],
                "judged": judged,
                "operations": operations(setting, done["steps"], done["options"].get("blocks") or 1,
                                         done["scored_pairs"] - judged, judged, cells),
                "along": [int(line["pairs"]) // setting.k for line in lines] if cells else [],
                **spent, "load": os.getloadavg()[0],
                "test": common.vem("score", model, test)["log_likelihood"]}
        return kept
