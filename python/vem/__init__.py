"""vem: clustering as maximisation of one free energy."""

from ._kmeans import KMeans
