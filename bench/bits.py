#!/usr/bin/env python3
"""Does a change keep every bit? Some 200 combinations, at a commit before and in this tree.

    bench/bits.py [--before COMMIT] [--after VEM] [--families NAME ...] [--only TEXT]
                  [--cpu NAME ...] [--verbose]

The commit before (BEFORE unless said) is built once, in build-bits/. Each combination fits,
predicts, scores and, where it says so, adds up the statistics of two halves, or stops after some
steps and resumes; every array of every file and every number of every summary is hashed, but
for seconds and bytes of memory. A state that the commit before wrote is resumed by this tree
too. Each is done with the fastest kernels of the machine and with the baseline's.

7265e50 is the commit before the redesign; 5c3285a is in its middle. Since 7265e50 `score` tells
one thing more (a key without a value here), and states of fits with restarts have one block more,
so that those of 7265e50 are refused: they are counted. --families asks for other families than
the four which that commit has, for commits that have them.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

BEFORE = "7265e50"
FAMILIES = ["iso-shared", "iso", "diag", "full"]
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "build-bits")
VOLATILE = {"seconds", "peak_bytes", "version", "spilled", "rate"}


def make_data(folder):
    if os.path.exists(os.path.join(folder, "small.w.npy")):
        return  # the last to be written; runs beside each other share them
    rng = np.random.default_rng(7)

    def blobs(n, d, k, dtype, spread=3.0):
        centers = spread * rng.standard_normal((k, d))
        shapes = rng.uniform(0.3, 1.5, (k, d))
        which = rng.integers(0, k, n)
        mixed = rng.standard_normal((d, d)) * 0.3 + np.eye(d)
        rows = centers[which] + (shapes[which] * rng.standard_normal((n, d))) @ mixed
        return rows.astype(dtype)

    sets = {
        "small": blobs(600, 6, 7, np.float64),
        "units": blobs(700, 4, 5, np.float64) * np.array([1e4, 1, 1e-3, 5]) + 100,
        "wide": blobs(1500, 40, 12, np.float32),
        "line": blobs(500, 1, 4, np.float32),
        "bytes": np.clip(blobs(2000, 8, 20, np.float64, 20) + 120, 0, 255).astype(np.uint8),
        "middle": blobs(12000, 10, 60, np.float32),
        "many": blobs(30000, 12, 400, np.float32),
    }
    for name, rows in sets.items():
        np.save(os.path.join(folder, name + ".npy"), rows)
        half = len(rows) // 2
        np.save(os.path.join(folder, name + ".a.npy"), rows[:half])
        np.save(os.path.join(folder, name + ".b.npy"), rows[half:])
    weights = rng.integers(0, 4, 600).astype(np.float64)
    np.save(os.path.join(folder, "small.w.npy"), weights)


def cases(families):
    """(name, data, options of fit, what else is done)"""
    listed = []

    def add(name, data, options, *also):
        listed.append((name, data, options.split(), set(also)))

    for family in families:
        for search, held in (("all", 0), ("closest", 1), ("closest", 3), ("exact", 3),
                             ("estimated", 3), ("groups", 1), ("groups", 3)):
            more = f"--family {family} --search {search}" + (f" --held {held}" if held else "")
            also = ["merge"] if search in ("all", "closest") else []
            add(f"{family} {search} {held}", "small", f"-k 7 {more}", "resume", *also)
            add(f"{family} {search} {held} weights", "small",
                f"-k 7 {more} --weights small.w.npy --swaps 0 --max-steps 12", *also)
            add(f"{family} {search} {held} middle", "middle", f"-k 60 {more} --max-steps 12",
                "resume")
            add(f"{family} {search} {held} single", "wide",
                f"-k 12 {more} --swaps 2 --max-steps 15 --restarts 2", "resume")
        for prior in ("flat", "free"):
            add(f"{family} {prior} units", "units", f"-k 5 --family {family} --prior {prior}",
                "merge")
        for more in ("--standardize", "--normalize", "--coreset 200", "--floor 0.05",
                     "--empty drop --k-extra", "--empty keep", "--precision single",
                     "--seeding random", "--seeding kmeans++-greedy", "--seeding afkmc2",
                     "--seeding two-level", "--finish hard --held 2", "--init-steps 2",
                     "--measure", "--tolerance 0"):
            words = more.replace("--k-extra", "")
            k = 40 if "k-extra" in more else 7
            add(f"{family} {words.strip()}", "small", f"-k {k} --family {family} {words}")
        add(f"{family} line", "line", f"-k 4 --family {family}", "merge")
    for preset in ("kmeans", "lazy-kmeans", "kmeans-c", "gmm", "var-kmeans-x", "var-kmeans-s",
                   "var-gmm-x", "var-gmm-s", "lwcs-kmeans", "vc-gmm"):
        add(preset, "middle", f"-k 60 --algorithm {preset} --max-steps 20",
            *([] if preset in ("lwcs-kmeans", "vc-gmm") else ["resume"]))
        add(preset + " small", "small", f"-k 7 --algorithm {preset}")
        add(preset + " explore", "middle", f"-k 60 --algorithm {preset} --max-steps 6"
            + (" --explore 1" if preset.startswith("v") else ""))
    add("default many", "many", "-k 2000", "resume")
    add("default very many", "many", "-k 6000", "resume")
    add("soft many", "many", "-k 1000 --held 3 --finish hard", "resume")
    add("diag many", "many", "-k 300 --family diag --max-steps 12", "resume")
    add("full many", "many", "-k 200 --family full --held 3 --max-steps 8", "resume")
    add("iso many drop", "many", "-k 500 --family iso --empty drop --max-steps 12")
    add("bytes", "bytes", "-k 20", "merge")
    add("bytes diag", "bytes", "-k 20 --family diag", "merge")
    add("memory", "many", "-k 500 --memory 48M --max-steps 10")
    return listed


def run(vem, cpu, folder, words):
    # Threads that wait do so without turning: many small fits run beside each other.
    environment = dict(os.environ, OMP_WAIT_POLICY="passive")
    if cpu:
        environment["VEM_CPU"] = cpu
    done = subprocess.run([vem, *words], cwd=folder, capture_output=True, text=True, check=False,
                          env=environment)
    return done.returncode, done.stdout, done.stderr


def steady(value):
    """A JSON value without times, texts and memory."""
    if isinstance(value, dict):
        return {k: steady(v) for k, v in sorted(value.items())
                if k not in VOLATILE and v is not None and not isinstance(v, str)}
    if isinstance(value, list):
        return [steady(v) for v in value if not isinstance(v, str)]
    return value


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else repr(part).encode())
    return total.hexdigest()[:16]


def hash_file(path):
    if not os.path.exists(path):
        return "absent"
    loaded = np.load(path)
    if isinstance(loaded, np.ndarray):
        return digest(loaded.dtype.str, loaded.shape, loaded.tobytes())
    parts = []
    for name in sorted(loaded.files):
        array = loaded[name]
        if name == "meta":
            meta = json.loads(array.tobytes().decode())
            parts += [name, steady(meta)]
        else:
            parts += [name, array.dtype.str, array.shape, array.tobytes()]
    return digest(*parts)


def hash_json(answer):
    code, out, err = answer
    if code != 0:
        return f"failed {code}: {err.strip()[:200]}"
    return digest(steady(json.loads(out.strip().splitlines()[-1])))


def steps_of(answer):
    try:
        return json.loads(answer[1].strip().splitlines()[-1])["steps"]
    except (IndexError, KeyError, ValueError):
        return 0


def one(vem, cpu, data, case, keep=None, foreign=None):
    """Hashes of everything one combination writes. `keep`: where its state is left;
    `foreign`: a state of another build, resumed instead of an own one."""
    name, rows, options, also = case
    found = {}
    with tempfile.TemporaryDirectory() as here:
        out = lambda f: os.path.join(here, f)
        fit = ["fit", rows + ".npy", *options, "--json", "-q", "--threads", "2"]
        first = run(vem, cpu, data, [*fit, "-o", out("m.npz"), "--labels", out("l.npy")])
        found["fit"] = hash_json(first)
        found["model"] = hash_file(out("m.npz"))
        found["labels"] = hash_file(out("l.npy"))
        if first[0] == 0 and not foreign:
            run(vem, cpu, data, ["predict", out("m.npz"), rows + ".npy", "-o", out("p.npy"), "-q"])
            found["predict"] = hash_file(out("p.npy"))
            run(vem, cpu, data, ["predict", out("m.npz"), rows + ".npy", "-o", out("t.npz"),
                                 "--top", "2", "-q"])
            found["top"] = hash_file(out("t.npz"))
            found["score"] = hash_json(run(vem, cpu, data,
                                           ["score", out("m.npz"), rows + ".npy", "--json"]))
        if first[0] == 0 and "merge" in also and not foreign:
            family = [options[options.index("--family") + 1]] if "--family" in options else []
            more = ["--family", *family] if family else []
            for half in "ab":
                run(vem, cpu, data, ["fit", f"{rows}.{half}.npy", "--init", out("m.npz"), *more,
                                     "--accumulate", out(half + ".npz"), "-q"])
                found["stats " + half] = hash_file(out(half + ".npz"))
            run(vem, cpu, data, ["merge", out("a.npz"), out("b.npz"), "-o", out("n.npz"), "-q"])
            found["merge"] = hash_file(out("n.npz"))
        steps = steps_of(first)
        if "resume" in also and steps > 2:
            state = foreign or keep or out("state")
            words = [w for w in fit]
            if "--max-steps" in words:
                words[words.index("--max-steps") + 1] = "{}"
            else:
                words += ["--max-steps", "{}"]
            limit = options[options.index("--max-steps") + 1] if "--max-steps" in options else None
            cut = lambda t: [w.format(t) if w == "{}" else w for w in words]
            if not foreign:
                run(vem, cpu, data, [*cut(max(1, steps // 2)), "-o", out("c.npz"),
                                     "--checkpoint", state])
            if foreign:
                shutil.copy(foreign, out("copy"))
                state = out("copy")
            elif keep:
                shutil.copy(keep, out("copy"))
                state = out("copy")
            again = run(vem, cpu, data, [*cut(limit or steps + 5), "-o", out("r.npz"),
                                         "--labels", out("rl.npy"), "--checkpoint", state,
                                         "--resume"])
            hashed = digest(hash_file(out("r.npz")), hash_file(out("rl.npy")), again[0])
            if foreign and again[0] != 0:
                hashed = "refused"
            found["resumed" if not foreign else "resumed foreign"] = hashed
    return found


def survey(vem, cpu, data, listed, states, foreign=False):
    """These combinations by one build. `states`: folder of the states of the build before."""
    table = {}

    def work(item):
        number, case = item
        state = os.path.join(states, f"{cpu or 'best'}-{number}.state")
        if foreign:
            return one(vem, cpu, data, case, foreign=state) if os.path.exists(state) else {}
        return one(vem, cpu, data, case, keep=state if "before" in vem else None)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (_, case), found in zip(listed, pool.map(work, listed)):
            table[case[0]] = found
    return table


def build_before(commit):
    commit = subprocess.run(["git", "rev-parse", commit], cwd=TOP, check=True,
                            capture_output=True, text=True).stdout.strip()
    tree = os.path.join(FOLDER, "before-" + commit[:12])
    vem = os.path.join(tree, "build", "vem")
    if not os.path.exists(vem):
        shutil.rmtree(tree, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", TOP, tree], check=True)
        subprocess.run(["git", "-C", tree, "checkout", "-q", commit], check=True)
        subprocess.run(["cmake", "-S", tree, "-B", os.path.join(tree, "build"),
                        "-DCMAKE_BUILD_TYPE=Release"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", os.path.join(tree, "build"), "-j2", "--target",
                        "vem_command"], check=True, stdout=subprocess.DEVNULL)
    return commit, vem


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default=BEFORE, help="commit to compare with")
    parser.add_argument("--after", default=os.path.join(TOP, "build", "vem"))
    parser.add_argument("--families", nargs="+", default=FAMILIES)
    parser.add_argument("--only", default="", help="combinations whose name has this")
    parser.add_argument("--cpu", nargs="*", default=["", "baseline"])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    os.makedirs(FOLDER, exist_ok=True)
    data = os.path.join(FOLDER, "data")
    os.makedirs(data, exist_ok=True)
    make_data(data)
    commit, before = build_before(options.before)
    known = commit[:12] + "".join("-" + f for f in options.families if f not in FAMILIES)
    states = os.path.join(FOLDER, "states-" + known)
    os.makedirs(states, exist_ok=True)
    listed = list(enumerate(cases(options.families)))
    asked = [(number, case) for number, case in listed if options.only in case[0]]
    wrong = total = refused = 0
    for cpu in options.cpu:
        cache = os.path.join(FOLDER, f"{known}-{cpu or 'best'}.json")
        if os.path.exists(cache):
            with open(cache, encoding="utf-8") as file:
                old = json.load(file)
        else:
            old = survey(before, cpu, data, listed, states)
            with open(cache, "w", encoding="utf-8") as file:
                json.dump(old, file, indent=1)
        new = survey(options.after, cpu, data, asked, states)
        crossed = survey(options.after, cpu, data, asked, states, foreign=True)
        for name, found in new.items():
            expected = old[name]
            differ = [k for k in expected if found.get(k) != expected[k]]
            cross = crossed.get(name, {}).get("resumed foreign")
            refused += cross == "refused"
            if cross not in (None, "refused", expected.get("resumed")):
                differ.append("a state of the commit before")
            total += 1
            wrong += bool(differ)
            if differ:
                print(f"DIFFERS  {cpu or 'best'}  {name}: {', '.join(differ)}")
                for key in differ:
                    if str(found.get(key, "")).startswith("failed"):
                        print(f"         {key}: {found[key]}")
            elif options.verbose:
                print(f"same     {cpu or 'best'}  {name}: {', '.join(expected)}")
        failed = [n for n, f in new.items() if f["fit"].startswith("failed")]
        if failed and options.verbose:
            for name in failed:
                print(f"refused  {name}: {new[name]['fit']}")
    print(f"{total} combinations against {commit[:12]}: {total - wrong} same, {wrong} differ; "
          f"{refused} states of that commit were refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
