/* What the two graphs share: their memory, their random beginning, and what happens when
 * clusters are dropped or added. */
#include "search/graph.h"

#include "base/rng.h"

/* Touches of one shard, at most: items per shard follow from it. */
static const int64_t SHARD_TOUCHES = 1 << 15;
enum { MOST_SHARD_ITEMS = 1024 };

int32_t vem_i_graph_candidates(const vem_i_search_spec *spec)
{
    int64_t most = (int64_t)spec->held * spec->reach + spec->explore;
    return most < spec->capacity ? (int32_t)most : spec->capacity;
}

int64_t vem_i_graph_shard(const vem_i_search_spec *spec)
{
    int64_t items = SHARD_TOUCHES / vem_i_graph_candidates(spec);
    return items < 1 ? 1 : items > MOST_SHARD_ITEMS ? MOST_SHARD_ITEMS : items;
}

vem_i_block_shape vem_i_graph_shape(const vem_i_search_spec *spec,
                                    const vem_i_kernels *kernels)
{
    (void)kernels;
    const size_t tried = (size_t)vem_i_graph_candidates(spec);
    /* A row more than can be tried: where the next one would go. */
    return (vem_i_block_shape){.items = VEM_I_BLOCK,
                               .rows = (size_t)spec->held + 1,
                               .tile_rows = tried,
                               .trial_rows = tried + 1};
}

size_t vem_i_graph_scratch(const vem_i_search_spec *spec, int32_t d,
                           const vem_i_kernels *kernels, void *tries, vem_i_room *list)
{
    (void)d, (void)kernels;
    vem_i_tries *t = tries;
    list[0] = (vem_i_room){&t->stamps, (size_t)spec->capacity, sizeof *t->stamps, 1};
    list[1] = (vem_i_room){&t->drawn, (size_t)spec->held, sizeof *t->drawn, 0};
    return 2;
}

/* Cluster c and others at random: the graph before anything is known. */
static void draw(vem_i_graph *g, int32_t cluster)
{
    vem_i_rng rng =
        vem_i_rng_at(g->search.spec.seed, VEM_RNG_GRAPH, g->step, (uint64_t)cluster);
    int32_t *near = g->neighbors + (int64_t)cluster * g->reach;
    near[0] = cluster;
    vem_i_rng_distinct(&rng, g->clusters, cluster, g->reach - 1, near + 1);
}

vem_status vem_i_graph_create(vem_i_search *search)
{
    vem_i_graph *g = (vem_i_graph *)search;
    /* A loop after one in which clusters were dropped begins with those that are left. */
    g->clusters = search->scorer->clusters;
    g->reach = search->spec.reach < g->clusters ? search->spec.reach : g->clusters;
    search->shard = vem_i_graph_shard(&search->spec);
    search->tried = vem_i_graph_candidates(&search->spec);
    vem_status status =
        vem_i_take(search->run, &g->neighbors, (size_t)search->spec.capacity,
                   (size_t)g->reach * sizeof(int32_t));
    for (int32_t c = 0; status == VEM_OK && g->neighbors && c < g->clusters; c++)
        draw(g, c);
    return status;
}

void vem_i_graph_free(vem_i_search *search)
{
    vem_i_free(((vem_i_graph *)search)->neighbors);
}

void vem_i_graph_place(vem_i_search *search, int32_t cluster, int32_t beside)
{
    (void)beside;
    vem_i_graph *g = (vem_i_graph *)search;
    if (cluster < g->clusters)
        return;
    g->clusters = cluster + 1;
    draw(g, cluster);
}

void vem_i_graph_renumber(vem_i_search *search, const int32_t *map, int32_t clusters)
{
    vem_i_graph *g = (vem_i_graph *)search;
    int32_t before = g->clusters, reach = g->reach < clusters ? g->reach : clusters;
    g->clusters = clusters;
    for (int32_t c = 0; c < before; c++) {
        if (map[c] < 0)
            continue;
        /* Rows only move to lower places, so this may be done in place. */
        const int32_t *from = g->neighbors + (int64_t)c * g->reach;
        int32_t *to = g->neighbors + (int64_t)map[c] * reach, kept = 0;
        for (int32_t k = 0; k < g->reach && kept < reach; k++)
            if (map[from[k]] >= 0)
                to[kept++] = map[from[k]];
        for (int32_t c2 = 0; kept < reach; c2++) {
            int32_t k = 0;
            while (k < kept && to[k] != c2)
                k++;
            if (k == kept)
                to[kept++] = c2;
        }
    }
    g->reach = reach;
}

/* The neighbors, and the number of the step, which keys the random candidates; the evidence
 * of `estimated` is empty between two steps. */
void vem_i_graph_record(vem_i_record *r, vem_i_search *search, int32_t clusters,
                        const int32_t *held)
{
    (void)held;
    vem_i_graph *g = (vem_i_graph *)search;
    int64_t reach = g->reach, step = g->step;
    vem_i_record_count(r, "reach", &reach, 1, g->reach);
    vem_i_record_count(r, "graph", &step, 0, UINT32_MAX);
    if (r->status != VEM_OK)
        return;
    g->clusters = clusters;
    g->reach = (int32_t)reach;
    g->step = (uint32_t)step;
    vem_i_record_indices(r, "neighbors", g->neighbors, (size_t)clusters * (size_t)reach,
                         0, clusters - 1);
    for (int64_t c = 0; r->reading && r->status == VEM_OK && c < clusters; c++)
        if (g->neighbors[c * reach] != c)
            vem_i_record_refuse(r, "neighbors"); /* what F rests on (graph.h) */
}
