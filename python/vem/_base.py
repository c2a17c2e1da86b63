"""What the estimators share: rows in, a fit, a model kept as arrays, and what it says of rows."""

import json
import math
import os
import tempfile
import threading
import warnings
import weakref

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _options, _progress, _vem, _words
from ._items import Rows
from ._threads import threads_of

# Starts on a sample take steps of their own: not where no more than so many are allowed.
FEW_STEPS = 30

_FAMILIES = {row[0]: row for row in _vem.families()}

# A model changes once, before anyone else has it: when its names and what was done are put in.
_labelling = threading.Lock()


# Who learns from batches takes one after the other, whichever thread they come from.
_learning = weakref.WeakKeyDictionary()


def _after_fork():
    global _labelling
    _labelling = threading.Lock()  # whoever held it is not here
    _learning.clear()


def learning(estimator):
    """The lock of an estimator that has a stream."""
    with _labelling:
        return _learning.setdefault(estimator, threading.RLock())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def seed_of(random_state):
    """The library's seed: a whole number is taken as it is, so that the command gives the same."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state is {random_state}, but it must be 0 or more.")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def meta_of(report, normalizes):
    """What the command writes into a model file about its fit, as JSON."""

    def number(value):
        return value if value is None or math.isfinite(value) else None

    names = ("step", "free_energy", "pairs", "changed", "empty", "move", "moved", "seconds")
    trace = [
        {n: number(v) if isinstance(v, float) else v for n, v in zip(names, step)}
        for step in report["trace"]
    ]
    return json.dumps(
        {
            "version": _vem.version(),
            "family": report["options"]["family"],
            "options": {k: number(v) if isinstance(v, float) else v
                        for k, v in report["options"].items()},
            "seed": report["options"]["seed"],
            "rows_used": int(report["rows_used"]),
            "stopping": report["stopping"],
            "outcome": report["outcome"],
            "steps": report["steps"],
            "floored": report["floored"],
            "free_energy": number(report["free_energy"]),
            "normalize": bool(normalizes),
            "metric": report["options"]["metric"],
            "trace": trace,
        },
        separators=(",", ":"),
    )


def arrays_of(model):
    """What a model is, with NumPy arrays in the place of bytes."""
    state = model.state()
    clusters, d = state["clusters"], state["columns"]
    _, _, axes, shared = _FAMILIES[state["family"]]
    shapes = {"means": (clusters, d), "weights": (clusters,), "scale": (d,), "column_means": (d,)}
    if axes >= 0:
        shapes["variances"] = (() if shared else (clusters,)) + (d,) * axes
    for name, shape in shapes.items():
        if state[name] is not None:
            state[name] = np.frombuffer(state[name], dtype=np.float64).reshape(shape)
    return state


def to_bytes(write):
    """The file that ``write(path)`` writes, for pickles: all of what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.npz")
        write(path)
        with open(path, "rb") as file:
            return file.read()


def from_bytes(read, packed):
    """What ``read(path)`` makes of such a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.npz")
        with open(path, "wb") as file:
            file.write(packed)
        return read(path)


def _repeat_last(model, clusters):
    """The same mixture with its last cluster as several, which share its weight."""
    state = arrays_of(model)
    copies = clusters - state["clusters"] + 1
    times = np.ones(state["clusters"], dtype=int)
    times[-1] = copies
    weights = state["weights"].copy()
    weights[-1] /= copies
    more = {"clusters": clusters, "means": np.repeat(state["means"], times, axis=0),
            "weights": np.repeat(weights, times)}
    if state["variances"] is not None and not _FAMILIES[state["family"]][3]:
        more["variances"] = np.repeat(state["variances"], times, axis=0)
    if state["prior"] == 0:
        more["weights"] = np.full(clusters, 1 / clusters)
    return _vem.model_new({**state, **more})


class Estimator(BaseEstimator):
    """An estimator whose fit is a call of the library."""

    _sparse = False  # sparse rows go in as they are
    _dense = False  # sparse rows are made dense
    _counts = False

    def __sklearn_tags__(self):  # asked for by scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._sparse or self._dense
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_state")

    # ---- rows ----

    def _rows(self, X, *, reset=False, least=1):
        model = None if reset else self._model()
        rows = Rows(X, name=type(self).__name__, sparse=self._sparse, dense=self._dense,
                    counts=self._counts, model=model, least=least, settings=self._settings())
        if rows.array is not None:
            rows.array = self._prepare(rows.array)
        self._check_columns(rows, reset)
        return rows

    def _prepare(self, array):
        return array

    def _check_columns(self, rows, reset):
        known = getattr(self, "feature_names_in_", None)
        if reset:
            self.n_features_in_ = rows.shape[1]
            if rows.names is not None:
                self.feature_names_in_ = rows.names
            elif known is not None:
                del self.feature_names_in_
            return
        if rows.picked:
            return
        self._check_names(known, rows.names)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

    def _check_names(self, known, names):
        who = type(self).__name__
        if known is None and names is None:
            return
        if known is None:
            warnings.warn(f"X has feature names, but {who} was fitted without feature names")
        elif names is None:
            warnings.warn(
                f"X does not have valid feature names, but {who} was fitted with feature names"
            )
        elif len(known) != len(names) or np.any(known != names):
            message = ("The feature names should match those that were passed during fit.\n")
            unexpected = sorted(set(names) - set(known))
            missing = sorted(set(known) - set(names))
            for title, which in (("unseen at fit time", unexpected),
                                 ("seen at fit time, yet now missing", missing)):
                if which:
                    message += f"Feature names {title}:\n"
                    message += "".join(f"- {name}\n" for name in which[:5])
                    message += "- ...\n" if len(which) > 5 else ""
            if not unexpected and not missing:
                message += "Feature names must be in the same order as they were in fit.\n"
            raise ValueError(message)

    # ---- calls ----

    def _settings(self, progress=None):
        return {
            "threads": threads_of(getattr(self, "n_threads", None)),
            "memory": getattr(self, "memory", None),
            "progress": progress,
            "say": self._say,
        }

    def _precision(self):
        precision = getattr(self, "precision", None)
        known = {None: _options.AUTO, "single": 0, "double": 1}
        if precision not in known:
            raise ValueError(f"precision is {precision!r}, but it must be 'single', 'double' or "
                             "None.")
        return known[precision]

    def _call(self, verb, *arguments):
        """A fit of the library with its progress; what interrupted it is raised by _after."""
        title = type(self).__name__
        with _progress.watch(title, self.verbose, self.callback) as progress:
            found = verb(*arguments, self._settings(progress))
        for told in ("choices", "notes"):
            found[1][told] = self._say(found[1][told])
        _progress.tell(title, found[1], self.verbose)
        return found

    def _fit_items(self, items, options, start=None):
        """The fit; with fewer distinct rows than clusters, some clusters are there twice."""
        data = items.rows.data(items.weights)
        try:
            return self._call(_vem.fit, data, options, start)
        except ValueError as problem:
            distinct = items.distinct(options["clusters"])
            if distinct is None:
                raise
            self._refuse_repeats(problem)
        warnings.warn(
            f"Number of distinct clusters ({distinct}) found smaller than n_clusters "
            f"({options['clusters']}). Possibly due to duplicate points in X.",
            ConvergenceWarning, stacklevel=_words.outside())
        fewer = {**options, "clusters": distinct}
        held = fewer.pop("held", None)
        if held is not None:
            fewer["held"] = min(held, distinct)
        model, report, raised = self._call(_vem.fit, data, fewer, None)
        return _repeat_last(model, options["clusters"]), report, raised

    def _refuse_repeats(self, problem):
        """Raises, where a mixture with clusters that are there twice is no answer."""

    # ---- the model ----

    def _keep(self, model, report):
        """The model as arrays, and what was done."""
        self._state = arrays_of(model)
        self._handle = model
        self._state["labelled"] = False
        self.__dict__.pop("labels_", None)  # those of the fit before
        self.report_ = {k: v for k, v in report.items() if k != "labels"}
        return self._state

    def _warn(self):
        """What the library notes of the fit, as warnings; last, where all attributes are set."""
        _words.warn(self.report_["notes"])

    def _label(self, model):
        """The model with the names of its columns and what was done, as its file has them."""
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else list(names)
        meta = meta_of(self.report_, self._state["normalizes"])
        model.label(names, meta)
        self._state.update(names=names, meta=meta, labelled=True)

    def _attributes(self):
        """Means, weights and variances as the public attributes have them now."""
        raise NotImplementedError

    def _model(self):
        """The library's model of the fitted attributes, made anew where these were changed."""
        check_is_fitted(self)
        changed = {
            name: np.array(value, dtype=np.float64, order="C")
            for name, value in self._attributes().items()
            if not np.array_equal(self._state[name], value)
        }
        for name, value in changed.items():
            if value.shape != self._state[name].shape:
                raise ValueError(f"{name} were changed to the shape {value.shape}, but those of the "
                                 f"model have {self._state[name].shape}.")
        if changed:
            self._state = {**self._state, **changed, "meta": None, "labelled": True}
            self._handle = None
        if not changed and not self._state.get("labelled", True):
            with _labelling:  # of threads that share the estimator, one
                if not self._state.get("labelled", True):
                    self._label(self._handle)
        if getattr(self, "_handle", None) is None:
            self._handle = _vem.model_new(self._state)
        return self._handle

    def __getstate__(self):
        with learning(self):
            return self._pickled()

    def _pickled(self):
        if not getattr(self, "_state", {}).get("labelled", True):
            self._model()
        state = dict(super().__getstate__())
        state.pop("_handle", None)
        stream = state.pop("_stream", None)
        if stream is not None:
            kept = _vem.stream_coreset(stream)
            weights = np.frombuffer(kept.weights, dtype=np.float64)
            state["_streamed"] = (_arrays.gather(kept), weights)
        return state

    # ---- what the model says ----

    def _assign(self, model, rows, top=1, probabilities=False):
        clusters = np.empty((rows.shape[0], top), dtype=np.int32)
        shares = np.empty((rows.shape[0], top)) if probabilities else None
        _vem.assign(model, rows.data(), top, self._precision(), clusters, shares,
                    self._settings())
        return clusters, shares

    def _scores(self, X, sample_weight=None, held=0):
        rows = self._rows(X)
        weights = _arrays.check_weights(sample_weight, rows.shape[0])
        return _vem.score(self._model(), rows.data(weights), held, self._precision(),
                          self._settings())

    def save(self, path):
        """Write the model as the command does: an ``.npz`` that ``numpy.load`` opens.

        Parameters
        ----------
        path : str or path-like
            The file, which is written whole or not at all.
        """
        self._model().write(os.fspath(path))


class Assigns:
    """Methods of a fitted mixture on rows."""

    def predict(self, X):
        """The most probable cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            Index of the cluster of each row.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        return self._assign(self._model(), rows)[0][:, 0]

    def predict_top(self, X, t=1):
        """The ``t`` most probable clusters of each row, with their probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        t : int, default=1
            Clusters for each row.

        Returns
        -------
        probabilities : scipy.sparse.csr_matrix of shape (n_samples, n_clusters)
            Entries of a row are its most probable clusters, the most probable first. They are
            those of the full posterior: their sum is what the t clusters have of it.
        """
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        rows = self._rows(X)
        model = self._model()
        t = _options.check("t", "held", t)
        if t > model.shape[0]:
            raise ValueError(f"t is {t}, but there are {model.shape[0]} clusters.")
        clusters, shares = self._assign(model, rows, t, probabilities=True)
        starts = np.arange(rows.shape[0] + 1, dtype=np.int64) * t
        clusters = np.where(clusters < 0, 0, clusters)
        return csr_matrix((shares.ravel(), clusters.ravel(), starts),
                          shape=(rows.shape[0], model.shape[0]))


def forget_stream(estimator):
    """A fit begins anew: batches that were learned from count no longer."""
    for name in ("_stream", "_streamed"):
        estimator.__dict__.pop(name, None)


def _stream_of(estimator, bucket):
    """The stream of an estimator that learns from batches, new or as it was pickled."""
    found = getattr(estimator, "_stream", None)
    if found is None:
        estimator._seed = seed_of(estimator.random_state)
        normalize = bool(getattr(estimator, "normalize", None))
        words = _options.TABLE["metric"].choices.split("|")
        metric = getattr(estimator, "metric", None) or words[0]
        metric = words.index(_options.check("metric", "metric", metric))
        found = _vem.stream_new(bucket, estimator._seed, normalize, metric)
        kept = estimator.__dict__.pop("_streamed", None)
        if kept is not None:
            _vem.stream_add(found, _arrays.borrow(*kept))
        estimator._stream = found
    return found


def stream(estimator, rows, sample_weight, clusters):
    """Add a batch; the coreset of all batches so far, and its weights."""
    weights = _arrays.check_weights(sample_weight, rows.shape[0])
    if weights is not None and rows.array is not None and (weights >= 0).all():
        rows, weights = Rows.of(rows.array[weights > 0]), weights[weights > 0]
    found = _stream_of(estimator, estimator.coreset_size or max(10_000, 20 * clusters))
    try:
        if rows.shape[0] > 0:
            _vem.stream_add(found, rows.data(weights), estimator._settings())
        kept = _vem.stream_coreset(found)
    except BaseException:
        if not hasattr(estimator, "_state"):  # the first batch: as if it had not come
            forget_stream(estimator)
        raise
    weights = None if kept.weights is None else np.frombuffer(kept.weights, dtype=np.float64)
    return Rows.of(_arrays.gather(kept)), weights


class Probabilities(Assigns):
    """The same of a mixture whose clusters have shares of a row."""

    def predict_proba(self, X):
        """Probabilities of all clusters for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
            Each row adds up to 1.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        out = np.empty((rows.shape[0], len(self.weights_)))
        _vem.posterior(self._model(), rows.data(), self._precision(), out, self._settings())
        return out

    def score_samples(self, X):
        """Log-likelihood of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.

        Returns
        -------
        log_densities : ndarray of shape (n_samples,)
            log p(x) under the mixture.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        out = np.empty(rows.shape[0])
        _vem.log_densities(self._model(), rows.data(), self._precision(), out, self._settings())
        return out
