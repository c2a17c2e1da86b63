#!/usr/bin/env python3
"""A fit in parts on the workers of Ray: the rounds of parts.py, the same bits.

    examples/parts_ray.py START.npz OUT.npz FILE... [-k C] [--scheduler ADDRESS] [--workers W]
                          [-- OPTIONS]

Ray tries a task again whose worker died. Needs ray, and examples/ where its workers find parts.py
(PYTHONPATH)."""
import contextlib

import ray

import parts


@contextlib.contextmanager
def scheduler(asked):
    """A cluster that runs, or one that begins here."""
    if asked.scheduler:
        ray.init(address=asked.scheduler)
    else:
        ray.init(num_cpus=asked.workers, include_dashboard=False)
    try:
        def run(task, calls):
            remote = ray.remote(task).options(max_retries=2, retry_exceptions=True)
            return ray.get([remote.remote(*words) for words in calls])
        yield run
    finally:
        ray.shutdown()


if __name__ == "__main__":
    parts.main(__doc__, scheduler)
