/* Guided search: the clusters of the P nearest buckets of an item.
 *
 * Items are sorted by their nearest region, so that those of a group want nearly the same
 * buckets. A group chooses the buckets of each of its items (coarse/buckets_choose.c), then
 * meets them one by one: the items that want a bucket are packed and all its clusters are
 * scored as one dense tile, fused with the running lists of the items.
 *
 * Labels alone, isotropic families, more than a few dimensions: the tile is the dot form
 * about the center m of the bucket,
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

#include "base/bucket_sort.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "coarse/nearest.h"

/* Items of a group: many fill the tiles better, few spread small data over the threads. */
enum { GROUP_MOST = 1024, GROUP_LEAST = VEM_I_BLOCK, GROUPS = 64 };

/* Scratch of one thread. */
typedef struct scratch {
    vem_i_choice choice;
    void *panels, *norms;
    void *costs;          /* rows of VEM_I_BLOCK: of a tile of clusters */
    uint64_t *wants;      /* buckets x group / 64: items that want a bucket, a bit each */
    int32_t *rows;        /* group: those of one bucket */
    void *best;           /* keep x group: lists of the items */
    int32_t *index;       /* keep x group */
    double *log_sums;     /* group */
    void *block_best;     /* keep x VEM_I_BLOCK */
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
    const uint32_t *order; /* n: items by nearest region */
    int32_t *clusters;
    double *probabilities;
    scratch *scratch; /* per thread */
} task;

/* ---- A group ---- */

/* The items of a group that want a bucket, in order; how many. */
static int32_t list_items(const task *t, scratch *s, int64_t bucket)
{
    const int32_t words = t->group / 64;
    int32_t count = 0;
    for (int32_t w = 0; w < words; w++)
        for (uint64_t bits = s->wants[bucket * words + w]; bits; bits &= bits - 1)
            s->rows[count++] = w * 64 + __builtin_ctzll(bits);
    return count;
}

/* Lists of listed items (NULL: those from `first` on) to a block, or back. */
static void move_lists(const task *t, scratch *s, const int32_t *rows, int32_t first,
                       int32_t m, int back)
{
    const vem_i_kernels *kernels = t->view->kernels;
    vem_i_lists_move(kernels, t->keep, m, rows,
                     (char *)s->best + (size_t)first * kernels->element, s->index + first,
                     t->group, s->block_best, s->block_index, back);
}

static double log_add(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);
    return isinf(least) ? most : most + log1p(exp(least - most));
}

/* As vem_i_tiles_top, and the sums of what was tried. */
static void score_with_sums(const task *t, scratch *s, const vem_i_items *items,
                            const int32_t *rows, int32_t first, int32_t end)
{
    const vem_i_scorer *scorer = &t->guided->scorer;
    const int32_t m = (int32_t)items->n;
    double sums[VEM_I_BLOCK];
    for (int32_t c = first; c < end; c += VEM_I_TILE) {
        int32_t count = end - c < VEM_I_TILE ? end - c : VEM_I_TILE;
        vem_i_tiles_top(scorer, 0, items, NULL, c, c + count, c, t->keep, s->costs,
                        s->block_best, s->block_index, VEM_I_BLOCK);
        scorer->kernels->softmax(s->costs, m, count, VEM_I_BLOCK, NULL, sums);
        for (int32_t p = 0; p < m; p++)
            s->log_sums[rows[p]] = log_add(s->log_sums[rows[p]], sums[p]);
    }
}

/* One bucket meets up to a block of the items that want it. */
static void meet_bucket(const task *t, scratch *s, const uint32_t *items,
                        const int32_t *rows, int32_t m, int32_t bucket)
{
    const vem_i_guided *g = t->guided;
    const vem_view *view = t->view;
    const vem_i_kernels *kernels = view->kernels;
    const size_t element = kernels->element;
    const int32_t first = g->buckets.starts[bucket], end = g->buckets.starts[bucket + 1];
    const char *center = (const char *)g->buckets.scorer.means +
                         (size_t)bucket * (size_t)g->buckets.scorer.ldc * element;
    for (int32_t p = 0; p < m; p++)
        s->items[p] = items[rows[p]];
    vem_i_items packed = vem_i_items_at(view, 0, s->items, m);
    vem_i_items_pack(view, t->by_dots ? center : NULL, s->panels, s->norms, &packed);
    move_lists(t, s, rows, 0, m, 0);
    if (t->probabilities)
        score_with_sums(t, s, &packed, rows, first, end);
    else
        vem_i_tiles_top(t->by_dots ? &g->local : &g->scorer, t->by_dots, &packed,
                        s->norms, first, end, first, t->keep, s->costs, s->block_best,
                        s->block_index, VEM_I_BLOCK);
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
                        t->guided->buckets.order[position]};
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
    vem_i_block_clear(t->view->kernels, s->best, s->index, t->keep, t->group, t->group);
    for (int32_t i = 0; i < n; i++)
        s->log_sums[i] = -INFINITY;
    const int32_t words = t->group / 64;
    memset(s->wants, 0,
           (size_t)t->guided->buckets.count * (size_t)words * sizeof *s->wants);
    for (int32_t first = 0; first < n; first += VEM_I_BLOCK)
        vem_i_buckets_choose(&t->guided->buckets, t->view, items + first,
                             n - first < VEM_I_BLOCK ? n - first : VEM_I_BLOCK, t->probes,
                             &s->choice, s->wants + first / 64, words);
    for (int32_t bucket = 0; bucket < t->guided->buckets.count; bucket++) {
        int32_t count = list_items(t, s, bucket);
        for (int32_t i = 0; i < count; i += VEM_I_BLOCK)
            meet_bucket(t, s, items, s->rows + i,
                        count - i < VEM_I_BLOCK ? count - i : VEM_I_BLOCK, bucket);
    }
    put_lists(t, s, items, n);
}

/* ---- Scratch ---- */

enum { OWN = 11, ARRAYS = OWN + VEM_I_CHOICE_ROOMS };

static void list_scratch(const task *t, scratch *s, vem_i_room *list)
{
    const size_t element = t->view->kernels->element, block = VEM_I_BLOCK;
    const size_t buckets = (size_t)t->guided->buckets.count, group = (size_t)t->group;
    const size_t keep = (size_t)t->keep, index = sizeof(int32_t);
    const vem_i_room arrays[OWN] = {
        {&s->panels, block, (size_t)t->view->d * element, 1},
        {&s->norms, block, element, 1},
        {&s->costs, VEM_I_TILE, block * element, 1},
        {&s->wants, buckets, group / 64 * sizeof *s->wants, 1},
        {&s->rows, group, index, 1},
        {&s->best, keep, group * element, 1},
        {&s->index, keep, group * index, 1},
        {&s->log_sums, group, sizeof *s->log_sums, 1},
        {&s->block_best, keep, block * element, 1},
        {&s->block_index, keep, block * index, 1},
        {&s->items, block, sizeof *s->items, 1},
    };
    memcpy(list, arrays, sizeof arrays);
    vem_i_choice_rooms(&t->guided->buckets, t->view, &s->choice, list + OWN);
}

static vem_status take_scratch(vem_i_run *run, task *t)
{
    vem_i_room list[ARRAYS];
    vem_status status =
        vem_i_take_zeroed(run, &t->scratch, (size_t)run->threads, sizeof *t->scratch);
    for (int i = 0; status == VEM_OK && i < run->threads; i++) {
        list_scratch(t, &t->scratch[i], list);
        status = vem_i_take_rooms(run, list, ARRAYS);
    }
    return status;
}

static void free_scratch(vem_i_run *run, task *t)
{
    vem_i_room list[ARRAYS];
    for (int i = 0; t->scratch && i < run->threads; i++) {
        list_scratch(t, &t->scratch[i], list);
        vem_i_free_rooms(list, ARRAYS);
    }
    vem_i_free(t->scratch);
}

/* Items by nearest region. */
static vem_status sort_items(vem_i_run *run, const vem_i_guided *guided,
                             const vem_view *view, uint32_t *order)
{
    int32_t *nearest = NULL;
    int64_t *starts = NULL;
    vem_status status = vem_i_take(run, &nearest, (size_t)view->n, sizeof *nearest);
    if (status == VEM_OK)
        status = vem_i_take_zeroed(run, &starts, (size_t)guided->buckets.regions,
                                   sizeof *starts);
    if (status == VEM_OK)
        status = vem_i_buckets_region(run, &guided->buckets, view, nearest);
    if (status == VEM_OK) {
        for (int64_t i = 0; i < view->n; i++)
            starts[nearest[i]]++;
        vem_i_bucket_places(starts, guided->buckets.regions, 1, 0, 0);
        for (int64_t i = 0; i < view->n; i++)
            order[starts[nearest[i]]++] = (uint32_t)i;
    }
    vem_i_free(nearest);
    vem_i_free(starts);
    return status;
}

static vem_status stopped(vem_i_run *run)
{
    return vem_i_fail_stopped(run, "while rows were assigned");
}

/* ---- Verbs ---- */

vem_status vem_i_guided_find(vem_i_run *run, const vem_i_guided *guided,
                             const vem_view *view, int32_t probes, int32_t top,
                             int32_t *clusters, double *probabilities, int64_t *pairs)
{
    const int32_t buckets = guided->buckets.count;
    int64_t share = view->n / GROUPS / VEM_I_BLOCK * VEM_I_BLOCK;
    uint32_t *order = NULL;
    task t = {.guided = guided,
              .view = view,
              .probes = probes < buckets ? probes : buckets,
              .top = top,
              .by_dots = guided->local.means && !probabilities,
              .group = share > GROUP_MOST    ? GROUP_MOST
                       : share < GROUP_LEAST ? GROUP_LEAST
                                             : (int32_t)share,
              .clusters = clusters,
              .probabilities = probabilities};
    t.keep = t.by_dots ? top + 1 : top;
    vem_status status = vem_i_take(run, &order, (size_t)view->n, sizeof *order);
    if (status == VEM_OK)
        status = sort_items(run, guided, view, order);
    if (status == VEM_OK)
        status = take_scratch(run, &t);
    if (status == VEM_OK) {
        vem_progress told = {.phase = "assign", .free_energy = NAN};
        double work = (double)t.group * t.probes * guided->buckets.clusters / buckets;
        t.order = order;
        *pairs += view->n * guided->buckets.regions;
        if (vem_i_parallel_watched(run, vem_i_shards(view->n, t.group), work * view->d,
                                   run_group, &t, &told, 1))
            status = stopped(run);
        for (int i = 0; i < run->threads; i++)
            *pairs += t.scratch[i].pairs + t.scratch[i].choice.pairs;
    }
    free_scratch(run, &t);
    vem_i_free(order);
    return status;
}
