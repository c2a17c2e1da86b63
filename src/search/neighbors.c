/* The neighborhood searches: partial E-steps (Forster and Luecke 2018).
 *
 *     G(n) = union over c in K(n) of G_c  (+ clusters drawn at random)
 *     K(n) = the C' of least cost in G(n)
 *
 * The work per item is at most C' G + R pairs, whatever the number of clusters. Before
 * the first step an item holds C' clusters drawn at random. Ties prefer what was held. */
#include <math.h>

#include "base/rng.h"
#include "search/graph.h"

/* Collects the distinct clusters an item tries, in a column of `trial`. */
typedef struct tried {
    int32_t *column;
    int64_t ldv;
    uint32_t *stamps;
    uint32_t mark;
    int32_t count;
} tried;

/* Without a branch on whether it is new, which nothing could foretell: the column has room
 * for one that is not. */
static inline void try_cluster(tried *t, int32_t cluster)
{
    int fresh = t->stamps[cluster] != t->mark;
    t->stamps[cluster] = t->mark;
    t->column[t->count * t->ldv] = cluster;
    t->count += fresh;
}

/* Fills the column of item p, what it holds first. */
static void propose(const vem_i_search *search, vem_i_block *block, int32_t p,
                    const int32_t *before, tried *t)
{
    const vem_i_graph *g = search->graph;
    uint64_t item = (uint64_t)(block->first + p);
    const int32_t *held = before ? before + (int64_t)p * search->held : block->drawn;
    if (!before) {
        vem_i_rng rng = vem_i_rng_at(search->seed, VEM_RNG_HELD, 0, item);
        vem_i_rng_distinct(&rng, g->clusters, -1, search->held, block->drawn);
    }
    for (int32_t r = 0; r < search->held; r++)
        if (held[r] >= 0)
            try_cluster(t, held[r]);
    for (int32_t r = 0; r < search->held; r++) {
        if (held[r] < 0)
            continue;
        const int32_t *near = g->neighbors + (int64_t)held[r] * g->reach;
        for (int32_t k = 1; k < g->reach; k++)
            try_cluster(t, near[k]);
    }
    if (search->explore > 0) {
        vem_i_rng rng = vem_i_rng_at(search->seed, VEM_RNG_EXPLORE, g->step, item);
        for (int32_t k = 0; k < search->explore; k++)
            try_cluster(t, (int32_t)vem_i_rng_below(&rng, (uint64_t)g->clusters));
    }
    if (t->count < search->held && t->count < g->clusters) {
        /* Clusters were dropped: draw until there are enough to hold. */
        vem_i_rng rng = vem_i_rng_at(search->seed, VEM_RNG_HELD, g->step, item);
        while (t->count < search->held && t->count < g->clusters)
            try_cluster(t, (int32_t)vem_i_rng_below(&rng, (uint64_t)g->clusters));
    }
}

/* How far a cluster is from an item, for the averages of the graph: the distance where a
 * cluster has no shape, its cost otherwise. Distances are in standard deviations of the
 * first cluster, so that they are numbers of single precision whatever the scale of the
 * data. */
static inline float farness(const vem_i_scorer *s, vem_family_kind kind, int single,
                            double cost, int32_t cluster)
{
    if (kind != VEM_ISO_SHARED && kind != VEM_ISO)
        return (float)cost;
    const float *bias = s->bias;
    double square =
        cost - (single ? (double)bias[cluster] : ((const double *)s->bias)[cluster]);
    if (kind == VEM_ISO) /* else all have the same scale */
        square *= vem_i_value(s->kernels, s->scale, 0) /
                  vem_i_value(s->kernels, s->scale, cluster);
    return square > 0 ? (float)sqrt(square) : 0;
}

/* What item p tried, its nearest cluster among it. `kind` and `single` are constants
 * here. */
static inline void learn_as(vem_i_block *block, int32_t p, int32_t count,
                            vem_family_kind kind, int single)
{
    int64_t ldv = block->capacity;
    vem_i_touch *touches = block->touches + block->touched;
    for (int32_t r = 0; r < count; r++) {
        int64_t at = r * ldv + p;
        double cost = single ? (double)((const float *)block->tile)[at]
                             : ((const double *)block->tile)[at];
        int32_t other = block->trial[at];
        touches[r] =
            (vem_i_touch){other, farness(block->scorer, kind, single, cost, other)};
    }
}

static void learn(vem_i_block *block, int32_t p, int32_t count)
{
    const vem_i_scorer *s = block->scorer;
    vem_family_kind kind = s->family->kind;
    int32_t nearest = block->index[p];
    if (nearest < 0 || vem_i_view_mass(block->view, block->first + p) <= 0)
        return;
    if (kind == VEM_ISO_SHARED && s->kernels->precision == VEM_SINGLE)
        learn_as(block, p, count, VEM_ISO_SHARED, 1);
    else
        learn_as(block, p, count, kind, s->kernels->precision == VEM_SINGLE);
    block->runs[block->run_count++] =
        (vem_i_run){.nearest = nearest, .count = count, .first = block->touched};
    block->touched += count;
}

static void find(const vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    const vem_view *view = block->view;
    const vem_i_scorer *s = block->scorer;
    vem_i_graph *g = search->graph;
    int64_t ldv = block->capacity;
    const int32_t n = block->n;
    int32_t rows = 0, count[VEM_I_BLOCK];
    uint32_t mark = vem_i_graph_marks(g, block->thread, n);
    for (int32_t p = 0; p < n; p++) {
        tried t = {.column = block->trial + p,
                   .ldv = ldv,
                   .stamps = g->stamps + (int64_t)block->thread * g->clusters,
                   .mark = mark + (uint32_t)p};
        propose(search, block, p, before, &t);
        count[p] = t.count;
        rows = t.count > rows ? t.count : rows;
        block->pairs += t.count;
    }
    for (int32_t p = 0; p < n; p++)
        for (int32_t r = count[p]; r < rows; r++)
            block->trial[r * ldv + p] = -1;
    s->family->score_pairs(s, vem_i_view_row(view, block->first), view->ld, NULL,
                           block->n, rows, block->trial, block->tile, ldv);
    vem_i_block_keep(block, rows, search->held + search->extra);
    for (int32_t p = 0; g->estimated && p < n; p++)
        learn(block, p, count[p]);
}

vem_i_search vem_i_search_neighbors(vem_search_kind kind, int32_t clusters, int32_t held,
                                    int32_t reach, int32_t explore, uint64_t seed)
{
    return (vem_i_search){.kind = kind,
                          .held = held,
                          .reach = reach < clusters ? reach : clusters,
                          .explore = explore,
                          .seed = seed,
                          .find = find};
}

vem_i_search vem_i_search_for(const vem_options *options, uint64_t seed)
{
    int32_t clusters = (int32_t)options->clusters, held = (int32_t)options->held;
    switch ((vem_search_kind)options->search) {
    case VEM_SEARCH_ALL: return vem_i_search_all(clusters);
    case VEM_SEARCH_CLOSEST: return vem_i_search_closest(clusters, held, options->margin);
    case VEM_SEARCH_GROUPS:
        return vem_i_search_groups(clusters, held, (int32_t)options->reach,
                                   (int32_t)options->probe);
    case VEM_SEARCH_EXACT:
    case VEM_SEARCH_ESTIMATED: break;
    }
    return vem_i_search_neighbors((vem_search_kind)options->search, clusters, held,
                                  (int32_t)options->reach, (int32_t)options->explore,
                                  seed);
}
