"""Mixtures: of Gaussians, and of families of counts."""

import warnings

import numpy as np
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _arrays, _options, _vem, _words
from ._base import (
    FEW_STEPS, Estimator, Probabilities, forget_stream, learning, seed_of, stream,
)
from ._items import Items

# The command's --max-steps: the default of max_iter, which then is the same number of steps.
STEPS = 300

_SEEDINGS = {"k-means++": "kmeans++", "random_from_data": "random"}


class Mixture(Probabilities, DensityMixin, Estimator):
    """What all mixtures do; the classes say which family, and what a start is."""

    def _family(self):
        raise NotImplementedError

    def _start(self, rows, options):
        return None

    # ---- fit ----

    def _options(self, rows):
        n_components = _options.check("n_components", "clusters", self.n_components)
        if rows.shape[0] < n_components:
            raise ValueError(
                "Expected n_samples >= n_components but got n_components = "
                f"{n_components}, n_samples = {rows.shape[0]}"
            )
        max_iter = self.max_iter
        if max_iter != 0:
            max_iter = _options.check("max_iter", "max-steps", max_iter)
        tol = _options.not_negative("tol", self.tol)
        options = {
            "clusters": n_components,
            "family": self._family(),
            "max-steps": max_iter + (max_iter != STEPS),
            "tolerance": min(tol, 1.0),
            "restarts": _options.check("n_init", "restarts", self.n_init),
            "seed": seed_of(self.random_state),
        }
        if self.algorithm != "auto":
            options["algorithm"] = _options.check("algorithm", "algorithm", self.algorithm)
        if self.init_params != "kmeans":
            seeding = _SEEDINGS.get(self.init_params, self.init_params)
            options["seeding"] = _options.check("init_params", "seeding", seeding)
        if max_iter < FEW_STEPS:
            options["swaps"] = 0
        options.update(_options.given(self))
        return options

    def _fit(self, rows, weights, start=None, reduced=False):
        options = self._options(rows)
        if reduced:
            options.pop("coreset", None)
        if start is None and self.warm_start and hasattr(self, "_state"):
            start = self._model()
        items = Items(rows, weights)
        data = items.rows.data(items.weights)
        if start is None:
            start = self._start(data, options)
        if start is None and self.max_iter < FEW_STEPS and self.algorithm == "auto":
            start = self._first(items, options)
        if start is not None:
            options.update({"restarts": 1, "swaps": 0, **_options.given(self)})
            options.pop("seeding", None)
        return self._take(items, rows, *self._fit_items(items, options, start))

    def _take(self, items, rows, model, report, raised):
        """What a fit found, as attributes; gives the labels of the rows."""
        self._keep(model, report)
        self.weights_ = self._state["weights"].copy()  # a change of them is seen beside it
        self.means_ = self._state["means"].copy()
        self._settle()
        self.converged_ = report["outcome"] == "converged"
        self.n_iter_ = min(report["steps"], self.max_iter)
        self.lower_bound_ = report["free_energy"]
        if raised is not None:
            raise raised
        if report["outcome"] == "step-limit" and self.max_iter > 0:
            warnings.warn(
                f"Initialization {report['restart']} did not converge. Try different init "
                "parameters, or increase max_iter, tol or check for degenerate data.",
                ConvergenceWarning, stacklevel=_words.outside())
        labels = items.labels(report["labels"], lambda: self._assign(model, rows)[0][:, 0])
        self._warn()
        return labels

    def _first(self, items, options):
        """Where few steps begin, so that all of them are steps of the mixture; None: anywhere."""
        return None

    def _settle(self):
        """Further attributes of the family."""

    def _attributes(self):
        return {"means": self.means_, "weights": self.weights_}

    def fit(self, X, y=None, sample_weight=None):
        """Fit the mixture to rows.

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
        self.fit_predict(X, sample_weight=sample_weight)
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit, and give the most probable cluster of each row.

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
        rows = self._rows(X, reset=True, least=2)
        weights = _arrays.check_weights(sample_weight, rows.shape[0])
        forget_stream(self)
        return self._fit(rows, weights)

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from another batch of rows.

        A coreset of all batches so far is kept (``coreset_size`` rows for each doubling of their
        number, 10,000 unless said) and fitted from the mixture there is. That may come from
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
            first = not hasattr(self, "means_")
            rows = self._rows(X, reset=first)
            coreset, weights = stream(self, rows, sample_weight, self.n_components)
            self._fit(coreset, weights, None if first else self._model(), reduced=True)
        return self

    # ---- rows ----

    def score(self, X, y=None, sample_weight=None):
        """Mean log-likelihood of rows, per unit of weight.

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

    def bic(self, X, sample_weight=None):
        """Bayesian information criterion of the mixture on rows; the lower the better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        bic : float
            Parameters times log of the mass, less twice the log-likelihood.
        """
        check_is_fitted(self)
        return self._scores(X, sample_weight)["bic"]

    def aic(self, X, sample_weight=None):
        """Akaike's information criterion of the mixture on rows; the lower the better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        aic : float
            Twice the parameters, less twice the log-likelihood.
        """
        check_is_fitted(self)
        return self._scores(X, sample_weight)["aic"]

    def icl(self, X, sample_weight=None):
        """Integrated completed likelihood on rows; the lower the better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or path of a file
            Rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        icl : float
            BIC and twice the entropy of the posteriors.
        """
        check_is_fitted(self)
        return self._scores(X, sample_weight)["icl"]

    def sample(self, n_samples=1):
        """Rows drawn from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
            How many.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        y : ndarray of shape (n_samples,), int32
            The clusters they were drawn from.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, (int, np.integer)) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least "
                "one sample."
            )
        model = self._model()
        X = np.empty((n_samples, model.shape[1]))
        y = np.empty(n_samples, dtype=np.int32)
        _vem.sample(model, seed_of(self.random_state), n_samples, X, y, self._settings())
        return X, y

    def _n_parameters(self):
        return self._model().parameters
