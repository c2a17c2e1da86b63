#!/usr/bin/env python3
"""Mixtures of counts by default, which begin several times, beside one start (--swaps 0).

    bench/counts_starts.py [--seeds S ...] [--before VEM] [--output FILE]

Three generated sets and, where bench/data.py has made it, MNIST with pixels above the middle as bits. --before names the
command of another build, whose default is measured instead of one start. F a row; ARI with the labels that
generated the rows; seconds of the processor, one thread.
"""

import argparse
import os
import resource
import statistics
import tempfile

import numpy as np

import common


def generated(folder):
    """(name, family, clusters, path, labels) of sets that one start in a few fails on."""
    random = np.random.default_rng(3)
    bits, rates, words = (random.integers(k, size=n) for k, n in ((8, 20000), (12, 20000), (20, 10000)))
    chance = random.beta(0.7, 0.7, (8, 30))
    rate = random.gamma(2.0, 1.0, (12, 20))
    share = random.dirichlet(np.full(200, 0.05), 20)
    totals = random.integers(20, 200, len(words))
    sets = (("bits", "bernoulli", 8, (random.random((len(bits), 30)) < chance[bits]), bits),
            ("rates", "poisson", 12, random.poisson(rate[rates]), rates),
            ("words", "multinomial", 20,
             np.stack([random.multinomial(t, share[z]) for t, z in zip(totals, words)]), words))
    for name, family, clusters, rows, labels in sets:
        path = os.path.join(folder, name + ".npy")
        np.save(path, rows.astype("f4"))
        yield name, family, clusters, path, labels


def digits(folder):
    """MNIST as bits; nothing where it is not there."""
    found = common.data("mnist")
    if found:
        path = os.path.join(folder, "digits.npy")
        np.save(path, (np.load(found, mmap_mode="r") > 127).astype("u1"))
        yield "MNIST", "bernoulli", 10, path, None


def ari(a, b):
    """The adjusted Rand index of two lists of labels."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    def pairs(counts):
        return (counts * (counts - 1) / 2).sum()
    both, one, two = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    expected = one * two / pairs(np.array([len(a)]))
    return (both - expected) / ((one + two) / 2 - expected)


def measure(command, folder, case, seed, more):
    _, family, clusters, path, labels = case
    os.environ["VEM"] = command
    found = os.path.join(folder, "labels.npy")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = common.vem("fit", path, "--family", family, "-k", clusters, "--seed", seed, "--threads", 1,
                      "--labels", found, *more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    score = ari(labels, np.load(found).ravel()) if labels is not None else float("nan")
    return told["free_energy"], score, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common.arguments(parser)
    parser.add_argument("--before", metavar="VEM")
    parser.add_argument("--output", metavar="FILE")
    options = common.settle(parser)
    ours = common.command()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for case in (*generated(folder), *digits(folder)):
            once = [measure(options.before or ours, folder, case, seed,
                            [] if options.before else ["--swaps", 0]) for seed in options.seeds]
            several = [measure(ours, folder, case, seed, []) for seed in options.seeds]
            line = [case[0], case[1], case[2]]
            for found in (once, several):
                f, score, seconds = zip(*found)
                line += [f"{statistics.mean(f):.4f}", f"{min(f):.4f}", f"{min(score):.3f}",
                         f"{statistics.mean(seconds):.2f}"]
            print(*line, flush=True)
            lines.append(line)
    os.environ["VEM"] = ours
    report = common.Report("Starts of mixtures of counts")
    report.say(f"Seeds {' '.join(map(str, options.seeds))}. First one start, then the default.", "")
    report.table(["data", "family", "C", "F, mean", "least", "ARI, least", "s", "F, mean", "least", "ARI, least",
                  "s"], lines)
    if options.output:
        report.write(options.output)


if __name__ == "__main__":
    main()
