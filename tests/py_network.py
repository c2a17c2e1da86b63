#!/usr/bin/env python3
"""What the model of the costs of many processes (bench/network_model.py) says of bytes, messages and work is
what runs of several processes do: counted by vem, and by bench/spy.c, which stands between it and MPI. No time
is looked at."""
import math

from mpi_case import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import network_model as model

SPY = os.environ.get("VEM_MPI_SPY", "")
N, D = 65536, 3  # as many shards as there are


class Network(Case):
    def fit(self, processes, steps, clusters, family, search):
        """bytes_sent, and the calls of each process: kind, bytes, value."""
        told = self.path("calls")
        line = [MPIRUN, "-n", processes, "env", f"LD_PRELOAD={SPY}", MPI, "fit", self.path("x.npy"), "-k",
                clusters, "--algorithm", "gmm", "--family", family, "--prior", "free", "--seeding", "random",
                "--tolerance", 0, "--max-steps", steps, *search, "--threads", 1, "-q", "--json", "-o",
                self.path("m.npz")]
        done = subprocess.run([str(word) for word in line], env=environment(VEM_SPY=told), timeout=LIMIT, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = []
        for p in range(processes):
            words = [line.split() for line in self.read(f"calls.{p}").decode().splitlines()]
            calls.append([(w[0], int(w[1]), int(w[2])) for w in words])
        return json.loads(done.stdout)["bytes_sent"], calls

    def wires(self, calls):
        """Bytes that come to another process. Of a broadcast all tell how long it is: counted once."""
        p, total = len(calls), 0
        for mine in calls:
            for kind, count, _ in mine:
                total += {"send": count, "receive": 0, "broadcast": count * (p - 1) / p,
                          "gather": count * (p - 1), "combine": count * model.rounds(p)}[kind]
        return total

    def test_bytes_messages_and_work_of_a_step(self):
        rng = np.random.default_rng(5)
        np.save(self.path("x.npy"), rng.normal(size=(N, D)).astype("f4"))
        for p, clusters, family, search in ((2, 40, "iso-shared", ("--search", "closest", "--held", 1)),
                                            (3, 7, "full", ("--search", "all")),
                                            (5, 9, "diag", ("--search", "all"))):
            s = model.values(family, D)
            few, many = (self.fit(p, steps, clusters, family, search) for steps in (3, 5))
            case = (p, clusters, family)
            self.assertEqual(many[0] - few[0], 2 * model.counted_bytes(p, clusters, s), case)
            self.assertAlmostEqual(self.wires(many[1]) - self.wires(few[1]),
                                   2 * model.wire_bytes(p, clusters, s), delta=1e-3, msg=case)
            for one, other in zip(few[1], many[1]):
                small = [sum(c[0] in ("gather", "combine") for c in calls) for calls in (one, other)]
                self.assertEqual(small[1] - small[0], 2 * model.CALLS, case)
            work = [sum(c[2] for c in calls if c[0] == "combine" and c[1] == 16) for calls in many[1]]
            self.assertGreaterEqual(sum(work), 5 * N * clusters)
            self.assertAlmostEqual(max(work) * p / sum(work), model.imbalance(p), places=9, msg=case)
            self.assertLess(max(work) * p / sum(work), 1.05, case)

    def test_time_of_a_chain(self):
        """By hand: 2 seconds a piece, half a second of delay."""
        line = model.Network(model.PIECE / 2, 0.5)
        self.assertAlmostEqual(model.chain_time(2, model.PIECE, line, 0), 3.5)  # asked, answered, sent
        self.assertAlmostEqual(model.chain_time(3, model.PIECE, line, 0), 7)
        # A third takes the second piece when it has the first, and the second one had to send that first.
        self.assertAlmostEqual(model.chain_time(3, 2 * model.PIECE, line, 0), 7 + 2 * 2 + 4 * 0.5)
        self.assertAlmostEqual(model.chain_time(2, 2 * model.PIECE, line, 0), 3.5 + 2 + 1)
        self.assertAlmostEqual(model.chain_time(4, model.EAGER, line, 0), 3 * (0.5 + 0.5))
        for p in (2, 3, 7, 16):
            self.assertAlmostEqual(model.chain_time(p, 50 * model.PIECE, line, 0.25),
                                   model.chain_bound(p, 50 * model.PIECE, line, 0.25))

    def test_what_others_would_send(self):
        self.assertEqual(model.counted_bytes(1, 100, 34), 0)
        self.assertEqual(model.wire_bytes(1, 100, 34), 0)
        self.assertAlmostEqual(model.touched(1000, 1000), 1000 * (1 - 1 / math.e))
        self.assertAlmostEqual(model.touched(1e6, 1), 1, places=5)
        everything = model.sparse_bytes(4, 1000, 10, 1e9, 1)
        self.assertAlmostEqual(everything, model.owner_bytes(4, 1000, 10) + 3 * 1000 * (4 + 4))
        self.assertLess(model.sparse_bytes(4, 1000, 10, 1e9, 1e-8), everything / 10)
        self.assertEqual(model.turn_bytes(10, 5, 3, 65), 8 * 10 * 5 + 10 * 32 * 4 * 3)
        self.assertEqual(model.turn_bytes(1 << 20, 5, 3, 65), (8 * 5 << 20) + (1 << 21) * 4 * 3)
        self.assertEqual([model.imbalance(p) for p in (1, 4, 64, 48)], [1, 1, 1, 1.5])


if __name__ == "__main__":
    if not np or not MPIRUN or not os.path.exists(MPI) or not os.path.exists(SPY):
        print("Skipped: several processes need MPI (libopenmpi-dev, openmpi-bin) and numpy.")
        sys.exit(77)
    unittest.main()
