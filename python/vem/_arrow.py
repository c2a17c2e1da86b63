"""Arrow tables and streams, by the capsules of the Arrow PyCapsule interface.

Batches are taken one after another and never gathered: the rows of the first ones stay in memory, and
where there are more than IN_MEMORY bytes all go to a temporary file that is mapped then. A stream
can be read only once, so its names and its rows come from the same reading.
"""

import os
import tempfile
import warnings

import numpy as np

from . import _vem

IN_MEMORY = 1 << 28  # bytes


def is_arrow(X):
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def names_of(X):
    """Names of the columns where the table says them without being read; else None."""
    names = getattr(X, "column_names", None)
    if callable(names) or names is None:
        return None
    names = np.asarray(list(names), dtype=object)
    return names if len(names) and all(isinstance(n, str) and n for n in names) else None


def _batches(X):
    """The kind of the values, and arrays of rows, one batch after another."""
    if hasattr(X, "__arrow_c_stream__"):
        table = _vem.arrow(X.__arrow_c_stream__())
        n = table.next()
    else:
        table, n = _vem.arrow_batch(*X.__arrow_c_array__())
    _, columns, single = table.schema()
    kind = np.float32 if single else np.float64
    while n >= 0:
        rows = np.empty((n, columns))
        if n:
            table.take(rows)
        yield rows.astype(kind, copy=False)
        n = table.next()


def rows_of(X):
    """The rows as an array: in memory, or mapped from a temporary file where they are many."""
    held, size, file = [], 0, None
    try:
        for rows in _batches(X):
            size += rows.nbytes
            if file is None and size <= IN_MEMORY:
                held.append(rows)
                continue
            if file is None:
                folder = os.environ.get("VEM_TMPDIR") or os.environ.get("TMPDIR") or "/var/tmp"
                file = tempfile.TemporaryFile(dir=folder)
                warnings.warn(
                    f"The Arrow stream has more than {IN_MEMORY >> 20} MiB and can be read only "
                    f"once: its rows rest in a temporary file in {folder}.", stacklevel=5)
                for earlier in held:
                    earlier.tofile(file)
            rows.tofile(file)
            shape, kind = rows.shape, rows.dtype
        if file is None:
            if not held:
                raise ValueError("the Arrow stream has no rows (0 samples).")
            return held[0] if len(held) == 1 else np.concatenate(held)
        file.flush()
        n = size // (shape[1] * kind.itemsize)
        return np.memmap(file, dtype=kind, mode="r", shape=(n, shape[1]))
    finally:
        if file is not None:
            file.close()
