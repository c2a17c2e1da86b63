/* Who has which rows in two-level seeding. Of several processes each finds the buckets of its own rows;
 * then each gets all rows of some buckets (two_level_apart.c), and centers are drawn there. */
#include <math.h>

#include "base/memory.h"
#include "comm/comm.h"
#include "data/together.h"
#include "seed/row_buckets.h"
#include "seed/two_level_inside.h"

int32_t vem_i_two_level_buckets(int64_t n, int32_t clusters)
{
    /* Buckets are never equal in size, so that draws cost more than N C / buckets. */
    int64_t buckets = (int64_t)ceil(4 * sqrt((double)clusters));
    buckets = buckets < clusters / 4 ? buckets : clusters / 4;
    int64_t most = n / 32; /* a bucket should have rows to choose from */
    buckets = buckets < most ? buckets : most;
    return (int32_t)(buckets > 1 ? buckets : 1);
}

/* Which center is near a row of a bucket goes to who has the row. */
static vem_status choose_apart(vem_i_run *run, const vem_view *view,
                               const vem_i_owned *owned, int32_t clusters, uint64_t seed,
                               vem_i_seeds *seeds)
{
    const vem_view *rows = run->counted ? view : &owned->view;
    vem_i_seeds chosen = *seeds;
    vem_status status = VEM_OK;
    if (seeds->first)
        status = vem_i_take(run, &chosen.first, (size_t)rows->n, sizeof *chosen.first);
    for (int64_t i = 0; chosen.first && status == VEM_OK && i < rows->n && !run->counted;
         i++)
        chosen.first[i] = -1;
    if (status == VEM_OK)
        status = vem_i_two_level_choose(run, rows, view, owned, clusters, seed, &chosen);
    if (status == VEM_OK && seeds->first)
        status = vem_i_view_exchange(run, view, rows->n, owned->numbers, chosen.first,
                                     sizeof *chosen.first, seeds->first);
    if (seeds->first)
        vem_i_free(chosen.first);
    chosen.first = seeds->first;
    *seeds = chosen;
    return status;
}

static vem_status seed_apart(vem_i_run *run, const vem_view *view, int32_t clusters,
                             uint64_t seed, vem_i_seeds *seeds)
{
    const int32_t buckets = vem_i_two_level_buckets(view->used, clusters);
    const vem_progress told = {.phase = "seed", .total = clusters, .free_energy = NAN};
    int32_t *labels = NULL;
    void *squares = NULL;
    vem_i_owned owned = {0};
    int done = 0;
    const int64_t sample = (int64_t)buckets * VEM_I_BUCKET_SAMPLE;
    vem_status status =
        vem_i_take(run, &labels, (size_t)(view->n > sample ? view->n : sample),
                   sizeof *labels);
    if (status == VEM_OK)
        status = vem_i_take(run, &squares, (size_t)view->n, view->kernels->element);
    if (status == VEM_OK)
        status = vem_i_row_buckets(run, view, buckets, seed, &told, labels, squares,
                                   &seeds->pairs, &done);
    if (status == VEM_OK && (done || run->counted))
        status = vem_i_owned_new(run, view, buckets, labels, squares, &owned);
    vem_i_free(labels);
    vem_i_free(squares);
    if (status == VEM_OK && (done || run->counted))
        status = choose_apart(run, view, &owned, clusters, seed, seeds);
    vem_i_owned_free(&owned);
    return status;
}

vem_status vem_i_seed_two_level(vem_i_run *run, const vem_view *view, int32_t clusters,
                                uint64_t seed, vem_i_seeds *seeds)
{
    return run->comm
               ? seed_apart(run, view, clusters, seed, seeds)
               : vem_i_two_level_choose(run, view, view, NULL, clusters, seed, seeds);
}
