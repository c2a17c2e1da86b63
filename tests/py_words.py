#!/usr/bin/env python3
"""Sentences of the command that were wrong, or said too little, to a person who tried it."""
import os
import subprocess
import time

from cli_case import *


class Words(Case):
    def test_numbers(self):
        model = self.path("m.npz")
        data = self.npy("a.npy", blobs()[0])
        self.vem("fit", data, "-k", "3e0", "-o", model)
        out = self.json("sample", model, "-n", "1e3", "-o", self.path("s.npy"))
        self.assertEqual(out["n"], 1000)
        self.vem("sample", model, "-n", "1.5", "-o", self.path("t.npy"), code=2)
        self.assertIn("a number of seconds",
                      self.vem("fit", data, "-k", 3, "--time", "1m", code=2).stderr)

    def test_files(self):
        data = self.write("a.csv", "x,y\n" + "".join(f"{i},{i * i}\n" for i in range(50)))
        self.assertIn("a model is wanted here", self.vem("describe", data, code=2).stderr)
        state = self.path("state")
        done = self.vem("fit", data, "-k", 2, "--checkpoint", state, "-o",
                        self.path("m.npz"), "--missing", "drop")
        self.assertIn(f"m.npz {data} --missing drop", done.stdout)
        self.assertIn("the state of a fit", self.vem("info", state).stdout)

    def test_clusters_of_no_row(self):
        rows, model = blobs()[0], self.path("m.npz")
        both, one = self.npy("both.npy", rows), self.npy("one.npy", rows[::3])
        self.assertFalse(self.json("fit", both, "-k", 3, "--family", "full", "-o", model)["notes"])
        said = self.json("fit", one, "--init", model, "--family", "full", "--empty", "keep", "-o", self.path("n.npz"))
        self.assertTrue(any("2 of 3 clusters are the best one of no row" in note for note in said["notes"]), said["notes"])

    def test_coreset(self):
        data = self.npy("a.npy", blobs(3000)[0])
        self.assertIn("per row of the coreset",
                      self.vem("fit", data, "-k", 3, "--coreset", 200).stdout)
        self.assertNotIn("coreset", self.vem("fit", data, "-k", 3).stdout)

    def test_help(self):
        self.assertNotIn("\nOptions:\n", self.vem("fit", "--help").stdout)

    def test_help_is_narrow(self):
        verbs = set(re.findall(r"^  vem ([a-z]+) ", self.vem("--help").stdout, re.MULTILINE))
        self.assertLess({"fit", "select", "tree"}, verbs)
        for verb in ["", *sorted(verbs)]:
            for line in self.vem(*([verb] if verb else []), "--help").stdout.splitlines():
                self.assertLessEqual(len(line), 90, f"vem {verb} --help: {line}")

    def test_floor(self):
        rows = [[float(i), 5.0 if i < 20 else i * 0.37 % 1] for i in range(60)]
        done = self.vem("fit", self.npy("f.npy", rows), "-k", 3, "--family", "diag")
        said = " ".join(done.stdout.split())
        self.assertRegex(said, r"\(cluster \d in column 2\).*A larger --floor")
        few = [[float(i), float(i % 7)] for i in range(40)]
        said = " ".join(self.vem("fit", self.npy("few.npy", few), "-k", 20, "--family", "iso",
                                 "--floor", 0.01).stdout.split())
        self.assertRegex(said, "A larger --floor or fewer clusters would help")

    def test_spinning_threads(self):
        """libgomp is told to sleep sooner, unless the user has told it something."""
        for given, expected in (({}, "10000"), ({"GOMP_SPINCOUNT": "77"}, "77")):
            env = {k: v for k, v in os.environ.items()
                   if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")} | given
            with open("/dev/null", "wb") as nowhere:
                held = subprocess.Popen([VEM, "info", "-"], stdin=subprocess.PIPE,
                                        stdout=nowhere, stderr=nowhere, env=env)
            try:
                wanted = f"GOMP_SPINCOUNT={expected}".encode()
                until = time.monotonic() + LIMIT
                while time.monotonic() < until:  # it waits for its input
                    with open(f"/proc/{held.pid}/environ", "rb") as environ:
                        if wanted in environ.read().split(b"\0"):
                            break
                    time.sleep(0.01)
                else:
                    self.fail(f"{wanted} never came")
            finally:
                held.communicate(b"1,2\n3,4\n")
            self.assertEqual(held.returncode, 0)


if __name__ == "__main__":
    main()
