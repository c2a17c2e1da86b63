/* k-means with few steps on a sample of the rows, then every row to its nearest mean.
 *
 * The sample is one row from each of equal slices of the mass. The first means are k-means++
 * on every few-th row of it: a step of that is too short to be worth the waking of threads,
 * and on a busy machine waiting for them is dear, so it runs in one thread and is kept
 * small. */
#include "seed/row_buckets.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "base/rng.h"
#include "coarse/lloyd.h"
#include "data/together.h"
#include "seed/seed.h"

enum {
    LLOYD_STEPS = 4,
    START_PER_BUCKET = 8, /* rows k-means++ chooses from for each bucket, */
    START_MOST = 4096     /* but no more than these, or two per bucket */
};

static double target_of(uint64_t seed, uint32_t step, int64_t k, double slice)
{
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_SEEDING, step, (uint64_t)k);
    return ((double)k + vem_i_rng_uniform(&rng)) * slice;
}

static vem_status by_mass_apart(vem_i_run *run, const vem_view *view, int64_t count,
                                uint64_t seed, uint32_t step, int64_t *items)
{
    double *targets = NULL;
    vem_status status = vem_i_take(run, &targets, (size_t)count, sizeof *targets);
    if (status != VEM_OK)
        return vem_i_comm_fail(run->comm, status);
    for (int64_t k = 0; k < count; k++)
        targets[k] = target_of(seed, step, k, view->total_mass / (double)count);
    status = vem_i_view_pick(run, view, targets, count, items);
    vem_i_free(targets);
    return status;
}

vem_status vem_i_by_mass(vem_i_run *run, const vem_view *view, int64_t count,
                         uint64_t seed, uint32_t step, int64_t *items)
{
    if (run->comm && view->mass)
        return by_mass_apart(run, view, count, seed, step, items);
    const double *mass = view->mass;
    const int64_t n = run->comm ? view->global_n : view->n;
    double slice = view->total_mass / (double)count, sum = 0;
    int64_t at = -1, last = 0; /* `sum` is the mass of the rows up to `at` */
    for (int64_t k = 0; k < count; k++) {
        const double target = target_of(seed, step, k, slice);
        if (!mass) {
            int64_t row = (int64_t)target;
            items[k] = row < n ? row : n - 1;
            continue;
        }
        while (sum <= target && at + 1 < n) {
            double w = mass[++at];
            sum += w;
            last = w > 0 ? at : last;
        }
        if (!(mass[last] > 0)) /* only where the total was no sum of the masses */
            while (last + 1 < n && !(mass[last] > 0))
                last++;
        items[k] = last;
    }
    return VEM_OK;
}

static int64_t sample_size(int64_t used, int32_t buckets)
{
    int64_t wanted = (int64_t)buckets * VEM_I_BUCKET_SAMPLE;
    return wanted < used ? wanted : used;
}

/* k-means++ is run on every how-many-th row of the sample. */
static int64_t start_stride(int64_t size, int32_t buckets)
{
    int64_t rows = (int64_t)buckets * START_PER_BUCKET, least = 2 * (int64_t)buckets;
    rows = rows < START_MOST ? rows : START_MOST > least ? START_MOST : least;
    return rows < size ? size / rows : 1;
}

static vem_status start_means(vem_i_run *run, const vem_view *sample, uint64_t seed,
                              const vem_progress *told, int64_t *chosen,
                              vem_model *centers, int64_t *pairs)
{
    int64_t stride = start_stride(sample->n, centers->clusters), d = sample->d;
    vem_i_seeds seeds = {.items = chosen, .told = told};
    const vem_view some = vem_i_view_drawn(sample, sample->x, stride * sample->ld,
                                           vem_i_shards(sample->n, stride));
    vem_i_run alone = vem_i_run_alone(run);
    vem_status status =
        vem_i_seed_plusplus(&alone, &some, centers->clusters, 1, seed, &seeds);
    if (run->counted)
        return status;
    memset(centers->means, 0, (size_t)centers->clusters * (size_t)d * sizeof(double));
    for (int64_t c = 0; c < seeds.chosen; c++)
        for (int64_t j = 0; j < d; j++)
            centers->means[c * d + j] =
                vem_i_value(some.kernels, vem_i_view_row(&some, chosen[c]), j);
    *pairs += seeds.pairs;
    return status;
}

/* Rows that were drawn are copied and count once each. `labels` has room for them. */
static vem_status fit_sample(vem_i_run *run, const vem_view *view, uint64_t seed,
                             int32_t *labels, vem_i_lloyd *lloyd)
{
    const int32_t buckets = lloyd->centers->clusters;
    const int64_t size = sample_size(view->used, buckets);
    const size_t row = (size_t)view->d * view->kernels->element;
    vem_i_run alike = vem_i_comm_alike(run); /* all processes have the sample */
    vem_view part = {0};
    int64_t *items = NULL; /* rows of the view, and then the first means among them */
    char *x = NULL;        /* the rows themselves */
    const vem_i_room list[] = {
        {&items, (size_t)size, sizeof *items, 0},
        {&x, (size_t)size, row, 0},
        {&lloyd->members, (size_t)size, sizeof *lloyd->members, 0},
        {&lloyd->starts, (size_t)buckets + 1, sizeof *lloyd->starts, 0},
    };
    vem_status status = vem_i_take_rooms(run, list, VEM_I_COUNT(list));
    if (status == VEM_OK && !run->counted) {
        status = vem_i_by_mass(run, view, size, seed, 0, items);
        for (int64_t i = 0; status == VEM_OK && !run->comm && i < size; i++) {
            vem_i_view_copy(view, items[i], x + (size_t)i * row);
            vem_i_residence_check(run);
        }
        if (status == VEM_OK && run->comm)
            vem_i_view_rows(run, view, items, size, x);
    }
    if (status == VEM_OK) {
        part = vem_i_view_drawn(view, x, view->d, size);
        lloyd->view = &part;
        lloyd->bucket_of = labels;
        status = start_means(&alike, &part, seed, lloyd->told, items, lloyd->centers,
                             &lloyd->pairs);
    }
    if (status == VEM_OK && !run->counted)
        status = vem_i_lloyd_run(&alike, lloyd, LLOYD_STEPS);
    lloyd->view = NULL;
    vem_i_free_rooms(list, VEM_I_COUNT(list));
    return status;
}

vem_status vem_i_row_buckets(vem_i_run *run, const vem_view *view, int32_t buckets,
                             uint64_t seed, const vem_progress *told, int32_t *labels,
                             void *squares, int64_t *pairs, int *done)
{
    const vem_i_shape shape =
        vem_i_shape_of(vem_i_family_of_distances(0), buckets, view->d);
    vem_i_scorer scorer = {0};
    vem_i_lloyd lloyd = {.scorer = &scorer, .told = told};
    *done = 0;
    vem_status status = vem_i_model_blank(run, shape, &lloyd.centers);
    if (status == VEM_OK)
        status = vem_i_scorer_new(run, view->kernels, shape, &scorer);
    if (status == VEM_OK)
        status = fit_sample(run, view, seed, labels, &lloyd);
    if (status == VEM_OK && (run->counted || !vem_i_progress(run, told, 0))) {
        status = vem_i_lloyd_assign(run, &lloyd, view, labels, squares);
        *done = status == VEM_OK;
    }
    *pairs += lloyd.pairs;
    vem_i_scorer_free(&scorer);
    vem_model_free(lloyd.centers);
    return status == VEM_STOPPED ? VEM_OK : status;
}
