#!/usr/bin/env python3
"""What constants of the library are worth: each one halved and doubled, on whole fits.

    bench/constants.py [--data FOLDER] [--only NAME ...] [--seeds S ...] [--repeats R] [--work DIR]
    bench/constants.py --sweep [--data FOLDER] [--only NAME ...]  # a quarter to four times, pairs and error
    bench/constants.py --check      # stands all of it, and all of docs/constants.md, in the source?

For each constant of CONSTANTS a copy of this tree is edited, built and put back; this tree stays
as it is. The three commands (half, as it is, double) then fit the same data with the same seeds in
turn. Time is processor time of one thread, the least of the repeats, summed over the seeds: what
other work on the machine adds, it only ever adds. Pairs are the (row, cluster) scores that were
taken, which no other work can change. Quality is what `vem score` of the unchanged build says of
the models: by how much the squared error grows where a row has one cluster, else the
log-likelihood of a row; for predictions the recall. Integers are halved upwards.

--sweep takes the constants of SWEEPS at a quarter, half, two and four times what they are, and tells for
each fit the pairs and the quality beside those of the value in the code, in the mean over the seeds, and
how far the seeds of that value lie apart. Neither depends on the machine. A value with which the first
seed ends to the bit as with another, after as many pairs, is taken for that one with the other seeds too:
most are limits that were not met.

FOLDER holds real data as NAME.npy or NAME.npy.zst; sets that are not there are left out, which is
said, and a constant none of whose sets are there is left out with them. The rest is made by
`vem generate`. The table goes to standard output, what is going on to standard error.
"""

import argparse
import glob
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# name: (data, options of fit). "made" is generated; "predict ..." predicts with a model of it.
CASES = {
    "made-1000": ("made", "-k 1000"),
    "made-5000": ("made", "-k 5000"),
    "rna-500": ("codrna_331k", "-k 500"),
    "rna-10": ("codrna_331k", "-k 10"),
    "susy-1000": ("susy_30k", "-k 1000"),
    "usps-100": ("usps", "-k 100"),
    "protein-64": ("uci_protein", "-k 64"),
    "protein-40": ("uci_protein", "-k 40"),
    "pendigits-20": ("pendigits", "-k 20"),
    "protein-diag-100": ("uci_protein", "-k 100 --family diag"),
    "protein-diag-200": ("uci_protein", "-k 200 --family diag"),
    "pendigits-diag-20": ("pendigits", "-k 20 --family diag"),
    "pendigits-full-10": ("pendigits", "-k 10 --family full"),
    "susy-graph-500": ("susy_30k", "-k 500 --algorithm var-kmeans-s"),
    "made-direct-64": ("made", "-k 64 --algorithm kmeans"),
    "predict-5000": ("made", "-k 5000"),
}
MADE = "tau-separated -k 1000 -n 60000 -d 24 --seed 1"

LISTS = "made-1000 susy-1000"
FEW = "protein-64 pendigits-20"
SHAPED = "pendigits-diag-20 pendigits-full-10"

# (name, file below src, value as it is written, what it trades, cases[, half and double])
CONSTANTS = [
    ("SHARE_LISTS", "fit/presets.c", "64", "clusters from which rows share lists: time against "
     "an exact search with starts", "protein-64 protein-40 usps-100"),
    ("GROUP_REACH", "fit/presets.c", "64", "clusters in a shared list: pairs a step against what "
     "lists miss", LISTS + " rna-500"),
    ("PROBE", "fit/presets.c", "2", "buckets a row looks into: pairs of a probe against recall",
     LISTS),
    ("SWAPS", "fit/presets.c", "8", "rounds of swaps at most: time against optima left",
     LISTS + " protein-64"),
    ("SOFT_ALL", "fit/presets.c", "128", "clusters up to which a soft fit holds all: exact "
     "posteriors against time", "protein-diag-100 protein-diag-200"),
    ("SOFT_HELD", "fit/presets.c", "3", "clusters a row holds beyond that: tightness of F "
     "against time", "protein-diag-200"),
    ("VEM_I_FEW_CLUSTERS", "fit/presets.h", "64",
     "clusters up to which fits of a sample come first", "protein-64 protein-40"),
    ("SWAP_ENOUGH", "fit/attempt.c", "1e-3", "gain below which swaps end: time against error",
     LISTS),
    ("EACH", "fit/starts_plan.c", "256", "rows of the sample for each cluster: time of a start "
     "against telling maxima apart", FEW),
    ("EACH_SHAPED", "fit/starts_plan.c", "512", "the same where clusters have shapes", SHAPED),
    ("MOST", "fit/starts_plan.c", "18", "starts at most: time against better maxima",
     "rna-10 pendigits-20"),
    ("MOST_SHAPED", "fit/starts_plan.c", "16", "the same where clusters have shapes",
     "pendigits-diag-20"),
    ("SHARE", "fit/starts_plan.c", "3.5", "work of all starts, in fits of all rows", FEW),
    ("FRESH", "fit/starts_plan.c", "2", "starts from a seeding; the others move clusters of the "
     "best", FEW),
    ("BETTER", "fit/starts.c", "1e-5", "by how much a start must be better to be taken", FEW),
    ("FIND_STEPS", "em/schedule.c", "3", "steps before the first swaps: a good assignment "
     "against time", LISTS),
    ("REFRESH", "em/schedule.c", "4", "steps for which lists are kept at the end", LISTS),
    ("RELAX", "em/schedule.c", "1.5", "over-relaxation before and between swaps: steps against "
     "overshooting", LISTS, ("1.25", "1.9")),
    ("MOST_SHARE", "moves/swap.c", "0.3", "clusters that move in one round, as a share", LISTS),
    ("POWER_STEPS", "moves/split.c", "3", "steps towards the widest direction of a cluster",
     LISTS),
    ("SHAPE_STEPS", "moves/shape.c", "6", "steps that fit the shapes of two halves", SHAPED),
    ("STARTS", "moves/shape.c", "8", "pairs of rows from which two halves begin", SHAPED),
    ("VEM_I_BUCKET_SAMPLE", "seed/row_buckets.h", "32", "rows of the sample behind a seeding's buckets",
     LISTS),
    ("LLOYD_STEPS", "seed/row_buckets.c", "4", "steps of k-means for a seeding's buckets", LISTS),
    ("4 * sqrt", "seed/two_level_seed.c", "4", "buckets of the seeding: drawing inside them against "
     "finding them", LISTS),
    ("BATCH", "seed/two_level.c", "8", "centers drawn at a time: passes over a bucket against "
     "centers too near each other", LISTS),
    ("BUCKETS_PER_ROOT", "coarse/hierarchy.c", "3", "buckets of clusters: pairs with buckets against "
     "pairs with clusters in them", LISTS),
    ("GROUPS", "coarse/hierarchy.c", "4096", "groups of clusters that have a list: tables "
     "against longer lists", "made-5000"),
    ("GROUP_BUCKETS", "coarse/hierarchy_near.c", "24", "buckets in which a group looks for its "
     "neighbors", "made-1000 made-5000"),
    ("VEM_I_GROUP_ITEMS", "search/groups.h", "4096", "rows that share a gathered tile: fuller "
     "tiles against memory", LISTS),
    ("VEM_I_SHORTLIST", "search/groups.h", "512", "clusters gathered at a time", "rna-500 "
     "made-5000"),
    ("VEM_I_DIRECT_MAX", "coarse/nearest.h", "16", "columns up to which direct differences are "
     "taken instead of dot products", "made-direct-64 susy-1000 made-1000 pendigits-20"),
    ("VEM_I_TILE", "coarse/block.h", "64", "clusters scored at a time: cache against overhead",
     "rna-500 protein-64"),
    ("SHARD_TOUCHES", "search/graph.c", "1 << 15", "pairs of a shard that learns neighbors: "
     "memory against overhead", "susy-graph-500", ("1 << 14", "1 << 16")),
    ("SAMPLE_PER_REGION", "coarse/buckets.c", "64", "means behind a region of a guided search",
     "predict-5000"),
]


# Constants whose value nothing had chosen, and the fits that tell of them. They are cheap: at most 60,000
# rows. Clusters lie between two values of those that are numbers of clusters.
SWEEPS = {
    "VEM_I_FEW_CLUSTERS": "pendigits-24 pendigits-48 usps-48 pendigits-96 sift-96 pendigits-192",
    "SOFT_ALL": "pendigits-diag-48 pendigits-diag-100 pendigits-diag-200 usps-diag-100",
    "SOFT_HELD": "pendigits-diag-200 usps-diag-200",
    "GROUP_REACH": "pendigits-500 sift-300 susy-1000",
    "GROUP_BUCKETS": "pendigits-1000 sift-1000 susy-1000",
    "GROUPS": "sift-3000 susy-5000",
}
SETS = {"pendigits": "pendigits", "protein": "uci_protein", "usps": "usps", "sift": "bigann10k",
        "susy": "susy_30k"}
for _case in " ".join(SWEEPS.values()).split():
    _set, *_family, _clusters = _case.split("-")
    CASES.setdefault(_case, (SETS[_set], " ".join([f"-k {_clusters}"] + [f"--family {f}" for f in _family])))


def say(sentence):
    print(sentence, file=sys.stderr, flush=True)


def halves(constant):
    """The value of a constant, half of it and twice it, as text."""
    value = constant[2]
    if len(constant) > 5:
        return [constant[5][0], value, constant[5][1]]
    if re.fullmatch(r"\d+", value):
        return [str(-(-int(value) // 2)), value, str(2 * int(value))]
    return [repr(float(value) / 2), value, repr(float(value) * 2)]


def as_written(constant):
    """What stands in the source; some constants have no name of their own."""
    return constant[0] if " " in constant[0] else f"{constant[0]} = {constant[2]}"


def pattern(written):
    return r"(?<!\w)" + re.escape(written) + r"(?!\w)"


def check():
    """Every constant stands where it is said to, once, or there is nothing to measure."""
    for constant in CONSTANTS:
        path = os.path.join(TOP, "src", constant[1])
        count = 0
        if os.path.exists(path):
            with open(path, encoding="utf-8") as source:
                count = len(re.findall(pattern(as_written(constant)), source.read()))
        if count != 1:
            sys.exit(f"src/{constant[1]} has \"{as_written(constant)}\" {count} times, not once: "
                     "CONSTANTS is out of date.")


# ---- what docs/constants.md says of all of them ----

PAGE = os.path.join(TOP, "docs", "constants.md")
FILE = re.compile(r"[\w*/]+\.(?:c|h|inc)\b")
NAMED = re.compile(r"\b((?:vem_i_[a-z_]+|[A-Z][A-Z_0-9]{2,})\b\*?)(?: (2\^\d+|1/\d+|[\d.,]*\d(?:e-?\d+)?)"
                   r"( [KM]iB?\b)?)?")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "Mi": 1 << 20}


def told(text, unit):
    """The number on the page."""
    if text.startswith("2^"):
        return float(1 << int(text[2:]))
    if text.startswith("1/"):
        return 1 / float(text[2:])
    return float(text.replace(",", "")) * UNITS.get(unit.strip(), 1)


def written(name, source):
    """The numbers that the source gives a name; those it computes from others are left out."""
    for value in re.findall(r"\b" + name + r"\s*=\s*([^,;}]+)", source):
        plain = re.sub(r"U?INT64_C|\((?:size_t|u?int64_t)\)|/\*.*?\*/", "", value, flags=re.DOTALL)
        if re.fullmatch(r"[\d.e\s()<*/+x-]+", plain):
            yield float(eval(plain))  # digits and signs only


def source_of(cell):
    """The text of the files that a cell names; those behind the first lie in its folder."""
    paths, texts = FILE.findall(cell), []
    for path in paths:
        whole = path if "/" in path else os.path.join(os.path.dirname(paths[0]), path)
        for file in glob.glob(os.path.join(TOP, "src", whole)):
            with open(file, encoding="utf-8") as source:
                texts.append(source.read())
    return "\n".join(texts)


def check_names(where, said):
    """Does each name that is said of these files stand in one of them, with that value?"""
    source = source_of(where)
    for name, value, unit in NAMED.findall(re.sub(r"`[^`]*`", "", said)):
        values = list(written(name, source))
        if not re.search(r"\b" + name.rstrip("*") + (r"" if name.endswith("*") else r"\b"), source):
            yield f"{where}: there is no {name}"
        elif value and values and not any(math.isclose(told(value, unit), v) for v in values):
            yield f"{where}: {name} is {values[0]:g}, not {value}{unit}"


def check_page():
    """Every constant of docs/constants.md stands in the file where it is said to, with that value."""
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    wrong = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and FILE.search(cells[1]):
            where = ", ".join(FILE.findall(cells[1]))
            name = NAMED.match(cells[1])
            wrong += check_names(where, name.group(1) if name else cells[2])
    start = text.index("Where work is cut into pieces")
    for where, said in re.findall(r"`([\w/]+\.[ch])` ([^`]*)", text[start : text.index("\n\n", start)]):
        wrong += check_names(where, said)
    return wrong


def copy_tree(work):
    """A copy of what a build needs, configured. Nothing of an earlier one is kept: objects of an
    edited file would look newer than the file."""
    tree = os.path.join(work, "tree")
    for old in (tree, os.path.join(work, "builds")):
        shutil.rmtree(old, ignore_errors=True)
    os.makedirs(tree)
    for part in ("CMakeLists.txt", "vem.pc.in", "cmake", "cli", "include", "src", "scripts",
                 "docs", "bench/kernels.c"):
        source, target = os.path.join(TOP, part), os.path.join(tree, part)
        if os.path.isdir(source):
            shutil.copytree(source, target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)
    subprocess.run(["cmake", "-S", tree, "-B", os.path.join(tree, "build"),
                    "-DCMAKE_BUILD_TYPE=Release", "-DVEM_TESTS=OFF", "-DVEM_WERROR=OFF",
                    "-DVEM_PYTHON_PACKAGE=OFF"],
                   check=True, stdout=subprocess.DEVNULL)


def build(work, folder):
    """The command and its library, as the tree is now, into a folder; False: it does not
    compile."""
    made = os.path.join(work, "tree", "build")
    done = subprocess.run(["cmake", "--build", made, "--target", "vem_command", "-j",
                           str(os.cpu_count())], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return False
    os.makedirs(folder, exist_ok=True)
    for name in ["vem"] + [n for n in os.listdir(made) if n.startswith("libvem.so")]:
        shutil.copy2(os.path.join(made, name), os.path.join(folder, name))
    return True


def build_with(work, constant, value):
    """The folder of a build in which the constant has this value; None: it does not compile."""
    name, file, old = constant[:3]
    path = os.path.join(work, "tree", "src", file)
    folder = os.path.join(work, "builds", re.sub(r"\W+", "_", f"{file} {name} {value}"))
    with open(path, encoding="utf-8") as source:
        text = source.read()
    written = as_written(constant)
    edited = re.sub(pattern(written), lambda _: written.replace(old, value), text)
    try:
        with open(path, "w", encoding="utf-8") as source:
            source.write(edited)
        return folder if build(work, folder) else None
    finally:
        with open(path, "w", encoding="utf-8") as source:
            source.write(text)


def vem(folder, *words):
    """What the command of a build prints as JSON, and the processor seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([os.path.join(folder, "vem"), *words, "--json", "-q"], check=False,
                          capture_output=True, text=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=folder))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"vem {' '.join(words)}\n{done.stderr.strip()}")
    told = json.loads(done.stdout.strip().splitlines()[-1])
    return told, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_of(name, work, plain, source):
    """The path of a data set, or None where it is not to be had."""
    path = os.path.join(work, name + ".npy")
    if os.path.exists(path):
        return path
    if name == "made":
        vem(plain, "generate", *MADE.split(), "-o", path)
        return path
    given = os.path.join(source or "", name + ".npy")
    if source and os.path.exists(given):
        return given
    if source and os.path.exists(given + ".zst"):
        subprocess.run(["zstd", "-dqf", given + ".zst", "-o", path], check=True)
        return path
    return None


def run(case, folder, seed, work, plain, source):
    """One fit or prediction: processor seconds, pairs, what tells results apart, quality."""
    data, words = CASES[case]
    rows = rows_of(data, work, plain, source)
    model = os.path.join(work, "model.npz")
    fit = ["fit", rows, *words.split(), "--seed", str(seed), "--threads", "1", "-o"]
    if case.startswith("predict"):
        model = os.path.join(work, f"{case}-{seed}.npz")
        if not os.path.exists(model):
            vem(plain, *fit, model)
        told, spent = vem(folder, "predict", model, rows, "--threads", "1", "-o",
                          os.path.join(work, "labels.npy"))
        return spent, told["scored_pairs"], told["recall"], lambda: told["recall"]
    told, spent = vem(folder, *fit, model)
    what = "log_likelihood" if is_soft(case) else "quantization_error"
    return (spent, told["scored_pairs"] + told["seed_pairs"], told["free_energy"],
            lambda: vem(plain, "score", model, rows)[0][what])


def is_soft(case):
    return "--held" in CASES[case][1] or "--family" in CASES[case][1]


SCORED = {}  # quality by case, seed and free energy: what is equal is scored once


def measure(case, folders, options, work, plain):
    """For each build: seconds and pairs over all seeds, and its quality for each seed."""
    least, pairs, quality = {}, {}, {}
    for repeat in range(options.repeats):
        for seed in options.seeds:
            for folder in folders if (repeat + seed) % 2 else folders[::-1]:
                key = (folder, seed)
                spent, pairs[key], result, ask = run(case, folder, seed, work, plain,
                                                     options.data)
                least[key] = min(spent, least.get(key, spent))
                same = (case, seed, result)
                SCORED[same] = SCORED[same] if same in SCORED else ask()
                quality[key] = SCORED[same]
    return [(sum(least[f, s] for s in options.seeds), sum(pairs[f, s] for s in options.seeds),
             [quality[f, s] for s in options.seeds]) for f in folders]


def cells(case, changed, base):
    """Time, pairs and quality of a changed build beside those of the plain one, as text."""
    if changed is None:
        return ["does not compile", "", ""]
    both = list(zip(changed[2], base[2]))
    if case.startswith("predict"):
        better = f"{sum(changed[2]) / len(both):.5f}"
    elif changed[2] == base[2]:
        better = "same"
    elif is_soft(case):
        better = f"{sum(a - b for a, b in both) / len(both):+.4f}"
    else:
        better = f"{100 * (sum(a / b for a, b in both) / len(both) - 1):+.2f} %"
    return [f"{changed[0] / base[0]:.2f}", f"{changed[1] / base[1]:.2f}", better]


def judge(constant, options, work, plain):
    """The lines of one constant."""
    half, value, double = halves(constant)
    name, file, _, trades, names = constant[:5]
    names = [n for n in names.split() if rows_of(CASES[n][0], work, plain, options.data)]
    if not names:
        say(f"{name} of {file} is left out: its data are not there.")
        return
    folders = [build_with(work, constant, half), plain, build_with(work, constant, double)]
    for case in names:
        found = measure(case, [f for f in folders if f], options, work, plain)
        found = [found.pop(0) if f else None for f in folders]
        line = [name, file, f"{half}, **{value}**, {double}", trades, case,
                *cells(case, found[0], found[1]), *cells(case, found[2], found[1])]
        print("| " + " | ".join(line) + " |", flush=True)
        name = file = trades = ""


def sweep(constant, options, work, plain):
    """The lines of one constant of SWEEPS."""
    name, file, value = constant[:3]
    values = [str(math.ceil(int(value) * factor)) for factor in (0.25, 0.5, 1, 2, 4)]
    folders = [plain if v == value else build_with(work, constant, v) for v in values]
    print(f"| {name}, {file} | fit | " + " | ".join(f"**{v}**" if v == value else v for v in values)
          + " | seeds apart |\n" + "|---" * (len(values) + 3) + "|", flush=True)
    for case in SWEEPS[name].split():
        if not rows_of(CASES[case][0], work, plain, options.data):
            continue
        known, found = {}, []
        for folder in folders:
            first = folder and run(case, folder, options.seeds[0], work, plain, options.data)[1:3]
            if first and first not in known:
                known[first] = measure(case, [folder], options, work, plain)[0]
            found.append(known.get(first))
        base = found[values.index(value)]
        apart = max(base[2]) - min(base[2])
        line = [" ".join(cells(case, one, base)[1:]) if one else "does not compile" for one in found]
        print(f"|  | {case} | " + " | ".join(line) + " | "
              + (f"{apart:.4f}" if is_soft(case) else f"{100 * apart / min(base[2]):.2f} %") + " |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", metavar="FOLDER", help="real data, NAME.npy or NAME.npy.zst")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these constants")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--sweep", action="store_true", help="the constants of SWEEPS at five values each")
    parser.add_argument("--check", action="store_true",
                        help="only see whether the constants are where they are said to be, here "
                             "and in docs/constants.md")
    parser.add_argument("--work", metavar="DIR", help="work here, and leave it")
    options = parser.parse_args()
    check()
    if options.check:
        wrong = check_page()
        print("\n".join(f"docs/constants.md: {line}." for line in wrong), end="\n" if wrong else "")
        return 1 if wrong else 0
    with tempfile.TemporaryDirectory() as scratch:
        work = os.path.abspath(options.work) if options.work else scratch
        copy_tree(work)
        plain = os.path.join(work, "builds", "plain")
        if not build(work, plain):
            sys.exit("This tree does not compile.")
        missing = {d for d, _ in CASES.values() if not rows_of(d, work, plain, options.data)}
        if missing:
            say(f"Not there and left out: {', '.join(sorted(missing))} (--data FOLDER).")
        if options.sweep:
            options.repeats = 1  # time is not told
            for constant in CONSTANTS:
                if constant[0] in (options.only or SWEEPS):
                    say(f"{constant[0]} of {constant[1]}")
                    sweep(constant, options, work, plain)
            return 0
        print("| constant | file in src/ | half, **value**, double | what it trades | fit | half: "
              "time | pairs | quality | double: time | pairs | quality |\n" + "|---" * 11 + "|",
              flush=True)
        chosen = [c for name in options.only or [] for c in CONSTANTS if c[0] == name]
        for constant in chosen if options.only else CONSTANTS:
            say(f"{constant[0]} of {constant[1]}")
            judge(constant, options, work, plain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
