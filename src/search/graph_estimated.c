/* The estimated graph (S of FL18): learned from the pairs the E-step scores anyway.
 *
 *     o(n)      nearest cluster of item n among those it tried
 *     dhat(c,t) = average of d(n,t) over items with o(n) = c that tried t;  dhat(c,c) = 0
 *     G_c       = c and the reach - 1 smallest dhat(c, .)
 *
 * A shard writes what its items touched; a wave of shards is merged cluster by cluster in
 * the order of the shards (graph_merge.c), so the averages do not depend on threads. */
#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "coarse/hierarchy.h"
#include "search/graph.h"

/* ---- a step ---- */

static int64_t prepare(vem_i_search *search, const vem_i_step_plan *plan, double average,
                       const int32_t *held)
{
    (void)plan, (void)average, (void)held;
    ((vem_i_graph *)search)->step++;
    return 0;
}

static void begin_shard(vem_i_search *search, const vem_i_block *block, int64_t slot)
{
    const vem_i_estimated *g = (const vem_i_estimated *)search;
    vem_i_notes *own = block->scratch;
    own->touched = 0;
    own->strip_count = 0;
    own->touches = g->touches + slot * g->touch_capacity;
}

static int64_t range_of(const vem_i_estimated *g, int32_t cluster)
{
    return (int64_t)cluster * VEM_I_RANGES / g->graph.clusters;
}

/* The items of the shard by range of their nearest cluster. */
static void end_shard(vem_i_search *search, const vem_i_block *block, int64_t slot)
{
    const vem_i_estimated *g = (const vem_i_estimated *)search;
    const vem_i_notes *own = block->scratch;
    vem_i_strip *to = g->strips + slot * g->strip_capacity;
    int64_t *starts = g->range_starts + slot * (VEM_I_RANGES + 1), *ends = starts + 1;
    memset(starts, 0, (VEM_I_RANGES + 1) * sizeof *starts);
    for (int32_t i = 0; i < own->strip_count; i++)
        ends[range_of(g, own->strips[i].nearest)]++;
    vem_i_bucket_places(ends, VEM_I_RANGES, 1, 0, 0);
    for (int32_t i = 0; i < own->strip_count; i++)
        to[ends[range_of(g, own->strips[i].nearest)]++] = own->strips[i];
}

/* How far a cluster is from an item, for the averages of the graph: the distance where a
 * cluster has no shape, its cost otherwise. Distances are in standard deviations of the
 * first cluster, so that they are numbers of single precision whatever the scale of the
 * data. */
static inline float farness(const vem_i_scorer *s, int dots, int shared, int single,
                            double cost, int32_t cluster)
{
    if (!dots)
        return (float)cost;
    const float *bias = s->bias;
    double square =
        cost - (single ? (double)bias[cluster] : ((const double *)s->bias)[cluster]);
    if (!shared) /* else all have the same scale */
        square *= vem_i_value(s->kernels, s->scale, 0) /
                  vem_i_value(s->kernels, s->scale, cluster);
    return square > 0 ? (float)sqrt(square) : 0;
}

/* What item p tried, its nearest cluster among it. `dots`, `shared` and `single` are
 * constants here. */
static inline void learn_as(const vem_i_block *block, int32_t p, int32_t count, int dots,
                            int shared, int single, vem_i_touch *touches)
{
    int64_t ldv = block->capacity;
    for (int32_t r = 0; r < count; r++) {
        int64_t at = r * ldv + p;
        double cost = single ? (double)((const float *)block->tile)[at]
                             : ((const double *)block->tile)[at];
        int32_t other = block->trial[at];
        touches[r] = (vem_i_touch){other, farness(block->scorer, dots, shared, single,
                                                  cost, other)};
    }
}

static void learn(const vem_i_block *block, int32_t p, int32_t count, vem_i_notes *own)
{
    const vem_i_scorer *s = block->scorer;
    const vem_i_family *family = s->family;
    const int single = s->kernels->precision == VEM_SINGLE;
    int32_t nearest = block->index[p];
    vem_i_touch *touches = own->touches + own->touched;
    if (nearest < 0 || vem_i_view_mass(block->view, block->first + p) <= 0)
        return;
    if (vem_i_is_plain(family) && single)
        learn_as(block, p, count, 1, 1, 1, touches);
    else
        learn_as(block, p, count, family->dots, family->shared, single, touches);
    own->strips[own->strip_count++] =
        (vem_i_strip){.nearest = nearest, .count = count, .first = own->touched};
    own->touched += count;
}

static void find(vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    int32_t counts[VEM_I_BLOCK];
    vem_i_graph_find((vem_i_graph *)search, block, before, counts);
    for (int32_t p = 0; p < block->n; p++)
        learn(block, p, counts[p], block->scratch);
}

/* ---- its life ---- */

/* Neighbors are the members of the groups near a cluster's own; what was drawn at random stands
 * where those are too few. */
static void take_near(vem_i_graph *g, const vem_i_hierarchy *h)
{
    for (int32_t i = 0; i < g->clusters; i++) {
        int32_t cluster = h->members[i]; /* groups of one: their number is the place */
        int32_t *own = g->neighbors + (int64_t)cluster * g->reach, kept = 1;
        const int32_t *near = h->near + (int64_t)i * VEM_I_TOP_MAX;
        for (int32_t k = 0; k < h->near_count && kept < g->reach; k++)
            if (near[k] >= 0 && near[k] != i)
                own[kept++] = h->members[near[k]];
    }
}

/* Neighbors to begin with, from the coarse buckets of the means instead of at random:
 * C sqrt(C) distances. */
static vem_status start(vem_i_search *search, int64_t *pairs)
{
    vem_i_graph *g = (vem_i_graph *)search;
    const vem_i_scorer *scorer = search->scorer;
    if (g->reach == 1)
        return VEM_OK;
    vem_i_hierarchy h;
    vem_status status = vem_i_hierarchy_new(search->run, scorer->kernels,
                                            scorer->clusters, scorer->d, 1, &h);
    if (status != VEM_OK)
        return status;
    if (!search->run->counted) {
        *pairs += vem_i_hierarchy_build(&h, scorer, 1);
        *pairs += vem_i_hierarchy_near(&h, scorer, g->reach);
        take_near(g, &h);
    }
    vem_i_hierarchy_free(&h);
    return VEM_OK;
}

/* They become neighbors. */
static void place(vem_i_search *search, int32_t cluster, int32_t beside)
{
    const vem_i_graph *g = (const vem_i_graph *)search;
    vem_i_graph_place(search, cluster, beside);
    if (g->reach == 1 || cluster == beside)
        return;
    int32_t *own = g->neighbors + (int64_t)cluster * g->reach, kept = 2;
    int32_t *other = g->neighbors + (int64_t)beside * g->reach, at = 1;
    own[1] = beside;
    for (int32_t k = 1; k < g->reach && kept < g->reach; k++)
        if (other[k] != cluster)
            own[kept++] = other[k];
    /* In front, so that several clusters put beside the same one do not drive each other
     * out; the last neighbor makes room. */
    while (at < g->reach - 1 && other[at] != cluster)
        at++;
    memmove(other + 2, other + 1, (size_t)(at - 1) * sizeof *other);
    other[1] = cluster;
}

/* Averages kept per cluster. With no more clusters than this the graph is the exact
 * average over all touched pairs. */
static int32_t slots_for(const vem_i_search_spec *spec)
{
    return 4 * spec->reach + 12;
}

static size_t list_scratch(const vem_i_search_spec *spec, int32_t d,
                           const vem_i_kernels *kernels, void *of, vem_i_room *list)
{
    vem_i_notes *m = of;
    const size_t clusters = (size_t)spec->capacity;
    const size_t own = clusters / VEM_I_RANGES + 1; /* clusters of one range, at most */
    size_t count = vem_i_graph_scratch(spec, d, kernels, &m->tries, list);
    list[count++] =
        (vem_i_room){&m->strips, (size_t)vem_i_graph_shard(spec), sizeof *m->strips, 0};
    list[count++] = (vem_i_room){&m->others, clusters, sizeof *m->others, 1};
    list[count++] = (vem_i_room){&m->listed, clusters + 1, sizeof(int32_t), 0};
    list[count++] =
        (vem_i_room){&m->averages, (size_t)slots_for(spec), sizeof *m->averages, 0};
    list[count++] = (vem_i_room){&m->heads, own, sizeof *m->heads, 0};
    list[count++] = (vem_i_room){&m->tails, own, sizeof *m->tails, 0};
    return count;
}

enum { ARRAYS = 5 };

static void list_arrays(const vem_i_search_spec *spec, vem_i_estimated *g,
                        vem_i_room *list)
{
    const size_t clusters = (size_t)spec->capacity;
    const size_t strips = (size_t)vem_i_graph_shard(spec);
    const size_t touches = strips * (size_t)vem_i_graph_candidates(spec);
    const vem_i_room arrays[ARRAYS] = {
        {&g->evidence, clusters, (size_t)slots_for(spec) * sizeof *g->evidence, 0},
        {&g->used, clusters, sizeof *g->used, 1},
        {&g->touches, VEM_I_WAVE, touches * sizeof *g->touches, 0},
        {&g->strips, VEM_I_WAVE, strips * sizeof *g->strips, 0},
        {&g->range_starts, VEM_I_WAVE, (VEM_I_RANGES + 1) * sizeof *g->range_starts, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

/* Looking up a candidate, and learning from it, costs so many operations. */
static double work(const vem_i_search_spec *spec, double n, double pair)
{
    return n * vem_i_graph_candidates(spec) * (1 + 1500 / pair);
}

static vem_status create(vem_i_search *search)
{
    vem_i_estimated *g = (vem_i_estimated *)search;
    vem_i_room list[ARRAYS];
    list_arrays(&search->spec, g, list);
    search->wave = VEM_I_WAVE;
    g->slots = slots_for(&search->spec);
    g->strip_capacity = vem_i_graph_shard(&search->spec);
    g->touch_capacity = g->strip_capacity * vem_i_graph_candidates(&search->spec);
    vem_status status = vem_i_take_rooms(search->run, list, ARRAYS);
    if (status == VEM_OK && search->run->comm)
        status = vem_i_learned_new(g);
    return status == VEM_OK ? vem_i_graph_create(search) : status;
}

static void release(vem_i_search *search)
{
    vem_i_room list[ARRAYS];
    list_arrays(&search->spec, (vem_i_estimated *)search, list);
    vem_i_free_rooms(list, ARRAYS);
    vem_i_learned_free((vem_i_estimated *)search);
    vem_i_graph_free(search);
}

/* Of a wave: it is merged where all of it is. */
static int64_t stretch(const vem_i_search_spec *spec)
{
    return VEM_I_WAVE * vem_i_graph_shard(spec);
}

const vem_i_search_type vem_i_search_type_estimated = {.size = sizeof(vem_i_estimated),
                                                       .apart = 1,
                                                       .stretch = stretch,
                                                       .found = vem_i_learned_list,
                                                       .found_again = vem_i_learned_again,
                                                       .scratch_size =
                                                           sizeof(vem_i_notes),
                                                       .scratch = list_scratch,
                                                       .shape = vem_i_graph_shape,
                                                       .work = work,
                                                       .create = create,
                                                       .free = release,
                                                       .prepare = prepare,
                                                       .next_block = vem_i_search_next,
                                                       .find = find,
                                                       .begin_shard = begin_shard,
                                                       .end_shard = end_shard,
                                                       .end_wave = vem_i_estimated_merge,
                                                       .settle = vem_i_estimated_settle,
                                                       .start = start,
                                                       .renumber = vem_i_graph_renumber,
                                                       .place = place,
                                                       .record = vem_i_graph_record};
