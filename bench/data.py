#!/usr/bin/env python3
"""Prepares the data of the benchmarks and reproductions.

    bench/data.py [NAME...]        default: what the benchmarks need; what is there is kept

Files go to bench/data (or $VEM_DATA), which git ignores. The mixture is made here. The real
sets come from a folder beside this repository, ../shared/data (or $VEM_DATA_SOURCE), that
holds NAME.npy.zst and a script registry.py for what the registries have; where it is missing,
this says so and goes on with the rest.
"""

import os
import subprocess
import sys

import numpy as np

import common

MIXTURE = (515345, 90)  # rows and columns of the Million Song Dataset, which it stands in for
REGISTRY = ("glove100", "mnist", "patches")
LARGE = ("cifar10_train", "pixels")  # from the registries too; only repro/hfl_*.py need them
PACKED = ("codrna_331k", "pendigits", "usps", "susy_30k", "uci_protein", "uci_keggundirected",
          "sipu_birch3", "sipu_s3", "sipu_s4")


def mixture(path, shape, components=300, seed=0):
    """Rows of a mixture with unequal weights, axes of unequal length and heavy tails.

    A row is m_z + t * s_z * g with g standard normal, one t per row from Student's t with 5
    degrees of freedom, log s_z normal, and cluster z with probability proportional to
    z^-0.8: many small clusters, some large ones, and rows far from all of them.
    """
    rows, columns = shape
    random = np.random.default_rng(seed)
    share = np.arange(1, components + 1) ** -0.8
    share /= share.sum()
    centers = random.normal(0, 3, (components, columns))
    lengths = 0.8 * np.exp(random.normal(0, 0.7, (components, columns)))
    out = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for first in range(0, rows, 65536):
        last = min(first + 65536, rows)
        z = random.choice(components, last - first, p=share)
        tails = random.standard_t(5, (last - first, 1))
        noise = random.normal(size=(last - first, columns))
        out[first:last] = centers[z] + tails * lengths[z] * noise
    out.flush()


def source():
    beside = os.path.join(common.ROOT, "..", "shared", "data")
    folder = os.environ.get("VEM_DATA_SOURCE", beside)
    return folder if os.path.isdir(folder) else None


def from_registry(name, folder):
    work = os.path.join(folder, "work")
    os.makedirs(work, exist_ok=True)
    script = os.path.join(source(), "registry.py")
    subprocess.run([sys.executable, script, name, folder, work], check=True,
                   stdout=subprocess.DEVNULL)


def unpack(name, folder):
    for part in (name, name + "_labels"):
        packed = os.path.join(source(), part + ".npy.zst")
        if os.path.exists(packed):
            target = os.path.join(folder, part + ".npy")
            subprocess.run(["zstd", "-dqf", packed, "-o", target], check=True)


def prepare(name, folder):
    """The sentence that says what became of NAME."""
    path = os.path.join(folder, name + ".npy")
    if os.path.exists(path):
        return "is there"
    if name == "mixture":
        partial = path + ".part"
        mixture(partial, MIXTURE)
        os.replace(partial, path)
    elif not source():
        return "is missing: there is no folder ../shared/data to take it from"
    else:
        try:
            (from_registry if name in REGISTRY + LARGE else unpack)(name, folder)
        except (subprocess.CalledProcessError, OSError) as error:
            return f"is missing: {error}"
    rows, columns = np.load(path, mmap_mode="r").shape
    return f"made: {rows:,} x {columns}"


def main():
    usual = ("mixture",) + PACKED + REGISTRY
    known = usual + LARGE
    names = sys.argv[1:] or usual
    folder = common.data_folder()
    os.makedirs(folder, exist_ok=True)
    for name in names:
        if name not in known:
            sys.exit(f"data.py: '{name}' is not one of {', '.join(known)}.")
        print(f"{name:<12} {prepare(name, folder)}", flush=True)


if __name__ == "__main__":
    main()
