/* How a model serves as the coarse quantiser of an index: vem_index_score and what it gives. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/structs.h"
#include "data/unit.h"
#include "io/io.h"
#include "metrics/index.h"
#include "metrics/neighbors.h"
#include "model/family.h"
#include "model/middle.h"
#include "model/units.h"
#include "use/assign.h"
#include "use/means_alone.h"

enum { NEIGHBORS = 10 };

static vem_status check(vem_i_run *run, const vem_model *model, const vem_data *data,
                        const vem_data *queries, const vem_index_options *o)
{
    if (data->d != model->d || queries->d != model->d)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The model has %d columns, but the %s have %d.", model->d,
                          data->d != model->d ? "data" : "queries",
                          data->d != model->d ? data->d : queries->d);
    if (model->family->counts || data->sparse.starts || queries->sparse.starts)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "An index goes by distances, which %s has none of.",
                          model->family->counts ? "a mixture of counts"
                                                : "a table of sparse rows");
    if (o->lists != 1 && o->lists != 2)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Rows are to be in %d lists, but it must be 1 or 2.", o->lists);
    if (o->neighbors < 1 || o->neighbors > VEM_I_NEIGHBORS_MAX)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--neighbors is %d, but it must lie between 1 and %d.",
                          o->neighbors, VEM_I_NEIGHBORS_MAX);
    if (o->labels && o->lists == 2)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Rows are in two lists (--spill), or in those of given labels "
                          "(--lists), not both.");
    for (int64_t i = 0; o->labels && i < data->n; i++)
        if (o->labels[i] < -1 || o->labels[i] >= model->clusters)
            return vem_i_fail(run, VEM_BAD_DATA,
                              "Row %lld is in list %d, but the model has lists 0 to %d.",
                              (long long)vem_data_row(data, i) + 1, o->labels[i],
                              model->clusters - 1);
    if (data->n < o->neighbors || queries->n < 1)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "There are %lld rows and %lld queries, but it takes %d and 1.",
                          (long long)data->n, (long long)queries->n, o->neighbors);
    return VEM_OK;
}

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

vem_status vem_index_score(vem_ctx *ctx, const vem_model *model, const vem_data *data,
                           const vem_data *queries, vem_precision precision,
                           const vem_index_options *options, vem_index **index)
{
    VEM_I_NEED(ctx, ctx, model, data, queries, index);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_index_options o = {0};
    work w = {0};
    vem_index *made = NULL;
    vem_status status =
        options ? vem_i_struct_in(run, "vem_index_options", options, &o, sizeof o)
                : VEM_OK;
    o.neighbors = o.neighbors == 0 ? NEIGHBORS : o.neighbors;
    o.lists = o.lists == 0 ? 1 : o.lists;
    if (status == VEM_OK)
        status = check(run, model, data, queries, &o);
    if (status == VEM_OK)
        status = measure(run, model, data, queries, precision, &o, &w, &made);
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

void vem_index_free(vem_index *index)
{
    if (index)
        vem_i_free(index->points);
    vem_i_free(index);
}

vem_status vem_index_describe(vem_ctx *ctx, const vem_index *index,
                              vem_index_summary *summary)
{
    VEM_I_NEED(ctx, index, summary);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    const vem_status status =
        vem_i_struct_check(run, "vem_index_summary", summary, sizeof *summary);
    if (status == VEM_OK)
        vem_i_struct_out(&index->summary, summary, sizeof *summary);
    return status;
}

int32_t vem_index_count(const vem_index *index)
{
    return index ? index->count : 0;
}

const vem_index_point *vem_index_at(const vem_index *index, int32_t number)
{
    return index && number >= 0 && number < index->count ? &index->points[number] : NULL;
}

/* Where a query scans so many rows. */
static vem_index_point between(const vem_index *index, double rows)
{
    const vem_index_point *p = index->points;
    int32_t g = 0;
    while (g < index->count && p[g].scanned < rows)
        g++;
    if (g == index->count || (g == 0 && p[0].scanned > rows))
        return (vem_index_point){sizeof *p, NAN, NAN, NAN, NAN};
    const vem_index_point low = p[g > 0 ? g - 1 : 0], high = p[g];
    const double by = high.scanned > low.scanned
                          ? (rows - low.scanned) / (high.scanned - low.scanned)
                          : 0;
    return (vem_index_point){.size = sizeof *p,
                             .probes = low.probes + by * (high.probes - low.probes),
                             .scanned = rows,
                             .scanned_p99 = low.scanned_p99 +
                                            by * (high.scanned_p99 - low.scanned_p99),
                             .recall = low.recall + by * (high.recall - low.recall)};
}

vem_status vem_index_scan(vem_ctx *ctx, const vem_index *index, double share,
                          vem_index_point *point)
{
    VEM_I_NEED(ctx, index, point);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    const vem_status status =
        vem_i_struct_check(run, "vem_index_point", point, sizeof *point);
    if (status != VEM_OK)
        return status;
    if (!(share > 0 && share <= 1))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "A share of the rows lies above 0 and is at most 1, which %g "
                          "does not.",
                          share);
    const vem_index_point found = between(index, share * (double)index->summary.rows);
    vem_i_struct_out(&found, point, sizeof found);
    return VEM_OK;
}

vem_status vem_index_draw(vem_ctx *ctx, const vem_index *index, const char *file)
{
    VEM_I_NEED(ctx, ctx, index, file);
    vem_i_verb verb;
    vem_i_run *run = vem_i_begin(ctx, &verb);
    return vem_i_index_picture(run, &index->summary, index->points, index->count, file);
}
