"""A picture in 64 colors instead of 97,000, by k-means of some of its pixels.

With `from sklearn.cluster import KMeans` in the place of the first import it is the same program.
"""
from vem import KMeans

from time import perf_counter

import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.utils import shuffle

picture = np.array(load_sample_image("china.jpg"), dtype=np.float64) / 255
pixels = picture.reshape(-1, 3)
sample = shuffle(pixels, random_state=0, n_samples=1000)

began = perf_counter()
kmeans = KMeans(n_clusters=64, n_init=1, random_state=0).fit(sample)
fitted = perf_counter()
labels = kmeans.predict(pixels)
print(f"64 colors: inertia {kmeans.inertia_:.4f} seconds {fitted - began:.3f} "
      f"predicted {perf_counter() - fitted:.3f}")
painted = kmeans.cluster_centers_[labels].reshape(picture.shape)
print(f"mean squared error {np.mean((painted - picture) ** 2):.6f}")
