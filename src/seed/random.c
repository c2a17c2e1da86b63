/* C rows without replacement, with chances proportional to their masses: every row gets
 * the key  -log(u) / w,  and the C smallest keys win (Efraimidis and Spirakis). The keys
 * depend on the row alone, so neither threads nor the order of reading matter. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "data/together.h"
#include "seed/seed.h"

typedef struct draw {
    double key;
    int64_t item;
} draw;

typedef struct task {
    const vem_view *view;
    uint64_t seed;
    draw *draws;
} task;

static void key_shard(void *arg, int64_t shard, int thread)
{
    (void)thread;
    task *t = arg;
    const int64_t end = vem_i_view_shard(t->view, VEM_I_SEED_SHARD, shard + 1);
    for (int64_t i = vem_i_view_shard(t->view, VEM_I_SEED_SHARD, shard); i < end; i++) {
        vem_i_rng rng =
            vem_i_rng_at(t->seed, VEM_RNG_SEEDING, 0, vem_i_view_key(t->view, i));
        double w = vem_i_view_mass(t->view, i);
        t->draws[i] = (draw){w > 0 ? -log(vem_i_rng_open(&rng)) / w : INFINITY, i};
    }
}

static int by_key(const void *a, const void *b)
{
    const draw *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Bring the `count` smallest to the front (quickselect on a strict order, so no ties). */
static void smallest_first(draw *a, int64_t n, int64_t count)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        draw pivot = a[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (by_key(&a[i], &pivot) < 0)
                i++;
            while (by_key(&a[j], &pivot) > 0)
                j--;
            if (i <= j) {
                draw swap = a[i];
                a[i++] = a[j];
                a[j--] = swap;
            }
        }
        if (count - 1 <= j)
            high = j;
        else if (count - 1 >= i)
            low = i;
        else
            break;
    }
}

/* The first of each process, of which the first of all are chosen; t->draws are others then. */
static vem_status first_of_all(vem_i_run *run, task *t, int32_t clusters, int64_t *count)
{
    vem_i_comm *comm = run->comm;
    const size_t size = (size_t)comm->size, most = (size_t)clusters;
    draw *all = NULL;
    size_t *bytes = NULL;
    vem_status status = vem_i_take(run, &all, size * most, sizeof *all);
    if (status == VEM_OK)
        status = vem_i_take(run, &bytes, size, sizeof *bytes);
    draw *mine = NULL;
    if (status == VEM_OK)
        status = vem_i_take(run, &mine, most, sizeof *mine);
    for (size_t p = 0; status == VEM_OK && p < size; p++)
        bytes[p] = most * sizeof *all;
    for (int64_t k = 0; status == VEM_OK && k < clusters; k++)
        mine[k] = k < *count ? (draw){t->draws[k].key, t->view->first + t->draws[k].item}
                             : (draw){INFINITY, INT64_MAX};
    if (status == VEM_OK)
        comm->gather(comm, mine, all, bytes);
    vem_i_free(bytes);
    vem_i_free(mine);
    if (status != VEM_OK) {
        vem_i_free(all);
        return status;
    }
    vem_i_free(t->draws);
    t->draws = all;
    *count = (int64_t)(size * most);
    return vem_i_comm_agree(run);
}

vem_status vem_i_seed_random(vem_i_run *run, const vem_view *view, int32_t clusters,
                             uint64_t seed, vem_i_seeds *seeds)
{
    task t = {.view = view, .seed = seed};
    vem_status status = vem_i_take(run, &t.draws, (size_t)view->n, sizeof *t.draws);
    if (status != VEM_OK || run->counted)
        return status;
    vem_i_parallel(run, vem_i_view_shards(view, VEM_I_SEED_SHARD), key_shard, &t);
    int64_t count = vem_i_view_own(view);
    if (count > clusters)
        smallest_first(t.draws, count, clusters);
    count = count > clusters ? clusters : count;
    if (run->comm && (status = first_of_all(run, &t, clusters, &count)) == VEM_OK)
        smallest_first(t.draws, count, clusters);
    if (status == VEM_OK) {
        qsort(t.draws, (size_t)clusters, sizeof *t.draws, by_key);
        for (int32_t c = 0; c < clusters; c++)
            seeds->items[c] = t.draws[c].item;
        seeds->chosen = clusters;
    }
    vem_i_free(t.draws);
    return status;
}
