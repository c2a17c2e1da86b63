"""What the tests of the Python package share. The package is the one of the build tree; where it was
not built (no Python.h) or NumPy or scikit-learn are not there, tests are skipped."""
import os
import subprocess
import sys
import tempfile
import unittest

VEM = os.environ.get("VEM", "build/vem")
SOURCE = os.environ.get("VEM_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(os.path.dirname(os.path.abspath(VEM)), "python")
LIMIT = 1500  # seconds after which a command hangs
sys.path.insert(0, PACKAGE)
# Tests run beside each other: threads that wait sleep, and those of BLAS are not needed.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

try:
    import numpy as np
    import sklearn  # noqa: F401

    import vem
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def command(*arguments):
    """Runs the command; gives what it printed."""
    done = subprocess.run([VEM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(text, *arguments, **keywords):
    """Runs a Python program of its own with the package."""
    return subprocess.run([sys.executable, "-c", text, *map(str, arguments)],
                          capture_output=True, text=True, timeout=LIMIT, check=False,
                          env=dict(os.environ, PYTHONPATH=PACKAGE), **keywords)


def blobs(n=1000, d=8, clusters=8, seed=0, dtype=np.float64):
    rng = np.random.RandomState(seed)
    centers = rng.normal(size=(clusters, d)) * 4
    return (centers[rng.randint(clusters, size=n)] + rng.normal(size=(n, d))).astype(dtype)


def counts(n=300, d=6, seed=0):
    rng = np.random.RandomState(seed)
    rates = rng.gamma(1, 3, size=(3, d))
    return rng.poisson(rates[rng.randint(3, size=n)])


class Case(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def same(self, a, b, words=None):
        self.assertEqual(np.asarray(a).shape, np.asarray(b).shape, words)
        self.assertTrue(np.array_equal(a, b), words)

    def estimators(self, random_state=0):
        """One of each kind, with rows that suit it."""
        X, N = blobs(300, 3, 3), counts()
        return [
            (vem.KMeans(3, random_state=random_state), X),
            (vem.GaussianMixture(3, random_state=random_state), X),
            (vem.BayesianKMeans(6, random_state=random_state), X),
            (vem.AgglomerativeBayes(3, random_state=random_state), X[:60]),
            (vem.BernoulliMixture(3, random_state=random_state, binarize=2), N),
            (vem.PoissonMixture(3, random_state=random_state), N),
            (vem.MultinomialMixture(3, random_state=random_state), N),
        ]


def main():
    unittest.main(verbosity=1)
