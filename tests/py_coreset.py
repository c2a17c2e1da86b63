#!/usr/bin/env python3
"""vem coreset and fit --coreset, from a file to a file: golden values, the round trip through the
.npz, labels and measures of all rows, sentences, Ctrl-C."""
import fcntl
import random
import termios

from cli_case import *


def heavy(n=4000, d=3, seed=1):
    """Rows with a few far away."""
    rng = random.Random(seed)
    return [[rng.gauss(0, 1) * (20 if i % 50 == 0 else 1) + 5 for _ in range(d)]
            for i in range(n)]


def parts(path):
    """(rows as lists, weights, indices) of a coreset file."""
    arrays = npz_parse(path)
    assert set(arrays) - {"meta"} == {"rows", "weights", "indices"}, set(arrays)
    (n, d), _, flat = arrays["rows"]
    assert arrays["weights"][:2] == ((n,), "<f8") and arrays["indices"][:2] == ((n,), "<i8")
    return [flat[i * d:(i + 1) * d] for i in range(n)], arrays["weights"][2], arrays["indices"][2]


class Coreset(Case):
    def draw(self, *words):
        result = self.json("coreset", *words, "-o", self.path("c.npz"))
        return (result, *parts(self.path("c.npz")))

    def test_golden(self):
        with open(os.path.join(SOURCE, "tests", "golden", "coreset_seeding.json"),
                  encoding="utf-8") as file:
            golden = json.load(file)
        data = self.npy("x.npy", golden["X"])
        weights = self.npy("w.npy", golden["input_weights"])
        n = len(golden["X"])
        for more, w, q in (([], [1.0] * n, golden["q"]),
                           (["--weights", weights], golden["input_weights"],
                            golden["q_weighted_input"])):
            met = set()
            for seed in range(12):
                _, rows, gamma, indices = self.draw(data, "-m", 7, "--seed", seed, *more)
                for row, g, i in zip(rows, gamma, indices):
                    self.assertEqual(row, golden["X"][i])
                    self.assertAlmostEqual(g, w[i] / (7 * q[i]), delta=1e-9 * g)
                met |= set(indices)
            self.assertEqual(met, {i for i in range(n) if w[i] > 0})
        # The weights of the golden draw, too.
        m = golden["m"]
        for i, g in zip(golden["draw"], golden["weights"]):
            self.assertAlmostEqual(g, 1 / (m * golden["q"][i]), delta=1e-9 * g)

    def test_json_and_file(self):
        data = self.npy("x.npy", heavy(), "<f4")
        result, rows, weights, indices = self.draw(data, "-m", 500)
        self.assertEqual([result[key] for key in ("command", "method", "n", "d", "items",
                                                  "all_rows", "reduce_pairs", "seed")],
                         ["coreset", "lightweight", 4000, 3, 500, False, 4000, 1])
        self.assertEqual(set(result["seconds"]), {"read", "reduce", "total"})
        self.assertAlmostEqual(result["coreset_mass"], sum(weights), delta=1e-6)
        self.assertEqual(npz_parse(self.path("c.npz"))["rows"][1], "<f4")
        self.assertEqual(len(rows), 500)
        self.assertLessEqual(max(weights), 2 * 4000 / 500)
        self.assertEqual(indices, sorted(indices))
        uniform = self.draw(data, "-m", 500, "--method", "uniform")
        self.assertEqual(uniform[0]["reduce_pairs"], 0)
        self.assertEqual(uniform[2], [8.0] * 500)
        # Far rows are a fiftieth of all, and most of the squared distance.
        far = lambda list_: sum(i % 50 == 0 for i in list_)
        self.assertGreater(far(indices), 8 * far(uniform[3]))
        self.assertEqual(self.vem("info", self.path("c.npz")).stdout.count("weighted"), 1)

    def test_same_bytes(self):
        data = self.npy("x.npy", heavy(20000, 8))
        for i, words in enumerate((["--threads", 1], ["--threads", 3], [])):
            self.vem("coreset", data, "-m", 300, "-o", self.path(f"{i}.npz"), *words)
        self.assertEqual(self.read("0.npz"), self.read("1.npz"))
        self.assertEqual(self.read("0.npz"), self.read("2.npz"))
        self.vem("coreset", data, "-m", 300, "-o", self.path("3.npz"), "--seed", 2)
        self.assertNotEqual(self.read("0.npz"), self.read("3.npz"))

    def test_formats_and_columns(self):
        rows = [[round(x * 64) / 64 for x in row] for row in heavy(600)]
        text = "id,a,b,c\n" + "".join(f"{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(rows))
        wanted = self.draw(self.npy("x.npy", rows), "-m", 50)[1:]
        self.assertEqual(self.draw(self.write("x.csv", text), "--id", "id", "-m", 50)[1:], wanted)
        self.assertEqual(self.draw(self.npy("f.npy", rows, fortran=True), "-m", 50)[1:], wanted)
        picked = self.draw(self.write("x.csv", text), "--columns", "c,a", "-m", 50)
        for row, i in zip(picked[1], picked[3]):
            self.assertEqual(row, [rows[i][2], rows[i][0]])

    def test_all_rows(self):
        rows = heavy(30)
        data = self.npy("x.npy", rows)
        for size in (30, 31, 10 ** 12):
            result, got, weights, indices = self.draw(data, "-m", size)
            self.assertTrue(result["all_rows"])
            self.assertEqual((got, weights, indices), (rows, [1.0] * 30, list(range(30))))
        said = self.vem("coreset", data, "-m", 30, "-o", self.path("c.npz")).stdout
        self.assertIn("all 30 rows", said)

    def test_refusals(self):
        data, out = self.npy("x.npy", heavy(30)), self.path("c.npz")
        bad = heavy(30)
        bad[7][1] = math.nan
        self.refuse(2, ["coreset", data, "-o", out], "-m N")
        self.refuse(2, ["coreset", data, "-m", 5], "-o CORESET.npz")
        for size in (0, -1, "x", 1.5, 10 ** 30):
            self.refuse(2, ["coreset", data, "-m", size, "-o", out], "--size")
        self.refuse(2, ["coreset", data, "-m", 5, "-o", out, "--method", "heavy"],
                    r"lightweight\|uniform")
        self.refuse(2, ["coreset", data, "-m", 5, "-o", self.path("c.npy")], "npz")
        self.refuse(1, ["coreset", self.path("none.npy"), "-m", 5, "-o", out], "none.npy")
        self.refuse(1, ["coreset", self.npy("bad.npy", bad), "-m", 5, "-o", out],
                    "row 8, column 2 is NaN")
        weights = self.npy("w.npy", [-1.0] + [1.0] * 29)
        self.refuse(1, ["coreset", data, "-m", 5, "-o", out, "--weights", weights], "row 1")
        self.vem("coreset", data, "-m", 5, "-o", out)
        before = self.read("c.npz")
        self.refuse(2, ["coreset", out, "-m", 2, "-o", out], "overwritten")
        weights = self.npy("w.npy", [1.0] * 5)
        self.refuse(2, ["fit", out, "-k", 2, "--weights", weights], "weights of its own")
        self.assertEqual(self.read("c.npz"), before)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_full_disk(self):
        data = self.npy("x.npy", heavy(3000, 8))
        os.symlink("/dev/full", self.path("full.npz"))
        self.refuse(1, ["coreset", data, "-m", 2000, "-o", self.path("full.npz")],
                    "disk is full|no space left")

    def test_interrupt(self):
        data = self.npy("x.npy", heavy(100), "<f8")
        fifo = self.path("x.csv")
        os.mkfifo(fifo)  # it waits for rows that never come: Ctrl-C finds it there
        process = subprocess.Popen(
            [VEM, "coreset", fifo, "-m", "5", "-o", self.path("c.npz")],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        writer = os.open(fifo, os.O_WRONLY)
        os.write(writer, b"1,2\n3,4\n")
        # Taken from the pipe, they are read.
        self.wait_for(lambda: struct.unpack("i", fcntl.ioctl(writer, termios.FIONREAD, b"    "))[0] == 0,
                      process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
        os.close(writer)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(self.path("c.npz")))
        self.assertTrue(os.path.exists(data))


class Fit(Case):
    def setUp(self):
        super().setUp()
        self.rows, self.truth = blobs(n=3000, clusters=4, gap=20.0)
        self.data = self.npy("x.npy", self.rows)

    def test_with_and_on_a_coreset(self):
        self.vem("coreset", self.data, "-m", 200, "--seed", 5, "-o", self.path("c.npz"))
        for family in ("iso-shared", "iso", "diag", "full"):
            words = ["-k", 4, "--seed", 5, "--family", family]
            on = self.json("fit", self.path("c.npz"), *words, "-o", self.path("on.npz"))
            with_ = self.json("fit", self.data, *words, "--coreset", 200, "--measure",
                              "-o", self.path("with.npz"), "--labels", self.path("l.npy"))
            for key in FIT_KEYS:
                self.assertIn(key, with_)
            self.assertEqual([with_[key] for key in ("n", "items", "rows_used", "reduce_pairs")],
                             [3000, 200, 200, 3000])
            self.assertEqual([on[key] for key in ("n", "items", "rows_used", "reduce_pairs")],
                             [200, 200, 200, 0])
            # Fits of diag and full draw in the units of the columns, vem coreset in the data's.
            if family.startswith("iso"):
                self.assertEqual(with_["free_energy"], on["free_energy"])
                self.assertEqual(npz_parse(self.path("with.npz"))["means"],
                                 npz_parse(self.path("on.npz"))["means"])
            # Labels and measures are those of all rows.
            self.vem("predict", self.path("with.npz"), self.data, "-o", self.path("p.npy"))
            self.assertEqual(self.read("l.npy"), self.read("p.npy"))
            score = self.json("score", self.path("with.npz"), self.data)
            for key in ("quantization_error", "log_likelihood"):
                self.assertEqual(score[key], with_[key])
            labels = npy_parse(self.read("l.npy"))[2]
            self.assertEqual(len({(a, b) for a, b in zip(labels, self.truth)}), 4)

    def test_presets(self):
        for name in ("lwcs-kmeans", "vc-gmm"):
            result = self.json("fit", self.data, "-k", 8, "--algorithm", name, "--measure")
            self.assertEqual((result["algorithm"], result["items"]), (name, 128))
            self.assertEqual(result["options"]["chain"], 2)
            self.assertGreater(result["quantization_error"], 0)
            said = self.vem("fit", self.data, "-k", 8, "--algorithm", name).stdout
            self.assertIn("a coreset of 128 rows", said)
            text = self.vem("fit", "--help").stdout
            self.assertRegex(text, rf"\n  {name} +iso-shared +flat ")

    def test_words(self):
        self.refuse(2, ["fit", self.data, "-k", 8, "--coreset", 7], "--coreset is 7", "8 clusters")
        self.refuse(2, ["fit", self.data, "-k", 8, "--coreset", 0], "--coreset is 0")
        said = self.vem("fit", self.data, "-k", 4, "--coreset", 3000).stdout
        self.assertIn("all 3000 rows are fitted", said)
        said = self.vem("fit", self.data, "-k", 4, "--coreset", 500).stdout
        self.assertIn("a coreset of 500 rows is fitted", said)


if __name__ == "__main__":
    main()
