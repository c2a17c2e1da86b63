"""Irises by mixtures of Gaussians with covariances of several types.

With `from sklearn.mixture import GaussianMixture` in the place of the first import it is the same
program.
"""
from vem import GaussianMixture

from time import perf_counter

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

iris = load_iris()
train, test = next(StratifiedKFold(n_splits=4).split(iris.data, iris.target))
X, y = iris.data[train], iris.target[train]
first = np.array([X[y == i].mean(axis=0) for i in range(3)])

for covariance_type in ("spherical", "diag", "tied", "full"):
    began = perf_counter()
    mixture = GaussianMixture(n_components=3, covariance_type=covariance_type, max_iter=20,
                              random_state=0)
    mixture.means_init = first
    mixture.fit(X)
    right = np.mean(mixture.predict(X) == y), np.mean(
        mixture.predict(iris.data[test]) == iris.target[test])
    print(f"{covariance_type}: likelihood {mixture.score(X):.4f} "
          f"seconds {perf_counter() - began:.3f} "
          f"train {100 * right[0]:.1f} test {100 * right[1]:.1f}")
