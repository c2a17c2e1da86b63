#!/usr/bin/env python3
"""A fit in parts on the executors of Spark: the rounds of parts.py, the same bits.

    examples/parts_spark.py START.npz OUT.npz FILE... [-k C] [--scheduler MASTER] [--workers W]
                            [-- OPTIONS]

One task for each part; Spark makes a task again that was lost. No rows and no statistics pass
through the driver. Needs pyspark, and examples/ where its executors find parts.py (--py-files)."""
import contextlib

from pyspark.sql import SparkSession

import parts


@contextlib.contextmanager
def scheduler(asked):
    """A cluster that runs, or one that begins here."""
    session = (SparkSession.builder.appName("vem parts")
               .master(asked.scheduler or f"local[{asked.workers}, 3]").getOrCreate())
    try:
        def run(task, calls):
            spread = session.sparkContext.parallelize(list(calls), len(calls))
            return spread.map(lambda words: task(*words)).collect()
        yield run
    finally:
        session.stop()


if __name__ == "__main__":
    parts.main(__doc__, scheduler)
