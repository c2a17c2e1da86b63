#!/usr/bin/env python3
"""One whole fit by a peer, seeding included; prints a JSON object. Called by the benchmarks.

    peer_fits.py faiss     DATA.npy C SEED MEANS.npy ITERATIONS POINTS
    peer_fits.py curve     DATA.npy C SEED MEANS.npy POINTS ITERATIONS...   FAISS, growing
    peer_fits.py lloyd     DATA.npy C SEED MEANS.npy ITERATIONS     scikit-learn's KMeans
    peer_fits.py elkan     DATA.npy C SEED MEANS.npy ITERATIONS
    peer_fits.py minibatch DATA.npy C SEED MEANS.npy EPOCHS         MiniBatchKMeans

POINTS is the most rows a center that FAISS trains on (its own default is 256), 0 for all rows.
`curve` goes on from the means of one number of iterations to the next, and gives the seconds and
the means after each of them.
"seconds" is the wall time of the call that fits, without reading or the conversion to single
precision. For FAISS there is "iteration" besides: the mean seconds of the iterations after the
first, by its own clock, and "first", those of everything before the end of the first; both only
with two iterations or more. The means are written for one exact evaluator to judge. Each runs
in a process of its own because the environment settles the number of threads.
"""

import json
import os
import sys
import time
import warnings

import numpy as np


def faiss_train(rows, clusters, seed, iterations, points, means=None):
    """The fit and its seconds, from given means or FAISS's own start."""
    import faiss

    faiss.omp_set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    fit = faiss.Kmeans(rows.shape[1], clusters, niter=iterations, nredo=1, seed=seed,
                       min_points_per_centroid=1,
                       max_points_per_centroid=points or len(rows))
    start = time.perf_counter()
    fit.train(rows, init_centroids=means)
    return fit, time.perf_counter() - start


def faiss_curve(rows, clusters, seed, points, *efforts):
    done, passed, seconds, curve, means = 0, 0.0, [], [], None
    for effort in efforts:
        fit, taken = faiss_train(rows, clusters, seed, effort - done, points, means)
        done, passed, means = effort, passed + taken, fit.centroids
        seconds.append(passed)
        curve.append(means.copy())
    return {"seconds": seconds}, np.stack(curve)


def faiss_fit(rows, clusters, seed, iterations, points):
    fit, taken = faiss_train(rows, clusters, seed, iterations, points)
    done = {"seconds": taken}
    # Its clock starts before the loop and is read at the end of each iteration.
    times = [step["time"] for step in fit.iteration_stats]
    if len(times) > 1:
        done["iteration"] = (times[-1] - times[0]) / (len(times) - 1)
        done["first"] = done["seconds"] - (times[-1] - times[0])
    return done, fit.centroids


def sklearn_fit(algorithm):
    def run(rows, clusters, seed, iterations):
        from sklearn.cluster import KMeans

        fit = KMeans(clusters, n_init=1, max_iter=iterations, tol=0, algorithm=algorithm,
                     random_state=seed)
        start = time.perf_counter()
        fit.fit(rows)
        return {"seconds": time.perf_counter() - start}, fit.cluster_centers_
    return run


def minibatch_fit(rows, clusters, seed, epochs):
    from sklearn.cluster import MiniBatchKMeans

    # Batches of at least the clusters, as its warning for large C asks.
    fit = MiniBatchKMeans(clusters, n_init=1, max_iter=epochs, random_state=seed,
                          batch_size=max(4096, 2 * clusters))
    start = time.perf_counter()
    fit.fit(rows)
    return {"seconds": time.perf_counter() - start}, fit.cluster_centers_


FITS = {"faiss": faiss_fit, "curve": faiss_curve, "lloyd": sklearn_fit("lloyd"),
        "elkan": sklearn_fit("elkan"), "minibatch": minibatch_fit}


def main():
    warnings.filterwarnings("ignore")
    peer, data, clusters, seed, output = sys.argv[1:6]
    # Touched once and in this process, as a caller's array would be.
    rows = np.ascontiguousarray(np.load(data), np.float32)
    done, means = FITS[peer](rows, int(clusters), int(seed), *map(int, sys.argv[6:]))
    np.save(output, means)
    print(json.dumps(done))


if __name__ == "__main__":
    main()
