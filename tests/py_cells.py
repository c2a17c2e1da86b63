#!/usr/bin/env python3
"""Fits on cells, as the command tells them: how near --gap came and what kept it away, whose
log-likelihood the gap is about, and a single cell."""
from cli_case import *


class Cells(Case):
    def setUp(self):
        super().setUp()
        self.rows = blobs(n=1500, spread=1.0, gap=2.5)[0]
        self.data = self.npy("x.npy", self.rows)

    def fit(self, *words):
        told = self.json("fit", self.data, "-k", 3, "--family", "full", *words)
        return told, [note for note in told["notes"] if "--gap" in note]

    def test_a_gap_that_is_reached_needs_no_note(self):
        told, notes = self.fit("--cells", 1400, "--gap", 0.05)
        self.assertLessEqual(told["gap"], 0.05)
        self.assertEqual((notes, told["outcome"], told["gap_of"]), ([], "converged", "rows"))

    def test_what_kept_it_away(self):
        for words, why in ((["--cells", 60], "all of --cells 60 are in use"),
                           (["--cells", 1400, "--max-steps", 3], "--max-steps 3 came first"),
                           (["--cells", 1400, "--search", "closest", "--held", 1, "--max-steps",
                             100000, "--depth", 10, "--expand", 1400], "all of --cells 1400")):
            told, notes = self.fit(*words, "--gap", 1e-12)
            self.assertGreater(told["gap"], 1e-12)
            self.assertEqual(len(notes), 1, told["notes"])
            self.assertIn(f"was not reached, the gap is {told['gap']:.3g}: {why}", notes[0])
        # As fine as cells can be: every one has rows of one value.
        self.data = self.npy("few.npy", [[i % 31, i % 29] for i in range(1200)] * 2)
        told, notes = self.fit("--cells", 2000, "--search", "closest", "--held", 1, "--gap", 1e-12,
                               "--max-steps", 100000)
        self.assertIn("--held 1 of 3 clusters keeps F so far below", notes[0])
        self.assertLess(told["cells"], 2000)

    def test_steps_that_ran_out_are_no_end(self):
        """Resting on coarse cells in the last step is not to have converged."""
        outcomes = {}
        for steps in range(1, 60):
            told, _ = self.fit("--cells", 1400, "--gap", 1e-12, "--swaps", 0, "--depth", 5,
                               "--max-steps", steps)
            outcomes[steps] = told["outcome"]
            self.assertEqual(told["steps"], steps)
        self.assertEqual(set(outcomes.values()), {"step-limit"})

    def test_very_fast_em_says_when_its_cells_are_too_few(self):
        """In twelve columns its rule divides nothing; of few rows its own default will do."""
        generator = random.Random(3)
        wide = self.npy("wide.npy", [[generator.gauss(0.2 * (i % 4), 1) for _ in range(12)]
                                     for i in range(400)])
        told = self.json("fit", wide, "-k", 4, "--algorithm", "moore-em")
        self.assertLess(told["cells"], 16)
        self.assertRegex(" ".join(told["notes"]), r"left \d+ cells for 4 clusters")
        few = self.npy("few.npy", self.rows[:30])
        self.assertEqual(self.json("fit", few, "-k", 4, "--algorithm", "moore-em")["clusters"], 4)

    def test_options_about_cells_where_there_are_none(self):
        told, _ = self.fit("--algorithm", "kd-em", "--cells", 3000, "--depth", 3)
        self.assertRegex(" ".join(told["notes"]), "--depth has no part in it")

    def test_options_about_cells_that_a_fit_takes_by_itself(self):
        """Whether it does is known when the rows are: the command waits for them."""
        many = self.path("many.npy")
        self.vem("generate", "separated", "-n", 250000, "-o", many)
        told = self.json("fit", many, "-k", 3, "--family", "full", "--gap", 0.5, "--depth", 7)
        self.assertGreater(told["cells"], 0)
        self.assertEqual((told["options"]["gap"], told["options"]["depth"]), (0.5, 7))
        self.refuse(2, ["fit", self.data, "-k", 3, "--family", "full", "--gap", 0.5],
                    "--gap needs --cells")

    def test_greedy_paths_take_them_where_a_fit_does(self):
        many = self.path("many.npy")
        self.vem("generate", "separated", "-n", 250000, "-o", many)
        greedy = ["select", many, "--method", "greedy", "--max-clusters", 3]
        fit, told = self.json("fit", many, "-k", 3, "--family", "full"), self.json(*greedy)
        self.assertEqual(told["options"]["cells"], fit["options"]["cells"])
        self.assertGreater(told["cells"], 0)
        said = "cells of a kd-tree stand for the 250000 rows"
        self.assertIn(said, " ".join(told["choices"]))
        rows = self.json(*greedy, "--cells", 0)
        self.assertNotIn(said, " ".join(rows["choices"]))
        # Neither family without matrices nor few rows, nor the preset, a paper's algorithm.
        for line in (greedy + ["--family", "iso"], ["select", self.data, "--method", "greedy"],
                     ["fit", many, "-k", 2, "--algorithm", "greedy"]):
            self.assertNotIn(said, " ".join(self.json(*line)["choices"]))
        self.assertEqual([p["clusters"] for p in rows["path"]], [p["clusters"] for p in told["path"]])
        for exact, near in zip(rows["path"], told["path"]):
            self.assertLessEqual(near["free_energy"], near["log_likelihood"] + 1e-9)
            self.assertAlmostEqual(near["log_likelihood"], exact["log_likelihood"], delta=0.05)

    def test_many_rows_of_few_values(self):
        """kd-em takes so many cells of many rows that each has one value here: it is exact EM."""
        generator = random.Random(5)
        middles = ((9, 30), (22, 12), (26, 25))
        rows = [[min(max(round(generator.gauss(m, 5)), 0), 39) for m in middles[i % 3]]
                for i in range(2000)]
        self.data = self.npy("values.npy", rows * 80)
        start = self.path("start.npz")
        self.json("fit", self.data, "-k", 3, "--family", "full", "--max-steps", 1, "-o", start)
        exact, _ = self.fit("--algorithm", "gmm", "--init", start)
        cells, _ = self.fit("--algorithm", "kd-em", "--init", start)
        self.assertEqual(cells["cells"], len(set(map(tuple, rows))))
        self.assertEqual(cells["steps"], exact["steps"])
        self.assertAlmostEqual(cells["free_energy"], exact["free_energy"], delta=1e-6)
        self.assertAlmostEqual(cells["gap"], 0, delta=1e-9)

    def test_what_a_sample_cannot_tell(self):
        """One row of many holds much of the gap, and the sample may miss it: that it was reached is no news."""
        generator = random.Random(3)
        rows = [[generator.gauss(30 * (i % 2), 1)] for i in range(140000)]
        rows[1234] = [15.05]
        many = self.npy("many.npy", rows)
        words = ("fit", many, "-k", 2, "--family", "full", "--cells", 64, "--gap")
        first = self.json(*words, 1e-9)
        self.assertGreater(first["gap_se"], first["gap"] / 4)
        again = self.json(*words, 1.01 * first["gap"])
        self.assertLessEqual(again["gap"], 1.01 * first["gap"])
        self.assertTrue(any("near what a sample of these rows can tell" in note for note in again["notes"]), again["notes"])
        plain = self.json(*words, 100 * first["gap"])
        self.assertFalse(any("can tell" in note for note in plain["notes"]))

    def test_as_many_cells_as_rows(self):
        told, notes = self.fit("--cells", 1500, "--gap", 0.01)
        self.assertEqual((told["cells"], told["gap"], told["gap_of"]), (0, None, None))
        self.assertRegex(notes[0], "--gap 0.01 has no part in it: --cells 1500")

    def test_the_gap_of_a_coreset_is_its_own(self):
        """Of its rows F is a bound, not of all rows."""
        words = ["--cells", 60, "--coreset", 500, "--gap", 1e-12]
        told, notes = self.fit(*words, "--measure")
        self.assertEqual((told["gap_of"], len(notes)), ("coreset", 1))
        self.assertAlmostEqual(told["gap"], told["log_likelihood_coreset"] - told["free_energy"],
                               delta=1e-12)
        text = " ".join(self.vem("fit", self.data, "-k", 3, "--family", "full", *words).stdout.split())
        self.assertIn("stood for the rows of the coreset; the coreset's own log-likelihood is", text)
        self.assertRegex(text, r"free energy \S+ per row of the coreset")
        text = self.vem("fit", self.data, "-k", 3, "--cells", 60).stdout
        self.assertNotIn("coreset", text)

    def test_one_cell(self):
        """One cluster needs no more: its mean and shape are those of all rows."""
        for family in ("iso-shared", "iso", "diag", "full"):
            one = self.json("fit", self.data, "-k", 1, "--cells", 1, "--family", family, "--measure",
                            "-o", self.path("m.npz"))
            self.assertEqual(one["cells"], 1)
            rows = self.json("fit", self.data, "-k", 1, "--family", family, "--measure")
            self.assertAlmostEqual(one["free_energy"], rows["free_energy"], delta=1e-9)
            self.assertAlmostEqual(one["log_likelihood"], rows["log_likelihood"], delta=1e-9)
        self.assertEqual(self.json("fit", self.data, "-k", 1, "--cells", 3)["clusters"], 1)
        self.refuse(2, ["fit", self.data, "-k", 2, "--cells", 7], "2 clusters need at least 8")


if __name__ == "__main__":
    main()
