#!/usr/bin/env python3
"""The tree over rows: time beside sklearn.neighbors.KDTree, and what cuts leave inside cells.

    bench/tree.py [--rows N] [--repeats R] [--quality]

Times are of build/bench/tree (bench/tree.c) and of scikit-learn in turn, the best of each, in
seconds of the processor (one thread) and on the clock. --quality takes the second part alone.

Quality is the scatter inside the cells as a share of that of all rows: what EM on cells cannot
see. Beside our kinds, on a sample of 40,000 rows, are constructions in numpy: the exact axis, a
ball tree (two poles: the row farthest from the mean, and the row farthest from that one), and
anchors (Moore 2000: the row farthest from its anchor becomes the next one; merging them into a
tree changes no cell).
"""

import argparse
import json
import os
import subprocess
import time

import numpy as np
import sklearn
from sklearn.neighbors import KDTree

import common

REAL = ("sipu_birch3", "codrna_331k", "uci_protein", "pendigits", "susy_30k",
        "uci_keggundirected", "pixels")
MADE = (2, 3, 8, 16, 64)
MOST = 40000


def program():
    return os.path.join(os.path.dirname(common.command()), "bench", "tree")


def build(path, shape, dtype, threads, repeats, *trees):
    """What bench/tree prints for each (kind, spread, cells)."""
    words = [str(word) for tree in trees for word in tree]
    name = "float" if dtype == np.float32 else "double"
    line = [program(), path, *map(str, shape), name, str(threads), str(repeats), *words]
    sleeping = dict(os.environ, OMP_WAIT_POLICY="passive")  # as in the command
    printed = subprocess.run(line, capture_output=True, text=True, check=True,
                             env=sleeping).stdout
    return [json.loads(one) for one in printed.splitlines()]


def times(report, options):
    rows = np.random.default_rng(0).normal(size=(options.rows, 3))
    levels = int(np.log2(max(1, (options.rows - 1) / 40))) + 1  # as scikit-learn counts them
    like = 2 ** (levels - 1)
    ours = [("principal", like), ("means", like), ("boxes", like), ("principal", 4096),
            ("means", 4096), ("principal", 0), ("means", 0)]
    best = {}

    def note(key, clock, processor):
        old = best.get(key, (np.inf, np.inf))
        best[key] = (min(old[0], clock), min(old[1], processor))

    with common.scratch() as folder:
        for repeat in range(options.repeats):
            for leaf in (40, 1):
                clock, processor = time.perf_counter(), time.process_time()
                KDTree(rows, leaf_size=leaf)
                note(("KDTree", leaf), time.perf_counter() - clock,
                     time.process_time() - processor)
            for dtype in (np.float64, np.float32):
                path = os.path.join(folder, np.dtype(dtype).name)
                if repeat == 0:
                    rows.astype(dtype).tofile(path)
                for threads in (1, 2):
                    done = build(path, rows.shape, dtype, threads, 1,
                                 *((kind, "full", cells) for kind, cells in ours))
                    for (kind, cells), one in zip(ours, done):
                        note((kind, cells, np.dtype(dtype).name, threads), one["seconds"],
                             one["processor"])
    report.say(f"## Time, {options.rows:,} x 3, normal, spreads full", "",
               f"Best of {options.repeats}, taking turns. Ratios are of seconds of the processor: on a "
               "busy machine the clock says little, with two threads least. KDTree is compared at its "
               f"leaf_size 40 ({like:,} leaves) with trees of as many and of fewer leaves, and at 1 "
               "with trees down to single rows.", "")
    table = []
    for leaf in (40, 1):
        clock, processor = best["KDTree", leaf]
        table.append([f"KDTree, leaf_size {leaf}", "float64", 1, clock, processor, 1.0])
        for (kind, cells, name, threads), (wall, used) in best_of(best):
            if (cells == 0) == (leaf == 1):
                table.append([f"{kind}, {cells:,} leaves" if cells else f"{kind}, all", name,
                              threads, wall, used, used / processor])
    report.table(["tree", "type", "threads", "seconds", "processor", "ratio"], table)


def best_of(best):
    return [(key, value) for key, value in best.items() if key[0] != "KDTree"]


# ---- cells ----


def scatter(x):
    return float(((x - x.mean(0)) ** 2).sum())


def by_axis(x):
    away = x - x.mean(0)
    return away @ np.linalg.eigh(away.T @ away)[1][:, -1] > 0


def by_poles(x):
    a = x[np.argmax(((x - x.mean(0)) ** 2).sum(1))]
    b = x[np.argmax(((x - a) ** 2).sum(1))]
    return ((x - b) ** 2).sum(1) < ((x - a) ** 2).sum(1)


def level_by_level(x, cells, split):
    """Scatter inside a tree that is built as vem_i_tree_build does it."""
    open_cells, closed = [(scatter(x), x)], 0.0
    count = 1
    while open_cells and count < cells:
        largest = sorted(open_cells, key=lambda cell: -cell[0])
        closed += sum(cell[0] for cell in largest[cells - count:])
        open_cells = []
        for inside, part in largest[:cells - count]:
            right = split(part) if inside > 0 else np.zeros(len(part), bool)
            if right.all() or not right.any():
                closed += inside
                continue
            open_cells += [(scatter(part[side]), part[side]) for side in (right, ~right)]
            count += 1
    return closed + sum(cell[0] for cell in open_cells)


def anchors(x, cells):
    distance = ((x - x[0]) ** 2).sum(1)
    label = np.zeros(len(x), int)
    for anchor in range(1, cells):
        new = ((x - x[np.argmax(distance)]) ** 2).sum(1)
        closer = new < distance
        label[closer], distance[closer] = anchor, new[closer]
    counts = np.maximum(np.bincount(label, minlength=cells), 1)
    means = np.stack([np.bincount(label, column, cells) / counts for column in x.T], 1)
    return float(((x - means[label]) ** 2).sum())


def mixture(columns, components=50):
    """100,000 rows of a mixture of full covariances."""
    random = np.random.default_rng(columns)
    means = random.normal(0, 4, (components, columns))
    shapes = random.normal(size=(components, columns, columns)) / np.sqrt(columns)
    z = random.integers(components, size=100000)
    noise = random.normal(size=(len(z), columns))
    rows = np.empty((len(z), columns))
    for c in range(components):
        rows[z == c] = means[c] + noise[z == c] @ shapes[c].T
    return rows


def sets():
    for name in REAL:
        path = common.data(name)
        if path:
            x = np.load(path).astype(float)
            deviation = x.std(0)
            yield name, (x - x.mean(0)) / np.where(deviation > 0, deviation, 1)
    for columns in MADE:
        x = mixture(columns)
        yield f"mixture of 50, D = {columns}", x - x.mean(0)


def quality(report):
    report.say("## Scatter inside the cells", "",
               "As a share of that of all rows (real sets with columns of variance 1). Ours: all rows, "
               "with seconds of the processor; numpy: a sample of "
               f"{MOST:,} rows where there are more, beside ours on the same.", "")
    ours = [(kind, "full", cells) for cells in (256, 4096)
            for kind in ("principal", "means", "boxes")]
    whole, some = [], []
    with common.scratch() as folder:
        for name, x in sets():
            path = os.path.join(folder, "rows")
            x.astype(np.float32).tofile(path)
            done = build(path, x.shape, np.float32, 1, 1, *ours)
            shape = f"{len(x):,} x {x.shape[1]}"
            for first in (0, 3):
                three = done[first:first + 3]
                whole.append([name, shape, ours[first][2]] + [one["inside"] for one in three] +
                             [one["processor"] for one in three])
            sample = x[np.random.default_rng(0).permutation(len(x))[:MOST]]
            sample = np.ascontiguousarray(sample - sample.mean(0))
            sample.astype(np.float32).tofile(path)
            for cells in (64, 1024):
                done = build(path, sample.shape, np.float32, 1, 1,
                             *((kind, "full", cells) for kind in ("principal", "means", "boxes")))
                total = scatter(sample)
                some.append([name, cells] + [one["inside"] for one in done] +
                            [level_by_level(sample, cells, by_axis) / total,
                             level_by_level(sample, cells, by_poles) / total,
                             anchors(sample, cells) / total])
    report.table(["data", "rows", "cells", "principal", "means", "boxes", "principal s", "means s",
                  "boxes s"], whole)
    report.table(["data", "cells", "principal", "means", "boxes", "exact axis", "ball", "anchors"],
                 some)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2000000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quality", action="store_true")
    options = parser.parse_args()
    report = common.Report("The tree over rows")
    report.say(common.versions(np, sklearn), "")
    if not options.quality:
        times(report, options)
    quality(report)
    report.write("tree.md")


if __name__ == "__main__":
    main()
