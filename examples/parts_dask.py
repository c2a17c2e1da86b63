#!/usr/bin/env python3
"""A fit in parts on the workers of Dask: the rounds of parts.py, the same bits.

    examples/parts_dask.py START.npz OUT.npz FILE... [-k C] [--scheduler ADDRESS] [--workers W]
                           [-- OPTIONS]

Dask gives the part of a worker that died to another one. Needs dask.distributed."""
import contextlib

import distributed

import parts


def run_on(client):
    """run() of a client."""
    return lambda task, calls: client.gather(
        [client.submit(task, *words, pure=False, retries=2) for words in calls])


@contextlib.contextmanager
def scheduler(asked):
    """A cluster that runs, or one that begins here."""
    where = {"address": asked.scheduler} if asked.scheduler else {
        "n_workers": asked.workers, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(**where) as client:
        client.upload_file(parts.__file__)
        yield run_on(client)


if __name__ == "__main__":
    parts.main(__doc__, scheduler)
