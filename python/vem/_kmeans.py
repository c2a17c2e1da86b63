"""k-means as scikit-learn's users know it."""

import warnings

import numpy as np
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _options, _vem
from ._base import FEW_STEPS, Assigns, Estimator, forget_stream, learning, seed_of, stream
from ._items import Items

# scikit-learn's names are ways to compute the same clusters; so they are here.
_USUAL = ("auto", "lloyd", "elkan", "full")


class CentersMixin(TransformerMixin):
    """Rows as their distances to the centers."""

    def transform(self, X):
        """Distances of rows to the centers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Euclidean distances, of rows and columns as the model takes them: of length 1 with
            ``normalize``, in standard deviations with ``standardize``. With ``metric='cosine'``
            half the square is 1 less the cosine.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        self._model()  # with the centers there are now
        kind = np.float32 if rows.dtype == np.float32 else np.float64
        scale = self._state["scale"]
        scale = 1 if scale is None else scale
        centers = np.asarray(self.cluster_centers_, dtype=np.float64) / scale
        origin = centers.mean(axis=0)  # near all of them, so that no digits are lost
        out = np.empty((rows.shape[0], len(centers)), dtype=kind)
        for first, piece in rows.pieces():
            if self._state["normalizes"]:
                piece = np.asarray(piece, np.float64)
                largest = np.abs(piece).max(axis=1)  # squares may be no numbers
                if not largest.all():
                    row = first + int(np.flatnonzero(largest == 0)[0])
                    raise ValueError(f"row {row + 1} is zero: it has no direction.")
                with np.errstate(invalid="ignore"):  # what is not finite is refused below
                    piece = piece / largest[:, None]
                piece /= np.sqrt((piece * piece).sum(axis=1))[:, None]
            out[first : first + len(piece)] = euclidean_distances(piece / scale - origin,
                                                                  centers - origin)
        return out

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit, then transform the same rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Euclidean distances.
        """
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns that ``transform`` gives: class and number.

        Parameters
        ----------
        input_features : ignored
            Not used.

        Returns
        -------
        names : ndarray of str
            ``kmeans0``, ``kmeans1``, ...
        """
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(len(self.cluster_centers_))], dtype=object)


@_options.estimator(
    own={
        "n_clusters": 8,
        "init": "k-means++",
        "n_init": "auto",
        "max_iter": 300,
        "tol": 1e-4,
        "verbose": 0,
        "random_state": None,
        "copy_x": True,
        "algorithm": "auto",
        "callback": None,
    },
    without={"family", "prior", "floor", "gap", "tau", "blocks"},
    lacking={"family": "a GaussianMixture of covariance_type"},
)
class KMeans(CentersMixin, ClusterMixin, Assigns, Estimator):
    """k-means: clusters with one common variance, each row in the nearest of them.

    As it stands the fit uses all the library has (several starts, clusters that move to where they
    gain most) and gives what ``vem fit --family iso-shared --held 1`` gives, bit for bit. From
    centers in ``init``, or with ``max_iter`` below 30, it is Lloyd's algorithm and no more.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'k-means++', 'random', 'kmeans++-greedy', 'afkmc2', 'two-level'}, callable or \
array-like of shape (n_clusters, n_features), default='k-means++'
        How the first centers are chosen, or these centers. 'k-means++' leaves the choice among the
        seedings of its kind to the library.
    n_init : 'auto' or int, default='auto'
        Fits from different seeds, of which the best is kept. 'auto': 1, and 10 for
        ``init='random'``.
    max_iter : int, default=300
        Most steps.
    tol : float, default=1e-4
        Ends when a step changes the squared error by no more than this share of it. From centers
        in ``init``: as in scikit-learn, when the centers move by less (sum of squares, as a share
        of the variance), to first order.
    verbose : int, default=0
        1: a bar. 2: also what the fit chose by itself.
    random_state : int, RandomState instance or None, default=None
        Seed; a whole number is the command's ``--seed``.
    copy_x : bool, default=True
        Of no effect: rows are never changed.
    algorithm : {'auto', 'lloyd', 'elkan', 'kmeans', 'lazy-kmeans', ...}, default='auto'
        'lloyd', 'elkan' and 'full' mean 'auto': in scikit-learn, too, they are ways to the same
        clusters. Other names are presets of the command; 'kmeans' is Lloyd's algorithm from
        k-means++, exactly.
    callback : callable, default=None
        Called with a dict (phase, step, free_energy, ...) as the fit goes on; True ends the fit.

    Other Parameters
    ----------------
    {options}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters; of length 1 with ``metric='cosine'``.
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each row.
    inertia_ : float
        Weighted sum of squared distances to the nearest center; with ``metric='cosine'`` that is
        of 2 (1 - cosine).
    n_iter_ : int
        Steps.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them have one.
    report_ : dict
        What the library says of the fit: outcome, choices, notes, trace, ...

    See Also
    --------
    GaussianMixture : Clusters with shapes of their own.
    BayesianKMeans : Finds the number of clusters, too.

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], dtype=float)
    >>> km = vem.KMeans(n_clusters=2, random_state=0).fit(X)
    >>> sorted(km.cluster_centers_.tolist())
    [[1.0, 2.0], [10.0, 2.0]]
    >>> km.inertia_
    16.0
    >>> bool(km.predict([[0, 0]])[0] == km.labels_[0])
    True
    """

    _dense = True

    # ---- fit ----

    def _options(self, rows, start):
        """Parameters as options of the library."""
        n_clusters = _options.check("n_clusters", "clusters", self.n_clusters)
        if rows.shape[0] < n_clusters:
            raise ValueError(
                f"n_samples={rows.shape[0]} should be >= n_clusters={n_clusters}."
            )
        max_iter = _options.check("max_iter", "max-steps", self.max_iter)
        tol = _options.not_negative("tol", self.tol)
        options = {
            "clusters": n_clusters,
            "max-steps": max_iter + 1,
            "tolerance": min(tol, 1.0),
            "measure": "exact",
            "seed": seed_of(self.random_state),
        }
        if self.algorithm in _USUAL:
            options.update({"family": "iso-shared", "prior": "flat", "held": 1})
            if self.algorithm == "elkan" and n_clusters == 1:
                warnings.warn("algorithm='elkan' doesn't make sense for a single cluster. "
                              "Using 'lloyd' instead.", RuntimeWarning)
        else:
            options["algorithm"] = _options.check("algorithm", "algorithm", self.algorithm)
        if start is not None:
            # Lloyd's algorithm from there. Centers that move by S (sum of squares) lower the error
            # by about S n / C, and that is about n D times the variance: scikit-learn's tol.
            options["tolerance"] = min(tol / (n_clusters * rows.shape[1]), 1.0)
            options.update({"search": "closest", "cells": 0, "empty": "reseed"})
        if start is not None or max_iter < FEW_STEPS:
            options["swaps"] = 0
        if isinstance(self.init, str) and self.init != "k-means++":
            options["seeding"] = _options.check("init", "seeding", str(self.init))
        self._n_init = self._restarts()
        options["restarts"] = self._n_init
        if options.get("seeding") == "afkmc2" and self.chain_length is None:
            options["chain"] = 20
        options.update(_options.given(self))
        return options

    def _restarts(self):
        if not isinstance(self.n_init, str):
            n_init = _options.check("n_init", "restarts", self.n_init)
            if n_init > 1 and not isinstance(self.init, str):
                warnings.warn(
                    "Explicit initial center position passed: performing only one init in "
                    f"{type(self).__name__} instead of n_init={n_init}.", RuntimeWarning)
                return 1
            return n_init
        if self.n_init != "auto":
            raise ValueError(f"n_init is {self.n_init!r}, but it must be 'auto' or a number.")
        return 10 if isinstance(self.init, str) and self.init == "random" else 1

    def _start(self, rows):
        """A model of the centers that were given, or None."""
        init = self.init
        if isinstance(init, str):
            return None
        if callable(init):
            array = rows.array if rows.array is not None else _arrays.gather(rows.data())
            init = init(array, self.n_clusters, random_state=check_random_state(self.random_state))
        centers = np.array(init, dtype=np.float64, order="C", ndmin=2)
        if centers.shape[0] != self.n_clusters:
            raise ValueError(
                f"The shape of the initial centers {centers.shape} does not match the number of "
                f"clusters {self.n_clusters}."
            )
        if centers.shape[1] != rows.shape[1]:
            raise ValueError(
                f"The shape of the initial centers {centers.shape} does not match the number of "
                f"features of the data {rows.shape[1]}."
            )
        return _centers_model(centers)

    def _settle(self, rows, n_iter):
        kind = rows.dtype if rows.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        self.cluster_centers_ = self._state["means"].astype(kind)
        self._kind = kind
        self.n_iter_ = n_iter

    def _fit(self, rows, weights, start=None, reduced=False):
        options = self._options(rows, start)
        if reduced:
            options.pop("coreset", None)
        items = Items(rows, weights)
        return self._take(items, rows, *self._fit_items(items, options, start))

    def _take(self, items, rows, model, report, raised):
        """What a fit found, as attributes."""
        self._keep(model, report)
        self._settle(rows, n_iter=min(_steps(report), self.max_iter))
        self.inertia_ = report["quantization_error"]
        if raised is not None:
            if report["labels"] is not None:
                self.labels_ = items.labels(report["labels"], lambda: None)
            raise raised
        self.labels_ = items.labels(report["labels"], lambda: self._assign(model, rows)[0][:, 0])
        self._warn()
        return self

    def fit(self, X, y=None, sample_weight=None):
        """Find the clusters of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows. float32, float64 and uint8 arrays and memory-maps are not copied.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: 2 is the same row twice, 0 a row that is not there.

        Returns
        -------
        self : object
            The estimator. After Ctrl-C it has the model of the last step, too.
        """
        rows = self._rows(X, reset=True)
        weights = _arrays.check_weights(sample_weight, rows.shape[0])
        forget_stream(self)
        return self._fit(rows, weights, self._start(rows))

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from another batch of rows.

        A coreset of all batches so far is kept (``coreset_size`` rows for each doubling of their
        number, 10,000 unless said) and fitted from the centers there are. Those may come from
        ``fit``, whose rows are not remembered: only batches count.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The estimator.
        """
        with learning(self):
            first = not hasattr(self, "cluster_centers_")
            rows = self._rows(X, reset=first)
            coreset, weights = stream(self, rows, sample_weight, self.n_clusters)
            start = self._start(coreset) if first else _centers_model(
                np.asarray(self.cluster_centers_, np.float64))
            self._fit(coreset, weights, start, reduced=True)
            self.labels_ = self._assign(self._model(), rows)[0][:, 0]
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit, and give the cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            Index of the cluster of each row.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def score(self, X, y=None, sample_weight=None):
        """Minus the weighted sum of squared distances to the nearest center.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            The larger the better.
        """
        check_is_fitted(self)
        return -self._scores(X, sample_weight, held=1)["quantization_error"]

    def _attributes(self):
        centers = np.asarray(self.cluster_centers_)
        if np.array_equal(centers, self._state["means"].astype(self._kind)):
            return {}
        return {"means": centers}


def _steps(report):
    """Steps until no row changed its cluster, or until the fit ended."""
    for step, _, _, changed, _, move, _, _ in report["trace"]:
        if step > 1 and changed == 0 and move is None:
            return step
    return report["steps"]


def _centers_model(centers):
    """A k-means model of centers; its variance only matters for probabilities."""
    spread = float(np.var(centers, axis=0).mean()) if len(centers) > 1 else 0.0
    return _vem.model_new({
        "family": "iso-shared", "clusters": centers.shape[0], "columns": centers.shape[1],
        "means": np.ascontiguousarray(centers),
        "variances": np.array([spread if spread > 0 else 1.0]),
    })
