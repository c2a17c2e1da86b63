/* With N_a, m_a, S_a mass, mean and scatter of a, and e = m_b - m_a, both together have
 *
 *     N = N_a + N_b,   m = m_a + N_b / N e,   S = S_a + S_b + N_a N_b / N e e' .
 *
 * About a place that lies e before its mean a group has the moments  N e  and  S + N e e'.
 * A trace is that of the matrix, and so takes |e|^2 instead of e e'. */
#include "model/moments.h"

#include <string.h>

#include "model/family.h"

double vem_i_moments_of(const vem_i_stats *stats, int32_t c, const vem_i_family *family,
                        const double *about, double *mean, double *scatter)
{
    const int64_t d = stats->d, values = vem_i_second_count(family, stats->d);
    const double mass = *vem_i_stats_mass(stats, c);
    const double *first = vem_i_stats_first(stats, c),
                 *second = vem_i_stats_second(stats, c);
    if (!(mass > 0)) {
        memset(scatter, 0, (size_t)values * sizeof *scatter);
        return 0;
    }
    double square = 0;
    for (int64_t j = 0; j < d; j++) {
        mean[j] = (about ? about[j] : 0) + first[j] / mass;
        square += first[j] * (first[j] / mass);
    }
    if (family->shape_axes == 0)
        scatter[0] = mass * vem_i_second_about(second[0] / mass, square / mass, 0);
    for (int64_t i = 0, at = 0; family->shape_axes > 0 && i < d; i++)
        for (int64_t j = family->shape_axes == 2 ? 0 : i; j <= i; j++, at++) {
            const double moved = first[i] / mass * (first[j] / mass);
            scatter[at] = i == j ? mass * vem_i_second_about(second[at] / mass, moved, 0)
                                 : second[at] - mass * moved;
        }
    return mass;
}

void vem_i_moments_put(const vem_i_family *family, int32_t columns, const double *group,
                       const double *e, double *to)
{
    const int64_t d = columns;
    const double mass = group[0], *scatter = group + 1 + d;
    double *second = to + 1 + d, square = 0;
    to[0] = mass;
    for (int64_t j = 0; j < d; j++)
        to[1 + j] = mass * e[j];
    for (int64_t i = 0, at = 0; i < d; i++) {
        square += e[i] * e[i];
        for (int64_t j = family->shape_axes == 2 ? 0 : i;
             family->shape_axes > 0 && j <= i; j++, at++)
            second[at] = scatter[at] + mass * e[i] * e[j];
    }
    if (family->shape_axes == 0)
        second[0] = scatter[0] + mass * square;
}

void vem_i_moments_join(const vem_i_family *family, int32_t columns, const double *a,
                        const double *b, double *out)
{
    const int64_t d = columns;
    const double mass = a[0] + b[0], share = mass > 0 ? b[0] / mass : 0;
    const double *s = a + 1 + d, *t = b + 1 + d;
    double *u = out + 1 + d, square = 0;
    for (int64_t i = 0, at = 0; i < d; i++) {
        const double e = b[1 + i] - a[1 + i];
        square += e * e;
        if (family->shape_axes == 2)
            for (int64_t j = 0; j <= i; j++, at++)
                u[at] = s[at] + t[at] + a[0] * share * e * (b[1 + j] - a[1 + j]);
        else if (family->shape_axes == 1)
            u[i] = s[i] + t[i] + a[0] * share * e * e;
    }
    if (family->shape_axes == 0)
        u[0] = s[0] + t[0] + a[0] * share * square;
    for (int64_t i = 0; i < d; i++) /* last: out may be a or b */
        out[1 + i] = a[1 + i] + share * (b[1 + i] - a[1 + i]);
    out[0] = mass;
}

void vem_i_moments_unite(const vem_i_family *family, int32_t d, const vem_i_moments *a,
                         const vem_i_moments *b, double *mean, double *scatter)
{
    const double w = a->mass + b->mass, apart = a->mass * b->mass / w;
    const int columns = family->shape_axes == 1;
    double square = 0;
    for (int32_t j = 0; j < d; j++) {
        const double difference = a->mean[j] - b->mean[j];
        const double one = apart * difference * difference;
        const double middle = (a->mass * a->mean[j] + b->mass * b->mean[j]) / w;
        square += one;
        if (columns)
            scatter[j] = a->scatter[j] + b->scatter[j] + one;
        mean[j] = middle;
    }
    if (!columns)
        scatter[0] = a->scatter[0] + b->scatter[0] + square;
}

double vem_i_moments_collect(const vem_i_kernels *wide, const vem_i_family *family,
                             const double *panels, const double *q, int32_t n, int32_t d,
                             const double *mean, double *first, double *second)
{
    return family->shape_axes == 0
               ? wide->iso_collect(panels, q, n, d, mean, first, second)
           : family->shape_axes == 1
               ? wide->diag_collect(panels, q, n, d, mean, first, second)
               : wide->full_collect(panels, q, n, d, mean, first, second);
}

void vem_i_moments_write(const vem_i_family *family, int32_t columns,
                         const double *second, double *shape)
{
    const int64_t d = columns;
    if (family->shape_axes < 2)
        memcpy(shape, second,
               (size_t)vem_i_second_count(family, columns) * sizeof *shape);
    for (int64_t i = 0, at = 0; family->shape_axes == 2 && i < d; i++)
        for (int64_t j = 0; j <= i; j++, at++)
            shape[i * d + j] = shape[j * d + i] = second[at];
}

void vem_i_moments_read(const vem_i_family *family, int32_t columns, const double *shape,
                        double *second)
{
    const int64_t d = columns;
    if (family->shape_axes < 2)
        memcpy(second, shape,
               (size_t)vem_i_second_count(family, columns) * sizeof *shape);
    for (int64_t i = 0, at = 0; family->shape_axes == 2 && i < d; i++)
        for (int64_t j = 0; j <= i; j++, at++)
            second[at] = shape[i * d + j];
}
