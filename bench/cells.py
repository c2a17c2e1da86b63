#!/usr/bin/env python3
"""EM on cells beside exact EM and scikit-learn's, from the same k-means model.

    bench/cells.py [--rows N ...] [--clusters C ...] [--seeds S ...] [--peer] [--peer-rows N] [--before VEM]
                   [--steps N] [--output FILE] [--no-pixels]

Data: the colours of a photograph (pixels, 4,096,000 x 3) where bench/data.py has made them, and a
generated mixture in the plane (100 components, --rows rows). Full covariances. For each seed k-means on a
sample gives one model, and everyone starts from that: `--algorithm gmm` (exact EM), `--algorithm kd-em`,
and with --peer scikit-learn's GaussianMixture for 3 of its iterations, of which 60 would take 20 times as
long (on the first --peer-rows of the rows, where all would not fit into memory: as many times longer as there
are more of them). Each seed has a line on the terminal. Likelihoods are of all rows. Seconds are of the processor, with all threads: on a busy machine those
of the clock say nothing. Targets: kd-em takes at most 1/4 of the time of gmm, tree included, and 1/50 of
60 iterations of scikit-learn; its likelihood is lower by at most 0.01 a row, in the median over the seeds.
--steps N is for where exact EM to its end takes too long: gmm makes N steps, from the start and from what kd-em found. Told are
kd-em's time in steps of gmm (it makes 60 to 300 of them), and what N exact steps gain on kd-em's model.
--before names the command of another build, and then nothing is compared but its default with ours (a table of
its own): at most 0.35 of its time, the mean likelihood not lower by more than 0.01.
"""

import argparse
import os
import resource
import statistics
import tempfile
import time

import numpy as np

import common


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(*arguments):
    """(what vem says, seconds of the processor)"""
    before = used()
    told = common.vem(*arguments)
    return told, used() - before


def space(folder, rows):
    """The same in three columns."""
    return plane(folder, rows, 3)


def plane(folder, rows, columns=2):
    path = os.path.join(folder, f"plane-{rows}-{columns}.npy")
    random = np.random.default_rng(5)
    centers = random.normal(0, 10, (100, columns))
    shapes = random.normal(0, 0.8, (100, columns, columns))
    out = np.lib.format.open_memmap(path, "w+", np.float32, (rows, columns))
    for begin in range(0, rows, 1000000):
        end = min(rows, begin + 1000000)
        label = random.integers(100, size=end - begin)
        noise = random.normal(size=(end - begin, columns))
        out[begin:end] = centers[label] + np.einsum("nij,nj->ni", shapes[label], noise)
    return path


def peer(path, model, most, iterations=3):
    """Seconds of the processor of one iteration of scikit-learn from the same means."""
    from sklearn.mixture import GaussianMixture  # pylint: disable=import-outside-toplevel
    all_rows = np.load(path, mmap_mode="r")
    rows = np.array(all_rows[:most])
    start = np.load(model)
    mixture = GaussianMixture(len(start["means"]), means_init=start["means"], tol=0,
                              max_iter=iterations, init_params="random_from_data")
    began = time.process_time()
    mixture.fit(rows)
    many = time.process_time() - began
    mixture.max_iter = 1
    began = time.process_time()
    mixture.fit(rows)
    each = (many - (time.process_time() - began)) / (iterations - 1)
    return each * len(all_rows) / len(rows)


def compare(folder, name, path, clusters, options):
    rows, columns = np.load(path, mmap_mode="r").shape
    lines = []
    for seed in options.seeds:
        start = os.path.join(folder, "start.npz")
        common.vem("fit", path, "-k", clusters, "--coreset", 65536, "--seed", seed, "--threads",
                   options.threads, "-o", start)
        both = {}
        for algorithm in ("gmm", "kd-em"):
            model = os.path.join(folder, algorithm + ".npz")
            told, seconds = run("fit", path, "--algorithm", algorithm, "--init", start,
                                "--threads", options.threads, "-o", model)
            likelihood = common.vem("score", model, path, "--threads",
                                    options.threads)["log_likelihood"]
            both[algorithm] = (seconds, likelihood, told)
        lines.append(both)
        print(f"  {name} {rows:,} C {clusters} seed {seed}:",
              *(f"{a} {b[0]:.2f} s, {b[1]:.4f}, {b[2]['steps']} steps" for a, b in both.items()),
              f"lower by {both['gmm'][1] - both['kd-em'][1]:.4f}", flush=True)
    exact = statistics.median(both["gmm"][0] for both in lines)
    cells = statistics.median(both["kd-em"][0] for both in lines)
    lower = statistics.median(both["gmm"][1] - both["kd-em"][1] for both in lines)
    told = [both["kd-em"][2] for both in lines]
    line = [name, f"{rows:,} x {columns}", clusters, f"{exact:.2f}", f"{cells:.2f}",
            f"{cells / exact:.3f}", f"{lower:.4f}",
            f"{statistics.median(t['cells'] for t in told):.0f}",
            f"{statistics.median(t['gap'] for t in told):.4f}",
            "yes" if cells <= exact / 4 and lower <= 0.01 else "NO"]
    if options.peer:
        each = peer(path, os.path.join(folder, "start.npz"), options.peer_rows)
        line += [f"{60 * each:.0f}", f"{cells / (60 * each):.4f}"]
    print(*line, flush=True)
    return line


def steps(folder, name, path, clusters, options):
    """kd-em beside some steps of exact EM, from the same start and from its own end."""
    rows, columns = np.load(path, mmap_mode="r").shape
    lines = []
    start, ours, more, one = (os.path.join(folder, f) for f in ("start.npz", "cells.npz", "more.npz",
                                                                "one.npz"))
    threads = ["--threads", options.threads]

    def exact(init, count, out):
        """(F of the model that entered the last step, seconds of all of them)"""
        told, seconds = run("fit", path, "--algorithm", "gmm", "--init", init, "--max-steps", count,
                            "--tolerance", 0, *threads, "-o", out)
        return told["free_energy"], seconds

    for seed in options.seeds:
        common.vem("fit", path, "-k", clusters, "--coreset", 65536, "--seed", seed, *threads, "-o", start)
        told, seconds = run("fit", path, "--algorithm", "kd-em", "--init", start, *threads, "-o", ours)
        here, once = exact(ours, 1, one)
        gained, many = exact(ours, options.steps + 1, more)
        from_start, _ = exact(start, options.steps + 1, more)
        each = (many - once) / options.steps
        lines.append((seconds, each, seconds / each, gained - here, here - from_start, told["gap"]))
        print(f"  {name} {rows:,} C {clusters} seed {seed}: kd-em {seconds:.2f} s, a step of gmm {each:.3f} s, "
              f"gained by more {gained - here:.5f}, ahead of as many from the start {here - from_start:.5f}",
              flush=True)
    middle = [statistics.median(values) for values in zip(*lines)]
    line = [name, f"{rows:,} x {columns}", clusters, f"{middle[0]:.2f}", f"{middle[1]:.3f}", f"{middle[2]:.1f}",
            f"{middle[3]:.4f}", f"{middle[4]:+.4f}", f"{middle[5]:.4f}"]
    if options.peer:
        each = peer(path, start, options.peer_rows)
        line += [f"{60 * each:.0f}", f"{middle[0] / (60 * each):.4f}"]
    print(*line, flush=True)
    return line


def defaults(folder, name, path, clusters, options):
    """The default of the build before and ours: seconds of the processor, likelihood of all rows."""
    rows, columns = np.load(path, mmap_mode="r").shape
    ours, model = common.command(), os.path.join(folder, "model.npz")
    seconds, likelihoods, cells = {}, {}, 0
    for who in (options.before, ours):
        os.environ["VEM"] = who
        for seed in options.seeds:
            told, took = run("fit", path, "-k", clusters, "--family", "full", "--seed", seed,
                             "--threads", options.threads, "-o", model)
            cells = told.get("cells", 0)
            seconds.setdefault(who, []).append(took)
            likelihoods.setdefault(who, []).append(
                common.vem("score", model, path)["log_likelihood"])
    before, now = (statistics.mean(seconds[who]) for who in (options.before, ours))
    lower = statistics.mean(likelihoods[options.before]) - statistics.mean(likelihoods[ours])
    line = [name, f"{rows:,} x {columns}", clusters, cells, f"{before:.2f}", f"{now:.2f}",
            f"{now / before:.2f}", f"{statistics.mean(likelihoods[options.before]):.4f}",
            f"{statistics.mean(likelihoods[ours]):.4f}", f"{lower:+.4f}",
            "yes" if now <= 0.35 * before and lower <= 0.01 else "NO"]
    print(*line, flush=True)
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    common.arguments(parser, seeds=(1, 2, 3, 4, 5))
    parser.add_argument("--no-pixels", action="store_true")
    parser.add_argument("--rows", nargs="*", type=int, default=[1000000, 4000000, 10000000])
    parser.add_argument("--clusters", nargs="+", type=int, default=[12, 64])
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--peer-rows", type=int, metavar="N")
    parser.add_argument("--before", metavar="VEM")
    parser.add_argument("--steps", type=int, metavar="N")
    parser.add_argument("--output", metavar="FILE")
    options = common.settle(parser)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        sets = [] if options.no_pixels else [("pixels", common.data("pixels"))]
        sets += [("plane", plane(folder, rows)) for rows in options.rows]
        if options.before:
            sets += [("space", space(folder, rows)) for rows in options.rows]
        for name, path in sets:
            for clusters in options.clusters:
                if path:
                    way = defaults if options.before else steps if options.steps else compare
                    lines.append(way(folder, name, path, clusters, options))
    header = ["data", "rows", "C", "gmm s", "kd-em s", "ratio", "likelihood lower by", "cells",
              "gap", "within 1/4 and 0.01"]
    if options.before:
        header = ["data", "rows", "C", "cells", "before s", "now s", "ratio", "likelihood before",
                  "now", "lower by", "within 0.35 and 0.01"]
    elif options.steps:
        header = ["data", "rows", "C", "kd-em s", "a step of gmm, s", "kd-em in steps of gmm",
                  f"{options.steps} exact steps gain", f"kd-em ahead of {options.steps} steps", "gap"]
    if options.peer and not options.before:
        header += ["scikit-learn, 60 iterations, s", "ratio"]
    report = common.Report("EM on cells")
    report.say(f"Seeds {' '.join(map(str, options.seeds))}; medians over them; seconds of the "
               "processor, tree included; full covariances; all from the same k-means model.", "")
    report.table(header, lines)
    if options.output:
        report.write(options.output)


if __name__ == "__main__":
    main()
