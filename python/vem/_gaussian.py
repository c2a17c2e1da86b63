"""Mixtures of Gaussians as scikit-learn's users know them."""

import numpy as np

from . import _options, _vem
from ._base import arrays_of
from ._mixture import STEPS, Mixture


def types_of(families):
    """Covariance types: scikit-learn's words, and of other families of the library that have a
    shape their own names."""
    types = {"full": "full", "tied": "full-shared", "diag": "diag", "spherical": "iso",
             "tied-diag": "diag-shared", "tied-spherical": "iso-shared"}
    named = set(types.values())
    types.update((name, name) for name, _, axes, _ in families
                 if axes >= 0 and name not in named)
    return types


FAMILIES = types_of(_vem.families())
# What the library's families are called here.
_TYPES = {family: word for word, family in FAMILIES.items()}
WORDS = {"family": lambda word: repr(_TYPES.get(word, word))}


def word_of(family):
    """What the library's family is called here."""
    return _TYPES.get(family, family)


def family_of(covariance_type):
    """The library's name of a covariance type."""
    if covariance_type in FAMILIES:
        return FAMILIES[covariance_type]
    if covariance_type in FAMILIES.values():
        return covariance_type
    words = ", ".join(repr(word) for word in FAMILIES)
    raise ValueError(f"covariance_type is {covariance_type!r}, but it must be one of {words}.")


def _check_shape(value, shape, name):
    value = np.array(value, dtype=np.float64, order="C")
    if value.shape != shape:
        raise ValueError(
            f"The parameter '{name}' should have the shape of {shape}, but got {value.shape}"
        )
    if not np.isfinite(value).all():
        raise ValueError(f"The parameter '{name}' holds a value that is no number.")
    return value


def _check_weights(weights, n_components):
    weights = _check_shape(weights, (n_components,), "weights")
    if (weights < 0).any() or (weights > 1).any():
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got max value "
            f"{weights.min():.5f}, min value {weights.max():.5f}"  # as scikit-learn words it
        )
    if not np.isclose(weights.sum(), 1.0):
        raise ValueError(
            "The parameter 'weights' should be normalized, but got sum(weights) = "
            f"{weights.sum():.5f}"
        )
    return weights / weights.sum()


def _positive_definite(matrix):
    return np.allclose(matrix, matrix.T) and (np.linalg.eigvalsh(matrix) > 0).all()


def _covariances_of(precisions, covariance_type, shape):
    """Covariances of precisions, which are checked."""
    precisions = _check_shape(precisions, shape, f"{covariance_type} precision")
    if _layout_of(family_of(covariance_type))[0] == 2:
        matrices = precisions.reshape(-1, *precisions.shape[-2:])
        if not all(_positive_definite(matrix) for matrix in matrices):
            raise ValueError(
                f"'{covariance_type} precision' should be symmetric, positive-definite"
            )
        inverses = np.linalg.inv(matrices)
        return ((inverses + inverses.transpose(0, 2, 1)) / 2).reshape(precisions.shape)
    if (precisions <= 0).any():
        raise ValueError(f"'{covariance_type} precision' should be positive")
    return 1 / precisions


def _layout_of(family):
    """How many axes a shape has, and whether the clusters share one."""
    return {row[0]: row[2:] for row in _vem.families()}[family]


def _shape_of(family, clusters, d):
    axes, shared = _layout_of(family)
    return (() if shared else (clusters,)) + (d,) * axes


@_options.estimator(
    own={
        "n_components": 1,
        "covariance_type": "full",
        "tol": 1e-4,
        "reg_covar": 1e-6,
        "max_iter": STEPS,
        "n_init": 1,
        "init_params": "kmeans",
        "weights_init": None,
        "means_init": None,
        "precisions_init": None,
        "random_state": None,
        "warm_start": False,
        "verbose": 0,
        "verbose_interval": 10,
        "algorithm": "auto",
        "callback": None,
    },
    without={"family", "floor", "balance", "metric"},
    choices=WORDS,
)
class GaussianMixture(Mixture):
    """A mixture of Gaussians.

    Parameters
    ----------
    n_components : int, default=1
        Number of clusters.
    covariance_type : {'full', 'tied', 'diag', 'spherical', 'tied-diag', 'tied-spherical'}, \
default='full'
        What a cluster looks like. The names of the command's ``--family`` are taken, too.
    tol : float, default=1e-4
        Ends when a step changes the mean log-likelihood of a row by no more than this times half the
        number of columns (with ``algorithm``, by this share of it), as the command's
        ``--tolerance``.
    reg_covar : float, default=1e-6
        Least variance, as a share of the variance of each column over all rows. (scikit-learn adds
        it to every variance, in the units of the data.)
    max_iter : int, default=300
        Most steps; 0 gives the start back.
    n_init : int, default=1
        Fits from different seeds, of which the best is kept.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data', ...}, default='kmeans'
        How the first means are chosen; 'kmeans' leaves it to the library. Names of the command's
        ``--seeding`` are taken, too.
    weights_init : array-like of shape (n_components,), default=None
        First weights.
    means_init : array-like of shape (n_components, n_features), default=None
        First means.
    precisions_init : array-like, default=None
        First precisions (inverse covariances), in the shape of ``precisions_``.
    random_state : int, RandomState instance or None, default=None
        Seed; a whole number is the command's ``--seed``.
    warm_start : bool, default=False
        Begin with the mixture of the last fit.
    verbose : int, default=0
        1: a bar. 2: also what the fit chose by itself.
    verbose_interval : int, default=10
        Of no effect.
    algorithm : str, default='auto'
        A preset of the command, such as 'gmm', 'kd-em' or 'vc-gmm'.
    callback : callable, default=None
        Called with a dict (phase, step, free_energy, ...) as the fit goes on; True ends the fit.

    Other Parameters
    ----------------
    {options}

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the clusters.
    means_ : ndarray of shape (n_components, n_features)
        Means.
    covariances_ : ndarray
        (n_components, n_features, n_features) for 'full', (n_features, n_features) for 'tied',
        (n_components, n_features) for 'diag', (n_components,) for 'spherical'.
    precisions_, precisions_cholesky_ : ndarray
        Inverse covariances and their Cholesky factors, computed when asked for.
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
        What the library says of the fit: outcome, choices, notes, trace, ...

    Examples
    --------
    >>> import vem
    >>> from sklearn.metrics import adjusted_rand_score
    >>> X, y = vem.generate("separated", n_clusters=3, separation=8, random_state=0)
    >>> gm = vem.GaussianMixture(n_components=3, covariance_type="diag", random_state=0).fit(X)
    >>> gm.means_.shape, gm.converged_
    ((3, 2), True)
    >>> adjusted_rand_score(y, gm.predict(X))
    1.0
    >>> gm.predict_top(X, 1).shape
    (300, 3)
    """

    def _family(self):
        return family_of(self.covariance_type)

    def _options(self, rows):
        options = super()._options(rows)
        least = _options.not_negative("reg_covar", self.reg_covar)
        options["floor"] = min(max(least, 1e-300), 1.0)
        return options

    def _start(self, data, options):
        """A mixture of what was given, the rest from the library's own start; or None."""
        d, n_components = data.shape[1], options["clusters"]
        shape = _shape_of(options["family"], n_components, d)
        given = {}
        if self.weights_init is not None:
            given["weights"] = _check_weights(self.weights_init, n_components)
        if self.means_init is not None:
            given["means"] = _check_shape(self.means_init, (n_components, d), "means")
        if self.precisions_init is not None:
            given["variances"] = _covariances_of(self.precisions_init, self.covariance_type, shape)
        if not given:
            return None
        if len(given) < 3:
            first, _, raised = _vem.fit(data, {**options, "max-steps": 1, "restarts": 1}, None,
                                        self._settings())
            if raised is not None:
                raise raised
            state = arrays_of(first)
        else:
            state = {"family": options["family"], "clusters": n_components, "columns": d}
        return _vem.model_new({**state, **given, "meta": None, "names": None})

    def _first(self, items, options):
        if items.distinct(options["clusters"]) is not None:
            return None
        kmeans = {name: options[name] for name in ("clusters", "seed", "restarts", "seeding",
                                                   "precision", "standardize", "normalize",
                                                   "coreset") if name in options}
        kmeans.update({"family": "iso-shared", "prior": "flat", "held": 1})
        first, _, raised = _vem.fit(items.rows.data(items.weights), kmeans, None,
                                    self._settings())
        if raised is not None:
            raise raised
        return first

    def _refuse_repeats(self, problem):
        if self.reg_covar == 0:
            raise ValueError(
                "Fitting the mixture model failed because some components have ill-defined "
                "empirical covariance (for instance caused by singleton or collapsed samples). "
                "Try to decrease the number of components, or increase reg_covar."
            ) from problem

    def _settle(self):
        self.covariances_ = self._state["variances"].copy()

    def _attributes(self):
        return {**super()._attributes(), "variances": self.covariances_}

    @property
    def precisions_cholesky_(self):
        """Upper factors U of the precisions, U U' = precision (diagonal types: square roots)."""
        covariances = self._fitted_covariances()
        if not self._family().startswith("full"):
            return 1 / np.sqrt(covariances)
        d = covariances.shape[-1]
        lower = np.linalg.cholesky(covariances)
        inverse = np.linalg.solve(lower, np.broadcast_to(np.eye(d), covariances.shape))
        return np.swapaxes(inverse, -1, -2)

    @property
    def precisions_(self):
        """Inverses of the covariances."""
        covariances = self._fitted_covariances()
        if not self._family().startswith("full"):
            return 1 / covariances
        return np.linalg.inv(covariances)

    def _fitted_covariances(self):
        # An AttributeError, as of any attribute that fit would set.
        try:
            return np.asarray(self.__dict__["covariances_"])
        except KeyError:
            raise AttributeError("the mixture has not been fitted.") from None
