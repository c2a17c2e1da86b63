#!/usr/bin/env python3
"""A fit in parts, in Python: what vem step prints is run, as in parts.sh.

    examples/parts.py START.npz OUT.npz FILE... [-k C] [--coreset M] [--parts P] [--workers W] [-- OPTIONS]

The rows are those of all FILEs, cut into as many parts. Where START.npz is not there it is made: a coreset
of M rows of each file, and a fit of C clusters to all of these. OPTIONS are those of vem fit, for the start
and the parts.

Files are seen by all workers; what travels is commands. What they have made stays in OUT.npz.rounds, and
the same command goes on where it was ended. Needs the command vem ($VEM), no package.

parts_dask.py, parts_ray.py and parts_spark.py have the same rounds on their workers: a scheduler is
a function run(task, calls) that returns [task(*call) for call in calls], made where it likes."""
import argparse
import concurrent.futures
import json
import os
import shlex
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


def part(words):
    """On a worker: what one part has to do, as far as it can go on alone. What it cannot do at all it
    has written down; where it died somebody calls it again."""
    done = subprocess.run(words, check=False)
    if done.returncode not in (0, 1, 2, 10):
        raise subprocess.CalledProcessError(done.returncode, words)
    return done.returncode


def rounds(run, state, wait=0):
    """Rounds of what vem step prints, until the fit is done."""
    while True:
        done = subprocess.run([VEM, "step", state, "--wait", str(wait), "--json", "-q"], check=False,
                              stdout=subprocess.PIPE, text=True)
        told = json.loads(done.stdout) if done.stdout else {}
        if done.returncode != 10:
            if told.get("failure"):
                print(told["failure"], file=sys.stderr)
            return done.returncode
        run(part, [(shlex.split(one["command"]),) for one in told["parts"] if one["command"]])


def threads(workers, tries=3):
    """run() of processes here: a part whose process died is asked for again."""
    def again(task, *words):
        for left in range(tries - 1, -1, -1):
            try:
                return task(*words)
            except subprocess.CalledProcessError:
                if left == 0:
                    sys.exit(f"lost again and again: {words}")

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
    parser.add_argument("files", nargs="+")
    parser.add_argument("-k", type=int, help="clusters of a start that is to be made")
    parser.add_argument("--coreset", type=int, default=65536, help="rows of each part, for it")
    parser.add_argument("--parts", type=int, help="as many as files, if it is not said")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scheduler", help="address of one that runs; without it one begins here")
    asked = parser.parse_args(words)
    model, files = os.path.abspath(asked.start), [os.path.abspath(path) for path in asked.files]
    folder = os.path.abspath(asked.out + ".rounds")
    count = asked.parts or len(files)
    if asked.k is None and not os.path.exists(model):
        parser.error(f"{asked.start} is not there; -k C makes it")
    os.makedirs(folder, exist_ok=True)
    with scheduler(asked) as run:
        if not os.path.exists(model):
            start(run, model, files, os.path.join(folder, "start"), asked.k, asked.coreset,
                  options)
        with open(model, "rb") as file:
            same(folder, "start.npz", file.read(), "another start")
        state = os.path.join(folder, "step")
        threads_each = [] if "--threads" in options else ["--threads", "1"]
        begun = subprocess.run([VEM, "step", state, "--parts", str(count), "-q", "--", *files, *options,
                                *threads_each, "--init", model, "-o", os.path.abspath(asked.out)],
                               check=False, stdout=subprocess.DEVNULL)
        code = begun.returncode
        if code == 10: # where all have a worker each waits for the others
            code = rounds(run, state, 3600 if asked.workers >= count else 0)
    sys.exit(code)


if __name__ == "__main__":
    import contextlib
    main(__doc__, lambda asked: contextlib.nullcontext(threads(asked.workers)))
