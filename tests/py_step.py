#!/usr/bin/env python3
"""vem step: a fit in parts that are called one by one or together, in any order, lost, late or twice: the
bits of vem fit."""
import shlex

from cli_case import *
from py_checkpoint import MARK, blocks_of, state_of

ROWS = 9000  # 8 parts have at least one shard of 1,024 rows each


class Step(Case):
    @classmethod
    def setUpClass(cls):
        rng = random.Random(5)
        cls.rows = [[50 + 7 * (i % 4) + rng.gauss(0, 1.5), 5 * (i % 3) + rng.gauss(0, 1),
                     rng.gauss(0, 2)] for i in range(ROWS)]
        cls.masses = [0.0 if i % 13 == 0 else rng.uniform(0.1, 3) for i in range(ROWS)]

    def setUp(self):
        super().setUp()
        self.data = self.npy("x.npy", self.rows, "<f4")
        self.weights = self.npy("w.npy", self.masses)
        self.vem("seed", self.data, "-k", 6, "-o", self.path("s.npz"), "-q", "--algorithm", "kmeans")
        self.start = ["--init", self.path("s.npz")]
        self.state = self.path("f.step")

    def step(self, *words, codes=(0, 10)):
        done = subprocess.run([VEM, "step", self.state, *map(str, words)], capture_output=True,
                              text=True, check=False, timeout=LIMIT)
        self.assertIn(done.returncode, codes, done.stdout + done.stderr)
        return done

    def begin(self, parts, *words, name="p"):
        for left in (self.state,):
            if os.path.exists(left):
                os.remove(left)
        for left in os.listdir(self.path("f.step.parts")) if os.path.exists(
                self.path("f.step.parts")) else []:
            os.remove(self.path("f.step.parts/" + left))
        return self.step("--parts", parts, "--", self.data, "-o", self.path(name + ".npz"), "-q",
                         "--threads", 1, *words, codes=(10,))

    def results(self, name, labels=True, pairs=True):
        found = npz_parse(self.path(name + ".npz"))
        arrays = [found[key][2] for key in ("means", "weights", "variances")]
        meta = json.loads(bytes(found["meta"][2]))
        more = [meta[key] for key in ("free_energy", "steps", "outcome")]
        more.append([{**step, "seconds": None, "pairs": step["pairs"] if pairs else None}
                     for step in meta["trace"]])
        return arrays + more + ([self.read(name + ".npy")] if labels else [])

    def one_by_one(self, order, limit=400):
        """Rounds of what it prints, each in this order of the commands."""
        rounds = 0
        while (done := self.step()).returncode == 10:
            rounds += 1
            self.assertLess(rounds, limit, "no end")
            for command in order(done.stdout.splitlines()):
                got = subprocess.run(shlex.split(command), capture_output=True, text=True,
                                     check=False, timeout=LIMIT)
                self.assertIn(got.returncode, (0, 10), got.stderr)
        self.assertIn("done", done.stderr)
        return rounds

    def together(self, wait=600):
        done = self.step("--wait", wait, "-q")
        running = [subprocess.Popen(shlex.split(command), stderr=subprocess.PIPE, text=True)
                   for command in done.stdout.splitlines()]
        for process in running:
            said = process.communicate(timeout=LIMIT)[1]
            self.assertEqual(process.returncode, 0, said)
        self.step(codes=(0,))

    def whole(self, *words, pairs=True):
        self.vem("fit", self.data, "-o", self.path("a.npz"), "--labels", self.path("a.npy"), "-q",
                 *words)
        return self.results("a", pairs=pairs)

    def test_one_by_one(self):
        """Any number of parts, any order: the bits of one process, a round a step."""
        rng = random.Random(1)

        def shuffled(commands):
            return rng.sample(commands, len(commands))
        for words in (["--algorithm", "kmeans"],
                      ["--algorithm", "gmm", "--family", "diag", "--weights", self.weights,
                       "--max-steps", 9],
                      ["--family", "full", "--search", "closest", "--held", 2, "--swaps", 0,
                       "--max-steps", 5]):
            words = [*self.start, *words, "--labels", self.path("p.npy")]
            expected = self.whole(*words[:-2])
            for parts in (1, 3, 8):
                self.begin(parts, *words)
                rounds = self.one_by_one(shuffled)
                self.assertEqual(self.results("p"), expected, (parts, words))
                self.assertLess(rounds, 30 + 2 * expected[4])
            self.assertEqual(sorted(os.listdir(self.path("f.step.parts"))),
                             [f"done.{i}" for i in range(1, 9)])

    def test_together(self):
        """All at the same time, one round: seedings and swaps, too."""
        for parts, words in (
                (3, ["-k", 6, "--algorithm", "kmeans", "--swaps", 3]),
                (8, ["-k", 5, "--algorithm", "gmm", "--family", "full", "--search", "closest",
                     "--held", 2, "--swaps", 2, "--weights", self.weights, "--max-steps", 8]),
                (2, ["-k", 7, "--algorithm", "kmeans", "--seeding", "afkmc2", "--chain", 20]),
                (3, ["-k", 70]),
                (3, ["-k", 6, "--algorithm", "var-gmm-x", "--seeding", "random", "--max-steps", 6]),
                (2, ["-k", 9, "--algorithm", "kmeans", "--balance", "soft", "--seeding", "random"]),
                (3, ["-k", 9, "--algorithm", "var-kmeans-s", "--explore", 1, "--seeding", "random",
                     "--max-steps", 5]),
                (4, ["-k", 5, "--algorithm", "kmeans", "--restarts", 2, "--empty", "reseed",
                     "--precision", "double"])):
            expected = self.whole(*words)
            self.begin(parts, *words, "--labels", self.path("p.npy"))
            self.together()
            self.assertEqual(self.results("p"), expected, (parts, words))

    def test_rows_in_another_order(self):
        """Every call reads them again, in the order of the clusters of the seeding."""
        words = ["-k", 70, "--swaps", 0, "--max-steps", 4, "--weights", self.weights]
        expected = self.whole(*words)
        self.begin(2, *words, "--labels", self.path("p.npy"))
        self.one_by_one(lambda commands: commands)
        self.assertEqual(self.results("p"), expected)

    def test_bounds_come_back(self):
        """Shared lists of rows of many columns: what is known of a row is kept with what it holds."""
        rng = random.Random(6)
        centers = [[rng.gauss(0, 0.3) for _ in range(256)] for _ in range(90)]
        self.data = self.npy("wide.npy", [[v + rng.gauss(0, 1) for v in rng.choice(centers)]
                                          for _ in range(2500)], "<f4")
        self.vem("seed", self.data, "-k", 70, "-o", self.path("s.npz"), "-q", "--algorithm", "kmeans",
                 "--seeding", "random")
        words = [*self.start, "--algorithm", "kmeans", "--search", "groups", "--max-steps", 12]
        expected = self.whole(*words, pairs=False)
        self.assertGreater(expected[4], 6)
        self.begin(2, *words, "--labels", self.path("p.npy"))
        self.one_by_one(list)
        self.assertEqual(self.results("p", pairs=False), expected)

    def test_states_that_have_a_row_twice(self):
        """Whoever writes the state of a part can say anything: a sentence, and no labels that nobody gave. Of
        rows that are alike, so that all else that is said stays as it was."""
        self.npy("x.npy", [self.rows[i // 2] for i in range(ROWS)], "<f4")
        self.begin(2, "-k", 70, "--swaps", 0, "--max-steps", 4, "--labels", self.path("p.npy"))
        state, changed = self.path("f.step.parts/state.2"), 0
        while (done := self.step(codes=(0, 1, 10))).returncode == 10:
            for command in done.stdout.splitlines():
                subprocess.run(shlex.split(command), capture_output=True, check=False, timeout=LIMIT)
            if changed or not os.path.exists(state):
                continue
            raw = self.read("f.step.parts/state.2")
            blocks = blocks_of(raw)
            for i, (name, block) in enumerate(blocks):
                if name == "rows":
                    count = struct.unpack("<Q", block[24:32])[0]
                    rows = list(struct.unpack(f"<{count}I", block[40:40 + 4 * count]))
                    other = next(row for row in rows if row % 2 and row - 1 in rows)
                    rows[rows.index(other)] = other - 1
                    blocks[i] = (name, block[:40] + struct.pack(f"<{count}I", *rows) + block[40 + 4 * count:])
                    changed += 1
            self.write("f.step.parts/state.2", state_of(raw[:MARK], blocks))
        self.assertEqual((changed, done.returncode), (1, 1), done.stderr)
        self.assertIn("do not say of every row once who has it", done.stderr)
        self.assertFalse(os.path.exists(self.path("p.npy")))

    def test_lost_late_and_twice(self):
        """Of each round some commands are lost, some come twice: nothing else is made again."""
        rng = random.Random(8)
        words = [*self.start, "--algorithm", "kmeans"]
        expected = self.whole(*words)[:-1]

        def careless(commands):
            return [c for c in commands for _ in range(rng.choice((0, 1, 1, 2)))]
        self.begin(4, *words)
        self.one_by_one(careless)
        self.assertEqual(self.results("p", labels=False), expected)

    def test_killed(self):
        """A part that is killed while it waits, and its files as it left them."""
        words = [*self.start, "--algorithm", "kmeans"]
        expected = self.whole(*words)[:-1]
        self.begin(3, *words)
        killed = 0
        for part, sign in ((2, "m0.2"), (1, "m0.1")):
            with subprocess.Popen([VEM, "step", self.state, "--part", str(part), "--wait", "9999"],
                                  stderr=subprocess.PIPE) as process:
                self.wait_for(lambda sign=sign: os.path.exists(self.path("f.step.parts/" + sign)),
                              process)
                process.kill()
                killed += process.wait() == -signal.SIGKILL
        self.assertEqual(killed, 2)
        said = self.json("step", self.state, code=10)
        self.assertEqual([part["state"] for part in said["parts"]], ["call"] * 3)
        self.one_by_one(list)
        self.assertEqual(self.results("p", labels=False), expected)

    def test_interrupted(self):
        """A signal ends a part that waits, with its own status; it is called again."""
        self.begin(2, *self.start, "--algorithm", "kmeans")
        said = self.path("f.step.parts/m0.2")
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            if os.path.exists(said):
                os.remove(said)
            with subprocess.Popen([VEM, "step", self.state, "--part", "2", "--wait", "9999"],
                                  stderr=subprocess.PIPE,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
                                  ) as process:
                self.wait_for(lambda: os.path.exists(said), process)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=LIMIT), code)
        self.assertEqual(self.json("step", self.state, code=10)["parts"][1]["state"], "call")

    def test_says_what_is_next(self):
        done = self.begin(3, *self.start, "--algorithm", "kmeans")
        lines = done.stdout.splitlines()
        self.assertEqual([shlex.split(line)[1:] for line in lines],
                         [["step", os.path.realpath(self.state), "--part", str(i)] for i in (1, 2, 3)])
        self.assertIn("of 3 parts 3 to be called, 0 waiting, 0 done", done.stderr)
        self.assertEqual(self.step("--part", 2, codes=(10,)).stderr.splitlines()[-1],
                         "vem step: part 2 waits for part 1")
        self.step("--part", 1)
        told = json.loads(self.step("--wait", 5, "--json", codes=(10,)).stdout)
        self.assertEqual([told["command"], told["state"], told["failure"], told["output"]],
                         ["step", "more", None, self.path("p.npz")])
        self.assertEqual([part["state"] for part in told["parts"]], ["waits", "waits", "call"])
        self.assertTrue(told["parts"][2]["command"].endswith("--part 3 --wait 5"))
        self.assertIsNone(told["parts"][0]["command"])
        # The same words again are the same fit; others are not.
        self.step("--parts", 3, "--", self.data, "-o", self.path("p.npz"), "-q", "--threads", 1,
                  *self.start, "--algorithm", "kmeans", codes=(10,))
        self.assertIn("another fit", self.step("--parts", 2, "--", self.data, "-k", 3, "-o",
                                               self.path("p.npz"), codes=(1,)).stderr)
        self.one_by_one(list)
        self.assertEqual(self.json("step", self.state)["state"], "done")

    def test_refused(self):
        self.refuse(2, ["step", self.state], "--parts N")
        self.refuse(2, ["step", self.state, "--part", 1], "is not there")
        for words, says in ((["-k", 3], "-o MODEL.npz"), (["-k", 3, "-o", "m.npz", "--time", 5], "--time"),
                            (["-k", 3, "-o", "m.npz", "--checkpoint", "c"], "--checkpoint"),
                            (["-k", "2-5", "-o", "m.npz"], "2-5"), (["-k", 3, "--sead", 4], "--seed")):
            self.refuse(2, ["step", self.state, "--parts", 2, "--", self.data, *words], says)
        self.refuse(2, ["step", self.state, "--parts", 2, "--", "-", "-k", 3, "-o", "m.npz"],
                    "standard input")
        self.refuse(2, ["step", self.state, "--parts", 65, "--", self.data, "-k", 3], "64")
        self.refuse(2, ["step", self.state, "--parts", 2], "behind --")
        self.refuse(2, ["step", self.state, "--", self.data], "--parts N")
        self.assertFalse(os.path.exists(self.state))
        self.write("f.step", "{}")
        self.refuse(1, ["step", self.state], "no state of vem step")
        self.begin(2, *self.start, "--algorithm", "kmeans")
        self.refuse(2, ["step", self.state, "--part", 3], "there are 2")
        self.refuse(2, ["step", self.state, "--wait", "-1"], "--wait")

    def test_bounded(self):
        """Sums of so many values that they go in turn leave as many files behind for any number of steps."""
        rng = random.Random(9)
        self.data = self.npy("wide.npy", [[rng.gauss(0, 1) for _ in range(64)] for _ in range(4096)],
                             "<f4")
        most = {}
        for steps in (5, 9):
            words = ["-k", 2100, "--algorithm", "kmeans", "--seeding", "random", "--max-steps", steps,
                     "--tolerance", 1e-300]
            self.begin(2, *words)
            counts = []

            def counted(commands, counts=counts):
                counts.append(sum(name.count(".") == 2 and name.startswith("s")
                                  for name in os.listdir(self.path("f.step.parts"))
                                  ) if os.path.exists(self.path("f.step.parts")) else 0)
                return commands
            self.one_by_one(counted)
            most[steps] = max(counts)
            self.assertEqual(self.results("p", labels=False)[4], steps)
        self.assertGreater(most[5], 0)
        self.assertEqual(most[5], most[9])

    def test_done(self):
        """A part that comes once more when it is done has nothing to do, and nothing to wait for."""
        self.begin(2, *self.start, "--algorithm", "kmeans")
        self.one_by_one(list)
        before = sorted(os.listdir(self.path("f.step.parts")))
        for part in (1, 2):
            done = self.step("--part", part, "--wait", 9999, codes=(0,))
            self.assertEqual(done.stderr, f"vem step: part {part} is done\n")
        self.assertEqual(sorted(os.listdir(self.path("f.step.parts"))), before)

    def test_earlier_fit(self):
        """What an earlier fit left is not the end of another one, whose state is not there."""
        self.begin(2, *self.start, "--algorithm", "kmeans")
        self.one_by_one(list)
        os.remove(self.state)
        words = ["step", self.state, "--parts", 2, "--", self.data, "-k", 3, "-o", self.path("q.npz")]
        self.refuse(1, words, "earlier fit", "remove")
        self.begin(2, *self.start, "--algorithm", "kmeans")  # which has removed them

    def test_failed(self):
        """What a part cannot do is told with its sentence, until it is asked for again."""
        self.begin(2, "-k", 6, "--cells", 100)
        while (done := self.step("--part", 1, codes=(1, 10))).returncode == 10:
            self.step("--part", 2, codes=(1, 10))
        self.assertIn("--cells", done.stderr)
        self.assertIn("--cells", self.step(codes=(1,)).stderr)
        self.assertEqual(self.json("step", self.state, code=1)["state"], "failed")
        self.assertEqual(self.step("--again").returncode, 10)

    def test_other_rows(self):
        """The data of a part are not what they were: it is refused by name."""
        self.begin(2, *self.start, "--algorithm", "kmeans")
        for _ in range(3):
            self.step("--part", 1)
            self.step("--part", 2)
        before = self.read("x.npy")
        self.npy("x.npy", [[v + 1 for v in row] for row in self.rows], "<f4")
        self.assertIn("Part 2 says something else", self.step("--part", 2, codes=(1,)).stderr)
        self.assertIn("Part 2 says something else", self.step(codes=(1,)).stderr)
        self.write("x.npy", before)
        self.step("--again", codes=(10,))
        self.one_by_one(list)
        self.assertEqual(self.results("p", labels=False),
                         self.whole(*self.start, "--algorithm", "kmeans")[:-1])

    def test_several_files_and_folders(self):
        """Rows of several files are cut where they are; a loop may be elsewhere; names with blanks."""
        cuts = [0, 100, 5000, ROWS]
        names = [self.npy(f"part {i}.npy", self.rows[a:b], "<f4")
                 for i, (a, b) in enumerate(zip(cuts, cuts[1:]))]
        self.state = self.path("a fit's.step")
        self.step("--parts", 3, "--", *names, *self.start, "--algorithm", "kmeans", "-o",
                  self.path("p.npz"), codes=(10,))
        self.one_by_one(list)
        self.assertEqual(self.results("p", labels=False),
                         self.whole(*self.start, "--algorithm", "kmeans")[:-1])


if __name__ == "__main__":
    main()
