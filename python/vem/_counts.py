"""Mixtures for rows of counts, and of zeros and ones."""

import numpy as np

from . import _arrays, _options
from ._mixture import STEPS, Mixture

_OWN = {
    "n_components": 1,
    "tol": 1e-6,
    "max_iter": STEPS,
    "n_init": 1,
    "init_params": "kmeans",
    "random_state": None,
    "warm_start": False,
    "verbose": 0,
    "algorithm": "auto",
    "callback": None,
}
_WITHOUT = {"balance", "family", "metric", "standardize", "normalize", "cells", "depth", "expand", "gap", "tau"}

_PARAMETERS = """n_components : int, default=1
        Number of clusters.
    tol : float, default=1e-6
        Ends when a step changes the mean log-likelihood of a row by no more than this share of it.
    max_iter : int, default=300
        Most steps; 0 gives the start back.
    n_init : int, default=1
        Fits from different seeds, of which the best is kept.
    init_params : str, default='kmeans'
        How the first clusters are chosen; 'kmeans' leaves it to the library. Names of the
        command's ``--seeding`` are taken, too.
    random_state : int, RandomState instance or None, default=None
        Seed; a whole number is the command's ``--seed``.
    warm_start : bool, default=False
        Begin with the mixture of the last fit.
    verbose : int, default=0
        1: a bar. 2: also what the fit chose by itself.
    algorithm : str, default='auto'
        A preset of the command.
    callback : callable, default=None
        Called with a dict (phase, step, free_energy, ...) as the fit goes on; True ends the fit."""

_ATTRIBUTES = """weights_ : ndarray of shape (n_components,)
        Weights of the clusters.
    converged_ : bool
        Whether the fit ended by ``tol``.
    n_iter_ : int
        Steps.
    lower_bound_ : float
        Free energy of a row: its mean log-likelihood, or less where rows hold fewer clusters.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them have one.
    report_ : dict
        What the library says of the fit: outcome, choices, notes, trace, ..."""


def _documented(cls):
    cls.__doc__ = cls.__doc__.replace("{parameters}", _PARAMETERS)
    cls.__doc__ = cls.__doc__.replace("{attributes}", _ATTRIBUTES)
    return cls


class CountMixture(Mixture):
    """Rows of counts; scipy's sparse matrices go in as they are."""

    _sparse = True
    _counts = True

    def _more_tags(self):
        return {"requires_positive_X": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _prepare(self, array):
        values = array.data if _arrays.is_sparse(array) else array
        if values.dtype.kind == "f" and np.isfinite(values).all():
            whole = np.rint(values)
            if (whole != values).any():
                if (values < 0).any():
                    raise ValueError(
                        f"Negative values in data passed to {type(self).__name__}: counts are "
                        "0 or more."
                    )
                _arrays.warn_rounded(type(self).__name__)
                if not _arrays.is_sparse(array):
                    return whole
                array = array.copy()
                array.data = whole
        return array


@_options.estimator(own={**_OWN, "binarize": 0.0}, without=_WITHOUT)
@_documented
class BernoulliMixture(CountMixture):
    """A mixture for rows of zeros and ones: a cluster is a probability for each column.

    Parameters
    ----------
    {parameters}
    binarize : float or None, default=0.0
        Values above it are 1, all others 0. None: the values must be 0 and 1, as those of files
        must in any case.

    Other Parameters
    ----------------
    {options}

    Attributes
    ----------
    means_ : ndarray of shape (n_components, n_features)
        Probabilities of a 1.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X = np.array([[1, 1, 0, 0]] * 5 + [[0, 0, 1, 1]] * 5)
    >>> bm = vem.BernoulliMixture(n_components=2, random_state=0).fit(X)
    >>> labels = bm.predict(X)
    >>> bool(labels[0] != labels[-1])
    True
    """

    def _family(self):
        return "bernoulli"

    def _more_tags(self):
        return {"requires_positive_X": False}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags

    def _prepare(self, array):
        if self.binarize is None:
            return array
        if _arrays.is_sparse(array):
            if self.binarize < 0:
                raise ValueError("binarize is below 0: sparse rows would become dense.")
            array = array.copy()
            array.data = (array.data > self.binarize).astype(np.float64)
            array.eliminate_zeros()
            return array
        if array.dtype == bool:
            return array
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return array  # the library says where
        return (array > self.binarize).astype(np.uint8)


@_options.estimator(own=_OWN, without=_WITHOUT)
@_documented
class PoissonMixture(CountMixture):
    """A mixture for rows of counts: a cluster is a rate for each column.

    Values that are no whole numbers are rounded, with a warning.

    Parameters
    ----------
    {parameters}

    Other Parameters
    ----------------
    {options}

    Attributes
    ----------
    means_ : ndarray of shape (n_components, n_features)
        Rates.
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X = np.array([[1, 9], [0, 11], [2, 10], [10, 1], [9, 0], [11, 2]])
    >>> pm = vem.PoissonMixture(n_components=2, random_state=0).fit(X)
    >>> sorted(pm.means_.round(2).tolist())
    [[1.0, 10.0], [10.0, 1.0]]
    """

    def _family(self):
        return "poisson"


@_options.estimator(own=_OWN, without=_WITHOUT)
@_documented
class MultinomialMixture(CountMixture):
    """A mixture for rows of counts: a cluster is a share of the row's total for each column.

    Values that are no whole numbers are rounded, with a warning.

    Parameters
    ----------
    {parameters}

    Other Parameters
    ----------------
    {options}

    Attributes
    ----------
    means_ : ndarray of shape (n_components, n_features)
        Shares, which add up to 1.
    {attributes}

    Examples
    --------
    >>> import vem
    >>> from scipy.sparse import csr_matrix
    >>> X = csr_matrix([[8, 1, 0], [9, 0, 0], [7, 2, 0], [0, 1, 8], [0, 0, 9], [0, 2, 7]])
    >>> mm = vem.MultinomialMixture(n_components=2, random_state=0).fit(X)
    >>> labels = mm.predict(X)
    >>> bool(labels[0] == labels[1] and labels[0] != labels[3])
    True
    """

    def _family(self):
        return "multinomial"
