#!/usr/bin/env python3
"""A fit spread over parts of the data, in Python: the same rounds as parts.sh, the same bits.

    examples/parts.py START.npz OUT.npz PART... [-k C] [--coreset M] [--workers W] [-- OPTIONS]

Each round makes the statistics of every part with one model, anywhere, and adds them up to the next
model, until F rests. Where START.npz is not there it is made: a coreset of M rows of each part, and
a fit of C clusters to all of these. OPTIONS are those of vem fit, for the start and the rounds.

The parts, the models and the statistics are files that all workers see; what travels is names. What
a round has made stays in OUT.npz.rounds, and the same command goes on where it was ended. vem merge
refuses what is missing, doubled or of another model. Needs the command vem ($VEM), no package.

parts_dask.py, parts_ray.py and parts_spark.py have the same rounds on their workers: a scheduler is
a function run(task, calls) that returns [task(*call) for call in calls], made where it likes."""
import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys

VEM = os.environ.get("VEM", "vem")


def make(vem, to, words):
    """On a worker: the file `to` by a command, unless it is there. A file of vem is whole or is
    not there; a worker that died leaves none."""
    if not os.path.exists(to):
        subprocess.run([vem, *words, "--threads", "1", "-q"], check=True)
    return to


def call(vem, *words):
    """Here: what a command says as JSON. What it cannot do it has said."""
    done = subprocess.run([vem, *words, "--json"], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def start(run, model, parts, folder, clusters, rows, options=()):
    """A model of coresets, one of each part: no worker sees more than its part, and what is
    fitted here are `rows` weighted rows for each of them."""
    os.makedirs(folder, exist_ok=True)
    # Each part has a seed of its own: draws of parts that look alike must not look alike.
    files = run(make, [(VEM, to, ["coreset", part, "-m", str(rows), "--seed", str(i), "-o", to])
                       for i, part in enumerate(parts, 1)
                       for to in [os.path.join(folder, f"s{i}.npz")]])
    call(VEM, "fit", "-k", str(clusters), "-o", model, *options, *files)


def rounds(run, model, parts, folder, options=(), rest=1e-7, most=100):
    """Rounds until F rests; the name of the last model."""
    last = None
    for n in range(1, most + 1):
        here = os.path.join(folder, str(n))
        os.makedirs(here, exist_ok=True)
        files = run(make, [(VEM, to, ["fit", part, "--init", model, "--accumulate", to, "--part",
                                      f"{i}/{len(parts)}", *options])
                           for i, part in enumerate(parts, 1)
                           for to in [os.path.join(here, f"s{i}.npz")]])
        model = os.path.join(here, "next.npz")
        told = call(VEM, "merge", *files, "--expect", str(len(parts)), "-o", model)
        print(f"round {n}: F = {told['free_energy']:.10g}", flush=True)
        if last is not None and told["free_energy"] - last < rest:
            return model
        last = told["free_energy"]
    print(f"F does not rest after {most} rounds; with more it goes on", file=sys.stderr)
    return model


def threads(workers, tries=3):
    """run() of processes here: a part whose process died is asked for again."""
    def again(task, *words):
        for left in range(tries - 1, -1, -1):
            try:
                return task(*words)
            except subprocess.CalledProcessError:
                if left == 0:
                    raise

    def run(task, calls):
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda words: again(task, *words), calls))
    return run


def same(folder, name, content, what):
    """What was made by an earlier command is gone on with only if that was the same."""
    path = os.path.join(folder, name)
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() != content:
                sys.exit(f"{folder} is of another fit ({what}); move it away")
    with open(path, "wb") as file:
        file.write(content)


def main(about, scheduler):
    """Of every script here. scheduler(asked) is a context in which run() can be used."""
    words, options = sys.argv[1:], []
    if "--" in words:
        words, options = words[:words.index("--")], words[words.index("--") + 1:]
    parser = argparse.ArgumentParser(description=about.splitlines()[0],
                                     epilog="Options of vem fit come last, behind --.")
    parser.add_argument("start")
    parser.add_argument("out")
    parser.add_argument("parts", nargs="+")
    parser.add_argument("-k", type=int, help="clusters of a start that is to be made")
    parser.add_argument("--coreset", type=int, default=65536, help="rows of each part, for it")
    parser.add_argument("--rounds", type=int, default=100, help="at most")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler", help="address of one that runs; without it one begins here")
    asked = parser.parse_args(words)
    model, parts = os.path.abspath(asked.start), [os.path.abspath(path) for path in asked.parts]
    folder = os.path.abspath(asked.out + ".rounds")
    if asked.k is None and not os.path.exists(model):
        parser.error(f"{asked.start} is not there; -k C makes it")
    os.makedirs(folder, exist_ok=True)
    text = "\n".join(asked.parts + (["--", *options] if options else [])) + "\n"
    same(folder, "asked", text.encode(), "other parts or options")
    with scheduler(asked) as run:
        if not os.path.exists(model):
            start(run, model, parts, os.path.join(folder, "start"), asked.k, asked.coreset,
                  options)
        with open(model, "rb") as file:
            same(folder, "start.npz", file.read(), "another start")
        model = rounds(run, model, parts, folder, options, most=asked.rounds)
    shutil.copy(model, asked.out + ".new")
    os.replace(asked.out + ".new", asked.out)


if __name__ == "__main__":
    import contextlib
    main(__doc__, lambda asked: contextlib.nullcontext(threads(asked.workers)))
