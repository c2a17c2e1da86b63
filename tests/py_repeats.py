#!/usr/bin/env python3
"""Rows that come several times are fitted once with their weights, without a preset: the same bits as those rows and weights
given by hand, labels and counts of all rows; a fit that is left goes on, and one limited in memory keeps to it."""
import unittest

from cli_case import *

D = 3


class Repeats(Case):
    N, KINDS = 90000, 5000

    def rows(self):
        """All rows, the different ones as they come, their numbers, and which each row is."""
        def row(kind):
            return [9.0 * (kind % 5 * (j + 1) % 5) + (kind * (31 + 14 * j) % 97) / 8 + kind / 8192
                    for j in range(D)]
        kinds = [i * 7919 % self.KINDS for i in range(self.N)]
        first = list(dict.fromkeys(kinds))
        place = {kind: k for k, kind in enumerate(first)}
        each = {kind: row(kind) for kind in first}
        self.npy("all.npy", [each[kind] for kind in kinds], code="<f4")
        self.npy("few.npy", [each[kind] for kind in first], code="<f4")
        self.npy("weights.npy", [self.N / self.KINDS] * self.KINDS)
        return [place[kind] for kind in kinds]

    def labels(self, path):
        return list(npy_parse(self.read(path))[2])

    def test_as_by_weights(self):
        places = self.rows()
        for words in (["-k", 6, "--family", "full"], ["-k", 12]):
            common = [*words, "--seed", 2, "--json"]
            all_ = self.json("fit", self.path("all.npy"), *common, "--labels", self.path("all-labels.npy"), "-o",
                             self.path("all.npz"))
            few = self.json("fit", self.path("few.npy"), "--weights", self.path("weights.npy"), *common,
                            "--labels", self.path("few-labels.npy"), "-o", self.path("few.npz"))
            self.assertEqual(all_["free_energy"], few["free_energy"])
            self.assertEqual((all_["n"], all_["items"], few["n"]), (self.N, self.KINDS, self.KINDS))
            self.assertIn("5,000 different rows", " ".join(all_["choices"]).replace("5000", "5,000"))
            own = self.labels("few-labels.npy")
            self.assertEqual(self.labels("all-labels.npy"), [own[place] for place in places])

    def test_left_and_resumed(self):
        self.rows()
        fit = ["fit", self.path("all.npy"), "-k", 11, "--family", "full", "--swaps", 0, "--tolerance", 0, "--json"]
        whole = self.json(*fit, "--max-steps", 9)
        left = self.json(*fit, "--max-steps", 4, "--checkpoint", self.path("state"))
        self.assertEqual(left["steps"], 4)
        resumed = self.json(*fit, "--max-steps", 9, "--checkpoint", self.path("state"), "--resume")
        for key in ("free_energy", "steps", "items", "n"):
            self.assertEqual(resumed[key], whole[key])


if __name__ == "__main__":
    unittest.main()
