/* k-means++ (Arthur and Vassilvitskii), weighted, plain and greedy.
 *
 *     first center  ~ w;   D2_i = min over chosen centers |x_i - c|^2;   next ~ w_i D2_i
 *
 * The greedy variant draws several candidates and keeps the one that leaves the smallest
 * potential  sum_i w_i min(D2_i, |x_i - candidate|^2).  One pass over the rows per center
 * (two for greedy: one to judge, one to take). The last potential is W D times the
 * variance of HFL (8), so the fit need not ask for it again. Of sparse rows of counts a pass meets the
 * values that are there (roots.h). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "data/together.h"
#include "seed/roots.h"
#include "seed/seed.h"

enum { MOST_CANDIDATES = 64, OVERHEAD = 16 /* of a pair of sparse rows, in values */ };

typedef struct task {
    const vem_view *view;
    const vem_i_kernels *kernels;
    double *nearest; /* D2 of every item; +inf before the first center */
    void *distances; /* per thread: candidates x shard, T */
    void *rows;      /* the candidates' rows; of sparse rows NULL, and: */
    vem_i_roots roots;
    double *centers; /* d x candidates, 0 but for the rows that are placed, */
    double squares[MOST_CANDIDATES]; /* which are so long */
    int32_t candidates;              /* in `rows` now */
    int take;                        /* 1: rows[0] is a new center; 0: only judge */
    int32_t *first; /* NULL, or the center D2 is the distance to, of every item */
    int32_t center; /* number of the new center */
    double *judged; /* shards x candidates: potentials */
    vem_i_sampler sampler;
} task;

static double chance(const void *arg, int64_t item)
{
    const task *t = arg;
    double w = vem_i_view_mass(t->view, item);
    return w > 0 ? w * t->nearest[item] : 0;
}

static void run_shard(void *arg, int64_t shard, int thread)
{
    task *t = arg;
    const vem_view *view = t->view;
    const int64_t begin = vem_i_view_shard(view, VEM_I_SEED_SHARD, shard),
                  n = vem_i_view_shard(view, VEM_I_SEED_SHARD, shard + 1) - begin;
    size_t most = (size_t)t->candidates * VEM_I_SEED_SHARD * t->kernels->element;
    char *out = (char *)t->distances + (size_t)thread * most;
    int32_t m = t->take ? 1 : t->candidates;
    if (t->centers)
        vem_i_roots_distances(&t->roots, t->kernels, begin, n, t->centers, t->candidates,
                              t->squares, m, out, VEM_I_SEED_SHARD);
    else
        vem_i_view_distances(view, begin, n, t->rows, view->d, m, out, VEM_I_SEED_SHARD);
    for (int32_t c = 0; c < m; c++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            double d2 = vem_i_value(t->kernels, out, c * (int64_t)VEM_I_SEED_SHARD + i);
            double w = vem_i_view_mass(view, begin + i), *known = &t->nearest[begin + i];
            double least = d2 < *known ? d2 : *known;
            if (t->take && t->first && d2 < *known)
                t->first[begin + i] = t->center;
            if (t->take)
                *known = least;
            sum += w > 0 ? w * least : 0;
        }
        if (t->take)
            t->sampler.sums[shard] = sum;
        else
            t->judged[shard * t->candidates + c] = sum;
    }
}

static double shard_work(const task *t, int32_t centers)
{
    int64_t rows = t->view->n < VEM_I_SEED_SHARD ? t->view->n : VEM_I_SEED_SHARD;
    const vem_i_sparse *x = &t->view->sparse;
    const double each =
        t->centers ? OVERHEAD + (double)(x->ends[0] - x->starts[0]) : (double)t->view->d;
    return (double)rows * (double)centers * each;
}

/* As what comes next are measured to them; then lifted. */
static void place(vem_i_run *run, task *t, const int64_t *items, int32_t count)
{
    if (!t->centers)
        vem_i_view_rows(run, t->view, items, count, t->rows);
    for (int32_t c = 0; t->centers && c < count; c++)
        t->squares[c] =
            vem_i_roots_place(&t->roots, items[c], t->centers, t->candidates, c);
}

static void lift(const task *t, const int64_t *items, int32_t count)
{
    for (int32_t c = 0; t->centers && c < count; c++)
        vem_i_roots_lift(&t->roots, items[c], t->centers, t->candidates, c);
}

static int take_center(vem_i_run *run, task *t, int64_t item, int32_t number,
                       const vem_progress *told)
{
    place(run, t, &item, 1);
    t->center = number;
    t->take = 1;
    if (vem_i_parallel_watched(run, t->sampler.shards, shard_work(t, 1), run_shard, t,
                               told, VEM_I_SKIP))
        return 0;
    lift(t, &item, 1);
    vem_i_sampler_add_up(&t->sampler);
    return 1;
}

/* The potentials of the shards one after the other. */
static void add_judged(void *arg, double *sums, int64_t from, int64_t to)
{
    const task *t = arg;
    for (int64_t c = from; c < to; c++)
        for (int64_t s = t->sampler.from; s < t->sampler.to; s++)
            sums[c] += t->judged[s * t->candidates + c];
}

static int64_t best_candidate(vem_i_run *run, task *t, const int64_t *items,
                              const vem_progress *told)
{
    place(run, t, items, t->candidates);
    t->take = 0;
    if (vem_i_parallel_watched(run, t->sampler.shards, shard_work(t, t->candidates),
                               run_shard, t, told, VEM_I_SKIP))
        return -1;
    lift(t, items, t->candidates);
    int32_t best = 0;
    double least = INFINITY, sums[MOST_CANDIDATES] = {0};
    if (run->comm)
        vem_i_comm_chain(run->comm, sums, t->candidates, add_judged, t);
    else
        add_judged(t, sums, 0, t->candidates);
    for (int32_t c = 0; c < t->candidates; c++) {
        if (sums[c] < least) {
            least = sums[c];
            best = c;
        }
    }
    return items[best];
}

static vem_status choose(vem_i_run *run, task *t, int32_t clusters, uint64_t seed,
                         vem_i_seeds *seeds)
{
    int64_t candidates[MOST_CANDIDATES];
    double uniforms[MOST_CANDIDATES];
    vem_progress told = {.phase = "seed", .total = clusters, .free_energy = NAN};
    if (seeds->told)
        told = *seeds->told;
    for (int64_t i = 0; i < t->view->n; i++)
        t->nearest[i] = INFINITY;
    vem_i_sampler_by_mass(&t->sampler);
    for (int32_t c = 0; c < clusters; c++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_SEEDING, 1, (uint64_t)c);
        int64_t item;
        if (c == 0) {
            uniforms[0] = vem_i_rng_uniform(&rng);
            vem_i_sampler_draw_all(&t->sampler, NULL, NULL, uniforms, 1, &item);
        } else if (!(t->sampler.total > 0)) {
            /* Every row sits on a center: what is left cannot matter, so draw by mass. */
            vem_i_sampler_by_mass(&t->sampler);
            uniforms[0] = vem_i_rng_uniform(&rng);
            vem_i_sampler_draw_all(&t->sampler, NULL, NULL, uniforms, 1, &item);
        } else {
            for (int32_t k = 0; k < t->candidates; k++)
                uniforms[k] = vem_i_rng_uniform(&rng);
            vem_i_sampler_draw_all(&t->sampler, chance, t, uniforms, t->candidates,
                                   candidates);
            item = candidates[0];
            if (t->candidates > 1) {
                item = best_candidate(run, t, candidates, &told);
                if (item < 0)
                    return VEM_OK;
                seeds->pairs += t->view->global_n * t->candidates;
            }
        }
        seeds->items[c] = item;
        seeds->chosen = c + 1;
        if (!take_center(run, t, item, c, &told))
            return VEM_OK;
        seeds->pairs += t->view->global_n;
        if (!seeds->told)
            told.done = c + 1;
        vem_i_progress(run, &told, 0);
        const vem_status status = vem_i_comm_agree(run);
        if (status != VEM_OK || vem_i_late(run) || run->watch->stop)
            return status;
    }
    seeds->variance = t->sampler.total / t->view->total_mass / t->view->d;
    return VEM_OK;
}

vem_status vem_i_seed_plusplus(vem_i_run *run, const vem_view *view, int32_t clusters,
                               int32_t candidates, uint64_t seed, vem_i_seeds *seeds)
{
    task t = {.view = view,
              .kernels = view->kernels,
              .candidates = candidates,
              .first = seeds->first,
              .roots = {view->sparse, seeds->totals}};
    t.sampler.run = run;
    t.sampler.view = view;
    t.sampler.shards = vem_i_view_shards(view, VEM_I_SEED_SHARD);
    size_t element = view->kernels->element, many = (size_t)candidates;
    size_t shards = (size_t)t.sampler.shards;
    const int sparse = vem_i_view_is_sparse(view);
    const vem_i_room list[] = {
        {&t.nearest, (size_t)view->n, sizeof(double), 0},
        {&t.distances, (size_t)run->threads * many, VEM_I_SEED_SHARD * element, 0},
        {&t.rows, sparse ? 0 : many, (size_t)view->d * element, 0},
        {&t.centers, sparse ? many : 0, (size_t)view->d * sizeof(double), 1},
        {&t.judged, shards, many * sizeof(double), 0},
        {&t.sampler.sums, shards, sizeof(double), 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted)
        status = choose(run, &t, clusters, seed, seeds);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
