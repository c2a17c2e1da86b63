#!/usr/bin/env python3
"""Families of counts beside EM written down in numpy: time of an iteration, and the likelihood
after the same steps from the same start, which must be equal to 1e-9.

    bench/counts.py [--vem PATH] [--threads P] [--digits FILE.npy] [--clusters K ...] [--steps S]
    bench/counts.py --memory VALUES [--forms csr-u1 csr-f4 csc-u1 coo-u1 mtx] [--folder DIR]

Digits (rows of pixels; MNIST or USPS) become bits: pixels above the middle of their range. Words
are those of package descriptions (apt-cache dumpavail): a row a package, a column one of the most
frequent words; once as a dense table, once sparse with all words, beside scipy.sparse. What is not
there is said and left out. How fast numpy multiplies matrices is told first: with a plain BLAS that is
slow, and says more of the BLAS than of numpy. An iteration is the time in the loop of
1 + S steps less that of 1 step, over S; numpy's is the mean of S steps after the first. Both take
the best of three turns.

--memory makes files of so many values other than 0 (100 in a row, up to 90,000 columns) as they are
written without compression, fits 4 clusters to each in 3 steps, and tells the peak of the process (resident,
as the kernel counts it) beside the size of the file.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLOOR, LEAST, TURNS = 1e-6, 1e-12, 3


def digits(path):
    import numpy as np
    for name in [path] if path else ["mnist.npy", "usps.npy"]:
        file = name if path else os.path.join(os.environ.get("VEM_DATA", "data"), name)
        if os.path.exists(file):
            x = np.load(file, mmap_mode="r")
            return os.path.basename(file), (x > (float(x.min()) + float(x.max())) / 2).astype("u1")
    print("no digits: neither mnist.npy nor usps.npy in data/ (or $VEM_DATA), nor --digits")
    return None, None


def words(packages, vocabulary, sparse=False):
    import numpy as np
    try:
        text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True).stdout
    except OSError:
        text = ""
    texts = [re.findall(r"[a-z]{3,}", m.lower())
             for m in re.findall(r"^Description[^:]*: ((?:.*\n)(?: .*\n)*)", text, re.M)]
    texts = [t for t in texts if len(t) >= 5][:packages]
    if len(texts) < 1000:
        print("no words: apt-cache dumpavail tells of fewer than 1000 packages")
        return None
    count = collections.Counter(w for t in texts for w in set(t))
    column = {w: j for j, (w, _) in enumerate(count.most_common(vocabulary))}
    if sparse:
        import scipy.sparse
        entries = [(i, column[w], times) for i, t in enumerate(texts)
                   for w, times in collections.Counter(w for w in t if w in column).items()]
        i, j, times = np.array(entries).T
        return scipy.sparse.csr_matrix((times.astype(float), (i, j)),
                                       shape=(len(texts), len(column)))
    x = np.zeros((len(texts), len(column)), "u1")
    for i, t in enumerate(texts):
        for w, times in collections.Counter(w for w in t if w in column).items():
            x[i, column[w]] = min(times, 255)
    return x


class Reference:
    def __init__(self, family, x):
        import numpy as np
        from math import lgamma
        self.np, self.family, self.x = np, family, x.astype(float)
        self.all = np.asarray(self.x.mean(0)).ravel()
        totals = np.asarray(self.x.sum(1)).ravel().astype(int)
        table = np.array([lgamma(k + 1) for k in range(totals.max() + 1)])
        counts = (x if isinstance(x, np.ndarray) else x.data).astype(int)
        self.base = 0.0
        if family != "bernoulli":
            self.base = -table[counts].sum() / x.shape[0]
        if family == "multinomial":
            self.base += table[totals].mean()

    def limit(self, means):
        np = self.np
        if self.family == "bernoulli":
            return np.clip(means, np.maximum(FLOOR * self.all, LEAST),
                           1 - np.maximum(FLOOR * (1 - self.all), LEAST))
        least = np.maximum(FLOOR * self.all / self.all.sum(), LEAST)
        fixed = np.zeros(means.shape, bool)
        while True:
            rest = 1 - (fixed * least).sum(1)
            scaled = means * (rest / np.where(fixed, 0, means).sum(1))[:, None]
            more = ~fixed & (scaled <= least)
            if not more.any():
                return np.where(fixed, least, scaled)
            fixed |= more

    def step(self, means, weights):
        """(likelihood, next means, next weights)"""
        np, x = self.np, self.x
        if self.family == "bernoulli":
            no = np.log1p(-means)
            joint = x @ (np.log(means) - no).T + (no.sum(1) + np.log(weights))
        else:
            joint = x @ np.log(means).T + np.log(weights)
        top = joint.max(1, keepdims=True)
        joint -= top
        np.exp(joint, out=joint)
        total = joint.sum(1, keepdims=True)
        found = float((top + np.log(total)).mean()) + self.base
        joint /= total
        mass = joint.sum(0)
        return found, self.limit((x.T @ joint).T / mass[:, None]), mass / mass.sum()


def vem(args, family, data, start, steps, precision):
    done = subprocess.run([args.vem, "fit", data, "--family", family, "--init", start, "--max-steps",
                           str(steps), "--tolerance", "0", "--empty", "keep", "--search", "all",
                           "--precision", precision, "--threads", str(args.threads), "-o",
                           os.devnull, "--json", "-q"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    told = json.loads(done.stdout)
    return told["seconds"]["em"], told["free_energy"]


def compare(args, name, family, x, clusters, folder):
    import numpy as np
    reference = Reference(family, x)
    rng = np.random.default_rng(1)
    chosen = x[np.sort(rng.choice(x.shape[0], clusters, replace=False))]
    sparse = not isinstance(x, np.ndarray)
    means = ((chosen.toarray() if sparse else chosen) + reference.all) / 2
    if family == "multinomial":
        means /= means.sum(1, keepdims=True)
    means, weights = reference.limit(means), np.full(clusters, 1 / clusters)
    data = os.path.join(folder, "x.npz" if sparse else "x.npy")
    start = os.path.join(folder, "start.npz")
    if sparse:
        import scipy.sparse
        scipy.sparse.save_npz(data, x)
    else:
        np.save(data, x)
    np.savez(start, means=means, weights=weights, meta=np.frombuffer(
        json.dumps({"family": family, "prior": "free"}).encode(), "u1"))
    best = dict.fromkeys(("numpy", "double", "single"), float("inf"))
    for _ in range(TURNS):
        m, w = means, weights
        for step in range(1 + args.steps):
            if step == 1:
                clock = time.perf_counter()
            found, m, w = reference.step(m, w)
        best["numpy"] = min(best["numpy"], (time.perf_counter() - clock) / args.steps)
        for precision in ("double", "single"):
            one, _ = vem(args, family, data, start, 1, precision)
            all_, told = vem(args, family, data, start, 1 + args.steps, precision)
            best[precision] = min(best[precision], (all_ - one) / args.steps)
            if precision == "double":
                error = abs(told - found) / max(1, abs(found))
    print(f"| {name} | {x.shape[0]:,} x {x.shape[1]:,} | {family} | {clusters} | {best['numpy']:.3f} | "
          f"{best['double']:.3f} | {best['numpy'] / best['double']:.2f} | {best['single']:.3f} | "
          f"{best['numpy'] / best['single']:.2f} | {found:.4f} | {error:.1e} |", flush=True)
    return error <= 1e-9


EACH, COLUMNS = 100, 90_000


def write_mtx(path, rows, columns, values):
    with open(path, "w") as file:
        file.write("%%MatrixMarket matrix coordinate integer general\n"
                   f"{rows[-1] + 1} {COLUMNS} {len(values)}\n")
        for a in range(0, len(values), 1 << 20):
            part = slice(a, a + (1 << 20))
            file.write("".join(map("%d %d %d\n".__mod__,
                                   zip((rows[part] + 1).tolist(), (columns[part] + 1).tolist(),
                                       values[part].tolist()))))


def write_form(path, form, n):
    """A file of n rows; values are those of a geometric law."""
    import numpy as np
    rng = np.random.default_rng(1)
    columns = np.empty((n, EACH), np.int32)
    for a in range(0, n, 50_000):
        part = columns[a:a + 50_000]
        part[:] = np.cumsum(rng.integers(1, COLUMNS // EACH + 1, size=part.shape), axis=1) - 1
    columns = columns.ravel()
    values = rng.geometric(.6, size=n * EACH).astype(np.uint8)
    rows = np.repeat(np.arange(n, dtype=np.int32), EACH)
    if form == "mtx":
        return write_mtx(path, rows, columns, values)
    layout, dtype = form.split("-")
    more = {"row": rows, "col": columns}
    if layout == "csr":
        more = {"indptr": np.arange(n + 1, dtype=np.int64) * EACH, "indices": columns}
    elif layout == "csc":
        order = np.argsort(columns, kind="stable")
        starts = np.searchsorted(columns[order], np.arange(COLUMNS + 1))
        more = {"indptr": starts.astype(np.int64), "indices": rows[order]}
        values = values[order]
    np.savez(path, format=np.array(layout.encode()), shape=np.array([n, COLUMNS]),
             data=values.astype(dtype), **more)


def measure_memory(args):
    print("| file | values | size, MB | peak, MB | peak / size | reading, s | 3 steps, s |\n"
          "|---|---|---|---|---|---|---|")
    most = 0
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for form in args.forms:
            path = os.path.join(folder, "x.mtx" if form == "mtx" else "x.npz")
            n = args.memory // EACH
            # In a process of its own: what numpy takes is given back.
            child = os.fork()
            if child == 0:
                write_form(path, form, n)
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                sys.exit(f"{form} could not be made")
            done = subprocess.run([args.vem, "fit", path, "-k", "4", "--family", "multinomial",
                                   "--max-steps", "3", "--threads", str(args.threads), "--json", "-q"],
                                  capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            told, size = json.loads(done.stdout), os.path.getsize(path)
            peak = told["peak_bytes"]
            most = max(most, peak / size)
            print(f"| {form} | {n * EACH:,} | {size / 1e6:.0f} | {peak / 1e6:.0f} | {peak / size:.2f} | "
                  f"{told['seconds']['read']:.1f} | {told['seconds']['em']:.1f} |", flush=True)
            os.remove(path)
    sys.exit(0 if most <= 2 else "a fit took more than twice the size of its file")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vem", default=os.path.join(TOP, "build", "vem"))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--digits")
    parser.add_argument("--clusters", type=int, nargs="+", default=[10, 30, 100])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--packages", type=int, default=20000)
    parser.add_argument("--words", type=int, default=2000)
    parser.add_argument("--memory", type=int)
    parser.add_argument("--forms", nargs="+",
                        default=["csr-u1", "csr-f4", "csc-u1", "coo-u1", "mtx"])
    parser.add_argument("--folder")
    args = parser.parse_args()
    if args.memory:
        measure_memory(args)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(args.threads)  # before numpy is loaded
    import numpy as np
    square = np.ones((1000, 1000))
    clock = time.perf_counter()
    square @ square
    print(f"numpy multiplies at {2 / (time.perf_counter() - clock):.1f} Gflop/s here, "
          f"{args.threads} threads\n")
    print("| rows | size | family | C | numpy, s | vem double, s | ratio | vem single, s | ratio | "
          "log-likelihood | difference |\n|---|---|---|---|---|---|---|---|---|---|---|")
    equal = True
    with tempfile.TemporaryDirectory() as folder:
        name, bits = digits(args.digits)
        for clusters in args.clusters if bits is not None else []:
            equal &= compare(args, name, "bernoulli", bits, clusters, folder)
        counts = words(args.packages, args.words)
        for clusters in args.clusters if counts is not None else []:
            equal &= compare(args, "package words", "multinomial", counts, clusters, folder)
        counts = words(10 ** 9, 10 ** 9, sparse=True)
        for clusters in args.clusters if counts is not None else []:
            equal &= compare(args, f"all words, sparse, {counts.nnz:,} values", "multinomial", counts,
                             clusters, folder)
    sys.exit(0 if equal else "likelihoods differ by more than 1e-9")


if __name__ == "__main__":
    main()
