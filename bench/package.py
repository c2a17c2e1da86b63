#!/usr/bin/env python3
"""The Python package beside scikit-learn and the command:  bench/package.py [ROWS]

Small fits (1,000 x 8 into 8 clusters) beside scikit-learn in one run, and a fit of a memory-map of
ROWS (1,000,000) x 64 float32 beside the command on the same file: seconds of the clock, of
the CPU and of the system (which gives memory), the highest resident size in MiB (beside it that of
Python before the fit), and what the plan of the fit says: medians of some rounds, and the least.
PYTHONPATH=build/python, VEM=build/vem.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

VEM = os.environ.get("VEM", "build/vem")
ROUNDS = 8
BIG = """
import json, os, re, sys, time, numpy as np, vem
from vem import _arrays, _vem

def highest():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read()).group(1)) / 1024

X = np.load(sys.argv[1], mmap_mode="r")
rows = X if "map" in sys.argv[2] else sys.argv[1]
before, began, work = highest(), time.perf_counter(), os.times()
km = vem.KMeans(64, random_state=1).fit(rows)
seconds, after = time.perf_counter() - began, os.times()
print(json.dumps({"seconds": seconds, "user": after.user - work.user,
                  "system": after.system - work.system,
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
            ("  n_swaps=0", lambda: vem.GaussianMixture(8, n_swaps=0, random_state=0)),
            ("  scikit-learn", lambda: GaussianMixture(8, random_state=0))]
    for name, make in rows:
        times = []
        work = time.process_time()
        for _ in range(25):
            began = time.perf_counter()
            found = make().fit(X)
            times.append(time.perf_counter() - began)
        work = (time.process_time() - work) / len(times)
        worth = getattr(found, "inertia_", None) or found.score(X)
        print(f"{name:28s} {1000 * np.median(times):8.2f} ms {1000 * work:8.2f} of CPU "
              f" {worth:.4f}")


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
        tables = {"package, memory-map": [], "package, path": [], "command": []}
        names = list(tables)
        for i in range(ROUNDS * len(names)):
            # In all orders: pages that were in use lately are had at once, and others late.
            name = names[i % len(names)] if i // len(names) % 2 else names[-1 - i % len(names)]
            tables[name].append(command(path) if name == "command" else package(path, name))
    for name, rows in tables.items():
        print(f"{name:20s}", ", ".join(
            f"{key} {np.median([row[key] for row in rows]):.2f} "
            f"({min(row[key] for row in rows):.2f})" for key in rows[0]))


def package(path, how):
    out = subprocess.run([sys.executable, "-c", BIG, path, how], capture_output=True, text=True,
                         check=True).stdout
    return json.loads(out)


def command(path):
    began = time.perf_counter()
    words = "-k 64 --family iso-shared --held 1 --seed 1 --measure --json -q --tolerance 1e-4"
    process = subprocess.Popen([VEM, "fit", path, *words.split(), "--max-steps", "301"],
                               stdout=subprocess.PIPE, text=True)
    told = json.loads(process.stdout.read())
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return {"seconds": time.perf_counter() - began, "user": used.ru_utime, "system": used.ru_stime,
            "peak": used.ru_maxrss / 1024, "inertia": told["quantization_error"]}


if __name__ == "__main__":
    small()
    big(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
