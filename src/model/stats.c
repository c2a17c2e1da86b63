#include "model/stats.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/contract.h"

int64_t vem_i_second_count(const vem_i_family *family, int32_t d)
{
    return family->shape_axes < 0    ? 0
           : family->shape_axes == 0 ? 1
           : family->shape_axes == 1 ? d
                                     : (int64_t)d * (d + 1) / 2;
}

int64_t vem_i_stats_stride(const vem_i_family *family, int32_t d)
{
    return INT64_C(1) + d + vem_i_second_count(family, d);
}

int32_t vem_i_square_count(const vem_i_family *family, int32_t d)
{
    return family->shape_axes < 0 ? 0 : family->shape_axes == 0 ? 1 : d;
}

int64_t vem_i_square_at(const vem_i_family *family, int64_t column)
{
    return family->shape_axes == 0   ? 0
           : family->shape_axes == 1 ? column
                                     : column * (column + 3) / 2;
}

vem_status vem_i_stats_new(vem_i_run *run, vem_i_shape shape, vem_i_stats *stats)
{
    vem_i_stats made = {.clusters = shape.clusters, .d = shape.d};
    made.stride = vem_i_stats_stride(shape.family, shape.d);
    vem_status status = vem_i_take_zeroed(run, &made.block, (size_t)shape.capacity,
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

/* A line of memory of each cluster at a time: there may be millions of columns. */
static void add_by_column(vem_i_stats *to, const vem_i_stats *from)
{
    enum { LINE = 8 };
    for (int64_t k = 0; k < to->stride; k += LINE) {
        const int64_t end = k + LINE < to->stride ? k + LINE : to->stride;
        for (int64_t c = 0; c < to->clusters; c++)
            for (int64_t j = k; j < end; j++)
                to->block[c * to->stride + j] += from->block[j * to->clusters + c];
    }
}

void vem_i_stats_add(vem_i_stats *to, const vem_i_stats *from)
{
    int64_t count = to->clusters * to->stride;
    if (from->by_column) {
        add_by_column(to, from);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        to->block[i] += from->block[i];
}

static double value_at(const double *values, int64_t j, double otherwise)
{
    return values ? values[j] : otherwise;
}

void vem_i_moments_add(const vem_i_family *family, int32_t d, const double *from,
                       const vem_i_shift *shift, double *to)
{
    const double mass = from[0], unit = shift->mass, *first = from + 1,
                 *second = first + d;
    double *to_first = to + 1, *to_second = to_first + d;
    double distance = family->shape_axes == 0 ? *second : 0;
    to[0] += unit * mass;
    for (int64_t i = 0, at = 0; i < d; i++) {
        const double e = value_at(shift->e, i, 0), u = value_at(shift->units, i, 1),
                     more = e * (2 * first[i] + mass * e);
        to_first[i] += unit * (first[i] + mass * e) * u;
        if (family->shape_axes == 0)
            distance +=
                more / value_at(shift->scale, i, 1) / value_at(shift->scale, i, 1);
        else if (family->shape_axes == 1) /* rounding may leave a hair below 0 */
            to_second[i] += unit * fmax(second[i] + more, 0) * u * u;
        for (int64_t j = 0; family->shape_axes == 2 && j <= i; j++, at++) {
            const double e_j = value_at(shift->e, j, 0);
            const double moved =
                second[at] + first[i] * e_j + e * (first[j] + mass * e_j);
            to_second[at] += unit * (i == j ? fmax(moved, 0) : moved) * u *
                             value_at(shift->units, j, 1);
        }
    }
    if (family->shape_axes == 0)
        *to_second += unit * fmax(distance, 0) * shift->distance;
}
