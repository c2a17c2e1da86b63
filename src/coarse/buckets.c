/* Coarse buckets of the clusters: a few Lloyd steps over the means mu_c.
 *
 * Nearness is measured by the pooled shape of the clusters,
 *
 *     S = sum_c pi_c S_c,     |x - m|^2_S = (x - m)' S^-1 (x - m),
 *
 * which is the plain distance for the isotropic families. So columns in different units,
 * and clusters that are all stretched the same way, do not mislead the buckets. The centers
 * start at clusters drawn at random; a center without clusters is dropped at the end.
 *
 * How many. With K buckets of which P are tried, n items cost n (K + P C / K) pairs and the
 * buckets (STEPS + 1) C K. For a fixed P the least is at
 *
 *     K = sqrt(P C n / (n + (STEPS + 1) C)).
 *
 * More buckets need more probes for the same recall, and small ones make thin tiles, so the
 * constant in the place of P is what was fastest (2 among 1, 2, 4, ..., 32 on word
 * vectors). */
#include "coarse/buckets.h"

#include <math.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/rng.h"
#include "coarse/lloyd.h"
#include "coarse/nearest.h"

enum { STEPS = 4, WIDTH = 2 };

int32_t vem_i_buckets_wanted(int64_t n, int32_t clusters)
{
    double rows = (double)n, most = (double)clusters;
    double count = sqrt(WIDTH * most * rows / (rows + (STEPS + 1) * most));
    count = fmin(count, most / 2);
    return count < 1 ? 1 : (int32_t)count;
}

int64_t vem_i_buckets_pairs(int32_t clusters, int32_t count)
{
    return (int64_t)(STEPS + 1) * clusters * count;
}

static const vem_progress TOLD = {.phase = "assign", .free_energy = NAN};

static vem_status told_of(vem_i_run *run, vem_status status)
{
    return status == VEM_STOPPED ? vem_i_fail_stopped(run, "while rows were assigned")
                                 : status;
}

vem_status vem_i_buckets_nearest(vem_i_run *run, const vem_i_buckets *buckets,
                                 const vem_view *view, int32_t *nearest)
{
    return told_of(run,
                   vem_i_nearest(run, view, &buckets->scorer, 1, &TOLD, nearest, NULL));
}

/* ---- Making them ---- */

typedef struct making {
    const vem_model *model;
    vem_i_buckets *buckets;
    vem_model *centers; /* the buckets as clusters of the pooled shape */
    int32_t *live;      /* clusters of positive weight */
    int32_t *nearest;   /* bucket of each of those */
    void *means;        /* their means, in the compute type */
} making;

/* Every bucket gets the pooled shape. */
static void pool_shapes(const vem_model *model, vem_model *centers)
{
    const int32_t shapes = vem_i_model_shapes(model);
    const int64_t values = vem_i_shape_values(model->family, model->d);
    double mass = 0;
    for (int32_t s = 0; s < shapes; s++)
        mass += shapes == 1 ? 1 : model->weights[s];
    memset(centers->variances, 0, (size_t)values * sizeof(double));
    for (int32_t s = 0; s < shapes; s++) {
        const double share = (shapes == 1 ? 1 : model->weights[s]) / mass;
        for (int64_t i = 0; i < values; i++)
            centers->variances[i] += share * vem_i_cluster_shape(model, s)[i];
    }
    for (int32_t k = 1; k < vem_i_model_shapes(centers); k++)
        memcpy(vem_i_cluster_shape(centers, k), centers->variances,
               (size_t)values * sizeof(double));
}

/* The clusters by bucket, without the buckets that have none. */
static void sort_clusters(making *m)
{
    vem_i_buckets *b = m->buckets;
    const int64_t d = m->model->d;
    int32_t kept = 0;
    vem_i_bucket_sort(m->nearest, 0, NULL, b->clusters, b->count, b->starts, b->order);
    b->starts[b->count] = b->clusters;
    for (int32_t k = 0; k < b->count; k++) {
        const int32_t begin = b->starts[k], end = b->starts[k + 1];
        if (begin == end)
            continue;
        for (int32_t i = begin; i < end; i++) {
            b->order[i] = m->live[b->order[i]];
            b->bucket_of[b->order[i]] = kept;
        }
        memmove(m->centers->means + kept * d, m->centers->means + k * d,
                (size_t)d * sizeof(double));
        b->starts[kept++] = begin;
    }
    b->starts[kept] = b->clusters;
    b->count = m->centers->clusters = kept;
}

static vem_status make(vem_i_run *run, making *m, const vem_i_kernels *kernels,
                       uint64_t seed)
{
    vem_i_buckets *b = m->buckets;
    const int64_t d = m->model->d;
    vem_view means = {.kernels = kernels,
                      .x = m->means,
                      .n = b->clusters,
                      .global_n = b->clusters,
                      .ld = d,
                      .d = m->model->d};
    for (int64_t i = 0; i < b->clusters; i++)
        vem_i_narrow(kernels, m->model->means + m->live[i] * d, d,
                     (char *)m->means + (size_t)(i * d) * kernels->element);
    pool_shapes(m->model, m->centers);
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_GUIDED, 0, 0);
    vem_i_rng_distinct(&rng, b->clusters, -1, b->count, m->nearest);
    for (int64_t k = 0; k < b->count; k++)
        memcpy(m->centers->means + k * d, m->model->means + m->live[m->nearest[k]] * d,
               (size_t)d * sizeof(double));
    vem_i_lloyd lloyd = {.view = &means,
                         .wide = m->model->means,
                         .list = m->live,
                         .centers = m->centers,
                         .scorer = &b->scorer,
                         .by_shape = 1,
                         .sure = 1,
                         .told = &TOLD,
                         .bucket_of = m->nearest,
                         .starts = b->starts,
                         .members = b->order};
    vem_status status = vem_i_lloyd_run(run, &lloyd, STEPS);
    if (status == VEM_OK)
        status = vem_i_lloyd_assign(run, &lloyd, &means, m->nearest, NULL);
    b->pairs = lloyd.pairs;
    if (status == VEM_OK) {
        sort_clusters(m);
        vem_i_scorer_prepare(run, m->centers, &b->scorer);
    }
    return told_of(run, status);
}

vem_status vem_i_buckets_new(vem_i_run *run, const vem_i_kernels *kernels,
                             const vem_model *model, int32_t count, uint64_t seed,
                             vem_i_buckets *buckets)
{
    vem_i_buckets made = {0};
    making m = {.model = model, .buckets = &made};
    const size_t all = (size_t)model->clusters, index = sizeof(int32_t);
    const vem_i_room kept[] = {
        {&made.order, all, index, 0},
        {&made.bucket_of, all, index, 0},
        {&made.starts, (size_t)count + 1, index, 0},
    };
    const vem_i_room used[] = {
        {&m.live, all, index, 0},
        {&m.nearest, all, index, 0},
        {&m.means, all, (size_t)model->d * kernels->element, 0},
    };
    vem_status status = vem_i_take_rooms(run, kept, VEM_I_COUNT(kept));
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, used, VEM_I_COUNT(used));
    if (status == VEM_OK) {
        for (int32_t c = 0; c < model->clusters; c++) {
            made.bucket_of[c] = -1;
            if (model->weights[c] > 0)
                m.live[made.clusters++] = c;
        }
        made.count = count < made.clusters ? count : made.clusters;
        status =
            vem_i_model_blank(run,
                              vem_i_shape_of(model->family->pooled, made.count, model->d),
                              &m.centers);
    }
    if (status == VEM_OK)
        status =
            vem_i_scorer_new(run, kernels, vem_i_model_shape(m.centers), &made.scorer);
    if (status == VEM_OK)
        status = make(run, &m, kernels, seed);
    vem_model_free(m.centers);
    vem_i_free_rooms(used, VEM_I_COUNT(used));
    if (status == VEM_OK)
        *buckets = made;
    else
        vem_i_buckets_free(&made);
    return status;
}

void vem_i_buckets_free(vem_i_buckets *buckets)
{
    vem_i_free(buckets->order);
    vem_i_free(buckets->starts);
    vem_i_free(buckets->bucket_of);
    vem_i_scorer_free(&buckets->scorer);
    memset(buckets, 0, sizeof *buckets);
}
