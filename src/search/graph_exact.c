/* The exact graph (X of FL18): the clusters of least cost at the mean of c. For the
 * shared isotropic family that is the distance between means; for the others it is the
 * joint density that decides which clusters an item near mu_c would hold. C^2 pairs a
 * step. */
#include <math.h>

#include "base/parallel.h"
#include "search/graph_inside.h"

vem_i_search vem_i_graph_nearest_search(int32_t clusters, int32_t reach)
{
    /* One more than needed: the cluster itself may not be its own best under a free
     * prior. */
    return vem_i_search_closest(clusters, reach < clusters ? reach + 1 : clusters, 0);
}

typedef struct task {
    vem_i_graph *graph;
    const vem_i_scorer *scorer;
    vem_view means; /* the means as items */
    vem_i_search search;
} task;

/* The lists are too long to be sorted: the costs of all are there, those of the clusters
 * that are not among the nearest are +inf. Those that are one too many are struck out. */
static int32_t take_dense(const task *t, const vem_i_block *block, int32_t p,
                          int32_t cluster, int32_t *near)
{
    const vem_i_kernels *kernels = t->scorer->kernels;
    int64_t ldv = block->capacity;
    int32_t others = 0, kept = 0, room = t->graph->reach - 1;
    for (int32_t c = 0; c < t->graph->clusters; c++)
        others +=
            c != cluster && isfinite(vem_i_value(kernels, block->costs, c * ldv + p));
    for (; others > room; others--) {
        int32_t worst = -1;
        double most = -INFINITY;
        for (int32_t c = 0; c < t->graph->clusters; c++) {
            double cost = vem_i_value(kernels, block->costs, c * ldv + p);
            if (c != cluster && isfinite(cost) && cost >= most) {
                most = cost;
                worst = c;
            }
        }
        vem_i_store(kernels, block->costs, worst * ldv + p, INFINITY);
    }
    for (int32_t c = 0; c < t->graph->clusters; c++)
        if (c != cluster && isfinite(vem_i_value(kernels, block->costs, c * ldv + p)))
            near[kept++] = c;
    return kept;
}

/* G_c from what was found for the mean of c. */
static void take_neighbors(const task *t, const vem_i_block *block, int32_t p,
                           int32_t cluster)
{
    vem_i_graph *g = t->graph;
    int32_t *near = g->neighbors + (int64_t)cluster * g->reach, kept = 1;
    near[0] = cluster;
    if (t->search.dense) {
        kept += take_dense(t, block, p, cluster, near + 1);
    } else {
        for (int32_t r = 0; r < t->search.held && kept < g->reach; r++) {
            int32_t other = block->index[r * (int64_t)block->capacity + p];
            if (other != cluster && other >= 0)
                near[kept++] = other;
        }
    }
    for (int32_t c = 0; kept < g->reach;
         c++) { /* clusters of weight 0 fill what is left */
        int32_t k = 0;
        while (k < kept && near[k] != c)
            k++;
        if (k == kept)
            near[kept++] = c;
    }
}

static void run_block(void *arg, int64_t number, int thread)
{
    task *t = arg;
    vem_i_block *block = &t->graph->blocks[thread];
    int64_t begin = number * block->capacity, left = t->means.n - begin;
    block->view = &t->means;
    block->scorer = t->scorer;
    vem_i_block_load(block, begin,
                     left < block->capacity ? (int32_t)left : block->capacity);
    t->search.find(&t->search, block, NULL);
    for (int32_t p = 0; p < block->n; p++)
        take_neighbors(t, block, p, (int32_t)(begin + p));
}

int64_t vem_i_graph_prepare(vem_i_graph *graph, const vem_i_scorer *scorer)
{
    graph->step++;
    if (graph->estimated || graph->reach == 1) /* G_c is c: nothing to find */
        return 0;
    task t = {.graph = graph,
              .scorer = scorer,
              .search = vem_i_graph_nearest_search(graph->clusters, graph->reach)};
    t.means = (vem_view){.kernels = scorer->kernels,
                         .x = scorer->means,
                         .n = scorer->clusters,
                         .ld = scorer->ldc,
                         .d = scorer->d};
    int64_t blocks = vem_i_shards(scorer->clusters, graph->blocks[0].capacity);
    double work = (double)graph->blocks[0].capacity * scorer->clusters * scorer->d;
    vem_i_parallel_light(graph->ctx, blocks, work, run_block, &t);
    return (int64_t)scorer->clusters * scorer->clusters;
}
