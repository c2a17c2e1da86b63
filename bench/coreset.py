#!/usr/bin/env python3
"""Does drawing a coreset run at the speed of reading?

    bench/coreset.py [--megabytes M] [--size N] [--repeats R] [--output FILE]

`vem coreset`, as the whole command and as the drawing alone, beside `cat FILE > /dev/null` and a
plain sum over the mapped rows with numpy (its own float32 or integer sum, one thread). A
lightweight coreset reads the file twice, so a pass is half the drawing; a uniform one reads only
the rows it draws. Files are in the page cache for everyone; all take turns and the best repeat of
each counts. Seconds of the processor stand beside those of the clock: on a busy machine they
tell more.
"""

import argparse
import os
import resource
import subprocess
import time

import numpy as np

import common

SHAPES = ((3, "f4"), (16, "f4"), (90, "f4"), (90, "f8"), (768, "f4"), (128, "u1"))


def timed(run):
    """(seconds of the clock, seconds of the processor) of this process and its children."""
    def used():
        both = [resource.getrusage(who)
                for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in both)
    before, start = used(), time.perf_counter()
    result = run()
    return time.perf_counter() - start, used() - before, result


def cat(path):
    with open(path, "rb") as file:
        subprocess.run(["cat"], stdin=file, stdout=subprocess.DEVNULL, check=True)


def plain_sum(path):
    rows = np.load(path, mmap_mode="r")
    return float(rows.sum())


def draw(path, output, size, threads, method):
    return common.vem("coreset", path, "-m", size, "-o", output, "--threads", threads,
                      "--method", method)["seconds"]


def race(path, output, size, repeats):
    cores = len(os.sched_getaffinity(0))
    runners = {"cat": lambda: cat(path), "numpy sum": lambda: plain_sum(path)}
    for threads in sorted({1, cores}):
        runners[f"lightweight, {threads} thread{'s' if threads > 1 else ''}"] = (
            lambda t=threads: draw(path, output, size, t, "lightweight"))
    runners["uniform"] = lambda: draw(path, output, size, 1, "uniform")
    best = {}
    for _ in range(repeats):
        for name, run in runners.items():
            clock, processor, seconds = timed(run)
            inner = seconds["reduce"] if isinstance(seconds, dict) else clock
            found = (clock, processor, inner)
            best[name] = tuple(map(min, found, best.get(name, found)))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=float, default=600)
    parser.add_argument("--size", type=int, default=20000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", default="coreset.md")
    options = parser.parse_args()

    report = common.Report("Coresets at the speed of reading")
    report.say(common.versions(np), "")
    passes = []
    with common.scratch() as folder:
        path, output = os.path.join(folder, "a.npy"), os.path.join(folder, "c.npz")
        for columns, dtype in SHAPES:
            count = int(options.megabytes * 1e6 / np.dtype(dtype).itemsize / columns)
            rows = np.lib.format.open_memmap(path, "w+", dtype, (count, columns))
            random = np.random.default_rng(1)
            for first in range(0, count, 100000):
                part = random.random((min(100000, count - first), columns), "f4")
                rows[first:first + len(part)] = part * 200
            rows.flush()
            del rows
            megabytes = os.path.getsize(path) / 1e6
            best = race(path, output, min(options.size, count), options.repeats)
            report.say(f"## {count:,} x {columns} of {dtype}, {megabytes:.0f} MB", "")
            table = []
            for name, (clock, processor, inner) in best.items():
                table.append([name, clock, processor, inner / best["cat"][2],
                              inner / best["numpy sum"][2],
                              processor / 2 / best["cat"][1] if "light" in name else None])
                if name == "lightweight, 1 thread":
                    passes.append((inner / 2 / best["cat"][2],
                                   inner / 2 / best["numpy sum"][2]))
            report.table(["", "seconds", "of the processor", "drawing / cat",
                          "drawing / numpy sum", "a pass / cat, by processor"], table)
            os.remove(path)
    report.say("A pass of one thread takes "
               f"{min(p[0] for p in passes):.2f} to {max(p[0] for p in passes):.2f} times cat and "
               f"{min(p[1] for p in passes):.2f} to {max(p[1] for p in passes):.2f} times numpy's "
               "sum.")
    report.write(options.output)


if __name__ == "__main__":
    main()
