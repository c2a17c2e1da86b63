/* The verb `hierarchy`: the centres of a model under fewer centres, for indexes that descend.
 *
 * With C clusters and L levels the level above l has C^((L - 1 - l) / L) nodes, so that every node
 * has about C^(1/L) children: one who descends compares a query with L C^(1/L) centres, not with C.
 * A level is the hard k-means of the one below it, by the masses of the clusters where the model has
 * weights of its own; a child's parent is the nearest node above, which is where a descent looks for
 * it first. */
#include <math.h>
#include <string.h>

#include "api/fitting.h"
#include "base/memory.h"
#include "base/structs.h"
#include "data/points.h"
#include "io/io.h"
#include "model/family.h"
#include "use/assign.h"

enum {
    LEVELS_MAX = 8,
    TWO_LEVELS =
        65536, /* clusters up to which two levels have at most 256 children a node */
};

struct vem_hierarchy {
    int32_t clusters, levels, nodes, d;
    vem_metric metric;             /* of the model: all levels have it */
    double *vectors;               /* nodes x d, in the units of the data */
    double *mass;                  /* nodes */
    int32_t *parents;              /* nodes; -1: at the top */
    int32_t *level_of;             /* nodes; 0: clusters */
    int32_t first[LEVELS_MAX + 1]; /* node of each level */
};

void vem_hierarchy_free(vem_hierarchy *h)
{
    if (!h)
        return;
    vem_i_free(h->vectors);
    vem_i_free(h->mass);
    vem_i_free(h->parents);
    vem_i_free(h->level_of);
    vem_i_free(h);
}

/* Nodes of the level, at most. */
static int32_t nodes_of(const vem_hierarchy *h, int32_t level)
{
    const double share = (double)(h->levels - level) / h->levels;
    const double nodes = round(pow(h->clusters, share));
    return level == 0 ? h->clusters : nodes < 1 ? 1 : (int32_t)nodes;
}

static vem_status new_hierarchy(vem_i_run *run, const vem_model *model, int32_t levels,
                                vem_hierarchy **made)
{
    vem_hierarchy *h = NULL;
    int64_t nodes = 0;
    vem_status status = vem_i_take_zeroed(run, &h, 1, sizeof *h);
    if (status != VEM_OK)
        return status;
    *made = h;
    h->clusters = model->clusters;
    h->levels = levels;
    h->d = model->d;
    h->metric = vem_model_metric(model);
    for (int32_t l = 0; l < levels; l++)
        nodes += nodes_of(h, l);
    if (nodes > INT32_MAX)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%d levels of %d clusters have more than %d nodes.", levels,
                          model->clusters, INT32_MAX);
    const vem_i_room rooms[] = {{&h->vectors, (size_t)nodes,
                                 (size_t)h->d * sizeof *h->vectors, 0},
                                {&h->mass, (size_t)nodes, sizeof *h->mass, 0},
                                {&h->parents, (size_t)nodes, sizeof *h->parents, 0},
                                {&h->level_of, (size_t)nodes, sizeof *h->level_of, 0}};
    status = vem_i_take_rooms(run, rooms, VEM_I_COUNT(rooms));
    if (status != VEM_OK)
        return status;
    h->nodes = h->first[1] = model->clusters;
    for (int32_t c = 0; c < h->clusters; c++) {
        h->mass[c] = model->prior == VEM_PRIOR_FREE ? model->weights[c] : 1;
        h->parents[c] = -1;
        h->level_of[c] = 0;
    }
    for (int64_t i = 0; i < (int64_t)h->clusters * h->d; i++)
        h->vectors[i] = model->means[i];
    return VEM_OK;
}

/* ---- one level ---- */

/* The nodes of a level as rows. */
static vem_status rows_of(vem_i_run *run, const vem_hierarchy *h, int32_t level,
                          vem_data **rows)
{
    const int64_t first = h->first[level], count = h->first[level + 1] - first;
    const vem_status status =
        vem_data_borrow(run->ctx, VEM_FLOAT64, h->vectors + first * h->d, count, h->d, 0,
                        0, rows);
    return status == VEM_OK
               ? vem_data_set_weights(run->ctx, *rows, h->mass + first, count)
               : status;
}

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

/* Those of the model's means that are nearest to a row become the next level. */
static void append(vem_hierarchy *h, int32_t level, const vem_model *model,
                   const int32_t *nearest, int32_t *number)
{
    const int64_t d = h->d;
    const int32_t first = h->first[level], end = h->first[level + 1];
    for (int32_t c = 0; c < model->clusters; c++)
        number[c] = -1;
    for (int32_t i = first; i < end; i++)
        number[nearest[i - first]] = 0;
    for (int32_t c = 0; c < model->clusters; c++) {
        if (number[c] < 0)
            continue;
        number[c] = h->nodes;
        memcpy(h->vectors + h->nodes * d, model->means + c * d,
               (size_t)d * sizeof *h->vectors);
        h->mass[h->nodes] = 0;
        h->parents[h->nodes] = -1;
        h->level_of[h->nodes] = level + 1;
        h->nodes++;
    }
    for (int32_t i = first; i < end; i++) {
        h->parents[i] = number[nearest[i - first]];
        h->mass[h->parents[i]] += h->mass[i];
    }
    h->first[level + 2] = h->nodes;
}

static vem_status add_level(vem_i_run *run, vem_hierarchy *h, int32_t level, int64_t seed)
{
    vem_data *rows = NULL;
    vem_model *model = NULL;
    int32_t *nearest = NULL, *number = NULL;
    const int64_t count = h->first[level + 1] - h->first[level];
    int64_t nodes = 0;
    vem_status status = rows_of(run, h, level, &rows);
    if (status == VEM_OK)
        status = count_nodes(run, rows, nodes_of(h, level + 1), &nodes);
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
        append(h, level, model, nearest, number);
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
    if (model->family->counts)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "A hierarchy goes by distances, which a mixture of counts has "
                          "none of.");
    if (o.levels == 0)
        o.levels = model->clusters <= TWO_LEVELS ? 2 : 3;
    if (o.levels < 2 || o.levels > LEVELS_MAX)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The hierarchy has %d levels, but it must have 2 to %d.",
                          o.levels, LEVELS_MAX);
    if (o.seed < 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The seed is %lld, but it must be at least 0.",
                          (long long)o.seed);
    status = new_hierarchy(run, model, o.levels, &made);
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

int32_t vem_hierarchy_nodes(const vem_hierarchy *h)
{
    return h ? h->nodes : 0;
}

int32_t vem_hierarchy_levels(const vem_hierarchy *h)
{
    return h ? h->levels : 0;
}

const double *vem_hierarchy_vectors(const vem_hierarchy *h)
{
    return h ? h->vectors : NULL;
}

const int32_t *vem_hierarchy_parents(const vem_hierarchy *h)
{
    return h ? h->parents : NULL;
}

const int32_t *vem_hierarchy_level_of(const vem_hierarchy *h)
{
    return h ? h->level_of : NULL;
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
