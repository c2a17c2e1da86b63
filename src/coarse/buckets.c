/* Coarse buckets of the clusters: a few Lloyd steps over the means mu_c.
 *
 * Nearness is measured by the pooled shape of the clusters,
 *
 *     S = sum_c pi_c S_c,     |x - m|^2_S = (x - m)' S^-1 (x - m),
 *
 * which is the plain distance for the isotropic families. So columns in different units,
 * and clusters that are all stretched the same way, do not mislead the buckets.
 *
 * Twice, from means drawn at random: M regions, by steps over a sample of the means, then
 * the means of each region into its buckets. A center without means is dropped. So K buckets
 * take about C (M + (STEPS + 1) K / M) distances instead of (STEPS + 1) C K, and an item
 * that looks for its nearest buckets need not look at all of them.
 *
 * How many. An item pays 2 M for regions, its share of K for buckets, and the clusters of P
 * buckets. Small buckets need fewer clusters for the same recall, but more centers are looked
 * at and tiles become thin: K = C^0.85 / 18, buckets of 95 clusters (C = 65,536) to 144
 * (a million), M = 2 sqrt(K). Up to about 10,000 clusters K = sqrt(2 C).
 *
 * How many regions for P buckets. On made rows of 32 columns the right bucket is missed
 * about as rarely by its region as by itself where the share of the regions is 0.6 to 1.25
 * times the root of the share of the buckets, for 4,096 to a million clusters:
 *
 *     Q = 1.25 M sqrt(P / K),
 *
 * all where that is half of them, and at least as many as surely have P buckets. One number P says both, so that the recall
 * that is measured for one P holds with the confidence that is stated. */
#include "coarse/buckets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bucket_sort.h"
#include "base/rng.h"
#include "coarse/lloyd.h"
#include "coarse/nearest.h"

enum { STEPS = 4, SAMPLE_PER_REGION = 64 };
static const double REACH = 1.25;

int32_t vem_i_buckets_wanted(int32_t clusters)
{
    const double few = sqrt(2.0 * clusters), many = pow(clusters, 0.85) / 18;
    const double count = fmin(fmax(few, many), clusters / 2.0);
    return count < 1 ? 1 : (int32_t)count;
}

int32_t vem_i_regions_wanted(int32_t count)
{
    const int32_t regions = (int32_t)(2 * sqrt((double)count));
    return regions < count ? regions : count;
}

static int32_t sample_size(int32_t clusters, int32_t regions)
{
    const int64_t most = (int64_t)SAMPLE_PER_REGION * regions;
    return most < clusters ? (int32_t)most : clusters;
}

double vem_i_buckets_pairs(int32_t clusters, int32_t count)
{
    const int32_t regions = vem_i_regions_wanted(count);
    const double inside = (double)clusters * count / regions;
    return (double)STEPS * sample_size(clusters, regions) * regions +
           (double)clusters * regions + (STEPS + 1) * inside;
}

static const vem_progress TOLD = {.phase = "assign", .free_energy = NAN};

static vem_status told_of(vem_i_run *run, vem_status status)
{
    return status == VEM_STOPPED ? vem_i_fail_stopped(run, "while rows were assigned")
                                 : status;
}

vem_status vem_i_buckets_region(vem_i_run *run, const vem_i_buckets *buckets,
                                const vem_view *view, int32_t *nearest)
{
    return told_of(run,
                   vem_i_nearest(run, view, &buckets->coarse, 1, &TOLD, nearest, NULL));
}

/* ---- Making them ---- */

typedef struct making {
    const vem_model *model;
    const vem_i_kernels *kernels;
    vem_i_buckets *buckets;
    uint64_t seed;
    vem_model *regions;  /* as clusters of the pooled shape */
    vem_model *inside;   /* the buckets of one region, */
    vem_model *centers;  /* and of all */
    vem_i_scorer scorer; /* of those of one region */
    int32_t *live;       /* clusters of positive weight, from some time on by region */
    int32_t *nearest;    /* region of each of those, or bucket inside its region */
    int32_t *starts;     /* of regions or of the buckets of one, in `members`, */
    int32_t *members;    /* as Lloyd steps sort them */
    int32_t *begins;     /* of regions, in `live` */
    void *means;         /* of live clusters in their order, in the compute type */
} making;

/* Every center gets the pooled shape. */
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

static vem_status new_centers(vem_i_run *run, const making *m, int32_t count,
                              vem_model **centers)
{
    const vem_status status =
        vem_i_model_blank(run,
                          vem_i_shape_of(m->model->family->pooled, count, m->model->d),
                          centers);
    if (status == VEM_OK)
        pool_shapes(m->model, *centers);
    return status;
}

/* The means of n listed clusters, in the compute type. */
static void narrow_means(const making *m, const int32_t *list, int64_t n)
{
    const int64_t d = m->model->d;
    for (int64_t i = 0; i < n; i++)
        vem_i_narrow(m->kernels, m->model->means + list[i] * d, d,
                     (char *)m->means + (size_t)(i * d) * m->kernels->element);
}

/* The means at hand from the `first` on as rows. */
static vem_view means_at(const making *m, int64_t first, int64_t n)
{
    const int64_t d = m->model->d;
    return (vem_view){.kernels = m->kernels,
                      .x = (char *)m->means + (size_t)(first * d) * m->kernels->element,
                      .n = n,
                      .global_n = n,
                      .ld = d,
                      .d = m->model->d};
}

/* A few steps over the n means from `first` on, which are those of `list`; then `all`, those
 * or others, to their nearest centers. `number` keys the draw. */
static vem_status divide(vem_i_run *run, making *m, const int32_t *list, int64_t first,
                         int32_t n, vem_model *centers, vem_i_scorer *scorer,
                         int64_t number)
{
    const int64_t d = m->model->d;
    const vem_view view = means_at(m, first, n);
    vem_i_rng rng = vem_i_rng_at(m->seed, VEM_RNG_GUIDED, 0, (uint64_t)number);
    vem_i_rng_distinct(&rng, n, -1, centers->clusters, m->members);
    for (int64_t k = 0; k < centers->clusters; k++)
        memcpy(centers->means + k * d, m->model->means + list[m->members[k]] * d,
               (size_t)d * sizeof(double));
    vem_i_lloyd lloyd = {.view = &view,
                         .wide = m->model->means,
                         .list = list,
                         .centers = centers,
                         .scorer = scorer,
                         .by_shape = 1,
                         .sure = 1,
                         .told = &TOLD,
                         .bucket_of = m->nearest,
                         .starts = m->starts,
                         .members = m->members};
    const vem_status status = vem_i_lloyd_run(run, &lloyd, STEPS);
    m->buckets->pairs += lloyd.pairs;
    return status;
}

/* n means from `first` on to their nearest centers, sorted by those. */
static vem_status sort_in(vem_i_run *run, making *m, int64_t first, int32_t n,
                          const vem_model *centers, vem_i_scorer *scorer)
{
    const vem_view view = means_at(m, first, n);
    vem_i_scorer_prepare(run, centers, scorer);
    const vem_status status =
        vem_i_nearest(run, &view, scorer, 1, &TOLD, m->nearest, NULL);
    if (status != VEM_OK)
        return status;
    m->buckets->pairs += (int64_t)n * centers->clusters;
    vem_i_bucket_sort(m->nearest, 0, NULL, n, centers->clusters, m->starts, m->members);
    m->starts[centers->clusters] = n;
    return VEM_OK;
}

static void keep_center(const vem_model *from, int32_t k, vem_model *to, int32_t at)
{
    const int64_t d = to->d;
    memmove(to->means + at * d, from->means + k * d, (size_t)d * sizeof(double));
}

/* Steps over one mean of each of equal stretches, then all means. */
static vem_status make_regions(vem_i_run *run, making *m)
{
    vem_i_buckets *b = m->buckets;
    const int64_t n = b->clusters, sample = sample_size(b->clusters, b->regions);
    int32_t kept = 0;
    for (int64_t i = 0; i < sample; i++) {
        const int64_t begin = i * n / sample, end = (i + 1) * n / sample;
        vem_i_rng rng = vem_i_rng_at(m->seed, VEM_RNG_GUIDED, 2, (uint64_t)i);
        b->order[i] =
            m->live[begin + (int64_t)vem_i_rng_below(&rng, (uint64_t)(end - begin))];
    }
    narrow_means(m, b->order, sample);
    vem_status status =
        divide(run, m, b->order, 0, (int32_t)sample, m->regions, &b->coarse, 0);
    if (status != VEM_OK)
        return status;
    narrow_means(m, m->live, n);
    status = sort_in(run, m, 0, (int32_t)n, m->regions, &b->coarse);
    if (status != VEM_OK)
        return status;
    for (int32_t r = 0; r < b->regions; r++) {
        if (m->starts[r] == m->starts[r + 1])
            continue;
        keep_center(m->regions, r, m->regions, kept);
        m->begins[kept++] = m->starts[r];
    }
    m->begins[kept] = (int32_t)n;
    b->regions = m->regions->clusters = kept;
    vem_i_scorer_prepare(run, m->regions, &b->coarse);
    for (int64_t i = 0; i < n; i++)
        b->order[i] = m->live[m->members[i]];
    memcpy(m->live, b->order, (size_t)n * sizeof *m->live);
    narrow_means(m, m->live, n);
    return VEM_OK;
}

/* The buckets of a region, behind those that there are. */
static vem_status make_buckets(vem_i_run *run, making *m, int32_t region, int32_t wanted)
{
    vem_i_buckets *b = m->buckets;
    const int32_t first = m->begins[region], n = m->begins[region + 1] - first;
    m->inside->clusters = wanted;
    vem_status status =
        divide(run, m, m->live + first, first, n, m->inside, &m->scorer, region + 1);
    if (status == VEM_OK)
        status = sort_in(run, m, first, n, m->inside, &m->scorer);
    if (status != VEM_OK)
        return status;
    b->region_starts[region] = b->count;
    for (int32_t k = 0; k < wanted; k++) {
        const int32_t begin = m->starts[k], end = m->starts[k + 1];
        if (begin == end)
            continue;
        for (int32_t i = begin; i < end; i++) {
            b->order[first + i] = m->live[first + m->members[i]];
            b->bucket_of[b->order[first + i]] = b->count;
        }
        keep_center(m->inside, k, m->centers, b->count);
        b->starts[b->count++] = first + begin;
    }
    return VEM_OK;
}

/* Buckets of a region of n clusters: about as many clusters in each, everywhere; and two where
 * there can be, so that a mean far from all others is left alone with its bucket, and does not
 * take away the digits of others. */
static int32_t buckets_of(const making *m, int32_t n, int32_t count)
{
    const double share = floor((double)n * count / m->buckets->clusters + 0.5);
    return share > n ? n : share > 2 ? (int32_t)share : n < 2 ? 1 : 2;
}

static int compare_sizes(const void *a_, const void *b_)
{
    const int32_t *a = a_, *b = b_;
    return (*a > *b) - (*a < *b);
}

/* Regions for each number of buckets; sizes: scratch for the regions. */
static void set_reach(vem_i_buckets *b, int32_t *sizes)
{
    for (int32_t r = 0; r < b->regions; r++)
        sizes[r] = b->region_starts[r + 1] - b->region_starts[r];
    qsort(sizes, (size_t)b->regions, sizeof *sizes, compare_sizes);
    int32_t least = 0, held = 0; /* the smallest regions that have P buckets */
    for (int32_t p = 0; p <= b->count; p++) {
        while (held < p)
            held += sizes[least++];
        const double want = ceil(REACH * b->regions * sqrt((double)p / b->count));
        /* Where most are looked into, all are: then items are packed once. */
        const int32_t some = 2 * want < b->regions ? (int32_t)want : b->regions;
        b->reach[p] = some > least ? some : least;
    }
}

static vem_status make(vem_i_run *run, making *m, int32_t count)
{
    vem_i_buckets *b = m->buckets;
    int32_t most = 1, total = 0;
    vem_status status = make_regions(run, m);
    if (status != VEM_OK)
        return status;
    for (int32_t r = 0; r < b->regions; r++) {
        const int32_t wanted = buckets_of(m, m->begins[r + 1] - m->begins[r], count);
        most = wanted > most ? wanted : most;
        total += wanted;
    }
    const vem_i_room list[] = {
        {&b->starts, (size_t)total + 1, sizeof(int32_t), 0},
        {&b->reach, (size_t)total + 1, sizeof(int32_t), 0},
        {&b->region_starts, (size_t)b->regions + 1, sizeof(int32_t), 0},
    };
    status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK)
        status = new_centers(run, m, total, &m->centers);
    if (status == VEM_OK)
        status = new_centers(run, m, most, &m->inside);
    if (status == VEM_OK)
        status =
            vem_i_scorer_new(run, m->kernels, vem_i_model_shape(m->inside), &m->scorer);
    if (status == VEM_OK)
        status =
            vem_i_scorer_new(run, m->kernels, vem_i_model_shape(m->centers), &b->scorer);
    b->count = 0;
    for (int32_t r = 0; status == VEM_OK && r < b->regions; r++)
        status = make_buckets(run, m, r,
                              buckets_of(m, m->begins[r + 1] - m->begins[r], count));
    if (status != VEM_OK)
        return status;
    b->starts[b->count] = b->clusters;
    b->region_starts[b->regions] = m->centers->clusters = b->count;
    set_reach(b, m->members);
    vem_i_scorer_prepare(run, m->centers, &b->scorer);
    return VEM_OK;
}

vem_status vem_i_buckets_new(vem_i_run *run, const vem_i_kernels *kernels,
                             const vem_model *model, int32_t count, uint64_t seed,
                             vem_i_buckets *buckets)
{
    vem_i_buckets made = {0};
    making m = {.model = model, .kernels = kernels, .buckets = &made, .seed = seed};
    const size_t all = (size_t)model->clusters, index = sizeof(int32_t);
    const vem_i_room kept[] = {
        {&made.order, all, index, 0},
        {&made.bucket_of, all, index, 0},
    };
    const vem_i_room used[] = {
        {&m.live, all, index, 0},
        {&m.nearest, all, index, 0},
        {&m.starts, all + 1, index, 0},
        {&m.members, all, index, 0},
        {&m.begins, all + 1, index, 0},
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
        made.regions = vem_i_regions_wanted(count);
        if (made.regions > made.clusters)
            made.regions = made.clusters;
        status = new_centers(run, &m, made.regions, &m.regions);
    }
    if (status == VEM_OK)
        status =
            vem_i_scorer_new(run, kernels, vem_i_model_shape(m.regions), &made.coarse);
    if (status == VEM_OK)
        status = told_of(run, make(run, &m, count));
    vem_model_free(m.regions);
    vem_model_free(m.inside);
    vem_model_free(m.centers);
    vem_i_scorer_free(&m.scorer);
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
    vem_i_free(buckets->region_starts);
    vem_i_free(buckets->reach);
    vem_i_scorer_free(&buckets->scorer);
    vem_i_scorer_free(&buckets->coarse);
    memset(buckets, 0, sizeof *buckets);
}
