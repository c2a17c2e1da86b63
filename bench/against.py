#!/usr/bin/env python3
"""Two builds of vem in turn, on the fits behind T1, T3, T6 and T11: was anything lost?

    bench/against.py BEFORE AFTER [--repeats R] [--threads P] [--limit L] [--quick]
    bench/against.py BEFORE AFTER --instructions [--only T1 ...] [--limit L]

BEFORE and AFTER are two commands, build/vem of two clones. They take turns, who goes first
alternates, and the least processor time (user and system) of each counts: what other work on the
machine adds, it only ever adds. The ratio of the two is held against the limit (1.03 unless
said). Same seed, same data, same threads; reading and measuring are left out of the clock by not
being asked for. Errors and steps of both are beside, since a build that does other work than
before cannot be judged by time alone.

--instructions counts instead, by valgrind's callgrind, with one thread, on 4,000 rows and fewer
clusters: slow, but the same however busy the machine is.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys

import numpy as np

import common
import kmeans

CASES = {
    "T1": ("glove100", ["-k", 4096]),
    "T3": ("glove100", ["-k", 65536]),
    "T6": ("mixture", ["-k", 500, "--algorithm", "kmeans", "--max-steps", 4]),
    "T11": ("glove100", ["-k", 4096, "--held", 3, "--finish", "hard"]),
}


COUNTED_ROWS, COUNTED_CLUSTERS = 4000, {65536: 1024, 4096: 256}
COUNTER = ["valgrind", "--tool=callgrind", "--trace-children=yes",
           "--callgrind-out-file=/dev/null"]


def count(program, line):
    """Instructions of one fit, and what it printed as JSON."""
    done = subprocess.run([*COUNTER, program, "fit", *map(str, line), "--json", "-q"],
                          check=False, capture_output=True, text=True)
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not counted:
        sys.exit(f"{program} {' '.join(map(str, line))}\n{done.stderr.strip()}")
    return int(counted.group(1)), json.loads(done.stdout.strip().splitlines()[-1])


def run(program, line):
    """Processor seconds of one fit, its wall clock, and what it printed as JSON."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "fit", *map(str, line), "--json", "-q"], check=False,
                          capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{program} {' '.join(map(str, line))}\n{done.stderr.strip()}")
    told = json.loads(done.stdout.strip().splitlines()[-1])
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, told["seconds"]["total"] - told["seconds"]["read"], told


def compare(name, options, folder):
    data, words = CASES[name]
    path = common.data(data)
    if not path:
        return None
    if options.quick or options.instructions:
        short = os.path.join(folder, name + ".npy")
        rows = COUNTED_ROWS if options.instructions else 20000
        np.save(short, np.load(path, mmap_mode="r")[:rows])
        fewer = COUNTED_CLUSTERS if options.instructions else {65536: 4096}
        path, words = short, [fewer.get(w, w) for w in words]
    if name == "T6": # the same means for both, whatever the seeding does
        start = os.path.join(folder, "start.npz")
        kmeans.start_file(start, np.load(path, mmap_mode="r"), words[1])
        words = words + ["--init", start]
    if options.instructions:
        line = [path, *words, "--threads", 1]
        (before, old), (after, new) = (count(p, line) for p in (options.before, options.after))
        return [name, f"{before / 1e9:.3f}", f"{after / 1e9:.3f}", f"{after / before:.4f}",
                old["steps"], new["steps"], f"{old['free_energy']:.6f}",
                f"{new['free_energy']:.6f}", "yes" if after <= options.limit * before else "NO"]
    line = [path, *words, "--threads", options.threads]
    best = [[np.inf, np.inf, None], [np.inf, np.inf, None]]
    pairs = [[], []]
    for repeat in range(options.repeats):
        for which in (0, 1) if repeat % 2 == 0 else (1, 0):
            spent, wall, told = run((options.before, options.after)[which], line)
            pairs[which].append(spent)
            best[which] = [min(best[which][0], spent), min(best[which][1], wall), told]
    ratio, clock = best[1][0] / best[0][0], best[1][1] / best[0][1]
    middle = np.median(np.array(pairs[1]) / np.array(pairs[0]))
    gain = [b[2]["free_energy"] for b in best]
    return [name, best[0][0], best[1][0], f"{ratio:.3f}", f"{middle:.3f}",
            f"{clock:.3f}", *[b[2]["steps"] for b in best], *[f"{value:.6f}" for value in gain],
            "yes" if ratio <= options.limit else "NO"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=1.03)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few rows; writes nothing")
    parser.add_argument("--output", default="against.md")
    options = parser.parse_args()
    report = common.Report("Two builds in turn")
    if options.instructions:
        report.say(f"Instructions, counted by callgrind; limit of their ratio {options.limit}.",
                   "")
    else:
        report.say(f"Least of {options.repeats} runs each; seconds of the processor over "
                   f"{options.threads} threads; limit of their ratio {options.limit}.", "")
    with common.scratch() as folder:
        rows = [compare(name, options, folder) for name in options.only]
    rows = [row for row in rows if row]
    both = ["steps before", "steps after", "F before", "F after", "within"]
    head = (["fit", "before, 1e9", "after, 1e9", "ratio"] if options.instructions else
            ["fit", "before, s", "after, s", "ratio", "median of pairs",
             "ratio by the clock"])
    report.table(head + both, rows)
    if not options.quick:
        report.write(options.output)
    return 0 if all(row[-1] == "yes" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
