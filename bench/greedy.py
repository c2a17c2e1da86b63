#!/usr/bin/env python3
"""Greedy mixtures against restarts: held-out likelihood and time of a whole path.

    bench/greedy.py [--sets NAME...] [--seed S] [--vem PATH] [--peers-only]

Columns are standardised (so that the floors of the variances mean the same), four fifths of the
rows (of 60,000 drawn at random where there are more) are fitted, one fifth is held out. For each number of clusters scikit-learn's GaussianMixture
with full covariances takes the best of 10 restarts by what it maximises (n_init=10, everything
else as it comes: k-means to begin with, tol 1e-3, 100 iterations); one restart is a tenth of its
time. `vem select --method greedy` makes all mixtures of 1 ... 40 clusters in one run, and `--pick`
takes those that are compared. Both have one thread; seconds are those of the processor, for vem of
the whole process, reading, scores of all mixtures and writing included. What scikit-learn found is
kept in results/greedy_peers.json, since it takes long.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import common

SETS = ("pendigits", "sipu_s4", "susy_30k", "uci_protein", "codrna_331k")
SIZES = (2, 5, 10, 20, 40)
RESTARTS = 10
MOST = 60000
PEERS = os.path.join(common.ROOT, "bench", "results", "greedy_peers.json")


def split(path, folder):
    """Standardised rows: to be fitted, and held out."""
    rows = np.load(path).astype(np.float64)
    rows = rows[:, rows.std(0) > 0]
    rows = (rows - rows.mean(0)) / rows.std(0)
    order = np.random.default_rng(0).permutation(len(rows))[:MOST]
    cut = len(order) * 4 // 5
    names = []
    for name, part in (("train", order[:cut]), ("test", order[cut:])):
        names.append(os.path.join(folder, name + ".npy"))
        np.save(names[-1], rows[part])
    return names


def peer(train, test, clusters, seed):
    """Runs in a process of its own, so that BLAS has one thread."""
    from sklearn.mixture import GaussianMixture
    rows, held = np.load(train), np.load(test)
    began = time.process_time()
    fit = GaussianMixture(clusters, n_init=RESTARTS, random_state=seed).fit(rows)
    spent = time.process_time() - began
    print(json.dumps({"train": fit.score(rows), "test": fit.score(held),
                      "seconds": spent / RESTARTS}))


def load_peers():
    if not os.path.exists(PEERS):
        return {}
    with open(PEERS, encoding="utf-8") as stream:
        return json.load(stream)


def peers_of(name, train, test, seed, only_known):
    """What scikit-learn found for each size; what is not known yet is found now, if that is asked."""
    for clusters in () if only_known else SIZES:
        known = load_peers()
        key = f"{name} {clusters} {seed}"
        if key in known:
            continue
        line = [sys.executable, "-W", "ignore", os.path.abspath(__file__), "--peer", train, test,
                str(clusters), str(seed)]
        done = subprocess.run(line, capture_output=True, text=True, check=True,
                              env=common.threads_environment(1))
        known = load_peers()
        known[key] = json.loads(done.stdout)
        with open(PEERS, "w", encoding="utf-8") as stream:
            json.dump(known, stream, indent=1, sort_keys=True)
            stream.write("\n")
    known = load_peers()
    return {clusters: known[f"{name} {clusters} {seed}"] for clusters in SIZES
            if f"{name} {clusters} {seed}" in known}


def ours(train, test, seed, folder, sizes):
    """The path, its processor seconds, and the held-out likelihood of the sizes."""
    path, picked = os.path.join(folder, "path.npz"), os.path.join(folder, "picked.npz")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = common.vem("select", train, "--method", "greedy", "--max-clusters", max(sizes),
                      "--seed", seed, "--threads", 1, "-o", path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    found = {}
    for point in done["path"]:
        if point["clusters"] in sizes:
            common.vem("select", "--pick", point["clusters"], path, "-o", picked)
            score = common.vem("score", picked, test)
            found[point["clusters"]] = {"train": point["log_likelihood"],
                                        "test": score["log_likelihood"]}
    return found, spent, done


def table(name, shape, peers, found, spent, done):
    """Lines of one set; what it is ahead by at each size, and the two times."""
    lines = [f"**{name}**, {shape[0]:,} rows fitted, {shape[1]} columns; BIC chooses "
             f"{done['clusters']} clusters, {done['steps']} steps in all", "",
             "| clusters | best of 10 restarts, fitted | held out | greedy, fitted | held out | "
             "ahead, held out | one restart, s |", "|---|---|---|---|---|---|---|"]
    ahead = []
    for k in peers:
        if k not in found:
            lines.append(f"| {k} | the path ends before | | | | | |")
            continue
        a, b = peers[k], found[k]
        ahead.append(b["test"] - a["test"])
        lines.append(f"| {k} | {a['train']:.4f} | {a['test']:.4f} | {b['train']:.4f} | "
                     f"{b['test']:.4f} | {ahead[-1]:+.4f} | {a['seconds']:.2f} |")
    restarts = sum(peers[k]["seconds"] for k in peers)
    lines += ["", f"The whole path of 1 to {done['path'][-1]['clusters']} clusters: "
              f"{spent:.2f} s; one restart of each of these sizes, summed: {restarts:.2f} s "
              f"({spent / restarts:.2f} of it).", ""]
    return lines, ahead, spent / restarts


def main():
    if sys.argv[1:2] == ["--peer"]:
        peer(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vem", metavar="PATH", help="the command; default build/vem")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers-only", action="store_true")
    parser.add_argument("--known", action="store_true",
                        help="leave out sizes of which scikit-learn's results are not kept")
    options = common.settle(parser)
    gaps, ratios, missing = [], [], []
    report = None
    for name in options.sets:
        path = common.data(name)
        if not path:
            continue
        with tempfile.TemporaryDirectory() as folder:
            train, test = split(path, folder)
            peers = peers_of(name, train, test, options.seed, options.known)
            missing += [f"{name} {k}" for k in SIZES if k not in peers]
            if options.peers_only or not peers:
                continue
            found, spent, done = ours(train, test, options.seed, folder, list(peers))
            some, ahead, ratio = table(name, np.load(train, mmap_mode="r").shape, peers, found,
                                       spent, done)
            report = report or common.Report("Greedy mixtures against restarts")
            report.say(*some)
            gaps.append(ahead)
            ratios.append(ratio)
    if options.peers_only or not gaps:
        return
    flat = [gap for ahead in gaps for gap in ahead]
    report.say(f"Ahead in held-out log-likelihood of a row: mean over sets and sizes "
               f"{np.mean(flat):+.4f}, least {min(flat):+.4f}; {sum(g < -0.01 for g in flat)} of "
               f"{len(flat)} below by more than 0.01. Path against restarts: "
               f"{min(ratios):.2f} to {max(ratios):.2f} of their time.")
    if missing:
        report.say(f"Left out, because scikit-learn had not ended: {', '.join(missing)}.")
    report.say("", *__doc__.strip().splitlines()[4:])
    report.write("greedy.md")


if __name__ == "__main__":
    main()
