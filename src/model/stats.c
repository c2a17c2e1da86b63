#include "model/stats.h"

#include <string.h>

#include "base/memory.h"

int64_t vem_i_second_count(vem_family_kind family, int32_t d)
{
    switch (family) {
    case VEM_DIAG: return d;
    case VEM_FULL: return (int64_t)d * (d + 1) / 2;
    default: return 1;
    }
}

vem_status vem_i_stats_new(vem_ctx *ctx, vem_family_kind family, int32_t clusters,
                           int32_t d, vem_i_stats *stats)
{
    vem_i_stats made = {.clusters = clusters, .d = d};
    made.stride = 1 + d + vem_i_second_count(family, d);
    vem_status status = vem_i_take_zeroed(ctx, &made.block, (size_t)clusters,
                                          (size_t)made.stride * sizeof(double));
    if (status == VEM_OK)
        *stats = made;
    return status;
}

void vem_i_stats_free(vem_i_stats *stats)
{
    vem_i_free(stats->block);
    stats->block = NULL;
}

void vem_i_stats_clear(vem_i_stats *stats)
{
    memset(stats->block, 0,
           (size_t)stats->clusters * (size_t)stats->stride * sizeof(double));
}

void vem_i_stats_clear_cluster(vem_i_stats *stats, int32_t c)
{
    memset(vem_i_stats_mass(stats, c), 0, (size_t)stats->stride * sizeof(double));
}

void vem_i_stats_add(vem_i_stats *to, const vem_i_stats *from)
{
    int64_t count = to->clusters * to->stride;
    for (int64_t i = 0; i < count; i++)
        to->block[i] += from->block[i];
}
