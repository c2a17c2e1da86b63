"""Whatever holds rows, as the library takes it: without a copy where that can be.

Accepted are arrays with the buffer protocol or ``__array_interface__``, memory-maps, DLPack tensors
on the CPU, data frames, scipy's sparse matrices, Arrow tables, and paths of files that the command
reads, too (mapped where the format allows it).
"""

import os
import warnings

import numpy as np
from sklearn import config_context
from sklearn.utils import check_array

from . import _arrow, _vem

_BORROWED = "efdbhilqBHI?"
_DTYPES = (np.float32, np.float64, np.uint8, np.int32, np.int64, np.float16, np.int8, np.int16,
           np.uint16, np.uint32,
           np.float32)  # a bfloat16 is the upper half of one, and NumPy has none


def is_path(X):
    """Is it the name of a file (or a list of names)?"""
    if isinstance(X, (list, tuple)) and X:
        return all(isinstance(x, (str, os.PathLike)) for x in X) and not _is_text(X)
    return isinstance(X, (str, os.PathLike))


def _is_text(X):
    # A list of words that are no files is data of the wrong kind, not a list of paths.
    return not any(os.path.exists(x) or any(c in str(x) for c in "./") for x in X)


def is_sparse(X):
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def column_names(X):
    """Names of the columns of a frame, or None where not all of them are text."""
    columns = getattr(X, "columns", None)
    if columns is None or is_sparse(X):
        return None
    names = np.asarray(columns, dtype=object)
    words = [isinstance(name, str) for name in names]
    if len(names) and all(words):
        return names
    if any(words):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {kinds} as feature name / column name types. If you want feature names to "
            "be stored and validated, you must convert them all to strings, by using X.columns = "
            "X.columns.astype(str) for example. Otherwise you can remove feature / column names "
            "from your input data, or convert them all to a non-string data type."
        )
    return None


def is_stream(X):
    """Does it give its rows by Arrow's capsules, and in no better way?"""
    return _arrow.is_arrow(X) and not isinstance(X, np.ndarray) and not hasattr(X, "iloc")


def _foreign(X):
    """An array of what speaks another protocol than NumPy's; else X."""
    if np.ma.isMaskedArray(X):  # what is masked is missing
        return X.astype(np.float64).filled(np.nan) if np.ma.is_masked(X) else X.data
    if isinstance(X, np.ndarray) or hasattr(X, "iloc"):
        return X
    if hasattr(X, "__array__") or hasattr(X, "__array_interface__"):
        return X
    if hasattr(X, "__dlpack__"):
        return np.from_dlpack(X)
    return X


def _check_indices(X):
    """scipy believes the indices of a sparse matrix: what lies outside its shape ends the process."""
    if X.format in ("csr", "csc"):
        major, minor = X.shape if X.format == "csr" else X.shape[::-1]
        starts, places = X.indptr, X.indices
        good = (len(starts) == major + 1 and starts[0] == 0 and not (np.diff(starts) < 0).any()
                and starts[-1] <= min(len(places), len(X.data)))
        pairs = [(places[: starts[-1]], minor)] if good else []
    elif X.format == "coo":
        good = len(X.row) == len(X.col) == len(X.data)
        pairs = [(X.row, X.shape[0]), (X.col, X.shape[1])]
    else:
        return
    for places, most in pairs:
        good = good and (len(places) == 0 or (places.min() >= 0 and places.max() < most))
    if not good:
        raise ValueError("X is no sparse matrix: some of its indices lie outside its shape.")


def check_rows(X, *, name, sparse=False, dense=False, least=1):
    """A 2-D array (or, where ``sparse``, a CSR matrix) of numbers.

    Nothing is copied that the library can read as it is. ``dense``: sparse matrices are made dense.
    """
    if is_sparse(X):
        _check_indices(X)
        if dense:
            # Whoever may have sparse rows gets the same model as from dense ones.
            X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32],
                            ensure_min_samples=least)
            return X.toarray()
        if sparse:
            X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=least)
            if not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            return X
    # The library looks for NaN and infinity itself, and says where they are.
    with config_context(assume_finite=True):
        X = check_array(_foreign(X), dtype="numeric", ensure_min_samples=least, estimator=name)
    if X.dtype.kind not in "fiub":
        raise TypeError(f"X holds {X.dtype.name}, which is no type of numbers that {name} takes.")
    if X.dtype.char not in _BORROWED or not X.dtype.isnative:
        X = X.astype(np.float64)
    if X.size and 0 in [s for s, n in zip(X.strides, X.shape) if n > 1]:
        X = np.ascontiguousarray(X)  # values that are shared by rows, as of broadcast arrays
    return X


def borrow(X, sample_weight=None):
    """The library's view of checked rows."""
    if is_sparse(X):
        data = _vem.sparse(X.shape[0], X.shape[1], X.indptr.astype(np.int64),
                           X.indices.astype(np.int32), X.data.astype(np.float64))
    else:
        try:
            data = _vem.borrow(X)
        except (ValueError, BufferError):
            data = _vem.borrow(np.array(X, order="C"))
    if sample_weight is not None:
        data.set_weights(np.ascontiguousarray(sample_weight, dtype=np.float64))
    return data


def read(paths, model=None, settings=None, **options):
    """Rows of a file, or of several files as one, within the limit of memory of ``settings``."""
    if not isinstance(paths, (list, tuple)):
        paths = [paths]
    return _vem.read([os.fspath(path) for path in paths], options, model, settings)


def gather(data, first=0, count=None):
    """Rows of the library's data, as an array of their own type."""
    rows, columns = data.shape
    count = rows if count is None else count
    out = np.empty((count, columns))
    data.get(first, count, out)
    return out.astype(_DTYPES[data.dtype], copy=False)


def check_weights(sample_weight, n, name="sample_weight"):
    """n weights as doubles, or None."""
    if sample_weight is None:
        return None
    if np.isscalar(sample_weight):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name=name)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, not {weights.ndim}-D.")
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n,)}: one weight for each row."
        )
    return weights


def warn_rounded(kind):
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        f"X holds values that are no counts, which {kind} needs; they were rounded to whole "
        "numbers.",
        DataConversionWarning,
        stacklevel=4,
    )
