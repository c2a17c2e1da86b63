#!/usr/bin/env python3
"""One fit of few clusters by a peer with its defaults, one start; called by few.py.

    few_peers.py kmeans|diag|full|faiss DATA.npy C SEED MODEL.npz

Prints the processor seconds of the call that fits and leaves a model file for the evaluator.
"""

import json
import sys
import time
import warnings

import numpy as np

import common


def kmeans(rows, clusters, seed):
    from sklearn.cluster import KMeans

    fit = KMeans(clusters, n_init=1, random_state=seed)
    return lambda: fit.fit(rows), lambda: (fit.cluster_centers_, [1.0], None)


def faiss(rows, clusters, seed):
    from faiss import Kmeans

    fit = Kmeans(rows.shape[1], clusters, seed=seed)
    return lambda: fit.train(rows), lambda: (fit.centroids, [1.0], None)


def mixture(family):
    def prepare(rows, clusters, seed):
        from sklearn.mixture import GaussianMixture

        fit = GaussianMixture(clusters, covariance_type=family, random_state=seed)
        return (lambda: fit.fit(rows),
                lambda: (fit.means_, fit.covariances_, fit.weights_))
    return prepare


FITS = {"kmeans": kmeans, "faiss": faiss, "diag": mixture("diag"), "full": mixture("full")}


def main():
    warnings.filterwarnings("ignore")
    peer, path, clusters, seed, model = sys.argv[1:]
    rows = np.ascontiguousarray(np.load(path))
    if peer in ("kmeans", "faiss"):
        rows = rows.astype(np.float32)
    run, result = FITS[peer](rows, int(clusters), int(seed))
    start = time.process_time()
    run()
    seconds = time.process_time() - start
    common.write_model(model, *result())
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
