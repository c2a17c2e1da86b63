#!/usr/bin/env python3
"""KW Fig. 2, the panel of conga lines: costs that are computed against N, beside brute force.

    repro/kw_conga.py [--rows 200 400 800 1600 3200] [--seeds 3] [--brute 1600]

Agglomerative Bayesian clustering (`vem tree --method bayes`) of `tau-separated` rows, D = 2, tau = 3, K = 10. The
ticks of the paper's axis read "08163264" in the text that we have, probably 0.8, 1.6, 3.2 and 6.4 thousand. A cost is one evaluation
of Delta(a, b).

- **brute force**: all pairs before every merge, counted up to --brute rows; beyond, (N^3 - N) / 6, which it is
- **a matrix**: all costs kept, N^2 numbers; one for each pair that ever lives: (N - 1)^2
- **conga lines**: `--pairs conga`;  **fastpair**: `--pairs fastpair`, both with O(N) numbers

The trees are the same, which is checked.
"""

import argparse
import os
import sys

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import common  # noqa: E402

RESULTS = os.path.join(ROOT, "repro", "results")
COLORS = {"brute force": "#ee6677", "conga lines": "#4477aa", "fastpair": "#228833", "a matrix": "#888888"}


def count(folder, rows, seed, brute):
    """Costs and seconds of each way, on the rows of a seed."""
    data, found, first = os.path.join(folder, "x.npy"), {}, None
    common.vem("generate", "tau-separated", "-n", rows, "-k", 10, "-d", 2, "--separation", 3, "--seed",
               seed, "-o", data)
    for pairs, name in (("fastpair", "fastpair"), ("conga", "conga lines"), ("brute", "brute force")):
        if pairs == "brute" and rows > brute:
            found[name] = ((rows ** 3 - rows) // 6, np.nan)
            continue
        tree = os.path.join(folder, "t.npz")
        done = common.vem("tree", data, "--pairs", pairs, "--threads", 1, "-o", tree)
        found[name] = (done["distances"], done["seconds"]["merge"])
        merges = np.load(tree)["linkage"][:, :2]
        first = merges if first is None else first
        if not np.array_equal(merges, first):
            sys.exit(f"{pairs} built another tree of {rows} rows, seed {seed}.")
        if pairs == "brute" and done["distances"] != (rows ** 3 - rows) // 6:
            sys.exit("brute force does not count what it should.")
    found["a matrix"] = ((rows - 1) ** 2, np.nan)
    return found


def draw(path, rows, costs):
    plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False, "svg.hashsalt": "vem"})
    figure, axes = plt.subplots(figsize=(5, 3.4), layout="constrained")
    for name, color in COLORS.items():
        axes.plot(rows, [costs[n][name][0] for n in rows], color=color, marker="o", markersize=3,
                  label=name, linestyle=":" if name == "a matrix" else "-")
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="costs computed")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[200, 400, 800, 1600, 3200])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--brute", type=int, default=1600, help="rows up to which brute force runs")
    options = parser.parse_args()
    names = ("brute force", "conga lines", "fastpair", "a matrix")
    costs = {}
    with common.scratch() as folder:
        for rows in options.rows:
            runs = [count(folder, rows, seed + 1, options.brute) for seed in range(options.seeds)]
            costs[rows] = {name: np.mean([run[name] for run in runs], 0) for name in names}
    lines = ["| rows | " + " | ".join(names) + " | brute / conga | conga / fastpair |",
             "|---|" + "---|" * 6]
    for rows, found in costs.items():
        values = [found[name][0] for name in names]
        lines.append(f"| {rows:,} | " + " | ".join(f"{value:,.0f}" for value in values)
                     + f" | {values[0] / values[1]:.1f} | {values[1] / values[2]:.1f} |")
    seconds = ", ".join(f"{name} {costs[max(costs)][name][1]:.2f}" for name in names[1:3])
    text = "\n".join(["# KW Fig. 2: conga lines", "",
                      f"Costs computed, mean of {options.seeds} data sets. D = 2, tau = 3, K = 10.", "",
                      *lines, "", f"Seconds of {max(costs):,} rows, one thread: {seconds}.", ""])
    print(text)
    with open(os.path.join(RESULTS, "kw_conga.md"), "w", encoding="utf-8") as file:
        file.write(text)
    draw(os.path.join(RESULTS, "kw_conga.svg"), options.rows, costs)


if __name__ == "__main__":
    main()
