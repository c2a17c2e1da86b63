#!/usr/bin/env python3
"""scikit-learn's own tests of KMeans and GaussianMixture, with our classes in their place.

The test files are those of the installed scikit-learn, read where they are. Of their tests those
count that use one of our classes; the others test MiniBatchKMeans and private helpers. At least 90 %
of what is public behaviour must pass, and what fails must be among EXPLAINED.
"""

import os
import re
import sys

from package_case import vem

os.environ["SKLEARN_RUN_FLOAT32_TESTS"] = "1"

try:
    import pytest
    import sklearn.cluster
    import sklearn.mixture
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# Not public behaviour: deprecations of scikit-learn's own, and its private helpers and attributes.
ASIDE = {
    r"test_algorithm_auto_full_deprecation_warning": "a deprecation, and the attribute _algorithm",
    r"test_change_n_init_future_warning": "a deprecation",
}
# Public, and other than scikit-learn's.
EXPLAINED = {
    r"test_kmeans_verbose": "the words that verbose=1 prints are ours: step and free energy",
    r"test_kmeans_relocated_clusters": (
        "an empty cluster is put where a draw says, not on the farthest row: the clusters are "
        "right, and it may take a step more"
    ),
}
FEWEST = 150  # tests that use our classes, with Debian's scikit-learn 1.2


class Record:
    """Which tests used our classes, and how they ended."""

    def __init__(self):
        self.used = False
        self.ended = {}
        self.why = {}

    def watch(self, owner, name):
        verb = getattr(owner, name)

        def watched(*arguments, **keywords):
            self.used = True
            return verb(*arguments, **keywords)

        setattr(owner, name, watched)
        return watched

    def pytest_runtest_setup(self, item):
        self.used = False

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and self.used:
            name = report.nodeid.split("::")[-1]
            self.ended[name] = report.outcome
            self.why[name] = str(report.longrepr)[-300:] if report.failed else ""


def reason(name, table):
    return next((why for words, why in table.items() if re.match(words, name)), None)


def main():
    record = Record()
    record.watch(vem._base.Estimator, "_rows")
    sklearn.cluster.KMeans = vem.KMeans
    sklearn.cluster.kmeans_plusplus = record.watch(vem, "kmeans_plusplus")
    sklearn.mixture.GaussianMixture = vem.GaussianMixture
    top = os.path.dirname(sklearn.__file__)
    files = [os.path.join(top, "cluster", "tests", "test_k_means.py"),
             os.path.join(top, "mixture", "tests", "test_gaussian_mixture.py")]
    pytest.main(["-qq", "-p", "no:cacheprovider", "--tb=no", "-rN", "-W", "ignore", *files],
                plugins=[record])
    public = {n: e for n, e in record.ended.items() if not reason(n, ASIDE)}
    passed = sum(ended == "passed" for ended in public.values())
    print(f"scikit-learn {sklearn.__version__}: {len(record.ended)} of its tests use our classes; "
          f"{passed} of {len(public)} that test public behaviour pass "
          f"({100 * passed / max(len(public), 1):.1f} %).")
    wrong = 0
    for name, ended in record.ended.items():
        if ended == "passed":
            continue
        why = reason(name, ASIDE) or reason(name, EXPLAINED)
        print(f"  {ended} {name}: {why or 'NOT EXPLAINED ' + record.why[name]}")
        wrong += why is None
    assert len(record.ended) >= FEWEST, "fewer tests were found than there are"
    assert passed >= 0.9 * len(public)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
