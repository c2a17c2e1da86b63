"""vem: clustering as maximisation of one free energy.

Estimators, with scikit-learn's names and manners:

    KMeans               each row in the nearest cluster
    GaussianMixture      clusters with shapes, and probabilities
    BernoulliMixture     rows of zeros and ones
    PoissonMixture       rows of counts, by rates
    MultinomialMixture   rows of counts, by shares
    BayesianKMeans       finds the number of clusters, too
    AgglomerativeBayes   a tree of merges

Functions:

    select               find the number of clusters, by several methods
    coreset              a weighted sample that stands for all rows
    kmeans_plusplus      first centers
    describe             what was found, cluster by cluster
    hierarchy            centers under fewer centers, for an index of several levels
    spill                two clusters for each row, for an index with overlapping lists
    update               the model of rows that have changed; clusters keep their numbers
    read                 a file with its columns chosen: a Table, taken where arrays are
    load, save           models and trees, in the files of the command ``vem``
    generate             rows of known clusters

What is good to know about a fit is a VemWarning.

Where an array is taken, so is the path of a file that the command reads (``.npy`` is mapped, and may
be larger than memory), a data frame, a DLPack tensor on the CPU or an Arrow table; float32, float64
and uint8 arrays and memory-maps are not copied. ``random_state=7`` gives the bits of the command's
``--seed 7``, on any number of threads. Threads may fit at once: nothing is shared.

>>> import vem
>>> X, y = vem.generate("separated", n_clusters=4, n_features=3, random_state=0)
>>> km = vem.KMeans(n_clusters=4, random_state=0).fit(X)
>>> km.cluster_centers_.shape
(4, 3)
"""

import os as _os

# Threads that wait for work sleep soon, as those of the command do: beside other work, spinning takes
# the time of those that are waited for. OpenMP's library asks once, when it is loaded; where someone
# loaded it before (scikit-learn does), or the user said how, it stays as it is.
_patient = not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & set(_os.environ)
if _patient:
    _os.environ["GOMP_SPINCOUNT"] = "10000"
try:
    from . import _vem
finally:
    if _patient:
        del _os.environ["GOMP_SPINCOUNT"]

from ._bayes import BayesianKMeans, select
from ._counts import BernoulliMixture, MultinomialMixture, PoissonMixture
from ._functions import coreset, describe, generate, kmeans_plusplus, load, save
from ._gaussian import GaussianMixture
from ._index import hierarchy, spill, update
from ._kmeans import KMeans
from ._table import Table, read
from ._tree import AgglomerativeBayes
from ._words import VemWarning

__version__ = _vem.version()
__all__ = [
    "AgglomerativeBayes",
    "BayesianKMeans",
    "BernoulliMixture",
    "GaussianMixture",
    "KMeans",
    "MultinomialMixture",
    "PoissonMixture",
    "Table",
    "VemWarning",
    "coreset",
    "describe",
    "generate",
    "hierarchy",
    "kmeans_plusplus",
    "load",
    "read",
    "save",
    "select",
    "spill",
    "update",
]
