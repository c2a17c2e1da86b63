/* The gap of a bound on cells.
 *
 * Row i in cell A, whose posterior is q, adds to the likelihood and to the bound
 *
 *     log p(x_i)   and, on average over the cell,   sum_c q_c [ log p(c, x_i) - log q_c ].
 *
 * The difference is KL(q, posterior of row i) >= 0: the bound is off by as much as posteriors vary
 * inside cells, so that a rule about one is a rule about the other. Its mean over rows is
 *
 *     L - F_all,    F_all = sum_A n_A log sum_c p(c) exp <log p(x|c)>_A / W     over all clusters;
 *
 * and F_all - F, what is lost because items hold only some clusters, is known exactly. The mean is
 * taken from a systematic sample along the tree, so that every cell of some size has its share of
 * it; the standard error is that of a simple sample, which is no less. Divergences are small and
 * never negative, so that the error is small, too: not that of a likelihood. */
#include "metrics/gap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "metrics/metrics.h"
#include "model/spread.h"

/* Rows of the sample: so many pairs with clusters, between a least and a largest number of rows; and
 * the rows that a task looks at. */
static const int64_t PAIRS = 1 << 22, LEAST_ROWS = 1 << 14, MOST_ROWS = 1 << 17;
enum { TOGETHER = 64 };

/* The cells in the order of their rows. */
typedef struct place {
    int64_t first;
    int64_t cell;
} place;

/* Rows or cells, and the model as their type needs it. */
typedef struct side {
    vem_view view;
    vem_i_scorer scorer;
    char *panels, *costs; /* per thread: TOGETHER items x d, x clusters */
    uint32_t *index;      /* per thread: TOGETHER */
} side;

typedef struct sample {
    const vem_i_cells *cells;
    int64_t n;
    int64_t *places; /* in the order of the tree, ascending */
    uint32_t *cell;  /* that each is in */
    char *rows;      /* of T */
    double *divergences;
    place *order;
    side row, cut;
} sample;

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int64_t sample_size(int64_t n, int32_t clusters)
{
    int64_t size = PAIRS / clusters;
    size = size < LEAST_ROWS ? LEAST_ROWS : size > MOST_ROWS ? MOST_ROWS : size;
    return size < n ? size : n;
}

/* ---- memory ---- */

static vem_status take_side(vem_i_run *run, const vem_model *model, side *s)
{
    const vem_i_kernels *kernels = s->view.kernels;
    const size_t threads = (size_t)run->threads, row = TOGETHER * kernels->element;
    vem_status status =
        vem_i_scorer_new(run, kernels, vem_i_model_shape(model), &s->scorer);
    if (status == VEM_OK && s->view.spread_kind != VEM_I_SPREAD_NONE)
        status = vem_i_scorer_take_spread(run, &s->scorer);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->panels, threads, (size_t)model->d * row);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->costs, threads, (size_t)model->clusters * row);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->index, threads, TOGETHER * sizeof *s->index);
    if (status == VEM_OK && !run->counted)
        vem_i_scorer_prepare(run, model, &s->scorer);
    return status;
}

static void free_side(side *s)
{
    vem_i_scorer_free(&s->scorer);
    vem_i_free(s->panels);
    vem_i_free(s->costs);
    vem_i_free(s->index);
}

static vem_status take(vem_i_run *run, sample *s)
{
    const vem_view *view = s->cells->rows;
    const vem_i_cell_list *cut = &s->cells->cut;
    const size_t n = (size_t)s->n,
                 count = (size_t)(run->counted ? cut->capacity : cut->count);
    vem_status status = vem_i_take(run, &s->places, n, sizeof *s->places);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->cell, n, sizeof *s->cell);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->rows, n, (size_t)view->d * view->kernels->element);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->divergences, n, sizeof *s->divergences);
    if (status == VEM_OK)
        status = vem_i_take(run, &s->order, count, sizeof *s->order);
    return status;
}

static void release(sample *s)
{
    free_side(&s->row);
    free_side(&s->cut);
    vem_i_free(s->places);
    vem_i_free(s->cell);
    vem_i_free(s->rows);
    vem_i_free(s->divergences);
    vem_i_free(s->order);
}

/* ---- the rows ---- */

static void draw(vem_i_run *run, uint64_t seed, sample *s)
{
    const vem_i_cells *cells = s->cells;
    const vem_i_tree *tree = cells->tree;
    const int64_t n = cells->rows->n, count = cells->cut.count;
    const size_t row = (size_t)cells->rows->d * cells->rows->kernels->element;
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_GAP, 0, 0);
    const double offset = s->n < n ? vem_i_rng_uniform(&rng) : 0;
    for (int64_t i = 0; i < count; i++)
        s->order[i] = (place){tree->first[cells->cut.nodes[i]], i};
    qsort(s->order, (size_t)count, sizeof *s->order, compare);
    for (int64_t k = 0, at = 0; k < s->n; k++) {
        const int64_t next = (int64_t)(((double)k + offset) * ((double)n / (double)s->n));
        s->places[k] = s->n == n ? k : next < n ? next : n - 1;
        while (at + 1 < count && s->order[at + 1].first <= s->places[k])
            at++;
        s->cell[k] = (uint32_t)s->order[at].cell;
        memcpy(s->rows + (size_t)k * row,
               (const char *)tree->x + (size_t)s->places[k] * row, row);
        vem_i_residence_check(run);
    }
}

/* Costs of listed items for all clusters. */
static const char *score(const side *s, const uint32_t *list, int64_t n, int thread)
{
    const vem_i_kernels *kernels = s->view.kernels;
    const size_t row = TOGETHER * kernels->element;
    char *panels = s->panels + (size_t)thread * (size_t)s->view.d * row;
    char *costs = s->costs + (size_t)thread * (size_t)s->scorer.clusters * row;
    vem_i_items items = vem_i_items_at(&s->view, 0, list, n);
    vem_i_items_pack(&s->view, NULL, panels, NULL, &items);
    s->scorer.family->score_tile(&s->scorer, &items, 0, s->scorer.clusters, costs,
                                 TOGETHER);
    return costs;
}

/* log p(c, x) up to what all clusters share. */
static double joint(const side *s, const char *costs, int32_t c, int64_t p)
{
    return -0.5 * vem_i_value(s->view.kernels, costs, (int64_t)c * TOGETHER + p);
}

static double log_sum(const side *s, const char *costs, int64_t p)
{
    double most = -INFINITY, sum = 0;
    for (int32_t c = 0; c < s->scorer.clusters; c++)
        most = fmax(most, joint(s, costs, c, p));
    for (int32_t c = 0; c < s->scorer.clusters; c++)
        sum += exp(joint(s, costs, c, p) - most);
    return most + log(sum > 0 ? sum : 1);
}

static void diverge(void *arg, int64_t number, int thread)
{
    sample *s = arg;
    const int64_t first = number * TOGETHER, left = s->n - first,
                  n = left < TOGETHER ? left : TOGETHER;
    uint32_t *list = s->row.index + (int64_t)thread * TOGETHER;
    for (int64_t p = 0; p < n; p++)
        list[p] = (uint32_t)(first + p);
    const char *rows = score(&s->row, list, n, thread);
    const char *cells = score(&s->cut, s->cell + first, n, thread);
    for (int64_t p = 0; p < n; p++) {
        const double own = log_sum(&s->row, rows, p), shared = log_sum(&s->cut, cells, p);
        double sum = 0;
        for (int32_t c = 0; c < s->row.scorer.clusters; c++) {
            const double log_q = joint(&s->cut, cells, c, p) - shared;
            if (log_q > -700)
                sum += exp(log_q) * (log_q - (joint(&s->row, rows, c, p) - own));
        }
        s->divergences[first + p] = sum > 0 ? sum : 0;
    }
}

/* The weighted mean, and its error. */
static vem_i_gap estimate(const sample *s)
{
    const double *weights = s->cells->tree->weights;
    double mass = 0, sum = 0, squares = 0;
    for (int64_t k = 0; k < s->n; k++) {
        const double w = weights ? weights[s->places[k]] : 1;
        mass += w;
        sum += w * s->divergences[k];
    }
    if (!(mass > 0))
        return (vem_i_gap){.rows = s->n};
    for (int64_t k = 0; k < s->n; k++) {
        const double e =
            (weights ? weights[s->places[k]] : 1) * (s->divergences[k] - sum / mass);
        squares += e * e;
    }
    const double left = 1 - (double)s->n / (double)s->cells->rows->n;
    const vem_i_gap gap = {.mean = sum / mass,
                           .se = sqrt(squares * left) / mass,
                           .rows = s->n};
    return gap;
}

vem_status vem_i_gap_of(vem_i_run *run, const vem_i_cells *cells, const vem_model *model,
                        double free_energy, uint64_t seed, vem_i_gap *gap)
{
    const vem_view *rows = cells->rows;
    sample s = {.cells = cells,
                .n = sample_size(rows->n, model->clusters),
                .cut.view = *vem_i_cells_view(cells, cells->kind)};
    vem_i_posteriors_sums sums = {0};
    vem_status status = take(run, &s);
    if (status == VEM_OK) {
        if (!run->counted)
            draw(run, seed, &s);
        s.row.view = vem_i_view_drawn(rows, s.rows, rows->d, s.n);
        status = take_side(run, model, &s.row);
    }
    if (status == VEM_OK)
        status = take_side(run, model, &s.cut);
    if (status == VEM_OK)
        status = vem_i_posteriors(run, &s.cut.view, model, NULL, NULL, &sums);
    if (status == VEM_OK && !run->counted) {
        vem_i_parallel(run, vem_i_shards(s.n, TOGETHER), diverge, &s);
        *gap = estimate(&s);
        gap->pairs = (2 * s.n + cells->cut.count) * model->clusters;
        gap->mean +=
            sums.log_likelihood / (rows->mass_unit * rows->total_mass) - free_energy;
    }
    release(&s);
    return status;
}
