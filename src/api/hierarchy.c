/* The verb `hierarchy`: the centres of a model under fewer centres, for indexes that descend
 * (model/centres.h). A level is the hard k-means of the one below it, by the masses of the clusters
 * where the model has weights of its own; a child's parent is the nearest node above, which is where a
 * descent looks for it first. */
#include "api/fitting.h"
#include "base/memory.h"
#include "base/structs.h"
#include "data/points.h"
#include "io/io.h"
#include "model/centres.h"
#include "model/family.h"
#include "use/assign.h"

/* Clusters up to which two levels have at most 256 children a node. */
enum { TWO_LEVELS = 65536 };

/* ---- one level ---- */

/* As many nodes as are wanted, and no more than there are different rows. */
static vem_status count_nodes(vem_i_run *run, const vem_data *rows, int32_t wanted,
                              int64_t *nodes)
{
    const vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    vem_i_points *points = NULL;
    vem_status status = vem_i_points_new(run, rows, &request, &points);
    if (status == VEM_OK)
        status = vem_i_count_distinct(run, &points->view, wanted, nodes);
    if (status == VEM_OK && *nodes > wanted)
        *nodes = wanted;
    vem_i_points_free(points);
    return status;
}

/* Hard k-means of the rows. */
static vem_status fit_level(vem_i_run *run, const vem_data *rows, vem_metric metric,
                            int64_t nodes, int64_t seed, vem_model **model)
{
    vem_options o;
    vem_options_init(&o);
    o.clusters = nodes;
    o.family = (int)vem_i_family_of_distances(0)->kind;
    o.prior = VEM_PRIOR_FLAT;
    o.held = 1;
    o.metric = (int)metric;
    o.seed = seed;
    vem_i_fitting f = {.run = *run, .data = rows, .asked = &o, .inside = 1};
    const vem_status status = vem_i_fitting_run(&f, model, NULL);
    return status == VEM_OK && run->watch->stop ? VEM_STOPPED : status;
}

static vem_status add_level(vem_i_run *run, vem_hierarchy *h, int32_t level, int64_t seed)
{
    vem_data *rows = NULL;
    vem_model *model = NULL;
    int32_t *nearest = NULL, *number = NULL;
    const int64_t count = h->first[level + 1] - h->first[level];
    int64_t nodes = 0;
    vem_status status = vem_i_centres_rows(run, h, level, &rows);
    if (status == VEM_OK)
        status = count_nodes(run, rows, vem_i_centres_wanted(h, level + 1), &nodes);
    if (status == VEM_OK)
        status = fit_level(run, rows, h->metric, nodes, seed, &model);
    if (status == VEM_OK) {
        const vem_i_room rooms[] = {{&nearest, (size_t)count, sizeof *nearest, 0},
                                    {&number, (size_t)model->clusters, sizeof *number,
                                     0}};
        status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    }
    if (status == VEM_OK)
        status = vem_i_label(run, model, rows, VEM_DOUBLE, nearest);
    if (status == VEM_OK)
        vem_i_centres_append(h, level, model, nearest, number);
    vem_i_free(nearest);
    vem_i_free(number);
    vem_model_free(model);
    vem_data_free(rows);
    return status;
}

/* ---- the verb ---- */

vem_status vem_hierarchy_new(vem_ctx *ctx, const vem_model *model,
                             const vem_hierarchy_options *options,
                             vem_hierarchy **hierarchy)
{
    VEM_I_NEED(ctx, ctx, model, hierarchy);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_hierarchy_options o = {0};
    vem_hierarchy *made = NULL;
    vem_status status =
        options ? vem_i_struct_in(run, "vem_hierarchy_options", options, &o, sizeof o)
                : VEM_OK;
    if (status != VEM_OK)
        return status;
    if (!model->family->has_places)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "A hierarchy goes by distances, which a mixture of counts has "
                          "none of.");
    if (o.levels == 0)
        o.levels = model->clusters <= TWO_LEVELS ? 2 : 3;
    if (o.levels < 2 || o.levels > VEM_I_CENTRES_LEVELS)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The hierarchy has %d levels, but it must have 2 to %d.",
                          o.levels, VEM_I_CENTRES_LEVELS);
    if (o.seed < 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The seed is %lld, but it must be at least 0.",
                          (long long)o.seed);
    status = vem_i_centres_new(run, model, o.levels, &made);
    for (int32_t l = 0; status == VEM_OK && l + 1 < o.levels; l++)
        status = add_level(run, made, l, o.seed);
    if (status == VEM_STOPPED)
        status = vem_i_fail_stopped(run, "before the hierarchy was whole");
    if (status == VEM_OK)
        *hierarchy = made;
    else
        vem_hierarchy_free(made);
    return status;
}

vem_status vem_hierarchy_write(vem_ctx *ctx, const vem_hierarchy *hierarchy,
                               const char *path)
{
    VEM_I_NEED(ctx, ctx, hierarchy, path);
    const vem_hierarchy *h = hierarchy;
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    return vem_i_centres_write(run, path, h->nodes, h->d, h->vectors, h->parents,
                               h->level_of);
}
