#!/usr/bin/env python3
"""Hashed text: mixtures of multinomials in very many columns, of which nearly all are empty.

    bench/hashed.py [--rows N] [--columns D] [--words W] [-k K] [--seeds S ...] [--before VEM] [--keep FILE.npz]

Each text is of one of K topics: half of its words are drawn by Zipf's law from 200,000 that all topics share in
one order, half by the same law in the order of the topic; words are hashed into D columns. F a row, ARI with the
topics, seconds of the processor (user and system) and the peak of the process; --before names the command of
another build, which is measured in turn.
"""

import argparse
import os
import resource

import numpy as np
import scipy.sparse

import common
from counts_starts import ari

WORDS = 200_000


def texts(n, d, topics, length, seed=1):
    """(sparse counts, topic of each row)"""
    random = np.random.default_rng(seed)
    chance = 1 / np.arange(1, WORDS + 1) ** 1.05
    running = np.cumsum(chance / chance.sum())
    order = np.stack([random.permutation(WORDS) for _ in range(topics)])
    column = random.integers(d, size=WORDS)
    topic = random.integers(topics, size=n)
    lengths = np.maximum(1, random.poisson(length, n))
    row = np.repeat(np.arange(n), lengths)
    word = np.searchsorted(running, random.random(len(row))).clip(0, WORDS - 1)
    own = random.random(len(row)) < 0.5
    word = np.where(own, order[topic[row], word], word)
    counts = scipy.sparse.coo_matrix((np.ones(len(row)), (row, column[word])), shape=(n, d)).tocsr()
    counts.sum_duplicates()
    return counts, topic


def measure(command, path, options, seed, folder, topic):
    os.environ["VEM"] = command
    labels = os.path.join(folder, "labels.npy")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = common.vem("fit", path, "--family", options.family, "-k", options.clusters, "--seed", seed,
                      "--threads", options.threads, "--labels", labels, apart=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return told["free_energy"], ari(topic, np.load(labels).ravel()), seconds, told["peak_bytes"] / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common.arguments(parser)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=1 << 20)
    parser.add_argument("--words", type=int, default=140, help="of a text, on average")
    parser.add_argument("-k", "--clusters", type=int, default=20)
    parser.add_argument("--family", default="multinomial")
    parser.add_argument("--before", metavar="VEM")
    parser.add_argument("--keep", metavar="FILE.npz", help="write the counts there, too")
    options = common.settle(parser)
    counts, topic = texts(options.rows, options.columns, options.clusters, options.words)
    ours = common.command()
    report = common.Report("Hashed text")
    lines = []
    with common.scratch() as folder:
        path = options.keep or os.path.join(folder, "texts.npz")
        scipy.sparse.save_npz(path, counts, compressed=False)
        for seed in options.seeds:
            for name, command in ((("before", options.before),) if options.before else ()) + (("now", ours),):
                f, score, seconds, peak = measure(command, path, options, seed, folder, topic)
                lines.append([name, seed, f"{f:.3f}", f"{score:.3f}", f"{seconds:.1f}", f"{peak:.0f}"])
                print(*lines[-1], flush=True)
    report.say(f"{options.rows:,} rows x {options.columns:,} columns, {counts.nnz / options.rows:.0f} values a row, "
               f"{options.family}, {options.clusters} clusters, {options.threads} threads.", "")
    report.table(["", "seed", "F", "ARI", "s of the processor", "peak, MB"], lines)


if __name__ == "__main__":
    main()
