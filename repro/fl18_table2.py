#!/usr/bin/env python3
"""FL18 Table 2, BIRCH rows: distance evaluations saved per iteration, and the error paid.

    repro/fl18_table2.py [--runs 5] [--try-init-steps 0 2 4]

BIRCH grids of 2025 and 4096 clusters with 100 points each, 200 iterations at most, AFK-MC2
seeding. The speedup is N C over the mean number of distances of an iteration (the initial
E-steps are iterations too); the error is relative to k-means from the same kind of seeding.

The paper makes "a couple" of initial E-steps, chosen by the error. Here they are made until
fewer than 5 % of the rows change what they hold, which looks at no error; other numbers of them
are tried on the smaller grid. The paper's chain of AFK-MC2 is not printed; its code has 200.
"""

import argparse
import csv
import os
import sys

import numpy as np

import fl18
from fl18 import PER_CLUSTER, common

STEPS = 200
# Speedup and error in percent as printed, for 2025 and for 4096 clusters.
PAPER = {
    "var-k-means-S, 2+1": {2025: (675, -2.8), 4096: (1365, -3.7)},
    "var-k-means-S, 5+1": {2025: (338, -4.3), 4096: (683, -4.0)},
    "var-GMM-S, 2+1": {2025: (458, -4.6), 4096: (927, -4.4)},
    "var-GMM-S, 5+1": {2025: (143, -9.1), 4096: (287, -11.7)},
}
SPEEDUP_WITHIN, ERROR_WITHIN = 0.15, 1.5
KEYS = ["clusters", "line", "chain", "init_steps", "seed"]
VALUES = ["error", "pairs", "steps"]


class Runs:
    """Fits, each made once and kept in a file, so that an interrupted run can go on."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if os.path.exists(path):
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    key = tuple(row[k] for k in KEYS)
                    self.known[key] = [float(row[v]) for v in VALUES]

    def fit(self, clusters, line, chain, init_steps, seed):
        key = tuple(map(str, (clusters, line, chain, init_steps, seed)))
        if key not in self.known:
            done = fl18.fit(clusters, line, chain, seed, "--init-steps", init_steps,
                            "--max-steps", STEPS, "--measure")
            self.known[key] = [done["quantization_error"], done["scored_pairs"],
                               done["steps"] + done["init_steps"]]
            self.write()
            print(*key, *self.known[key], file=sys.stderr, flush=True)
        return self.known[key]

    def write(self):
        with open(self.path + ".part", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(KEYS + VALUES)
            writer.writerows([*key, *value] for key, value in sorted(self.known.items()))
        os.replace(self.path + ".part", self.path)

    def mean(self, clusters, line, chain, init_steps, seeds):
        """Error and its standard error, speedup per iteration, iterations."""
        runs = np.array([self.fit(clusters, line, chain, init_steps, seed)
                         for seed in range(1, seeds + 1)])
        error, pairs, steps = runs.T
        noise = error.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        return (error.mean(), noise, PER_CLUSTER * clusters**2 / (pairs / steps).mean(),
                steps.mean())


def compare(report, runs, clusters, chain, init_steps, seeds):
    """One table; the number of lines that are as printed, and of all. init_steps None: by
    the rule."""
    reference, noise, _, steps = runs.mean(clusters, "k-means", chain, 0, seeds)
    report.say(f"k-means: error {reference:,.0f} (standard error {100 * noise / reference:.1f} "
               f"%), {steps:.0f} iterations.", "")
    rows, good = [], 0
    for line, printed in PAPER.items():
        initial = (fl18.initial_steps(clusters, line, chain) if init_steps is None
                   else init_steps)
        error, spread, speedup, steps = runs.mean(clusters, line, chain, initial, seeds)
        paper_speedup, paper_error = printed[clusters]
        percent = 100 * (error / reference - 1)
        # Of the difference: both are means of so many runs.
        spread = 100 * np.hypot(spread, noise) / reference
        near = abs(speedup / paper_speedup - 1) <= SPEEDUP_WITHIN
        well = percent <= paper_error + ERROR_WITHIN
        good += near and well
        rows.append([line, f"{speedup:.0f}", paper_speedup, "yes" if near else "NO",
                     f"{percent:+.1f} %", f"{spread:.1f}", f"{paper_error:+.1f} %",
                     "yes" if well else "NO", initial, f"{steps:.0f}"])
    report.table(["", "speedup", "paper", "within 15 %", "error", "standard error", "paper",
                  "not worse by 1.5 points", "initial", "iterations"], rows)
    return good, len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=5, help="seeds of each fit")
    parser.add_argument("--chain", type=int, default=200, help="of AFK-MC2")
    parser.add_argument("--try-init-steps", type=int, nargs="*", default=[0, 2, 4],
                        help="other numbers of initial E-steps, on the smaller grid")
    parser.add_argument("--try-runs", type=int, default=2, help="seeds of those")
    parser.add_argument("--resume", action="store_true", help="use the fits made before")
    options = parser.parse_args()
    os.makedirs(fl18.OUT, exist_ok=True)
    path = os.path.join(fl18.OUT, "fl18_table2.csv")
    if os.path.exists(path) and not options.resume:
        os.remove(path)
    runs = Runs(path)
    report = common.Report("FL18 Table 2: BIRCH grids, neighborhoods learned from the data",
                           fl18.RESULTS)
    report.say(f"Mean of {options.runs} runs of at most {STEPS} iterations; AFK-MC2 with a chain "
               f"of {options.chain}; initial E-steps until fewer than {100 * fl18.SETTLED:.0f} % "
               "of the rows change what they hold.",
               "Speedup: distances of a k-means iteration over those of a mean iteration. Error: "
               "quantisation error relative to that of k-means; the standard error is in points.",
               "")
    good = total = 0
    for clusters in (2025, 4096):
        report.say(f"## {clusters} clusters, {PER_CLUSTER * clusters:,} points", "")
        found, of = compare(report, runs, clusters, options.chain, None, options.runs)
        good, total = good + found, total + of
    report.say(f"{good} of {total} lines have the printed speedup within 15 % and an error not "
               "worse than printed by more than 1.5 points.", "")
    for init_steps in options.try_init_steps:
        report.say(f"## 2025 clusters, {init_steps} initial E-steps, {options.try_runs} runs", "")
        compare(report, runs, 2025, options.chain, init_steps, options.try_runs)
    fl18.clean()
    report.write("fl18_table2.md")


if __name__ == "__main__":
    main()
