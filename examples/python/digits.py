"""Handwritten digits by k-means: from several starts, and from the principal axes.

With `from sklearn.cluster import KMeans` in the place of the first import it is the same program.
"""
from vem import KMeans

from time import perf_counter

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, homogeneity_score, v_measure_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data, truth = load_digits(return_X_y=True)
axes = PCA(n_components=10).fit(StandardScaler().fit_transform(data)).components_

for name, kmeans in (
    ("k-means++", KMeans(n_clusters=10, init="k-means++", n_init=4, random_state=0)),
    ("random", KMeans(n_clusters=10, init="random", n_init=4, random_state=0)),
    ("PCA", KMeans(n_clusters=10, init=axes, n_init=1)),
):
    began = perf_counter()
    found = make_pipeline(StandardScaler(), kmeans).fit(data)[-1]
    print(f"{name}: inertia {found.inertia_:.0f} seconds {perf_counter() - began:.3f} "
          f"homogeneity {homogeneity_score(truth, found.labels_):.3f} "
          f"v-measure {v_measure_score(truth, found.labels_):.3f} "
          f"ARI {adjusted_rand_score(truth, found.labels_):.3f}")
