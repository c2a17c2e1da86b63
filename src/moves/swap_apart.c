/* Rounds of swaps of processes that share the items, to the bits of one.
 *
 * Costs of removals are sums of pieces of the items (pieces.c). Gains come from passes over the items of clusters (split.c, shape.c), each of which is a sum of all
 * processes (apart.c); what follows from it each works out for itself. Which clusters may go depends on who
 * would receive their items: a set of clusters for each, as bits, for BATCH clusters at a time in the
 * order of their costs. */
#include "moves/swap_inside.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/together.h"
#include "moves/apart.h"
#include "moves/shape_inside.h"

enum { BATCH = 64 };

struct vem_i_swap_apart {
    vem_i_apart *apart;
    double *sums;           /* C x values of a pass */
    vem_i_halving *halving; /* C */
    void *means;            /* C x d of T */
    unsigned char *goes;    /* C: there are more passes */
    /* Where clusters have shapes. */
    vem_model *now, *best; /* 2 C clusters: halves, and the best so far */
    double *gain;          /* C: of those */
    double *own;           /* C x 2 d: means */
    /* Receivers. */
    unsigned char *sets; /* BATCH x bytes */
    size_t bytes;        /* of C + 1 bits */
    int32_t first;       /* the first of the batch among the removals; -1: none yet */
    /* The pass at hand. */
    int pass;
    vem_i_shape_start start;
};

static int32_t clusters_of(const struct vem_i_swaps *t)
{
    return t->em->model->clusters;
}

/* ---- two halves by their means ---- */

static void split_add(void *arg, int32_t c, int thread, double *sums)
{
    struct vem_i_swaps *t = arg;
    struct vem_i_swap_apart *a = t->apart;
    const vem_i_splittable part = vem_i_apart_part(a->apart, c);
    const int32_t d = t->em->view->d;
    vem_i_halving h = a->halving[c];
    if (!a->goes[c])
        return;
    h.sum = sums;
    h.total = sums[d];
    h.squares = sums[d + 1];
    vem_i_split_pass(t->splitter, &part, a->pass, thread, &h);
    sums[d] = h.total;
    sums[d + 1] = h.squares;
}

static void split_follow(void *arg, int64_t c, int thread)
{
    struct vem_i_swaps *t = arg;
    struct vem_i_swap_apart *a = t->apart;
    const int32_t d = t->em->view->d;
    vem_i_halving *h = &a->halving[c];
    (void)thread;
    if (!a->goes[c])
        return;
    h->sum = a->sums + c * (d + 2);
    h->total = h->sum[d];
    h->squares = h->sum[d + 1];
    a->goes[c] = vem_i_split_follow(t->splitter, a->pass, h) != 0;
}

/* Halves of all clusters that have so many items. */
static void split_all(struct vem_i_swaps *t, int64_t fewest)
{
    struct vem_i_swap_apart *a = t->apart;
    const int64_t d = t->em->view->d;
    const size_t row = (size_t)d * t->em->view->kernels->element;
    for (int32_t c = 0; c < clusters_of(t); c++) {
        a->goes[c] = vem_i_apart_count(a->apart, c) >= fewest;
        a->halving[c] = (vem_i_halving){.mean = (char *)a->means + (size_t)c * row,
                                        .pair = vem_i_swap_half(t, c, 0)};
    }
    for (a->pass = 0; a->pass < VEM_I_SPLIT_PASSES; a->pass++) {
        vem_i_apart_sum(a->apart, a->sums, d + 2, split_add, t);
        vem_i_parallel_light(t->em->run, clusters_of(t), 4.0 * (double)d, split_follow,
                             t);
    }
}

/* ---- halves with shapes ---- */

static int64_t shaped_values(const struct vem_i_swaps *t)
{
    return 2 * t->em->stats.stride + 4;
}

/* The pair of a cluster to the bench of a thread. */
static vem_i_shape_bench *load_pair(const struct vem_i_swaps *t, int64_t c, int thread)
{
    vem_i_shape_bench *b = &t->shaper->benches[thread];
    for (int32_t h = 0; h < 2; h++)
        vem_i_model_put(t->apart->now, (int32_t)(2 * c + h), b->two.model, h);
    return b;
}

static void store_pair(const vem_model *from, int64_t c, vem_model *to)
{
    for (int32_t h = 0; h < 2; h++)
        vem_i_model_put(from, h, to, (int32_t)(2 * c + h));
}

static vem_i_shape_passed load_sums(const vem_i_shape_bench *b, const double *sums,
                                    int64_t values)
{
    memcpy(b->two.stats.block, sums, (size_t)(values - 4) * sizeof *sums);
    sums += values - 4;
    return (vem_i_shape_passed){sums[0], sums[1], {(int64_t)sums[2], (int64_t)sums[3]}};
}

static void shape_add(void *arg, int32_t c, int thread, double *sums)
{
    struct vem_i_swaps *t = arg;
    struct vem_i_swap_apart *a = t->apart;
    const int64_t values = shaped_values(t);
    const vem_i_splittable part = vem_i_apart_part(a->apart, c);
    if (!a->goes[c])
        return;
    vem_i_shape_bench *b = load_pair(t, c, thread);
    vem_i_shape_passed passed = load_sums(b, sums, values);
    vem_i_scorer_prepare(&t->shaper->alone, b->two.model, &b->two.scorer);
    vem_i_shape_pass(t->shaper, b, &part, a->start, a->pass, &passed);
    memcpy(sums, b->two.stats.block, (size_t)(values - 4) * sizeof *sums);
    sums += values - 4;
    sums[0] = passed.gain;
    sums[1] = passed.mass;
    sums[2] = (double)passed.items[0];
    sums[3] = (double)passed.items[1];
}

static void shape_follow(void *arg, int64_t c, int thread)
{
    struct vem_i_swaps *t = arg;
    struct vem_i_swap_apart *a = t->apart;
    const int64_t values = shaped_values(t);
    const double before = a->gain[c];
    if (!a->goes[c])
        return;
    vem_i_shape_bench *b = load_pair(t, c, thread);
    const vem_i_shape_passed passed = load_sums(b, a->sums + c * values, values);
    vem_i_scorer_prepare(&t->shaper->alone, b->two.model, &b->two.scorer);
    a->goes[c] = vem_i_shape_follow(t->shaper, b, (int32_t)c, a->start, a->pass, &passed,
                                    &a->gain[c]) != 0;
    store_pair(b->two.model, c, a->now);
    if (a->gain[c] > before)
        store_pair(b->best, c, a->best);
}

static void shape_begin(void *arg, int64_t c, int thread)
{
    struct vem_i_swaps *t = arg;
    struct vem_i_swap_apart *a = t->apart;
    vem_i_shape_bench *b = &t->shaper->benches[thread];
    const int64_t values = 2 * (int64_t)t->em->view->d;
    if (!a->goes[c])
        return;
    vem_i_shape_begin(t->shaper, b, (int32_t)c, a->start);
    if (a->start == VEM_I_SHAPE_WIDE)
        vem_i_widen(t->em->view->kernels, vem_i_swap_half(t, (int32_t)c, 0), values,
                    b->two.model->means);
    if (a->start == VEM_I_SHAPE_OWN)
        memcpy(b->two.model->means, a->own + c * values, (size_t)values * sizeof(double));
    store_pair(b->two.model, c, a->now);
}

/* The one that has some items of the cluster finds the means. */
static void own_means(void *arg, int64_t c, int thread)
{
    struct vem_i_swaps *t = arg;
    struct vem_i_swap_apart *a = t->apart;
    vem_i_shape_bench *b = &t->shaper->benches[thread];
    const size_t values = 2 * (size_t)t->em->view->d;
    double *means = a->own + (size_t)c * values;
    vem_i_edges edges;
    vem_i_splittable some;
    memset(means, 0, values * sizeof *means);
    if (!a->goes[c] || !vem_i_apart_sample(a->apart, (int32_t)c, &edges, &some))
        return;
    vem_i_shape_begin(t->shaper, b, (int32_t)c, VEM_I_SHAPE_OWN);
    vem_i_shape_own_means(t->shaper, b, &some);
    memcpy(means, b->two.model->means, values * sizeof *means);
}

/* All passes from a start; `halved`: which clusters there are halves of. */
static void shape_from(struct vem_i_swaps *t, const unsigned char *halved)
{
    struct vem_i_swap_apart *a = t->apart;
    vem_i_run *run = t->em->run;
    const int32_t clusters = clusters_of(t);
    memcpy(a->goes, halved, (size_t)clusters);
    if (a->start == VEM_I_SHAPE_OWN) {
        vem_i_parallel(run, clusters, own_means, t);
        run->comm->combine(run->comm, VEM_I_OR_BYTES, a->own,
                           (size_t)clusters * 2 * (size_t)t->em->view->d *
                               sizeof *a->own);
    }
    vem_i_parallel(run, clusters, shape_begin, t);
    a->pass = 0;
    for (int goes = 1; goes && !run->comm->failed; a->pass++) {
        vem_i_apart_sum(a->apart, a->sums, shaped_values(t), shape_add, t);
        vem_i_parallel(run, clusters, shape_follow, t);
        goes = memchr(a->goes, 1, (size_t)clusters) != NULL;
    }
}

static void shape_all(struct vem_i_swaps *t)
{
    struct vem_i_swap_apart *a = t->apart;
    const int32_t clusters = clusters_of(t);
    unsigned char *halved = t->tags; /* which nobody asks before pairs are found */
    for (int32_t c = 0; c < clusters; c++) {
        a->gain[c] = 0;
        halved[c] = a->goes[c] && a->halving[c].gain > 0;
    }
    for (a->start = VEM_I_SHAPE_WIDE; a->start < VEM_I_SHAPE_STARTS; a->start++)
        if (vem_i_shape_tries(t->shaper, a->start))
            shape_from(t, halved);
    memset(halved, VEM_I_UNTOUCHED, (size_t)clusters);
}

/* ---- what a split gains ---- */

void vem_i_swap_apart_begin(struct vem_i_swaps *t)
{
    vem_i_apart_begin(t->apart->apart, t->order);
}

void vem_i_swap_apart_gains(struct vem_i_swaps *t)
{
    struct vem_i_swap_apart *a = t->apart;
    split_all(t, t->shaper ? 2 * t->shaper->fewest : 2);
    if (t->shaper)
        shape_all(t);
    for (int32_t c = 0; c < clusters_of(t); c++) {
        const vem_i_halving *h = &a->halving[c];
        const double gain =
            t->shaper ? a->gain[c]
                      : vem_i_swap_gain_alike(t, c, a->goes[c] ? h->gain : 0, h->mass);
        t->gain[c] = (vem_i_ranked){-gain, c};
    }
}

const vem_model *vem_i_swap_apart_halves(const struct vem_i_swaps *t)
{
    return t->apart->best;
}

/* ---- who receives ---- */

vem_i_splittable vem_i_swap_apart_own(const struct vem_i_swaps *t, int32_t c)
{
    return vem_i_apart_own(t->apart->apart, c);
}

void vem_i_swap_apart_pairs(struct vem_i_swaps *t)
{
    t->apart->first = -1;
}

static void find_receivers(void *arg, int64_t k, int thread)
{
    const struct vem_i_swaps *t = arg;
    const struct vem_i_swap_apart *a = t->apart;
    const int64_t rank = a->first + k;
    unsigned char *set = a->sets + (size_t)k * a->bytes;
    (void)thread;
    memset(set, 0, a->bytes);
    if (rank >= clusters_of(t))
        return;
    const vem_i_splittable own = vem_i_swap_apart_own(t, t->removal[rank].cluster);
    for (int64_t i = 0; i < own.n; i++) {
        const int32_t to = vem_i_swap_receiver(&t->em->posterior, own.items[i]) + 1;
        set[to / 8] |= (unsigned char)(1 << to % 8);
    }
}

const unsigned char *vem_i_swap_apart_receivers(struct vem_i_swaps *t, int32_t rank)
{
    struct vem_i_swap_apart *a = t->apart;
    const int32_t batch = rank / BATCH * BATCH;
    if (batch != a->first) {
        a->first = batch;
        vem_i_parallel(t->em->run, BATCH, find_receivers, t);
        t->em->run->comm->combine(t->em->run->comm, VEM_I_OR_BYTES, a->sets,
                                  BATCH * a->bytes);
    }
    return a->sets + (size_t)(rank - batch) * a->bytes;
}

/* ---- memory ---- */

void vem_i_swap_apart_free(struct vem_i_swaps *t)
{
    struct vem_i_swap_apart *a = t->apart;
    if (!a)
        return;
    vem_i_apart_free(a->apart);
    vem_i_free(a->sums);
    vem_i_free(a->halving);
    vem_i_free(a->means);
    vem_i_free(a->goes);
    vem_i_free(a->gain);
    vem_i_free(a->own);
    vem_i_free(a->sets);
    vem_model_free(a->now);
    vem_model_free(a->best);
    vem_i_free(a);
    t->apart = NULL;
}

static vem_status take_shaped(vem_i_em *em, struct vem_i_swap_apart *a)
{
    const vem_i_shape shape = vem_i_model_shape_with_room(em->model);
    const size_t clusters = (size_t)shape.capacity;
    vem_i_shape twice = vem_i_shape_of(shape.family, 2 * shape.capacity, shape.d);
    vem_status status = vem_i_model_blank(em->run, twice, &a->now);
    if (status == VEM_OK)
        status = vem_i_model_blank(em->run, twice, &a->best);
    if (status == VEM_OK)
        status = vem_i_take(em->run, &a->gain, clusters, sizeof *a->gain);
    if (status == VEM_OK)
        status =
            vem_i_take(em->run, &a->own, clusters, 2 * (size_t)shape.d * sizeof(double));
    return status;
}

vem_status vem_i_swap_apart_new(struct vem_i_swaps *t)
{
    vem_i_em *em = t->em;
    vem_i_run *run = em->run;
    const size_t clusters = (size_t)em->model->capacity, d = (size_t)em->view->d,
                 element = em->view->kernels->element,
                 values = t->shaper ? (size_t)shaped_values(t) : d + 2;
    struct vem_i_swap_apart *a;
    vem_status status = vem_i_take_structs(run, &t->apart, 1, sizeof *a);
    if (status != VEM_OK)
        return status;
    a = t->apart;
    a->bytes = clusters / 8 + 1; /* C + 1 bits */
    const vem_i_room list[] = {
        {&a->sums, clusters, values * sizeof *a->sums, 0},
        {&a->halving, clusters, sizeof *a->halving, 0},
        {&a->means, clusters, d * element, 0},
        {&a->goes, clusters, 1, 0},
        {&a->sets, BATCH, a->bytes, 0},
    };
    status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = vem_i_apart_new(em, t->shaper != NULL, &a->apart);
    if (status == VEM_OK && t->shaper)
        status = take_shaped(em, a);
    return status; /* what is there goes with the swaps */
}
