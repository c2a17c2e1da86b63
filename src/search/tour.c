/* A counting sort in fixed pieces: each counts and places its own items, so the order is
 * that of the items whatever the threads. */
#include "search/tour.h"

#include <string.h>

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { PIECES = 16 };

/* Items as they lie. */
static void reset(vem_i_tour *tour)
{
    for (int64_t i = 0; i < tour->n; i++)
        tour->items[i] = (uint32_t)(tour->first + i);
    memset(tour->starts, 0, ((size_t)tour->clusters + 1) * sizeof *tour->starts);
}

vem_status vem_i_tour_of(vem_i_run *run, int64_t first, int64_t n, int32_t clusters,
                         vem_i_tour *tour)
{
    if (first + n > UINT32_MAX && !run->counted)
        return vem_i_fail(
            run, VEM_UNSUPPORTED,
            "Rows can be put in another order where there are 4294967295 at "
            "most, but there are %lld: use --coreset.",
            (long long)(first + n));
    vem_i_tour made = {.run = run, .first = first, .n = n, .clusters = clusters};
    size_t columns = (size_t)clusters + 1;
    vem_status status = vem_i_take(run, &made.items, (size_t)n, sizeof(uint32_t));
    if (status == VEM_OK)
        status = vem_i_take(run, &made.starts, columns, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(run, &made.counts, PIECES, columns * sizeof(int64_t));
    if (status != VEM_OK) {
        vem_i_tour_free(&made);
        return status;
    }
    *tour = made;
    if (!run->counted)
        reset(tour);
    return VEM_OK;
}

vem_status vem_i_tour_new(vem_i_run *run, int64_t n, int32_t clusters, vem_i_tour *tour)
{
    return vem_i_tour_of(run, 0, n, clusters, tour);
}

void vem_i_tour_free(vem_i_tour *tour)
{
    vem_i_free(tour->items);
    vem_i_free(tour->starts);
    vem_i_free(tour->counts);
    memset(tour, 0, sizeof *tour);
}

static int64_t column_of(const vem_i_tour *t, int64_t item)
{
    int32_t cluster = t->held[item * t->width];
    return cluster < 0 ? t->clusters : t->rank[cluster];
}

static void count_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    vem_i_tour *t = arg;
    int64_t *counts = t->counts + piece * (t->clusters + 1);
    memset(counts, 0, ((size_t)t->clusters + 1) * sizeof *counts);
    for (int64_t i = t->n * piece / PIECES; i < t->n * (piece + 1) / PIECES; i++)
        counts[column_of(t, i)]++;
}

static void place_piece(void *arg, int64_t piece, int thread)
{
    (void)thread;
    vem_i_tour *t = arg;
    int64_t *at = t->counts + piece * (t->clusters + 1);
    for (int64_t i = t->n * piece / PIECES; i < t->n * (piece + 1) / PIECES; i++)
        t->items[at[column_of(t, i)]++] = (uint32_t)(t->first + i);
}

void vem_i_tour_sort(vem_i_tour *t, int32_t clusters, const int32_t *held, int32_t width,
                     const int32_t *rank)
{
    t->clusters = clusters;
    t->held = held + t->first * width;
    t->width = width;
    t->rank = rank;
    double work = 4.0 * (double)t->n / PIECES;
    vem_i_parallel_light(t->run, PIECES, work, count_piece, t);
    const int64_t columns = (int64_t)clusters + 1;
    vem_i_bucket_places(t->counts, columns, PIECES, columns, 0);
    memcpy(t->starts, t->counts, (size_t)columns * sizeof *t->starts);
    vem_i_parallel_light(t->run, PIECES, work, place_piece, t);
}
