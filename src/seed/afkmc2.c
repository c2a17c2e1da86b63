/* AFK-MC2 (Bachem et al. 2016), weighted: D^2 sampling by short Markov chains.
 *
 *     c_1 ~ w;   q_i = w_i d2(x_i, c_1) / (2 sum) + w_i / (2 W), once
 *     per further center: a chain of m draws from q; a draw y replaces the state x with
 *     probability min(1, key_y / key_x),  key = w D2 / q,  D2 to the centers so far.
 *
 * The draws do not depend on the centers, so the distances of many chains are taken
 * together: centers come in batches; the candidates of a batch meet all earlier centers
 * in one dense pass of the tile kernel, and only the centers of their own batch one by
 * one. The result is that of the plain algorithm: distances that decide are taken by
 * direct differences, to all centers where the dot form cannot tell the nearest. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "base/rng.h"
#include "coarse/dots.h"
#include "data/together.h"
#include "seed/seed.h"

enum {
    BATCH_DRAWS = 1024, /* candidates that are scored together, about */
    TASK_DRAWS = 64     /* of them in one task, about: several panels of the kernel */
};

typedef struct task {
    const vem_view *view;
    const vem_i_kernels *kernels;
    int64_t chain, batch; /* draws per center; centers per batch */
    double *chances;      /* q of every item; first its d2 to the first center */
    double weighted_d2;   /* sum of w d2 over them */
    vem_i_sampler sampler;
    void *centers, *norms; /* chosen rows, T, and their squared lengths */
    void *ones, *zeros;    /* scale and bias for the kernel */
    int32_t chosen;
    uint64_t seed;
    int64_t *draws;   /* batch x chain items */
    double *uniforms; /* batch x chain */
    double *nearest;  /* batch x chain: D2 so far */
    void *rows;       /* batch x chain: the rows drawn, T */
    double *keys;     /* chain */
    double *drawn;    /* batch x chain: q of the draws, of several processes; else NULL */
    double *masses;   /* and how much they weigh; NULL: 1 */
    int64_t kept;     /* draws whose rows are kept */
    int32_t first;    /* number of the batch's first center */
    int32_t size;     /* centers in this batch */
    char *scratch;    /* per thread */
    size_t scratch_size;
} task;

double vem_i_afkmc2_proposal(double mass, double d2, double total_mass,
                             double total_weighted_d2)
{
    double even = mass / total_mass;
    return total_weighted_d2 > 0 ? 0.5 * mass * d2 / total_weighted_d2 + 0.5 * even
                                 : even;
}

int64_t vem_i_afkmc2_chain(const double *keys, const double *uniforms, int64_t length)
{
    int64_t state = 0;
    for (int64_t j = 1; j < length; j++)
        if (keys[state] == 0 || keys[j] > uniforms[j] * keys[state])
            state = j;
    return state;
}

static int64_t batch_centers(int32_t clusters, int64_t chain)
{
    int64_t batch = BATCH_DRAWS / chain;
    return batch < 1 ? 1 : batch > clusters ? clusters : batch;
}

static double proposal(const void *arg, int64_t item)
{
    return ((const task *)arg)->chances[item];
}

/* Distances to the first center, and the sum of w d2 of a shard. */
static void measure_shard(void *arg, int64_t shard, int thread)
{
    task *t = arg;
    const vem_view *view = t->view;
    const int64_t begin = vem_i_view_shard(view, VEM_I_SEED_SHARD, shard),
                  n = vem_i_view_shard(view, VEM_I_SEED_SHARD, shard + 1) - begin;
    void *out = t->scratch + (size_t)thread * t->scratch_size;
    vem_i_view_distances(view, begin, n, t->centers, view->d, 1, out, VEM_I_SEED_SHARD);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        t->chances[begin + i] = vem_i_value(t->kernels, out, i);
        sum += vem_i_view_mass(view, begin + i) * t->chances[begin + i];
    }
    t->sampler.sums[shard] = sum;
}

/* From distances to chances, and their sum. */
static void sum_shard(void *arg, int64_t shard, int thread)
{
    (void)thread;
    task *t = arg;
    const int64_t end = vem_i_view_shard(t->view, VEM_I_SEED_SHARD, shard + 1);
    double sum = 0;
    for (int64_t i = vem_i_view_shard(t->view, VEM_I_SEED_SHARD, shard); i < end; i++) {
        t->chances[i] = vem_i_afkmc2_proposal(vem_i_view_mass(t->view, i), t->chances[i],
                                              t->view->total_mass, t->weighted_d2);
        sum += t->chances[i];
    }
    t->sampler.sums[shard] = sum;
}

/* Squared distance to the nearest of the chosen centers, by direct differences. */
static double nearest_of_all(const task *t, const void *row)
{
    enum { TOGETHER = 64 };
    double least = INFINITY, out[TOGETHER]; /* room for as many T */
    size_t bytes = (size_t)t->view->d * t->kernels->element;
    for (int32_t c = 0; c < t->chosen; c += TOGETHER) {
        int32_t m = t->chosen - c < TOGETHER ? t->chosen - c : TOGETHER;
        t->kernels->distances(row, t->view->d, 1, t->view->d,
                              (const char *)t->centers + (size_t)c * bytes, t->view->d, m,
                              out, 1);
        for (int32_t k = 0; k < m; k++)
            least = fmin(least, vem_i_value(t->kernels, out, k));
    }
    return least;
}

/* Draws whose rows are kept: those of a batch, or, of a chain longer than that, those of a
 * block; several processes draw a chain at once. */
static int64_t kept_rows(int64_t batch, int64_t chain, int together)
{
    return chain > BATCH_DRAWS && !together ? VEM_I_BLOCK : batch * chain;
}

static char *row_of(const task *t, int64_t draw)
{
    return (char *)t->rows +
           (size_t)(draw % t->kept) * (size_t)t->view->d * t->kernels->element;
}

/* Centers whose candidates make up a task. */
static int64_t task_centers(int64_t chain)
{
    return chain < TASK_DRAWS ? TASK_DRAWS / chain : 1;
}

static vem_i_rng chain_rng(const task *t, int64_t which)
{
    return vem_i_rng_at(t->seed, VEM_RNG_CHAIN, 0, (uint64_t)(t->first + which));
}

static void draw(task *t, int64_t e, vem_i_rng *rng)
{
    double place = vem_i_rng_uniform(rng);
    t->uniforms[e] = vem_i_rng_uniform(rng);
    if (t->drawn)
        return;
    t->draws[e] = vem_i_sampler_draw(&t->sampler, proposal, t, place);
    vem_i_view_copy(t->view, t->draws[e], row_of(t, e));
}

/* All draws of a batch, of several processes: before its tasks begin, because they are made
 * together. */
static void draw_together(vem_i_run *run, task *t)
{
    const int64_t count = t->size * t->chain;
    for (int64_t b = 0; b < t->size; b++) {
        vem_i_rng rng = chain_rng(t, b);
        for (int64_t k = 0; k < t->chain; k++) {
            t->drawn[b * t->chain + k] = vem_i_rng_uniform(&rng);
            vem_i_rng_uniform(&rng);
        }
    }
    vem_i_sampler_draw_all(&t->sampler, proposal, t, t->drawn, count, t->draws);
    vem_i_view_rows(run, t->view, t->draws, count, t->rows);
    vem_i_view_values(run, t->view, t->chances, t->draws, count, t->drawn);
    if (t->masses)
        vem_i_view_values(run, t->view, t->view->mass, t->draws, count, t->masses);
}

/* w D2 / q of a draw. */
static double key_of(const task *t, int64_t e)
{
    if (t->drawn)
        return (t->masses ? t->masses[e] : 1) * t->nearest[e] / t->drawn[e];
    return vem_i_view_mass(t->view, t->draws[e]) * t->nearest[e] /
           proposal(t, t->draws[e]);
}

/* Draws [from, from + n) against all centers that were chosen before the batch began. */
static void meet_earlier(task *t, int64_t from, int32_t n, char *scratch)
{
    const vem_i_kernels *kernels = t->kernels;
    const char *rows = row_of(t, from);
    int32_t d = t->view->d;
    size_t element = kernels->element;
    char *panels = scratch, *norms = panels + VEM_I_BLOCK * (size_t)d * element;
    char *best = norms + VEM_I_BLOCK * element;
    int32_t *index = (int32_t *)(void *)(best + 2 * VEM_I_BLOCK * element);
    kernels->pack(rows, d, NULL, n, d, NULL, panels, norms);
    for (int32_t p = 0; p < 2 * VEM_I_BLOCK; p++) {
        index[p] = -1;
        vem_i_store(kernels, best, p, INFINITY);
    }
    kernels->dot_top(panels, norms, n, d, t->centers, d, t->norms, t->ones, t->zeros,
                     t->chosen, 0, 2, best, index, VEM_I_BLOCK);
    const vem_i_dot_guard guard = vem_i_dot_guard_for(kernels, d, 1);
    for (int32_t p = 0; p < n; p++) { /* second row from here on: -1, look again */
        int32_t *second = &index[VEM_I_BLOCK + p];
        *second = *second >= 0 &&
                          vem_i_dot_doubtful(&guard, vem_i_value(kernels, norms, p),
                                             vem_i_value(kernels, t->norms, index[p]),
                                             vem_i_value(kernels, best, p),
                                             vem_i_value(kernels, best, VEM_I_BLOCK + p))
                      ? -1
                      : 0;
    }
    kernels->iso_pairs(rows, d, NULL, n, d, t->centers, d, t->ones, t->zeros, 1, index,
                       best, VEM_I_BLOCK);
    for (int32_t p = 0; p < n; p++)
        t->nearest[from + p] = index[VEM_I_BLOCK + p] < 0
                                   ? nearest_of_all(t, row_of(t, from + p))
                                   : vem_i_value(kernels, best, p);
}

/* Candidates of some centers of the batch: draw and measure them. */
static void draw_candidates(void *arg, int64_t number, int thread)
{
    task *t = arg;
    int64_t together = task_centers(t->chain), first = number * together;
    int64_t end = first + together < t->size ? first + together : t->size;
    vem_i_rng rng = chain_rng(t, first);
    for (int64_t e = first * t->chain; e < end * t->chain; e += VEM_I_BLOCK) {
        int64_t left = end * t->chain - e;
        int32_t n = left < VEM_I_BLOCK ? (int32_t)left : VEM_I_BLOCK;
        for (int64_t k = e; k < e + n; k++) {
            if (k % t->chain == 0)
                rng = chain_rng(t, k / t->chain);
            draw(t, k, &rng);
        }
        meet_earlier(t, e, n, t->scratch + (size_t)thread * t->scratch_size);
    }
}

/* A new center of this batch: the candidates of the later ones come nearer, or do not. */
static void meet_newest(task *t, int32_t which)
{
    const vem_i_kernels *kernels = t->kernels;
    int32_t d = t->view->d;
    const char *newest =
        (const char *)t->centers + (size_t)(t->chosen - 1) * (size_t)d * kernels->element;
    int64_t end = (int64_t)t->size * t->chain;
    for (int64_t e = (int64_t)(which + 1) * t->chain; e < end; e += VEM_I_BLOCK) {
        int64_t n = end - e < VEM_I_BLOCK ? end - e : VEM_I_BLOCK;
        double out[VEM_I_BLOCK]; /* room for as many T */
        kernels->distances(row_of(t, e), d, n, d, newest, d, 1, out, VEM_I_BLOCK);
        for (int64_t k = 0; k < n; k++) {
            double d2 = vem_i_value(kernels, out, k);
            if (d2 < t->nearest[e + k])
                t->nearest[e + k] = d2;
        }
    }
}

/* Row `from`, or NULL: it is there. */
static void add_center(task *t, const void *from)
{
    const vem_view *view = t->view;
    size_t row = (size_t)view->d * t->kernels->element;
    char *center = (char *)t->centers + (size_t)t->chosen * row;
    if (from)
        memcpy(center, from, row);
    double norm = 0;
    for (int64_t j = 0; j < view->d; j++)
        norm += vem_i_value(t->kernels, center, j) * vem_i_value(t->kernels, center, j);
    int32_t c = t->chosen++;
    vem_i_store(t->kernels, t->norms, c, norm);
    vem_i_store(t->kernels, t->ones, c, 1);
    vem_i_store(t->kernels, t->zeros, c, 0);
}

/* 0: a stop was requested. */
static int start(vem_i_run *run, task *t, const vem_progress *told, vem_i_seeds *seeds)
{
    const vem_view *view = t->view;
    vem_i_sampler_by_mass(&t->sampler);
    vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_CHAIN, 1, 0);
    const double uniform = vem_i_rng_uniform(&rng);
    vem_i_sampler_draw_all(&t->sampler, NULL, NULL, &uniform, 1, seeds->items);
    vem_i_view_rows(run, view, seeds->items, 1, t->centers);
    add_center(t, NULL);
    seeds->chosen = 1;
    const double work = (double)VEM_I_SEED_SHARD * view->d;
    if (vem_i_parallel_watched(run, t->sampler.shards, work, measure_shard, t, told,
                               VEM_I_SKIP))
        return 0;
    t->weighted_d2 = vem_i_view_sum(run, view, VEM_I_SEED_SHARD, t->sampler.sums);
    if (vem_i_parallel_watched(run, t->sampler.shards, work, sum_shard, t, told,
                               VEM_I_SKIP))
        return 0;
    vem_i_sampler_add_up(&t->sampler);
    seeds->pairs += view->global_n;
    return 1;
}

static vem_status choose_all(vem_i_run *run, task *t, int32_t clusters,
                             vem_i_seeds *seeds)
{
    vem_progress told = {.phase = "seed", .total = clusters, .free_energy = NAN};
    if (!start(run, t, &told, seeds))
        return VEM_OK;
    for (t->first = 1; t->first < clusters; t->first += t->size) {
        t->size =
            clusters - t->first < t->batch ? clusters - t->first : (int32_t)t->batch;
        const double work = (double)(t->size * t->chain) * t->chosen * t->view->d;
        const int64_t tasks = vem_i_shards(t->size, task_centers(t->chain));
        if (t->drawn)
            draw_together(run, t);
        if (vem_i_parallel_watched(run, tasks, work / (double)tasks, draw_candidates, t,
                                   &told, VEM_I_SKIP))
            return VEM_OK;
        for (int32_t b = 0; b < t->size; b++) {
            const int64_t *draws = t->draws + b * t->chain;
            for (int64_t k = 0; k < t->chain; k++)
                t->keys[k] = key_of(t, b * t->chain + k);
            int64_t end =
                vem_i_afkmc2_chain(t->keys, t->uniforms + b * t->chain, t->chain);
            seeds->items[t->first + b] = draws[end];
            seeds->pairs += t->chain * t->chosen;
            if (t->drawn)
                add_center(t, row_of(t, b * t->chain + end));
            else {
                vem_i_view_copy(t->view, draws[end],
                                (char *)t->centers + (size_t)t->chosen *
                                                         (size_t)t->view->d *
                                                         t->kernels->element);
                add_center(t, NULL);
            }
            meet_newest(t, b);
            vem_i_residence_check(run);
        }
        told.done = t->first + t->size;
        seeds->chosen = t->first + t->size;
        vem_i_progress(run, &told, 0);
        const vem_status status = vem_i_comm_agree(run);
        if (status != VEM_OK || vem_i_late(run) || run->watch->stop)
            return status;
    }
    return VEM_OK;
}

vem_status vem_i_seed_afkmc2(vem_i_run *run, const vem_view *view, int32_t clusters,
                             int64_t chain, uint64_t seed, vem_i_seeds *seeds)
{
    task t = {.view = view, .kernels = view->kernels, .chain = chain, .seed = seed};
    size_t element = view->kernels->element, d = (size_t)view->d,
           count = (size_t)clusters;
    t.batch = batch_centers(clusters, chain);
    t.kept = kept_rows(t.batch, chain, run->comm != NULL);
    t.sampler.run = run;
    t.sampler.view = view;
    t.sampler.shards = vem_i_view_shards(view, VEM_I_SEED_SHARD);
    size_t together = (size_t)(t.batch * chain);
    t.scratch_size = VEM_I_BLOCK * (d * element + 3 * element + 2 * sizeof(int32_t));
    if (t.scratch_size < VEM_I_SEED_SHARD * element)
        t.scratch_size = VEM_I_SEED_SHARD * element;
    const size_t wide = sizeof(double);
    const vem_i_room list[] = {
        {&t.chances, (size_t)view->n, wide, 0},
        {&t.sampler.sums, (size_t)t.sampler.shards, wide, 0},
        {&t.centers, count, d * element, 0},
        {&t.norms, count, element, 0},
        {&t.ones, count, element, 0},
        {&t.zeros, count, element, 0},
        {&t.draws, together, sizeof(int64_t), 0},
        {&t.uniforms, together, wide, 0},
        {&t.nearest, together, wide, 0},
        {&t.rows, (size_t)t.kept, d * element, 0},
        {&t.keys, (size_t)chain, wide, 0},
        {&t.drawn, run->comm ? together : 0, wide, 0},
        {&t.masses, run->comm && view->mass ? together : 0, wide, 0},
        {&t.scratch, (size_t)run->threads, t.scratch_size, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted)
        status = choose_all(run, &t, clusters, seeds);
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}
