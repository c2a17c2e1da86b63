/* Guided search: the clusters of the P nearest cells of an item.
 *
 * Items are sorted by their nearest cell, so that those of a group want nearly the same
 * cells. A group chooses the cells of each of its items, then meets the cells one by one:
 * the items that want a cell are packed and all its clusters are scored as one dense tile,
 * fused with the running lists of the items. An item wants the cells no farther than a
 * limit that at least P of them keep to; it is found by bisection for all items of a block
 * at once, without branches, and so rarely lets one more in.
 *
 * Labels alone, isotropic families, more than a few dimensions: the tile is the dot form
 * about the center m of the cell,
 *
 *     |x - mu|^2 = |x - m|^2 + |mu - m|^2 - 2 (x - m).(mu - m),
 *
 * whose rounding shrinks with the distances to m. Lists keep one cluster more than asked
 * for and are put in order by direct differences. Otherwise tiles are direct differences;
 * for probabilities their terms exp(-v/2) are summed over all that was tried.
 *
 * A group belongs to one task and the result of an item depends on no other item, so
 * neither threads nor chunks change it. */
#include "search/guided.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "search/search.h"

/* Items of a group: many fill the tiles better, few spread small data over the threads. */
enum { GROUP_MOST = 1024, GROUP_LEAST = VEM_I_BLOCK, GROUPS = 64 };

/* Scratch of one thread. */
typedef struct scratch {
    void *panels, *norms;
    void *costs;      /* rows of VEM_I_BLOCK: of all cells, or of a tile of clusters */
    uint64_t *wants;  /* cells x group / 64: items that want a cell, a bit each */
    int32_t *rows;    /* group: those of one cell */
    void *best;       /* keep x group: lists of the items */
    int32_t *index;   /* keep x group */
    double *log_sums; /* group */
    void *block_best; /* keep x VEM_I_BLOCK */
    int32_t *block_index; /* keep x VEM_I_BLOCK */
    uint32_t *items;      /* VEM_I_BLOCK: rows of the view */
    int64_t pairs;
} scratch;

typedef struct task {
    const vem_i_guided *guided;
    const vem_view *view;
    int32_t probes, top, keep;
    int32_t group;
    int by_dots;
    const uint32_t *order; /* n: items by nearest cell */
    int32_t *clusters;
    double *probabilities;
    scratch *scratch; /* per thread */
} task;

/* ---- A group ---- */

/* The items of a group that want a cell, in order; how many. */
static int32_t list_items(const task *t, scratch *s, int64_t cell)
{
    const int32_t words = t->group / 64;
    int32_t count = 0;
    for (int32_t w = 0; w < words; w++)
        for (uint64_t bits = s->wants[cell * words + w]; bits; bits &= bits - 1)
            s->rows[count++] = w * 64 + __builtin_ctzll(bits);
    return count;
}

/* Lists of listed items (NULL: those from `first` on) to a block, or back. */
static void move_lists(const task *t, scratch *s, const int32_t *rows, int32_t first,
                       int32_t m, int back)
{
    for (int64_t r = 0; r < t->keep; r++) {
        const int64_t here = r * VEM_I_BLOCK, there = r * t->group;
        const int single = t->view->kernels->precision == VEM_SINGLE;
        float *block_f = (float *)s->block_best + here,
              *best_f = (float *)s->best + there;
        double *block_d = (double *)s->block_best + here,
               *best_d = (double *)s->best + there;
        for (int32_t p = 0; p < m; p++) {
            int32_t row = rows ? rows[p] : first + p;
            int32_t *block = &s->block_index[here + p], *index = &s->index[there + row];
            if (back) {
                *index = *block;
                if (single)
                    best_f[row] = block_f[p];
                else
                    best_d[row] = block_d[p];
            } else {
                *block = *index;
                if (single)
                    block_f[p] = best_f[row];
                else
                    block_d[p] = best_d[row];
            }
        }
    }
}

static double log_add(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);
    return isinf(least) ? most : most + log1p(exp(least - most));
}

static void score_directly(const task *t, scratch *s, const int32_t *rows, int32_t m,
                           int32_t first, int32_t end)
{
    const vem_i_scorer *scorer = &t->guided->scorer;
    double sums[VEM_I_BLOCK];
    for (int32_t c = first; c < end; c += VEM_I_TILE) {
        int32_t count = end - c < VEM_I_TILE ? end - c : VEM_I_TILE;
        scorer->family->score_tile(scorer, s->panels, m, c, count, s->costs, VEM_I_BLOCK);
        scorer->kernels->select_top(s->costs, NULL, m, count, c, t->keep, s->block_best,
                                    s->block_index, VEM_I_BLOCK);
        if (!t->probabilities)
            continue;
        scorer->kernels->softmax(s->costs, m, count, VEM_I_BLOCK, NULL, sums);
        for (int32_t p = 0; p < m; p++)
            s->log_sums[rows[p]] = log_add(s->log_sums[rows[p]], sums[p]);
    }
}

/* One cell meets up to a block of the items that want it. */
static void meet_cell(const task *t, scratch *s, const uint32_t *items,
                      const int32_t *rows, int32_t m, int32_t cell)
{
    const vem_i_guided *g = t->guided;
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const size_t element = kernels->element;
    const int32_t first = g->cells.starts[cell], end = g->cells.starts[cell + 1];
    const char *center = (const char *)g->cells.scorer.means +
                         (size_t)cell * (size_t)g->cells.scorer.ldc * element;
    for (int32_t p = 0; p < m; p++)
        s->items[p] = items[rows[p]];
    kernels->pack(view->x, view->ld, s->items, m, view->d, t->by_dots ? center : NULL,
                  s->panels, s->norms);
    move_lists(t, s, rows, 0, m, 0);
    if (t->by_dots) {
#define FROM(array, width) ((const char *)(array) + (size_t)first * (width)*element)
        kernels->dot_top(s->panels, s->norms, m, view->d, FROM(g->local, (size_t)view->d),
                         view->d, FROM(g->norms, 1), FROM(g->scorer.scale, 1),
                         FROM(g->scorer.bias, 1), end - first, first, t->keep,
                         s->block_best, s->block_index, VEM_I_BLOCK);
#undef FROM
    } else {
        score_directly(t, s, rows, m, first, end);
    }
    move_lists(t, s, rows, 0, m, 1);
    s->pairs += (int64_t)m * (end - first);
}

typedef struct found {
    double cost;
    int32_t cluster;
} found;

static int compare_found(const void *a_, const void *b_)
{
    const found *a = a_, *b = b_;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->cluster < b->cluster ? -1 : a->cluster > b->cluster;
}

/* The list of one item, in order of cost and of the model's numbers, to the results. */
static void put_item(const task *t, const scratch *s, int32_t p, int32_t row,
                     int64_t item)
{
    const vem_i_kernels *kernels = t->view->kernels;
    found list[VEM_I_TOP_MAX] = {{0}};
    int32_t count = 0;
    for (int32_t r = 0; r < t->keep; r++) {
        int32_t position = s->block_index[(int64_t)r * VEM_I_BLOCK + p];
        if (position >= 0)
            list[count++] =
                (found){vem_i_value(kernels, s->block_best, (int64_t)r * VEM_I_BLOCK + p),
                        t->guided->cells.order[position]};
    }
    qsort(list, (size_t)count, sizeof *list, compare_found);
    for (int32_t r = 0; r < t->top; r++) {
        int64_t at = item * t->top + r;
        t->clusters[at] = r < count ? list[r].cluster : -1;
        if (t->probabilities)
            t->probabilities[at] =
                r < count ? exp(fmin(0, -list[r].cost / 2 - s->log_sums[row])) : 0;
    }
}

static void put_lists(const task *t, scratch *s, const uint32_t *items, int32_t n)
{
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const vem_i_scorer *scorer = &t->guided->scorer;
    for (int32_t first = 0; first < n; first += VEM_I_BLOCK) {
        int32_t m = n - first < VEM_I_BLOCK ? n - first : VEM_I_BLOCK;
        move_lists(t, s, NULL, first, m, 0);
        if (t->by_dots)
            kernels->iso_pairs(view->x, view->ld, items + first, m, view->d,
                               scorer->means, scorer->ldc, scorer->scale, scorer->bias,
                               t->keep, s->block_index, s->block_best, VEM_I_BLOCK);
        for (int32_t p = 0; p < m; p++)
            put_item(t, s, p, first + p, items[first + p]);
    }
}

static void run_group(void *arg, int64_t number, int thread)
{
    const task *t = arg;
    scratch *s = &t->scratch[thread];
    const uint32_t *items = t->order + number * t->group;
    int64_t left = t->view->n - number * t->group;
    int32_t n = left < t->group ? (int32_t)left : t->group;
    for (int64_t i = 0; i < (int64_t)t->group * t->keep; i++) {
        vem_i_store(t->view->kernels, s->best, i, INFINITY);
        s->index[i] = -1;
    }
    for (int32_t i = 0; i < n; i++)
        s->log_sums[i] = -INFINITY;
    for (int32_t first = 0; first < t->group; first += VEM_I_BLOCK) {
        const vem_view *view = t->view;
        int32_t m = n - first < VEM_I_BLOCK ? n - first : VEM_I_BLOCK;
        if (m > 0)
            view->kernels->pack(view->x, view->ld, items + first, m, view->d, NULL,
                                s->panels, s->norms);
        vem_i_cells_choose(&t->guided->cells, s->panels, m, t->probes, s->costs,
                           s->wants + first / 64, t->group / 64);
    }
    for (int32_t cell = 0; cell < t->guided->cells.count; cell++) {
        int32_t count = list_items(t, s, cell);
        for (int32_t i = 0; i < count; i += VEM_I_BLOCK)
            meet_cell(t, s, items, s->rows + i,
                      count - i < VEM_I_BLOCK ? count - i : VEM_I_BLOCK, cell);
    }
    put_lists(t, s, items, n);
    s->pairs += (int64_t)n * t->guided->cells.count; /* of the choice */
}

/* ---- Scratch ---- */

static void free_scratch(vem_ctx *ctx, task *t)
{
    for (int i = 0; t->scratch && i < ctx->threads; i++) {
        scratch *s = &t->scratch[i];
        vem_i_free(s->panels);
        vem_i_free(s->norms);
        vem_i_free(s->costs);
        vem_i_free(s->wants);
        vem_i_free(s->rows);
        vem_i_free(s->best);
        vem_i_free(s->index);
        vem_i_free(s->log_sums);
        vem_i_free(s->block_best);
        vem_i_free(s->block_index);
        vem_i_free(s->items);
    }
    vem_i_free(t->scratch);
}

static vem_status take_scratch(vem_ctx *ctx, task *t)
{
    const size_t element = t->view->kernels->element, block = VEM_I_BLOCK;
    const size_t cells = (size_t)t->guided->cells.count, group = (size_t)t->group;
    const size_t keep = (size_t)t->keep;
    const size_t rows = cells > VEM_I_TILE ? cells : VEM_I_TILE;
    vem_status status =
        vem_i_take_zeroed(ctx, &t->scratch, (size_t)ctx->threads, sizeof *t->scratch);
    for (int i = 0; status == VEM_OK && i < ctx->threads; i++) {
        scratch *s = &t->scratch[i];
        const struct {
            void *out;
            size_t count, size;
        } wanted[] = {{&s->panels, block, (size_t)t->view->d * element},
                      {&s->norms, block, element},
                      {&s->costs, rows, block * element},
                      {&s->wants, cells, group / 64 * sizeof *s->wants},
                      {&s->rows, group, sizeof *s->rows},
                      {&s->best, keep, group * element},
                      {&s->index, keep, group * sizeof *s->index},
                      {&s->log_sums, group, sizeof *s->log_sums},
                      {&s->block_best, keep, block * element},
                      {&s->block_index, keep, block * sizeof *s->block_index},
                      {&s->items, block, sizeof *s->items}};
        for (size_t k = 0; status == VEM_OK && k < sizeof wanted / sizeof *wanted; k++)
            status =
                vem_i_take_zeroed(ctx, wanted[k].out, wanted[k].count, wanted[k].size);
    }
    return status;
}

/* Items by nearest cell. */
static vem_status sort_items(vem_ctx *ctx, const vem_i_guided *guided,
                             const vem_view *view, uint32_t *order)
{
    int32_t *nearest = NULL;
    int64_t *starts = NULL;
    size_t cells = (size_t)guided->cells.count;
    vem_status status = vem_i_take(ctx, &nearest, (size_t)view->n, sizeof *nearest);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(ctx, &starts, cells + 1, sizeof *starts);
    if (status == VEM_OK)
        status = vem_i_cells_nearest(ctx, &guided->cells, view, nearest);
    if (status == VEM_OK) {
        for (int64_t i = 0; i < view->n; i++)
            starts[nearest[i] + 1]++;
        for (size_t k = 0; k < cells; k++)
            starts[k + 1] += starts[k];
        for (int64_t i = 0; i < view->n; i++)
            order[starts[nearest[i]]++] = (uint32_t)i;
    }
    vem_i_free(nearest);
    vem_i_free(starts);
    return status;
}

static vem_status stopped(vem_ctx *ctx)
{
    return vem_i_fail(ctx, VEM_STOPPED, "Stopped while rows were assigned.");
}

/* ---- Verbs ---- */

vem_status vem_i_guided_find(vem_ctx *ctx, const vem_i_guided *guided,
                             const vem_view *view, int32_t probes, int32_t top,
                             int32_t *clusters, double *probabilities, int64_t *pairs)
{
    const int32_t cells = guided->cells.count;
    int64_t share = view->n / GROUPS / VEM_I_BLOCK * VEM_I_BLOCK;
    uint32_t *order = NULL;
    task t = {.guided = guided,
              .view = view,
              .probes = probes < cells ? probes : cells,
              .top = top,
              .by_dots = guided->local && !probabilities,
              .group = share > GROUP_MOST    ? GROUP_MOST
                       : share < GROUP_LEAST ? GROUP_LEAST
                                             : (int32_t)share,
              .clusters = clusters,
              .probabilities = probabilities};
    t.keep = t.by_dots ? top + 1 : top;
    vem_status status = vem_i_take(ctx, &order, (size_t)view->n, sizeof *order);
    if (status == VEM_OK)
        status = sort_items(ctx, guided, view, order);
    if (status == VEM_OK)
        status = take_scratch(ctx, &t);
    if (status == VEM_OK) {
        vem_progress told = {.phase = "assign", .free_energy = NAN};
        double work = (double)t.group * t.probes * guided->cells.clusters / cells;
        t.order = order;
        *pairs += view->n * cells;
        if (vem_i_parallel_watched(ctx, vem_i_shards(view->n, t.group), work * view->d,
                                   run_group, &t, &told, 1))
            status = stopped(ctx);
        for (int i = 0; i < ctx->threads; i++)
            *pairs += t.scratch[i].pairs;
    }
    free_scratch(ctx, &t);
    vem_i_free(order);
    return status;
}
