#include "coarse/lloyd.h"

#include <string.h>

#include "base/bucket_sort.h"
#include "base/parallel.h"
#include "coarse/nearest.h"

vem_status vem_i_lloyd_assign(vem_i_run *run, vem_i_lloyd *l, const vem_view *view,
                              int32_t *bucket_of, void *squares)
{
    if (run->counted)
        ; /* there are no centers yet */
    else if (l->by_shape)
        vem_i_scorer_prepare(run, l->centers, l->scorer);
    else
        vem_i_scorer_prepare_distances(run, l->centers, NULL, l->scorer);
    if (!run->counted) /* of any size */
        l->pairs += (run->comm ? view->global_n : view->n) * l->centers->clusters;
    return vem_i_nearest(run, view, l->scorer, l->sure, l->told, bucket_of, squares);
}

static void add_row(const vem_i_lloyd *l, int64_t i, double *sum)
{
    const int64_t d = l->view->d;
    const void *row = vem_i_view_row(l->view, i);
    if (l->wide)
        for (int64_t j = 0; j < d; j++)
            sum[j] += l->wide[l->list[i] * d + j];
    else if (l->view->kernels->precision == VEM_SINGLE)
        for (int64_t j = 0; j < d; j++)
            sum[j] += (double)((const float *)row)[j];
    else
        for (int64_t j = 0; j < d; j++)
            sum[j] += ((const double *)row)[j];
}

static void move_center(void *arg, int64_t bucket, int thread)
{
    (void)thread;
    const vem_i_lloyd *l = arg;
    const int32_t begin = l->starts[bucket], end = l->starts[bucket + 1];
    const int64_t d = l->view->d;
    double *center = l->centers->means + bucket * d;
    if (begin == end)
        return;
    memset(center, 0, (size_t)d * sizeof *center);
    for (int32_t i = begin; i < end; i++)
        add_row(l, l->members[i], center);
    for (int64_t j = 0; j < d; j++)
        center[j] /= end - begin;
}

vem_status vem_i_lloyd_run(vem_i_run *run, vem_i_lloyd *l, int steps)
{
    const int32_t n = (int32_t)l->view->n, buckets = l->centers->clusters;
    for (int step = 0; step < steps; step++) {
        vem_status status = vem_i_lloyd_assign(run, l, l->view, l->bucket_of, NULL);
        if (status != VEM_OK)
            return status;
        vem_i_bucket_sort(l->bucket_of, 0, NULL, n, buckets, l->starts, l->members);
        l->starts[buckets] = n;
        vem_i_parallel_light(run, buckets, (double)n / buckets * l->view->d, move_center,
                             l);
    }
    return VEM_OK;
}
