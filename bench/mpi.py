#!/usr/bin/env python3
"""Several processes: the bits of many combinations, runs that are killed, bytes that are sent.

    bench/mpi.py bits [--processes 1,2,3,5,8] [--only TEXT]   models and labels beside those of one process
    bench/mpi.py kill [--times 20]                            one process is killed at a random moment
    bench/mpi.py bytes                                        bytes sent per step beside the formula

VEM is the command of one process (build/vem), VEM_MPI that of several (build/tests/vem_mpi; both are of the
release build where MPI is found). docs/math/many-machines.md has the formula and what this printed."""
import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import tempfile
import time

import numpy as np

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VEM = os.environ.get("VEM", os.path.join(TOP, "build", "vem"))
MPI = os.environ.get("VEM_MPI", os.path.join(TOP, "build", "tests", "vem_mpi"))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
VOLATILE = {"seconds", "peak_bytes", "threads", "output", "files", "processes", "bytes_sent"}
MEMORY, REPEATS = "has read all rows", "seem to be repetitions"  # notes that one process has not


def make(folder, name, n, d, k, dtype, seed=1):
    rng = np.random.default_rng(seed)
    centers = 4 * rng.normal(size=(k, d))
    spread = 0.5 + rng.random((1, d))
    path = os.path.join(folder, name)
    np.save(path, (centers[rng.integers(k, size=n)] + rng.normal(size=(n, d)) * spread).astype(dtype))
    return path


def command(processes, *words):
    start = ["mpirun", "-n", str(processes), MPI] if processes else [VEM]
    return [*start, *map(str, words)]


def run(folder, processes, *words):
    model, labels = os.path.join(folder, "m.npz"), os.path.join(folder, "l.npy")
    for path in (model, labels):
        if os.path.exists(path):
            os.unlink(path)
    words = [os.path.join(folder, w) if str(w).endswith(".npy") else w for w in words]
    words += [] if words[0] == "coreset" else ["--labels", labels]
    done = subprocess.run(command(processes, *words, "-o", model, "--json", "-q",
                                  "--threads", 1), capture_output=True, text=True, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        return None, done.stderr.strip().split("\n")[0][:200]
    told = json.loads(done.stdout)
    with np.load(model) as file:
        arrays = {name: file[name].tobytes() for name in file.files if name != "meta"}
    if words[0] != "coreset":
        arrays["labels"] = np.load(labels).tobytes()
    said = {k: v for k, v in told.items() if k not in VOLATILE}
    for point in said.get("path", []):
        point.pop("seconds", None)
    said["notes"] = [note for note in told.get("notes", []) if MEMORY not in note and REPEATS not in note]
    return (arrays, said, told), ""


def on_coresets():
    """All that one process can, as every process has the coreset. Labels and measures are of all rows."""
    for algorithm in ("lwcs-kmeans", "vc-gmm", "var-kmeans-s", "kd-em", "incremental-em", "greedy"):
        yield "odd", ["-k", 12, "--algorithm", algorithm, "--coreset", 2000, "--max-steps", 8]
    for family in ("iso-shared", "iso", "diag", "diag-shared", "full", "full-shared", "multinomial"):
        yield ("counts" if family == "multinomial" else "odd"), [
            "-k", 7, "--family", family, "--prior", "free", "--coreset", 3000, "--measure"]
    yield "odd", ["-k", 7, "--coreset", 3000, "--weights", "w.npy", "--measure"]
    yield "odd", ["-k", 200, "--coreset", 5000, "--measure", "sample", "--weights", "w.npy"]
    yield "wide", ["-k", 100, "--coreset", 9000, "--standardize", "--finish", "hard"]
    yield "wide", ["-k", 100, "--coreset", 9000, "--search", "groups", "--seeding", "two-level"]
    yield "wide", ["-k", 20, "--coreset", 9000, "--balance", "soft", "--normalize"]
    yield "wide", ["-k", 20, "--coreset", 9000, "--restarts", 2, "--metric", "cosine"]
    yield "bytes", ["-k", 30, "--coreset", 4000]
    yield "deep", ["-k", 300, "--coreset", 6000]
    yield "select odd", ["--max-clusters", 9, "--coreset", 2000]
    yield "select odd", ["--method", "bayes", "--max-clusters", 9, "--coreset", 2000, "--weights", "w.npy"]
    yield "fit few", ["-k", "2-6", "--coreset", 2000, "--family", "full", "--holdout", 0.2]
    yield "coreset wide", ["-m", 5000]
    yield "coreset wide", ["-m", 5000, "--method", "uniform"]
    yield "coreset odd", ["-m", 3000, "--weights", "w.npy"]
    yield "coreset bytes", ["-m", 3000]


def as_one_process():
    """Few clusters, and nothing that is asked for: starts on samples, whose larger one is in parts."""
    for k, family in ((4, "iso-shared"), (12, "iso"), (9, "diag"), (30, "diag"), (6, "full"), (5, "full-shared")):
        yield "wide", ["-k", k, "--family", family, "--max-steps", 8]
    yield "wide", ["-k", 20]
    yield "large", ["-k", 17]
    yield "large", ["-k", 30, "--family", "diag", "--max-steps", 6]
    yield "odd", ["-k", 9, "--weights", "w.npy", "--measure", "--restarts", 2]
    yield "few", ["-k", 9, "--standardize"]
    yield "bytes", ["-k", 9]
    yield "counts", ["-k", 4, "--family", "multinomial"]
    yield "large counts", ["-k", 5, "--family", "poisson", "--max-steps", 6]
    yield "far", ["-k", 8]
    yield "far", ["-k", 8, "--family", "diag", "--max-steps", 8]


def seeded_by_two_levels():
    words = ["--seeding", "two-level", "--max-steps", 5]
    yield "wide", ["-k", 100, "--algorithm", "kmeans", *words]
    yield "odd", ["-k", 40, "--algorithm", "kmeans", "--weights", "w.npy", *words]
    yield "odd", ["-k", 300, "--search", "closest", "--swaps", 2, *words]
    yield "bytes", ["-k", 60, "--algorithm", "gmm", "--family", "diag", *words]
    yield "far", ["-k", 20, "--algorithm", "kmeans", *words]
    yield "far", ["-k", 30]


def of_many_clusters():
    """Shared lists, rows in the order of clusters, near centers of the seeding; "long" rows go along axes first."""
    yield "wide", ["-k", 300]
    yield "odd", ["-k", 100, "--weights", "w.npy", "--restarts", 2]
    yield "odd", ["-k", 100, "--family", "diag", "--max-steps", 12]
    yield "few", ["-k", 90, "--family", "full", "--max-steps", 12]
    yield "odd", ["-k", 100, "--held", 3, "--finish", "hard", "--max-steps", 20]
    yield "wide", ["-k", 200, "--algorithm", "kmeans", "--search", "groups", "--seeding", "kmeans++"]
    yield "wide", ["-k", 100, "--seeding", "random", "--standardize", "--empty", "reseed"]
    yield "odd", ["-k", 100, "--metric", "cosine"]
    yield "odd", ["-k", 100, "--search", "exact", "--seeding", "two-level", "--normalize"]
    yield "bytes", ["-k", 150]
    yield "deep", ["-k", 1400, "--max-steps", 8]
    yield "long", ["-k", 300]
    yield "long", ["-k", 150, "--weights", "w.npy", "--restarts", 2]


def combinations():
    """(data, words), or (verb data, words)"""
    for algorithm, seeding in itertools.product(
            ("kmeans", "lazy-kmeans", "kmeans-c", "var-kmeans-x", "var-gmm-x", "var-kmeans-s",
             "var-gmm-s"),
            ("random", "kmeans++", "kmeans++-greedy", "afkmc2")):
        yield "wide", ["-k", 24, "--algorithm", algorithm, "--seeding", seeding, "--max-steps", 8]
    for family, empty in itertools.product(
            ("iso-shared", "iso", "diag", "diag-shared", "full", "full-shared"), ("keep", "reseed")):
        yield "few", ["-k", 9, "--algorithm", "gmm", "--family", family, "--empty", empty,
                      "--max-steps", 8]
    for prior, held in itertools.product(("flat", "free"), (1, 3)):
        yield "odd", ["-k", 15, "--algorithm", "gmm", "--search", "closest", "--held", held,
                      "--prior", prior, "--max-steps", 8]
    for family, search in itertools.product(("multinomial", "poisson"), (["all"], ["closest", "--held", 2])):
        yield "sparse", ["-k", 6, "--family", family, "--search", *search, "--max-steps", 6]
    yield "sparse", ["-k", 9, "--family", "poisson", "--weights", "w.npy", "--measure"]
    yield "sparse", ["-k", 70, "--family", "multinomial", "--empty", "reseed", "--max-steps", 6]
    for held, reach, explore in ((1, 5, 1), (3, 8, 0), (10, 10, 2)):
        for clusters, more in ((40, ["--family", "diag"]), (300, ["--empty", "reseed"]),
                               (40, ["--weights", "w.npy"]), (40, ["--swaps", 4])):
            yield "odd", ["-k", clusters, "--search", "estimated", "--held", held, "--reach", reach,
                          "--explore", explore, "--seeding", "random", *more, "--max-steps", 6]
    for balance, more in itertools.product(("soft", "auto"), (["--swaps", 0], ["--swaps", 6],
                                           ["--swaps", 6, "--weights", "w.npy"], ["--swaps", 6, "--family", "iso"])):
        yield "odd", ["-k", 100, "--search", "closest", "--held", 1, "--prior", "flat", "--seeding", "random",
                      "--balance", balance, *more]
    for clusters, cap, more in itertools.product((12, 100), (1, 1.25), ([], ["--weights", "w.npy"])):
        yield "odd", ["-k", clusters, "--algorithm", "kmeans", "--seeding", "random", "--balance", cap, *more]
    yield "wide", ["-k", 100, "--algorithm", "var-kmeans-s", "--balance", "auto"]
    yield "wide", ["-k", 20, "--balance", "soft"]
    yield "odd", ["-k", 10, "--algorithm", "kmeans", "--standardize"]
    yield "odd", ["-k", 10, "--algorithm", "kmeans", "--normalize"]
    yield "odd", ["-k", 10, "--algorithm", "kmeans", "--metric", "cosine"]
    yield "odd", ["-k", 10, "--algorithm", "kmeans", "--precision", "double", "--restarts", 3]
    for seeding, algorithm in itertools.product(("random", "kmeans++", "kmeans++-greedy", "afkmc2"),
                                                ("kmeans", "var-gmm-x")):
        yield "odd", ["-k", 15, "--algorithm", algorithm, "--seeding", seeding, "--weights", "w.npy",
                      "--empty", "reseed", "--max-steps", 8]
    yield "odd", ["-k", 5, "--algorithm", "gmm", "--weights", "w.npy", "--measure", "--max-steps", 8]
    yield "few", ["-k", 9, "--algorithm", "kmeans", "--measure", "sample"]
    yield "few", ["-k", 9, "--algorithm", "kmeans", "--seeding", "afkmc2", "--chain", 2000]
    for algorithm in ("kmeans", "var-gmm-x"):  # more than 1 MB of statistics
        yield "deep", ["-k", 1400, "--algorithm", algorithm, "--seeding", "random", "--max-steps", 4]
    yield "deep", ["-k", 700, "--algorithm", "gmm", "--family", "diag", "--search", "closest", "--held", 3,
                   "--seeding", "random", "--max-steps", 4]
    swaps = ["--swaps", 4, "--seeding", "random", "--max-steps", 14]
    for words in (["-k", 25, "--algorithm", "kmeans", "--weights", "w.npy"],
                  ["-k", 700, "--algorithm", "kmeans", "--empty", "reseed"],
                  ["-k", 30, "--algorithm", "kmeans", "--metric", "cosine"],
                  ["-k", 12, "--algorithm", "var-gmm-x"],
                  ["-k", 40, "--algorithm", "var-kmeans-x", "--explore", 1],
                  ["-k", 9, "--algorithm", "gmm"],
                  ["-k", 9, "--algorithm", "gmm", "--family", "full"]):
        yield "odd", [*words, *swaps]
    for family, held in (("iso", 2), ("diag", 3), ("full", 1), ("full-shared", 3)):
        yield "few", ["-k", 12, "--algorithm", "gmm", "--search", "closest", "--held", held, "--family", family,
                      *swaps]
    yield from on_coresets()
    yield from as_one_process()
    yield from seeded_by_two_levels()
    yield from of_many_clusters()
    yield "holes", ["-k", 9, "--algorithm", "kmeans", "--missing", "mean"]
    yield "holes", ["-k", 9, "--algorithm", "kmeans", "--missing", "drop"]
    yield "part*", ["-k", 9, "--algorithm", "kmeans"]


def bits(folder, args):
    data = {"wide": make(folder, "wide.npy", 70001, 17, 24, "f4"),
            "few": make(folder, "few.npy", 9001, 3, 9, "f8", 2),
            "odd": make(folder, "odd.npy", 12345, 6, 12, "f4", 3),
            "deep": make(folder, "deep.npy", 12000, 100, 40, "f4", 5),
            "long": make(folder, "long.npy", 20011, 260, 200, "f4", 5),
            "holes": os.path.join(folder, "holes.npy"),
            "large": make(folder, "large.npy", 150001, 3, 17, "f4", 7),
            "large counts": os.path.join(folder, "large_counts.npy"), "far": os.path.join(folder, "far.npy"),
            "sparse": os.path.join(folder, "sparse.mtx"), "bytes": os.path.join(folder, "bytes.npy"), "counts": os.path.join(folder, "counts.npy"),
            "part*": os.path.join(folder, "part*.npy")}
    rng = np.random.default_rng(4)
    np.save(os.path.join(folder, "w.npy"), rng.exponential(size=12345) * (rng.random(12345) > 0.2))
    np.save(os.path.join(folder, "v.npy"), rng.exponential(size=20011) * (rng.random(20011) > 0.2))
    rows = np.load(data["few"])
    for number, part in enumerate(np.split(rows, (100, 4000))):
        np.save(os.path.join(folder, f"part{number}.npy"), part)
    np.save(data["bytes"], np.clip(10 * np.load(data["deep"]) + 120, 0, 255).astype("u1"))
    np.save(data["counts"], rng.poisson(np.exp(np.load(data["odd"]) / 4)).astype("f4"))
    np.save(data["large counts"], rng.poisson(np.exp(np.tile(np.load(data["large"]), 4) / 4)).astype("u1"))
    counts = rng.poisson(np.exp(np.load(data["odd"]).repeat(5, axis=1) / 4 - 2))
    counts[:, 0] += 1
    with open(data["sparse"], "w", encoding="ascii") as file:
        places = np.argwhere(counts)
        file.write("%%MatrixMarket matrix coordinate integer general\n{} {} {}\n".format(*counts.shape, len(places)))
        file.writelines(f"{i + 1} {j + 1} {counts[i, j]}\n" for i, j in places)
    far = np.load(make(folder, "far.npy", 50000, 6, 5, "f4", 8))
    far[:20], far[20:40], far[40:60] = -999999, far[0] + 300, far[1] - 300  # which no sample has
    np.save(data["far"], far)
    rows[rng.random(rows.shape) < 0.01] = np.nan
    np.save(data["holes"], rows)
    same = other = 0
    for name, words in combinations():
        if args.only and args.only not in " ".join(map(str, words)):
            continue
        verb, name = (name.split() if name.split()[0] in ("fit", "select", "coreset") else ["fit", name])
        words = [w if w != "w.npy" or name != "long" else "v.npy" for w in words]
        one, why = run(folder, 0, verb, data[name], *words)
        if not one:
            print("NONE", *words, why, flush=True)
        for p in args.processes:
            many, why = run(folder, p, verb, data[name], *words)
            if name == "long" and one and many:  # bounds: which rows lie beside each other decides how many count
                many[1]["scored_pairs"] = one[1]["scored_pairs"]
            equal = one and many and one[:2] == many[:2]
            same, other = same + bool(equal), other + (not equal)
            if not equal:
                print("OTHER", p, *words, why, flush=True)
    print(f"{same} runs with the bits of one process, {other} others")
    return other


def kill(folder, args):
    """In every second run a state is written in every step, and one process goes on from it for a moment;
    in every third clusters sum their rows in turn."""
    data, deep = make(folder, "big.npy", 100000, 20, 30, "f4"), make(folder, "deep.npy", 20000, 100, 40, "f4")
    rng, worst, bad, resumed = random.Random(7), 0, 0, 0
    model, state = os.path.join(folder, "m.npz"), os.path.join(folder, "state")
    often = {**ENVIRONMENT, "VEM_CHECKPOINT_SECONDS": "0"}
    for number in range(args.times):
        words = (["fit", deep, "-k", 1400, "--algorithm", "var-gmm-x", "--explore", 1, "--seeding", "random"]
                 if number % 3 == 2 else
                 ["fit", data, "-k", 200, "--algorithm", "gmm", "--family", "diag"])
        words += ["--tolerance", 0, "--max-steps", 100000, "-o", model]
        words += ["--checkpoint", state, "--resume"] if number % 2 else []
        if os.path.exists(state):
            os.unlink(state)
        process = subprocess.Popen(command(3, *words), env=often, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(1 + 6 * rng.random())
        told = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(process.pid)],
                              capture_output=True, text=True).stdout.split("\n")
        ours = [int(line.split()[0]) for line in told if MPI in line]
        began = time.time()
        os.kill(rng.choice(ours), signal.SIGKILL)
        _, err = process.communicate(timeout=120)
        worst = max(worst, time.time() - began)
        bad += process.returncode == 0 or "signal 9" not in err or os.path.exists(model)
        if os.path.exists(state):
            done = subprocess.run(command(0, *words, "--time", 10), env=often, capture_output=True, text=True)
            bad += done.returncode != 0 or "resumed from" not in done.stderr
            resumed += 1
            if os.path.exists(model):
                os.unlink(model)
    print(f"{args.times} killed, {resumed} gone on with by one process, {bad} badly ended; the slowest end "
          f"took {worst:.1f} s")
    return bad


def count(folder, _):
    """Two numbers of steps: what is between is the steps'."""
    print("| family | C | D | processes | bytes per step | P 8 C s | rest |\n|---|---|---|---|---|---|---|")
    for family, clusters, d in (("iso-shared", 100, 32), ("iso-shared", 1000, 100), ("diag", 100, 100),
                                ("full", 20, 50)):
        data = make(folder, "x.npy", 20000, d, 40, "f4")
        values = 1 + d + {"iso-shared": 1, "diag": d, "full": d * (d + 1) // 2}[family]
        for p in (2, 4):
            sent = []
            for steps in (4, 9):
                found, why = run(folder, p, "fit", data, "-k", clusters, "--algorithm", "gmm", "--family",
                                 family, "--prior", "free", "--seeding", "random", "--tolerance", 0,
                                 "--max-steps", steps, "--search",
                                 "closest" if family == "iso-shared" else "all",
                                 *(["--held", 1] if family == "iso-shared" else []))
                if not found:
                    raise SystemExit(why)
                sent.append(found[2]["bytes_sent"])
            step, sums = (sent[1] - sent[0]) / 5, p * 8 * clusters * values
            print(f"| {family} | {clusters} | {d} | {p} | {step:,.0f} | {sums:,} | {step - sums:,.0f} |",
                  flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("bits", "kill", "bytes"))
    parser.add_argument("--processes", type=lambda s: [int(p) for p in s.split(",")],
                        default=[1, 2, 3, 5, 8])
    parser.add_argument("--only")
    parser.add_argument("--times", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        raise SystemExit({"bits": bits, "kill": kill, "bytes": count}[args.what](folder, args) != 0)


if __name__ == "__main__":
    main()
