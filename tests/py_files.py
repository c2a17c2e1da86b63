"""No command replaces a file that it reads, and outputs that cannot be are refused before any
work is done."""
import ctypes
import os
import threading

from cli_case import Case, blobs, main


def bound_by_modes():
    """Modes of files count for root, too: what lets it pass them by is given up for good."""
    drop, override, read_search = 24, 1, 2  # PR_CAPBSET_DROP, CAP_DAC_...
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (override, read_search):
            if libc.prctl(drop, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")


MISSING = "there-is-no-such-file.npy"  # a verb that got as far as reading would say so


class NothingIsLost(Case):
    def setUp(self):
        super().setUp()
        rows, self.truth = blobs()
        self.data = self.npy("data.npy", rows)
        self.model = self.path("model.npz")
        self.vem("fit", self.data, "-k", 3, "-o", self.model)
        self.classes = self.npy("truth.npy", self.truth, "<i8")

    def keeps(self, path, code, words, *patterns, **more):
        with open(path, "rb") as file:
            before = file.read()
        sentence = self.refuse(code, words, *patterns, **more)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before, path)
        return sentence

    def test_score_reads_truth(self):
        self.assertEqual(self.json("score", self.model, self.data, "--truth",
                                   self.classes)["nmi"], 1)
        self.keeps(self.classes, 2,
                   ["score", self.model, self.data, "--labels", self.classes], "--truth")

    def test_which_column_is_the_truth(self):
        table = self.write("table.csv", "species,type\n" + "".join(
            f"all,{c}\n" for c in self.truth))
        score = ["score", self.model, self.data, "--truth"]
        out = self.json(*score, table)
        self.assertEqual((out["truth_column"], out["ari"]), ("species", 0))
        self.assertIn('truth column        "species"', self.vem(*score, table).stdout)
        for column in ("type", "2"):
            out = self.json(*score, table, "--truth-column", column)
            self.assertEqual((out["truth_column"], out["ari"]), ("type", 1))
        self.assertIsNone(self.json(*score, self.classes)["truth_column"])
        self.refuse(2, score + [table, "--truth-column", "tpye"], 'did you mean "type"')
        self.refuse(2, score + [self.classes, "--truth-column", "type"], "only text tables")
        self.refuse(2, score[:-1] + ["--truth-column", "type"], "no --truth")
        other = self.write("other.csv", "a,b\n" + "".join(f"{c},1\n" for c in self.truth))
        self.refuse(1, score + [other], "2 columns", "--truth-column")

    def test_labels_replace_labels_only(self):
        fit = ["fit", self.data, "-k", 3, "--labels"]
        self.keeps(self.classes, 2, fit + [self.classes], "labels", "another file")
        table = self.write("truth.csv", "".join(f"{c}\n" for c in self.truth))
        self.keeps(table, 2, fit + [table], "holds no labels")
        self.keeps(table, 2, ["generate", "birch-grid", "-o", self.path("x.npy"), "--labels",
                              table], "holds no labels")
        wide = self.npy("wide.npy", [[c, c] for c in self.truth], "<i4")
        self.keeps(wide, 2, fit + [wide], "holds no labels")
        narrow = self.npy("narrow.npy", self.truth, "<i4")  # as numpy saves them
        self.keeps(narrow, 2, fit + [narrow], "holds no labels")
        for name in ("own.npy", "own.csv"):  # its own it replaces, and what is empty
            self.vem(*fit, self.path(name))
            first = self.read(name)
            self.vem(*fit, self.path(name))
            self.assertEqual(self.read(name), first)
            self.write(name, b"")
            self.vem(*fit, self.path(name))
            self.assertEqual(self.read(name), first)

    def test_made_up_classes_stay(self):
        """What generate and sample say of their rows is the truth, not what fit found."""
        make = {"generate": ["generate", "birch-grid", "-k", 4, "-n", 40],
                "sample": ["sample", self.model, "-n", 40]}
        for verb, words in make.items():
            for ending in ("npy", "csv"):
                rows, truth = self.path("rows.npy"), self.path(f"{verb}.{ending}")
                words = words + ["-o", rows, "--labels", truth]
                self.vem(*words)
                fit = ["fit", rows, "-k", 4, "--labels"]
                self.keeps(truth, 2, fit + [truth], "holds no labels", "another file")
                self.vem(*words)  # its own it replaces
                labels = self.path(f"labels.{ending}")
                self.vem(*fit, labels, "-o", self.path("m.npz"))
                self.keeps(labels, 2, words[:-1] + [labels], "holds no labels")
                self.json("score", self.path("m.npz"), rows, "--truth", truth)["nmi"]

    def test_classes_out_of_a_pipe(self):
        """A pipe can be read once only."""
        texts = {"truth.csv": "row,label\n" + "".join(
                     f"{i + 1},{c}\n" for i, c in enumerate(self.truth)),
                 "truth": "".join(f"{c}\n" for c in self.truth),
                 "truth.txt": "".join(f"class {c}\n" for c in self.truth)}
        bodies = {name: text.encode() for name, text in texts.items()}
        with open(self.classes, "rb") as file:
            bodies["pipe.npy"] = file.read()
        for name, body in bodies.items():
            pipe = self.path(name + ".d")
            os.mkdir(pipe)
            pipe = os.path.join(pipe, name)
            os.mkfifo(pipe)

            def fill():
                with open(pipe, "wb") as stream:
                    stream.write(body)
            writer = threading.Thread(target=fill, daemon=True)
            writer.start()
            out = self.json("score", self.model, self.data, "--truth", pipe)
            self.assertEqual((name, out["nmi"]), (name, 1))
            writer.join()

    def test_labels_are_read_back(self):
        labels = self.path("own.csv")
        self.vem("fit", self.data, "-k", 3, "--labels", labels)
        text = self.read("own.csv").decode().splitlines()
        self.assertEqual(text[0], "row,label")
        self.assertEqual([int(line.split(",")[0]) for line in text[1:]],
                         list(range(1, len(self.truth) + 1)))
        self.assertEqual(self.json("score", self.model, self.data, "--truth", labels)["ari"],
                         1)

    def test_outputs_against_inputs(self):
        weights = self.npy("weights.npy", [1.0] * len(self.truth))
        state, stats = self.path("state"), self.path("stats.npz")
        self.vem("fit", self.data, "--init", self.model, "--accumulate", stats)
        fit = ["fit", self.data, "-k", 3, "--weights", weights, "--init", self.model]
        for option in ("--labels", "--checkpoint"):
            for file in (self.data, weights):
                self.keeps(file, 2, fit + [option, file], "is the input", "another output")
        self.keeps(self.model, 2, fit + ["-o", self.model], "input")
        self.keeps(self.model, 2, fit + ["--checkpoint", self.model], "input")
        self.keeps(self.model, 2, ["fit", self.data, "--init", self.model, "--accumulate",
                                   self.model], "input")
        self.keeps(stats, 2, ["merge", stats, "-o", stats], "input")
        small = self.path("small.npz")
        self.vem("coreset", self.data, "-m", 50, "-o", small)
        self.keeps(small, 2, ["coreset", small, "-m", 20, "-o", small], "input")
        self.keeps(small, 2, ["fit", small, "-k", 2, "-o", small], "input")
        self.keeps(self.data, 2, ["predict", self.model, self.data, "-o", self.data], "input")
        self.keeps(small, 2, ["select", small, "-o", small], "input")
        for option in ("--labels", "--checkpoint"):
            for file in (self.data, weights):
                self.keeps(file, 2, ["select", self.data, "--weights", weights, option, file],
                           "is the input", "another output")
        for option in ("--newick", "--labels"):
            for file in (self.data, weights, self.classes):
                self.keeps(file, 2, ["tree", self.data, "--weights", weights, "--truth",
                                     self.classes, option, file], "is the input", "another output")
        tree = self.path("tree.npz")
        self.vem("tree", self.data, "-o", tree)
        self.keeps(tree, 2, ["tree", tree, "-o", tree], "input")
        table = self.write("table.csv", "1,2\n3,4\n5,7\n")
        self.keeps(table, 2, ["describe", self.model, table, "--csv", table], "input")
        # Nothing but the file behind it tells: the name is another, and labels may be replaced.
        own = self.path("own.csv")
        self.vem("fit", self.data, "-k", 3, "--labels", own)
        for name in ("/dev/stdin", "-"):
            with open(own, "rb") as stream:
                self.keeps(own, 2, ["fit", name, "-k", 3, "--labels", own], "is the input",
                           "another output", stdin=stream)
        self.assertFalse(os.path.exists(state))

    def test_links_are_seen_through(self):
        os.symlink(self.data, self.path("soft.npy"))
        os.link(self.data, self.path("hard.npy"))
        os.mkdir(self.path("folder"))
        for other in ("soft.npy", "hard.npy", "folder/../data.npy"):
            self.keeps(self.data, 2, ["predict", self.model, self.data, "-o",
                                      self.path(other)], "input")
            self.keeps(self.data, 2, ["predict", self.model, self.path(other), "-o",
                                      self.data], "input")
        os.symlink(self.path("folder"), self.path("way"))
        self.refuse(2, ["fit", self.data, "-k", 3, "--labels", self.path("folder/a.csv"),
                        "--trace", self.path("way/a.csv")], "same file")


class FoundBeforeTheWork(Case):
    """The data are not even there: a sentence about the output shows that it came first."""
    VERBS = {"fit": (["fit", MISSING, "-k", 3], [("-o", "npz"), ("--labels", "npy"),
                                                 ("--trace", "csv"), ("--checkpoint", "st")]),
             "predict": (["predict", MISSING, MISSING], [("-o", "npy")]),
             "top": (["predict", MISSING, MISSING, "--top", 2], [("-o", "npz")]),
             "coreset": (["coreset", MISSING, "-m", 5], [("-o", "npz")]),
             "merge": (["merge", MISSING], [("-o", "npz")]),
             "seed": (["seed", MISSING, "-k", 3], [("-o", "npz")]),
             "accumulate": (["fit", MISSING, "--init", "/dev/null"],
                            [("--accumulate", "npz")]),
             "update": (["update", MISSING, MISSING], [("-o", "npz"), ("--labels", "npy"), ("--trace", "csv"),
                                                       ("--checkpoint", "st"), ("--drift", "csv")]),
             "select": (["select", MISSING], [("-o", "npz"), ("--labels", "npy"), ("--trace", "csv"),
                                              ("--checkpoint", "st"), ("--picture", "svg")]),
             "tree": (["tree", MISSING], [("-o", "npz"), ("--labels", "npy"), ("--newick", "nwk"),
                                          ("--r", "R"), ("--picture", "svg")]),
             "sample": (["sample", MISSING, "-n", 5, "-o", "/dev/null"], [("--labels", "npy")]),
             "rows": (["sample", MISSING, "-n", 5], [("-o", "npy")]),
             "describe": (["describe", MISSING], [("--csv", "csv")]),
             "generate": (["generate", "birch-grid", "-o", "/dev/null"],
                          [("--labels", "npy"), ("--centers", "csv")])}
    ANY_ENDING = ("--checkpoint", "--newick")

    def test_that_nothing_will_be_written(self):
        # Said with the plan, which comes before a long fit, and with -v before any.
        data = self.npy("data.npy", blobs()[0])
        for words in (["fit", data, "-k", 3], ["select", data], ["tree", data]):
            name = "TREE" if words[0] == "tree" else "MODEL"
            said = self.vem(*words, "-v").stderr
            self.assertRegex(said, f"about .*\nvem: no file is named.*-o {name}.npz keeps")
            for kept in (["-v", "-o", self.path("m.npz")], ["-v", "--json"], [],
                         ["-v", "--labels", self.path("l.npy")]):
                self.assertNotIn("keeps what", self.vem(*words, *kept).stderr, kept)

    def outputs(self):
        for words, outputs in self.VERBS.values():
            for option, ending in outputs:
                yield words, option, ending

    def test_endings(self):
        for words, option, ending in self.outputs():
            if option not in self.ANY_ENDING:
                for wrong in ("out.xyz", "out", "out.json.npx"):
                    self.refuse(2, words + [option, self.path(wrong)], "must end with", ending)

    def test_absent_folder(self):
        for words, option, ending in self.outputs():
            self.refuse(1, words + [option, self.path(f"absent/out.{ending}")],
                        "there is no such file or directory", "absent")

    def test_a_folder(self):
        for words, option, ending in self.outputs():
            os.makedirs(self.path(f"dir.{ending}"), exist_ok=True)
            self.refuse(1, words + [option, self.path(f"dir.{ending}")], "directory")

    def test_what_may_not_be_written(self):
        os.mkdir(self.path("shut"), 0o500)
        as_others = {"preexec_fn": bound_by_modes}
        for words, option, ending in self.outputs():
            self.refuse(1, words + [option, self.path(f"shut/out.{ending}")], "permission",
                        **as_others)
            kept = self.path(f"kept.{ending}")
            if not os.path.exists(kept):
                self.write(f"kept.{ending}", b"")
            os.chmod(kept, 0o400)
            self.refuse(1, words + [option, kept], "permission", **as_others)

    def test_missing_output(self):
        for words in (["coreset", MISSING, "-m", 5], ["merge", MISSING], ["seed", MISSING, "-k", 3],
                      ["generate", "birch-grid"]):
            self.refuse(2, words, "-o")

    def test_inputs_of_options(self):
        data = self.npy("data.npy", blobs()[0])
        self.refuse(1, ["fit", data, "-k", 3, "--weights", self.path("w.npy")], "w.npy",
                    "there is no such file or directory")
        self.refuse(1, ["score", MISSING, MISSING, "--truth", self.path("t.npy")], "t.npy",
                    "there is no such file or directory")
        said = self.vem("score", MISSING, MISSING, "--truth", "digit", code=1).stderr
        self.assertIn("--truth FILE --truth-column digit", said)


if __name__ == "__main__":
    main()
