#!/usr/bin/env python3
"""vem fit --time: it ends, there is a model, and the summary says what was given up. The clock is
one that moves with every look at it, so that nothing depends on the machine."""
import os

from cli_case import *


class Time(Case):
    def generated(self, clusters, n):
        path = self.path("x.npy")
        self.vem("generate", "separated", "-k", clusters, "-d", 16, "-n", n, "-o", path)
        return path

    def test_a_fit_ends_in_time(self):
        # More restarts than any machine has time for, each of them short.
        words = ["fit", self.generated(50, 50000), "-k", 50, "--restarts", 100000, "--threads", 1,
                 "--time", 0.5]
        model = self.path("m.npz")
        clock = self.ticking(2e-4)
        result = self.json(*words, "--measure", "-o", model, env=clock)
        self.assertTrue(os.path.exists(model))
        self.assertEqual(result["outcome"], "budget")
        self.assertLess(result["items"], 50000)
        self.assertLess(result["seconds"]["total"], 0.6)
        # One note for each thing, true at the end.
        notes = result["notes"]
        self.assertEqual(sum("a coreset of" in note for note in notes), 1, notes)
        self.assertEqual(sum("measure" in note for note in notes), 1, notes)
        self.assertFalse([note for note in notes if "perhaps" in note], notes)
        text = self.vem(*words, env=clock).stdout
        self.assertRegex(text, r"a coreset of \d+ rows instead of 50000: --time")
        self.assertIn("depends on this machine", text)
        # The time that was asked for, not what reading left of it.
        self.assertEqual(set(re.findall(r"--time ([^ ,:;]+[0-9])", text)), {"0.5"})
        meta = json.loads(bytes(npz_parse(model)["meta"][2]).decode())
        self.assertEqual(meta["options"]["time"], 0.5)

    def test_enough_time(self):
        data = self.npy("x.npy", blobs(n=300)[0])
        plain = self.json("fit", data, "-k", 3)
        timed = self.json("fit", data, "-k", 3, "--time", 1e6)
        for key in ("outcome", "steps", "free_energy", "items", "scored_pairs"):
            self.assertEqual(plain[key], timed[key])
        self.assertIn("nothing is given up", self.vem("fit", data, "-k", 3, "--time", 1e6, "-v").stdout)

    def test_no_time(self):
        data = self.npy("x.npy", blobs(n=300)[0])
        model = self.path("m.npz")
        self.refuse(1, ["fit", data, "-k", 3, "--time", 1e-9, "-o", model], "--time was over")
        self.assertFalse(os.path.exists(model))
        for bad in (0, -1, "nan", "inf", "soon"):
            self.refuse(2, ["fit", data, "-k", 3, f"--time={bad}"], "--time is")


if __name__ == "__main__":
    main()
