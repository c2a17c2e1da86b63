#!/usr/bin/env python3
"""A fit spread over the workers of Dask: the same rounds as parts.sh, the same bits.

    examples/parts_dask.py START.npz OUT.npz PART... [--scheduler ADDRESS] [--workers W]
                           [-- options of vem fit]

The parts, the models and the statistics are files that all workers see. Dask gives the part of a
worker that died to another one; a part that was made twice is the same file, and vem merge refuses
what is missing, doubled or of another model. Needs dask.distributed and the command vem ($VEM)."""
import argparse
import json
import os
import shutil
import subprocess
import sys

import distributed

VEM = os.environ.get("VEM", "vem")


def accumulate(vem, part, number, count, model, to, options):
    """On a worker: the statistics of one part, unless they are there. Files are whole or not
    there."""
    if not os.path.exists(to):
        subprocess.run([vem, "fit", part, "--init", model, "--accumulate", to, "--part",
                        f"{number}/{count}", "--threads", "1", "-q", *options], check=True)
    return to


def fit(client, model, parts, folder, options, rest=1e-7, rounds=100, task=accumulate):
    """Rounds until F rests; the last model. Statistics stay where they are: what travels is
    names."""
    last = None
    for n in range(1, rounds + 1):
        here = os.path.join(folder, str(n))
        os.makedirs(here, exist_ok=True)
        futures = [client.submit(task, VEM, part, i, len(parts), model,
                                 os.path.join(here, f"s{i}.npz"), options, pure=False, retries=2)
                   for i, part in enumerate(parts, 1)]
        files = client.gather(futures)
        model = os.path.join(here, "next.npz")
        told = json.loads(subprocess.run([VEM, "merge", *files, "--expect", str(len(parts)), "-o",
                                          model, "--json"], check=True, capture_output=True,
                                         text=True).stdout)
        print(f"round {n}: F = {told['free_energy']:.10g}", flush=True)
        if last is not None and told["free_energy"] - last < rest:
            break
        last = told["free_energy"]
    return model


def main():
    words, options = sys.argv[1:], []
    if "--" in words:
        words, options = words[:words.index("--")], words[words.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("start")
    parser.add_argument("out")
    parser.add_argument("parts", nargs="+")
    parser.add_argument("--scheduler", help="of a cluster that runs; without it one is begun here")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args(words)
    paths = [os.path.abspath(path) for path in asked.parts]
    where = {"address": asked.scheduler} if asked.scheduler else {
        "n_workers": asked.workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(**where) as client:
        model = fit(client, os.path.abspath(asked.start), paths,
                    os.path.abspath(asked.out + ".rounds"), options)
    shutil.copy(model, asked.out + ".new")
    os.replace(asked.out + ".new", asked.out)


if __name__ == "__main__":
    main()
