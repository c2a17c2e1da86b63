#!/usr/bin/env python3
"""fit --accumulate and merge, from files to a file: parts and a merge are one step of fit; what is
in the file; sentences; nothing half written."""
import itertools

from cli_case import *


def far(n=240, seed=4):
    """Overlapping clusters far from the origin."""
    rng = random.Random(seed)
    return [[1000 + 3 * (i % 4) + rng.gauss(0, 1), -50 + 2 * (i % 3) + rng.gauss(0, 2)]
            for i in range(n)]


class Merge(Case):
    def setUp(self):
        super().setUp()
        self.rows = far()
        self.data = self.npy("x.npy", self.rows)
        self.cuts = [0, 3, 100, 240]

    def start(self, *words, clusters=4):
        self.vem("fit", self.data, "-k", clusters, "--max-steps", 2, "-q", "-o",
                 self.path("m.npz"), *words)
        return self.path("m.npz")

    def parts(self, model, *words, weights=None):
        names = []
        for i, (a, b) in enumerate(zip(self.cuts, self.cuts[1:])):
            part = self.npy(f"x{i}.npy", self.rows[a:b])
            more = []
            if weights:
                more = ["--weights", self.npy(f"w{i}.npy", weights[a:b])]
            names.append(self.path(f"s{i}.npz"))
            self.json("fit", part, "--init", model, "--accumulate", names[-1], *words, *more)
        return names

    def test_parts_and_a_merge_are_a_step(self):
        rng = random.Random(1)
        weights = [0.0 if i % 9 == 0 else rng.uniform(0.1, 3) for i in range(240)]
        whole_weights = self.npy("w.npy", weights)
        for family, prior, held, weighted in itertools.product(
                ("iso-shared", "iso", "diag", "full"), ("flat", "free"), (1, 4), (0, 1)):
            if (held == 4) == (prior == "flat") and weighted:
                continue
            model = self.start("--family", family)
            how = ["--family", family, "--prior", prior, "--held", held, "--search", "closest"]
            whole = self.json("fit", self.data, "--init", model, "--max-steps", 2, "--empty", "keep",
                              "--tolerance", 0, "-o", self.path("n.npz"), *how,
                              *(["--weights", whole_weights] if weighted else []))
            result = self.json("merge", *self.parts(model, *how,
                                                    weights=weights if weighted else None),
                               "-o", self.path("g.npz"))
            self.assertEqual([result[key] for key in ("command", "parts", "rows", "clusters")],
                             ["merge", 3, 240, 4])
            self.assertIn("version", result)
            self.assertAlmostEqual(result["free_energy"], whole["free_energy_first"], delta=1e-10)
            expected, found = npz_parse(self.path("n.npz")), npz_parse(self.path("g.npz"))
            for name in ("means", "weights", "variances"):
                self.assertEqual(expected[name][:2], found[name][:2])
                size = max(map(abs, expected[name][2]))
                for a, b in zip(expected[name][2], found[name][2]):
                    self.assertAlmostEqual(a, b, delta=1e-10 * size)

    def test_rounds_are_a_fit(self):
        """The loop of a scheduler: k-means until F rests, the same as one fit."""
        model = self.start("--algorithm", "kmeans")
        whole = self.json("fit", self.data, "--init", model, "--algorithm", "kmeans", "-o",
                          self.path("n.npz"))
        last = -math.inf
        for _ in range(100):
            done = self.json("merge", *self.parts(model, "--algorithm", "kmeans"), "-o",
                             self.path("g.npz"))
            self.assertGreaterEqual(done["free_energy"], last - 1e-12)
            if abs(done["free_energy"] - last) < 1e-13:
                break
            last = done["free_energy"]
            model = self.path("g.npz")
        self.assertAlmostEqual(last, whole["free_energy"], delta=1e-10)
        for a, b in zip(npz_parse(self.path("n.npz"))["means"][2],
                        npz_parse(self.path("g.npz"))["means"][2]):
            self.assertAlmostEqual(a, b, delta=1e-8)

    def test_what_is_in_the_file(self):
        for family, shape in (("iso-shared", (4,)), ("iso", (4,)), ("diag", (4, 2)),
                              ("full", (4, 2, 2))):
            model = self.start("--family", family)
            name = self.parts(model, "--held", 1, "--search", "closest", "--family", family)[2]
            arrays = npz_parse(name)
            meta = json.loads(bytes(arrays["meta"][2]))
            self.assertEqual([meta["kind"], meta["family"], meta["held"], meta["search"]],
                             ["statistics", family, 1, "closest"])
            self.assertEqual(arrays["second"][0], shape)
            rows, means = self.rows[100:], arrays["means"][2]
            self.assertEqual(means, npz_parse(model)["means"][2])
            self.assertAlmostEqual(sum(arrays["mass"][2]), 140, delta=1e-9)
            self.assertEqual(arrays["totals"][2][0], 140)
            self.assertEqual(arrays["counts"][2][0], 140)
            # sum of x = sum_c (first_c + mass_c mu_c)
            for j in range(2):
                total = sum(arrays["first"][2][2 * c + j] + arrays["mass"][2][c] * means[2 * c + j]
                            for c in range(4))
                self.assertAlmostEqual(total, sum(row[j] for row in rows), delta=1e-6)
            info = self.json("info", name)
            self.assertEqual([info["kind"], info["rows"], info["parts"]], ["statistics", 140, 1])
            self.assertIn("statistics", self.vem("info", name).stdout)

    def test_order_one_part_and_threads(self):
        model = self.start()
        names = self.parts(model)
        blobs_found = set()
        for order in itertools.permutations(names):
            self.json("merge", *order, "-o", self.path("g.npz"))
            blobs_found.add(self.read("g.npz"))
        self.assertEqual(len(blobs_found), 1)
        self.json("merge", names[2], "-o", self.path("g.npz"))
        written = set()
        for threads in (1, 2, 5):
            self.vem("fit", self.data, "--init", model, "--accumulate", self.path("t.npz"), "-q",
                     "--threads", threads)
            written.add(self.read("t.npz"))
        self.assertEqual(len(written), 1)

    def test_normalize_and_standardize(self):
        model = self.start("--normalize")
        self.json("merge", *self.parts(model), "-o", self.path("g.npz"))
        self.assertTrue(self.json("info", self.path("g.npz"))["normalize"])
        self.refuse(2, ["fit", self.data, "--init", model, "--standardize", "--accumulate",
                        self.path("s.npz")], "standardize", "all rows")
        model = self.start("--standardize", "--family", "diag")
        self.json("merge", *self.parts(model), "-o", self.path("g.npz"))
        self.assertEqual(npz_parse(self.path("g.npz"))["scale"], npz_parse(model)["scale"])

    def test_parts_that_come_twice(self):
        """By their rows, whatever the files are called and whichever threads made them."""
        model = self.start()
        names = self.parts(model)
        copy = self.write("copy.npz", self.read("s1.npz"))
        self.refuse(1, ["merge", *names, copy, "-o", self.path("g.npz")], "s1.npz", "copy.npz",
                    "same rows", "--part")
        self.json("fit", self.path("x1.npy"), "--init", model, "--accumulate", self.path("again.npz"),
                  "--threads", 2)
        self.refuse(1, ["merge", self.path("again.npz"), *names, "-o", self.path("g.npz")],
                    "s1.npz", "again.npz", "same rows")
        self.assertFalse(os.path.exists(self.path("g.npz")))
        # The same rows with other weights are another part.
        self.json("fit", self.path("x1.npy"), "--init", model, "--accumulate", self.path("w.npz"),
                  "--weights", self.npy("w1.npy", [2.0 if i == 5 else 1.0 for i in range(97)]))
        self.json("merge", *names, self.path("w.npz"), "-o", self.path("g.npz"))
        # And one row that is another makes another part.
        self.rows[50][1] += 1e-9
        other = self.parts(model)
        self.assertNotEqual(npz_parse(other[1])["part_marks"], npz_parse(copy)["part_marks"])

    def test_numbered_parts(self):
        model = self.start()
        names = self.parts(model)

        def numbered(i, word, data=None):
            name = self.path(f"p{i}.npz")
            return name, self.json("fit", data or self.path(f"x{i}.npy"), "--init", model,
                                   "--accumulate", name, "--part", word)

        (a, told), (b, _), (c, _) = [numbered(i, f"{i + 1}/3") for i in range(3)]
        self.assertEqual([told["part"], told["of"]], [1, 3])
        info = self.json("info", a)
        self.assertEqual([info[key] for key in ("part", "of", "fingerprint")],
                         [1, 3, told["fingerprint"]])
        self.assertIn("1 of 3", self.vem("info", a).stdout)
        result = self.json("merge", c, a, b, "-o", self.path("g.npz"), "--expect", 3)
        self.assertEqual([result["parts"], result["part"], result["of"]], [3, None, 3])
        plain = self.json("merge", *names, "-o", self.path("h.npz"), "--expect", 3)
        self.assertEqual(npz_parse(self.path("g.npz"))["means"],
                         npz_parse(self.path("h.npz"))["means"])
        self.assertNotEqual(plain["fingerprint"], result["fingerprint"])
        out = ["-o", self.path("none.npz")]
        self.refuse(1, ["merge", a, c, *out], "Of 3 parts 1 is missing: 2")
        self.refuse(1, ["merge", b, *out], "Of 3 parts 2 are missing: 1 and 3")
        self.refuse(1, ["merge", a, b, c, "--expect", 4, *out], "4 parts", "of 3")
        self.refuse(1, ["merge", *names, "--expect", 4, *out], "4 parts", "there are 3")
        self.refuse(1, ["merge", *names[:2], a, *out], "numbered", "--part")
        same, _ = numbered(4, "1/3", self.path("x1.npy"))
        self.refuse(1, ["merge", a, b, c, same, *out], "p0.npz", "p4.npz", "part 1 of 3",
                    "different rows")
        more, _ = numbered(5, "1/4", self.path("x1.npy"))
        self.refuse(1, ["merge", a, more, *out], "one of 4")
        # Rows that do come twice: their numbers say so.
        twice = [numbered(i, f"{i - 5}/2", self.path("x1.npy"))[0] for i in (6, 7)]
        self.assertEqual(self.json("merge", *twice, "-o", self.path("t.npz"))["rows"], 194)
        self.assertFalse(os.path.exists(self.path("none.npz")))
        base = ["fit", self.data, "--init", model]
        for word in ("0/3", "4/3", "3", "a/b", "1/3x", "-1/3", "1/0"):
            self.refuse(2, [*base, "--accumulate", self.path("none.npz"), "--part", word], "--part")
        self.refuse(2, [*base, "--part", "1/3", "-o", self.path("none.npz")], "--accumulate")

    def test_marks_of_hostile_files(self):
        """What tells parts apart may lack (files of version 0.1) or lie."""
        import zipfile
        name = self.parts(self.start())[0]

        def altered(change):
            with zipfile.ZipFile(name) as old, zipfile.ZipFile(self.path("new.npz"), "w") as new:
                for entry in old.namelist():
                    body = change(entry, old.read(entry))
                    if body is not None:
                        new.writestr(entry, body)
            return self.path("new.npz")

        without = altered(lambda entry, body: None if entry.startswith("part_marks") else body)
        self.assertEqual(self.json("info", without)["rows"], 3)
        self.json("merge", without, "-o", self.path("g.npz"))
        numbered = altered(lambda entry, body: body[:-16] + b"\x05" + body[-15:]
                           if entry.startswith("part_marks") else body)
        self.refuse(1, ["info", numbered], "which parts")
        of = altered(lambda entry, body: body.replace(b'"of":0', b'"of":7')
                     if entry.startswith("meta") else body)
        self.refuse(1, ["info", of], "which parts")

    def test_wrong_words(self):
        model = self.start()
        base = ["fit", self.data, "--init", model, "--accumulate", self.path("s.npz")]
        self.refuse(2, ["fit", self.data, "-k", 4, "--accumulate", self.path("s.npz")], "--init")
        for words, pattern in ((["-o", self.path("n.npz")], "output"),
                               (["--labels", self.path("l.npy")], "labels"),
                               (["--trace", self.path("t.csv")], "trace"),
                               (["--checkpoint", self.path("state")], "checkpoint"),
                               (["--measure"], "measure"), (["--coreset", 50], "coreset"),
                               (["--algorithm", "vc-gmm"], "coreset"),
                               (["--search", "estimated"], "estimated"),
                               (["--search", "groups"], "groups"),
                               (["--algorithm", "lazy-kmeans"], "margin"), (["-k", 9], "clusters")):
            self.refuse(2, base + words, pattern)
        self.refuse(2, ["fit", self.data, "--init", model, "--accumulate", model], "npz", "input")
        self.refuse(2, ["fit", self.data, "--init", model, "--accumulate", self.path("s.csv")],
                    "s.csv")
        self.refuse(1, ["fit", self.data, "--init", model, "--accumulate",
                        self.path("no/such/s.npz")], "no/such")
        self.refuse(2, ["merge", "-o", self.path("g.npz")], "STATS")
        self.refuse(2, ["merge", model], "-o")

    def test_parts_that_do_not_belong_together(self):
        model = self.start()
        names = self.parts(model)
        kept = [self.path("a.npz"), self.path("b.npz")]
        os.rename(names[0], kept[0])
        out = ["-o", self.path("g.npz")]
        other = self.start("--seed", 7, "--max-steps", 1)
        os.rename(self.parts(other)[1], kept[1])
        self.refuse(1, ["merge", *kept, *out], "a.npz", "b.npz", "different models")
        os.rename(self.parts(self.start(), "--held", 2, "--search", "closest")[1], kept[1])
        self.refuse(1, ["merge", *kept, *out], "a.npz", "b.npz", "--held")
        os.rename(self.parts(self.start(clusters=3))[1], kept[1])
        self.refuse(1, ["merge", *kept, *out], "a.npz", "b.npz", "3")
        self.refuse(2, ["merge", kept[0], kept[0], *out], "a.npz", "twice")
        self.refuse(2, ["merge", kept[0], "-o", kept[0]], "a.npz", "input")

    def test_files_that_are_no_statistics(self):
        model = self.start()
        name = self.parts(model)[2]
        whole = self.read("s2.npz")
        out = ["-o", self.path("g.npz")]
        for size in (0, 10, 100, len(whole) // 2, len(whole) - 1):
            self.refuse(1, ["merge", self.write("t.npz", whole[:size]), *out], "t.npz")
        self.refuse(1, ["merge", model, *out], "m.npz", "statistics")
        self.refuse(1, ["merge", self.data, *out], "x.npy")
        self.refuse(1, ["merge", self.path("none.npz"), *out], "none.npz")
        self.refuse(1, ["predict", name, self.data, "-o", self.path("l.npy")], "s2.npz",
                    "statistics")
        self.refuse(1, ["fit", name, "-k", 2], "s2.npz", "statistics")
        # A bit that flipped is seen by the checksum, whatever it belongs to.
        for at in range(200, len(whole), 397):
            broken = bytearray(whole)
            broken[at] ^= 16
            done = subprocess.run([VEM, "merge", self.write("t.npz", bytes(broken)), *out, "-q"],
                                  capture_output=True, text=True, timeout=LIMIT)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            if done.returncode == 1:
                self.assertFalse(os.path.exists(self.path("g.npz")))
                self.assertRegex(done.stderr, "^vem: .*t.npz.*")
            elif os.path.exists(self.path("g.npz")):
                os.remove(self.path("g.npz"))

    def rewrite(self, name, **changes):
        """The file with some arrays replaced."""
        with zipfile.ZipFile(self.path(name)) as archive:
            entries = {entry: archive.read(entry) for entry in archive.namelist()}
        for key, blob in changes.items():
            if blob is None:
                del entries[key + ".npy"]
            else:
                entries[key + ".npy"] = blob
        with zipfile.ZipFile(self.path("r.npz"), "w") as archive:
            for entry, blob in entries.items():
                archive.writestr(entry, blob)
        return self.path("r.npz")

    def test_hostile_statistics(self):
        self.parts(self.start("--family", "diag"), "--family", "diag")
        arrays = npz_parse(self.path("s2.npz"))
        mass, first = arrays["mass"][2], arrays["first"][2]
        rows = [first[i:i + 2] for i in range(0, 8, 2)]
        for changes in (dict(mass=npy_bytes([-1.0] + mass[1:])),
                        dict(mass=npy_bytes(mass[:3])), dict(mass=npy_bytes([1.0] * 4)),
                        dict(mass=npy_bytes([math.nan] + mass[1:])),
                        dict(first=npy_bytes([[math.inf, 0.0]] + rows[1:])),
                        dict(first=npy_bytes(rows[:2])), dict(second=npy_bytes([[-1.0, 1.0]] * 4)),
                        dict(second=npy_bytes([1.0] * 4)), dict(totals=npy_bytes([1.0])),
                        dict(totals=None), dict(counts=npy_bytes([-1, 0, 0, 1], "<i8")),
                        dict(counts=npy_bytes([1 << 62, 1, 1, 1], "<i8")),
                        dict(counts=npy_bytes([140.0, 140.0, 1.0, 1.0])),
                        dict(means=npy_bytes([[0.0, 0.0]] * 4)), dict(means=None),
                        dict(meta=None), dict(meta=npy_bytes(list(b"{}"), "|u1")),
                        dict(meta=npy_bytes(list(b"not json"), "|u1"))):
            path = self.rewrite("s2.npz", **changes)
            self.refuse(1, ["merge", path, "-o", self.path("g.npz")], "r.npz")
        # Huge but finite: a sentence, no model with infinities.
        path = self.rewrite("s2.npz", second=npy_bytes([[1e308, 1e308]] * 4),
                            first=npy_bytes([[1e300, 1e300]] * 4))
        self.refuse(1, ["merge", path, "-o", self.path("g.npz")])

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_full_disk(self):
        model = self.start()
        names = self.parts(model)
        self.refuse(1, ["fit", self.data, "--init", model, "--accumulate", "/dev/full"],
                    "/dev/full", "disk is full|no space left")
        self.refuse(1, ["merge", *names, "-o", "/dev/full"], "/dev/full",
                    "disk is full|no space left")
        os.symlink("/dev/full", self.path("full.npz"))
        self.refuse(1, ["merge", *names, "-o", self.path("full.npz")], "full.npz")

    def test_old_file_survives(self):
        model = self.start()
        names = self.parts(model)
        before = self.read("s0.npz")
        bad = self.npy("bad.npy", [[math.nan, 1.0]])
        self.refuse(1, ["fit", bad, "--init", model, "--accumulate", names[0]], "row 1, column 1")
        self.assertEqual(self.read("s0.npz"), before)


if __name__ == "__main__":
    main()
