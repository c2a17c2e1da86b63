#!/usr/bin/env python3
"""Fits of embeddings: this build beside an earlier one, in one run, in turns.

    bench/embeddings.py --before PATH [--vem PATH] [-k C[,C...]] [--seeds S[,S...]] [--threads T] DATA.npy...

PATH is a vem of another commit, beside the libvem.so it was built with. For each set, number of
clusters and seed both fit with their defaults. A table in Markdown: seconds of seeding and
loops together and of seeding alone, steps, free energy, and what the difference from the earlier
one is as a share of the squared error (D / 2 of free energy is one).
"""

import argparse
import json
import os
import subprocess
import tempfile

import numpy as np


def fit(program, data, clusters, seed, threads, folder):
    place = os.path.dirname(os.path.abspath(program))
    command = [program, "fit", data, "-k", str(clusters), "-o", os.path.join(folder, "model.npz"),
               "--seed", str(seed), "--threads", str(threads), "--json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          env={**os.environ, "LD_LIBRARY_PATH": place})
    return json.loads(done.stdout)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("data", nargs="+")
    ask.add_argument("--before", required=True)
    ask.add_argument("--vem", default=os.path.join(os.path.dirname(__file__), "..", "build", "vem"))
    ask.add_argument("-k", default="1024,4096")
    ask.add_argument("--seeds", default="1,2")
    ask.add_argument("--threads", type=int, default=2)
    asked = ask.parse_args()
    print("| data | C | seed | | seconds | seeding | steps | F | error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for data in asked.data:
        columns = np.load(data, mmap_mode="r").shape[1]
        for clusters in map(int, asked.k.split(",")):
            for seed in map(int, asked.seeds.split(",")):
                first = None
                for name, program in (("before", asked.before), ("now", asked.vem)):
                    with tempfile.TemporaryDirectory() as folder:
                        r = fit(program, data, clusters, seed, asked.threads, folder)
                    first = first or r
                    print(row(os.path.basename(data), clusters, seed, name, r, first, columns))


def row(data, clusters, seed, name, r, first, columns):
    seconds = r["seconds"]
    taken = seconds["seed"] + seconds["em"]
    error = 100 * 2 / columns * (first["free_energy"] - r["free_energy"])
    return (f"| {data} | {clusters} | {seed} | {name} | {taken:.2f} | {seconds['seed']:.2f} "
            f"| {r['steps']} | {r['free_energy']:.4f} | {error:+.3f} % |")


if __name__ == "__main__":
    main()
