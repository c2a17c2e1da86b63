"""Bayesian k-means: the number of clusters is found, too."""

import os
import re

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _options, _progress, _vem
from ._base import Estimator, Probabilities, from_bytes, seed_of, to_bytes
from ._gaussian import WORDS, family_of, word_of
from ._items import Items
from ._kmeans import CentersMixin

METHODS = _vem.methods()["select"]
_KINDS = {row[0]: number for number, row in enumerate(_vem.families())}
# What a selection decides itself, or has no use for.
WITHOUT = {"balance", "family", "metric", "held", "explore", "probe", "swaps", "finish", "margin", "cells", "depth",
           "expand", "gap", "blocks", "tau", "chain", "init-steps", "reach", "search", "empty",
           "coreset"}


def prior_of(strength, dof, count, mean, scale, d):
    """A conjugate prior, or None where all of it is to be chosen."""
    if all(value is None for value in (strength, dof, count, mean, scale)):
        return None
    prior = {name: None if value is None else _options.not_negative(f"prior_{name}", value)
             for name, value in (("strength", strength), ("dof", dof), ("count", count))}
    if mean is not None:
        prior["mean"] = np.ascontiguousarray(mean, dtype=np.float64).ravel()
        if prior["mean"].size != d:
            raise ValueError(f"prior_mean has {prior['mean'].size} values for {d} columns.")
    if scale is not None:
        prior["scale"] = np.ascontiguousarray(scale, dtype=np.float64).ravel()
        if prior["scale"].size not in (1, d, d * d):
            raise ValueError(
                f"prior_scale has {prior['scale'].size} values, but 1, {d} or {d * d} are needed."
            )
    return prior


def numbers_of(min_clusters, max_clusters):
    least = _options.check("min_clusters", "clusters", min_clusters)
    most = 0
    if max_clusters is not None:
        most = _options.check("max_clusters", "clusters", max_clusters)
        if most < least:
            raise ValueError(f"max_clusters is {most}, below min_clusters, which is {least}.")
    return least, most


def share_of(holdout):
    """Share of the rows that are held out."""
    holdout = _options.not_negative("holdout", holdout)
    if holdout >= 1:
        raise ValueError(f"holdout is {holdout}, but it must be below 1.")
    return holdout


def resamples_of(stability):
    """How many parts of the rows."""
    return 0 if stability == 0 else _options.check("stability", "clusters", stability)


@_options.estimator(
    own={
        "max_clusters": None,
        "min_clusters": 1,
        "method": "bayes",
        "covariance_type": "full",
        "tol": 1e-4,
        "max_iter": 300,
        "random_state": None,
        "prior_strength": None,
        "prior_dof": None,
        "prior_count": None,
        "prior_mean": None,
        "prior_scale": None,
        "holdout": 0.0,
        "stability": 0,
        "verbose": 0,
        "callback": None,
    },
    without=WITHOUT,
    choices=WORDS,
)
class BayesianKMeans(CentersMixin, ClusterMixin, Probabilities, Estimator):
    """Clusters and their number, by the evidence of rows and labels.

    Clusters are divided and joined as long as the evidence rises, under a conjugate prior of their
    means, covariances and weights.

    Parameters
    ----------
    max_clusters : int, default=None
        Most clusters that may be found. None: as many as the rows could tell apart.
    min_clusters : int, default=1
        Fewest clusters, where so many rows differ: a search that would end with fewer divides on.
    method : {'bayes', 'vb', 'greedy', 'bic', 'icl', 'kmeans-bic', 'gmeans', 'sweep'}, \
default='bayes'
        What the number of clusters is found by; 'vb' is the same with soft assignments.
    covariance_type : {'full', 'diag', 'spherical', ...} or list of them, default='full'
        What a cluster looks like.
    tol : float, default=1e-4
        When the steps between two divisions end.
    max_iter : int, default=300
        Most steps.
    random_state : int, RandomState instance or None, default=None
        Seed; a whole number is the command's ``--seed``.
    prior_strength, prior_dof, prior_count : float, default=None
        Of the prior: rows that the mean is worth, degrees of freedom of the precision, rows that
        the weight is worth. None: chosen from the data.
    prior_mean : array-like of shape (n_features,), default=None
        Mean of the means.
    prior_scale : float or array-like, default=None
        Inverse scale of the precision: a number, one for each column, or a matrix.
    holdout : float, default=0.0
        Share of the rows that are not fitted: ``path_`` has the likelihood of each mixture on
        them (``held_out``).
    stability : int, default=0
        The same on so many random parts of the rows, 90 % of them each: ``stability_``.
        ``time`` counts for the search and for all parts by itself.
    verbose : int, default=0
        1: a bar. 2: also what the fit chose by itself.
    callback : callable, default=None
        Called with a dict (phase, step, free_energy, ...) as the fit goes on; True ends the fit.

    Other Parameters
    ----------------
    {options}

    Attributes
    ----------
    n_clusters_ : int
        How many were found.
    covariance_type_ : str
        What they look like.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
        Means of the clusters.
    covariances_, weights_ : ndarray
        As of a GaussianMixture.
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each row.
    objective_ : float
        What the method goes by: log evidence, BIC, ...
    path_ : list of dict
        Every number of clusters that was considered, with what it is worth.
    stability_ : dict or None
        With ``stability``: the ``clusters`` that each part led to, ``ari`` of their labels with those
        of the model, and the means of both.
    n_iter_ : int
        Steps.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them have one.
    report_ : dict
        What the library says of the fit.

    Examples
    --------
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=3, n_features=2, separation=8, random_state=1)
    >>> bk = vem.BayesianKMeans(random_state=0).fit(X)
    >>> bk.n_clusters_
    3
    """

    def fit(self, X, y=None, sample_weight=None):
        """Find the clusters of rows, and their number.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: 2 is the same row twice, 0 a row that is not there.

        Returns
        -------
        self : object
            The estimator.
        """
        rows = self._rows(X, reset=True)
        weights = _arrays.check_weights(sample_weight, rows.shape[0])
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}, but it must be one of "
                             f"{', '.join(METHODS)}.")
        least, most = numbers_of(self.min_clusters, self.max_clusters)
        several = _several(self.covariance_type)
        items = Items(rows, weights)
        options = {
            "family": None if several or self.method in ("kmeans-bic", "gmeans")
            else family_of(self.covariance_type),
            "max-steps": _options.check("max_iter", "max-steps", self.max_iter),
            "tolerance": min(_options.not_negative("tol", self.tol), 1.0),
            "seed": seed_of(self.random_state),
            **_options.given(self),
        }
        prior = prior_of(self.prior_strength, self.prior_dof, self.prior_count, self.prior_mean,
                         self.prior_scale, rows.shape[1])
        asked = (items.rows.data(items.weights), options, METHODS.index(self.method), least, most,
                 prior, several, share_of(self.holdout))
        resamples = resamples_of(self.stability)
        model, report, raised, path = self._call(_vem.select, *asked)
        self._keep(model, report)
        self.covariance_type_ = word_of(self._state["family"])
        kind = rows.dtype if rows.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        self._kind = kind
        self.cluster_centers_ = self._state["means"].astype(kind)
        self.weights_ = self._state["weights"].copy()
        variances = self._state["variances"]
        self.covariances_ = None if variances is None else variances.copy()
        self.n_clusters_ = len(self.weights_)
        self.n_iter_ = max(1, min(report["steps"], self.max_iter))
        self._path = path
        self.stability_ = None
        self.__dict__.pop("_packed", None)
        self.path_ = path.points()
        self.objective_ = path.summary()["objective"]
        if raised is not None:
            if report["labels"] is not None:
                self.labels_ = items.labels(report["labels"], lambda: None)
            raise raised
        self.labels_ = items.labels(report["labels"], lambda: self._assign(model, rows)[0][:, 0])
        self._warn()
        if resamples > 0:
            self._resample(asked, model, resamples)
        return self

    def _resample(self, asked, model, resamples):
        """How often the same is found; what interrupted it is raised, with the parts that were done."""
        with _progress.watch(type(self).__name__, self.verbose, self.callback) as progress:
            self.stability_, raised = _vem.stability(*asked, model, resamples,
                                                     self._settings(progress))
        if raised is not None:
            raise raised

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
        """Mean log-likelihood of rows under the mixture, per unit of weight.

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
        log_likelihood : float
            The larger the better.
        """
        check_is_fitted(self)
        return self._scores(X, sample_weight)["log_likelihood"]

    def save(self, path):
        """Write the model with the mixtures of all numbers of clusters, as ``vem select`` does.

        Parameters
        ----------
        path : str or path-like
            The ``.npz`` file, which is written whole or not at all. ``vem select --pick`` takes
            another mixture of it.
        """
        _vem.path_write(self._mixtures(), self._model(), os.fspath(path))

    def pick(self, n_clusters):
        """The mixture of another number of clusters that was considered (see ``path_``).

        Parameters
        ----------
        n_clusters : int
            One of the numbers of ``path_``.

        Returns
        -------
        mixture : GaussianMixture
            Fitted, without labels. A KMeans, where ``method`` goes by k-means.
        """
        from ._functions import estimator_of

        n_clusters = _options.check("n_clusters", "clusters", n_clusters)
        try:
            return estimator_of(_vem.path_pick(self._mixtures(), n_clusters))
        except ValueError as problem:  # the command says -k
            raise ValueError(re.sub(r" \(-k \d+\)", "", str(problem))) from None

    def _mixtures(self):
        """The library's path."""
        check_is_fitted(self)
        if getattr(self, "_path", None) is None:
            self._path = from_bytes(_vem.path_read, self._packed)  # it was pickled
        return self._path

    def __getstate__(self):
        state = dict(super().__getstate__())
        path = state.pop("_path", None)
        if path is not None:
            state["_packed"] = to_bytes(
                lambda file: _vem.path_write(path, self._model(), file))
        return state

    def _attributes(self):
        found = {"weights": self.weights_}
        if self.covariances_ is not None:
            found["variances"] = self.covariances_
        if not np.array_equal(self.cluster_centers_, self._state["means"].astype(self._kind)):
            found["means"] = self.cluster_centers_
        return found


def _several(covariance_type):
    """Numbers of the families of several types, or none."""
    if not isinstance(covariance_type, (list, tuple)):
        return ()
    words = list(covariance_type)
    kinds = tuple(_KINDS[family_of(word)] for word in words)
    if not kinds or len(set(kinds)) < len(kinds):
        raise ValueError(f"covariance_type is {words!r}, but several types must be different ones.")
    return kinds


def select(X, *, method="bayes", min_clusters=1, max_clusters=None, covariance_type="full",
           sample_weight=None, random_state=None, prior=None, n_threads=None, holdout=0.0, stability=0, time=None, memory=None):
    """Find the number of clusters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or path of a file
        Rows.
    method : str, default='bayes'
        bayes, vb, greedy, bic, icl, kmeans-bic, gmeans or sweep.
    min_clusters : int, default=1
        Fewest clusters, where so many rows differ: a search that would end with fewer divides on.
    max_clusters : int, default=None
        Most clusters.
    covariance_type : str or list of str, default='full'
        What a cluster looks like, as of GaussianMixture. Several: each is searched, and the one with
        the best objective is taken (``covariance_type_``).
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    random_state : int, RandomState instance or None, default=None
        Seed.
    prior : dict, default=None
        ``strength``, ``dof``, ``count``, ``mean`` and ``scale`` of the conjugate prior.
    n_threads : int, default=None
        Threads; all cores unless said.
    holdout : float, default=0.0
        Share of the rows that are not fitted: ``path_`` has the likelihood of each mixture on
        them (``held_out``).
    stability : int, default=0
        The same on so many random parts of the rows, 90 % of them each: ``stability_``.
        ``time`` counts for the search and for all parts by itself.
    time : float, default=None
        Seconds that the search may take; what was found until then is the answer.
    memory : int or str, default=None
        Bytes that the process may take, as in ``"2G"``.

    Returns
    -------
    mixture : BayesianKMeans
        Fitted: ``n_clusters_``, ``path_``, ``labels_``, ...

    Examples
    --------
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=3, n_features=2, separation=8, random_state=1)
    >>> vem.select(X, method="bic", max_clusters=6, random_state=0).n_clusters_
    3
    """
    if _arrays.is_sparse(X):
        raise TypeError(
            "A sparse matrix was passed, but select finds Gaussian clusters, of dense rows "
            "(X.toarray()). How many clusters there are of counts the mixtures of counts say: "
            "take the k with the least MultinomialMixture(k).fit(X).bic(X), or the command, "
            "vem select --method sweep --family multinomial.")
    parts = ("strength", "dof", "count", "mean", "scale")
    for name in prior or {}:
        if name not in parts:
            raise ValueError(f"prior has {name!r}, but it may have only {', '.join(parts)}.")
    prior = {f"prior_{name}": value for name, value in (prior or {}).items()}
    return BayesianKMeans(max_clusters, min_clusters=min_clusters, method=method,
                          covariance_type=covariance_type, random_state=random_state,
                          n_threads=n_threads, holdout=holdout,
                          stability=stability, time=time, memory=memory, **prior).fit(X, sample_weight=sample_weight)
