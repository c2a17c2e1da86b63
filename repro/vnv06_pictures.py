"""The pictures of the reproduction of VNV06."""

import matplotlib
import numpy as np

from vnv06_fits import MOORE

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

plt.rcParams.update({"svg.fonttype": "none", "font.size": 8, "axes.spines.top": False,
                     "axes.spines.right": False, "svg.hashsalt": "vem"})
COLORS = ("#222222", "#bbbbbb", "#4477aa", "#228833", "#ee6677")
NODES = 127  # of a whole tree of depth 6


def picture(path, walked, fast):
    figure, panels = plt.subplots(2, len(walked), figsize=(2.6 * len(walked), 4.8),
                                  layout="constrained", squeeze=False)
    for (axis, lines), top, low in zip(walked, *panels):
        x = [line.at(axis) for line in lines]
        for method, color in zip(fast, COLORS[2:]):
            for key, dash in (("operations", "-"), ("em", ":")):
                top.plot(x, [line.speedup(method, key) for line in lines], dash, marker="o",
                         markersize=3, color=color,
                         label=f"{method}, {'time' if key == 'em' else key}")
        top.axhline(1, color="#999999", linewidth=0.6)
        top.set(yscale="log", xlabel=axis.words, ylabel="speedup")
        if axis.name != "c":
            top.set_xscale("log")
        top.set_xticks(x, [f"{value:g}" for value in x])
        top.set_xticks([], minor=True)
        place, shown = np.arange(len(lines)), ("truth", lines[0].slow, *fast)
        width = 0.8 / len(shown)
        for i, (method, color) in enumerate(zip(shown, COLORS)):
            low.bar(place + width * (i - (len(shown) - 1) / 2),
                    [line.likelihoods(method).mean() for line in lines], width, color=color,
                    label=method)
        low.set_xticks(place, [f"{value:g}" for value in x])
        low.set(xlabel=axis.words, ylabel="negative test log-likelihood")
    shown = [panel.get_legend_handles_labels() for panel in panels[:, 0]]
    figure.legend(*(sum(part, []) for part in zip(*shown)), loc="lower center", frameon=False,
                  bbox_to_anchor=(0.5, 1), ncol=min(6, 2 * len(walked)))
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def expanded(one, method):
    """Nodes divided up to each step: by very fast EM in every step again, else once."""
    divided = np.array(one[method]["along"]) - 1
    return np.cumsum(divided) if method == MOORE else divided


def picture_4(path, line):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    for method, color in zip(line.fast, COLORS[2:]):
        for i, one in enumerate(line.found):
            steps = np.arange(1, len(one[method]["along"]) + 1)
            nodes = 2 * np.array(one[method]["along"]) - 1
            left.plot(steps, 100 * nodes / NODES, color=color, linewidth=0.6)
            right.plot(steps, 100 * expanded(one, method) / NODES, color=color, linewidth=0.6,
                       label=None if i else method)
    left.set(xlabel="step", ylabel="expanded, % of the tree")
    right.set(xlabel="step", ylabel="expansions up to it, % of the tree", yscale="log")
    right.legend(frameon=False, fontsize=6)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
