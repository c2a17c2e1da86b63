#!/usr/bin/env python3
"""Several processes (mpirun) find what one finds, to the bit: models, labels, counts. What is not spread
over them yet is refused with a sentence. A process that fails, or is killed, ends the run."""
from mpi_case import *


class Mpi(MpiCase):
    def test_many_clusters_without_an_algorithm(self):
        """Two-level seeding, rows in the order of their clusters, shared lists, swaps; and where seeding knows no
        clusters the rows stay where they are."""
        a = self.data("a.npy", 9001, 5, 12, "f4")
        self.fits(a, (2, 5), "-k", 100)
        soft = ("-k", 90, "--family", "diag", "--weights", self.weights(9001), "--max-steps", 12)
        self.fits(a, (3,), *soft, "--restarts", 2)
        self.fits(a, (3,), "-k", 100, *soft[4:6], "--restarts", 2, "--max-steps", 3)
        self.fits(a, (3,), "-k", 100, "--seeding", "random", "--standardize", "--empty", "reseed")
        self.keeps(a, "-k", 100)
        self.keeps(a, "-k", 100, *soft[4:6], pairs=((3, 2),))

    def test_many_clusters_of_long_rows(self):
        """Along axes first. Which rows lie beside each other decides how many distances bounds spare."""
        e = self.data("e.npy", 16500, 256, 150, "f4")
        pairs = []

        def less_pairs(told):
            pairs.append(told.pop("scored_pairs"))
            return told
        self.same(3, "fit", e, "-k", 130, files=(("-o", ".npz"), ("--labels", ".npy")), json_of=less_pairs)
        self.assertLess(abs(pairs[1] - pairs[0]), 0.01 * pairs[0])
        self.keeps(e, "-k", 130, pairs=((3, 2),), steps=2, more=7)

    def test_few_clusters_without_an_algorithm(self):
        """Starts on a sample that all have, or on all rows; the larger sample lies in parts. Then all rows,
        which may show that the sample has missed some: the fit begins again."""
        a = self.data("a.npy", 75001, 3, 17, "f4")
        self.fits(a, (3,), "-k", 17)
        b = self.data("b.npy", 9001, 5, 12, "f8")
        self.fits(b, (2,), "-k", 8, "--family", "diag", "--weights", self.weights(9001), "--restarts", 2)
        self.fits(b, (3,), "-k", 4, "--family", "full", "--swaps", 3)
        x = rows(40000, 6, 5, "f4", seed=8)
        x[:20], x[20:40], x[40:60] = -999999, x[0] + 300, x[1] - 300
        np.save(self.path("x.npy"), x)
        self.fits(self.path("x.npy"), (3,), "-k", 8)
        np.save(self.path("y.npy"), np.round(rows(70000, 2, 5, "f4")))  # one process puts them together
        out, _ = self.run_many(2, "fit", self.path("y.npy"), "-k", 12, "--max-steps", 2, "--json", "-q")
        self.assertIn("they are not put together", " ".join(json.loads(out)["notes"]))
        self.keeps(a, "-k", 17, "--tolerance", 0, steps=2, more=4, pairs=((3, 2), (0, 3)))

    def test_kmeans(self):
        a = self.data("a.npy", 10007, 5, 12, "f4")
        self.fits(a, (1, 2, 5), "-k", 12, "--algorithm", "kmeans")
        self.fits(a, (3,), "-k", 40, "--algorithm", "kmeans", "--seeding", "random", "--empty",
                  "reseed", "--standardize", "--restarts", 2, "--max-steps", 6)
        self.fits(a, (2,), "-k", 12, "--algorithm", "lazy-kmeans", "--seeding", "afkmc2", "--memory",
                  "1G")
        self.fits(a, (3,), "-k", 12, "--algorithm", "kmeans-c", "--seeding", "kmeans++-greedy")

    def test_two_level_seeding(self):
        """Each gets all rows of some buckets, and draws there."""
        a = self.data("a.npy", 10007, 5, 12, "f4")
        words = ("--seeding", "two-level", "--max-steps", 3)
        self.fits(a, (2, 5), "-k", 60, "--algorithm", "kmeans", *words)
        self.fits(a, (3,), "-k", 40, "--algorithm", "gmm", "--family", "diag", "--weights",
                  self.weights(10007), *words)
        self.fits(a, (8,), "-k", 300, "--algorithm", "kmeans", *words)  # the sample is more than a part
        x = rows(8000, 3, 4, "f8")
        x[:7900] = x[0]  # one bucket has nearly all rows, and no potential
        np.save(self.path("x.npy"), x)
        self.fits(self.path("x.npy"), (3,), "-k", 40, "--algorithm", "kmeans", *words)

    def test_two_level_seeding_that_has_no_room(self):
        """Nearly all rows lie in one bucket, which is one process's: refused before it takes them."""
        rng = np.random.default_rng(1)
        x = 30 * rng.normal(size=(300000, 64)).astype("f4")
        x[rng.random(len(x)) < 0.9] *= 0.001
        np.save(self.path("x.npy"), x)
        words = ("fit", self.path("x.npy"), "-k", 100, "--algorithm", "kmeans", "--max-steps", 1, "--memory",
                 "100M", "-q", "--threads", 1)
        _, err = self.run_many(4, *words, "--seeding", "two-level", code=1)
        self.assertIn("use --seeding random or kmeans++", err)
        self.run_many(4, *words, "--seeding", "random")

    def test_mixtures(self):
        b = self.data("b.npy", 9001, 3, 6, "f8", seed=2)
        self.fits(b, (3, 5), "-k", 6, "--algorithm", "gmm", "--max-steps", 12)
        for p, family in ((2, "iso"), (3, "diag"), (2, "diag-shared"), (3, "full-shared")):
            self.fits(b, (p,), "-k", 7, "--algorithm", "gmm", "--family", family, "--max-steps", 8)
        self.fits(b, (3,), "-k", 30, "--algorithm", "gmm", "--family", "iso-shared", "--prior",
                  "flat", "--empty", "drop", "--held", 4, "--search", "closest", "--max-steps", 8)

    def test_neighbors_over_more_rows(self):
        c = self.data("c.npy", 70001, 17, 30, "f4", seed=3)
        self.fits(c, (3,), "-k", 30, "--algorithm", "var-gmm-x", "--max-steps", 8)
        self.fits(c, (2,), "-k", 30, "--algorithm", "var-kmeans-x", "--explore", 1, "--max-steps", 8)

    def test_estimated_neighbors(self):
        """What waves of shards find joins in their order; each process has whole waves."""
        a = self.data("a.npy", 12345, 5, 12, "f4")
        words = ("-k", 30, "--search", "estimated", "--seeding", "random", "--max-steps", 5)
        self.fits(a, (2, 5), "-k", 600, *words[2:], "--held", 20, "--reach", 30)  # waves of 3,456 rows
        self.fits(a, (3,), "-k", 200, "--algorithm", "var-kmeans-s", "--explore", 1, "--empty", "reseed",
                  "--weights", self.weights(12345), "--max-steps", 5)
        self.fits(a, (2,), *words, "--family", "diag", "--empty", "drop")
        self.fits(a, (3,), "-k", 40, "--algorithm", "var-kmeans-s", "--swaps", 4, "--max-steps", 9)
        self.keeps(a, *words[:-2], "--explore", 1, pairs=((2, 3), (3, 0)))

    def test_even_clusters(self):
        """Prices by the gaps of all rows; and swaps that know them, which are made here."""
        a = self.data("a.npy", 12345, 6, 12, "f4", seed=3)
        words = ("-k", 100, "--search", "closest", "--seeding", "random", "--swaps", 6, "--balance", "soft")
        self.fits(a, (1, 3, 5), *words)
        self.vem("fit", a, *words, "-q", "--trace", self.path("t.csv"))
        self.assertIn(b"swap", self.read("t.csv"))
        self.fits(a, (2,), *words, "--weights", self.weights(12345))
        self.fits(a, (3,), *words, "--family", "iso", "--prior", "flat", "--held", 1)
        self.fits(a, (3,), "-k", 12, "--algorithm", "kmeans", "--balance", "auto", "--weights",
                  self.weights(12345))
        self.keeps(a, "-k", 12, "--algorithm", "kmeans", "--balance", "auto", pairs=((3, 2), (0, 3)), steps=4)

    def test_labels_that_keep_a_number(self):
        """The first process bids for all rows; those who have the rows make its lists."""
        a = self.data("a.npy", 8000, 6, 12, "f4", seed=3)
        words = ("--algorithm", "kmeans", "--seeding", "random", "--max-steps", 4)
        self.fits(a, (1, 3), "-k", 80, *words, "--balance", 1)
        self.fits(a, (2,), "-k", 80, *words, "--balance", 1.3, "--weights", self.weights(8000))
        self.fits(a, (5,), "-k", 9, *words, "--balance", 1)

    def test_shards_of_long_lists(self):
        """Rows that try many clusters lie in short shards, which end in the next process."""
        a = self.data("a.npy", 65536, 4, 20, "f4", seed=10)
        self.fits(a, (2,), "-k", 120, "--search", "exact", "--held", 10, "--reach", 10, "--seeding", "random",
                  "--max-steps", 2)

    def test_rows_of_bytes(self):
        x = np.clip(10 * rows(9000, 100, 8, "f8", seed=8) + 120, 0, 255).astype("u1")
        np.save(self.path("u.npy"), x)
        for seeding, more in (("afkmc2", []), ("kmeans++", ["--empty", "reseed"])):
            self.fits(self.path("u.npy"), (3,), "-k", 20, "--algorithm", "kmeans", "--seeding", seeding,
                      "--max-steps", 5, *more)

    def test_far_rows_and_starts_from_models(self):
        x = rows(8000, 4, 5, "f4", seed=4)
        x[7990] = 1e7  # the origin is not the mean of these
        np.save(self.path("x.npy"), x)
        self.fits(self.path("x.npy"), (3,), "-k", 5, "--algorithm", "kmeans")
        x[:7900] = x[0]  # of some processes all rows are alike
        np.save(self.path("x.npy"), x[:7950])
        self.fits(self.path("x.npy"), (3,), "-k", 40, "--algorithm", "kmeans", "--max-steps", 5)
        y = self.data("y.npy", 8000, 4, 5, "f8", seed=5)
        self.vem("fit", y, "-k", 5, "--algorithm", "kmeans", "--max-steps", 2, "-q", "-o",
                 self.path("m.npz"))
        self.fits(y, (2,), "--init", self.path("m.npz"), "--algorithm", "gmm", "--max-steps", 5)

    def test_weights(self):
        a = self.data("a.npy", 10007, 5, 12, "f4")
        weights = ("--weights", self.weights(10007))
        for p, seeding in ((1, "random"), (2, "random"), (3, "kmeans++"), (2, "kmeans++-greedy"),
                           (3, "afkmc2")):
            self.fits(a, (p,), "-k", 12, "--algorithm", "kmeans", "--seeding", seeding, *weights,
                      "--max-steps", 6)
        self.fits(a, (3,), "-k", 30, "--algorithm", "var-gmm-x", "--empty", "reseed", *weights,
                  "--max-steps", 6)
        self.fits(a, (2,), "-k", 4, "--algorithm", "gmm", "--family", "full", "--weights",
                  self.weights(10007, 1e200), "--max-steps", 6)

    def test_rows_of_no_weight_that_lie_far(self):
        x = rows(8000, 3, 4, "f4", seed=6)
        x[5000, 2], x[7000, 2] = 1e19, 3e19
        np.save(self.path("x.npy"), x)
        w = np.ones(8000)
        w[[5000, 7000]] = 0
        np.save(self.path("w.npy"), w)
        words = ("fit", self.path("x.npy"), "-k", 4, "--algorithm", "kmeans", "--weights",
                 self.path("w.npy"), "-q")
        one = self.vem(*words, code=1).stderr
        self.assertIn("Row 7001, column 3", one)
        self.assertIn(self.sentence(one), self.run_many(3, *words, code=1)[1])

    def test_time(self):
        """Enough of it: what it expects is told, and nothing else is other than without."""
        a = self.data("a.npy", 9001, 3, 6, "f8", seed=2)
        for p in (2, 3):
            told = [json.loads(self.run_many(p, "fit", a, "-k", 6, "--algorithm", "gmm", "--max-steps", 8,
                                             "--json", "-q", "-o", self.path(f"{i}.npz"), *time)[0])
                    for i, time in enumerate(([], ["--time", 1e6]))]
            self.assertEqual(*(t["steps"] for t in told))
            self.assertIn("nothing is given up", " ".join(told[1]["choices"]))
            models = [npz_parse(self.path(f"{i}.npz")) for i in range(2)]
            for model in models:
                model.pop("meta", None)
            self.assertEqual(*models)

    def test_states_go_from_some_to_others(self):
        a = self.data("a.npy", 10007, 5, 12, "f4")
        self.keeps(a, "-k", 12, "--algorithm", "kmeans", "--empty", "reseed")
        self.keeps(a, "-k", 20, "--algorithm", "var-gmm-x", "--explore", 1, pairs=((2, 3), (3, 0)))
        self.keeps(a, "-k", 5, "--algorithm", "gmm", "--family", "full", "--weights",
                   self.weights(10007), pairs=((3, 2), (0, 2)))

    def test_states_between_restarts(self):
        """The second one has begun when the first is over: with the labels of the best of all rows."""
        a = self.data("a.npy", 10007, 5, 12, "f4")
        words = ("-k", 6, "--algorithm", "kmeans", "--restarts", 2, "--tolerance", 0.01)
        self.keeps(a, *words, steps=60, more=60, pairs=((3, 2), (2, 0)))

    def test_states_that_do_not_go_on(self):
        a = self.data("a.npy", 10007, 5, 12, "f4")
        state = self.path("state")
        words = ("fit", a, "-k", 6, "--algorithm", "kmeans", "--max-steps", 3, "--checkpoint", state, "-q")
        self.run_many(3, *words)
        _, err = self.run_many(2, *words, "--seed", 2, "--resume", code=2)
        self.assertIn("belongs to another fit", err)
        bytes_of = bytearray(self.read("state"))
        bytes_of[len(bytes_of) // 2] ^= 1
        with open(state, "wb") as file:
            file.write(bytes_of)
        _, err = self.run_many(2, *words, "--resume", code=1)
        self.assertIn("cannot be resumed from: it is damaged", err)
        self.write("state", "something else")
        _, err = self.run_many(2, *words, code=2)
        self.assertIn("is no state of a fit", err)

    def test_swaps(self):
        """Sums of each cluster in the order of its rows, in blocks that processes share."""
        a = self.data("a.npy", 6007, 5, 12, "f4")
        swaps = ("--swaps", 4, "--seeding", "random", "--max-steps", 12)
        kmeans = ("-k", 25, "--algorithm", "kmeans", *swaps)
        soft = ("-k", 7, "--algorithm", "gmm", "--search", "closest", "--held", 3, *swaps)
        self.fits(a, (1, 3, 5), *kmeans)
        self.vem("fit", a, *kmeans, "-q", "-o", self.path("m.npz"), "--trace",
                 self.path("t.csv"))
        self.assertIn(b"swap", self.read("t.csv"))
        self.fits(a, (2,), "-k", 300, "--algorithm", "kmeans", "--weights", self.weights(6007), *swaps)
        self.fits(a, (3,), "-k", 12, "--algorithm", "var-gmm-x", *swaps)
        self.fits(a, (2,), *soft, "--family", "diag")
        self.fits(a, (3,), *soft[:6], "--held", 1, "--family", "full", *swaps)
        self.keeps(a, *kmeans[:-2], pairs=((3, 2),), steps=4)
        self.keeps(a, *soft[:-2], "--family", "iso", pairs=((2, 0), (0, 3)), steps=4)

    def test_measures(self):
        a = self.data("a.npy", 10007, 5, 12, "f4")
        for p, words in ((2, ("--algorithm", "kmeans", "--measure")),
                         (3, ("--algorithm", "gmm", "--family", "diag", "--measure", "--weights",
                              self.weights(10007))),
                         (3, ("--algorithm", "kmeans", "--measure", "sample"))):
            self.fits(a, (p,), "-k", 6, *words, "--max-steps", 5)

    def test_many_clusters_of_many_columns(self):
        """More than 1 MB of statistics: clusters sum their own rows, which lie in several processes."""
        x = np.clip(10 * rows(6000, 100, 8, "f8", seed=8) + 120, 0, 255)
        np.save(self.path("u.npy"), x.astype("u1"))
        np.save(self.path("f.npy"), x.astype("f4"))
        few = ("--seeding", "random", "--max-steps", 3)
        self.fits(self.path("u.npy"), (1, 3), "-k", 1300, "--algorithm", "kmeans", *few)
        self.fits(self.path("f.npy"), (2,), "-k", 1300, "--algorithm", "kmeans", "--weights",
                  self.weights(6000), *few)
        self.fits(self.path("f.npy"), (3,), "-k", 700, "--algorithm", "gmm", "--family", "diag",
                  "--search", "closest", "--held", 3, *few)

    def test_counts(self):
        rng = np.random.default_rng(3)
        means = 6 * rng.random((5, 7))
        x = rng.poisson(means[rng.integers(5, size=12000)])
        x[:, 0] += 1  # no row without any
        np.save(self.path("x.npy"), x.astype("u1"))
        np.save(self.path("b.npy"), (x > 3).astype("f4"))
        some = ("-k", 5, "--max-steps", 6, "--swaps", 0)
        self.fits(self.path("x.npy"), (1, 3), "--family", "poisson", *some, "--measure")
        self.fits(self.path("x.npy"), (2,), "--family", "multinomial", *some, "--weights",
                  self.weights(12000), "--seeding", "kmeans++")
        self.fits(self.path("b.npy"), (3,), "--family", "bernoulli", *some, "--search", "closest",
                  "--held", 2)
        np.save(self.path("few.npy"), x[:4000].astype("f8"))
        self.fits(self.path("few.npy"), (2,), "--family", "poisson", *some)
        y = x.astype("f8")
        y[9000, 2], y[11000, 1] = 2.5, -1
        np.save(self.path("y.npy"), y)
        _, err = self.run_many(3, "fit", self.path("y.npy"), "--family", "poisson", "-k", 3, "-q", code=1)
        self.assertIn("Row 9001, column 3 is 2.5", err)

    def test_sparse_counts(self):
        """Each process has read all rows, and goes through its own."""
        rng = np.random.default_rng(4)
        means = rng.gamma(0.3, 1, size=(6, 40))
        x = rng.poisson(8 * (means / means.sum(1)[:, None])[rng.integers(6, size=9000)])
        x[:, 0] += 1
        rows_, columns = np.nonzero(x)
        with open(self.path("x.mtx"), "w", encoding="ascii") as file:
            file.write(f"%%MatrixMarket matrix coordinate integer general\n9000 40 {len(rows_)}\n")
            file.writelines(f"{i + 1} {j + 1} {x[i, j]}\n" for i, j in zip(rows_, columns))
        some = ("-k", 6, "--max-steps", 5)
        self.fits(self.path("x.mtx"), (1, 3), "--family", "multinomial", *some, "--weights",
                  self.weights(9000), read=True)
        self.fits(self.path("x.mtx"), (5,), "--family", "poisson", *some, "--search", "all", "--empty", "reseed",
                  "--measure", read=True)
        self.fits(self.path("x.mtx"), (2,), "--family", "poisson", "-k", 70, "--max-steps", 4, read=True)
        self.vem("fit", self.path("x.mtx"), *some, "--family", "poisson", "-q", "-o", self.path("m.npz"))
        self.same(3, "score", self.path("m.npz"), self.path("x.mtx"))
        self.same(2, "predict", self.path("m.npz"), self.path("x.mtx"), files=(("-o", ".npy"),))

    def test_long_chains(self):
        a = self.data("a.npy", 10007, 5, 12, "f4")
        self.fits(a, (2,), "-k", 6, "--algorithm", "kmeans", "--seeding", "afkmc2", "--chain", 1500,
                  "--max-steps", 4)

    def test_files_that_are_read_into_memory(self):
        x = rows(9000, 4, 6, "f8", seed=7)
        for name, part in (("p1", x[:4000]), ("p2", x[4000:4100]), ("p3", x[4100:])):
            np.save(self.path(name + ".npy"), part)
        words = ("-k", 6, "--algorithm", "kmeans", "--max-steps", 6)
        parts = [self.path(f"p{i}.npy") for i in (1, 2, 3)]
        np.savetxt(self.path("t.csv"), x[:3000], delimiter=",")
        self.fits(self.path("t.csv"), (1, 2), *words, read=True)
        out, _ = self.run_many(2, "fit", self.path("t.csv"), *words, "--json", "-q")
        self.assertIn("each of the 2 processes has read all rows", " ".join(json.loads(out)["notes"]))
        np.save(self.path("p2.npy"), x[4000:4100].astype("f4"))  # of another type
        self.fits(parts, (3,), *words, read=True)
        self.fits(self.path("p3.npy"), (2,), *words, "--missing", "mean")
        x[::37, 1] = math.nan
        np.save(self.path("x.npy"), x)
        self.fits(self.path("x.npy"), (3,), *words, "--missing", "mean", read=True)
        self.fits(self.path("x.npy"), (3,), *words, "--missing", "drop", read=True)

    def test_files_that_stay_where_they_are(self):
        """Parts of one type are mapped, each as it lies; columns and bytes may lie otherwise in some."""
        x = rows(9000, 4, 6, "f8", seed=7)
        words = ("-k", 6, "--algorithm", "kmeans", "--max-steps", 6)
        parts = [self.path(f"p{i}.npy") for i in range(5)]
        for kind, of in (("f4", x), ("f8", x), ("u1", np.clip(9 * x + 120, 0, 255))):
            for i, part in enumerate(np.split(of.astype(kind), (3000, 3100, 3101, 7000))):
                np.save(parts[i], np.asfortranarray(part) if i == 3 else
                        part.astype(part.dtype.newbyteorder()) if i == 4 else part)
            self.fits(parts, (1, 2, 3), *words)
        self.fits(self.path("p*.npy"), (2,), *words, "--columns", "1,3,4", "--weights", self.weights(9000))
        self.vem("fit", *parts, *words, "-q", "-o", self.path("m.npz"))
        self.same(3, "score", self.path("m.npz"), *parts)
        self.same(2, "predict", self.path("m.npz"), *parts, files=(("-o", ".npy"),))
        x[8000, 2] = math.nan
        np.save(parts[4], x[7000:])
        for i, part in enumerate(np.split(x, (3000, 3100, 3101, 7000))):
            np.save(parts[i], part)
        one = self.vem("fit", *parts, *words, "-q", code=1).stderr
        self.assertIn("p4.npy", one)
        self.assertIn(self.sentence(one), self.run_many(3, "fit", *parts, *words, "-q", code=1)[1])
        self.fits(parts, (2,), *words, "--missing", "drop", read=True)

    def test_predict_and_score(self):
        d = self.data("d.npy", 300001, 4, 5, "f4", seed=6)
        model = self.path("m.npz")
        self.vem("fit", d, "-k", 5, "--algorithm", "kmeans", "--max-steps", 5, "-q", "-o", model)
        for p in (2, 5):
            self.same(p, "score", model, d)
            self.same(p, "predict", model, d, files=(("-o", ".npy"),))
        self.same(3, "predict", model, d, "--top", 2, files=(("-o", ".npz"),))

    def test_what_is_not_spread_is_refused(self):
        a = self.data("a.npy", 5000, 3, 4, "f8")
        for words, sentence in (
                (["fit", a, "-k", 4, "--search", "boxes"], "exact, estimated or groups"),
                (["fit", a, "-k", "2-4"], "say --coreset with fewer than the 5000 rows"),
                (["select", a, "--coreset", 5000, "-o", self.path("m.npz")], "say --coreset"),
                (["tree", a, "-o", self.path("t.npz")], "run vem tree without mpirun")):
            _, err = self.run_many(2, *words, "-q", code=2)
            self.assertIn(sentence, err)
        _, err = self.run_many(7, "fit", a, "-k", 4, "--algorithm", "kmeans", "-q", code=2)
        self.assertIn("use no more than 5", err)

    def test_a_build_without_says_so(self):
        done = self.vem("--version", env={**os.environ, "OMPI_COMM_WORLD_SIZE": "3",
                                          "OMPI_COMM_WORLD_RANK": "0"})
        self.assertIn("each of the 3 does the whole work", done.stderr)

    def test_all_must_be_asked_the_same(self):
        a = self.data("a.npy", 5000, 3, 4, "f8")
        words = ["fit", a, "--algorithm", "kmeans", "-q", "-k"]
        done = subprocess.run([MPIRUN, "-n", "1", MPI, *words, "4", ":", "-n", "1", MPI, *words, "5"],
                              capture_output=True, text=True, timeout=LIMIT, env=environment(),
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("do not make the same fit", done.stderr)

    def test_a_bad_row_is_named(self):
        x = rows(5000, 3, 4, "f8")
        x[4321, 1] = math.nan
        np.save(self.path("x.npy"), x)
        _, err = self.run_many(3, "fit", self.path("x.npy"), "-k", 4, "--algorithm", "kmeans", "-o",
                               self.path("m.npz"), code=1)
        self.assertIn("Row 4322, column 2 is NaN", err)
        self.assertFalse(os.path.exists(self.path("m.npz")))

    def test_a_process_that_is_killed_ends_the_run(self):
        big = self.data("big.npy", 60000, 20, 30, "f4", seed=7)
        with self.start(3, "fit", big, "-k", 200, "--algorithm", "gmm", "--family", "diag",
                        "--seeding", "random", "--tolerance", 0, "--max-steps", 100000, "-o",
                        self.path("m.npz")) as process:
            self.wait_for_line(process.stderr, "fitting: step")
            pids = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(process.pid)],
                                  capture_output=True, text=True).stdout.split("\n")
            ours = [int(line.split()[0]) for line in pids if MPI in line]
            self.assertEqual(len(ours), 3, pids)
            os.kill(ours[1], signal.SIGKILL)
            _, err = process.communicate(timeout=LIMIT)
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(err, "signal 9|[Kk]illed")
        self.assertFalse(os.path.exists(self.path("m.npz")))


if __name__ == "__main__":
    run_tests()
