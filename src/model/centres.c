/* With C clusters and L levels the level above l has C^((L - 1 - l) / L) nodes, so that every node
 * has about C^(1/L) children: one who descends compares a query with L C^(1/L) centres, not with C. */
#include "model/centres.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

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

int32_t vem_i_centres_wanted(const vem_hierarchy *h, int32_t level)
{
    const double share = (double)(h->levels - level) / h->levels;
    const double nodes = round(pow(h->clusters, share));
    return level == 0 ? h->clusters : nodes < 1 ? 1 : (int32_t)nodes;
}

vem_status vem_i_centres_new(vem_i_run *run, const vem_model *model, int32_t levels,
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
        nodes += vem_i_centres_wanted(h, l);
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

vem_status vem_i_centres_rows(vem_i_run *run, const vem_hierarchy *h, int32_t level,
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

void vem_i_centres_append(vem_hierarchy *h, int32_t level, const vem_model *model,
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
