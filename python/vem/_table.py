"""Files of rows, and how they are read."""

import os

import numpy as np

from . import _arrays, _words
from ._threads import threads_of

_MISSING = ("error", "drop", "mean")


def _listed(name, given):
    """Columns as the library's text has them: numbers from 1, or names. None: none were given."""
    if given is None:
        return None
    given = [given] if isinstance(given, (str, int, np.integer)) else list(given)
    if not given:
        raise ValueError(f"{name} is empty, but it must name at least one column.")
    words = []
    for column in given:
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if column < 0:
                raise ValueError(f"{name} has {column}, but columns are counted from 0.")
            words.append(str(int(column) + 1))
        elif isinstance(column, str):
            words.append(column)
        else:
            raise TypeError(f"{name} has {column!r}, but a column is a name or a number from 0.")
    return ",".join(words)


def _names(given):
    """Those of the columns that were given by their names."""
    given = [given] if isinstance(given, (str, int, np.integer)) or given is None else given
    return [column for column in given if isinstance(column, str)]


class Table:
    """Rows of a file, as :func:`read` gives them, for whatever takes an array of rows.

    They stay in the file where the format allows that (``.npy`` is mapped), and may be larger than
    memory; ``numpy.asarray(table)`` and ``table[i:j]`` are arrays of them.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        Type of the values.
    columns : ndarray of str, or None
        Names of the columns, where the file has some.
    rows : ndarray of shape (n_samples,), int64
        Which rows of the file they are: with ``missing='drop'`` some are left out.
    n_rows_read : int
        Rows of the file, those left out included.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import vem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("name,x,y\\nann,1,2\\nbob,,3\\neve,4,5\\nkim,5,5\\n")
    ...     table = vem.read(path, skip="name", missing="drop")
    ...     labels = vem.KMeans(2, random_state=0).fit_predict(table)
    >>> table.shape, list(table.columns), table.rows.tolist()
    ((3, 2), ['x', 'y'], [0, 2, 3])
    >>> everyone = np.full(table.n_rows_read, -1)
    >>> everyone[table.rows] = labels
    >>> int(everyone[1])
    -1
    """

    def __init__(self):
        raise TypeError("vem.read makes tables.")

    @classmethod
    def _of(cls, paths, options, settings):
        self = cls.__new__(cls)
        self._paths, self._options, self._given = paths, options, settings
        self._data = self._open()
        self.shape = self._data.shape
        self.dtype = np.dtype(_arrays._DTYPES[self._data.dtype])
        names = self._data.names
        self.columns = None if names is None else np.asarray(names, dtype=object)
        self.n_rows_read = self._data.rows_read
        return self

    @property
    def rows(self):
        places = self._data.places
        return np.arange(self.shape[0]) if places is None else np.frombuffer(places, np.int64)

    @property
    def ndim(self):
        return 2

    def _open(self):
        threads = threads_of(self._given["threads"])
        return _arrays.read(self._paths, **self._options,
                            settings={**self._given, "threads": threads, "say": _words.say})

    def _again(self):
        """The library's data of the same rows, which nobody else has."""
        if all(os.path.isfile(path) for path in self._paths):
            data = self._open()
            if data.shape == self.shape:
                return data
        return _arrays.borrow(np.asarray(self))

    def __len__(self):
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        rows = _arrays.gather(self._data)
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def __getitem__(self, key):
        if isinstance(key, slice):
            first, last, step = key.indices(self.shape[0])
            if step == 1:
                return _arrays.gather(self._data, first, max(last - first, 0))
        return np.asarray(self)[key]

    def __reduce__(self):
        return Table._of, (self._paths, self._options, self._given)

    def __repr__(self):
        more = ", ..." if len(self._paths) > 1 else ""
        return f"<vem.Table of {self.shape[0]} x {self.shape[1]}: {self._paths[0]}{more}>"


def read(path, *, columns=None, skip=None, header=None, decimal=None, missing="error",
         memory=None, n_threads=None):
    """Open a file of rows, and say how it is to be read.

    Parameters
    ----------
    path : str, path-like, or a list of these
        A file that the command reads (``.npy``, ``.safetensors``, ``.csv``, ``.tsv``, ``.txt``, ``.fvecs``, ``.h5:/name``
        and others, also with ``.gz``), or several as one.
    columns : list of str or int, default=None
        Columns to use, by name or by number from 0, in this order. None: all.
    skip : list of str or int, default=None
        Columns to leave out, such as names of the rows or other text.
    header : bool, default=None
        Is the first row of a text table its header? None: if it has more words than numbers.
    decimal : {'.', ','}, default=None
        Decimal sign of numbers in text. None: '.', or ',' if a table with semicolons has it.
    missing : {'error', 'drop', 'mean'}, default='error'
        Missing values (NaN; in text also NA, null, ? and nothing) are refused, left out with their
        rows, or replaced by the mean of the column.
    memory : int or str, default=None
        Bound of the resident memory while it is read, in bytes or as '2G'.
    n_threads : int, default=None
        Threads; all cores unless said.

    Returns
    -------
    table : Table
        To be given to whatever takes an array of rows.

    Examples
    --------
    >>> import os, tempfile
    >>> import vem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("city;x;y\\nBonn;1,5;2\\nKiel;2;NA\\nUlm;9;8\\n")
    ...     table = vem.read(path, skip="city", missing="mean")
    >>> table[:].tolist()
    [[1.5, 2.0], [2.0, 5.0], [9.0, 8.0]]
    """
    paths = list(path) if isinstance(path, (list, tuple)) else [path]
    if missing not in _MISSING:
        raise ValueError(f"missing is {missing!r}, but it must be one of {', '.join(_MISSING)}.")
    if header not in (None, True, False):
        raise ValueError(f"header is {header!r}, but it must be True, False or None.")
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal is {decimal!r}, but it must be '.' or ','.")
    options = {
        "columns": _listed("columns", columns),
        "id": _listed("skip", skip),
        "header": None if header is None else "yes" if header else "no",
        "decimal": decimal,
        "missing": missing,
    }
    settings = {"threads": n_threads, "memory": memory}
    table = Table._of([os.fspath(one) for one in paths], options, settings)
    there = [] if table.columns is None else list(table.columns)
    if columns is not None and len(_names(columns)) == table.shape[1] and (
            _names(columns) != there):
        raise ValueError(f"columns asks for {_names(columns)}, but {there} were found: names that "
                         "hold commas, or look like others, are told by their numbers.")
    return table
