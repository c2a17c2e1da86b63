#!/usr/bin/env python3
"""--metric cosine beside k-means of normalised rows whose means are put on the sphere afterwards.

    bench/cosine.py NAME=ROWS.npy ... [-k 256,1024] [--seeds 1,2,3] [--vem build/vem]

prints a table: mean cosine loss (1 - cosine of a row and its mean) of both, worked out here in double
precision from the means in the model files, processor time (user and system, one thread) and scored pairs
of both.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile

import numpy as np


def loss(rows, means, block=8192):
    means = means / np.linalg.norm(means, axis=1, keepdims=True)
    total = 0.0
    for i in range(0, len(rows), block):
        x = np.asarray(rows[i : i + block], dtype=np.float64)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        total += (1 - (x @ means.T).max(axis=1)).sum()
    return total / len(rows)


def fit(vem, path, folder, k, seed, options):
    model = os.path.join(folder, "m.npz")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = subprocess.run([vem, "fit", path, "-k", str(k), "--seed", str(seed), "--threads", "1",
                           "-q", "--json", "-o", model, *options], check=True,
                          capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with np.load(model) as found:
        means = found["means"].copy()
    pairs = json.loads(told.splitlines()[-1])["scored_pairs"]
    return means, pairs, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sets", nargs="+")
    parser.add_argument("-k", default="256,1024")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--vem", default="build/vem")
    asked = parser.parse_args()
    print("| set | C | seed | loss, cosine | loss, l2 then projected | ratio | pairs, cosine / l2 | "
          "time, cosine / l2 |")
    print("|---|---|---|---|---|---|---|---|")
    for word in asked.sets:
        name, path = word.split("=", 1)
        rows = np.load(path, mmap_mode="r")
        for k in map(int, asked.k.split(",")):
            for seed in map(int, asked.seeds.split(",")):
                with tempfile.TemporaryDirectory() as folder:
                    ours, pairs, time = fit(asked.vem, path, folder, k, seed, ["--metric", "cosine"])
                    other, others, plain = fit(asked.vem, path, folder, k, seed, ["--normalize"])
                a, b = loss(rows, ours), loss(rows, other)
                print(f"| {name} | {k:,} | {seed} | {a:.6f} | {b:.6f} | {a / b:.5f} | "
                      f"{pairs / others:.2f} | {time / plain:.2f} ({time:.1f} s) |", flush=True)


if __name__ == "__main__":
    main()
