#!/usr/bin/env python3
"""One fit by a peer, timed per iteration; prints a JSON object. Called by the benchmarks.

    peers.py faiss-kmeans   DATA.npy START.npz ITERATIONS MEANS.npy
    peers.py sklearn-kmeans DATA.npy START.npz ITERATIONS MEANS.npy
    peers.py sklearn-gmm    DATA.npy START.npz ITERATIONS diag|full

"seconds" is the mean over the iterations after the first, so that whatever is paid once (its
start-up, the first touch of memory) does not count. Each runs in a process of its own because
the number of threads is settled by the environment (see common.peer). The means after all
iterations are written, so that one exact evaluator can judge everyone's; the likelihood of a
mixture is that of the model with one update less, as `vem fit --max-steps ITERATIONS` has it.
"""

import json
import os
import sys
import time
import warnings

import numpy as np


def mean_interval(times):
    """Seconds between consecutive times, without the first interval."""
    return (times[-1] - times[1]) / (len(times) - 2)


def faiss_kmeans(rows, start, iterations, output):
    import faiss

    faiss.omp_set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    means = np.ascontiguousarray(start["means"], np.float32)
    # Every row takes part (FAISS samples 256 rows a center otherwise).
    fit = faiss.Kmeans(rows.shape[1], len(means), niter=iterations, nredo=1,
                       min_points_per_centroid=1, max_points_per_centroid=len(rows))
    fit.train(rows, init_centroids=means)
    # Its clock starts with the loop and is read at the end of each iteration.
    times = [0.0] + [step["time"] for step in fit.iteration_stats]
    np.save(output, fit.centroids)
    return {"seconds": mean_interval(times)}


def sklearn_kmeans(rows, start, iterations, output):
    from sklearn.cluster import KMeans, _kmeans

    times = []
    iterate = _kmeans.lloyd_iter_chunked_dense

    def timed(*arguments, **named):
        times.append(time.perf_counter())
        return iterate(*arguments, **named)

    _kmeans.lloyd_iter_chunked_dense = timed
    means = np.ascontiguousarray(start["means"], np.float32)
    fit = KMeans(len(means), init=means, n_init=1, max_iter=iterations, tol=0,
                 algorithm="lloyd", copy_x=True)
    fit.fit(rows)
    np.save(output, fit.cluster_centers_)
    # The last call is an assignment without an update, and only its start is used.
    return {"seconds": mean_interval(times)}


def sklearn_gmm(rows, start, iterations, family):
    from sklearn.mixture import GaussianMixture

    times = []

    class Timed(GaussianMixture):
        def _e_step(self, X):
            times.append(time.perf_counter())
            return super()._e_step(X)

    variances = start["variances"]
    precisions = np.linalg.inv(variances) if family == "full" else 1 / variances
    # "random" draws the responsibilities that the given start then replaces: no k-means.
    fit = Timed(len(start["means"]), covariance_type=family, tol=0, reg_covar=0,
                max_iter=iterations, init_params="random", random_state=0,
                means_init=start["means"], weights_init=start["weights"],
                precisions_init=precisions)
    fit.fit(np.asarray(rows, np.float64))
    return {"seconds": mean_interval(times), "log_likelihood": float(fit.lower_bound_)}


def main():
    warnings.filterwarnings("ignore")
    peer, data, start, iterations = sys.argv[1:5]
    rows = np.load(data)
    # Touched once and in this process, as a caller's array would be.
    rows = np.ascontiguousarray(rows)
    fits = {"faiss-kmeans": faiss_kmeans, "sklearn-kmeans": sklearn_kmeans,
            "sklearn-gmm": sklearn_gmm}
    print(json.dumps(fits[peer](rows, np.load(start), int(iterations), *sys.argv[5:])))


if __name__ == "__main__":
    main()
