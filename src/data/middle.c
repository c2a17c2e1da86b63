/* Mean and variance of the columns of a view that a few outliers cannot move.
 *
 *     drawn(x) = m + u ,        u = x - m           within FAR spreads s of the median m ,
 *                               u = (FAR s)^2 / (x - m)                       beyond them
 *
 * of each column, with the spread of the middle four fifths, as the origin of a view knows
 * it (origin.c), of up to SOME items from all over it. The mean is that of drawn(x), the
 * variance is
 *
 *     sum w (drawn(x) - mean)^2 / sum w .
 *
 * A normal sample has nothing out there: 8 of these spreads are 20 deviations. Where that
 * is so, the two are the plain ones, to the bit; else they change smoothly with each value,
 * and one that is far away counts as one in the middle: codes such as -999 in a part of the
 * rows, too. They follow shifts and factors of a column. A column whose middle does not
 * vary keeps the plain ones. What an item's own points vary by is not looked at where
 * something is drawn in. */
#include <math.h>

#include "base/memory.h"
#include "base/residence.h"
#include "data/points.h"

enum { FAR = 8, SOME = 1024, FEW = 15, VALUES = 1 << 20 };

/* Median and limit of each column; -1: it has none. */
static void find_limits(vem_i_run *run, const vem_view *view, const int64_t *items,
                        int count, double *values, double *middle, double *limit)
{
    for (int64_t j = 0; j < view->d; j++) {
        double spread;
        for (int k = 0; k < count; k++)
            values[k] = vem_i_view_value(view, items[k], (int32_t)j);
        middle[j] = vem_i_median(values, count, &spread);
        limit[j] = spread > 0 ? FAR * spread : -1;
        vem_i_residence_check(run);
    }
}

static double drawn(double value, double middle, double limit)
{
    const double off = value - middle;
    return fabs(off) <= limit ? value : middle + limit / off * limit;
}

/* The mean, where `about` is NULL; else the variance about that. */
static void add_up(const vem_view *view, const double *middle, const double *limit,
                   const double *about, double *sums)
{
    for (int64_t j = 0; j < view->d; j++)
        sums[j] = 0;
    for (int64_t i = 0; i < view->n; i++) {
        const double share = vem_i_view_mass(view, i) / view->total_mass;
        for (int32_t j = 0; j < view->d; j++) {
            double value = vem_i_view_value(view, i, j);
            if (limit[j] > 0)
                value = drawn(value, middle[j], limit[j]);
            sums[j] += share * (about ? (value - about[j]) * (value - about[j]) : value);
        }
    }
}

/* Columns in which something is drawn in; the others have no limit afterwards. */
static int64_t keep_drawn(const vem_view *view, const double *middle, double *limit,
                          double *out)
{
    int64_t columns = 0;
    for (int64_t j = 0; j < view->d; j++)
        out[j] = 0;
    for (int64_t i = 0; i < view->n; i++) {
        for (int32_t j = 0; vem_i_view_mass(view, i) > 0 && j < view->d; j++)
            if (limit[j] > 0 && fabs(vem_i_view_value(view, i, j) - middle[j]) > limit[j])
                out[j] = 1;
    }
    for (int64_t j = 0; j < view->d; j++) {
        limit[j] = out[j] > 0 ? limit[j] : -1;
        columns += out[j] > 0;
    }
    return columns;
}

vem_status vem_i_view_middle(vem_i_run *run, const vem_view *view, double *mean,
                             double *variances, double *variance)
{
    const size_t d = (size_t)view->d;
    int64_t count = VALUES / view->d, *items = NULL;
    double *values = NULL, *work = NULL;
    count = count < FEW ? FEW : count > SOME ? SOME : count;
    const vem_i_room list[] = {
        {&items, (size_t)count, sizeof *items, 0},
        {&values, (size_t)count, sizeof *values, 0},
        {&work, 3 * d, sizeof *work, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK) {
        double *middle = work, *limit = work + d, *squares = limit + d;
        vem_i_pick_by_mass(view->mass, view->n, (int)count, items);
        find_limits(run, view, items, (int)count, values, middle, limit);
        const int64_t columns = keep_drawn(view, middle, limit, squares);
        add_up(view, middle, limit, NULL, mean);
        if (columns > 0)
            add_up(view, middle, limit, mean, squares);
        *variance = columns > 0 ? 0 : view->variance;
        for (int64_t j = 0; j < view->d; j++) {
            *variance += columns > 0 ? squares[j] / view->d : 0;
            variances[j] = limit[j] > 0       ? squares[j]
                           : view->deviations ? view->deviations[j] * view->deviations[j]
                                              : view->variance;
        }
    }
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}

vem_status vem_i_view_units(vem_i_run *run, const vem_view *view, double **units)
{
    const size_t d = (size_t)view->d;
    double *work = NULL, variance, off = 0;
    *units = NULL;
    if (!view->whitened && !run->counted)
        return VEM_OK;
    vem_status status = vem_i_take(run, units, d, sizeof **units);
    if (status == VEM_OK)
        status = vem_i_take(run, &work, 2 * d, sizeof *work);
    if (status == VEM_OK && !run->counted)
        status = vem_i_view_middle(run, view, work, work + d, &variance);
    for (size_t j = 0; status == VEM_OK && !run->counted && j < d; j++) {
        const double plain = view->deviations ? view->deviations[j] : 1;
        (*units)[j] = plain * plain > work[d + j] ? plain / sqrt(work[d + j]) : 1;
        off = fmax(off, (*units)[j] - 1);
    }
    vem_i_free(work);
    if (off == 0) {
        vem_i_free(*units);
        *units = NULL;
    }
    return status;
}
