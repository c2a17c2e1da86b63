#!/usr/bin/env python3
"""A billion rows of 768 values on 16 to 256 machines, by the formulas of network_model.py: nothing is run.

    bench/network_table.py [--rows 1e9] [--columns 768] [--work 1.1e11] [--cores 32]

--work is what a core does, in multiply-adds a second: scored pairs times columns, from the step of one process
that `network.py times` prints (16,384 x 64, C = 1,000). A machine has --cores of them and one process, 0.05 ms of
delay, 0.01 ms for a message, and times that spread by 3 %: assumptions, not measurements."""
import argparse
import math

import network_model as model
from network import table

MACHINES, GBITS, CLUSTERS = (16, 64, 256), (10, 100), (1024, 65536, 1000000)
DELAY, MESSAGE, SPREAD = 50e-6, 10e-6, 0.03
FEW = 64  # clusters tried for a row by a search that knows neighbors


def seconds(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def share(part, rest):
    found = part / (part + rest)
    return "< 1 %" if found < 0.01 else f"{100 * found:.0f} %"


def size_of(value):
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} PB"


def times(n, d, rate):
    s, lines = model.values("iso-shared", d), []
    for clusters in CLUSTERS:
        for gbit in GBITS:
            for p in MACHINES:
                line, m = model.Network(gbit * 1e9 / 8, DELAY), model.sums(clusters, s)
                machine = model.Machine(rate / d, MESSAGE, 0, SPREAD)
                shards = max(model.SHARDS, p)  # 256 machines need more shards than there are: not built
                every, chain, broadcast, small = model.step(p, n * clusters, clusters, s, line, machine,
                                                            "pipeline", shards)
                few = model.compute_time(p, n * FEW, machine, shards)
                sent = chain + broadcast + small
                overlap = model.overlap_time(p, m, line, MESSAGE) + broadcast + small
                lines.append([f"{clusters:,}", str(gbit), str(p) + (" *" if p > model.SHARDS else ""),
                              seconds(every), seconds(few), seconds(sent), share(sent, every), share(sent, few),
                              seconds(overlap),
                              seconds(model.ring_time(p, m, line, MESSAGE)),
                              seconds(model.tree_time(p, m, line, MESSAGE)),
                              f"{math.ceil(every * p / sent):,}", f"{math.ceil(few * p / sent):,}"])
    table(("C", "Gbit/s", "machines", "all pairs", f"{FEW} pairs", "sent: chain as built", "of the step, all",
           f"of the step, {FEW}", "chain, overlapped", "ring", "tree", "even at P, all", f"even at P, {FEW}"),
          lines)


def in_turn(d):
    s, lines = model.values("iso-shared", d), []
    for clusters in CLUSTERS:
        for p in MACHINES:
            found = [model.turn_bytes(clusters, s, d, lot) for lot in (64, 256)]
            lines.append([f"{clusters:,}", str(p) + (" *" if p > model.SHARDS else ""),
                          size_of(model.sums(clusters, s)), *map(size_of, found), *(seconds((p - 1) * f * 8 / 1e10) for f in found)])
    table(("C", "machines", "statistics", "handed on, lots of 64", "of 256", "seconds at 10 Gbit/s, 64", "256"),
          lines)


def sent(n, d):
    s, lines = model.values("iso-shared", d), []
    for clusters in CLUSTERS:
        for p in MACHINES:
            built = model.wire_bytes(p, clusters, s)
            lines.append([f"{clusters:,}", str(p) + (" *" if p > model.SHARDS else ""),
                          size_of(model.counted_bytes(p, clusters, s)), size_of(built),
                          size_of(model.owner_bytes(p, clusters, d)), *(
                              f"{size_of(found)} ({found / built:.2g})" for found in (
                                  model.sparse_bytes(p, clusters, d, n, f) for f in (1e-2, 1e-4, 1e-6)))])
    table(("C", "machines", "bytes_sent", "wires, as built", "owners", "sparse, 1 % change", "0.01 %",
           "0.0001 %"), lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--columns", type=int, default=768)
    parser.add_argument("--work", type=float, default=1.1e11)
    parser.add_argument("--cores", type=int, default=32)
    args = parser.parse_args()
    print("Seconds of a step.\n")
    times(args.rows, args.columns, args.work * args.cores)
    print("Sums in turn (closest, exact; C s > 131,072): what goes from one machine to the next, and how long "
          "all of that takes.\n")
    in_turn(args.columns)
    print("Bytes of a step, all machines; behind it, beside what is built.\n")
    sent(args.rows, args.columns)


if __name__ == "__main__":
    main()
