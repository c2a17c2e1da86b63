"""What the targets share: fits of vem, FAISS and the prototypes, timed in turn in one run.

What counts, for everyone, is the fit in memory: seeding, reordering, every step; not reading
the file, not the exact error afterwards.

vem         seconds.total - seconds.read - seconds.measure of its JSON. A mapped file's pages are
            touched first inside the fit, so that (from the page cache) counts for vem.
prototypes  TOTAL, as they print it: reading and centring are left out.
FAISS       f: the second of two iterations on all rows, by FAISS's own clock (what niter = 2
            takes more than niter = 1, without a second first iteration).
"""

import os
import re
import shlex
import statistics
import subprocess
import sys

import numpy as np

import common

GLOVE = "glove100"
# Prototype 2's schedules by number of clusters, as its README gives them.
SCHEDULES = {
    4096: "2P2x3,2s64x1,1s64x1,1G64x1,1s64x1,1P2x1,1s64x1,1G64x1,1h64x2",
    16384: "1P2x3,1s8x1,1G8x1,1s8x1,1P2x1,1s8x1,1G8x1,1h8x2",
    65536: "1P2x2,1s6x1,1P1x1,1s6x1,1P1x1,1s6x1,1h6x2",
}
# --quick: few rows, few clusters, few steps, to see that everything runs.
QUICK = {"rows": 20000, "divide": 64, "steps": ["--max-steps", "5"]}


class Setting:
    """The options of one run, its scratch folder and its report."""

    def __init__(self, options, folder, report):
        self.options, self.folder, self.report = options, folder, report
        self.threads, self.seeds = options.threads, options.seeds
        self.missing = []  # parts of the target that could not be measured here
        self.extra = shlex.split(options.fit_options)
        if options.quick:
            self.extra += QUICK["steps"]
        self.helped = subprocess.run([common.command(), "fit", "--help"], capture_output=True,
                                     text=True, check=True).stdout

    def knows(self, option):
        """Whether this vem has the option; a target that needs it says so when it has not."""
        return option in self.helped

    def leave_out(self, sentence):
        """Says in the report that a part of the target was not measured."""
        self.missing.append(sentence)
        self.report.say("Not measured: " + sentence, "")

    def clusters(self, count):
        return max(count // QUICK["divide"], 16) if self.options.quick else count

    def data(self, name):
        """The path of a data set (its first rows only with --quick), or None."""
        path = common.data(name)
        if not path or not self.options.quick:
            return path
        return self.head(path, name)

    def head(self, path, name):
        short = os.path.join(self.folder, name + ".npy")
        if not os.path.exists(short):
            np.save(short, np.load(path, mmap_mode="r")[:QUICK["rows"]])
        return short


def fit(setting, path, clusters, seed, *more, measure=True):
    """A fit with the defaults: {"seconds", "error", "json"}; no error without `measure`."""
    line = ["fit", path, "-k", clusters, "--seed", seed, "--threads", setting.threads,
            *setting.extra, *more]
    done = common.vem(*line, *(["--measure"] if measure else []), apart=not measure)
    spent = done["seconds"]
    return {"seconds": spent["total"] - spent["read"] - spent["measure"],
            "error": done["quantization_error"], "json": done}


def iteration(setting, path, clusters, seed=1):
    """f: seconds of one iteration of FAISS on all rows."""
    means = os.path.join(setting.folder, "faiss.npy")
    return common.peer_fit(setting.threads, "faiss", path, clusters, seed, means, 2,
                           0)["iteration"]


def schedule(clusters):
    """The prototype's schedule for the nearest number of clusters that has one."""
    return SCHEDULES[min(SCHEDULES, key=lambda c: abs(np.log(c / clusters)))]


def prototype(setting, path, clusters, seed, exact=True):
    """Prototype 2 ($VEM_PROTOTYPE), {"seconds", "error"}, or None where it is not named."""
    program = os.environ.get("VEM_PROTOTYPE")
    if not program:
        return None
    line = [program, f"f={path}", f"C={clusters}", f"s={seed}", f"nt={setting.threads}", "v=0",
            "swf=0.3", "swm=1.0", "al=1.5", "swx=1", f"sched={schedule(clusters)}"]
    printed = output(line if exact else line + ["eval=0"])
    error = re.search(r"QE ([-+.0-9e]+)", printed)
    return {"seconds": float(re.search(r"TOTAL ([.0-9]+)", printed).group(1)),
            "error": float(error.group(1)) if error else None}


def output(line):
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}\n{done.stdout.strip()}\n{done.stderr.strip()}")
    return done.stdout


class Race:
    """vem and the prototype in turn over the seeds, with f measured between them."""

    def __init__(self, setting, path, clusters, f_repeats):
        self.setting, self.path, self.clusters = setting, path, clusters
        self.ours, self.theirs, f = [], [], []
        for turn, seed in enumerate(setting.seeds):
            ours, theirs = [], []
            for repeat in range(setting.options.repeats):
                runs = [lambda s=seed, o=ours: o.append(fit(setting, path, clusters, s)),
                        lambda s=seed, o=theirs: o.append(
                            prototype(setting, path, clusters, s))]
                # Who goes first alternates: what runs first may find a colder machine.
                for run in runs if (turn + repeat) % 2 == 0 else reversed(runs):
                    run()
            self.ours.append(best(ours))
            self.theirs.append(best(theirs))
            if turn < f_repeats:
                f.append(iteration(setting, path, clusters, seed))
        self.f = min(f)

    def table(self, references, limits):
        """One row a seed and one for all of them; references: the error that counts as 1.

        limits: "f" and "prototype" for the ratio of times, "error" for that of errors. All
        seeds together decide: the median of the time ratios, the mean of the error ratios.
        """
        rows, ratios = [], {"f": [], "prototype": [], "error": [], "their error": []}
        for seed, ours, theirs, reference in zip(self.setting.seeds, self.ours, self.theirs,
                                                 references):
            ratios["f"].append(ours["seconds"] / self.f)
            ratios["error"].append(ours["error"] / reference)
            if theirs:
                ratios["prototype"].append(ours["seconds"] / theirs["seconds"])
                ratios["their error"].append(theirs["error"] / reference)
            rows.append([seed, ours["seconds"], self.f, *columns(ratios, lambda r: r[-1]),
                         f"{ours['error']:.6g}", ours["json"]["steps"],
                         theirs and theirs["seconds"],
                         theirs and f"{theirs['error']:.6g}", None])
        whole = {"f": statistics.median, "prototype": statistics.median,
                 "error": statistics.mean, "their error": statistics.mean}
        total = {name: whole[name](r) for name, r in ratios.items() if r}
        met = all(total[name] <= limit for name, limit in limits.items() if name in total)
        rows.append(["all", *[None] * 2, *[shown(total.get(n), n) for n in ratios],
                     *[None] * 4, "yes" if met else "NO"])
        rows.append(["target", *[None] * 2, *[shown(limits.get(n), n) for n in ratios],
                     *[None] * 5])
        self.setting.report.table(
            ["seed", "vem s", "f s", "vem/f", "vem/prototype", "error ratio",
             "prototype's ratio", "error", "steps", "prototype s", "prototype's error",
             "met"], rows)
        if "prototype" in limits and "prototype" not in total:
            self.setting.leave_out("the time of prototype 2; VEM_PROTOTYPE names no program.")
        return met


def columns(ratios, pick):
    return [shown(pick(r), name) if r else None for name, r in ratios.items()]


def shown(value, name):
    """Ratios of errors need four decimals, those of times three digits."""
    if value is None:
        return None
    return f"{value:.4f}" if "error" in name else f"{value:.3g}"


def best(runs):
    """The fastest of several runs of the same thing; None when there are none."""
    return min(runs, key=lambda run: run["seconds"]) if runs and runs[0] else None


def generated(rows, columns_, folder=None, components=4096, seed=0):
    """The path of a generated data set, made when missing: a mixture with uneven clusters.

    A row is m_z + s_z g: m_z and g standard normal in every column, log s_z normal with mean
    log 0.35 and deviation 0.4, cluster z with probability proportional to z^-0.5; numpy's
    default generator with the seed given, in blocks of 65,536 rows.
    """
    folder = folder or common.data_folder()
    path = os.path.join(folder, f"generated_{rows}x{columns_}.npy")
    if os.path.exists(path):
        return path
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(seed)
    share = np.arange(1, components + 1) ** -0.5
    share /= share.sum()
    centers = random.standard_normal((components, columns_), dtype=np.float32)
    width = (0.35 * np.exp(0.4 * random.standard_normal(components))).astype(np.float32)
    out = np.lib.format.open_memmap(path + ".part", "w+", np.float32, (rows, columns_))
    for first in range(0, rows, 65536):
        last = min(first + 65536, rows)
        z = random.choice(components, last - first, p=share)
        noise = random.standard_normal((last - first, columns_), dtype=np.float32)
        out[first:last] = centers[z] + width[z, None] * noise
    out.flush()
    os.replace(path + ".part", path)
    return path
