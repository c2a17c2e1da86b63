/* Two-level seeding: D^2 sampling whose cost grows as N sqrt(C) instead of N C.
 *
 *   1. 4 sqrt(C) coarse cells: k-means++ and a few Lloyd steps on a sample of the rows.
 *   2. Every row goes to its nearest cell (N sqrt(C) distances).
 *   3. Every cell draws one center by mass; the others are drawn in rounds. A round gives
 *      each cell its share of the round's centers by the potential  sum w D2  that is left
 *      in it; inside a cell they are drawn one by one with chances w D2, where D2 is the
 *      squared distance to the nearest center of the same cell. A draw updates the rows of
 *      one cell: N / (4 sqrt(C)) of them on average.
 *
 * D2 misses centers across a cell's border, so it is an upper bound. Cells work in
 * parallel; their random numbers are keyed by cell and draw, so threads change nothing. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "seed/nearest.h"
#include "seed/seed.h"

enum {
    SAMPLE_PER_CELL = 32, /* rows of the sample for each coarse cell */
    LLOYD_STEPS = 3,
    ROUNDS = 8,
    CHUNK = 1024 /* rows whose distances are taken at a time */
};

/* Rows of a cell up to this size are copied together before its centers are drawn. */
static const size_t GATHER_BYTES = (size_t)8 << 20;

typedef struct task {
    const vem_view *view;
    const vem_i_kernels *kernels;
    uint64_t seed;
    int32_t cells;
    uint32_t *rows;   /* n: rows by cell, in order */
    int64_t *starts;  /* cells + 1 */
    double *nearest;  /* n, in the order of `rows`: D2 */
    double *left;     /* cells: potential */
    int64_t *wanted;  /* cells: centers to draw in this round */
    int64_t *drawn;   /* cells: centers drawn in all */
    int64_t *out;     /* cells: where this round's centers of the cell go in `items` */
    int64_t *items;   /* the centers */
    char *scratch;    /* per thread: CHUNK distances and CHUNK zero indices */
    void *one, *zero; /* scale and bias of plain distances */
} task;

static size_t gather_bytes(const vem_i_kernels *kernels, int64_t n, int32_t d)
{
    size_t all = (size_t)n * (size_t)d * kernels->element;
    return all < GATHER_BYTES ? (all + 63) / 64 * 64 : GATHER_BYTES;
}

static size_t scratch_bytes(const vem_i_kernels *kernels, int64_t n, int32_t d)
{
    return gather_bytes(kernels, n, d) + CHUNK * (kernels->element + sizeof(int32_t));
}

/* The rows of a cell, together; NULL when they are too many. */
static const char *gather(const task *t, int64_t cell, char *scratch)
{
    size_t row = (size_t)t->view->d * t->kernels->element;
    int64_t begin = t->starts[cell], count = t->starts[cell + 1] - begin;
    if ((size_t)count > GATHER_BYTES / row)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        memcpy(scratch + (size_t)i * row, vem_i_view_row(t->view, t->rows[begin + i]),
               row);
    return scratch;
}

/* D2 of the rows of a cell against a new center; the potential that is left. */
static double meet(task *t, int64_t cell, int64_t item, const char *together,
                   char *scratch)
{
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = t->kernels;
    const void *center = vem_i_view_row(view, item);
    char *squares = scratch + gather_bytes(kernels, view->n, view->d);
    int32_t *index = (int32_t *)(void *)(squares + CHUNK * kernels->element);
    size_t row = (size_t)view->d * kernels->element;
    int64_t begin = t->starts[cell], end = t->starts[cell + 1];
    double sum = 0;
    for (int64_t i = begin; i < end; i += CHUNK) {
        int64_t count = end - i < CHUNK ? end - i : CHUNK;
        if (together) {
            kernels->distances(together + (size_t)(i - begin) * row, view->d, count,
                               view->d, center, view->d, 1, squares, CHUNK);
        } else {
            memset(index, 0, CHUNK * sizeof *index);
            kernels->iso_pairs(view->x, view->ld, t->rows + i, (int32_t)count, view->d,
                               center, view->ld, t->one, t->zero, 1, index, squares,
                               CHUNK);
        }
        for (int64_t k = 0; k < count; k++) {
            double now = vem_i_value(kernels, squares, k), *d2 = &t->nearest[i + k];
            double w = vem_i_view_mass(view, t->rows[i + k]);
            *d2 = now < *d2 ? now : *d2;
            sum += w > 0 ? w * *d2 : 0;
        }
    }
    return sum;
}

/* A row of the cell with chances w D2, or by mass where every row sits on a center. */
static int64_t draw(const task *t, int64_t cell, double uniform)
{
    int by_mass = !(t->left[cell] > 0);
    double total = t->left[cell], sum = 0;
    int64_t begin = t->starts[cell], end = t->starts[cell + 1], last = begin;
    if (by_mass) {
        total = 0;
        for (int64_t i = begin; i < end; i++)
            total += vem_i_view_mass(t->view, t->rows[i]);
    }
    for (int64_t i = begin; i < end; i++) {
        double w = vem_i_view_mass(t->view, t->rows[i]);
        double chance = by_mass ? w : w * t->nearest[i];
        if (!(chance > 0))
            continue;
        last = i;
        sum += chance;
        if (sum > uniform * total)
            break;
    }
    return t->rows[last];
}

static void run_cell(void *arg, int64_t cell, int thread)
{
    task *t = arg;
    char *scratch =
        t->scratch + (size_t)thread * scratch_bytes(t->kernels, t->view->n, t->view->d);
    const char *together = t->wanted[cell] > 1 ? gather(t, cell, scratch) : NULL;
    for (int64_t k = 0; k < t->wanted[cell]; k++) {
        vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_SEEDING, 2,
                                     (uint64_t)t->drawn[cell] << 32 | (uint64_t)cell);
        int64_t item = draw(t, cell, vem_i_rng_uniform(&rng));
        t->items[t->out[cell] + k] = item;
        t->left[cell] = meet(t, cell, item, together, scratch);
        t->drawn[cell]++;
    }
}

/* Shares of a round by potential: the strata of one uniform number, so that a cell gets
 * its expected number to within one. */
static void share_out(task *t, int64_t round, int64_t count, int64_t first)
{
    vem_i_rng rng = vem_i_rng_at(t->seed, VEM_RNG_SEEDING, 3, (uint64_t)round);
    double total = vem_i_sum(t->left, t->cells), offset = vem_i_rng_uniform(&rng),
           before = 0;
    int by_rows = !(total > 0);
    int64_t given = 0;
    for (int64_t c = 0; c < t->cells; c++) {
        double rows = (double)(t->starts[c + 1] - t->starts[c]);
        before += by_rows ? rows / (double)t->view->n : t->left[c] / total;
        int64_t upto = (int64_t)floor(before * (double)count + offset);
        upto = c == t->cells - 1 || upto > count ? count : upto;
        t->wanted[c] = t->drawn[c] > 0 && upto > given ? upto - given : 0;
        t->out[c] = first + given;
        given += t->wanted[c];
    }
    for (int64_t c = t->cells - 1; given < count; c--) /* the last cells had no mass */
        if (t->drawn[c] > 0) {
            t->wanted[c] += count - given;
            given = count;
        }
}

static void sort_by_cell(task *t, const int32_t *labels)
{
    int64_t n = t->view->n;
    memset(t->starts, 0, ((size_t)t->cells + 1) * sizeof *t->starts);
    for (int64_t i = 0; i < n; i++)
        t->starts[labels[i] + 1]++;
    for (int64_t c = 0; c < t->cells; c++) {
        t->starts[c + 1] += t->starts[c];
        t->out[c] = t->starts[c];
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t at = t->out[labels[i]]++;
        t->rows[at] = (uint32_t)i;
        t->nearest[at] = INFINITY;
    }
}

/* The mean of each cell's rows; an empty cell keeps its place. */
static void move_cells(const vem_view *view, const int32_t *labels, vem_model *cells,
                       int64_t *counts, double *sums)
{
    int64_t d = view->d;
    memset(counts, 0, (size_t)cells->clusters * sizeof *counts);
    memset(sums, 0, (size_t)cells->clusters * (size_t)d * sizeof *sums);
    for (int64_t i = 0; i < view->n; i++) {
        counts[labels[i]]++;
        for (int64_t j = 0; j < d; j++)
            sums[labels[i] * d + j] +=
                vem_i_value(view->kernels, vem_i_view_row(view, i), j);
    }
    for (int64_t c = 0; c < cells->clusters; c++)
        for (int64_t j = 0; j < d && counts[c] > 0; j++)
            cells->means[c * d + j] = sums[c * d + j] / (double)counts[c];
}

/* Coarse cells from a sample of the rows, drawn by mass and then counted once each. */
static vem_status make_cells(vem_ctx *ctx, task *t, vem_model *cells, int64_t *pairs)
{
    const vem_view *view = t->view;
    int64_t d = view->d, wanted = (int64_t)t->cells * SAMPLE_PER_CELL;
    int64_t size = wanted < view->used ? wanted : view->used;
    size_t row = (size_t)d * t->kernels->element;
    vem_i_seeds sample = {0}, coarse = {0};
    vem_view part = *view;
    void *x = NULL;
    int32_t *labels = NULL;
    int64_t *counts = NULL;
    double *sums = NULL;
    vem_status status = vem_i_take(ctx, &sample.items, (size_t)size, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &coarse.items, (size_t)t->cells, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &x, (size_t)size, row);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &labels, (size_t)size, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &counts, (size_t)t->cells, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &sums, (size_t)t->cells, (size_t)d * sizeof(double));
    if (status == VEM_OK)
        status = vem_i_seed_random(ctx, view, (int32_t)size, t->seed, &sample);
    if (status == VEM_OK) {
        for (int64_t i = 0; i < size; i++)
            memcpy((char *)x + (size_t)i * row, vem_i_view_row(view, sample.items[i]),
                   row);
        part.x = x;
        part.n = part.used = size;
        part.ld = d;
        part.mass = NULL;
        part.total_mass = (double)size;
        status = vem_i_seed_plusplus(ctx, &part, t->cells, 1, t->seed, &coarse);
    }
    if (status == VEM_OK && coarse.chosen == t->cells) {
        *pairs += coarse.pairs;
        for (int64_t c = 0; c < t->cells; c++)
            for (int64_t j = 0; j < d; j++)
                cells->means[c * d + j] =
                    vem_i_value(t->kernels, vem_i_view_row(&part, coarse.items[c]), j);
        for (int step = 0; step < LLOYD_STEPS && status == VEM_OK; step++) {
            status = vem_i_nearest(ctx, &part, cells, labels, NULL);
            if (status == VEM_OK)
                move_cells(&part, labels, cells, counts, sums);
            *pairs += size * t->cells;
        }
    }
    vem_i_free(sample.items);
    vem_i_free(coarse.items);
    vem_i_free(x);
    vem_i_free(labels);
    vem_i_free(counts);
    vem_i_free(sums);
    return status;
}

static void count_pairs(const task *t, vem_i_seeds *seeds)
{
    for (int64_t c = 0; c < t->cells; c++)
        seeds->pairs += t->wanted[c] * (t->starts[c + 1] - t->starts[c]);
}

/* One center for every cell that has mass; how many those are. */
static int64_t begin_cells(vem_ctx *ctx, task *t, vem_i_seeds *seeds)
{
    int64_t begun = 0;
    for (int64_t c = 0; c < t->cells; c++) {
        double mass = 0;
        for (int64_t i = t->starts[c]; i < t->starts[c + 1]; i++)
            mass += vem_i_view_mass(t->view, t->rows[i]);
        t->left[c] = 0;
        t->out[c] = begun;
        t->wanted[c] = mass > 0;
        begun += t->wanted[c];
    }
    vem_i_parallel(ctx, t->cells, run_cell, t);
    count_pairs(t, seeds);
    return begun;
}

static vem_status run(vem_ctx *ctx, task *t, vem_model *cells, int32_t clusters,
                      int32_t *labels, vem_i_seeds *seeds)
{
    vem_progress told = {.phase = "seed", .total = clusters, .free_energy = NAN};
    vem_status status = make_cells(ctx, t, cells, &seeds->pairs);
    if (status == VEM_OK && !vem_i_progress(ctx, &told, 0))
        status = vem_i_nearest(ctx, t->view, cells, labels, NULL);
    if (status != VEM_OK || ctx->stop_requested)
        return status; /* none chosen: the caller takes rows at random */
    seeds->pairs += t->view->n * t->cells;
    sort_by_cell(t, labels);
    int64_t begun = begin_cells(ctx, t, seeds);
    for (int64_t round = 0; round < ROUNDS; round++) {
        int64_t rest = clusters - begun, first = begun + rest * round / ROUNDS;
        int64_t end = begun + rest * (round + 1) / ROUNDS;
        share_out(t, round, end - first, first);
        vem_i_parallel(ctx, t->cells, run_cell, t);
        count_pairs(t, seeds);
        told.done = seeds->chosen = (int32_t)end;
        if (vem_i_progress(ctx, &told, 0))
            break;
    }
    return VEM_OK;
}

static int32_t cells_for(int64_t n, int32_t clusters)
{
    /* Distances to cells come from the tile kernel and are several times cheaper than those
     * of the draws, and cells are never equal in size: so more of them than sqrt(C). */
    int64_t cells = (int64_t)ceil(4 * sqrt((double)clusters));
    cells = cells < clusters / 4 ? cells : clusters / 4;
    int64_t most = n / 32; /* a cell should have rows to choose from */
    return (int32_t)(cells < most ? cells : most > 1 ? most : 1);
}

uint64_t vem_i_seed_two_level_bytes(const vem_ctx *ctx, const vem_i_kernels *kernels,
                                    int64_t n, int32_t d, int32_t clusters)
{
    uint64_t cells = (uint64_t)cells_for(n, clusters), rows = (uint64_t)n;
    uint64_t sample = cells * SAMPLE_PER_CELL < rows ? cells * SAMPLE_PER_CELL : rows;
    uint64_t kept = rows * (sizeof(uint32_t) + sizeof(int32_t) + sizeof(double)) +
                    cells * (uint64_t)d * 3 * sizeof(double);
    /* While the sample is drawn every row has a key of 16 bytes. */
    return kept + rows * 16 + sample * ((uint64_t)d * kernels->element + 32) +
           (uint64_t)ctx->threads * scratch_bytes(kernels, n, d);
}

vem_status vem_i_seed_two_level(vem_ctx *ctx, const vem_view *view, int32_t clusters,
                                uint64_t seed, vem_i_seeds *seeds)
{
    if (view->n > UINT32_MAX)
        return vem_i_fail(
            ctx, VEM_UNSUPPORTED,
            "Two-level seeding takes 4294967295 rows at most, but there are %lld.",
            (long long)view->n);
    task t = {.view = view,
              .kernels = view->kernels,
              .seed = seed,
              .items = seeds->items};
    t.cells = cells_for(view->used, clusters);
    size_t rows = (size_t)view->n, cells = (size_t)t.cells;
    double one[1], zero[1]; /* room for one T each */
    int32_t *labels = NULL;
    vem_model *coarse = NULL;
    vem_i_store(t.kernels, one, 0, 1);
    vem_i_store(t.kernels, zero, 0, 0);
    t.one = one;
    t.zero = zero;
    vem_status status = vem_i_model_blank(ctx, VEM_ISO_SHARED, t.cells, view->d, &coarse);
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.rows, rows, sizeof(uint32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.nearest, rows, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &labels, rows, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.starts, cells + 1, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.left, cells, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.wanted, cells, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &t.drawn, cells, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.out, cells, sizeof(int64_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &t.scratch, (size_t)ctx->threads,
                            scratch_bytes(t.kernels, view->n, view->d));
    if (status == VEM_OK)
        status = run(ctx, &t, coarse, clusters, labels, seeds);
    vem_model_free(coarse);
    vem_i_free(t.rows);
    vem_i_free(t.nearest);
    vem_i_free(labels);
    vem_i_free(t.starts);
    vem_i_free(t.left);
    vem_i_free(t.wanted);
    vem_i_free(t.drawn);
    vem_i_free(t.out);
    vem_i_free(t.scratch);
    return status;
}
