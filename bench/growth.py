#!/usr/bin/env python3
"""How the cost of one iteration grows with rows N, clusters C and columns D.

    bench/growth.py [--threads P] [--repeats R] [--steps S]

One size is varied at a time; the exponent is the slope of log time against log size, fitted by
least squares over the sizes shown. Theory: 1 in everything, 2 in D for full covariances. The
data are standard normal: an exact search costs the same on any data. Exponents below 1 at
small sizes are overheads and short loops that fill vectors badly.
"""

import argparse
import os

import numpy as np

import common

BASE = {"N": 65536, "C": 128, "D": 32}
SIZES = {
    "kmeans": {"N": [32768, 65536, 131072, 262144], "C": [64, 256, 1024, 4096],
               "D": [8, 16, 32, 64, 128]},
    "diag": {"N": [16384, 32768, 65536, 131072], "C": [32, 64, 128, 256],
             "D": [8, 16, 32, 64]},
    "full": {"N": [16384, 32768, 65536], "C": [16, 32, 64, 128], "D": [8, 16, 32, 64]},
}


def arguments(kind):
    if kind == "kmeans":
        return ["--algorithm", "kmeans"]
    return ["--algorithm", "gmm", "--family", kind]


def measure(folder, kind, size, options):
    """Best seconds of an iteration at one size."""
    random = np.random.default_rng(0)
    path, start = os.path.join(folder, "rows.npy"), os.path.join(folder, "start.npz")
    rows = random.standard_normal((size["N"], size["D"]), dtype=np.float32)
    np.save(path, rows)
    one = {"kmeans": [1.0], "diag": np.ones((size["C"], size["D"])),
           "full": np.broadcast_to(np.eye(size["D"]), (size["C"], size["D"], size["D"]))}[kind]
    common.write_model(start, rows[: size["C"]], one)
    ours = common.Iteration(path, *arguments(kind), "--init", start, "--tolerance", 0,
                            "--threads", options.threads, steps=options.steps)
    for _ in range(options.repeats):
        ours.run()
    return ours.seconds()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--output", default="growth.md")
    options = parser.parse_args()
    report = common.Report("Growth of one iteration with N, C and D")
    report.say(f"Single precision, {options.threads} threads, milliseconds, best of "
               f"{options.repeats} repeats of {options.steps}. What is not varied is "
               + ", ".join(f"{k} = {v:,}" for k, v in BASE.items()) + ".", "")
    table = []
    with common.scratch() as folder:
        for kind, varied in SIZES.items():
            for letter, sizes in varied.items():
                seconds = [measure(folder, kind, {**BASE, letter: size}, options)
                           for size in sizes]
                slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
                shown = [f"{s:,}: {1e3 * t:.3g}" for s, t in zip(sizes, seconds)]
                table.append([kind if kind == "kmeans" else f"gmm {kind}", letter,
                              ", ".join(shown), f"{slope:.2f}"])
    report.table(["algorithm", "varied", "size: milliseconds", "exponent"], table)
    report.write(options.output)


if __name__ == "__main__":
    main()
