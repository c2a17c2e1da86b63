/* The loop along the leading axes (coarse/leading.h): the rows are looked at there from the seeding
 * on, until that loop has ended; then in all columns again, in the order that the clusters gave
 * them, from the means of what each cluster holds. F of the loop is that of the rows in all
 * columns, for clusters whose means lie in the span of the axes: without that constraint it
 * rises. */
#include "base/memory.h"
#include "comm/comm.h"
#include "fit/attempt_inside.h"
#include "fit/order.h"
#include "model/evidence.h"

vem_status vem_i_attempt_look_along(vem_i_attempt *a)
{
    const vem_i_stage *stage = vem_i_programme_find(a->programme, VEM_I_STAGE_LEADING);
    if (!stage || !a->points)
        return VEM_OK;
    const vem_status status =
        vem_i_leading_new(a->run, a->view, stage->axes,
                          (int32_t)a->programme->options.clusters, &a->leading);
    a->seed_pairs += a->leading.pairs;
    a->axes = status == VEM_OK ? a->leading.axes : 0;
    if (a->axes == 0) {
        vem_i_leading_free(&a->leading);
        return status;
    }
    a->whole_view = a->view;
    a->whole_points = a->points;
    a->points = a->leading.points;
    a->view = &a->points->view;
    return VEM_OK;
}

static void leave_axes(vem_i_attempt *a)
{
    a->view = a->whole_view;
    a->points = a->whole_points;
    a->whole_view = NULL;
    a->whole_points = NULL;
    vem_i_leading_let_go(&a->leading);
}

static vem_status take_whole_together(vem_i_attempt *a)
{
    int64_t *places = NULL;
    vem_status status =
        vem_i_order_places(a->run, a->points, a->model->clusters, a->labels, &places);
    leave_axes(a);
    if (status == VEM_OK)
        status = vem_i_order_bring(a->run, a->points, places, a->labels);
    vem_i_free(places);
    return status;
}

/* All rows by the cluster they hold; the labels follow. What they were along the axes goes first. */
static vem_status take_whole(vem_i_attempt *a)
{
    const int32_t clusters = a->model->clusters;
    vem_i_tour tour = {0};
    if (a->run->comm)
        return take_whole_together(a);
    vem_status status = vem_i_order_of(a->run, a->view->n, clusters, a->labels, &tour);
    const uint32_t *rows = a->points->rows;
    for (int64_t i = 0; status == VEM_OK && rows && i < a->view->n; i++)
        tour.items[i] = rows[tour.items[i]];
    leave_axes(a);
    if (status == VEM_OK)
        status = vem_i_order_by(a->run, a->points, clusters, &tour, a->labels);
    vem_i_tour_free(&tour);
    return status;
}

vem_status vem_i_attempt_lift(vem_i_attempt *a)
{
    const int known = a->steps > 0 || a->beginning.labels_known;
    const vem_options *o = &a->programme->options;
    vem_model *wide = NULL;
    vem_status status = take_whole(a);
    if (status == VEM_OK)
        status = vem_i_model_blank(a->run,
                                   vem_i_attempt_shape(a, o->family, a->model->clusters),
                                   &wide);
    if (status == VEM_OK)
        status =
            vem_i_leading_lift(a->run, &a->leading, a->view->kernels, a->model, wide);
    vem_i_leading_free(&a->leading);
    vem_model_free(a->model);
    a->model = wide;
    a->beginning = (vem_i_beginning){.labels_known = known, .lifted = known};
    return status;
}

void vem_i_attempt_take_held(vem_i_em *em)
{
    vem_i_estep_collect(em->estep, &em->posterior, &em->stats);
    vem_i_maximize(em->run, &em->scorer, &em->stats, &em->constraints, em->model);
}
