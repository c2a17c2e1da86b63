"""Arrow tables and streams, by the capsules of the Arrow PyCapsule interface.

A stream may be one that can be read only once, and a batch of it may be a whole table: rows are taken in
pieces, one after another. While all of them take no more than a share of what the limit of memory leaves, they
stay in memory; else they go to a temporary file, which the library maps like any other file, and that
is said.
"""

import os
import tempfile
import warnings

import numpy as np

from . import _vem

PIECE = 1 << 20  # values that are taken at a time
# Of the memory that is left: rows are put together, for which they are there twice, and the fit has a
# copy of them, too. (Rows of files rest in a file beyond a half: docs/math/memory.md.)
SHARE = 0.25


def is_arrow(X):
    return hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")


def _open(X):
    """The table, and the rows of its first batch."""
    if hasattr(X, "__arrow_c_stream__"):
        table = _vem.arrow(X.__arrow_c_stream__())
        return table, table.next()
    return _vem.arrow_batch(*X.__arrow_c_array__())


def _names(table):
    """Names of the columns, where each is a field with a name of its own; else None."""
    names, columns, _ = table.schema()
    if len(names) != columns or not all(names) or len(set(names)) != len(names):
        return None
    return np.asarray(names, dtype=object)


def _pieces(table, n):
    """Arrays of rows, one piece after another."""
    _, columns, single = table.schema()
    kind = np.float32 if single else np.float64
    most = max(1, PIECE // columns)
    while n >= 0:
        for first in range(0, n, most):
            rows = np.empty((min(most, n - first), columns))
            table.take(first, len(rows), rows)
            yield rows.astype(kind, copy=False)
        n = table.next()


def _folder():
    return os.environ.get("VEM_TMPDIR") or os.environ.get("TMPDIR") or "/var/tmp"


class _Spill:
    """Rows in a temporary .npy file, whose head is written when their number is known."""

    HEAD = 128  # bytes, as NumPy writes it for numbers of any length

    def __init__(self, kind, columns):
        self.path = None
        descriptor, self.path = tempfile.mkstemp(suffix=".npy", dir=_folder())
        self._file = os.fdopen(descriptor, "wb")
        self._file.write(bytes(self.HEAD))
        self._kind, self._columns, self._rows = kind, columns, 0

    def add(self, rows):
        rows.tofile(self._file)
        self._rows += len(rows)

    def finish(self):
        shape = (self._rows, self._columns)
        words = {"descr": np.lib.format.dtype_to_descr(self._kind), "fortran_order": False,
                 "shape": shape}
        text = repr(words).encode()
        self._file.seek(0)
        self._file.write(np.lib.format.magic(1, 0) + (self.HEAD - 10).to_bytes(2, "little"))
        self._file.write(text.ljust(self.HEAD - 11) + b"\n")
        self._file.close()
        return self.path

    def drop(self):
        self._file.close()
        os.unlink(self.path)


def _say(bytes_held, settings):
    limit = (settings or {}).get("memory")
    what = f"memory={limit!r} leaves" if limit is not None else "this machine has left"
    warnings.warn(
        f"The Arrow stream has more than {bytes_held / 2**20:.3g} MiB, which is a quarter of the "
        f"memory that {what}: its rows rest in a temporary file in {_folder()} (VEM_TMPDIR names "
        "another place).", stacklevel=6)


def rows_of(X, settings=None):
    """The rows as an array, or where they are too many for that as the library's data of a file; and
    the names of the columns, or None.

    ``settings`` are those of a call, with its limit of memory.
    """
    table, first = _open(X)
    names = _names(table)
    most = SHARE * (_vem.allowed(settings) or float("inf"))
    held, size, spill = [], 0, None
    try:
        for rows in _pieces(table, first):
            size += rows.nbytes
            if spill is None and size <= most:
                held.append(rows)
                continue
            if spill is None:
                _say(most, settings)
                spill = _Spill(rows.dtype, rows.shape[1])
                for earlier in held:
                    spill.add(earlier)
                held = []
            spill.add(rows)
        if spill is None:
            if not held:
                raise ValueError("the Arrow stream has no rows (0 samples).")
            return held[0] if len(held) == 1 else np.concatenate(held), names
        # What is mapped stays when its name goes.
        return _vem.read([spill.finish()], {}, None, settings), names
    finally:
        if spill is not None:
            spill.drop()
