#!/usr/bin/env python3
"""FL18 Fig. 3: iterations until k-means' converged error is passed, against C.

    repro/fl18_fig3.py [--clusters 100 225 400 900 2025 4096] [--runs 3]

BIRCH grids with 100 points per cluster, AFK-MC2 seeding. The goal is the mean error of
converged k-means over the seeds; counted is the first iteration at which the mean error of an
algorithm over the same seeds is no larger, initial E-steps included. k-means itself is counted
until it is within 0.1 % of the goal. An error is that of the means after so many iterations,
by the exact nearest one: the fit is repeated with other --max-steps, from the same seed.

Initial E-steps are made until fewer than 5 % of the rows change what they hold, as the first
seed's trace tells; that looks at no error.
"""

import argparse
import os
import sys

import matplotlib
import numpy as np

import fl18
from fl18 import ALGORITHMS, PER_CLUSTER, common

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

CHAIN = 200
# Initial E-steps are made until fewer than this share of the rows changes what it holds. They
# are counted, so there are fewer than where only the error matters (fl18_table2.py).
SETTLED = 0.05
MOST = 400
# A grid of few clusters varies more from seed to seed, and costs less: so many clusters in all.
CLUSTERS_IN_ALL = 1200
COLORS = ["#888888", "#4477aa", "#66ccee", "#ee6677", "#aa3377"]


def error_of(clusters, algorithm, seed, *more):
    done = fl18.fit(fl18.data_of(clusters), clusters, algorithm, CHAIN, seed, "--measure", *more)
    return done["quantization_error"]


class Curve:
    """Mean error over the seeds after t updates of the model, each measured once."""

    def __init__(self, clusters, algorithm, seeds, initial):
        self.arguments, self.seeds, self.initial = (clusters, algorithm), seeds, initial
        self.known = {}

    def at(self, updates):
        if updates not in self.known:
            more = ["--max-steps", updates + 1, "--init-steps", self.initial]
            self.known[updates] = np.mean([error_of(*self.arguments, seed, *more)
                                           for seed in range(1, self.seeds + 1)])
        return self.known[updates]

    def passes(self, goal, guess):
        """Fewest updates with an error of at most the goal, or None; errors fall."""
        low, high = 0, max(2, guess)
        while self.at(high) > goal:
            if high >= MOST:
                return None
            low, high = high, min(MOST, max(high + 2, int(high * 1.4)))
        while high - low > max(1, high // 20):
            middle = (low + high) // 2
            # Errors fall about geometrically, so the logarithms tell where to look.
            if low in self.known:
                a, b = np.log(self.known[low] / goal), np.log(self.known[high] / goal)
                middle = int(low + (high - low) * a / (a - b)) if a > b else middle
            middle = min(max(middle, low + 1), high - 1)
            low, high = (low, middle) if self.at(middle) <= goal else (middle, high)
        return high


def slope(clusters, counts):
    """Exponent of the growth with C and its standard error."""
    known = [(c, n) for c, n in zip(clusters, counts) if n]
    if len(known) < 3:
        return None
    x, y = np.log(np.array(known, float)).T
    (exponent, _), covariance = np.polyfit(x, y, 1, cov=True)
    return exponent, np.sqrt(covariance[0, 0])


def draw(path, clusters, counts):
    plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False, "svg.hashsalt": "vem"})
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for (algorithm, found), color in zip(counts.items(), COLORS):
        values = [n if n else np.nan for n in found]
        axes.plot(clusters, values, color=color, marker="o", markersize=3, label=algorithm,
                  linestyle="--" if algorithm == "k-means" else "-")
    low = min(n for found in counts.values() for n in found if n)
    axes.plot(clusters, low * np.array(clusters) / clusters[0], color="black", linewidth=0.6,
              linestyle=":", label="linear")
    axes.set(xscale="log", yscale="log", xlabel="clusters C", ylabel="iterations",
             ylim=(low / 1.5, MOST), title="until k-means' converged error is passed")
    axes.set_xticks(clusters, labels=clusters)
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def write(clusters, rows, counts):
    """Table and picture of what is known so far."""
    os.makedirs(fl18.RESULTS, exist_ok=True)
    draw(os.path.join(fl18.RESULTS, "fl18_fig3.svg"), clusters, counts)
    report = common.Report("FL18 Fig. 3: iterations until k-means' converged error is passed",
                           fl18.RESULTS)
    report.say(f"Mean of the runs on BIRCH grids with {PER_CLUSTER} points per cluster; "
               f"AFK-MC2 with a chain of {CHAIN}. In brackets: initial E-steps, until fewer than "
               f"{100 * SETTLED:.0f} % of the rows change what they hold; they are counted. "
               "k-means: until within 0.1 % of its own converged error. Found to 5 %. "
               "Picture: fl18_fig3.svg.", "")
    report.table(["clusters", "runs", "error of k-means", *ALGORITHMS], rows)
    table = []
    for algorithm, found in counts.items():
        fitted = slope(clusters, found)
        table.append([algorithm, *(["", ""] if fitted is None else
                                   [f"{fitted[0]:.2f}", f"{fitted[1]:.2f}"])])
    report.say("Growth with C, iterations ~ C^e:", "")
    report.table(["", "e", "standard error"], table)
    report.write("fl18_fig3.md")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--clusters", type=int, nargs="+", help="square numbers",
                        default=[100, 225, 400, 900, 2025, 4096])
    parser.add_argument("--runs", type=int, default=3,
                        help="seeds of each fit, at least; more for few clusters")
    options = parser.parse_args()
    counts = {algorithm: [] for algorithm in ALGORITHMS}
    rows = []
    guess = dict.fromkeys(ALGORITHMS, 8)
    for clusters in options.clusters:
        runs = max(options.runs, CLUSTERS_IN_ALL // clusters)
        goal = np.mean([error_of(clusters, "k-means", seed) for seed in range(1, runs + 1)])
        row = [clusters, runs, f"{goal:,.0f}"]
        for algorithm in ALGORITHMS:
            own = algorithm == "k-means"
            initial = fl18.initial_steps(fl18.data_of(clusters), clusters, algorithm, CHAIN,
                                         SETTLED)
            curve = Curve(clusters, algorithm, runs, initial)
            found = curve.passes(goal * 1.001 if own else goal, guess[algorithm])
            counts[algorithm].append(found + initial if found else None)
            guess[algorithm] = found or guess[algorithm]
            row.append(f"more than {MOST}" if not found else f"{found}" if own else
                       f"{found + initial} ({initial})")
        rows.append(row)
        print(*row, file=sys.stderr, flush=True)
        write(options.clusters[:len(rows)], rows, counts)
    fl18.clean()


if __name__ == "__main__":
    main()
