#!/usr/bin/env python3
"""MB/s of reading .npy and text, beside numpy and pandas.

    bench/read.py [--megabytes M] [--text-megabytes M] [--repeats R]

The library is called in this process (vem_data_read, then every row as doubles with
vem_data_get), as numpy and pandas are; `vem info` is the whole command, which also takes the
statistics of every column. Files are in the page cache for everyone; the readers take turns
and the best repeat of each counts. pandas and numpy read text with one thread, so ours is shown
with one thread too. Targets: 200 MB/s a core and twice pandas' C engine on text.
"""

import argparse
import ctypes
import os
import subprocess
import time

import numpy as np
import pandas as pd

import common


class ReadOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("columns", ctypes.c_char_p),
                ("id", ctypes.c_char_p), ("weights", ctypes.c_char_p)]


class Library:
    """The few functions of libvem that reading takes."""

    def __init__(self):
        path = os.path.join(os.path.dirname(common.command()), "libvem.so")
        self.vem = ctypes.CDLL(path)
        self.vem.vem_data_rows.restype = ctypes.c_int64
        self.vem.vem_ctx_message.restype = ctypes.c_char_p
        self.ctx = ctypes.c_void_p()
        self.check(self.vem.vem_ctx_new(ctypes.byref(self.ctx)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.vem.vem_ctx_message(self.ctx))

    def read(self, path, threads):
        """The sum of all values, so that nobody can leave any unread."""
        data = ctypes.c_void_p()
        self.check(self.vem.vem_ctx_set_threads(self.ctx, threads))
        self.check(self.vem.vem_data_read(self.ctx, path.encode(), None, ctypes.byref(data)))
        rows, columns = self.vem.vem_data_rows(data), self.vem.vem_data_columns(data)
        block = max(1, (1 << 15) // columns)
        buffer = np.empty((block, columns))
        total = 0.0
        for first in range(0, rows, block):
            count = min(block, rows - first)
            self.check(self.vem.vem_data_get(self.ctx, data, ctypes.c_int64(first),
                                             ctypes.c_int64(count),
                                             buffer.ctypes.data_as(ctypes.c_void_p)))
            total += buffer[:count].sum()
        self.vem.vem_data_free(data)
        return total


def info(path):
    subprocess.run([common.command(), "info", path, "-q"], check=True,
                   stdout=subprocess.DEVNULL)


def race(path, readers, repeats):
    """Best MB/s of each reader; all of them must find the same sum."""
    megabytes = os.path.getsize(path) / 1e6
    best, sums = {}, {}
    for _ in range(repeats):
        for name, read in readers.items():
            start = time.perf_counter()
            sums[name] = read(path)
            seconds = time.perf_counter() - start
            best[name] = min(seconds, best.get(name, seconds))
    found = [value for value in sums.values() if value is not None]
    assert np.allclose(found, found[0], rtol=1e-5), sums
    return {name: megabytes / seconds for name, seconds in best.items()}


def tell(report, title, speeds, yardsticks):
    report.say(f"## {title}", "")
    rows = [[name, speed, *(speed / speeds[peer] for peer in yardsticks)]
            for name, speed in speeds.items()]
    report.table(["reader", "MB/s", *(f"times {peer}" for peer in yardsticks)], rows)


def make_text(folder, megabytes):
    """Three kinds of text: fixed point, all digits (as pandas and Python write), integers."""
    random = np.random.default_rng(1)
    files = []
    for name, line, columns, form in (("fixed point, %.6f", 118, 12, "%.6f"),
                                      ("all 17 digits", 228, 12, None),
                                      ("short integers", 8, 2, "%d")):
        rows = random.normal(size=(int(megabytes * 1e6 / line), columns)) * 10
        path = os.path.join(folder, f"{len(files)}.csv")
        if form == "%d":
            rows = random.integers(0, 1000, size=rows.shape)
        names = [f"x{j}" for j in range(columns)]
        pd.DataFrame(rows, columns=names).to_csv(
            path, index=False, float_format=None if form in (None, "%d") else form)
        files.append((name, path, columns))
    return files


def loadtxt_part(path, columns, rows=50000):
    """MB/s of numpy.loadtxt on the head of the file: on the whole it would take minutes."""
    with open(path, encoding="ascii") as file:
        head = [next(file) for _ in range(rows + 1)]
    start = time.perf_counter()
    assert np.loadtxt(head, delimiter=",", skiprows=1).shape[1] == columns
    return sum(map(len, head)) / 1e6 / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=float, default=300)
    parser.add_argument("--text-megabytes", type=float, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    library = Library()
    cores = len(os.sched_getaffinity(0))
    report = common.Report("Reading")
    report.say(common.versions(np, pd), "")
    with common.scratch() as folder:
        path = os.path.join(folder, "a.npy")
        columns = 64
        rows = np.random.default_rng(1).normal(
            size=(int(options.megabytes * 1e6 / 4 / columns), columns)).astype("f4")
        np.save(path, rows)
        del rows
        tell(report, f".npy, {columns} columns of float32", race(path, {
            "vem": lambda p: library.read(p, 1),
            "numpy.load, mapped, sum": lambda p: float(
                np.load(p, mmap_mode="r").sum(dtype=float)),
            "numpy.load, sum": lambda p: float(np.load(p).sum(dtype=float)),
            "vem info": info,
        }, options.repeats), ["numpy.load, mapped, sum", "numpy.load, sum"])
        os.remove(path)

        speed, ratio = [], []
        for name, path, columns in make_text(folder, options.text_megabytes):
            speeds = race(path, {
                "vem, 1 thread": lambda p: library.read(p, 1),
                f"vem, {cores} threads": lambda p: library.read(p, cores),
                "pandas, C engine": lambda p: float(pd.read_csv(p).to_numpy().sum()),
                "vem info": info,
            }, options.repeats)
            speeds["numpy.loadtxt"] = loadtxt_part(path, columns)
            tell(report, f"CSV, {name}, {columns} columns", speeds,
                 ["pandas, C engine", "numpy.loadtxt"])
            speed.append(speeds["vem, 1 thread"])
            ratio.append(speed[-1] / speeds["pandas, C engine"])
    report.say(f"Text with one thread, at the least: {min(speed):.0f} MB/s (target 200), "
               f"{min(ratio):.2f} times pandas (target 2).")
    report.write("read.md")


if __name__ == "__main__":
    main()
