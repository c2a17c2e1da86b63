#!/usr/bin/env python3
"""Lists of an inverted file: centres by `vem fit` beside FAISS's own training of the same index, in one run.

    bench/ivf.py DATA.npy [-k 16384] [--seeds 1,2] [--how none,auto] [--queries 2000] [--vem PATH] [--threads 1]

The last rows are the queries, which are in no list; the others are trained on and listed. FAISS: the training of an IndexIVFFlat
as it is by default (10 iterations, at most 256 rows for each list). The centres of either become those of an IndexIVFFlat, which
lists the rows and looks for the 10 nearest of each query in the nearest `nprobe` lists. Seconds are of the processor. Recall at
a share of the rows scanned lies on the line between the two next numbers of lists. FAISS needs a fast BLAS (libopenblas0)."""

import argparse
import json
import os
import resource
import subprocess
import tempfile

import faiss
import numpy as np

PROBES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SHARES = (0.001, 0.002, 0.005, 0.01, 0.02)


def spent(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def by_vem(args, rows, how, seed, folder):
    model = os.path.join(folder, "m.npz")
    more = [] if how == "none" else ["--balance", how]
    before = spent(resource.RUSAGE_CHILDREN)
    out = subprocess.run([args.vem, "fit", rows, "-k", str(args.clusters), "-o", model, "--seed", str(seed), "--threads",
                          str(args.threads), "--json", "-q", *more], check=True, stdout=subprocess.PIPE).stdout
    seconds = spent(resource.RUSAGE_CHILDREN) - before
    return np.load(model)["means"].astype(np.float32), seconds, json.loads(out)["steps"]


def by_faiss(args, x, seed):
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(x.shape[1]), x.shape[1], args.clusters)
    index.cp.seed = seed
    before = spent()
    index.train(x)
    return index.quantizer.reconstruct_n(0, args.clusters), spent() - before


def measure(centres, x, queries, true):
    """Error a row, CV of the lists, and (nprobe, share of the rows scanned, recall@10) of each number of lists."""
    quantizer = faiss.IndexFlatL2(x.shape[1])
    quantizer.add(centres)
    index = faiss.IndexIVFFlat(quantizer, x.shape[1], len(centres))
    index.add(x)
    error = float(np.mean(quantizer.search(x, 1)[0], dtype=np.float64))
    sizes = np.array([index.invlists.list_size(c) for c in range(len(centres))])
    curve = []
    for probes in PROBES:
        index.nprobe = probes
        faiss.cvar.indexIVF_stats.reset()
        found = index.search(queries, 10)[1]
        scanned = faiss.cvar.indexIVF_stats.ndis / len(queries) / len(x)
        recall = np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, true)]) / 10
        curve.append((probes, scanned, recall))
    return error, sizes.std() / sizes.mean(), curve


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("-k", "--clusters", type=int, default=16384)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--how", default="none,auto")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--vem", default=os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "vem"))
    args = parser.parse_args()
    faiss.omp_set_num_threads(args.threads)
    whole = np.load(args.data, mmap_mode="r")
    x = np.ascontiguousarray(whole[:-args.queries], np.float32)
    queries = np.ascontiguousarray(whole[-args.queries:], np.float32)
    exact = faiss.IndexFlatL2(x.shape[1])
    exact.add(x)
    true = exact.search(queries, 10)[1]
    print(f"{len(x):,} x {x.shape[1]}, {args.clusters:,} lists, {args.queries:,} queries, {args.threads} thread(s)\n")
    print("| who | seed | seconds | error a row | CV | recall at nprobe " + " | ".join(map(str, PROBES)) + " | at a share scanned of "
          + " | ".join(f"{100 * s:g} %" for s in SHARES) + " |")
    print("|---" * (5 + len(PROBES) + len(SHARES)) + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = os.path.join(folder, "x.npy")
        np.save(rows, x)
        for seed in map(int, args.seeds.split(",")):
            made = [(f"vem, balance {how}", *by_vem(args, rows, how, seed, folder)[:2]) for how in args.how.split(",")]
            made.append(("FAISS", *by_faiss(args, x, seed)))
            for who, centres, seconds in made:
                error, spread, curve = measure(centres, x, queries, true)
                at = np.interp(SHARES, [c[1] for c in curve], [c[2] for c in curve], left=np.nan)
                print(f"| {who} | {seed} | {seconds:.1f} | {error:.6g} | {spread:.2f} | " + " | ".join(f"{c[2]:.3f}" for c in curve) + " | "
                      + " | ".join(f"{r:.3f}" for r in at) + " |", flush=True)


if __name__ == "__main__":
    main()
