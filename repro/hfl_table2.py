#!/usr/bin/env python3
"""HFL Table 2: how seeding and EM grow with the number of clusters, on rows that do not fit.

    repro/hfl_table2.py [--gigabytes 20] [--columns 100] [--memory 2G] [--scratch FOLDER]
                        [--clusters 8192 16384 32768] [--coreset 1048576] [--keep] [--fresh]

The paper clusters 80 million tiny images (since withdrawn) by vc-GMM with G = 5, a coreset of
10 million, AFK-MC2 with m = 20 and 5 initial E-steps, in float32, and times seeding and EM
apart. Here a set is generated that is larger than --memory allows (and may be larger than the
machine's memory), every fit reads it within that limit, and two-level seeding stands beside
AFK-MC2. Times, their exponents in C, and the largest resident size are printed; the error is
estimated from sampled rows, with its standard error.

Fits are kept in repro/out/hfl and not made again without --fresh. The set goes to the system's
folder for temporary files, or to --scratch, and is removed at the end without --keep.

A generated row is A z + 0.3 g: z, in 16 dimensions, from a mixture of 4,096 Gaussians of
uneven size and width, A a random 16 x D matrix, g standard normal.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import sys
import tempfile

import numpy as np

import hfl
from hfl import common

COMPONENTS, LATENT, NOISE, BLOCK = 4096, 16, 0.3, 65536
INITIAL, CHAIN, REACH = 5, 20, 5
SEEDINGS = {"afkmc2": "AFK-MC2", "two-level": "two-level"}
# C: error, seconds of seeding and of EM as printed.
PAPER = {8192: (5.45e12, 164, 1592), 16384: (5.31e12, 665, 2786), 32768: (5.22e12, 1623, 3313)}


def block(index, count, columns, shared):
    """Rows of one block: the same for any order of the blocks."""
    centers, width, share, matrix = shared
    random = np.random.default_rng([2, index])
    z = np.searchsorted(share, random.random(count))
    latent = centers[z] + width[z, None] * random.standard_normal((count, LATENT), np.float32)
    rows = random.standard_normal((count, columns), np.float32)
    rows *= np.float32(NOISE)
    rows += latent @ matrix
    return rows


def generate(path, count, columns):
    """Writes the set block by block; two blocks are in memory at a time."""
    random = np.random.default_rng(1)
    share = np.cumsum(np.arange(1, COMPONENTS + 1) ** -0.5)
    shared = (random.standard_normal((COMPONENTS, LATENT), np.float32) * np.float32(2),
              np.exp(0.5 * random.standard_normal(COMPONENTS)).astype(np.float32) / 2,
              share / share[-1],
              random.standard_normal((LATENT, columns), np.float32) / np.float32(4))
    cores = os.cpu_count()
    with open(path + ".part", "wb") as file, \
            concurrent.futures.ThreadPoolExecutor(cores) as pool:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (count, columns)})
        blocks = -(-count // BLOCK)
        for first in range(0, blocks, cores):
            some = range(first, min(first + cores, blocks))
            for rows in pool.map(lambda i: block(i, min(BLOCK, count - i * BLOCK), columns,
                                                 shared), some):
                file.write(rows.data)
        file.flush()
        os.fsync(file.fileno())
        # What was just written should not lie in memory when the fits begin.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    os.replace(path + ".part", path)


def data(options, count):
    path = os.path.join(options.scratch, f"vem-hfl-{count}x{options.columns}.npy")
    if not os.path.exists(path):
        needed, free = 4 * count * options.columns, shutil.disk_usage(options.scratch).free
        if needed > 0.9 * free:
            sys.exit(f"{needed / 1e9:.1f} GB are needed in {options.scratch}, where "
                     f"{free / 1e9:.1f} GB are free. Name another folder with --scratch, or "
                     "fewer --gigabytes.")
        print(f"Generating {count:,} x {options.columns}: {needed / 1e9:.1f} GB.",
              file=sys.stderr, flush=True)
        generate(path, count, options.columns)
    return path


def fit(options, path, clusters, seeding, seed):
    asked = list(map(str, [
        "-k", clusters, "--algorithm", "vc-gmm", "--coreset", options.coreset, "--seeding",
        seeding, "--chain", CHAIN, "--reach", REACH, "--held", REACH, "--init-steps", INITIAL,
        "--tolerance", hfl.TOLERANCE, "--seed", seed, "--threads", options.threads,
        "--measure", "sample"] + (["--memory", options.memory] if options.memory else [])))
    kept = os.path.join(hfl.OUT, f"table2-{os.path.basename(path)[:-4]}-{options.coreset}-"
                        f"{clusters}-{seeding}-{seed}.json")
    if os.path.exists(kept) and not options.fresh:
        with open(kept, encoding="utf-8") as file:
            done = json.load(file)
        if done["asked"] == asked:
            return done
    model = os.path.join(options.scratch, f"vem-hfl-{os.getpid()}.npz")
    load = os.getloadavg()[0]
    done = hfl.fit(path, *asked, "-o", model)
    os.remove(model)
    done.update(asked=asked, load=load, jobs=1)
    with open(kept + ".part", "w", encoding="utf-8") as file:
        json.dump(done, file)
    os.replace(kept + ".part", kept)
    print(clusters, seeding, seed, done["seconds"], f"{done['resident'] / 2**20:.0f} MiB",
          file=sys.stderr, flush=True)
    return done


def exponent(counts, values):
    """The slope of log time against log C."""
    return float(np.polyfit(np.log(counts), np.log(values), 1)[0]) if len(counts) > 1 else np.nan


def minutes(seconds):
    return f"{int(seconds // 60):02d}:{seconds % 60:04.1f}"


def describe(report, counts, runs, seeding):
    """One table; exponents of seeding, EM, and a step of EM."""
    mean = {c: {key: np.mean([pick(r) for r in runs[c]]) for key, pick in (
        ("error", lambda r: r["quantization_error"] / r["n"]),
        ("error se", lambda r: r["quantization_error_se"] / r["n"]),
        ("coreset", lambda r: r["seconds"]["reduce"]), ("seed", lambda r: r["seconds"]["seed"]),
        ("em", lambda r: r["seconds"]["em"]),
        ("steps", lambda r: r["steps"] + r["init_steps"]),
        ("pairs", lambda r: r["scored_pairs"] / r["items"] / (r["steps"] + r["init_steps"])),
        ("resident", lambda r: r["resident"]))} for c in counts}
    rows = []
    for c in counts:
        m, printed = mean[c], PAPER.get(c)
        rows.append([f"{c:,}", f"{m['error']:.5g} ± {m['error se']:.1g}", minutes(m["coreset"]),
                     minutes(m["seed"]), minutes(printed[1]) if printed else None,
                     minutes(m["em"]), minutes(printed[2]) if printed else None,
                     f"{m['steps']:.0f}", m["em"] / m["steps"], f"{m['pairs']:.1f}",
                     f"{m['resident'] / 2**20:,.0f}"])
    known = [c for c in counts if c in PAPER]
    found = [exponent(counts, [mean[c][key] for c in counts]) for key in ("seed", "em")]
    step = exponent(counts, [mean[c]["em"] / mean[c]["steps"] for c in counts])
    printed = [f"{exponent(known, [PAPER[c][i] for c in known]):.2f}" if len(known) > 1 else None
               for i in (1, 2)]
    rows.append(["exponent of C", None, None, f"{found[0]:.2f}", printed[0], f"{found[1]:.2f}",
                 printed[1], None, f"{step:.2f}", None, None])
    report.say(f"## {SEEDINGS[seeding]} seeding", "")
    report.table(["C", "error a row", "coreset", "seeding", "paper", "EM", "paper", "steps",
                  "s a step", "distances a row and step", "resident MiB"], rows)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--gigabytes", type=float, default=20, help="of rows, in float32")
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--memory", default="2G", help="limit of each fit; '' for none")
    parser.add_argument("--clusters", type=int, nargs="+", default=sorted(PAPER))
    parser.add_argument("--coreset", type=int, default=2**20)
    parser.add_argument("--seedings", nargs="+", choices=SEEDINGS, default=list(SEEDINGS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scratch", default=tempfile.gettempdir(), metavar="FOLDER")
    parser.add_argument("--keep", action="store_true", help="leave the generated set there")
    parser.add_argument("--fresh", action="store_true", help="make every fit again")
    parser.add_argument("--output", default="hfl_table2.md", help="in repro/results")
    options = parser.parse_args()
    os.makedirs(hfl.OUT, exist_ok=True)
    count = int(options.gigabytes * 1e9 / 4 / options.columns)
    path = data(options, count)
    try:
        runs = {s: {c: [fit(options, path, c, s, seed) for seed in range(1, options.seeds + 1)]
                    for c in options.clusters} for s in options.seedings}
    finally:
        if not options.keep:
            os.remove(path)
    done = [r for by_count in runs.values() for some in by_count.values() for r in some]
    report = common.Report("HFL Table 2: growth with the number of clusters", hfl.RESULTS)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = f"--memory {options.memory}" if options.memory else "no limit of memory"
    report.say(f"{count:,} x {options.columns}, {4e-9 * count * options.columns:.1f} GB, "
               f"generated; {limit}, {machine / 1e9:.1f} GB in the machine; coreset of "
               f"{options.coreset:,}; {options.threads} threads, {options.seeds} seed(s).",
               f"vc-GMM, G = {REACH}, AFK-MC2 with m = {CHAIN}, {INITIAL} initial E-steps "
               "(counted as steps), float32. Paper: 78,302,017 x 3,072, coreset of 10 million, "
               "20 threads. Times are minutes:seconds.", hfl.load(done), "")
    found = {s: describe(report, options.clusters, runs[s], s) for s in options.seedings}
    for seeding, (seed, em) in found.items():
        report.say(f"{SEEDINGS[seeding]}: seeding grows as C^{seed:.2f}, "
                   f"{'less' if seed < 1 else 'not less'} than linearly; EM as C^{em:.2f}, "
                   f"{'less' if em < 1 else 'not less'} than linearly.")
    report.write(options.output)


if __name__ == "__main__":
    main()
