"""For builders of indexes: centers under fewer centers, rows in two lists, models brought up to date."""

from collections import namedtuple

import numpy as np
from sklearn.base import clone

from . import _arrays, _options, _vem
from ._base import seed_of
from ._functions import _ours
from ._items import Items

Hierarchy = namedtuple("Hierarchy", "vectors parents levels")

# Parameters that an update goes by, as the command's; units and family are the model's.
_OF_UPDATES = {"metric", "search", "held", "reach", "explore", "probe", "margin", "floor", "swaps",
               "balance", "coreset", "precision", "threads", "memory", "time"}


def hierarchy(estimator, *, n_levels=None, random_state=None):
    """The centers of a model under fewer centers, level by level, as indexes of several levels have
    them: what ``vem fit --hierarchy`` writes.

    Parameters
    ----------
    estimator : KMeans or GaussianMixture
        Fitted.
    n_levels : int, default=None
        Levels, 2 to 8, that of the clusters counted; 2, and 3 for more than 65,536 clusters, unless
        said.
    random_state : int, RandomState instance or None, default=None
        Seed of the k-means of each level. None: that of the estimator.

    Returns
    -------
    hierarchy : namedtuple of ndarrays
        ``vectors`` (n_nodes, n_features): the clusters with their own numbers, then the nodes of the
        levels above. ``parents`` (n_nodes,), int32: the node above each, -1 at the top. ``levels``
        (n_nodes,), int32: 0 for clusters. Distances are those of the data, also where the model was
        fitted with ``standardize``.

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X, y = vem.generate("birch-grid", n_clusters=64, random_state=0)
    >>> km = vem.KMeans(64, random_state=0).fit(X)
    >>> found = vem.hierarchy(km)
    >>> found.vectors.shape, np.bincount(found.levels).tolist()
    ((72, 2), [64, 8])
    >>> bool((found.parents[:64] >= 64).all()), found.parents[64:].tolist() == [-1] * 8
    (True, True)
    """
    model = _ours(estimator, "predict")._model()
    levels = 0 if n_levels is None else _options.count("n_levels", n_levels)
    if levels and not 2 <= levels <= 8:
        raise ValueError(f"n_levels is {n_levels}, but it must lie between 2 and 8.")
    if random_state is None:
        random_state = getattr(estimator, "random_state", None)
    vectors, parents, level_of = _vem.hierarchy(model, levels, seed_of(random_state),
                                                estimator._settings())
    return Hierarchy(np.frombuffer(vectors, np.float64).reshape(-1, estimator.n_features_in_),
                     np.frombuffer(parents, np.int32), np.frombuffer(level_of, np.int32))


def spill(estimator, X, weight=1.0):
    """Two clusters for each row, for indexes with overlapping lists: what ``vem predict --spill`` writes.

    Parameters
    ----------
    estimator : KMeans or GaussianMixture
        Fitted.
    X : array-like of shape (n_samples, n_features), or path of a file
        Rows.
    weight : float, default=1.0
        How much it counts that the second residual is not parallel to the first (LAMBDA of the
        command), from 0 (the second nearest center) to a million.

    Returns
    -------
    clusters : ndarray of shape (n_samples, 2), int32
        The nearest center, and the second one, as an index of these centers finds them: in the
        units of the data, also where the model was fitted with ``standardize`` (``predict`` goes by
        the units of the fit). A model of one cluster is refused.

    Examples
    --------
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=8, random_state=0)
    >>> km = vem.KMeans(8, random_state=0).fit(X)
    >>> lists = vem.spill(km, X, 1.0)
    >>> lists.shape, bool((lists[:, 0] == km.labels_).all())
    ((800, 2), True)
    """
    model = _ours(estimator, "predict")._model()
    rows = estimator._rows(X)
    clusters = np.empty((rows.shape[0], 2), dtype=np.int32)
    _vem.spill(model, rows.data(), _options.not_negative("weight", weight), estimator._precision(),
               clusters, estimator._settings())
    return clusters


def update(estimator, X, *, sample_weight=None):
    """A model fitted again to rows that have changed: what ``vem update`` does.

    The fit begins with the clusters there are, of which none is added or lost. Those that are empty
    or hardly needed now move to where rows have become many (where each row has one cluster, and
    ``n_swaps`` is not 0); all others keep their numbers and follow their rows.

    Parameters
    ----------
    estimator : KMeans, GaussianMixture or a mixture of counts
        Fitted; it stays as it is.
    X : array-like of shape (n_samples, n_features), or path of a file
        All rows that the clusters should be of, old ones that still count among them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    updated : estimator of the same class
        Fitted, with ``drift_`` (n_clusters,), how far each cluster is from where its number was, and
        ``moved_`` (n_clusters,), bool: it has another place.

    Examples
    --------
    >>> import numpy as np
    >>> import vem
    >>> X, y = vem.generate("separated", n_clusters=5, separation=8, random_state=0)
    >>> km = vem.KMeans(5, random_state=0).fit(X)
    >>> later = vem.update(km, np.vstack([X, X[y == 2] + 0.1]))
    >>> later.moved_.any(), bool(np.array_equal(later.predict(X), km.labels_))
    (False, True)
    """
    model = _ours(estimator, "_take")._model()
    rows = estimator._rows(X)
    updated = clone(estimator)
    options = {name: value for name, value in _options.given(updated).items() if name in _OF_UPDATES}
    options["seed"] = seed_of(updated.random_state)
    options["measure"] = "exact"
    plain = type(updated)()
    for name, option in (("tol", "tolerance"), ("max_iter", "max-steps")):
        if getattr(updated, name) != getattr(plain, name):
            options[option] = _options.check(name, option, getattr(updated, name))
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            setattr(updated, name, getattr(estimator, name))
    items = Items(rows, _arrays.check_weights(sample_weight, rows.shape[0]))
    clusters = len(estimator._state["means"])
    drift, moved = np.empty(clusters), np.empty(clusters, dtype=np.int32)
    found = updated._call(_vem.update, items.rows.data(items.weights), options, model, drift, moved)
    updated.drift_, updated.moved_ = drift, moved.astype(bool)
    updated._take(items, rows, *found)
    return updated
