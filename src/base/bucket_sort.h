/* Counting sort: what belongs to a bucket together, in the order it had. */
#ifndef VEM_BASE_BUCKET_SORT_H
#define VEM_BASE_BUCKET_SORT_H

#include <stdint.h>

/* n items, those of a list (NULL: 0, 1, ...), by bucket_of[item] - first, which is from 0 on
 * and below `buckets`, of which there is one at least. Bucket b begins at sorted[starts[b]];
 * where the last one ends is not written. */
void vem_i_bucket_sort(const int32_t *bucket_of, int32_t first, const int32_t *list,
                       int32_t n, int32_t buckets, int32_t *starts, int32_t *sorted);

/* The same for who counts and places in a way of its own, also in pieces at the same time:
 * how many of a piece are in a bucket becomes where the first of those goes. Pieces are
 * `stride` apart; `begin`: where the first bucket begins. Placing with places[bucket]++
 * leaves the end of each bucket. */
void vem_i_bucket_places(int64_t *counts, int64_t buckets, int64_t pieces, int64_t stride,
                         int64_t begin);

#endif
