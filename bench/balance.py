#!/usr/bin/env python3
"""Even clusters as the lists of an index: vem fit --balance beside plain fits and FAISS's default training.

usage: balance.py NAME=ROWS.npy ... [--clusters 1024] [--seeds 1,2] [--how none,soft,auto,2,1.25] [--no-faiss] [--threads 2]

2,000 rows of each set are kept out as queries. Each line: processor time of the fit beside that of the plain one
(of the same seed, in turn), squared error to the nearest mean, CV of the sizes and largest over mean (by the labels of the fit, and by
prediction, which goes by prices), p99 of the rows scanned over their mean at 1 %, and recall@10 at 0.5, 1, 2, 5 % of the rows
scanned, by `vem score --index`.
VEM is the path of the command.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile

import numpy as np

VEM = os.environ.get("VEM", "build/vem")


def vem(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([VEM, *map(str, words), "--json", "-q"], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(out.splitlines()[-1]), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(name, how, seed, ratio, told, index, error):
    recall = " | ".join("%.3f" % (b["recall"] or float("nan")) for b in index["budgets"])
    one = index["budgets"][1]
    print("| %s | %s | %s | %s | %.5g | %s | %.2f, %.2f | %.2f | %s |" % (
        name, how, seed, ratio, error,
        "%.2f, %.2f" % (told["cv"], told["largest"]) if told else "",
        index["size_cv"], index["size_largest"] / index["size_mean"],
        one["scanned_p99"] / one["scanned"], recall), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--clusters", type=int, default=1024)
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--how", default="none,soft,auto,2,1.25,1")
    parser.add_argument("--no-faiss", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    print("| set | how | seed | time | error | CV, largest of labels | of lists | p99 | 0.5 % | 1 % | 2 % | 5 % |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        rows, queries, model = (os.path.join(folder, f) for f in ("x.npy", "q.npy", "m.npz"))
        for item in args.sets:
            name, path = item.split("=", 1)
            x = np.load(path).astype(np.float32)
            order = np.random.RandomState(0).permutation(len(x))
            np.save(queries, x[order[:2000]])
            np.save(rows, x[order[2000:]])
            score = lambda: vem("score", model, rows, "--index", queries, "--threads", args.threads)[0]
            error = lambda: vem("score", model, rows, "--threads", args.threads)[0]["quantization_error"]
            for seed in args.seeds.split(","):
                plain = None
                for how in args.how.split(","):
                    told, seconds = vem("fit", rows, "-k", args.clusters, "--balance", how, "--seed", seed, "-o", model,
                                        "--threads", args.threads)
                    plain = plain or seconds
                    line(name, how, seed, "%.2f" % (seconds / plain), told, score(), error())
            if args.no_faiss:
                continue
            import faiss
            faiss.omp_set_num_threads(args.threads)
            for seed in args.seeds.split(","):
                centers = faiss.IndexFlatL2(x.shape[1])
                index = faiss.IndexIVFFlat(centers, x.shape[1], args.clusters)  # its default: 10 iterations
                index.cp.seed = int(seed)
                index.train(x[order[2000:]])
                np.savez(model, means=centers.reconstruct_n(0, args.clusters).astype(float),
                         weights=np.full(args.clusters, 1 / args.clusters), variances=np.ones(1))
                line(name, "FAISS", seed, "", None, score(), error())


if __name__ == "__main__":
    main()
