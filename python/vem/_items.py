"""Rows as they were given, and items: rows as a fit sees them."""

import numpy as np

from . import _arrays, _arrow
from ._table import Table

# Rows that come twice are looked for, and made one, in arrays of up to so many values.
CANONICAL_VALUES = 1 << 20
# Values that are looked at together where rows are taken in pieces.
PIECE = 1 << 20


class Rows:
    """Rows that were accepted: an array, or a file that stays where it is."""

    def __init__(self, X, *, name, sparse=False, dense=False, counts=False, model=None, least=1,
                 settings=None):
        self.names, self.picked, self._table = None, False, None
        if isinstance(X, Table):
            self._stay(X._data)
            self._table = X
            return
        if _arrays.is_path(X):
            self._stay(_arrays.read(X, model=model, counts=counts, settings=settings))
            self.picked = self.names is not None  # the model's columns, by their names
            return
        if _arrays.is_stream(X):
            X, self.names = _arrow.rows_of(X, settings)
            if not isinstance(X, np.ndarray):
                self._stay(X)
                return
        else:
            self.names = _arrays.column_names(X)
        self.array = _arrays.check_rows(X, name=name, sparse=sparse, dense=dense, least=least)
        self.shape = self.array.shape
        self.dtype = self.array.dtype

    def _stay(self, data):
        """The library's data of a file: there is no array."""
        self.array, self._data = None, data
        self.shape = data.shape
        self.dtype = np.dtype(_arrays._DTYPES[data.dtype])
        if data.names is not None:
            self.names = np.asarray(data.names, dtype=object)

    @classmethod
    def of(cls, array, names=None):
        """Rows of an array that needs no check."""
        rows = cls.__new__(cls)
        rows.array, rows.names, rows.picked, rows._table = array, names, False, None
        rows.shape, rows.dtype = array.shape, array.dtype
        return rows

    def pieces(self):
        """Rows as doubles, some at a time: the number of the first, and an array."""
        step = max(1, PIECE // max(1, self.shape[1]))
        for first in range(0, self.shape[0], step):
            n = min(step, self.shape[0] - first)
            if self.array is not None:
                yield first, np.asarray(self.array[first : first + n], dtype=np.float64)
                continue
            piece = np.empty((n, self.shape[1]))
            self._data.get(first, n, piece)
            yield first, piece

    def data(self, weights=None):
        if self.array is not None:
            return _arrays.borrow(self.array, weights)
        if weights is None:
            return self._data
        # A table may be in use elsewhere, and there without weights.
        data = self._data if self._table is None else self._table._again()
        data.set_weights(np.ascontiguousarray(weights))
        return data


def _may_repeat(X):
    """May some row be there twice? Rows that are alike have the same sum, computed the same way."""
    factors = 2 + np.sin(np.arange(1, X.shape[1] + 1))
    sums = np.zeros(X.shape[0])
    with np.errstate(all="ignore"):
        for j, factor in enumerate(factors):
            sums += X[:, j] * factor
    sums.sort()
    return bool((sums[1:] == sums[:-1]).any())


class Items:
    """Rows as a fit sees them: those that count, each once with the sum of its weights.

    So a row of weight 2 is the same row twice, a row of weight 0 is not there, and where that makes
    any difference the order of the rows does not matter: they are put in the order of their values.
    The same items give the same model, to the bit. Rows that are all different and of weight 1 stay
    as they lie, without a copy, as the command sees them; so do files, and arrays of more than
    CANONICAL_VALUES values, of which only rows of weight 0 are left out.
    """

    def __init__(self, rows, weights=None):
        self.rows, self.weights = rows, weights
        self._kept = self._item = None
        if weights is not None and not (weights >= 0).all():
            return  # the library says which is wrong
        if weights is not None and not weights.any():
            raise ValueError("sample_weight is 0 for every row, but some row must count.")
        if rows.array is None:
            return
        if weights is not None and (weights == 1).all():
            weights = self.weights = None
        if weights is not None and not weights.all():
            self._kept = weights > 0
            weights = weights[self._kept]
            weights = None if (weights == 1).all() else weights
            self.rows, self.weights = Rows.of(rows.array[self._kept], rows.names), weights
        self._merge()

    def _merge(self):
        X, weights = self.rows.array, self.weights
        if X.shape[0] * X.shape[1] > CANONICAL_VALUES:
            return
        dense = X.toarray() if _arrays.is_sparse(X) else X
        if weights is None and not _may_repeat(dense):
            return
        distinct, item = np.unique(dense, axis=0, return_inverse=True)
        if weights is None and len(distinct) == len(dense):
            return
        self._item = item.ravel()
        self.weights = np.bincount(self._item, weights=weights).astype(np.float64)
        self.rows = Rows.of(type(X)(distinct) if dense is not X else distinct, self.rows.names)

    def distinct(self, wanted):
        """How many rows differ, where that is less than wanted and can be found; else None."""
        if self.rows.array is None or (
                self.rows.shape[0] * self.rows.shape[1] > CANONICAL_VALUES):
            return None
        array = self.rows.array
        array = array.toarray() if _arrays.is_sparse(array) else array
        found = len(np.unique(array, axis=0))
        return found if found < wanted else None

    def labels(self, of_items, assign):
        """Labels of the rows from those of the items; ``assign`` gives what they do not say."""
        if of_items is None or self._kept is not None:
            return assign()
        labels = np.frombuffer(of_items, dtype=np.int32)
        return labels if self._item is None else labels[self._item]
