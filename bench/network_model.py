"""What a step over several processes sends, and how long that takes: formulas; nothing is run here.

P processes, N rows, C clusters, s doubles of statistics a cluster, M = 8 C s bytes of statistics, in
B = ceil(M / m) pieces of m = 256 KB (src/comm/chain.c); a network of r bytes a second, d seconds from one
machine to another, a seconds that a message takes both ends.

**Bytes of a step.** What vem counts (`bytes_sent`; a broadcast once, a sum once a process):

    counted = P M + (4,112 + 24) P

and what goes over the wires, without headers: statistics P - 1 times forward and P - 1 times back; of two
trees what each tells (8 and 2,048 bytes, twice) to each other one; two sums by halves.

    wires = 2 M (P - 1) + 4,112 P (P - 1) + 24 P log2 P

**Time of a step** = compute + chain + broadcast + small.

    compute    (pairs / P) imbalance / (pairs a second), imbalance = ceil(shards / P) P / shards, times the
               straggler factor 1 + v z(P): all wait for the slowest of P whose times have a spread of v (a
               share of their mean), and z is the mean of the largest of P normal numbers
    small      six calls, one after the other, of several messages one after the other, d + a each, as Open
               MPI 4.1 makes them (measured with a delay of 20 ms): a gather of 8 bytes P (2 processes: 1),
               one of 2,048 bytes ceil(log2 P), where P is odd P - 1, a sum ceil(log2 P); two of each
    chain      by chain_time(): a piece of more than 64 KB is asked for before it is sent (there, back, and the
               bytes: 3 d), and who sends it does nothing else until it has left. So one in the middle takes
               a piece and then sends it, by turns, and not both at once. With t = a + m / r
                   first piece   (P - 1) (t + 3 d)
                   each further  2 t + 4 d    (P > 2; P = 2: t + 2 d)
               while one that takes a piece while it sends the last needs t + 2 d for each further one
    broadcast  linear: (P - 1) M / r + 3 d (what Open MPI 4.1 takes for M < 1 MB);
               pipeline of segments of g: the first takes (P - 2) (g / r + d + a) and d + a, each max(g / r, a P /
               cores): all processes handle segments at a time, and here share cores (in a chain one or two do)

**Other ways**, not built, for the table: all-reduce by a ring 2 (P - 1) (M / (P r) + d + a), by a tree and
back 2 log2(P) (M / r + d + a). Owners: cluster c is added up by process c mod P, which sends its means (4 bytes a
value) to all. Sparse: only clusters that some row of the process came to or left in this step are sent; with
a share f of rows changing, at random, a process has touched(C, 2 f N / P) = C (1 - exp(-2 f N / (P C)))."""
import math
import statistics
from collections import namedtuple

PIECE = 1 << 18  # bytes (src/comm/chain.c)
EAGER = 1 << 16  # bytes up to which a message is sent unasked (btl_tcp_eager_limit of Open MPI)
SEGMENT = 1 << 15  # bytes of a segment of the pipelined broadcast (network.py asks for it)
CALLS = 6  # small calls of a step: 4 gathers, 2 sums
TREES = 2 * (8 + 2 * (64 + 64) * 8)  # bytes a process tells: a count and the numbers of two trees
SUMS = 16 + 8  # bytes of the two sums
WAVE = 1 << 22  # rows whose clusters are sorted at a time (src/em/collect.c)
SHARDS = 64  # stretches of rows that processes share out

Network = namedtuple("Network", "rate delay")  # bytes a second, seconds
Machine = namedtuple("Machine", "pairs_per_s message cores spread")  # of a process; a; cores; v


def values(family, d):
    """s: the mass, the moments, the squares."""
    return 1 + d + {"iso-shared": 1, "iso": 1, "diag": d, "diag-shared": d,
                    "full": d * (d + 1) // 2, "full-shared": d * (d + 1) // 2}[family]


def sums(clusters, s):
    """M."""
    return 8 * clusters * s


def rounds(processes):
    return math.ceil(math.log2(processes)) if processes > 1 else 0


def counted_bytes(processes, clusters, s):
    """What `bytes_sent` of `vem fit --json` grows by in a step."""
    return processes * (sums(clusters, s) + TREES + SUMS) if processes > 1 else 0


def wire_bytes(processes, clusters, s):
    """What all interfaces together send in a step, without headers."""
    return ((processes - 1) * (2 * sums(clusters, s) + TREES * processes)
            + SUMS * processes * rounds(processes))


def imbalance(processes, shards=SHARDS):
    """The work of who has most, beside the mean."""
    return math.ceil(shards / processes) * processes / shards


def slowest(processes):
    """z(P), by Blom's quantile: 2 % off at most."""
    if processes == 1:
        return 0
    return statistics.NormalDist().inv_cdf((processes - 0.375) / (processes + 0.25))


def compute_time(processes, pairs, machine, shards=SHARDS):
    return (pairs / processes * imbalance(processes, shards) / machine.pairs_per_s
            * (1 + machine.spread * slowest(processes)))


def small_messages(processes):
    """How many follow one another in the six small calls of a step."""
    if processes == 1:
        return 0
    tiny = processes if processes > 2 else 1
    gather = processes - 1 if processes % 2 else rounds(processes)
    return 2 * (tiny + gather + rounds(processes))


def small_time(processes, network, a):
    return small_messages(processes) * (network.delay + a)


def pieces(size):
    return [PIECE] * (size // PIECE) + ([size % PIECE] if size % PIECE else [])


def chain_time(processes, size, network, a):
    """Piece by piece and process by process, as in the loop of vem_i_comm_chain."""
    d, free = network.delay, [0.0] * processes  # when each can begin something
    link = [0.0] * processes  # when its wire is free
    for piece in pieces(size):
        come = free[0]
        for p in range(processes - 1):
            on_wire = piece / network.rate
            if piece > EAGER:  # asked for, answered, sent
                begins = max(max(come, free[p]) + d, free[p + 1]) + d
                left = max(begins, link[p]) + a + on_wire
                free[p] = left
            else:
                free[p] = max(come, free[p]) + a
                left = max(free[p], link[p]) + on_wire
            link[p] = left
            come = free[p + 1] = max(left + d, free[p + 1])
    return free[processes - 1]


def chain_bound(processes, size, network, a):
    """The same in one line, for many pieces of one size."""
    t, d = a + min(PIECE, size) / network.rate, network.delay
    further = max(0, math.ceil(size / PIECE) - 1)
    return ((processes - 1) * (t + 3 * d)
            + further * (2 * t + 4 * d if processes > 2 else t + 2 * d))


def turn_bytes(clusters, s, d, lot):
    """What goes from one process to the next in sums in turn (src/em/collect_apart.c), single precision: M,
    and the rows that are too few for a lot, in the mean half a lot of each cluster, or of a wave."""
    return sums(clusters, s) + min(clusters * (lot - 1) / 2, WAVE / 2) * 4 * d


def overlap_time(processes, size, network, a):
    """A chain that sends a piece while it takes the next one: not built (network.py chains tries it)."""
    t, d = a + min(PIECE, size) / network.rate, network.delay
    return (processes - 1) * (t + 3 * d) + max(0, math.ceil(size / PIECE) - 1) * (t + 2 * d)


def broadcast_time(processes, size, network, a, how="pipeline", cores=0):
    d, r = network.delay, network.rate
    handled = a * (max(1, processes / cores) if cores else 1)
    if processes == 1:
        return 0
    if how == "linear":
        return (processes - 1) * size / r + 3 * d + a
    return (max(size / r, math.ceil(size / SEGMENT) * handled)
            + (processes - 2) * (SEGMENT / r + d + a) + d + a)


def ring_time(processes, size, network, a):
    return 2 * (processes - 1) * (size / processes / network.rate + network.delay + a)


def tree_time(processes, size, network, a):
    return 2 * rounds(processes) * (size / network.rate + network.delay + a)


def step(processes, pairs, clusters, s, network, machine, how="pipeline", shards=SHARDS):
    """Seconds of compute, chain, broadcast, small."""
    size = sums(clusters, s)
    compute = compute_time(processes, pairs, machine, shards)
    if processes == 1:
        return compute, 0, 0, 0
    a = machine.message
    few = len(pieces(size)) * processes < 100000
    chain = (chain_time if few else chain_bound)(processes, size, network, a)
    return (compute, chain, broadcast_time(processes, size, network, a, how, machine.cores),
            small_time(processes, network, a))


def touched(clusters, rows):
    """Clusters that `rows` rows come to, where each takes one at random."""
    return clusters * -math.expm1(-rows / clusters)


def owner_bytes(processes, clusters, d):
    """Sums to their owners, means (single precision) and weights from them: all processes. Not built."""
    return (processes - 1) * clusters * (8 * (d + 2) + 4 * (d + 1))


def sparse_bytes(processes, clusters, d, rows, changing):
    """The same for clusters that changed only, with their numbers (4 bytes). Not built."""
    there = touched(clusters, 2 * changing * rows / processes) * (8 * (d + 2) + 4)
    back = touched(clusters, 2 * changing * rows) * (4 * (d + 1) + 4)
    return (processes - 1) * (there + back)
