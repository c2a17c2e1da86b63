# Made by scripts/stubs.py: do not change by hand.
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix  # type: ignore
from sklearn.base import (  # type: ignore
    BaseEstimator, ClusterMixin, DensityMixin, TransformerMixin,
)

Path = str | PathLike[str]
Rows = Any  # an array, a frame, a sparse matrix, an Arrow table, a Table, or a Path (or several)
Columns = str | int | Sequence[str | int] | None
Seed = int | np.random.RandomState | None

__version__: str
__all__: list[str]

class AgglomerativeBayes(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    labels_: NDArray[Any]
    n_clusters_: int
    linkage_: NDArray[Any]
    children_: NDArray[Any]
    distances_: NDArray[Any]
    delta_: NDArray[Any]
    log_evidence_: NDArray[Any]
    n_leaves_: int
    n_connected_components_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: str = "bayes",
        covariance_type: str = "full",
        n_leaves: int | None = None,
        random_state: Seed = 1,
        prior_strength: float | None = None,
        prior_dof: float | None = None,
        prior_count: float | None = None,
        prior_mean: ArrayLike | None = None,
        prior_scale: ArrayLike | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        precision: Literal["single", "double"] | None = None,
        standardize: bool | None = None,
        normalize: bool | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        time: float | None = None,
    ) -> None: ...
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> AgglomerativeBayes: ...
    def fit_predict(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int32]: ...
    def save(self, path: Path) -> None: ...

class BayesianKMeans(TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    n_clusters_: int
    covariance_type_: str
    cluster_centers_: NDArray[Any]
    covariances_: NDArray[Any]
    weights_: NDArray[Any]
    labels_: NDArray[Any]
    objective_: float
    path_: list[dict[str, Any]]
    stability_: dict[str, Any]
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: dict[str, Any]
    def __init__(
        self,
        max_clusters: int | None = None,
        *,
        min_clusters: int = 1,
        method: str = "bayes",
        covariance_type: str = "full",
        tol: float = 0.0001,
        max_iter: int = 300,
        random_state: Seed = None,
        prior_strength: float | None = None,
        prior_dof: float | None = None,
        prior_count: float | None = None,
        prior_mean: ArrayLike | None = None,
        prior_scale: ArrayLike | None = None,
        holdout: float = 0.0,
        stability: int = 0,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        prior: Literal["flat", "free", "even"] | None = None,
        floor: float | None = None,
        precision: Literal["single", "double"] | None = None,
        standardize: bool | None = None,
        normalize: bool | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        time: float | None = None,
    ) -> None: ...
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> BayesianKMeans: ...
    def fit_predict(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int32]: ...
    def fit_transform(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...
    def pick(self, n_clusters: int) -> BayesianKMeans: ...
    def predict(self, X: Rows) -> NDArray[np.int32]: ...
    def predict_proba(self, X: Rows) -> NDArray[np.float64]: ...
    def predict_top(self, X: Rows, t: int = 1) -> csr_matrix: ...
    def save(self, path: Path) -> None: ...
    def score(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float: ...
    def score_samples(self, X: Rows) -> NDArray[np.float64]: ...
    def transform(self, X: Rows) -> Any: ...

class BernoulliMixture(DensityMixin, BaseEstimator):  # type: ignore[misc]
    means_: NDArray[Any]
    weights_: NDArray[Any]
    converged_: bool
    n_iter_: int
    lower_bound_: float
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: dict[str, Any]
    def __init__(
        self,
        n_components: int = 1,
        *,
        tol: float = 1e-06,
        max_iter: int = 300,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        algorithm: str = "auto",
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        binarize: float | None = 0.0,
        prior: Literal["flat", "free", "even"] | None = None,
        search: Literal["all", "closest", "exact", "estimated", "groups", "boxes"] | None = None,
        n_held: int | None = None,
        n_reach: int | None = None,
        n_explore: int | None = None,
        n_probe: int | None = None,
        n_swaps: int | None = None,
        finish: Literal["soft", "hard"] | None = None,
        margin: float | None = None,
        coreset_size: int | None = None,
        n_blocks: int | None = None,
        chain_length: int | None = None,
        n_init_steps: int | None = None,
        empty: Literal["keep", "drop", "reseed"] | None = None,
        floor: float | None = None,
        precision: Literal["single", "double"] | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        time: float | None = None,
    ) -> None: ...
    def aic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def bic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> BernoulliMixture: ...
    def fit_predict(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int32]: ...
    def icl(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def partial_fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> BernoulliMixture: ...
    def predict(self, X: Rows) -> NDArray[np.int32]: ...
    def predict_proba(self, X: Rows) -> NDArray[np.float64]: ...
    def predict_top(self, X: Rows, t: int = 1) -> csr_matrix: ...
    def sample(
        self,
        n_samples: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
    def save(self, path: Path) -> None: ...
    def score(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float: ...
    def score_samples(self, X: Rows) -> NDArray[np.float64]: ...

class GaussianMixture(DensityMixin, BaseEstimator):  # type: ignore[misc]
    weights_: NDArray[Any]
    means_: NDArray[Any]
    covariances_: NDArray[Any]
    precisions_: NDArray[Any]
    precisions_cholesky_: NDArray[Any]
    converged_: bool
    n_iter_: int
    lower_bound_: float
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: dict[str, Any]
    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 0.0001,
        reg_covar: float = 1e-06,
        max_iter: int = 300,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        algorithm: str = "auto",
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        prior: Literal["flat", "free", "even"] | None = None,
        search: Literal["all", "closest", "exact", "estimated", "groups", "boxes"] | None = None,
        n_held: int | None = None,
        n_reach: int | None = None,
        n_explore: int | None = None,
        n_probe: int | None = None,
        n_swaps: int | None = None,
        finish: Literal["soft", "hard"] | None = None,
        margin: float | None = None,
        coreset_size: int | None = None,
        n_cells: int | None = None,
        depth: int | None = None,
        n_expand: int | None = None,
        gap: float | None = None,
        n_blocks: int | None = None,
        tau: float | None = None,
        chain_length: int | None = None,
        n_init_steps: int | None = None,
        empty: Literal["keep", "drop", "reseed"] | None = None,
        precision: Literal["single", "double"] | None = None,
        standardize: bool | None = None,
        normalize: bool | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        time: float | None = None,
    ) -> None: ...
    def aic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def bic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> GaussianMixture: ...
    def fit_predict(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int32]: ...
    def icl(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def partial_fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> GaussianMixture: ...
    def predict(self, X: Rows) -> NDArray[np.int32]: ...
    def predict_proba(self, X: Rows) -> NDArray[np.float64]: ...
    def predict_top(self, X: Rows, t: int = 1) -> csr_matrix: ...
    def sample(
        self,
        n_samples: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
    def save(self, path: Path) -> None: ...
    def score(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float: ...
    def score_samples(self, X: Rows) -> NDArray[np.float64]: ...

class KMeans(TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    cluster_centers_: NDArray[Any]
    labels_: NDArray[Any]
    inertia_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: dict[str, Any]
    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike | Callable[..., ArrayLike] = "k-means++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 300,
        tol: float = 0.0001,
        verbose: int = 0,
        random_state: Seed = None,
        copy_x: bool = True,
        algorithm: str = "auto",
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        search: Literal["all", "closest", "exact", "estimated", "groups", "boxes"] | None = None,
        n_held: int | None = None,
        n_reach: int | None = None,
        n_explore: int | None = None,
        n_probe: int | None = None,
        n_swaps: int | None = None,
        finish: Literal["soft", "hard"] | None = None,
        margin: float | None = None,
        coreset_size: int | None = None,
        n_cells: int | None = None,
        depth: int | None = None,
        n_expand: int | None = None,
        chain_length: int | None = None,
        n_init_steps: int | None = None,
        empty: Literal["keep", "drop", "reseed"] | None = None,
        precision: Literal["single", "double"] | None = None,
        standardize: bool | None = None,
        normalize: bool | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        balance: float | Literal["none", "soft", "auto"] | None = None,
        metric: Literal["l2", "cosine"] | None = None,
    ) -> None: ...
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> KMeans: ...
    def fit_predict(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int32]: ...
    def fit_transform(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any: ...
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...
    def partial_fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> KMeans: ...
    def predict(self, X: Rows) -> NDArray[np.int32]: ...
    def predict_top(self, X: Rows, t: int = 1) -> csr_matrix: ...
    def save(self, path: Path) -> None: ...
    def score(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float: ...
    def transform(self, X: Rows) -> Any: ...

class MultinomialMixture(DensityMixin, BaseEstimator):  # type: ignore[misc]
    means_: NDArray[Any]
    weights_: NDArray[Any]
    converged_: bool
    n_iter_: int
    lower_bound_: float
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: dict[str, Any]
    def __init__(
        self,
        n_components: int = 1,
        *,
        tol: float = 1e-06,
        max_iter: int = 300,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        algorithm: str = "auto",
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        prior: Literal["flat", "free", "even"] | None = None,
        search: Literal["all", "closest", "exact", "estimated", "groups", "boxes"] | None = None,
        n_held: int | None = None,
        n_reach: int | None = None,
        n_explore: int | None = None,
        n_probe: int | None = None,
        n_swaps: int | None = None,
        finish: Literal["soft", "hard"] | None = None,
        margin: float | None = None,
        coreset_size: int | None = None,
        n_blocks: int | None = None,
        chain_length: int | None = None,
        n_init_steps: int | None = None,
        empty: Literal["keep", "drop", "reseed"] | None = None,
        floor: float | None = None,
        precision: Literal["single", "double"] | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        time: float | None = None,
    ) -> None: ...
    def aic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def bic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> MultinomialMixture: ...
    def fit_predict(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int32]: ...
    def icl(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def partial_fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> MultinomialMixture: ...
    def predict(self, X: Rows) -> NDArray[np.int32]: ...
    def predict_proba(self, X: Rows) -> NDArray[np.float64]: ...
    def predict_top(self, X: Rows, t: int = 1) -> csr_matrix: ...
    def sample(
        self,
        n_samples: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
    def save(self, path: Path) -> None: ...
    def score(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float: ...
    def score_samples(self, X: Rows) -> NDArray[np.float64]: ...

class PoissonMixture(DensityMixin, BaseEstimator):  # type: ignore[misc]
    means_: NDArray[Any]
    weights_: NDArray[Any]
    converged_: bool
    n_iter_: int
    lower_bound_: float
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    report_: dict[str, Any]
    def __init__(
        self,
        n_components: int = 1,
        *,
        tol: float = 1e-06,
        max_iter: int = 300,
        n_init: int = 1,
        init_params: str = "kmeans",
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        algorithm: str = "auto",
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        prior: Literal["flat", "free", "even"] | None = None,
        search: Literal["all", "closest", "exact", "estimated", "groups", "boxes"] | None = None,
        n_held: int | None = None,
        n_reach: int | None = None,
        n_explore: int | None = None,
        n_probe: int | None = None,
        n_swaps: int | None = None,
        finish: Literal["soft", "hard"] | None = None,
        margin: float | None = None,
        coreset_size: int | None = None,
        n_blocks: int | None = None,
        chain_length: int | None = None,
        n_init_steps: int | None = None,
        empty: Literal["keep", "drop", "reseed"] | None = None,
        floor: float | None = None,
        precision: Literal["single", "double"] | None = None,
        n_threads: int | None = None,
        memory: int | str | None = None,
        time: float | None = None,
    ) -> None: ...
    def aic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def bic(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> PoissonMixture: ...
    def fit_predict(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.int32]: ...
    def icl(self, X: Rows, sample_weight: ArrayLike | None = None) -> float: ...
    def partial_fit(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> PoissonMixture: ...
    def predict(self, X: Rows) -> NDArray[np.int32]: ...
    def predict_proba(self, X: Rows) -> NDArray[np.float64]: ...
    def predict_top(self, X: Rows, t: int = 1) -> csr_matrix: ...
    def sample(
        self,
        n_samples: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
    def save(self, path: Path) -> None: ...
    def score(
        self,
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float: ...
    def score_samples(self, X: Rows) -> NDArray[np.float64]: ...

class Table:
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    columns: NDArray[Any] | None
    n_rows_read: int
    @property
    def rows(self) -> NDArray[np.int64]: ...
    @property
    def ndim(self) -> int: ...
    def __len__(self) -> int: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __getitem__(self, key: Any) -> NDArray[Any]: ...

class VemWarning(UserWarning): ...

def coreset(
    X: Rows,
    size: int,
    *,
    method: str = "lightweight",
    sample_weight: ArrayLike | None = None,
    random_state: Seed = None,
    n_threads: int | None = None,
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]: ...
def describe(
    estimator: BaseEstimator,
    X: Rows = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> list[dict[str, Any]]: ...
def generate(
    kind: str,
    *,
    n_clusters: int,
    n_features: int = 2,
    n_samples: int | None = None,
    separation: float | None = None,
    box: float | None = None,
    random_state: Seed = None,
    return_centers: bool = False,
) -> tuple[NDArray[Any], ...]: ...
def hierarchy(
    estimator: BaseEstimator,
    *,
    n_levels: NoneType = None,
    random_state: Seed = None,
) -> None: ...
def kmeans_plusplus(
    X: Rows,
    n_clusters: int,
    *,
    sample_weight: ArrayLike | None = None,
    x_squared_norms: ArrayLike | None = None,
    random_state: Seed = None,
    n_local_trials: int | None = None,
    seeding: str | None = None,
    n_threads: int | None = None,
) -> tuple[NDArray[Any], NDArray[np.int64]]: ...
def load(path: Path) -> BaseEstimator: ...
def read(
    path: Path | Sequence[Path],
    *,
    columns: Columns = None,
    skip: Columns = None,
    header: bool | None = None,
    decimal: Literal[".", ","] | None = None,
    missing: Literal["error", "drop", "mean"] = "error",
    memory: int | str | None = None,
    n_threads: int | None = None,
) -> Table: ...
def save(estimator: BaseEstimator, path: Path) -> None: ...
def select(
    X: Rows,
    *,
    method: str = "bayes",
    min_clusters: int = 1,
    max_clusters: int | None = None,
    covariance_type: str = "full",
    sample_weight: ArrayLike | None = None,
    random_state: Seed = None,
    prior: dict[str, Any] | None = None,
    n_threads: int | None = None,
    holdout: float = 0.0,
    stability: int = 0,
    time: NoneType = None,
    memory: NoneType = None,
) -> BayesianKMeans: ...
def spill(estimator: BaseEstimator, X: Rows, weight: float = 1.0) -> None: ...
def update(
    estimator: BaseEstimator,
    X: Rows,
    *,
    sample_weight: ArrayLike | None = None,
) -> None: ...
