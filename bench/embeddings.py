#!/usr/bin/env python3
"""Fits of embeddings: this build beside an earlier one, in one run, in turns.

    bench/embeddings.py --before PATH [--vem PATH] [-k C[,C...]] [--seeds S[,S...]] DATA.npy...

PATH is a vem of another commit, beside the libvem.so it was built with. For each set, number of
clusters and seed both fit with their defaults in one thread, and with --max-steps 3. A table in
Markdown: processor seconds of the whole command, steps, axes, and the exact squared error of what
the labels say, beside the earlier one.
"""

import argparse
import os
import re
import resource
import subprocess
import tempfile

import numpy as np


def fit(program, data, clusters, seed, more, folder):
    labels = os.path.join(folder, "labels.npy")
    trace = os.path.join(folder, "trace.csv")
    command = [program, "fit", data, "-k", str(clusters), "-o", os.path.join(folder, "model.npz"),
               "--seed", str(seed), "--threads", "1", "--labels", labels, "--trace", trace, "-v", *more]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(os.path.abspath(program))})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    axes = re.search(r"along\s+(\d+)\s+principal", done.stderr + done.stdout)
    with open(trace, encoding="utf-8") as file:
        steps = sum(1 for _ in file) - 1
    return seconds, steps, axes.group(1) if axes else "", np.load(labels)


def error(x, labels):
    """Squared distances of the rows from the means of what the labels say, without the squares of the rows."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels)
    ends = np.cumsum(counts)
    gained = 0.0
    for end, count in zip(ends, counts):
        if count:
            rows = np.asarray(x[np.sort(order[end - count:end])])
            gained += float((rows.sum(0, dtype=np.float64) ** 2).sum() / count)
    return -gained


def squares(x):
    return sum(float((x[i:i + 8192].astype(np.float64) ** 2).sum()) for i in range(0, len(x), 8192))


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("data", nargs="+")
    ask.add_argument("--before", required=True)
    ask.add_argument("--vem", default=os.path.join(os.path.dirname(__file__), "..", "build", "vem"))
    ask.add_argument("-k", default="1024,4096")
    ask.add_argument("--seeds", default="1,2,3")
    asked = ask.parse_args()
    print("| data | C | seed | axes | steps before, now | seconds before, now | ratio | error "
          "| 3 steps: seconds before, now | error of these |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for data in asked.data:
        x = np.load(data, mmap_mode="r")
        whole = squares(x)
        for clusters in map(int, asked.k.split(",")):
            for seed in map(int, asked.seeds.split(",")):
                found = []
                for more in ((), ("--max-steps", "3")):
                    for program in (asked.before, asked.vem):
                        with tempfile.TemporaryDirectory() as folder:
                            taken, steps, axes, labels = fit(program, data, clusters, seed, more, folder)
                        found.append((taken, steps, axes, whole + error(x, labels)))
                a, b, c, d = found
                print(f"| {os.path.basename(data)} | {clusters} | {seed} | {b[2]} | {a[1]}, {b[1]} "
                      f"| {a[0]:.2f}, {b[0]:.2f} | {b[0] / a[0]:.2f} | {100 * (b[3] / a[3] - 1):+.3f} % "
                      f"| {c[0]:.2f}, {d[0]:.2f} | {100 * (d[3] / c[3] - 1):+.2f} % |", flush=True)


if __name__ == "__main__":
    main()
