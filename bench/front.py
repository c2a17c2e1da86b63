#!/usr/bin/env python3
"""The time-quality front: error against time for growing effort, with the peers in it.

    bench/front.py [--vem PATH] [--threads P] [--seeds S...] [--methods NAME...]
                   [--clusters C] [--refresh] [--quick]

Word vectors, C = 4,096. vem grows --max-steps and --swaps about its defaults (median time, mean
error over the seeds); FAISS grows its iterations, on all rows and on 39 a center (its default,
256 a center, is all rows here); scikit-learn's KMeans (k-means++ as it comes, Lloyd and Elkan)
grows its iterations and MiniBatchKMeans its epochs. One seed for the peers.

Time is shown in f, one iteration of FAISS on all rows, measured in the run of the point it
scales. So the peers need to run once: results/front_peers.json keeps them, --refresh measures
them again. `--methods vem` takes some minutes, FAISS and scikit-learn an hour. Error is that on
all rows, relative to FAISS after 25 iterations on all rows. The table is results/front.md, the
plot results/front.svg; --quick runs on few rows and writes nothing.
"""

import argparse
import json
import os
import statistics

import numpy as np

import common
import references
import target_fits as fits

KEPT = os.path.join(common.ROOT, "bench", "results", "front_peers.json")
# Method: (how it is named in the plot, efforts).
PEERS = {
    "faiss": ("FAISS, all rows", [1, 2, 5, 10, 25]),
    "faiss-sampled": ("FAISS, 39 rows a center", [1, 2, 5, 10, 25]),
    "lloyd": ("scikit-learn, Lloyd", [1, 5]),
    "elkan": ("scikit-learn, Elkan", [5, 25]),
    "minibatch": ("scikit-learn, MiniBatchKMeans", [1, 5, 20]),
}
STEPS = [1, 2, 4, 8, 16, 32]
SWAPS = [0, 1, 2, 4, 8]


def free_bytes():
    with open("/proc/meminfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("MemAvailable"):
                return 1024 * int(line.split()[1])
    return 0


def point(method, effort, seconds, f, error):
    return {"method": method, "effort": effort, "seconds": round(seconds, 4),
            "f": round(f, 4), "error": error}


def run_peer(setting, method, path, clusters, f):
    """The points of one peer, f measured before."""
    efforts, seed, threads = PEERS[method][1], setting.seeds[0], setting.threads
    means = os.path.join(setting.folder, "front.npy")
    if method.startswith("faiss"):
        done = common.peer_fit(threads, "curve", path, clusters, seed, means,
                               39 if method == "faiss-sampled" else 0, *efforts)
        return [point(method, e, s, f, common.exact_error(path, setting.folder, m, threads))
                for e, s, m in zip(efforts, done["seconds"], np.load(means))]
    rows = len(np.load(path, mmap_mode="r"))
    if method == "elkan" and 5 * rows * clusters > free_bytes():
        print("elkan is left out: its bounds need more memory than is free.", flush=True)
        return []
    points = []
    for effort in efforts:
        done = common.peer_fit(threads, method, path, clusters, seed, means, effort)
        points.append(point(method, effort, done["seconds"], f,
                            common.exact_error(path, setting.folder, means, threads)))
    return points


def run_vem(setting, path, clusters, f):
    efforts = [("vem, defaults", "defaults", [])]
    efforts += [("vem, growing --max-steps", t, ["--max-steps", t]) for t in STEPS]
    if setting.knows("--swaps"):
        efforts += [("vem, growing --swaps", r, ["--swaps", r]) for r in SWAPS]
    points = []
    for method, effort, more in efforts:
        runs = [fits.fit(setting, path, clusters, seed, *more) for seed in setting.seeds]
        points.append(point(method, effort, statistics.median(r["seconds"] for r in runs), f,
                            statistics.mean(r["error"] for r in runs)))
    return points


def plot(points, reference, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    # Text and names that are the same in every run, so that the file changes with the data.
    matplotlib.rcParams["svg.hashsalt"] = "vem"
    figure, axes = pyplot.subplots(figsize=(8, 5))
    names = list(dict.fromkeys(p["method"] for p in points))
    for name in names:
        line = sorted((p["seconds"] / p["f"], p["error"] / reference)
                      for p in points if p["method"] == name)
        ours = name.startswith("vem")
        axes.plot(*zip(*line), "*" if len(line) == 1 else "o-" if ours else "s--",
                  markersize=14 if len(line) == 1 else 5, zorder=3 if ours else 2,
                  label=PEERS[name][0] if name in PEERS else name)
    axes.set_xscale("log")
    axes.set_xlabel("time of the whole fit / time of one FAISS iteration")
    axes.set_ylabel("error / error of FAISS after 25 iterations")
    axes.axhline(1, color="gray", linewidth=0.8)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def kept_peers():
    if not os.path.exists(KEPT):
        return {}
    with open(KEPT, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    common.arguments(parser)
    parser.add_argument("--methods", nargs="+", choices=["vem", *PEERS],
                        default=["vem", *PEERS])
    parser.add_argument("--clusters", type=int, default=4096)
    parser.add_argument("--refresh", action="store_true", help="measure kept peers again")
    parser.add_argument("--fit-options", default="", help="more options for vem fit")
    parser.add_argument("--quick", action="store_true", help="small; nothing is written")
    options = common.settle(parser)
    quick = options.quick
    report = common.Report(f"Time-quality front, word vectors, C = {options.clusters:,}")
    kept = {} if quick else kept_peers()
    place = f"{fits.GLOVE} C={options.clusters} {options.threads} threads"
    known = kept.get(place, [])
    with common.scratch() as folder:
        setting = fits.Setting(options, folder, report)
        path, clusters = setting.data(fits.GLOVE), setting.clusters(options.clusters)
        if not path:
            return
        f = fits.iteration(setting, path, clusters)
        reference = references.error(fits.GLOVE, clusters, "full", options.seeds[0],
                                     options.threads, path=path, kept=not quick)
        points = []
        for method in options.methods:
            if method == "vem":
                points = run_vem(setting, path, clusters, f)
                # A busy moment makes f long and us look fast: the better of two counts.
                f = min(f, fits.iteration(setting, path, clusters))
                points = [{**p, "f": round(f, 4)} for p in points]
            elif options.refresh or all(p["method"] != method for p in known):
                # A long run drifts: each peer has an f of its own.
                beside = fits.iteration(setting, path, clusters)
                known = [p for p in known if p["method"] != method]
                known += run_peer(setting, method, path, clusters, beside)
                if not quick:
                    kept[place] = known
                    with open(KEPT + ".part", "w", encoding="utf-8") as file:
                        json.dump(kept, file, indent=1)
                        file.write("\n")
                    os.replace(KEPT + ".part", KEPT)
        points += known
        report.say(f"{options.threads} threads; vem over the seeds "
                   f"{' '.join(map(str, options.seeds))}. f: seconds of one iteration of FAISS "
                   "on all rows beside that point;", "kept points of the peers may come from "
                   "another run, so compare the column \"of f\". Error: sum over all rows; ratio "
                   "to FAISS after 25 iterations on all rows.", "")
        report.table(["method", "effort", "s", "f s", "of f", "error", "error ratio"],
                     [[PEERS[p["method"]][0] if p["method"] in PEERS else p["method"],
                       p["effort"], p["seconds"], p["f"], p["seconds"] / p["f"],
                       f"{p['error']:.6g}", f"{p['error'] / reference:.4f}"] for p in points])
        plot(points, reference,
             os.path.join(folder if quick else report.folder, "front.svg"))
    if not quick:
        report.write("front.md")


if __name__ == "__main__":
    main()
