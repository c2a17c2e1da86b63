"""Agglomerative clustering: trees of merges, by evidence or by distances."""

import os

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _options, _progress, _vem
from ._base import Estimator, from_bytes, seed_of, to_bytes
from ._bayes import WITHOUT, prior_of
from ._gaussian import WORDS, family_of
from ._items import Rows

LINKAGES = _vem.methods()["tree"]


@_options.estimator(
    own={
        "n_clusters": None,
        "linkage": "bayes",
        "covariance_type": "full",
        "n_leaves": None,
        "random_state": 1,
        "prior_strength": None,
        "prior_dof": None,
        "prior_count": None,
        "prior_mean": None,
        "prior_scale": None,
        "verbose": 0,
        "callback": None,
    },
    without=WITHOUT | {"prior", "floor"},
    choices=WORDS,
)
class AgglomerativeBayes(ClusterMixin, Estimator):
    """A tree of merges, each of the two clusters whose union has the most evidence.

    Parameters
    ----------
    n_clusters : int, default=None
        Where the tree is cut. None: where the evidence is largest; without evidence 2.
    linkage : {'bayes', 'single', 'complete', 'average'}, default='bayes'
        Which two clusters are joined next.
    covariance_type : {'full', 'diag', 'spherical'}, default='full'
        What a cluster looks like, for 'bayes'.
    n_leaves : int, default=None
        Leaves are the clusters of a fit with so many instead of rows, for many rows.
    random_state : int, RandomState instance or None, default=1
        Seed of that fit, and of the pairs of rows by which the prior is chosen; 1 is that of the
        command.
    prior_strength, prior_dof, prior_count : float, default=None
        Of the prior, as of BayesianKMeans.
    prior_mean : array-like of shape (n_features,), default=None
        Mean of the means.
    prior_scale : float or array-like, default=None
        Inverse scale of the precision: a number, one for each column, or a matrix.
    verbose : int, default=0
        1: a bar.
    callback : callable, default=None
        Called with a dict (phase, done, total, ...) as the tree grows; True ends it.

    Other Parameters
    ----------------
    {options}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int32
        Cluster of each row.
    n_clusters_ : int
        How many there are.
    linkage_ : ndarray of shape (n_leaves_ - 1, 4)
        The tree as scipy.cluster.hierarchy takes it; heights never fall and are 0 or more.
    children_, distances_ : ndarray
        The nodes of each merge and its height, as of scikit-learn's AgglomerativeClustering.
    delta_ : ndarray of shape (n_leaves_ - 1,)
        What each merge costs: a distance, or evidence that is lost.
    log_evidence_ : ndarray of shape (n_leaves_ - 1,)
        Of the clustering after each merge.
    n_leaves_ : int
        Leaves.
    n_connected_components_ : int
        1.
    n_features_in_ : int
        Columns.
    feature_names_in_ : ndarray of str
        Names of the columns, where all of them have one.

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], dtype=float)
    >>> vem.AgglomerativeBayes(n_clusters=2).fit_predict(X)
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def fit(self, X, y=None, sample_weight=None):
        """Grow the tree of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        y : ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight 0 have no leaf, and the label of the nearest row.

        Returns
        -------
        self : object
            The estimator.
        """
        rows = self._rows(X, reset=True, least=2)
        weights = _arrays.check_weights(sample_weight, rows.shape[0])
        if self.linkage not in LINKAGES:
            raise ValueError(f"linkage is {self.linkage!r}, but it must be one of "
                             f"{', '.join(LINKAGES)}.")
        kept, all_rows = None, rows
        # Where leaves are rows all of them are in memory anyway; else they are those of a fit.
        if weights is not None and not weights.all() and (
                rows.array is not None or self.n_leaves is None):
            kept = np.flatnonzero(weights > 0)
            if len(kept) == 0:
                raise ValueError("sample_weight is 0 for every row, but some row must count.")
            if rows.array is None:
                all_rows = Rows.of(_arrays.gather(rows.data()), rows.names)
            rows, weights = Rows.of(all_rows.array[kept], rows.names), weights[kept]
        if weights is not None and (weights == 1).all():
            weights = None
        tree = self._grow(rows, weights)
        n = rows.shape[0]
        summary = tree.summary()
        self._set_tree(tree, summary["leaves"])
        wanted = self.n_clusters
        if wanted is None:
            wanted = summary["clusters"] or min(2, summary["leaves"])
        wanted = _options.check("n_clusters", "clusters", wanted)
        labels = np.empty(n, dtype=np.int32)
        tree.cut(wanted, labels)
        self.n_clusters_ = int(wanted)
        self.labels_ = labels
        if kept is not None:
            near = pairwise_distances_argmin(all_rows.array, rows.array)
            near[kept] = np.arange(len(kept))
            self.labels_ = labels[near]
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "linkage_")

    def _grow(self, rows, weights):
        options = {"seed": seed_of(self.random_state), **_options.given(self)}
        if self.linkage == "bayes":
            options["family"] = family_of(self.covariance_type)
        prior = prior_of(self.prior_strength, self.prior_dof, self.prior_count, self.prior_mean,
                         self.prior_scale, rows.shape[1])
        with _progress.watch(type(self).__name__, self.verbose, self.callback) as progress:
            return _vem.agglomerate(rows.data(weights), options, LINKAGES.index(self.linkage), 0,
                                    self.n_leaves or 0, prior, self._settings(progress))

    def _set_tree(self, tree, leaves):
        merges = np.empty((leaves - 1, 6))
        tree.merges(merges)
        self.linkage_ = np.ascontiguousarray(merges[:, :4])
        self.children_ = merges[:, :2].astype(np.intp)
        self.distances_ = merges[:, 2].copy()
        self.delta_ = merges[:, 4].copy()
        self.log_evidence_ = merges[:, 5].copy()
        self.n_leaves_ = leaves
        self.n_connected_components_ = 1
        self._tree = tree
        self.__dict__.pop("_packed", None)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Grow the tree, and give the cluster of each row.

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

    def save(self, path):
        """Write the tree as the command does: an ``.npz`` with linkage, delta and log_evidence.

        Parameters
        ----------
        path : str or path-like
            The file, which is written whole or not at all.
        """
        check_is_fitted(self)
        if getattr(self, "_tree", None) is None:  # it was pickled
            self._tree = from_bytes(_vem.tree_read, self._packed)
        self._tree.write(os.fspath(path))

    def __getstate__(self):
        state = dict(super().__getstate__())
        tree = state.pop("_tree", None)
        if tree is not None:
            state["_packed"] = to_bytes(tree.write)
        return state
