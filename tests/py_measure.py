#!/usr/bin/env python3
"""What a fit says before it begins, and measures afterwards from a sample of the rows."""
import math
import os
import subprocess

from cli_case import *


class Measure(Case):
    def test_measure_sample(self):
        data = self.npy("x.npy", blobs(n=3000)[0])
        words = ["-k", 3, "--algorithm", "kmeans", "--seeding", "random", "--max-steps", 5]
        none = self.json("fit", data, *words)
        for key in ("quantization_error", "log_likelihood"):
            self.assertIsNone(none[key])
            self.assertIsNone(none[key + "_se"])
        # A value may be left out; what follows is then not eaten, wherever it stands.
        exact = [self.json("fit", data, *words, *more) for more in
                 (["--measure"], ["--measure", "exact"], ["--measure=exact"])]
        exact.append(self.json("fit", "--measure", data, *words))
        for result in exact:
            self.assertEqual(result["options"]["measure"], "exact")
            self.assertEqual(result["quantization_error"], exact[0]["quantization_error"])
            self.assertEqual((result["quantization_error_se"], result["log_likelihood_se"]), (0, 0))
            self.assertEqual(result["measured_rows"], 3000)
        sample = [self.json("fit", *more) for more in
                  ([data, *words, "--measure", "sample"], [data, *words, "--measure=sample"],
                   ["--measure", "sample", data, *words, "--threads", 3])]
        for result in sample:
            self.assertEqual(result["options"]["measure"], "sample")
            self.assertLess(result["measured_rows"], 3000)
            for key in ("quantization_error", "log_likelihood"):
                self.assertEqual(result[key], sample[0][key])
                self.assertEqual(result[key + "_se"], sample[0][key + "_se"])
                self.assertGreater(result[key + "_se"], 0)
                self.assertLess(abs(result[key] - exact[0][key]), 4 * result[key + "_se"])
                self.assertIsNone(result[key + "_coreset"])
        reduced = self.json("fit", data, *words, "--coreset", 500, "--measure", "sample")
        self.assertLess(abs(reduced["quantization_error_coreset"] / exact[0]["quantization_error"]
                            - 1), 0.5)
        self.assertRegex(self.vem("fit", data, *words, "--measure", "sample").stdout,
                         r"quantisation error \S+ \+- \S+, log-likelihood \S+ \+- \S+ per row, "
                         r"from 1,024 rows")
        small = self.npy("small.npy", blobs()[0])
        self.assertIn("exact over all 300 rows",
                      self.vem("fit", small, *words, "--measure", "sample").stdout)
        self.refuse(2, ["fit", data, *words, "--measure=some"], "--measure is", "exact|sample")
        self.refuse(2, ["fit", data, *words, "--measure="], "--measure is", "exact|sample")
        self.refuse(2, ["fit", data, *words, "--measure", "some"], "--measure is")

    def test_memory(self):
        rows = [[math.sin(i * j + i) for j in range(1, 21)] for i in range(5000)]
        data = self.npy("wide.npy", rows)
        self.refuse(1, ["fit", data, "-k", 10, "--memory", "1M", "-o", self.path("m.npz")],
                    "--memory is 1.00 MiB, but the program itself takes")
        self.assertFalse(os.path.exists(self.path("m.npz")))
        self.vem("fit", data, "-k", 10, "--memory", "2G", "--max-steps", 2)
        self.assertEqual(self.json("fit", data, "-k", 10, "--memory=2G", "--max-steps", 2)
                         ["options"]["memory"], 2 ** 31)
        self.refuse(2, ["fit", data, "-k", 10, "--memory", "2Q"], "--memory is", "800M or 2G")
        self.refuse(2, ["fit", data, "-k", 10, "--memory", "0"], "--memory is 0")

    def test_a_long_fit_is_announced(self):
        rows = [[math.sin(i * j + i) for j in range(1, 21)] for i in range(3000)]
        data = self.npy("wide.npy", rows)
        short = self.vem("fit", data, "-k", 3, "--max-steps", 2)
        self.assertNotIn("needs about", short.stderr)
        said = self.vem("fit", data, "-k", 3, "--max-steps", 2, "-v").stderr
        self.assertRegex(said, r"needs about \S+ [KM]iB beside the input and about 1 second\n")
        words = [VEM, "fit", data, "-k", "1000", "--algorithm", "gmm", "--restarts", "1000"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              text=True) as long:
            line = long.stderr.readline()
            long.kill()
        self.assertRegex(line, r"3,000 rows, 20 columns .* needs about \S+ MiB beside the input "
                               r"and about \d+ (minutes|hours|days)\n")


if __name__ == "__main__":
    main()
