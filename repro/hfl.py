"""What the reproductions of HFL share: the sets, the algorithms, fits kept one by one.

HFL is Hirschberger, Forster and Luecke, "Large scale clustering with variational EM for
Gaussian mixture models". Three of its five sets cannot be had here; a stand-in has the rows,
clusters, chain, neighborhoods and coreset of the line it stands for, as far as its data go.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import common  # noqa: E402

OUT = os.path.join(ROOT, "repro", "out", "hfl")
RESULTS = os.path.join(ROOT, "repro", "results")
TOLERANCE = 1e-4
# Algorithms, and whether each fits a coreset.
REFERENCE = "k-means++"
LOCK = threading.Lock()  # one thread at a time makes a derived file
LINES = {REFERENCE: False, "var-GMM-S": False, "LWCS": True, "vc-GMM": True, "vem": True}


@dataclass(frozen=True)
class Set:
    """A data set and how Table 1 treats it. paper: the printed line, if there is one."""

    file: str
    clusters: int
    size: int  # N', rows of the coreset
    stands: str  # what it stands for
    paper: str = ""
    chain: int = 2
    reach: int = 5
    explore: int = 0
    rows: int = 0  # so many rows, evenly spaced; 0: all
    held_out: int = 0  # so many of them are for the error only
    noise: bool = False  # uniform noise in [0, 1] on every value, as the paper has it
    initial: tuple = field(default=(0,))  # initial E-steps of the variational algorithms

    def neighbors(self):
        return f"{self.reach}+{self.explore}" if self.explore else str(self.reach)


SETS = {
    "patches": Set("patches", 500, 2**13, "for KDD: 145,751 photo patches", "KDD", rows=145751),
    "cod-rna": Set("codrna_331k", 500, 2**15, "RNA, without its third part", "RNA", chain=20,
                   reach=3, explore=1, initial=(0, 4)),
    "cifar-10": Set("cifar10_train", 500, 2**12, "CIFAR-10; 10,000 training rows are the test "
                    "rows", "CIFAR-10", held_out=10000, noise=True),
    "pixels": Set("pixels", 2000, 2**15, "for SUSY: colors of one photograph", "SUSY",
                  noise=True),
    "glove": Set("glove100", 4000, 2**16, "for SONG: word vectors", "SONG"),
    "mixture": Set("mixture", 4000, 2**16, "for SONG: generated, heavy tails", "SONG"),
    "mnist": Set("mnist", 500, 2**12, "not in the paper"),
    "usps": Set("usps", 100, 2**11, "not in the paper"),
    "pendigits": Set("pendigits", 100, 2**11, "not in the paper"),
}


def files(name):
    """(rows to fit, rows to judge by), both paths; None where the set is missing."""
    with LOCK:
        return derive(name, common.data(SETS[name].file))


def derive(name, path):
    what = SETS[name]
    if not path or not (what.rows or what.held_out or what.noise):
        return (path, path) if path else None
    os.makedirs(OUT, exist_ok=True)
    fitted = os.path.join(OUT, f"{name}.npy")
    judged = os.path.join(OUT, f"{name}-test.npy") if what.held_out else fitted
    if not os.path.exists(fitted):
        rows = np.load(path, mmap_mode="r")
        if what.rows:
            rows = rows[np.linspace(0, len(rows) - 1, what.rows).astype(int)]
        rows = np.array(rows, np.float32)
        if what.noise:
            rows += np.random.default_rng(1).random(rows.shape, np.float32)
        first = len(rows) - what.held_out
        parts = [(rows[first:], judged)] if what.held_out else []
        for part, target in [*parts, (rows[:first], fitted)]:
            np.save(target + ".part.npy", part)
            os.replace(target + ".part.npy", target)
    return fitted, judged


def options_of(name, line, size, initial):
    """What `vem fit` is told."""
    what = SETS[name]
    variational = ["--chain", what.chain, "--reach", what.reach, "--held", what.reach,
                   "--explore", what.explore, "--init-steps", initial]
    more = {
        REFERENCE: ["--algorithm", "kmeans"],
        "var-GMM-S": ["--algorithm", "var-gmm-s", *variational],
        "LWCS": ["--algorithm", "lwcs-kmeans", "--chain", what.chain],
        "vc-GMM": ["--algorithm", "vc-gmm", *variational],
        "vem": [],
    }[line]
    if line != "vem":
        more = [*more, "--tolerance", TOLERANCE]
    if LINES[line]:
        more = [*more, "--coreset", size]
    return ["-k", what.clusters, *more]


def fit(*arguments):
    """The report of `vem fit`, with "processor", the seconds that the system counted for it,
    and "resident", the bytes that it had resident at its highest."""
    line = [common.command(), "fit", *map(str, arguments), "--json", "-q"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, \
            subprocess.Popen(line, stdout=out, stderr=err) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        if process.returncode != 0:
            sys.exit(f"{' '.join(line)}\n{err.read().decode().strip()}")
        done = json.loads(out.read().decode().strip().splitlines()[-1])
    done["processor"] = usage.ru_utime + usage.ru_stime
    done["resident"] = usage.ru_maxrss * 1024
    return done


class Runs:
    """Fits, each made once and kept in a file of its own, so that an interrupted run can go on.

    Fits of several seeds run side by side, each with `threads` threads, as the paper's did.
    """

    def __init__(self, threads, jobs):
        self.threads, self.jobs = threads, jobs
        os.makedirs(OUT, exist_ok=True)

    def path(self, *parts):
        return os.path.join(OUT, "-".join(map(str, parts)))

    def fit(self, name, line, size, initial, seed):
        """The report of a fit, with its error and NMI on the rows to judge by."""
        fitted, judged = files(name)
        size = size if LINES[line] else 0
        options = options_of(name, line, size, initial)
        label = (name, line, size, initial, seed)
        kept = self.path(*label) + ".json"
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                found = json.load(file)
            if found["asked"] == list(map(str, options)):
                return found
        model = self.path(*label, threading.get_ident()) + ".npz"
        done = fit(fitted, *options, "--seed", seed, "--threads", self.threads, "-o", model)
        done["asked"] = list(map(str, options))
        done["load"], done["jobs"] = os.getloadavg()[0], self.jobs
        self.judge(done, name, line, seed, model, judged)
        os.remove(model)
        with open(kept + ".part", "w", encoding="utf-8") as file:
            json.dump(done, file)
        os.replace(kept + ".part", kept)
        print(*label, f"{done['quantization_error']:.6g} {fit_seconds(done):.2f} s",
              file=sys.stderr, flush=True)
        return done

    def judge(self, done, name, line, seed, model, judged):
        """Exact error; NMI with the partition that the reference of this seed found."""
        labels = self.path(name, "labels", seed) + ".npy"
        if line == REFERENCE:
            common.vem("predict", model, judged, "-o", labels, "--threads", self.threads)
        score = common.vem("score", model, judged, "--threads", self.threads, "--truth", labels)
        done["quantization_error"] = score["quantization_error"]
        done["nmi"] = score["nmi"]

    def reference_nmi(self, name, seeds):
        """Of the references among themselves, each with the next: what NMI can be hoped for."""
        labels = [np.load(self.path(name, "labels", seed) + ".npy") for seed in seeds]
        return np.mean([nmi(a, b) for a, b in zip(labels, labels[1:])]) if labels[1:] else None

    def all(self, tasks):
        """Fits for every (name, line, size, initial, seed), in their order; the references
        first, whose partitions the others are compared with."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            first = [t for t in tasks if t[1] == REFERENCE]
            rest = [t for t in tasks if t[1] != REFERENCE]
            for group in (first, rest):
                for _ in pool.map(lambda t: self.fit(*t), group):
                    pass
        return [self.fit(*t) for t in tasks]


def fit_seconds(done):
    spent = done["seconds"]
    return spent["total"] - spent["read"] - spent["measure"]


def distances(done):
    """As the paper counts them: of the coreset, of the seeding, of the E-steps."""
    return sum(done[key] or 0 for key in ("reduce_pairs", "seed_pairs", "scored_pairs"))


def nmi(a, b):
    """Information shared by two labelings over the mean of their entropies."""
    def entropy(labels):
        share = np.unique(labels, return_counts=True)[1] / len(labels)
        return -(share * np.log(share)).sum()
    both = a.astype(np.int64) * (int(b.max()) + 1) + b
    return 2 * (1 - entropy(both) / (entropy(a) + entropy(b)))


def summary(runs):
    """Means over the seeds; the standard error of the error."""
    error = np.array([run["quantization_error"] for run in runs])
    seconds = np.array([fit_seconds(run) for run in runs])
    shared = np.array([run["nmi"] for run in runs])
    start = np.array([run["seconds"]["reduce"] + run["seconds"]["seed"] for run in runs])
    return {"error": error.mean(), "errors": error,
            "sem": error.std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan,
            "seconds": seconds.mean(), "processor": np.mean([run["processor"] for run in runs]),
            "start": start.sum() / seconds.sum(),
            "distances": np.mean([distances(run) for run in runs]),
            "steps": np.mean([run["steps"] + run["init_steps"] for run in runs]),
            "nmi": shared.mean(),
            "nmi sem": shared.std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan}


def load(runs):
    """One sentence: what else ran while the fits did."""
    cores = os.cpu_count()
    mean = np.mean([run["load"] for run in runs])
    jobs = max(run["jobs"] for run in runs)
    own = jobs * max(run["threads"] for run in runs)
    busy = "" if mean < 1.25 * min(own, cores) else \
        " **The machine did other work meanwhile: times by the clock are not to be relied " \
        "on, those of the processor only roughly.**"
    return (f"{jobs} fits side by side on {cores} cores; mean load during the fits "
            f"{mean:.1f}.{busy}")


def arguments(doc):
    parser = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="NAME",
                        help=", ".join(SETS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1, help="of a fit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits side by side")
    parser.add_argument("--fresh", action="store_true", help="make every fit again")
    return parser


def chosen(options, kept):
    """The sets that are there; with --fresh without their fits, whose names end so."""
    sets = [name for name in options.sets if files(name)]
    for name in sets if options.fresh else []:
        for path in glob.glob(os.path.join(OUT, glob.escape(name) + kept)):
            os.remove(path)
    return sets
