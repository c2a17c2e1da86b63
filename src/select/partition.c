#include "select/partition.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

vem_status vem_i_partition_new(vem_i_run *run, const vem_i_objective *objective,
                               int64_t n, int32_t capacity, vem_i_partition *g)
{
    const size_t room = (size_t)capacity;
    *g = (vem_i_partition){.capacity = capacity, .stride = vem_i_group_stride(objective)};
    const vem_i_room list[] = {
        {&g->groups, room, (size_t)g->stride * sizeof(double), 0},
        {&g->tallies, room, sizeof(vem_i_tally), 0},
        {&g->seen, room, sizeof(double), 0},
        {&g->identity, room, sizeof(int32_t), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_tour_new(run, n, capacity, &g->tour);
    for (int32_t k = 0; status == VEM_OK && g->identity && k < capacity; k++)
        g->identity[k] = k;
    return status;
}

void vem_i_partition_free(vem_i_partition *g)
{
    vem_i_free(g->groups);
    vem_i_free(g->tallies);
    vem_i_free(g->seen);
    vem_i_free(g->identity);
    vem_i_tour_free(&g->tour);
    *g = (vem_i_partition){0};
}

double *vem_i_partition_at(const vem_i_partition *g, int32_t at)
{
    return g->groups + at * g->stride;
}

typedef struct reading {
    vem_i_parts *parts;
    const vem_model *model;
    vem_i_partition *groups;
} reading;

static void read_group(void *arg, int64_t task, int thread)
{
    const reading *r = arg;
    vem_i_partition *g = r->groups;
    const int64_t begin = g->tour.starts[task], end = g->tour.starts[task + 1];
    double *group = vem_i_partition_at(g, (int32_t)task);
    g->tallies[task] =
        vem_i_parts_gather(r->parts, g->tour.items + begin, end - begin,
                           r->model->means + task * r->model->d, thread, group);
}

void vem_i_partition_read(vem_i_run *run, vem_i_parts *parts, const int32_t *labels,
                          const vem_model *model, vem_i_partition *g)
{
    reading r = {parts, model, g};
    g->count = model->clusters;
    vem_i_tour_sort(&g->tour, g->count, labels, 1, g->identity);
    vem_i_parallel(run, g->count, read_group, &r);
    g->all = (vem_i_tally){0};
    for (int32_t k = 0; k < g->count; k++)
        g->all = vem_i_tally_add(g->all, 1, g->tallies[k]);
}

/* Statistics about means that are numbers of the compute type. */
static void put_stats(const vem_i_objective *o, const vem_i_partition *g,
                      const vem_i_scorer *scorer, double *e, vem_i_stats *stats)
{
    for (int32_t k = 0; k < g->count; k++) {
        const double *group = vem_i_partition_at(g, k);
        for (int64_t j = 0; j < o->d; j++)
            e[j] = group[1 + j] - vem_i_about(scorer, k, j);
        vem_i_moments_put(o->family, o->d, group, e, vem_i_stats_mass(stats, k));
    }
}

vem_status vem_i_partition_model(vem_i_run *run, const vem_i_objective *o,
                                 const vem_i_kernels *kernels, const vem_i_partition *g,
                                 vem_model **model)
{
    const vem_i_shape shape = vem_i_shape_of(o->family, g->count, o->d);
    vem_i_scorer scorer = {0};
    vem_i_stats stats = {0};
    vem_model *made = NULL;
    double *e = NULL;
    vem_status status = vem_i_model_blank(run, shape, &made);
    if (status == VEM_OK)
        status = vem_i_take(run, &e, (size_t)o->d, sizeof *e);
    if (status == VEM_OK)
        status = vem_i_scorer_new(run, kernels, shape, &scorer);
    if (status == VEM_OK)
        status = vem_i_stats_new(run, shape, &stats);
    if (status == VEM_OK) {
        for (int32_t k = 0; k < g->count; k++)
            memcpy(made->means + (int64_t)k * o->d, vem_i_partition_at(g, k) + 1,
                   (size_t)o->d * sizeof(double));
        vem_i_model_set_variance(made, 1);
        vem_i_scorer_prepare(run, made, &scorer);
        put_stats(o, g, &scorer, e, &stats);
        vem_i_maximize(run, &scorer, &stats, &o->constraints, made);
        *model = made;
    } else {
        vem_model_free(made);
    }
    vem_i_free(e);
    vem_i_scorer_free(&scorer);
    vem_i_stats_free(&stats);
    return status;
}
