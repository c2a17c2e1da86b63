/* A view of sparse rows. Counts are neither moved nor divided, so that it looks at the rows as the
 * data have them. Of several processes each has the data of all rows, and sums all of them. */
#include <math.h>
#include <string.h>

#include "data/points.h"
#include "data/points_inside.h"

vem_status vem_i_points_fill_sparse(vem_i_run *run, const vem_i_pass *p,
                                    vem_i_points *points)
{
    vem_view *view = &points->view;
    const size_t d = (size_t)p->d;
    double *mean = points->deviations, squares = 0;
    vem_status status = vem_i_points_weigh(run, p, points);
    if (status != VEM_OK)
        return status;
    view->sparse = vem_i_sparse_from(p->data->sparse, p->first);
    const vem_i_sparse all =
        p->whole ? vem_i_sparse_from(p->data->sparse, 0) : view->sparse;
    const vem_i_sparse *s = &all;
    memset(points->origin, 0, d * sizeof(double));
    memset(mean, 0, d * sizeof(double));
    view->total_mass = 0;
    for (int64_t i = 0; i < vem_i_pass_rows(p); i++) {
        const double w = points->mass ? points->mass[i] : 1;
        view->total_mass += w;
        for (int64_t e = s->starts[i]; e < s->ends[i]; e++) {
            const double value = vem_i_sparse_value(s, e);
            mean[s->columns[e]] += w * value;
            squares += w * value * value;
            view->extreme = fmax(view->extreme, value);
        }
    }
    if (!isfinite(squares))
        return vem_i_fail(
            run, VEM_BAD_DATA,
            "The sums of squares of the rows overflow: rescale the weights.");
    const double mass = view->total_mass > 0 ? view->total_mass : 1;
    double middle = 0;
    for (size_t j = 0; j < d; j++) {
        mean[j] /= mass;
        middle += mean[j] * mean[j];
    }
    if (points->mean)
        memcpy(points->mean, mean, d * sizeof(double));
    view->variance = fmax(squares / mass - middle, 0) / (double)d;
    return VEM_OK;
}
