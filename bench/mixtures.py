#!/usr/bin/env python3
"""EM for Gaussian mixtures beside scikit-learn and, where it is installed, VLFeat.

    bench/mixtures.py [--threads P] [--repeats R] [--steps S] [--rows N]

Generated: 200,000 x 16, 64 clusters, full and diagonal covariances in double precision;
target: one iteration at most 1/5 of scikit-learn's GaussianMixture. Cod-rna: 331,152 x 8, 32
clusters, 20 iterations (T7): diagonal at most 1/5 of scikit-learn's time and no more than
VLFeat's, full at most 1/10. Everyone starts from the same model, and the likelihood after the
same updates is printed. Turns are taken within a repeat; the best repeat of each counts.
"""

import argparse
import json
import os
import shutil
import subprocess

import numpy as np
import sklearn

import common

CODRNA = "codrna_331k"


def start_file(path, rows, clusters, family, seed=1):
    """Means at rows of the data, everyone's covariance that of the columns."""
    random = np.random.default_rng(seed)
    means = np.asarray(rows[np.sort(random.choice(len(rows), clusters, replace=False))], float)
    columns = np.asarray(rows, float).var(0)
    one = np.diag(columns) if family == "full" else columns
    common.write_model(path, means, np.broadcast_to(one, (clusters, *one.shape)))


def build_vlfeat(folder):
    """The path of the VLFeat program, or None where there is no VLFeat or no compiler."""
    compiler = shutil.which("cc")
    source = os.path.join(common.ROOT, "bench", "vlfeat.c")
    program = os.path.join(folder, "vlfeat")
    line = [compiler, "-O2", "-o", program, source, "-lvl"]
    if compiler and subprocess.run(line, capture_output=True, check=False).returncode == 0:
        return program
    return None


def vlfeat(program, folder, rows, start, steps, threads):
    model = np.load(start)
    files = [os.path.join(folder, name) for name in ("rows.f32", "start.f32")]
    np.asarray(rows, np.float32).tofile(files[0])
    np.concatenate([model[name].ravel() for name in ("weights", "means", "variances")]).astype(
        np.float32).tofile(files[1])
    line = [program, files[0], rows.shape[1], files[1], len(model["means"]), steps, threads]
    done = subprocess.run([str(word) for word in line], capture_output=True, text=True,
                          check=True, env=common.threads_environment(threads))
    return json.loads(done.stdout)


def measure(path, start, family, options, program, folder):
    """Best seconds of an iteration and the last likelihood, by program."""
    best, level = {}, {}

    def note(name, seconds, value):
        best[name] = min(seconds, best.get(name, seconds))
        level[name] = value

    rows = np.load(path, mmap_mode="r")
    ours = {precision: common.Iteration(
        path, "--algorithm", "gmm", "--family", family, "--init", start, "--tolerance", 0,
        "--floor", 1e-300, "--precision", precision, "--threads", options.threads,
        steps=options.steps) for precision in ("double", "single")}
    for _ in range(options.repeats):
        for timer in ours.values():
            timer.run()
        done = common.peer(options.threads, "sklearn-gmm", path, start, options.steps + 1,
                           family)
        note("sklearn", done["seconds"], done["log_likelihood"])
        if program and family == "diag":
            done = vlfeat(program, folder, rows, start, options.steps, options.threads)
            note("vlfeat", done["seconds"], done["log_likelihood"])
    for precision, timer in ours.items():
        note(precision, timer.seconds(), timer.last["free_energy"])
    return best, level


def smooth(rows, seed=1):
    """Standardised columns and uniform noise of 1 % of their deviation.

    In some rows three columns repeat three others exactly: a cluster of such rows alone has a
    singular covariance, on which scikit-learn stops unless it adds something to every
    covariance. The noise spares everyone that, so that likelihoods can be compared.
    """
    rows = np.asarray(rows, np.float64)
    rows = (rows - rows.mean(0)) / rows.std(0)
    noise = np.random.default_rng(seed).uniform(-0.01, 0.01, rows.shape)
    return (rows + noise).astype(np.float32)


def sets(options, folder):
    """(name, path, clusters, targets) of what is measured."""
    generated = os.path.join(folder, "generated.npy")
    rows = min(200000, options.rows or 200000)
    common.vem("generate", "separated", "-k", 64, "-n", rows, "-d", 16, "--separation", 0.5,
               "--seed", 1, "-o", generated)
    yield "generated", generated, 64, {"diag": 5, "full": 5}
    path = common.data(CODRNA)
    if path:
        prepared = os.path.join(folder, CODRNA + ".npy")
        np.save(prepared, smooth(np.load(path, mmap_mode="r")[:options.rows]))
        yield "cod-rna", prepared, 32, {"diag": 5, "full": 10}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rows", type=int, help="fewer rows, for a quick look")
    parser.add_argument("--output", default="mixtures.md")
    options = parser.parse_args()
    report = common.Report("One EM iteration for Gaussian mixtures")
    report.say(f"Beside {common.versions(sklearn)} (double precision, without its seeding) and "
               f"VLFeat (single); {options.threads} threads; seconds of one iteration, the mean "
               f"of {options.steps}, best of {options.repeats} repeats.",
               "\"times\": scikit-learn's time to ours in double precision; met: at least the "
               "target. L: log-likelihood per row after the same updates.", "")
    table, levels = [], []
    with common.scratch() as folder:
        program = build_vlfeat(folder)
        for name, path, clusters, targets in sets(options, folder):
            n, d = np.load(path, mmap_mode="r").shape
            for family, target in targets.items():
                start = os.path.join(folder, f"start-{family}.npz")
                start_file(start, np.load(path, mmap_mode="r"), clusters, family)
                best, level = measure(path, start, family, options, program, folder)
                title = f"{name} {n:,} x {d}, C = {clusters}, {family}"
                times = best["sklearn"] / best["double"]
                table.append([title, best["double"], best["single"], best["sklearn"],
                              best.get("vlfeat"), times, target,
                              "yes" if times >= target else "NO",
                              best["sklearn"] / best["single"],
                              best["vlfeat"] / best["single"] if "vlfeat" in best else None])
                off = abs(level["double"] / level["sklearn"] - 1)
                levels.append([title, f"{level['double']:.9f}", f"{level['single']:.6f}",
                               f"{level['sklearn']:.9f}", f"{off:.1e}",
                               f"{level['vlfeat']:.6f}" if "vlfeat" in level else None])
    report.table(["data", "vem double s", "vem single s", "sklearn s", "VLFeat s", "times",
                  "target", "met", "times, single", "VLFeat to single"], table)
    report.table(["data", "L vem double", "L vem single", "L sklearn", "relative difference",
                  "L VLFeat"], levels)
    report.say("Cod-rna: columns standardised, with uniform noise of 1 % of their deviation, "
               "because clusters of rows that repeat columns would be singular.")
    report.say("VLFeat leaves posteriors below 0.01 out of its M-step and may stop early, so "
               "its likelihood and time are its own." if program else
               "VLFeat is not installed (libvlfeat-dev). On another host of this kind it took "
               "2.5 s for 20 diagonal iterations on cod-rna.")
    report.write(options.output)


if __name__ == "__main__":
    main()
