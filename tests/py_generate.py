#!/usr/bin/env python3
"""Data of known structure: the kinds, their options, and what is written."""
from cli_case import SLOW, Case, main, npy_parse


class Generate(Case):
    def test_kinds(self):
        for kind, words, n, d, clusters in [
                ("birch-grid", [], 2500, 2, 25),
                ("birch-random", ["-k", 16, "-n", 500], 500, 2, 16),
                ("separated", ["-k", 4, "-d", 3, "--separation", 3], 400, 3, 4),
                ("tau-separated", ["-k", 5, "--rows", 77, "--box", 40], 77, 2, 5)]:
            result = self.json("generate", kind, *words, "-o", self.path("x.npy"),
                               "--labels", self.path("l.npy"), "--centers", self.path("c.npy"))
            self.assertEqual((result["kind"], result["n"], result["d"], result["clusters"]),
                             (kind, n, d, clusters))
            self.assertEqual(npy_parse(self.read("x.npy"))[:2], ((n, d), "<f8"))
            shape, dtype, labels = npy_parse(self.read("l.npy"))
            self.assertEqual((shape, dtype), ((n,), "<i4"))
            self.assertEqual(set(labels), set(range(clusters)))
            self.assertEqual(npy_parse(self.read("c.npy"))[0], (clusters, d))

    def test_seed_format_and_precision(self):
        def make(name, *words):
            self.vem("generate", "separated", "-q", "-n", 50, "-o", self.path(name), *words)
            return self.read(name)
        self.assertEqual(make("a.npy", "--seed", 4), make("b.npy", "--seed", 4, "--threads", 3))
        self.assertNotEqual(make("a.npy", "--seed", 4), make("b.npy", "--seed", 5))
        wide = npy_parse(make("a.npy"))[2]
        _, dtype, narrow = npy_parse(make("b.npy", "--precision", "single"))
        self.assertEqual(dtype, "<f4")
        for a, b in zip(wide, narrow):
            self.assertAlmostEqual(a, b, delta=1e-6 * (1 + abs(a)))
        make("c.csv")
        self.assertEqual(self.json("info", self.path("c.csv"))["n"], 50)

    def test_wrong_options(self):
        out = ["-o", self.path("x.npy")]
        self.refuse(2, ["generate", "birch-grid", "-k", 24, *out], "24", "square")
        self.refuse(2, ["generate", "birch-grid", "-d", 3, *out], "2 dimensions", "3")
        self.refuse(2, ["generate", "separated", "-n", 0, *out], r"-n \(--rows\) is 0")
        self.refuse(2, ["generate", "separated", "-n", "1e9999", *out], "--rows")
        self.refuse(2, ["generate", "separated", "--separation", -1, *out], "--separation is -1")
        self.refuse(2, ["generate", "separated", "--precision", "half", *out], "half")
        self.refuse(2, ["generate", "tau-separated", "-k", 500, "--box", 3, *out],
                    "side 3", "500 centers")
        self.refuse(2, ["generate", "separated"], "-o")
        self.refuse(2, ["generate", "separated", "-o", self.path("x.bin")], "npy csv")
        if SLOW == 1:  # a sanitizer ends the process where malloc would say no
            self.refuse(1, ["generate", "separated", "-k", 2000000000, "-n", 1000, "-d", 1000000,
                            *out], "memory")


if __name__ == "__main__":
    main()
