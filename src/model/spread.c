#include "model/spread.h"

#include "base/memory.h"
#include "base/parallel.h"

vem_status vem_i_scorer_take_spread(vem_i_run *run, vem_i_scorer *scorer)
{
    const vem_i_family *family = scorer->family;
    const int64_t values = vem_i_spread_values(family->needs, scorer->d);
    if (values == 0 || scorer->precisions)
        return VEM_OK;
    scorer->ldp = family->shared ? 0 : values;
    return vem_i_take_zeroed(run, &scorer->precisions,
                             family->shared ? 1 : (size_t)scorer->capacity,
                             (size_t)values * scorer->kernels->element);
}

static void prepare_cluster(void *arg, int64_t c, int thread)
{
    (void)thread;
    const vem_i_scorer *s = arg;
    s->family->precision(s, c,
                         (char *)s->precisions +
                             (size_t)(c * s->ldp) * s->kernels->element);
}

void vem_i_scorer_prepare_spread(vem_i_run *run, vem_i_scorer *scorer)
{
    if (!scorer->precisions)
        return;
    const double values = (double)vem_i_spread_values(scorer->family->needs, scorer->d);
    vem_i_parallel_light(run, scorer->ldp ? scorer->clusters : 1, values * scorer->d,
                         prepare_cluster, scorer);
}

/* Do these items have a spread that the scorer can judge? */
static int sees(const vem_i_scorer *scorer, const vem_i_items *items)
{
    return items->spread && items->spread_kind == scorer->family->needs;
}

static int32_t values_of(const vem_i_scorer *s)
{
    return (int32_t)vem_i_spread_values(s->family->needs, s->d);
}

void vem_i_spread_score_tile(const vem_i_scorer *s, const vem_i_items *items,
                             int32_t first, int32_t count, void *costs, int64_t ldv)
{
    if (!s->precisions || s->at_means || !sees(s, items))
        return;
    s->kernels->linear_tile(items->spread, items->spread_ld, items->index,
                            (int32_t)items->n, values_of(s),
                            (const char *)s->precisions +
                                (size_t)(first * s->ldp) * s->kernels->element,
                            s->ldp, count, costs, ldv);
}

void vem_i_spread_score_pairs(const vem_i_scorer *s, const vem_i_items *items, int32_t m,
                              const int32_t *index, void *costs, int64_t ldv)
{
    if (!s->precisions || s->at_means || !sees(s, items))
        return;
    s->kernels->linear_pairs(items->spread, items->spread_ld, items->index,
                             (int32_t)items->n, values_of(s), s->precisions, s->ldp, m,
                             index, costs, ldv);
}

void vem_i_spread_collect(const vem_i_scorer *s, const vem_i_items *items, const void *q,
                          int32_t cluster, vem_i_stats *stats)
{
    if (sees(s, items))
        s->kernels->linear_rows(items->spread, items->spread_ld, items->index, q,
                                items->n, values_of(s),
                                vem_i_stats_second(stats, cluster));
}
