#include "base/bucket_sort.h"

#include <string.h>

void vem_i_bucket_places(int64_t *counts, int64_t buckets, int64_t pieces, int64_t stride,
                         int64_t begin)
{
    for (int64_t b = 0; b < buckets; b++)
        for (int64_t piece = 0; piece < pieces; piece++) {
            int64_t *place = &counts[piece * stride + b], count = *place;
            *place = begin;
            begin += count;
        }
}

void vem_i_bucket_sort(const int32_t *bucket_of, int32_t first, const int32_t *list,
                       int32_t n, int32_t buckets, int32_t *starts, int32_t *sorted)
{
    memset(starts, 0, (size_t)buckets * sizeof *starts);
    for (int32_t i = 0; i < n; i++)
        starts[bucket_of[list ? list[i] : i] - first]++;
    for (int32_t b = 0, begin = 0; b < buckets; b++) {
        int32_t count = starts[b];
        starts[b] = begin;
        begin += count;
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t item = list ? list[i] : i;
        sorted[starts[bucket_of[item] - first]++] = item;
    }
    /* Placing moved every start to that of the next bucket. */
    memmove(starts + 1, starts, (size_t)(buckets - 1) * sizeof *starts);
    starts[0] = 0;
}
