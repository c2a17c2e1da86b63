/* The exact graph (X of FL18): the clusters of least cost at the mean of c. For the
 * shared isotropic family that is the distance between means; for the others it is the
 * joint density that decides which clusters an item near mu_c would hold. C^2 pairs a
 * step. */
#include <math.h>

#include "base/parallel.h"
#include "search/graph.h"

typedef struct exact {
    vem_i_graph graph;
    vem_view means; /* as items */
    /* How the nearest means of a mean are found: in general, and, where that keeps lists,
     * when so many clusters were dropped that all are near. */
    vem_i_search *nearest, *few;
    vem_i_search *looks; /* the one of this step */
} exact;

/* One more than needed: the cluster itself may not be its own best under a free prior. */
static vem_i_search_spec nearest_for(int32_t clusters, int32_t capacity, int32_t reach)
{
    vem_i_search_spec spec =
        vem_i_search_closest(clusters, reach < clusters ? reach + 1 : clusters, 0);
    vem_i_search_make_room(&spec, capacity);
    return spec;
}

static vem_i_search_spec few_for(const vem_i_search_spec *spec)
{
    return vem_i_search_all(spec->reach < spec->clusters ? spec->reach + 1
                                                         : spec->clusters);
}

/* The lists are too long to be sorted: the costs of all are there, those of the clusters
 * that are not among the nearest are +inf. Those that are one too many are struck out. */
static int32_t take_dense(const exact *t, const vem_i_block *block, int32_t p,
                          int32_t cluster, int32_t *near)
{
    const vem_i_kernels *kernels = block->scorer->kernels;
    int64_t ldv = block->capacity;
    int32_t others = 0, kept = 0, room = t->graph.reach - 1;
    for (int32_t c = 0; c < t->graph.clusters; c++)
        others +=
            c != cluster && isfinite(vem_i_value(kernels, block->costs, c * ldv + p));
    for (; others > room; others--) {
        int32_t worst = -1;
        double most = -INFINITY;
        for (int32_t c = 0; c < t->graph.clusters; c++) {
            double cost = vem_i_value(kernels, block->costs, c * ldv + p);
            if (c != cluster && isfinite(cost) && cost >= most) {
                most = cost;
                worst = c;
            }
        }
        vem_i_store(kernels, block->costs, worst * ldv + p, INFINITY);
    }
    for (int32_t c = 0; c < t->graph.clusters; c++)
        if (c != cluster && isfinite(vem_i_value(kernels, block->costs, c * ldv + p)))
            near[kept++] = c;
    return kept;
}

/* G_c from what was found for the mean of c. */
static void take_neighbors(const exact *t, const vem_i_block *block, int32_t p,
                           int32_t cluster)
{
    const vem_i_graph *g = &t->graph;
    int32_t *near = g->neighbors + (int64_t)cluster * g->reach, kept = 1;
    near[0] = cluster;
    if (t->looks->spec.dense) {
        kept += take_dense(t, block, p, cluster, near + 1);
    } else {
        for (int32_t r = 0; r < t->looks->spec.held && kept < g->reach; r++) {
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
    const exact *t = arg;
    const vem_i_block *block = vem_i_search_block(t->looks, number, thread);
    for (int32_t p = 0; p < block->n; p++)
        take_neighbors(t, block, p, (int32_t)block->first + p);
}

static int64_t prepare(vem_i_search *search, const vem_i_step_plan *plan, double average,
                       const int32_t *held)
{
    (void)plan, (void)average, (void)held;
    exact *t = (exact *)search;
    const vem_i_scorer *scorer = search->scorer;
    t->graph.step++;
    if (t->graph.reach == 1) /* G_c is c: nothing to find */
        return 0;
    t->means.n = t->means.global_n = scorer->clusters;
    t->looks =
        nearest_for(t->graph.clusters, t->graph.clusters, t->graph.reach).dense && t->few
            ? t->few
            : t->nearest;
    const int32_t items = t->looks->blocks[0].capacity;
    vem_i_parallel_light(search->run, vem_i_shards(scorer->clusters, items),
                         (double)items * scorer->clusters * scorer->d, run_block, t);
    return (int64_t)scorer->clusters * scorer->clusters;
}

static void find(vem_i_search *search, vem_i_block *block, const int32_t *before)
{
    int32_t counts[VEM_I_BLOCK];
    vem_i_graph_find((vem_i_graph *)search, block, before, counts);
}

/* Looking up a candidate costs so many operations. */
static double work(const vem_i_search_spec *spec, double n, double pair)
{
    const double c = spec->clusters;
    return n * vem_i_graph_candidates(spec) * (1 + 700 / pair) + c * c;
}

static vem_status create(vem_i_search *search)
{
    exact *t = (exact *)search;
    const vem_i_scorer *scorer = search->scorer;
    const vem_i_search_spec nearest =
        nearest_for(search->spec.clusters, search->spec.capacity, search->spec.reach);
    const vem_i_search_spec few = few_for(&search->spec);
    t->means = (vem_view){.kernels = scorer->kernels,
                          .x = scorer->means,
                          .n = scorer->clusters,
                          .global_n = scorer->clusters,
                          .ld = scorer->ldc,
                          .d = scorer->d};
    vem_status status =
        vem_i_search_new(search->run, &nearest, &t->means, scorer, &t->nearest);
    if (status == VEM_OK && !nearest.dense)
        status = vem_i_search_new(search->run, &few, &t->means, scorer, &t->few);
    return status == VEM_OK ? vem_i_graph_create(search) : status;
}

static void release(vem_i_search *search)
{
    vem_i_search_free(((exact *)search)->nearest);
    vem_i_search_free(((exact *)search)->few);
    vem_i_graph_free(search);
}

const vem_i_search_type vem_i_search_type_exact = {.size = sizeof(exact),
                                                   .apart = 1,
                                                   .stretch = vem_i_graph_shard,
                                                   .scratch_size = sizeof(vem_i_tries),
                                                   .scratch = vem_i_graph_scratch,
                                                   .shape = vem_i_graph_shape,
                                                   .work = work,
                                                   .create = create,
                                                   .free = release,
                                                   .prepare = prepare,
                                                   .next_block = vem_i_search_next,
                                                   .find = find,
                                                   .renumber = vem_i_graph_renumber,
                                                   .place = vem_i_graph_place,
                                                   .record = vem_i_graph_record};
