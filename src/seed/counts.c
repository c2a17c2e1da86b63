/* Seeds among rows of counts. Long rows lie far from all others, whatever their columns say, so
 * that squared distances of counts mislead every method. They are taken between rows as their
 * family sees them (model/counts.h: roots, of shares where means are shares), of a sample where
 * there are many rows, each of which stands for an equal part of the mass. */
#include <string.h>

#include "base/memory.h"
#include "data/points.h"
#include "seed/seed.h"

/* Rows of the sample: at least, for each cluster, and values at most. */
enum { LEAST = 8192, EACH = 64, TWICE = 2 };
static const int64_t MOST_VALUES = 1 << 24;

/* As they are, without a sample? */
static int are_seen_as_they_are(const vem_i_counts *counts, int sparse)
{
    return !counts->stabilize && !sparse;
}

int64_t vem_i_seed_counts_rows(int64_t n, int32_t d, const vem_i_counts *counts,
                               int sparse, int32_t clusters)
{
    if (are_seen_as_they_are(counts, sparse))
        return n;
    const int64_t wanted = LEAST + EACH * (int64_t)clusters, most = MOST_VALUES / d,
                  fewest = TWICE * (int64_t)clusters;
    int64_t rows = wanted < most ? wanted : most;
    rows = rows > fewest ? rows : fewest;
    return rows < n ? rows : n;
}

vem_status vem_i_seed_counts(vem_i_run *run, const vem_view *view,
                             const vem_i_counts *counts, vem_seeding method,
                             int32_t clusters, int64_t chain, uint64_t seed,
                             vem_i_seeds *seeds)
{
    const int sparse = vem_i_view_is_sparse(view);
    if (are_seen_as_they_are(counts, sparse))
        return vem_i_seed(run, view, method, clusters, chain, seed, seeds);
    const int64_t d = view->d, rows = vem_i_seed_counts_rows(view->n, view->d, counts,
                                                             sparse, clusters);
    const size_t element = view->kernels->element;
    char *x = NULL;
    double *row = NULL;
    int64_t *items = NULL;
    vem_status status = vem_i_take(run, &x, (size_t)rows, (size_t)d * element);
    if (status == VEM_OK)
        status = vem_i_take(run, &row, (size_t)d, sizeof *row);
    if (status == VEM_OK)
        status = vem_i_take(run, &items, (size_t)rows, sizeof *items);
    if (status == VEM_OK) {
        const int64_t filled = run->counted ? 0 : rows; /* a plan looks at nothing */
        if (rows < view->n && filled)
            vem_i_pick_by_mass(view->mass, view->n, (int)rows, items);
        for (int64_t i = 0; i < filled; i++) {
            items[i] = rows < view->n ? items[i] : i;
            vem_i_view_widen(view, items[i], row);
            if (counts->stabilize)
                counts->stabilize(row, view->d);
            vem_i_narrow(view->kernels, row, d, x + (size_t)(i * d) * element);
            vem_i_residence_check(run);
        }
        vem_view seen = vem_i_view_drawn(view, x, d, rows);
        if (rows == view->n) {
            seen.mass = view->mass;
            seen.total_mass = view->total_mass;
            seen.used = view->used;
        }
        status = vem_i_seed(run, &seen, method, clusters, chain, seed, seeds);
        for (int32_t k = 0; status == VEM_OK && filled && k < clusters; k++)
            seeds->items[k] = items[seeds->items[k]];
    }
    vem_i_free(x);
    vem_i_free(row);
    vem_i_free(items);
    return status;
}
