#!/usr/bin/env python3
"""Every check of scikit-learn's check_estimator, for each estimator, none skipped.

The numbers are those of Debian's scikit-learn 1.2; newer ones have more. The mixtures of counts are
checked with four clusters: the check of sparse rows takes whatever has predict_proba for a
classifier of its four classes. (scikit-learn's own mixtures take no sparse rows.)
"""
import warnings

from package_case import vem

from sklearn import __version__ as version
from sklearn.utils.estimator_checks import check_estimator

CHECKS = [
    (vem.KMeans(), 44),
    (vem.GaussianMixture(), 35),
    (vem.BayesianKMeans(), 44),
    (vem.AgglomerativeBayes(), 40),
    (vem.BernoulliMixture(n_components=4), 35),
    (vem.PoissonMixture(n_components=4), 36),
    (vem.MultinomialMixture(n_components=4), 36),
]


def main():
    total = wrong = 0
    old = tuple(map(int, version.split(".")[:2])) == (1, 2)
    for estimator, least in CHECKS:
        name, count = type(estimator).__name__, 0
        for instance, check in check_estimator(estimator, generate_only=True):
            count += 1
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(instance)
            except BaseException as problem:  # a check that is skipped raises, too
                wrong += 1
                print(f"{name}: {getattr(check, 'func', check).__name__}: {problem!r}")
        print(f"{name}: {count} checks")
        if count < least or (old and count != least):
            wrong += 1
            print(f"{name}: {count} checks, but there should be {least}")
        total += count
    print(f"{total} checks of scikit-learn {version}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
