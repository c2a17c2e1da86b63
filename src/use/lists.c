/* A model as the coarse quantiser of an index: the lists that rows and queries have by it. */
#include "use/lists.h"

#include <string.h>

#include "base/memory.h"
#include "data/unit.h"
#include "metrics/index.h"
#include "metrics/neighbors.h"
#include "model/middle.h"
#include "model/units.h"
#include "use/assign.h"
#include "use/means_alone.h"

/* The list of each row. An index is given means and nothing else, and adds a row to the list of the
 * nearest of them: queries come by the same rule, and find it. Labels of the model itself, which go by
 * its scale, shapes and weights, would be lists that no index makes by itself: whoever gives it its lists gives
 * them here, too. */
static vem_status list_rows(vem_i_run *run, const vem_model *model, const vem_data *data,
                            vem_precision precision, const vem_index_options *o,
                            int32_t *labels)
{
    if (o->labels) {
        memcpy(labels, o->labels, (size_t)data->n * sizeof *labels);
        return VEM_OK;
    }
    if (o->lists == 2)
        return vem_i_assign_spill(run, model, data, o->lambda, precision, labels, NULL);
    const vem_assign_options assign = {.size = sizeof assign, .precision = precision};
    vem_model *balls = NULL;
    vem_status status = vem_i_means_alone(run, model, &balls);
    if (status == VEM_OK)
        status = vem_i_assign_guided(run, balls, data, &assign, labels, NULL, NULL);
    vem_model_free(balls);
    return status;
}

typedef struct work {
    int32_t *labels;
    int64_t *neighbors;
    double *origin;
    double *scale; /* what values are divided by; NULL: 1 */
    vem_i_points *queries;
    vem_model *lists; /* in the units of the queries' view */
} work;

/* Values whose squares might be no numbers are divided by one power of two. */
static vem_status choose_scale(vem_i_run *run, const vem_model *model,
                               vem_precision precision, work *w)
{
    double extent;
    vem_status status = vem_i_model_extent(run, model, &extent);
    const double unit = status == VEM_OK ? vem_i_even_unit(precision, extent) : 1;
    if (unit == 1)
        return status;
    status = vem_i_take(run, &w->scale, (size_t)model->d, sizeof *w->scale);
    for (int32_t j = 0; status == VEM_OK && j < model->d; j++)
        w->scale[j] = unit;
    return status;
}

/* The lists as the queries see them. */
static vem_status take_lists(vem_i_run *run, const vem_model *model, work *w)
{
    vem_model *balls = NULL;
    vem_status status = vem_i_means_alone(run, model, &balls);
    if (status == VEM_OK)
        status =
            vem_i_model_to_view(run, balls, &w->queries->view, balls->family, &w->lists);
    vem_model_free(balls);
    return status;
}

static vem_status measure(vem_i_run *run, const vem_model *model, const vem_data *data,
                          const vem_data *queries, vem_precision precision,
                          const vem_index_options *o, work *w, vem_index **index)
{
    const vem_i_room rooms[] = {{&w->labels, (size_t)data->n,
                                 (size_t)o->lists * sizeof *w->labels, 0},
                                {&w->neighbors, (size_t)queries->n,
                                 (size_t)o->neighbors * sizeof *w->neighbors, 0},
                                {&w->origin, (size_t)model->d, sizeof *w->origin, 0}};
    vem_status status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status != VEM_OK)
        return status;
    vem_i_model_center(model, w->origin);
    const vem_precision computed = vem_i_precision_for(model, data, precision);
    if ((status = choose_scale(run, model, computed, w)) != VEM_OK)
        return status;
    const vem_i_points_request request = {.precision = computed,
                                          .normalize = model->normalizes,
                                          .origin = w->origin,
                                          .whiten = w->scale != NULL,
                                          .scale = w->scale,
                                          .phase = "read"};
    status = vem_i_points_new(run, queries, &request, &w->queries);
    if (status == VEM_OK)
        status = take_lists(run, model, w);
    if (status == VEM_OK)
        status = list_rows(run, model, data, precision, o, w->labels);
    if (status == VEM_OK)
        status = vem_i_neighbors(run, data, &request, &w->queries->view, o->neighbors,
                                 w->neighbors);
    if (status == VEM_OK)
        status =
            vem_i_index_new(run, w->labels, data->n, o->lists, model->clusters, index);
    if (status != VEM_OK)
        return status;
    (*index)->summary.queries = queries->n;
    (*index)->summary.neighbors = o->neighbors;
    return vem_i_index_probe(run, *index, w->labels, &w->queries->view, w->lists,
                             w->neighbors);
}

vem_status vem_i_lists_measure(vem_i_run *run, const vem_model *model,
                               const vem_data *data, const vem_data *queries,
                               vem_precision precision, const vem_index_options *options,
                               vem_index **index)
{
    work w = {0};
    vem_index *made = NULL;
    const vem_status status =
        measure(run, model, data, queries, precision, options, &w, &made);
    if (status == VEM_OK)
        *index = made;
    else
        vem_index_free(made);
    vem_i_points_free(w.queries);
    vem_model_free(w.lists);
    vem_i_free(w.labels);
    vem_i_free(w.neighbors);
    vem_i_free(w.origin);
    vem_i_free(w.scale);
    return status;
}
