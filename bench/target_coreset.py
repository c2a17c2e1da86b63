"""T8: vc-GMM on a coreset of word vectors. T9: coresets at the speed of reading.

T8 is the paper's algorithm as the preset has it, with the coreset of 65,536 rows and the 4,096
clusters that the authors' own program was measured with: 8.6 s where an iteration of FAISS took
6.3 s, error 1.110 of FAISS after 25 iterations, and with 16,384 clusters 1,427 of them empty.
Clusters that are nearest to no row at all are counted here. Two lines are judged: the preset,
which is the paper's algorithm step for step, and what we offer for the same purpose, a soft fit
(three clusters held) of the same coreset by shared lists and swaps; the target is met when that
one meets it. The preset with a hard finish and our hard defaults stand beside them.
"""

import os
import statistics
import subprocess
import sys

import numpy as np

import common
import references
import target_fits as fits

CLUSTERS, SIZE = 4096, 65536
F_LIMIT, ERROR_LIMIT = 0.35, 1.110
JUDGED, OURS = ("--held 3", "vc-gmm"), "--held 3"
LINES = {"--held 3": ["--held", 3], "vc-gmm": ["--algorithm", "vc-gmm"],
         "hard finish": ["--algorithm", "vc-gmm", "--finish", "hard"], "defaults": []}


def empty(setting, path, clusters, model):
    """Clusters that no row is nearest to."""
    labels = os.path.join(setting.folder, "labels.npy")
    common.vem("predict", model, path, "-o", labels, "--threads", setting.threads)
    return clusters - len(np.unique(np.load(labels)))


def run(setting):
    clusters, path = setting.clusters(CLUSTERS), setting.data(fits.GLOVE)
    if not path:
        return None
    size = SIZE // fits.QUICK["divide"] if setting.options.quick else SIZE
    model = os.path.join(setting.folder, "model.npz")
    runs, f = {line: [] for line in LINES}, []
    for turn, seed in enumerate(setting.seeds):
        for line, options in LINES.items():
            repeats = [fits.fit(setting, path, clusters, seed, *options, "--coreset", size,
                                "-o", model) for _ in range(setting.options.repeats)]
            runs[line].append(fits.best(repeats))
            runs[line][-1]["empty"] = empty(setting, path, clusters, model)
        if turn < 3:
            f.append(fits.iteration(setting, path, clusters, seed))
    judged = [references.error(fits.GLOVE, clusters, "full", seed, setting.threads, path=path,
                               kept=not setting.options.quick) for seed in setting.seeds]
    table, met = [], False
    for line, some in runs.items():
        time = [r["seconds"] / min(f) for r in some]
        error = [r["error"] / j for r, j in zip(some, judged)]
        for i, r in enumerate(some):
            spent = r["json"]["seconds"]
            table.append([line, setting.seeds[i], r["seconds"], spent["reduce"], spent["seed"],
                          spent["em"], min(f), time[i], f"{error[i]:.4f}", r["json"]["steps"],
                          r["empty"], None])
        good = statistics.median(time) <= F_LIMIT and statistics.mean(error) < ERROR_LIMIT
        met = good if line == OURS else met
        table.append([line, "all", *[None] * 5, statistics.median(time),
                      f"{statistics.mean(error):.4f}", None, max(r["empty"] for r in some),
                      ("yes" if good else "NO") if line in JUDGED else None])
    table.append(["target", *[None] * 6, F_LIMIT, f"< {ERROR_LIMIT:.3f}", *[None] * 3])
    setting.report.say(f"Coreset of {size:,} rows. Error ratio: on all rows, to FAISS after 25 "
                       "iterations on all rows from the same seed (references.json). Empty: "
                       "clusters that no row is nearest to.", "")
    setting.report.table(["", "seed", "vem s", "coreset", "seeding", "EM", "f s", "vem/f",
                          "error ratio", "steps", "empty", "met"], table)
    return met


def reading(setting):
    """T9 is bench/coreset.py's last table."""
    line = [sys.executable, os.path.join(common.ROOT, "bench", "coreset.py")]
    if setting.options.quick:
        line += ["--megabytes", "20", "--repeats", "1", "--output",
                 os.path.join(setting.folder, "coreset.md")]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return False
    last = done.stdout.split("## All of them")[-1].strip().splitlines()
    setting.report.say(*last, "")
    rows = [text for text in last if text.startswith("|")]
    columns = [i for i, cell in enumerate(rows[0].split("|")) if "met" in cell]
    return all(text.split("|")[i].strip() == "yes" for text in rows[2:] for i in columns)
