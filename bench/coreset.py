#!/usr/bin/env python3
"""Does drawing a coreset run at the speed of reading?

    bench/coreset.py [--megabytes M] [--size N] [--repeats R] [--output FILE]

`vem coreset`, as the whole command and as the drawing alone, beside `cat FILE > /dev/null`, a
plain sum over the mapped rows with numpy (its own float32 or integer sum, one thread), and
memory read: every core adds up the words of its share of the mapped file, which is as fast as
numpy reads. A lightweight coreset reads the file twice, so a pass is half the drawing; a uniform
one reads only the rows it draws. Files are in the page cache for everyone, and then, apart, out
of it: the system is asked to forget the file before each run. All take turns and the best repeat
of each counts. Seconds of the processor stand beside those of the clock: on a busy machine they
tell more.

The target (T9): a pass with all threads at 60 % of the speed of memory read; from disk at the
speed of cat. Of a drawing from disk only the first pass meets the disk where the page cache can
keep the file, as it can here; the second costs what a pass in memory costs. So the first one is
what a drawing from disk takes beyond a pass in memory, and that is held against cat.
"""

import argparse
import concurrent.futures
import os
import resource
import subprocess
import time

import numpy as np

import common

OF_MEMORY, OF_CAT = 0.60, 1.10
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


def memory_read(path):
    words = np.memmap(path, np.int64, "r", shape=os.path.getsize(path) // 8)
    cores = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        return sum(map(int, pool.map(np.sum, np.array_split(words, cores * 8))))


def forget(path):
    """Asks the system to drop the file from the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def threads_of(count):
    return f"lightweight, {count} thread{'s' if count > 1 else ''}"


def race(path, output, size, repeats, cold=False):
    """{name: best (seconds of the clock, of the processor, of the drawing alone)}"""
    cores = len(os.sched_getaffinity(0))
    runners = {"cat": lambda: cat(path), "numpy sum": lambda: plain_sum(path),
               "memory read": lambda: memory_read(path)}
    for threads in sorted({1, cores}):
        runners[threads_of(threads)] = (
            lambda t=threads: draw(path, output, size, t, "lightweight"))
    runners["uniform"] = lambda: draw(path, output, size, 1, "uniform")
    if cold:
        runners = {name: runners[name] for name in ("cat", "numpy sum", threads_of(cores))}
    best = {}
    for _ in range(repeats):
        for name, run in runners.items():
            if cold:
                forget(path)
            clock, processor, seconds = timed(run)
            inner = seconds["reduce"] if isinstance(seconds, dict) else clock
            found = (clock, processor, inner)
            best[name] = tuple(map(min, found, best.get(name, found)))
    return best


def write_rows(path, count, columns, dtype):
    rows = np.lib.format.open_memmap(path, "w+", dtype, (count, columns))
    random = np.random.default_rng(1)
    for first in range(0, count, 100000):
        part = random.random((min(100000, count - first), columns), "f4")
        rows[first:first + len(part)] = part * 200
    rows.flush()


def describe(report, best, gigabytes):
    table = []
    for name, (clock, processor, inner) in best.items():
        passes = 2 if "light" in name else 1
        table.append([name, clock, processor,
                      passes * gigabytes / inner if name != "uniform" else None,
                      inner / best["cat"][2], inner / best["numpy sum"][2],
                      processor / passes / best["cat"][1] if passes > 1 else None])
    report.table(["", "seconds", "of the processor", "GB/s of a pass", "drawing / cat",
                  "drawing / numpy sum", "a pass / cat, by processor"], table)


def verdict(shape, warm, cold):
    """One row: a pass in memory and the drawing from disk, against the others."""
    ours = threads_of(len(os.sched_getaffinity(0)))
    a_pass = warm[ours][2] / 2
    speed = warm["memory read"][2] / a_pass
    disk, first = cold[ours][2], cold[ours][2] - a_pass
    return [shape, a_pass / warm["cat"][2], a_pass / warm["numpy sum"][2], f"{speed:.2f}",
            "yes" if speed >= OF_MEMORY else "NO", f"{disk / cold['cat'][2]:.2f}",
            f"{disk / cold['numpy sum'][2]:.2f}", f"{first / cold['cat'][2]:.2f}",
            "yes" if first <= OF_CAT * cold["cat"][2] else "NO"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=float, default=600)
    parser.add_argument("--size", type=int, default=20000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", default="coreset.md")
    options = parser.parse_args()

    report = common.Report("Coresets at the speed of reading")
    report.say(f"{common.versions(np)}; mean load before it began {os.getloadavg()[0]:.1f}.", "")
    rows = []
    with common.scratch() as folder:
        path, output = os.path.join(folder, "a.npy"), os.path.join(folder, "c.npz")
        for columns, dtype in SHAPES:
            count = int(options.megabytes * 1e6 / np.dtype(dtype).itemsize / columns)
            write_rows(path, count, columns, dtype)
            gigabytes = os.path.getsize(path) / 1e9
            shape = f"{count:,} x {columns} of {dtype}"
            size = min(options.size, count)
            warm = race(path, output, size, options.repeats)
            report.say(f"## {shape}, {1000 * gigabytes:.0f} MB, in the page cache", "")
            describe(report, warm, gigabytes)
            cold = race(path, output, size, options.repeats, cold=True)
            report.say("From disk:", "")
            describe(report, cold, gigabytes)
            rows.append(verdict(shape, warm, cold))
            os.remove(path)
    report.say("## All of them", "", f"A pass with all threads. Targets: {OF_MEMORY:.0%} of the "
               f"speed of memory read; from disk the first pass, which is the drawing less a "
               f"pass in memory, at most {OF_CAT:.1f} times cat.", "")
    report.table(["", "a pass / cat", "a pass / numpy sum", "of memory read", "met",
                  "from disk: drawing / cat", "drawing / numpy sum", "first pass / cat",
                  "met"], rows)
    report.write(options.output)


if __name__ == "__main__":
    main()
