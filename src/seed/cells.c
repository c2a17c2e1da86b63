/* k-means with few steps on a sample of the rows, then every row to its nearest mean.
 *
 * The sample is one row from each of equal slices of the mass. The first means are k-means++
 * on every few-th row of it: a step of that is too short to be worth the waking of threads,
 * and on a busy machine waiting for them is dear, so it runs in one thread and is kept
 * small. */
#include "seed/cells.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "base/rng.h"
#include "seed/nearest.h"
#include "seed/seed.h"

enum {
    SAMPLE_PER_CELL = 32, /* rows of the sample for each cell */
    LLOYD_STEPS = 4,
    START_PER_CELL = 8, /* rows k-means++ chooses from for each cell, */
    START_MOST = 4096   /* but no more than these, or two per cell */
};

void vem_i_by_mass(const vem_view *view, int64_t count, uint64_t seed, uint32_t step,
                   int64_t *items)
{
    double slice = view->total_mass / (double)count, sum = 0;
    int64_t at = -1, last = 0; /* `sum` is the mass of the rows up to `at` */
    for (int64_t k = 0; k < count; k++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_SEEDING, step, (uint64_t)k);
        double target = ((double)k + vem_i_rng_uniform(&rng)) * slice;
        if (!view->mass) {
            int64_t row = (int64_t)target;
            items[k] = row < view->n ? row : view->n - 1;
            continue;
        }
        while (sum <= target && at + 1 < view->n) {
            double w = view->mass[++at];
            sum += w;
            last = w > 0 ? at : last;
        }
        if (!(view->mass[last] > 0)) /* only where the total was no sum of the masses */
            while (last + 1 < view->n && !(view->mass[last] > 0))
                last++;
        items[k] = last;
    }
}

static void add_row(const vem_i_kernels *kernels, const void *row, int32_t d, double *sum)
{
    if (kernels->precision == VEM_SINGLE)
        for (int32_t j = 0; j < d; j++)
            sum[j] += (double)((const float *)row)[j];
    else
        for (int32_t j = 0; j < d; j++)
            sum[j] += ((const double *)row)[j];
}

/* The mean of each cell's rows; an empty cell keeps its place. */
static void move_means(const vem_view *view, const int32_t *labels, vem_model *cells,
                       int64_t *counts, double *sums)
{
    int64_t d = view->d;
    memset(counts, 0, (size_t)cells->clusters * sizeof *counts);
    memset(sums, 0, (size_t)cells->clusters * (size_t)d * sizeof *sums);
    for (int64_t i = 0; i < view->n; i++) {
        counts[labels[i]]++;
        add_row(view->kernels, vem_i_view_row(view, i), view->d, sums + labels[i] * d);
    }
    for (int64_t c = 0; c < cells->clusters; c++)
        for (int64_t j = 0; j < d && counts[c] > 0; j++)
            cells->means[c * d + j] = sums[c * d + j] / (double)counts[c];
}

static int64_t sample_size(int64_t used, int32_t cells)
{
    int64_t wanted = (int64_t)cells * SAMPLE_PER_CELL;
    return wanted < used ? wanted : used;
}

/* k-means++ is run on every how-many-th row of the sample. */
static int64_t start_stride(int64_t size, int32_t cells)
{
    int64_t rows = (int64_t)cells * START_PER_CELL, least = 2 * (int64_t)cells;
    rows = rows < START_MOST ? rows : START_MOST > least ? START_MOST : least;
    return rows < size ? size / rows : 1;
}

static vem_status start_means(vem_ctx *ctx, const vem_view *sample, uint64_t seed,
                              const vem_progress *told, int64_t *chosen, vem_model *cells,
                              int64_t *pairs)
{
    int64_t stride = start_stride(sample->n, cells->clusters), d = sample->d;
    int threads = ctx->threads;
    vem_i_seeds seeds = {.items = chosen, .told = told};
    vem_view some = *sample;
    some.n = some.used = vem_i_shards(sample->n, stride);
    some.ld = stride * sample->ld;
    some.total_mass = (double)some.n;
    ctx->threads = 1;
    vem_status status = vem_i_seed_plusplus(ctx, &some, cells->clusters, 1, seed, &seeds);
    ctx->threads = threads;
    memset(cells->means, 0, (size_t)cells->clusters * (size_t)d * sizeof(double));
    for (int64_t c = 0; c < seeds.chosen; c++)
        add_row(some.kernels, vem_i_view_row(&some, chosen[c]), some.d,
                cells->means + c * d);
    *pairs += seeds.pairs;
    return status;
}

/* Rows that were drawn are copied and count once each. */
static vem_status fit_sample(vem_ctx *ctx, const vem_view *view, uint64_t seed,
                             const vem_progress *told, int32_t *labels, vem_model *cells,
                             int64_t *pairs)
{
    int64_t d = view->d, size = sample_size(view->used, cells->clusters);
    size_t row = (size_t)d * view->kernels->element, many = (size_t)cells->clusters;
    vem_view part = *view;
    int64_t *items = NULL, *counts = NULL;
    double *sums = NULL;
    char *x = NULL;
    vem_status status = vem_i_take(ctx, &items, (size_t)size, sizeof *items);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &x, (size_t)size, row);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &counts, many, sizeof *counts);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &sums, many, (size_t)d * sizeof *sums);
    if (status == VEM_OK) {
        vem_i_by_mass(view, size, seed, 0, items);
        for (int64_t i = 0; i < size; i++) {
            memcpy(x + (size_t)i * row, vem_i_view_row(view, items[i]), row);
            vem_i_residence_check(ctx);
        }
        part.x = x;
        part.n = part.used = size;
        part.ld = d;
        part.mass = NULL;
        part.total_mass = (double)size;
        status = start_means(ctx, &part, seed, told, counts, cells, pairs);
    }
    for (int step = 0; step < LLOYD_STEPS && status == VEM_OK && !ctx->stop_requested;
         step++) {
        status = vem_i_nearest(ctx, &part, cells, told, labels, NULL);
        if (status == VEM_OK)
            move_means(&part, labels, cells, counts, sums);
        *pairs += size * cells->clusters;
    }
    vem_i_free(items);
    vem_i_free(x);
    vem_i_free(counts);
    vem_i_free(sums);
    return status;
}

uint64_t vem_i_cells_bytes(const vem_ctx *ctx, const vem_i_kernels *kernels, int64_t n,
                           int32_t d, int32_t cells)
{
    uint64_t size = (uint64_t)sample_size(n, cells), many = (uint64_t)cells;
    uint64_t row = (uint64_t)d * kernels->element;
    uint64_t start = size / (uint64_t)start_stride((int64_t)size, cells) + 1;
    return size * (row + sizeof(int64_t)) + start * 2 * sizeof(double) + row +
           VEM_I_SEED_SHARD * kernels->element +
           many * (2 * (uint64_t)d * sizeof(double) + 32) +
           vem_i_nearest_bytes(ctx, kernels, cells, d);
}

vem_status vem_i_cells(vem_ctx *ctx, const vem_view *view, int32_t cells, uint64_t seed,
                       const vem_progress *told, int32_t *labels, void *squares,
                       int64_t *pairs, int *done)
{
    vem_model *means = NULL;
    *done = 0;
    vem_status status =
        vem_i_model_blank(ctx,
                          vem_i_shape_of(vem_i_family_of_distances(0), cells, view->d),
                          &means);
    if (status == VEM_OK)
        status = fit_sample(ctx, view, seed, told, labels, means, pairs);
    if (status == VEM_OK && !vem_i_progress(ctx, told, 0)) {
        status = vem_i_nearest(ctx, view, means, told, labels, squares);
        *pairs += view->n * cells;
        *done = status == VEM_OK;
    }
    vem_model_free(means);
    return status == VEM_STOPPED ? VEM_OK : status;
}
