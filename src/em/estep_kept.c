/* An E-step that is not made twice: of a part whose process ends where it has to wait for others, and is
 * made again from its last state (comm/comm.h). What its items hold and what its shards have found come
 * back; what follows from all parts does not. */
#include "data/together.h"
#include "em/estep_inside.h"

#include "base/memory.h"

enum { ARRAYS = 8 };

/* Returns how many of them there are. */
static int list_arrays(const vem_i_estep *t, vem_i_kept list[ARRAYS])
{
    const vem_i_posterior *p = t->posterior;
    const size_t items = (size_t)p->n, width = (size_t)p->width,
                 shards = (size_t)t->shards, sums = (size_t)t->sums,
                 element = t->view->kernels->element;
    const vem_i_kept all[ARRAYS] = {
        {t->shard_log_sum, sums * sizeof(double)},
        {t->shard_distance, sums * sizeof(double)},
        {t->shard_pairs, shards * sizeof(int64_t)},
        {t->shard_changed, shards * sizeof(int64_t)},
        {p->held, items * width * sizeof(int32_t)},
        {p->q, items * width * element},
        {p->next, items * sizeof(int32_t)},
        {p->gap, items * element},
    };
    int count = 0;
    for (int i = 0; i < ARRAYS; i++)
        if (all[i].bytes)
            list[count++] = all[i];
    return count;
}

/* Those, and the statistics of the shards where the search makes them. Where it learns, what it has found comes
 * last: how much that is, only who has kept it knows. */
static int go_through(vem_i_estep *t,
                      int (*pass)(vem_i_estep *t, vem_i_kept *list, int count))
{
    vem_i_kept *list = NULL;
    const size_t shards = t->partial ? (size_t)t->shards : 0;
    if (!vem_i_comm_by_files(t->run->comm) ||
        vem_i_take(t->run, &list, ARRAYS + shards + VEM_I_SEARCH_FOUND, sizeof *list) !=
            VEM_OK)
        return 0;
    int count = list_arrays(t, list);
    for (size_t s = 0; s < shards; s++) {
        vem_i_stats *stats = &t->partial[s];
        stats->clusters = t->scorer->clusters;
        list[count++] =
            (vem_i_kept){stats->block, (size_t)stats->clusters * (size_t)stats->stride *
                                           sizeof(double)};
    }
    const int passed = pass(t, list, count);
    vem_i_free(list);
    return passed;
}

static int keep(vem_i_estep *t, vem_i_kept *list, int count)
{
    if (t->type->found)
        count += t->type->found(t->search, list + count);
    vem_i_comm_keep(t->run->comm, list, count);
    return 1;
}

static int recall(vem_i_estep *t, vem_i_kept *list, int count)
{
    vem_i_kept rest = {0};
    if (!t->type->found)
        return vem_i_comm_recall(t->run->comm, list, count, NULL);
    if (!vem_i_comm_recall(t->run->comm, list, count, &rest))
        return 0;
    const int sound = t->type->found_again(t->search, &rest);
    vem_i_free(rest.bytes);
    return sound;
}

int vem_i_estep_recall(vem_i_estep *t)
{
    return go_through(t, recall);
}

void vem_i_estep_keep(vem_i_estep *t)
{
    go_through(t, keep);
}
