/* The neighborhood searches: partial E-steps (Forster and Luecke 2018).
 *
 *     G(n) = union over c in K(n) of G_c  (+ clusters drawn at random)
 *     K(n) = the C' of least cost in G(n)
 *
 * The work per item is at most C' G + R pairs, whatever the number of clusters. Before
 * the first step an item holds C' clusters drawn at random. Ties prefer what was held. */
#include <string.h>

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
static void propose(const vem_i_graph *g, const vem_i_block *block, int32_t p,
                    const int32_t *before, tried *t)
{
    const vem_i_search_spec *search = &g->search.spec;
    const vem_i_tries *tries = block->scratch;
    const uint64_t item = vem_i_view_key(block->view, block->first + p);
    const int32_t *held = before ? before + (int64_t)p * search->held : tries->drawn;
    if (!before) {
        vem_i_rng rng = vem_i_rng_at(search->seed, VEM_RNG_HELD, 0, item);
        vem_i_rng_distinct(&rng, g->clusters, -1, search->held, tries->drawn);
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

/* `count` marks that no item has used on this thread, one after another; the first. */
static uint32_t new_marks(const vem_i_graph *g, vem_i_tries *t, int32_t count)
{
    if (t->mark > UINT32_MAX - (uint32_t)count) {
        memset(t->stamps, 0, (size_t)g->clusters * sizeof *t->stamps);
        t->mark = 0;
    }
    uint32_t first = t->mark + 1;
    t->mark += (uint32_t)count;
    return first;
}

void vem_i_graph_find(vem_i_graph *g, vem_i_block *block, const int32_t *before,
                      int32_t *counts)
{
    const vem_i_scorer *s = block->scorer;
    vem_i_tries *tries = block->scratch;
    int64_t ldv = block->capacity;
    const int32_t n = block->n;
    int32_t rows = 0;
    uint32_t mark = new_marks(g, tries, n);
    for (int32_t p = 0; p < n; p++) {
        tried t = {.column = block->trial + p,
                   .ldv = ldv,
                   .stamps = tries->stamps,
                   .mark = mark + (uint32_t)p};
        propose(g, block, p, before, &t);
        counts[p] = t.count;
        rows = t.count > rows ? t.count : rows;
        block->pairs += t.count;
    }
    for (int32_t p = 0; p < n; p++)
        for (int32_t r = counts[p]; r < rows; r++)
            block->trial[r * ldv + p] = -1;
    s->family->score_pairs(s, &block->items, rows, block->trial, block->tile, ldv);
    vem_i_block_keep(block, rows, g->search.spec.held + g->search.extra);
}
