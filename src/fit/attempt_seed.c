/* The first model of an attempt: from rows, or from a model that is given. */
#include "fit/attempt_inside.h"

#include <math.h>

#include "base/memory.h"
#include "data/together.h"
#include "data/unit.h"
#include "fit/order.h"
#include "model/units.h"
#include "seed/seed.h"

/* M-steps with one variance and flat weights before a richer family is set free; bad
 * first sets would otherwise leave some clusters with tiny variances. */
enum { SHARED_STEPS = 2 };

double vem_i_attempt_least_variance(const vem_i_attempt *a)
{
    const vem_options *o = &a->programme->options;
    const vem_i_constraints limits =
        vem_i_constraints_of(a->view, o, vem_i_family_of(o->family));
    return vem_i_floor_shared(&limits, a->view->d);
}

vem_status vem_i_attempt_convert(vem_i_attempt *a)
{
    const vem_options *o = &a->programme->options;
    vem_status status = vem_i_model_to_view(a->run, a->start, a->view,
                                            vem_i_family_of(o->family), &a->model);
    const vem_i_constraints limits =
        vem_i_constraints_of(a->view, o, vem_i_family_of(o->family));
    const double *means = a->start->means;
    for (int64_t k = 0;
         status == VEM_OK && limits.sphere.origin && k < a->model->clusters; k++) {
        if (vem_i_row_is_zero(means + k * a->model->d, a->model->d))
            status =
                vem_i_fail(a->run, VEM_BAD_DATA,
                           "The mean of cluster %lld of the model to start from is 0, "
                           "and so has no direction, which --metric cosine goes by.",
                           (long long)k + 1);
        else
            vem_i_sphere_place(&limits.sphere, a->model->d,
                               a->model->means + k * a->model->d);
    }
    if (status == VEM_OK)
        status = vem_i_floor_model(a->run, &limits, a->model);
    if (status == VEM_OK)
        status = vem_i_model_check_range(a->run, a->model, a->view);
    if (status == VEM_OK && o->prior == VEM_PRIOR_FLAT)
        for (int32_t k = 0; k < a->model->clusters; k++)
            a->model->weights[k] = 1.0 / a->model->clusters;
    return status;
}

vem_i_shape vem_i_attempt_shape(const vem_i_attempt *a, int family, int32_t clusters)
{
    vem_i_shape shape = vem_i_shape_of(vem_i_family_of(family), clusters, a->view->d);
    if (a->programme->grows)
        shape.capacity =
            (int32_t)(a->most > 0 ? a->most : a->programme->options.clusters);
    return shape;
}

static vem_status place_means(vem_i_attempt *a, const int64_t *items, int32_t count)
{
    const vem_view *view = a->view;
    const vem_options *o = &a->programme->options;
    const vem_i_family *family = vem_i_family_of(o->family);
    const vem_i_constraints limits = vem_i_constraints_of(view, o, family);
    vem_status status =
        vem_i_model_blank(a->run, vem_i_attempt_shape(a, o->family, count), &a->model);
    char *rows = NULL;
    const size_t row = (size_t)view->d * view->kernels->element;
    if (status == VEM_OK && a->run->comm)
        status = vem_i_take(a->run, &rows, (size_t)count, row);
    if (status == VEM_OK && a->run->comm)
        vem_i_view_rows(a->run, view, items, count, rows);
    for (int64_t k = 0; status == VEM_OK && k < count; k++) {
        double *mean = a->model->means + k * view->d;
        if (rows)
            vem_i_widen(view->kernels, rows + (size_t)k * row, view->d, mean);
        else
            vem_i_view_widen(view, items[k], mean);
        vem_i_begin_at_row(family, &limits, view->d, mean);
        vem_i_residence_check(a->run);
    }
    vem_i_free(rows);
    return status;
}

static vem_status place_seeds(vem_i_attempt *a, vem_seeding method)
{
    const vem_options *o = &a->programme->options;
    /* Searches that try all clusters need no hint where to begin; presets take none. */
    const vem_i_family *family = vem_i_family_of(o->family);
    int hint =
        a->programme->ours && !vem_i_search_is_whole(o->search) && family->has_places;
    const int32_t count = a->programme->grows ? 1 : (int32_t)o->clusters;
    vem_i_seeds seeds = {.first = hint ? a->labels : NULL};
    vem_status status = vem_i_seeds_room(a->run, count, &seeds);
    if (status == VEM_OK)
        status = vem_i_seed_for(a->run, a->view, family, method, count, o->chain, a->seed,
                                &seeds);
    if (status == VEM_OK)
        status = place_means(a, seeds.items, count);
    vem_i_free(seeds.items);
    if (status != VEM_OK)
        return status;
    vem_i_beginning *b = &a->beginning;
    a->seed_pairs += seeds.pairs;
    /* Where the seeding does not know the variance, any guess will do for the first step.
     */
    b->variance_unknown = isnan(seeds.variance) && vem_i_has_shapes(family);
    double variance = b->variance_unknown ? a->view->variance : seeds.variance;
    vem_i_model_set_variance(a->model, fmax(variance, vem_i_attempt_least_variance(a)));
    b->shared_steps =
        vem_i_is_plain(a->model->family) || a->programme->grows ? 0 : SHARED_STEPS;
    int64_t known = hint && a->labels[0] >= 0; /* the first of all rows tells */
    if (a->run->comm && hint) {
        a->run->comm->broadcast(a->run->comm, 0, &known, sizeof known);
        status = vem_i_comm_lost(a->run);
    }
    b->labels_known = (int)known;
    return status;
}

vem_status vem_i_attempt_seed(vem_i_attempt *a, const vem_options *options)
{
    vem_status status = place_seeds(a, (vem_seeding)options->seeding);
    if (status == VEM_OK && a->beginning.labels_known && a->points &&
        vem_i_programme_orders(a->programme))
        status = vem_i_order_rows(a->run, a->points, a->model->clusters, a->labels);
    return status;
}
