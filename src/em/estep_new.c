/* How the items are cut, and the memory of an E-step. Shards depend on the sizes alone. */
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/sparse.h"
#include "em/estep_inside.h"

enum {
    DENSE_SHARDS = 64,
    FEW_SHARDS = 4,   /* however large statistics are */
    ENTRIES_EACH = 4, /* of a column, in a shard of sparse rows, */
    SPARSE_LEAST = 8, /* unless there are fewer shards than that, */
    SPARSE_WIDE = 2   /* or statistics are so large that there are few already */
};
/* Statistics of all dense shards together stay below this where that leaves a few shards.
 */
static const uint64_t DENSE_BYTES = UINT64_C(256) << 20;

static int64_t dense_shards(const vem_i_family *family, int64_t n, int32_t clusters,
                            int32_t d)
{
    const uint64_t bytes =
        (uint64_t)clusters * (uint64_t)vem_i_stats_stride(family, d) * sizeof(double);
    int64_t shards = (int64_t)(DENSE_BYTES / bytes);
    shards = shards < FEW_SHARDS     ? FEW_SHARDS
             : shards > DENSE_SHARDS ? DENSE_SHARDS
                                     : shards;
    int64_t most = vem_i_shards(n, VEM_I_BLOCK);
    return shards < most ? shards : most;
}

/* Entries of all rows: every process has read them. A plan, which knows how many a row has on average, counts one
 * shard more than these are worth: those of a sample may be more. */
static int64_t entries_of(const vem_i_run *run, const vem_view *view)
{
    return run->counted
               ? vem_i_sparse_entries(view->sparse, 1) * view->global_n
               : vem_i_sparse_entries(vem_i_sparse_from(view->sparse, -view->first),
                                      view->global_n);
}

/* Statistics of a shard are cleared and added up whole, however few entries sparse rows have. */
static int64_t sparse_shards(int64_t entries, int32_t d, int planned, int64_t shards)
{
    const int64_t least = shards <= FEW_SHARDS ? SPARSE_WIDE : SPARSE_LEAST;
    int64_t worth = entries / ENTRIES_EACH / d + (planned ? 1 : 0);
    worth = worth < least ? least : worth;
    return worth < shards ? worth : shards;
}

static vem_status take_shards(vem_i_estep *t)
{
    const size_t shards = (size_t)t->shards, sums = (size_t)t->sums,
                 value = sizeof(double);
    const vem_i_room list[] = {
        {&t->shard_log_sum, sums, value, 0},
        {&t->shard_distance, sums, value, 0},
        {&t->shard_pairs, shards, sizeof(int64_t), 0},
        {&t->shard_changed, shards, sizeof(int64_t), 0},
        {&t->log_sums, (size_t)t->run->threads, (size_t)t->capacity * value, 0},
    };
    return vem_i_take_rooms(t->run, list, VEM_I_COUNT(list));
}

/* How a dense search that collects cuts the items: shards of each block. */
static void cut_dense(vem_i_estep *t, int64_t blocks)
{
    const vem_i_scorer *scorer = t->scorer;
    const int64_t n = vem_i_shards(t->view->global_n, blocks);
    int64_t shards = dense_shards(scorer->family, n, scorer->capacity, t->view->d);
    if (vem_i_view_is_sparse(t->view))
        shards = sparse_shards(entries_of(t->run, t->view), t->view->d,
                               t->run->counted != NULL, shards);
    t->per_shard = vem_i_shards(n, shards);
    t->partials = blocks > 1 ? vem_i_shards(n, t->per_shard)
                             : vem_i_view_shards(t->view, t->per_shard);
}

int64_t vem_i_estep_shard(const vem_i_search_spec *search, vem_i_shape shape, int64_t n,
                          int64_t entries)
{
    if (!search->dense)
        return vem_i_collector_shard(shape.family, n, shape.clusters, shape.d);
    const int64_t shards = dense_shards(shape.family, n, shape.capacity, shape.d);
    return vem_i_shards(n, entries < 0 ? shards
                                       : sparse_shards(entries, shape.d, 0, shards));
}

static vem_status take_partials(vem_i_estep *t)
{
    vem_status status =
        vem_i_take_structs(t->run, &t->partial, (size_t)t->partials, sizeof *t->partial);
    for (int64_t s = 0; status == VEM_OK && s < t->partials; s++) {
        status = vem_i_stats_new(t->run, vem_i_scorer_shape(t->scorer), &t->partial[s]);
        t->partial[s].by_column = vem_i_view_is_sparse(t->view);
    }
    if (status == VEM_OK && t->run->comm && vem_i_view_is_sparse(t->view)) {
        status = vem_i_stats_new(t->run, vem_i_scorer_shape(t->scorer), &t->turned);
        t->turned.by_column = 1;
    }
    return status;
}

vem_status vem_i_estep_new(vem_i_run *run, const vem_view *view,
                           const vem_i_scorer *scorer, const vem_i_search_spec *search,
                           int64_t blocks, vem_i_estep **estep)
{
    vem_i_estep *t;
    vem_status status = vem_i_take_structs(run, &t, 1, sizeof *t);
    if (status != VEM_OK)
        return status;
    t->run = run;
    t->view = view;
    t->scorer = scorer;
    t->type = search->type;
    t->average = -INFINITY;
    status = vem_i_search_new(run, search, view, scorer, &t->search);
    if (status != VEM_OK) {
        vem_i_estep_free(t);
        return status;
    }
    const int dense_stats = search->dense && blocks > 0;
    if (dense_stats)
        cut_dense(t, blocks);
    else
        t->per_shard = t->search->shard ? t->search->shard : VEM_I_ESTEP_SHARD;
    t->per_sum = t->type->ordered ? VEM_I_ESTEP_SHARD : t->per_shard;
    vem_i_estep_count_shards(t);
    t->capacity = t->search->blocks[0].capacity;
    status = take_shards(t);
    if (status == VEM_OK && t->type->ordered)
        status = vem_i_estep_take_items(t);
    if (status == VEM_OK && dense_stats) {
        status = take_partials(t);
        if (status == VEM_OK && blocks > 1)
            status = vem_i_blocks_new(run, scorer, vem_i_shards(t->shards, t->partials),
                                      &t->blocks);
    } else if (status == VEM_OK && blocks > 0) {
        status = vem_i_collector_new(run, view, scorer, search->held, t->type->ordered,
                                     &t->collector);
        if (status == VEM_OK)
            status = vem_i_labels_new(t);
    }
    if (status != VEM_OK) {
        vem_i_estep_free(t);
        return status;
    }
    *estep = t;
    return VEM_OK;
}

const vem_i_search_spec *vem_i_estep_search(const vem_i_estep *t)
{
    return &t->search->spec;
}

void vem_i_estep_free(vem_i_estep *t)
{
    if (!t)
        return;
    vem_i_search_free(t->search);
    for (int64_t s = 0; t->partial && s < t->partials; s++)
        vem_i_stats_free(&t->partial[s]);
    vem_i_collector_free(t->collector);
    vem_i_stats_free(&t->labelled);
    vem_i_stats_free(&t->turned);
    vem_i_blocks_free(t->blocks);
    vem_i_free(t->partial);
    vem_i_free(t->log_sums);
    vem_i_free(t->shard_log_sum);
    vem_i_free(t->shard_distance);
    vem_i_free(t->shard_pairs);
    vem_i_free(t->shard_changed);
    vem_i_free(t->costs);
    vem_i_free(t->logs);
    vem_i_free(t);
}
