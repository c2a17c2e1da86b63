#!/usr/bin/env python3
"""Several processes over a network that is slow: what they send and how long a step takes, beside the model.

    bench/network.py counts            scored pairs of each process; bytes of a step, counted and on the wires
    bench/network.py times             seconds of a step over slow networks, beside what was predicted
    bench/network.py stragglers        the same where each process is given more to do, and some take longer
    bench/network.py chains            a chain of nine pieces, as built and sending while it takes the next
    bench/network.py broadcasts        ways of MPI_Bcast over the same networks
    bench/network.py answer            the error of scikit-learn from the same start

Each process has a network namespace of its own (ip netns), between which bench/wire.c carries packets with a
rate and a delay; bench/spy.c, between vem and MPI, writes down every call. So this needs root, Linux, Open MPI
and compilers. The formulas are in bench/network_model.py, larger machines in network_table.py, what was printed in bench/results/network.md.
VEM is the command of one process, VEM_MPI that of several (build/tests/vem_mpi)."""
import argparse
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import namedtuple

import network_model as model
import numpy as np

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VEM = os.environ.get("VEM", os.path.join(TOP, "build", "vem"))
MPI = os.environ.get("VEM_MPI", os.path.join(TOP, "build", "tests", "vem_mpi"))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}
NETWORKS = ((100, 0.1), (100, 1), (100, 5), (1000, 0.1), (1000, 1), (1000, 5))  # Mbit/s, ms
WAYS = {"default": [], "binomial": [6], "pipeline": [3, model.SEGMENT], "scatter": [8]}
Call = namedtuple("Call", "kind bytes value entered left")


def network(mbit, ms):
    return model.Network(mbit * 1e6 / 8, ms / 1e3)


def table(title, rows):
    print("| " + " | ".join(title) + " |\n|" + "---|" * len(title))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


class Cables:
    """Namespaces and what is between them; all is gone at the end."""

    def __init__(self, folder, count):
        self.folder, self.count, self.carrier = folder, count, None
        self.names = [f"vem{os.getpid()}n{i + 1}" for i in range(count)]
        self.wire, self.spy = self.path("wire"), self.path("spy.so")
        bench = os.path.join(TOP, "bench")
        subprocess.run(["cc", "-D_GNU_SOURCE", "-std=c11", "-O2", "-o", self.wire,
                        os.path.join(bench, "wire.c")], check=True)
        subprocess.run(["mpicc", "-D_GNU_SOURCE", "-std=c11", "-O2", "-shared", "-fPIC", "-o", self.spy,
                        os.path.join(bench, "spy.c")], check=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def __enter__(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
            # Connections that were quiet between two steps go on as they were.
            subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw",
                            "net.ipv4.tcp_congestion_control=reno",
                            "net.ipv4.tcp_slow_start_after_idle=0"], check=True)
        with open(self.path("hosts"), "w") as file:
            file.writelines(f"10.77.0.{i + 1} slots=1\n" for i in range(self.count))
        with open(self.path("agent"), "w") as file:  # mpirun takes it for ssh
            file.write(f'#!/bin/sh\nn=${{1##*.}}; shift\nexec ip netns exec vem{os.getpid()}n$n unshare -u '
                       'sh -c "hostname machine$n; $*"\n')
        os.chmod(self.path("agent"), 0o755)
        return self

    def __exit__(self, *_):
        self.cut()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)

    def lay(self, mbit, ms):
        self.cut()
        self.carrier = subprocess.Popen([self.wire, str(mbit), str(ms), *self.names], text=True,
                                        stdout=subprocess.PIPE)
        if self.carrier.stdout.readline() != "ready\n":
            raise SystemExit("The network could not be laid: see above.")

    def cut(self):
        if self.carrier:
            self.carrier.terminate()
            self.carrier.communicate()
            self.carrier = None

    def sent(self):
        """Bytes that each interface has sent, with headers."""
        found = []
        for name in self.names:
            text = subprocess.run(["ip", "netns", "exec", name, "cat", "/proc/net/dev"], check=True,
                                  capture_output=True, text=True).stdout
            found.append(int(text.split("wire:")[1].split()[8]))
        return found

    def fit(self, processes, words, way="pipeline", **asked):
        """The JSON, the calls of each process, the seconds of each step, bytes on the wires.
        What is asked of bench/spy.c: work="MS SPREAD", behind=1."""
        trace, calls = self.path("trace.csv"), self.path("calls")
        how = WAYS[way] and ["--mca", "coll_tuned_use_dynamic_rules", 1, "--mca",
                             "coll_tuned_bcast_algorithm", WAYS[way][0]]
        if len(WAYS[way]) > 1:
            how += ["--mca", "coll_tuned_bcast_algorithm_segmentsize", WAYS[way][1]]
        line = ["ip", "netns", "exec", self.names[0], "unshare", "-u", "sh", "-c", 'hostname machine1; "$@"',
                "sh", "mpirun", "--hostfile", self.path("hosts"), "-n", processes, "-x",
                f"LD_PRELOAD={self.spy}", "-x", f"VEM_SPY={calls}",
                *(word for name, value in asked.items()
                  for word in ("-x", f"VEM_SPY_{name.upper()}={value}")), "--mca", "plm", "rsh", "--mca",
                "plm_rsh_agent", self.path("agent"), "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                "--mca", "btl_tcp_if_include", "10.77.0.0/24", "--mca", "oob_tcp_if_include",
                "10.77.0.0/24", *how, MPI, *words, "--trace", trace, "-o", self.path("m.npz")]
        before = self.sent()
        done = subprocess.run([str(word) for word in line], env=ENVIRONMENT, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(done.stdout[-300:] + done.stderr[-2000:])
        wires = sum(self.sent()) - sum(before)
        with open(trace) as file:
            seconds = [float(row["seconds"]) for row in csv.DictReader(file)]
        return json.loads(done.stdout), [read_calls(f"{calls}.{p}") for p in range(processes)], seconds, wires


def read_calls(path):
    with open(path) as file:
        words = [line.split() for line in file]
    if words and words[-1][0] == "lost":
        raise SystemExit(f"{words[-1][1]} calls of MPI did not fit into what bench/spy.c keeps.")
    return [Call(w[0], *map(int, w[1:])) for w in words]


def rows(folder, n, d, centers, seed=1):
    rng = np.random.default_rng(seed)
    means = 4 * rng.normal(size=(centers, d))
    path = os.path.join(folder, f"x{n}x{d}.npy")
    np.save(path, (means[rng.integers(centers, size=n)] + rng.normal(size=(n, d))).astype("f4"))
    return path


def steps_of(path, clusters, count, *more):
    return ["fit", path, "-k", clusters, "--algorithm", "gmm", "--family", "iso-shared", "--prior", "free",
            "--seeding", "random", "--tolerance", 0, "--search", "closest", "--held", 1, "--max-steps", count,
            "--threads", 1, "-q", "--json", *more]


def pairs_of(calls):
    """Scored pairs that a process brought: the sums of two whole numbers."""
    return sum(c.value for c in calls if c.kind == "combine" and c.bytes == 16)


def counts(cables, args):
    cables.lay(0, 0)
    shape = (65536, 32, 256)
    data = rows(cables.folder, *shape[:2], 64)
    s = model.values("iso-shared", shape[1])
    work, sent = [], []
    for p in args.processes:
        if p == 1:
            continue
        for name, words in (("closest", steps_of(data, shape[2], 6)),
                            ("var-kmeans-x", ["fit", data, "-k", shape[2], "--algorithm", "var-kmeans-x",
                                              "--seeding", "random", "--max-steps", 8, "--threads", 1, "-q",
                                              "--json"])):
            told, calls, _, _ = cables.fit(p, words)
            each = [pairs_of(c) for c in calls]
            most = max(each) * p / sum(each)
            work.append([name, str(p), f"{sum(each):,}", f"{min(each):,}", f"{max(each):,}", f"{most:.4f}",
                         f"{model.imbalance(p):.4f}", "yes" if most <= 1.05 else "no"])
        several = [cables.fit(p, steps_of(data, shape[2], n)) for n in (4, 12)]
        counted = (several[1][0]["bytes_sent"] - several[0][0]["bytes_sent"]) / 8
        wires = (several[1][3] - several[0][3]) / 8
        formula = model.wire_bytes(p, shape[2], s)
        sent.append([str(p), f"{counted:,.0f}", f"{model.counted_bytes(p, shape[2], s):,}", f"{wires:,.0f}",
                     f"{formula:,}", f"{wires / formula:.4f}"])
    print("Scored pairs of each process, {:,} x {}, C = {}.\n".format(*shape))
    table(("search", "P", "all", "least", "most", "most x P / all", "formula", "within 5 %"), work)
    print("Bytes of a step, of the first of these.\n")
    table(("P", "bytes_sent", "formula", "interfaces", "formula, no headers", "ratio"), sent)


def phases(calls, size):
    """Seconds of compute, chain, broadcast and small calls of each step but the first and last: from when
    the first process begins the chain, the last one the broadcast, all have it, the slowest asks for what
    the others have found, to when the first knows it."""
    last, found, agreed = calls[-1], [], None
    at = [[i for i, c in enumerate(mine) if c.kind == "broadcast" and c.bytes == size] for mine in calls]
    for s in range(len(at[0]) - 1):
        first = at[0][s]
        while calls[0][first - 1].kind in ("send", "receive"):
            first -= 1
        chain = calls[0][first].entered, last[at[-1][s]].entered
        end = max(mine[i[s]].left for mine, i in zip(calls, at))
        asked = max(mine[i[s] + 1].entered for mine, i in zip(calls, at))
        told = calls[0][at[0][s] + model.CALLS].left
        if agreed:  # rows are scored before the small calls, and added up behind them
            found.append((asked - end + chain[0] - agreed, chain[1] - chain[0], end - chain[1], told - asked))
        agreed = told
    return [[1e-9 * v for v in column] for column in zip(*found)]


class Alone:
    """What one process takes for a step of the fit that the following measure."""

    def __init__(self, folder, steps=14):
        self.n, self.d, self.clusters, self.steps = 16384, 64, 1000, steps
        self.rows, self.trace = rows(folder, self.n, self.d, 40), os.path.join(folder, "alone.csv")
        self.s, self.shards = model.values("iso-shared", self.d), self.n // 1024
        self.size, self.pairs = model.sums(self.clusters, self.s), self.n * self.clusters
        self.words = steps_of(self.rows, self.clusters, steps)

    def seconds(self):
        found = []
        for _ in range(5):
            subprocess.run([VEM, *map(str, self.words), "--trace", self.trace], check=True, env=ENVIRONMENT,
                           capture_output=True)
            with open(self.trace) as file:
                found += [float(row["seconds"]) for row in csv.DictReader(file)][1:]
        return min(found)

    def predict(self, processes, line, machine):
        return model.step(processes, self.pairs, self.clusters, self.s, line, machine, "pipeline",
                          self.shards)


def times(cables, args):
    one = Alone(cables.folder)
    alone, measured = one.seconds(), {}
    for mbit, ms in NETWORKS:
        cables.lay(mbit, ms)
        for p in [p for p in args.processes if p > 1]:
            runs = [cables.fit(p, one.words) for _ in range(args.times)]
            parts = [sum(columns, []) for columns in zip(*(phases(r[1], one.size) for r in runs))]
            whole = [v for r in runs for v in r[2][1:-1]]
            measured[mbit, ms, p] = [min(part) for part in parts], min(whole), statistics.median(whole)
    # One constant from the smallest runs, two processes: what is in the chain and is not network.
    a = max(0, statistics.median(
        (measured[mbit, ms, 2][0][1] - model.chain_time(2, one.size, network(mbit, ms), 0))
        / len(model.pieces(one.size)) for mbit, ms in NETWORKS))
    machine = model.Machine(one.pairs / alone, a, args.cores, 0)
    print(f"A step of one process takes {1e3 * alone:.1f} ms, a message {1e3 * a:.2f} ms beside the network "
          f"(P = 2).\n\nMilliseconds, predicted / least measured; step: also the median.\n")
    lines, ratios = [], []
    for (mbit, ms, p), (parts, least, median) in measured.items():
        told = one.predict(p, network(mbit, ms), machine)
        ratios.append(sum(told) / least)
        lines.append([str(mbit), str(ms), str(p),
                      *(f"{1e3 * t:.1f} / {1e3 * m:.1f}" for t, m in zip(told, parts)),
                      f"{1e3 * sum(told):.1f}", f"{1e3 * least:.1f}", f"{1e3 * median:.1f}",
                      f"{ratios[-1]:.2f}"])
    table(("Mbit/s", "ms", "P", "compute", "chain", "broadcast", "small", "step predicted", "least",
           "median", "predicted / least"), lines)
    print(f"predicted / least: {min(ratios):.2f} to {max(ratios):.2f}, median {statistics.median(ratios):.2f}")


def stragglers(cables, args):
    """Work that is slept, 1,600 ms of it shared out: as on machines that have a core for each process."""
    work, one, lines = 1600, Alone(cables.folder, 22), []
    alone = one.seconds()
    for mbit, ms in ((100, 1), (1000, 1)):
        cables.lay(mbit, ms)
        for p in [p for p in args.processes if p > 1]:
            for spread in (0, 0.3):
                _, calls, seconds, _ = cables.fit(p, one.words, work=f"{work / p} {spread}")
                parts = phases(calls, one.size)
                worked = statistics.mean(parts[0])
                sent = [sum(each) for each in zip(*parts[1:])]
                machine = model.Machine(one.pairs / alone, args.message / 1e3, args.cores, 0)
                compute, *told = one.predict(p, network(mbit, ms), machine)
                compute += work / p / 1e3 * (1 + spread * model.slowest(p))
                lines.append([str(mbit), str(p), str(spread), *(f"{1e3 * t:.0f}" for t in (
                    compute, worked, sum(told), min(sent), statistics.median(sent), compute + sum(told),
                    statistics.median(seconds[1:-1])))])
    print(f"{work} ms of work a step, shared out over P processes, 20 steps; milliseconds.\n")
    table(("Mbit/s", "P", "spread", "compute predicted", "mean", "sent predicted", "least", "median",
           "step predicted", "median"), lines)


def chains(cables, args):
    """More pieces: as built, and where a piece is sent while the next one is taken."""
    n, d, clusters, lines = 8192, 128, 2016, []
    data, size = rows(cables.folder, n, d, 40), model.sums(clusters, model.values("iso-shared", d))
    words = ["fit", data, "-k", clusters, "--algorithm", "gmm", "--family", "iso-shared", "--seeding", "random",
             "--tolerance", 0, "--search", "all", "--max-steps", 8, "--threads", 1, "-q", "--json"]
    for mbit, ms in ((100, 1), (100, 5), (1000, 5)):
        cables.lay(mbit, ms)
        for p in [p for p in args.processes if p > 1]:
            line, a = network(mbit, ms), args.message / 1e3
            took = [min(min(phases(cables.fit(p, words, **behind)[1], size)[1]) for _ in range(args.times))
                    for behind in ({}, {"behind": 1})]
            told = model.chain_time(p, size, line, a), model.overlap_time(p, size, line, a)
            lines.append([str(mbit), str(ms), str(p), *(
                text for t, m in zip(told, took) for text in (f"{1e3 * t:.0f}", f"{1e3 * m:.0f}",
                                                              f"{t / m:.2f}"))])
    print(f"Milliseconds of the chain of {size:,} bytes, {len(model.pieces(size))} pieces; least of the steps.\n")
    table(("Mbit/s", "ms", "P", "as built: predicted", "measured", "ratio", "behind: predicted", "measured",
           "ratio"), lines)


def broadcasts(cables, args):
    one = Alone(cables.folder, 10)
    lines = []
    for mbit, ms in ((100, 1), (1000, 1)):
        cables.lay(mbit, ms)
        for p in [p for p in args.processes if p > 2]:
            took = []
            for way in WAYS:
                runs = [cables.fit(p, one.words, way) for _ in range(args.times)]
                took.append(min(min(phases(r[1], one.size)[2]) for r in runs))
            lines.append([str(mbit), str(ms), str(p), *(f"{1e3 * t:.1f}" for t in took), *(
                f"{1e3 * model.broadcast_time(p, one.size, network(mbit, ms), 0, how):.1f}"
                for how in ("linear", "pipeline"))])
    print(f"Milliseconds of the broadcast of {one.size:,} bytes, least of the steps.\n")
    table(("Mbit/s", "ms", "P", *WAYS, "formula: linear", "formula: pipeline"), lines)


def answer(cables, args):
    """The same rows, the same first means, as many updates: scikit-learn's error and ours."""
    from sklearn.cluster import KMeans
    cables.lay(1000, 0.1)
    lines = []
    for n, d, clusters in ((65536, 32, 256), (20000, 100, 50)):
        data, start = rows(cables.folder, n, d, 2 * clusters, 3), cables.path("start.npz")
        base = [data, "--algorithm", "kmeans", "--threads", 1, "-q", "--json"]
        x = np.load(data)
        subprocess.run([VEM, *map(str, ["fit", *base, "-k", clusters, "--seeding", "kmeans++",
                                        "--max-steps", 1, "-o", start])], check=True, capture_output=True)
        with np.load(start) as file:
            means = file["means"].astype("f4")
        for steps in (1, 10):
            peer = KMeans(clusters, init=means, n_init=1, max_iter=steps, tol=0, algorithm="lloyd").fit(x)
            exact = x.astype("f8")

            def error(centers, labels):
                return float(((exact - centers[labels]) ** 2).sum())

            theirs = error(peer.cluster_centers_.astype("f8"), peer.labels_)
            for p in args.processes:
                cables.fit(p, ["fit", *base, "--init", start, "--tolerance", 0, "--max-steps", steps + 1, "--labels",
                               cables.path("l.npy")])
                with np.load(cables.path("m.npz")) as file:
                    ours = file["means"].astype("f8")
                apart = np.abs(ours - peer.cluster_centers_).max()
                mine = error(ours, np.load(cables.path("l.npy")))
                lines.append([f"{n:,} x {d}", str(clusters), str(steps), str(p), f"{theirs:.8g}", f"{mine:.8g}",
                              f"{apart:.1e}"])
    table(("rows", "C", "updates", "P", "scikit-learn", "vem", "means apart by at most"), lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("counts", "times", "stragglers", "chains", "broadcasts", "answer"))
    parser.add_argument("--processes", type=lambda s: [int(p) for p in s.split(",")],
                        default=[1, 2, 4, 8])
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--times", type=int, default=2, help="runs of each, of which the least counts")
    parser.add_argument("--message", type=float, default=0.3, metavar="MS",
                        help="stragglers, chains: what `times` has found for a message")
    args = parser.parse_args()
    if os.geteuid():
        parser.error("namespaces need root: sudo, or a container of your own.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and so namespaces go
    with tempfile.TemporaryDirectory() as folder:
        with Cables(folder, max(args.processes)) as cables:
            {"counts": counts, "times": times, "stragglers": stragglers, "chains": chains,
             "broadcasts": broadcasts, "answer": answer}[args.what](cables, args)


if __name__ == "__main__":
    main()
