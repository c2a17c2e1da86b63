/* Coarse cells of the clusters: a few Lloyd steps over the means mu_c.
 *
 * Nearness is measured by the pooled shape of the clusters,
 *
 *     S = sum_c pi_c S_c,     |x - m|^2_S = (x - m)' S^-1 (x - m),
 *
 * which is the plain distance for the isotropic families. So columns in different units,
 * and clusters that are all stretched the same way, do not mislead the cells. The centers
 * start at clusters drawn at random; a center without clusters is dropped at the end.
 *
 * How many. With K cells of which P are tried, n items cost n (K + P C / K) pairs and the
 * cells (STEPS + 1) C K. For a fixed P the least is at
 *
 *     K = sqrt(P C n / (n + (STEPS + 1) C)).
 *
 * More cells need more probes for the same recall, and small cells make thin tiles, so the
 * constant in the place of P is what was fastest (2 among 1, 2, 4, ..., 32 on word
 * vectors). */
#include "search/cells.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "search/search.h"

enum { STEPS = 4, WIDTH = 2 };

int32_t vem_i_cells_wanted(int64_t n, int32_t clusters)
{
    double rows = (double)n, most = (double)clusters;
    double count = sqrt(WIDTH * most * rows / (rows + (STEPS + 1) * most));
    count = fmin(count, most / 2);
    return count < 1 ? 1 : (int32_t)count;
}

int64_t vem_i_cells_pairs(int32_t clusters, int32_t count)
{
    return (int64_t)(STEPS + 1) * clusters * count;
}

/* ---- Nearest cells ---- */

typedef struct nearest_task {
    vem_i_search *search;
    int32_t *nearest;
} nearest_task;

static void run_block(void *arg, int64_t number, int thread)
{
    const nearest_task *t = arg;
    const vem_i_block *block = vem_i_search_block(t->search, number, thread);
    for (int32_t p = 0; p < block->n; p++) /* models and rows are checked: always found */
        t->nearest[block->first + p] = block->index[p] < 0 ? 0 : block->index[p];
}

vem_status vem_i_cells_nearest(vem_ctx *ctx, const vem_i_cells *cells,
                               const vem_view *view, int32_t *nearest)
{
    const vem_i_search_spec closest = vem_i_search_closest(cells->scorer.clusters, 1, 0);
    nearest_task t = {.nearest = nearest};
    vem_status status = vem_i_search_new(ctx, &closest, view, &cells->scorer, &t.search);
    if (status != VEM_OK)
        return status;
    vem_progress told = {.phase = "assign", .free_energy = NAN};
    double work = (double)VEM_I_BLOCK * cells->scorer.clusters * view->d;
    if (vem_i_parallel_watched(ctx, vem_i_shards(view->n, VEM_I_BLOCK), work, run_block,
                               &t, &told, 1))
        status = vem_i_fail(ctx, VEM_STOPPED, "Stopped while rows were assigned.");
    vem_i_search_free(t.search);
    return status;
}

/* ---- Making them ---- */

typedef struct making {
    const vem_model *model;
    vem_i_cells *cells;
    vem_model *coarse; /* the cells as clusters of the pooled shape */
    int32_t *live;     /* clusters of positive weight */
    int32_t *nearest;  /* cell of each of those */
    void *means;       /* their means, in the compute type */
} making;

/* Every cell gets the pooled shape. */
static void pool_shapes(const vem_model *model, vem_model *coarse)
{
    const int32_t shapes = vem_i_model_shapes(model);
    const int64_t values = vem_i_shape_values(model->family, model->d);
    double mass = 0;
    for (int32_t s = 0; s < shapes; s++)
        mass += shapes == 1 ? 1 : model->weights[s];
    memset(coarse->variances, 0, (size_t)values * sizeof(double));
    for (int32_t s = 0; s < shapes; s++) {
        const double share = (shapes == 1 ? 1 : model->weights[s]) / mass;
        for (int64_t i = 0; i < values; i++)
            coarse->variances[i] += share * vem_i_cluster_shape(model, s)[i];
    }
    for (int32_t k = 1; k < vem_i_model_shapes(coarse); k++)
        memcpy(vem_i_cluster_shape(coarse, k), coarse->variances,
               (size_t)values * sizeof(double));
}

/* The clusters by cell, in ascending order. */
static void sort_clusters(making *m)
{
    vem_i_cells *cells = m->cells;
    int32_t *starts = cells->starts;
    memset(starts, 0, ((size_t)cells->count + 1) * sizeof *starts);
    for (int32_t i = 0; i < cells->clusters; i++)
        starts[m->nearest[i] + 1]++;
    for (int32_t k = 0; k < cells->count; k++)
        starts[k + 1] += starts[k];
    for (int32_t i = 0; i < cells->clusters; i++)
        cells->order[starts[m->nearest[i]]++] = m->live[i];
    for (int32_t k = cells->count; k > 0; k--)
        starts[k] = starts[k - 1];
    starts[0] = 0;
}

static void move_cell(void *arg, int64_t k, int thread)
{
    (void)thread;
    making *m = arg;
    const int32_t begin = m->cells->starts[k], end = m->cells->starts[k + 1];
    const int64_t d = m->model->d;
    double *center = m->coarse->means + k * d;
    if (begin == end)
        return;
    memset(center, 0, (size_t)d * sizeof *center);
    for (int32_t i = begin; i < end; i++)
        for (int64_t j = 0; j < d; j++)
            center[j] += m->model->means[m->cells->order[i] * d + j];
    for (int64_t j = 0; j < d; j++)
        center[j] /= end - begin;
}

/* Leave out the cells that have no clusters. */
static void drop_empty(making *m)
{
    vem_i_cells *cells = m->cells;
    size_t row = (size_t)m->model->d * sizeof(double);
    int32_t kept = 0;
    for (int32_t k = 0; k < cells->count; k++) {
        if (cells->starts[k] == cells->starts[k + 1])
            continue;
        memmove((char *)m->coarse->means + (size_t)kept * row,
                (char *)m->coarse->means + (size_t)k * row, row);
        cells->starts[kept++] = cells->starts[k];
    }
    cells->starts[kept] = cells->clusters;
    cells->count = m->coarse->clusters = kept;
    for (int32_t k = 0; k < kept; k++)
        for (int32_t i = cells->starts[k]; i < cells->starts[k + 1]; i++)
            cells->cell_of[cells->order[i]] = k;
}

static vem_status make(vem_ctx *ctx, making *m, const vem_i_kernels *kernels,
                       uint64_t seed)
{
    vem_i_cells *cells = m->cells;
    const int64_t d = m->model->d;
    vem_view means = {.kernels = kernels,
                      .x = m->means,
                      .n = cells->clusters,
                      .ld = d,
                      .d = m->model->d};
    for (int64_t i = 0; i < cells->clusters; i++)
        vem_i_narrow(kernels, m->model->means + m->live[i] * d, d,
                     (char *)m->means + (size_t)(i * d) * kernels->element);
    pool_shapes(m->model, m->coarse);
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_GUIDED, 0, 0);
    vem_i_rng_distinct(&rng, cells->clusters, -1, cells->count, m->nearest);
    for (int64_t k = 0; k < cells->count; k++)
        memcpy(m->coarse->means + k * d, m->model->means + m->live[m->nearest[k]] * d,
               (size_t)d * sizeof(double));
    vem_status status = VEM_OK;
    for (int step = 0; step <= STEPS && status == VEM_OK; step++) {
        if (step > 0)
            vem_i_parallel_light(ctx, cells->count,
                                 (double)cells->clusters / cells->count * (double)d,
                                 move_cell, m);
        vem_i_scorer_prepare(ctx, m->coarse, &cells->scorer);
        status = vem_i_cells_nearest(ctx, cells, &means, m->nearest);
        if (status == VEM_OK)
            sort_clusters(m);
        cells->pairs += (int64_t)cells->clusters * cells->count;
    }
    if (status == VEM_OK) {
        drop_empty(m);
        vem_i_scorer_prepare(ctx, m->coarse, &cells->scorer);
    }
    return status;
}

vem_status vem_i_cells_new(vem_ctx *ctx, const vem_i_kernels *kernels,
                           const vem_model *model, int32_t count, uint64_t seed,
                           vem_i_cells *cells)
{
    vem_i_cells made = {0};
    making m = {.model = model, .cells = &made};
    size_t all = (size_t)model->clusters;
    vem_status status = vem_i_take(ctx, &made.order, all, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &made.cell_of, all, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &m.live, all, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &m.nearest, all, sizeof(int32_t));
    if (status == VEM_OK)
        status = vem_i_take(ctx, &m.means, all, (size_t)model->d * kernels->element);
    if (status == VEM_OK) {
        for (int32_t c = 0; c < model->clusters; c++) {
            made.cell_of[c] = -1;
            if (model->weights[c] > 0)
                m.live[made.clusters++] = c;
        }
        made.count = count < made.clusters ? count : made.clusters;
        status = vem_i_take(ctx, &made.starts, (size_t)made.count + 1, sizeof(int32_t));
    }
    if (status == VEM_OK)
        status =
            vem_i_model_blank(ctx,
                              vem_i_shape_of(model->family->pooled, made.count, model->d),
                              &m.coarse);
    if (status == VEM_OK)
        status =
            vem_i_scorer_new(ctx, kernels, vem_i_model_shape(m.coarse), &made.scorer);
    if (status == VEM_OK)
        status = make(ctx, &m, kernels, seed);
    vem_model_free(m.coarse);
    vem_i_free(m.live);
    vem_i_free(m.nearest);
    vem_i_free(m.means);
    if (status != VEM_OK) {
        vem_i_cells_free(&made);
        return status;
    }
    *cells = made;
    return VEM_OK;
}

void vem_i_cells_free(vem_i_cells *cells)
{
    vem_i_free(cells->order);
    vem_i_free(cells->starts);
    vem_i_free(cells->cell_of);
    vem_i_scorer_free(&cells->scorer);
    memset(cells, 0, sizeof *cells);
}
