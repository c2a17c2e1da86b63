#!/usr/bin/env python3
"""The Python package beside scikit-learn and the command:  bench/package.py [ROWS]

Small fits (1,000 x 8 into 8 clusters) beside scikit-learn in one run, and a fit of a memory-map of
ROWS (1,000,000) x 64 float32 beside the command on the same file: seconds of the clock and of the
CPU, the highest resident size in MiB, and what the plan of the fit says. PYTHONPATH=build/python, VEM=build/vem.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

VEM = os.environ.get("VEM", "build/vem")
BIG = """
import json, os, re, sys, time, numpy as np, vem
from vem import _arrays, _vem

def highest():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read()).group(1)) / 1024

X = np.load(sys.argv[1], mmap_mode="r")
before, began, work = highest(), time.perf_counter(), os.times().user
km = vem.KMeans(64, random_state=1).fit(X)
print(json.dumps({"seconds": time.perf_counter() - began, "of CPU": os.times().user - work,
                  "before": before, "peak": highest(), "data": X.nbytes / 2**20,
                  "plan": _vem.forecast(_arrays.borrow(X), km.report_["options"])["bytes"] / 2**20,
                  "inertia": km.inertia_}))
"""


def small():
    import vem
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture

    rng = np.random.RandomState(0)
    X = rng.normal(size=(8, 8))[rng.randint(8, size=1000)] * 3 + rng.normal(size=(1000, 8))
    rows = [("KMeans", lambda: vem.KMeans(8, random_state=0)),
            ("  scikit-learn, n_init=1", lambda: KMeans(8, n_init=1, random_state=0)),
            ("  scikit-learn, n_init=10", lambda: KMeans(8, n_init=10, random_state=0)),
            ("GaussianMixture", lambda: vem.GaussianMixture(8, random_state=0)),
            ("  scikit-learn", lambda: GaussianMixture(8, random_state=0))]
    for name, make in rows:
        times = []
        for _ in range(15):
            began = time.perf_counter()
            found = make().fit(X)
            times.append(time.perf_counter() - began)
        worth = getattr(found, "inertia_", None) or found.score(X)
        print(f"{name:28s} {1000 * np.median(times):8.2f} ms   {worth:.4f}")


def big(n):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.npy")
        X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, 64))
        rng = np.random.RandomState(0)
        centers = rng.normal(size=(64, 64)) * 2
        for first in range(0, n, 65536):
            last = min(first + 65536, n)
            X[first:last] = (centers[rng.randint(64, size=last - first)]
                             + rng.normal(size=(last - first, 64)))
        X.flush()
        del X
        for _ in range(2):
            out = subprocess.run([sys.executable, "-c", BIG, path], capture_output=True, text=True,
                                 check=True).stdout
            found = json.loads(out)
            print("package", {k: round(v, 3) for k, v in found.items()})
            began, before = time.perf_counter(), os.times().children_user
            out = subprocess.run([VEM, "fit", path, "-k", "64", "--family", "iso-shared", "--held",
                                  "1", "--seed", "1", "--measure", "--json", "-q",
                                  "--tolerance", "1e-4", "--max-steps", "301"],
                                 capture_output=True, text=True, check=True).stdout
            told = json.loads(out)
            print("command", round(time.perf_counter() - began, 3), "s,",
                  round(os.times().children_user - before, 3), "of CPU;",
                  {k: round(v, 3) for k, v in told["seconds"].items()},
                  "peak", round(told["peak_bytes"] / 2**20), "MiB, inertia",
                  told["quantization_error"])


if __name__ == "__main__":
    small()
    big(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
