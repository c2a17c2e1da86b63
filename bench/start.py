#!/usr/bin/env python3
"""What a sensible start saves the neighborhood searches.

    bench/start.py [--vem PATH] [--threads P] [--seeds S...] [--clusters C...]

var-gmm-s (C' = G = 5) on GloVe, twice: from random held clusters and random neighbors, as in the
paper, and from what two-level seeding knows (assignments) and coarse buckets of the means tell
(neighbors). Counted: E-steps, and distances of seeding and E-steps together, until F reaches
what the random start has after 30 steps.
"""

import argparse
import csv
import os

import common

STEPS = 30
PAPER = ["--algorithm", "var-gmm-s"]
OURS = ["--search", "estimated", "--held", 5, "--reach", 5, "--explore", 0, "--family",
        "iso-shared", "--prior", "flat", "--seeding", "two-level"]


def course(options, path, clusters, seed, arguments, folder):
    """F and the distances so far, step by step; those of the seeding come first."""
    trace = os.path.join(folder, "trace.csv")
    fit = common.vem("fit", path, "-k", clusters, "--seed", seed, "--max-steps", STEPS,
                     "--tolerance", 0, "--threads", options.threads, "--trace", trace, "-o",
                     os.path.join(folder, "model.npz"), *arguments)
    total, lines = fit["seed_pairs"], []
    with open(trace, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            total += int(line["pairs"])
            lines.append((float(line["free_energy"]), total))
    return lines


def compare(options, path, clusters, seed, folder):
    paper = course(options, path, clusters, seed, PAPER, folder)
    ours = course(options, path, clusters, seed, OURS, folder)
    goal, distances = paper[-1]
    at = next((t for t, line in enumerate(ours) if line[0] >= goal), None)
    reached = ["more", ""] if at is None else [at + 1, f"{ours[at][1]:.3g}"]
    return [clusters, seed, f"{goal:.3f}", STEPS, reached[0], f"{distances:.3g}", reached[1],
            f"{ours[-1][0]:.3f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    common.arguments(parser)
    parser.add_argument("--clusters", nargs="+", type=int, default=[4096, 16384])
    options = common.settle(parser)
    path = common.data("glove100")
    report = common.Report("A sensible start for the neighborhood searches")
    report.say("var-gmm-s, C' = G = 5, GloVe. Steps and distances (seeding included) until F is "
               f"what the random start of the paper reaches in {STEPS} steps.", "")
    with common.scratch() as folder:
        rows = [compare(options, path, clusters, seed, folder)
                for clusters in options.clusters for seed in options.seeds]
    report.table(["C", "seed", "F to reach", "steps, random", "steps, ours",
                  "distances, random", "distances, ours", f"F, ours after {STEPS}"], rows)
    report.write("start.md")


if __name__ == "__main__":
    main()
