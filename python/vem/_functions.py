"""Functions beside the estimators: coresets, seedings, files, generated data, descriptions."""

import json
import os

import numpy as np
from sklearn.base import BaseEstimator

from . import _arrays, _options, _vem, _words
from ._base import arrays_of, seed_of
from ._counts import BernoulliMixture, MultinomialMixture, PoissonMixture
from ._gaussian import GaussianMixture, word_of
from ._items import Rows
from ._kmeans import KMeans
from ._threads import threads_of
from ._tree import AgglomerativeBayes

_GENERATORS = _vem.methods()["generate"]
_CORESETS = _vem.methods()["coreset"]
_COUNTS = {"bernoulli": BernoulliMixture, "poisson": PoissonMixture,
           "multinomial": MultinomialMixture}


def _choice(name, value, words):
    if value not in words:
        raise ValueError(f"{name} is {value!r}, but it must be one of {', '.join(words)}.")
    return words.index(value)


def coreset(X, size, *, method="lightweight", sample_weight=None, random_state=None,
            n_threads=None):
    """A weighted sample of rows that stands for all of them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or path of a file
        Rows.
    size : int
        Rows to draw; as many as there are, or more, gives all of them.
    method : {'lightweight', 'uniform'}, default='lightweight'
        Half by weight and half by squared distance to the mean, or by weight.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    random_state : int, RandomState instance or None, default=None
        Seed; a whole number is the command's ``--seed``.
    n_threads : int, default=None
        Threads; all cores unless said.

    Returns
    -------
    rows : ndarray of shape (size, n_features)
        Rows, a row that was drawn twice being there twice.
    weights : ndarray of shape (size,)
        Their weights.
    indices : ndarray of shape (size,), int64
        Which rows they were.

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X = np.random.RandomState(0).normal(size=(1000, 3))
    >>> rows, weights, indices = vem.coreset(X, 100, random_state=0)
    >>> rows.shape, bool(np.array_equal(rows, X[indices]))
    ((100, 3), True)
    """
    settings = {"threads": threads_of(n_threads), "say": _words.say}
    rows = Rows(X, name="coreset", settings=settings)
    weights = _arrays.check_weights(sample_weight, rows.shape[0])
    drawn = _vem.coreset(rows.data(weights), _options.check("size", "coreset", size),
                         _choice("method", method, _CORESETS), seed_of(random_state), settings)
    n = drawn.shape[0]
    found = (np.ones(n) if drawn.weights is None
             else np.frombuffer(drawn.weights, dtype=np.float64))
    indices = (np.arange(n) if drawn.indices is None
               else np.frombuffer(drawn.indices, dtype=np.int64))
    # From the array itself: int64 may have more digits than the library's doubles.
    if rows.array is not None and rows.array.dtype.kind in "iu":
        return rows.array[indices], found, indices
    return _arrays.gather(drawn), found, indices


def kmeans_plusplus(X, n_clusters, *, sample_weight=None, x_squared_norms=None,
                    random_state=None, n_local_trials=None, seeding=None, n_threads=None):
    """First centers by k-means++, or another seeding.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or path of a file
        Rows.
    n_clusters : int
        Centers to choose.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    x_squared_norms : array-like of shape (n_samples,), default=None
        Of no use here, as distances are taken by differences.
    random_state : int, RandomState instance or None, default=None
        Seed.
    n_local_trials : int, default=None
        1: plain k-means++. Else the best of several rows is taken each time.
    seeding : {'random', 'kmeans++', 'kmeans++-greedy', 'afkmc2', 'two-level'}, default=None
        How centers are chosen; None: by ``n_local_trials``.
    n_threads : int, default=None
        Threads; all cores unless said.

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        Rows that were chosen.
    indices : ndarray of shape (n_clusters,)
        Which they are.

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], dtype=float)
    >>> centers, indices = vem.kmeans_plusplus(X, n_clusters=2, random_state=0)
    >>> bool(np.array_equal(X[indices], centers))
    True
    """
    settings = {"threads": threads_of(n_threads), "say": _words.say}
    rows = Rows(X, name="kmeans_plusplus", dense=True, settings=settings)
    if x_squared_norms is not None and np.shape(x_squared_norms) != (rows.shape[0],):
        raise ValueError(
            f"The length of x_squared_norms {np.shape(x_squared_norms)} should be equal to the "
            f"length of n_samples {rows.shape[0]}."
        )
    n_clusters = _options.check("n_clusters", "clusters", n_clusters)
    if rows.shape[0] < n_clusters:
        raise ValueError(f"n_samples={rows.shape[0]} should be >= n_clusters={n_clusters}.")
    if seeding is None:
        seeding = "kmeans++" if n_local_trials == 1 else "kmeans++-greedy"
    data = rows.data(_arrays.check_weights(sample_weight, rows.shape[0]))
    options = {"clusters": n_clusters, "algorithm": "kmeans", "max-steps": 1, "swaps": 0,
               "seeding": _options.check("seeding", "seeding", seeding),
               "seed": seed_of(random_state), "cells": 0}
    if seeding == "afkmc2":
        options["chain"] = 20
    model, _, raised = _vem.fit(data, options, None, settings)
    if raised is not None:
        raise raised
    # A center is a row, to rounding: the one that is nearest to it.
    facts = _vem.describe(model, data, _options.AUTO, settings)
    indices = np.array([fact["exemplars"][0] for fact in facts], dtype=np.int64)
    if rows.array is not None:
        return rows.array[indices], indices
    return _arrays.gather(data)[indices], indices


def generate(kind, *, n_clusters, n_features=2, n_samples=None, separation=None, box=None,
             random_state=None, return_centers=False):
    """Rows of known clusters.

    Parameters
    ----------
    kind : {'birch-grid', 'birch-random', 'separated', 'tau-separated'}
        Which; 'birch-grid' needs a square number of clusters, both of BIRCH have two columns.
    n_clusters : int
        Number of clusters.
    n_features : int, default=2
        Columns.
    n_samples : int, default=None
        Rows; 100 for each cluster unless said.
    separation : float, default=None
        How far apart clusters lie, of 'separated' and 'tau-separated'; 2 unless said.
    box : float, default=None
        Side of the box of the centers in mean standard deviations, of 'tau-separated'.
    random_state : int, RandomState instance or None, default=None
        Seed; a whole number is the command's ``--seed``.
    return_centers : bool, default=False
        Give the centers, too.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,), int32
        The cluster of each.
    centers : ndarray of shape (n_clusters, n_features)
        Only with ``return_centers``.

    Examples
    --------
    >>> import vem
    >>> X, y = vem.generate("birch-grid", n_clusters=9, random_state=0)
    >>> X.shape, len(set(y))
    ((900, 2), 9)
    """
    n_samples = 0 if n_samples is None else _options.count("n_samples", n_samples)
    n_features = _options.count("n_features", n_features)
    separation, box = (0.0 if value is None else _options.not_negative(name, value)
                       for name, value in (("separation", separation), ("box", box)))
    rows, labels, centers, n, d = _vem.generate(
        _choice("kind", kind, _GENERATORS), _options.check("n_clusters", "clusters", n_clusters),
        min(n_features, 2**31 - 1), n_samples, separation, box, seed_of(random_state),
        {"threads": threads_of(None)})
    X = np.frombuffer(rows, dtype=np.float64).reshape(n, d)
    y = np.frombuffer(labels, dtype=np.int32)
    if not return_centers:
        return X, y
    return X, y, np.frombuffer(centers, dtype=np.float64).reshape(n_clusters, d)


def _meta(state):
    try:
        found = json.loads(state["meta"] or "{}")
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


def _adopt(estimator, model, state, meta):
    estimator._state, estimator._handle = state, model
    estimator.n_features_in_ = state["columns"]
    if state["names"] is not None:
        estimator.feature_names_in_ = np.asarray(state["names"], dtype=object)
    estimator.n_iter_ = meta.get("steps", 0)
    estimator.report_ = meta
    return estimator


def load(path):
    """Read a model, or a tree, that ``save`` or the command wrote.

    Parameters
    ----------
    path : str or path-like
        An ``.npz`` file.

    Returns
    -------
    estimator : KMeans, GaussianMixture, BernoulliMixture, PoissonMixture or MultinomialMixture
        Fitted, without what only the rows tell (``labels_``, ``inertia_``). Balls of one size and
        equal weights (or those that ``balance`` gave them), each row in one of them, are a KMeans,
        whatever they were fitted by. Another ``fit`` has the parameters that say what was fitted:
        clusters and their shape, ``metric``, ``balance``, ``normalize``, ``standardize``. Of a
        tree: an AgglomerativeBayes.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=3, random_state=0)
    >>> km = vem.KMeans(3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.npz")
    ...     vem.save(km, path)
    ...     again = vem.load(path)
    >>> bool(np.array_equal(again.predict(X), km.labels_))
    True
    """
    path = os.fspath(path)
    if _vem.file_kind(path) == "tree":
        return _load_tree(path)
    return estimator_of(_vem.model_read(path))


# What a fit was asked to find, and in which units; the rest of its options say how.
_AS_FITTED = ("metric", "balance", "normalize", "standardize")


def _set_as_fitted(estimator, options):
    plain, names = type(estimator)(), set(_AS_FITTED) & set(estimator.get_params())
    if options.get("metric") == "cosine":  # rows have a length of 1 by that
        names.discard("normalize")
    for name in names:
        value, option = options.get(name), _options.TABLE[name]
        default = False if option.kind == "flag" else option.choices.split("|")[0]
        if value is None or value == default or getattr(plain, name) is not None:
            continue
        try:
            estimator.set_params(**{name: _options.check(name, name, value)})
        except ValueError:  # a file may say anything
            pass


def estimator_of(model):
    """The fitted estimator of the library's model."""
    state = arrays_of(model)
    meta = _meta(state)
    family, clusters = state["family"], state["clusters"]
    options = meta.get("options")
    options = options if isinstance(options, dict) else {}
    free = _options.TABLE["prior"].choices.split("|").index("free")
    if family == "iso-shared" and state["prior"] != free and options.get("held") in (1, None):
        found = _adopt(KMeans(clusters), model, state, meta)
        _set_as_fitted(found, options)
        found.cluster_centers_ = state["means"].copy()
        found._kind = np.dtype(np.float64)
        return found
    if family in _COUNTS:
        found = _COUNTS[family](clusters)
    elif state["variances"] is None:
        raise ValueError(f"The family of the model is {family}, for which this package has no "
                         "estimator; the command reads it.")
    else:
        found = GaussianMixture(clusters, covariance_type=word_of(family))
        found.covariances_ = state["variances"].copy()
    _adopt(found, model, state, meta)
    _set_as_fitted(found, options)
    found.means_, found.weights_ = state["means"].copy(), state["weights"].copy()
    found.converged_ = meta.get("outcome") == "converged"
    found.lower_bound_ = meta.get("free_energy")
    return found


def _load_tree(path):
    tree = _vem.tree_read(path)
    summary = tree.summary()
    found = AgglomerativeBayes()
    found._set_tree(tree, summary["leaves"])
    found.n_clusters_ = int(summary["clusters"] or min(2, summary["leaves"]))
    found.labels_ = np.empty(summary["rows"], dtype=np.int32)
    tree.cut(found.n_clusters_, found.labels_)
    return found


def _ours(estimator, verb):
    if not isinstance(estimator, BaseEstimator) or not hasattr(estimator, verb):
        raise TypeError(f"{type(estimator).__name__} is no estimator of vem that has clusters.")
    return estimator


def save(estimator, path):
    """Write a fitted model, or tree, to a file that the command and ``load`` read.

    Parameters
    ----------
    estimator : estimator of this package
        Fitted.
    path : str or path-like
        An ``.npz`` file, which is written whole or not at all.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=3, random_state=0)
    >>> gm = vem.GaussianMixture(3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.npz")
    ...     vem.save(gm, path)
    ...     with np.load(path) as file:
    ...         sorted(file)
    ['means', 'meta', 'variances', 'weights']
    """
    _ours(estimator, "save").save(path)


def describe(estimator, X=None, *, sample_weight=None):
    """What was found: facts of each cluster.

    Parameters
    ----------
    estimator : estimator of this package
        Fitted.
    X : array-like of shape (n_samples, n_features), or path of a file, default=None
        Rows; without them there are no counts and exemplars.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    clusters : list of dict
        Of each cluster: ``cluster`` (its number), ``weight``, ``spread``, ``columns`` in which its
        mean is farthest from that of all (by name where they have one) with the ``differences`` in
        standard deviations, the ``nearest`` cluster and their ``overlap``; with X ``rows``,
        ``mass``, ``doubtful`` share, ``exemplars`` (rows nearest to its mean), the ``rival``
        cluster and how much is ``shared``. The largest comes first; ``pandas.DataFrame`` takes it.

    Examples
    --------
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=3, random_state=0)
    >>> km = vem.KMeans(3, random_state=0).fit(X)
    >>> found = vem.describe(km, X)
    >>> sum(cluster["rows"] for cluster in found)
    300
    """
    model = _ours(estimator, "predict")._model()
    data = None
    if X is not None:
        rows = estimator._rows(X)
        data = rows.data(_arrays.check_weights(sample_weight, rows.shape[0]))
    facts = _vem.describe(model, data, _options.AUTO, estimator._settings())
    names = getattr(estimator, "feature_names_in_", None)
    found = []
    for number, fact in enumerate(facts):
        shown = [c for c in fact["columns"] if c >= 0]
        fact = {"cluster": number, **fact}
        fact["columns"] = [c if names is None else names[c] for c in shown]
        fact["differences"] = list(fact["differences"][: len(shown)])
        fact["exemplars"] = [e for e in fact["exemplars"] if e >= 0]
        if data is None:
            for name in ("rows", "mass", "doubtful", "rival", "shared", "exemplars"):
                del fact[name]
        found.append(fact)
    return sorted(found, key=lambda fact: -fact.get("mass", fact["weight"]))
