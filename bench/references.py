#!/usr/bin/env python3
"""Errors of FAISS that the targets are measured against, computed once and kept.

    bench/references.py [--vem PATH] [--threads P] [--seeds S...] [--jobs J] [--only WORD]

They are in results/references.json, which is committed: the exact quantisation error (the sum
over all rows, in double precision) of FAISS's means after 25 iterations, for each data set,
number of clusters and seed. "full" trains on all rows, "default" on at most 256 a center.
Errors do not depend on the machine or its load, so this may run beside other work, at low
priority; what is there already is kept. The targets compute by themselves what they miss.
"""

import argparse
import concurrent.futures
import json
import os
import threading

import common

PATH = os.path.join(common.ROOT, "bench", "results", "references.json")
LOCK = threading.Lock()
POINTS = {"full": 0, "default": 256}
ITERATIONS = 25
# What T12 looks at: data that no default was tuned on.
UNTUNED = {"pendigits": [50, 250], "usps": [50, 250], "codrna_331k": [32, 256, 2048],
           "mnist": [256, 1024], "mixture": [500, 2000], "patches": [256, 1024]}


def load():
    if not os.path.exists(PATH):
        return {}
    with open(PATH, encoding="utf-8") as file:
        return json.load(file)


def keep(name, value):
    """Adds one reference, in the order of the names."""
    with LOCK:
        known = load()
        known[name] = value
        with open(PATH + ".part", "w", encoding="utf-8") as file:
            json.dump(known, file, indent=0, sort_keys=True)
            file.write("\n")
        os.replace(PATH + ".part", PATH)


def key(data, clusters, kind, seed):
    return f"{data} C={clusters} faiss {kind} {ITERATIONS} iterations seed {seed}"


def error(data, clusters, kind, seed, threads, path=None, kept=True):
    """The error of one reference, computed when it is not kept yet; None without the data.

    path: rows other than those of the data's name, whose error must not be kept.
    """
    name = key(data, clusters, kind, seed)
    if kept and name in load():
        return load()[name]
    path = path or common.data(data)
    if not path:
        return None
    with common.scratch() as folder:
        means = os.path.join(folder, "means.npy")
        common.peer_fit(threads, "faiss", path, clusters, seed, means, ITERATIONS, POINTS[kind])
        value = common.exact_error(path, folder, means, threads)
    if kept:
        keep(name, value)
    return value


def wanted(seeds):
    """Everything the targets ask for, the dear ones of no other target last."""
    names = [("glove100", 4096, "full", seed) for seed in seeds]
    sets = [(data, clusters, "default", seed) for data, list_ in UNTUNED.items()
            for clusters in list_ for seed in seeds]
    return names + sets


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    common.arguments(parser)
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    parser.add_argument("--only", default="", help="those whose name holds this word")
    options = common.settle(parser)
    todo = [w for w in wanted(options.seeds) if options.only in key(*w)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(error, *w, options.threads): w for w in todo}
        for job in concurrent.futures.as_completed(jobs):
            print(f"{key(*jobs[job])}: {job.result()}", flush=True)


if __name__ == "__main__":
    main()
