/* The lists. A row is compared with the clusters whose means are nearest to that of its
 * own, and has the best of them. */
#include "moves/cap_rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "coarse/nearest.h"
#include "moves/cap_bounds.h"

/* Clusters that the rows of one are compared with, itself among them. */
enum { NEAR = 48 };
/* Rows that are compared at a time. */
enum { SOME = VEM_I_BLOCK };

/* Scratch of one thread. */
typedef struct desk {
    void *costs;    /* NEAR x SOME of T */
    int32_t *index; /* the same */
    uint32_t *rows; /* SOME */
    void *panels, *norms, *tile;
} desk;

/* Its arrays lie one behind the other, each from a multiple of 64 on. */
static size_t place(size_t *bytes, size_t size)
{
    const size_t at = *bytes;
    *bytes += (size + 63) / 64 * 64;
    return at;
}

static size_t desk_of(const vem_i_cap_rows *r, int thread, desk *out)
{
    const size_t element = r->view->kernels->element, some = SOME;
    size_t bytes = 0;
    const size_t width = r->all ? (size_t)r->clusters : NEAR;
    const size_t costs = place(&bytes, width * some * element);
    const size_t index = place(&bytes, width * some * sizeof(int32_t));
    const size_t rows = place(&bytes, some * sizeof(uint32_t));
    const size_t panels = place(&bytes, r->all ? 0 : some * (size_t)r->view->d * element);
    const size_t norms = place(&bytes, some * element);
    const size_t tile = place(&bytes, r->all ? 0 : VEM_I_TILE * some * element);
    if (out) {
        char *at = r->scratch + (size_t)thread * r->scratch_size;
        *out = (desk){.costs = at + costs,
                      .index = (int32_t *)(void *)(at + index),
                      .rows = (uint32_t *)(void *)(at + rows),
                      .panels = at + panels,
                      .norms = at + norms,
                      .tile = at + tile};
    }
    return bytes;
}

/* ---- memory ---- */

enum { ARRAYS = 11 };

static void list_arrays(vem_i_cap_rows *r, size_t n, vem_i_room *list)
{
    const size_t clusters = (size_t)r->clusters, width = (size_t)r->width;
    const vem_i_room arrays[ARRAYS] = {
        {&r->masses, clusters, sizeof *r->masses, 1},
        {&r->price, clusters, sizeof *r->price, 1},
        {&r->first, clusters, sizeof *r->first, 0},
        {&r->after, n, sizeof *r->after, 0},
        {&r->prev, n, sizeof *r->prev, 0},
        {&r->own, n, 1, 0},
        {&r->index, r->all ? 0 : n, width * sizeof *r->index, 0},
        {&r->cost, n, width * sizeof *r->cost, 0},
        {&r->horizon, r->all ? 0 : n, sizeof *r->horizon, 0},
        {&r->near, r->all ? 0 : clusters, (size_t)r->near_count * sizeof *r->near, 0},
        {&r->scratch, (size_t)r->run->threads, r->scratch_size, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

void vem_i_cap_rows_free(vem_i_cap_rows *r)
{
    vem_i_room list[ARRAYS];
    if (!r->run) /* nothing was taken */
        return;
    list_arrays(r, 0, list);
    vem_i_free_rooms(list, ARRAYS);
    vem_i_scorer_free(&r->scorer);
    vem_i_scorer_free(&r->priced);
}

/* ---- rings ---- */

static void enter(vem_i_cap_rows *r, uint32_t row, int32_t c)
{
    const uint32_t head = r->first[c];
    r->labels[row] = c;
    r->masses[c] += vem_i_cap_mass(r, row);
    if (head == VEM_I_NO_ROW) {
        r->first[c] = r->after[row] = r->prev[row] = row;
        return;
    }
    const uint32_t last = r->prev[head];
    r->after[last] = r->prev[head] = row;
    r->prev[row] = last;
    r->after[row] = head;
}

void vem_i_cap_leave(vem_i_cap_rows *r, uint32_t row)
{
    const int32_t c = r->labels[row];
    const uint32_t next = r->after[row], last = r->prev[row];
    r->labels[row] = -1;
    r->masses[c] -= vem_i_cap_mass(r, row);
    if (next == row) {
        r->first[c] = VEM_I_NO_ROW;
        r->masses[c] = 0; /* exactly */
        return;
    }
    r->after[last] = next;
    r->prev[next] = last;
    if (r->first[c] == row)
        r->first[c] = next;
}

void vem_i_cap_enter(vem_i_cap_rows *r, uint32_t row, int32_t to)
{
    r->own[row] = (unsigned char)to;
    enter(r, row, vem_i_cap_at(r, row, to));
}

void vem_i_cap_enter_any(vem_i_cap_rows *r, uint32_t row, int32_t c)
{
    int32_t to = 0;
    while (to < r->width && vem_i_cap_at(r, row, to) != c)
        to++;
    if (to == r->width) {
        to = 0;
        r->index[(int64_t)row * r->width] = c;
        r->cost[(int64_t)row * r->width] = 0;
    }
    vem_i_cap_enter(r, row, to);
}

void vem_i_cap_move(vem_i_cap_rows *r, uint32_t row, int32_t to)
{
    vem_i_cap_leave(r, row);
    vem_i_cap_enter(r, row, to);
}

/* ---- lists ---- */

static float nats(const vem_i_cap_rows *r, const void *costs, int64_t at, int64_t from)
{
    return (float)(0.5 * (vem_i_value(r->view->kernels, costs, at) -
                          vem_i_value(r->view->kernels, costs, from)));
}

/* The clusters nearest to each of some of them, itself first. */
static void find_near(void *arg, int64_t block, int thread)
{
    vem_i_cap_rows *r = arg;
    const vem_i_scorer *s = &r->scorer;
    const int32_t begin = (int32_t)(block * SOME);
    const int32_t n = r->clusters - begin < SOME ? r->clusters - begin : SOME;
    desk t;
    desk_of(r, thread, &t);
    const vem_view means =
        vem_i_view_drawn(r->view,
                         (const char *)s->means +
                             (size_t)begin * (size_t)s->ldc * s->kernels->element,
                         s->ldc, n);
    vem_i_items items = vem_i_items_at(&means, 0, NULL, n);
    vem_i_items_pack(&means, NULL, t.panels, t.norms, &items);
    vem_i_block_clear(s->kernels, t.costs, t.index, r->near_count, SOME, SOME);
    vem_i_tiles_top(s, vem_i_by_dots(s), &items, t.norms, 0, r->clusters, 0,
                    r->near_count, t.tile, t.costs, t.index, SOME);
    for (int32_t p = 0; p < n; p++) {
        const int32_t c = begin + p;
        int32_t *near = r->near + (int64_t)c * r->near_count, count = 1;
        near[0] = c;
        for (int64_t k = 0; k < r->near_count && count < r->near_count; k++)
            if (t.index[k * SOME + p] != c)
                near[count++] = t.index[k * SOME + p];
        for (; count < r->near_count; count++)
            near[count] = -1;
    }
}

/* Of n rows of a cluster, compared with its near ones, the best into their lists: itself
 * first, then by cost. */
static void keep_best(vem_i_cap_rows *r, const desk *t, int32_t n)
{
    for (int32_t p = 0; p < n; p++) {
        const int64_t row = t->rows[p];
        int32_t *index = r->index + row * r->width, count = 1;
        float *cost = r->cost + row * r->width;
        r->own[row] = 0;
        index[0] = t->index[p];
        cost[0] = 0;
        for (int64_t k = 1; k < r->near_count && t->index[k * SOME + p] >= 0; k++) {
            const float more = nats(r, t->costs, k * SOME + p, p);
            int32_t at = r->width - 1;
            if (count < r->width)
                at = count++;
            else if (!(more < cost[at]))
                continue;
            for (; at > 1 && cost[at - 1] > more; at--) {
                cost[at] = cost[at - 1];
                index[at] = index[at - 1];
            }
            cost[at] = more;
            index[at] = t->index[k * SOME + p];
        }
        r->horizon[row] = count < r->width ? INFINITY : cost[count - 1];
        for (; count < r->width; count++)
            index[count] = -1;
    }
}

static void list_rows(vem_i_cap_rows *r, const desk *t, int32_t c, int32_t n)
{
    const int32_t width = r->all ? r->clusters : r->near_count;
    const vem_i_items items = vem_i_items_at(r->view, 0, t->rows, n);
    for (int64_t k = 0; k < width; k++)
        for (int32_t p = 0; p < n; p++)
            t->index[k * SOME + p] =
                r->all ? (int32_t)k : r->near[(int64_t)c * r->near_count + k];
    vem_i_residence_check(r->run);
    r->scorer.family->score_pairs(&r->scorer, &items, width, t->index, t->costs, SOME);
    if (!r->all) {
        keep_best(r, t, n);
        return;
    }
    for (int32_t p = 0; p < n; p++) {
        const int64_t row = t->rows[p];
        r->own[row] = (unsigned char)c;
        for (int64_t k = 0; k < width; k++)
            r->cost[row * width + k] =
                nats(r, t->costs, k * SOME + p, (int64_t)c * SOME + p);
    }
}

static void list_cluster(void *arg, int64_t cluster, int thread)
{
    vem_i_cap_rows *r = arg;
    const int32_t c = (int32_t)cluster;
    int32_t n = 0;
    desk t;
    desk_of(r, thread, &t);
    for (uint32_t row = r->first[c]; row != VEM_I_NO_ROW;
         row = vem_i_cap_next(r, c, row)) {
        t.rows[n++] = row;
        if (n == SOME || r->after[row] == r->first[c]) {
            list_rows(r, &t, c, n);
            n = 0;
        }
    }
}

/* ---- lists with all clusters in them, by prices ---- */

typedef struct scan {
    vem_i_cap_rows *rows;
    const uint32_t *which; /* NULL: all */
    int64_t count;
} scan;

/* In place of its label, which is the first one otherwise: the best there is. */
static void keep_found(vem_i_cap_rows *r, const desk *t, int32_t n)
{
    for (int32_t p = 0; p < n; p++) {
        const int64_t row = t->rows[p];
        double far = -INFINITY;
        for (int32_t k = 0; k < r->width; k++) {
            const int32_t c = t->index[(int64_t)k * SOME + p];
            r->index[row * r->width + k] = c;
            if (c < 0)
                continue;
            r->cost[row * r->width + k] = nats(r, t->costs, (int64_t)k * SOME + p, p);
            far = fmax(far, (double)r->cost[row * r->width + k] + r->price[c]);
        }
        r->horizon[row] =
            t->index[(int64_t)(r->width - 1) * SOME + p] < 0 ? INFINITY : (float)far;
    }
}

static void scan_block(void *arg, int64_t block, int thread)
{
    const scan *s = arg;
    vem_i_cap_rows *r = s->rows;
    const vem_i_kernels *kernels = r->view->kernels;
    const int64_t begin = block * SOME, left = s->count - begin;
    const int32_t n = left < SOME ? (int32_t)left : SOME;
    const int dots = vem_i_by_dots(&r->priced);
    desk t;
    desk_of(r, thread, &t);
    for (int32_t p = 0; p < n; p++)
        t.rows[p] = s->which[begin + p];
    vem_i_items items = vem_i_items_at(r->view, 0, t.rows, n);
    vem_i_items_pack(r->view, NULL, t.panels, t.norms, &items);
    vem_i_residence_check(r->run);
    vem_i_block_clear(kernels, t.costs, t.index, r->width, SOME, SOME);
    vem_i_tiles_top(&r->priced, dots, &items, t.norms, 0, r->clusters, 0, r->width,
                    t.tile, t.costs, t.index, SOME);
    items = vem_i_items_at(r->view, 0, t.rows, n);
    r->scorer.family->score_pairs(&r->scorer, &items, r->width, t.index, t.costs, SOME);
    keep_found(r, &t, n);
}

int vem_i_cap_rows_scan(vem_i_cap_rows *r, const uint32_t *which, int64_t count)
{
    const vem_progress told = {.phase = "cap", .free_energy = NAN};
    if (r->lister)
        return r->lister->scan(r->lister->arg, r, which, count);
    const vem_i_kernels *kernels = r->view->kernels;
    scan s = {r, which, count};
    for (int32_t c = 0; c < r->clusters; c++)
        vem_i_store(kernels, r->priced.bias, c,
                    vem_i_value(kernels, r->scorer.bias, c) + 2 * r->price[c]);
    return vem_i_parallel_watched(r->run, vem_i_shards(count, SOME),
                                  (double)SOME * r->clusters * r->view->d, scan_block, &s,
                                  &told, VEM_I_SKIP);
}

int vem_i_cap_rows_list(vem_i_cap_rows *r)
{
    const vem_progress told = {.phase = "cap", .free_energy = NAN};
    const double d = r->view->d, clusters = r->clusters;
    if (r->lister)
        return r->lister->list(r->lister->arg, r);
    if (!r->all)
        vem_i_parallel_light(r->run, vem_i_shards(r->clusters, SOME), SOME * clusters * d,
                             find_near, r);
    return vem_i_parallel_watched(r->run, r->clusters,
                                  (double)r->view->n / clusters *
                                      (r->all ? clusters : NEAR) * d,
                                  list_cluster, r, &told, VEM_I_SKIP);
}

vem_status vem_i_cap_rows_new(vem_i_run *run, const vem_view *view,
                              const vem_model *model, int32_t *labels,
                              vem_i_cap_rows *rows)
{
    const int32_t clusters = model->clusters;
    vem_i_cap_rows r = {.run = run,
                        .view = view,
                        .model = model,
                        .clusters = clusters,
                        .all = clusters <= VEM_I_CAP_ALL,
                        .near_count = NEAR,
                        .labels = labels};
    r.width = r.all ? clusters : VEM_I_CAP_WIDTH;
    r.scratch_size = desk_of(&r, 0, NULL);
    vem_i_room list[ARRAYS];
    vem_status status = vem_i_scorer_for(run, view, vem_i_model_shape(model), &r.scorer);
    if (status == VEM_OK && !r.all)
        status = vem_i_scorer_for(run, view, vem_i_model_shape(model), &r.priced);
    *rows = r;
    list_arrays(rows, (size_t)view->n, list);
    if (status == VEM_OK)
        status = vem_i_take_rooms(run, list, ARRAYS);
    if (status != VEM_OK || run->counted)
        return status;
    vem_i_scorer_prepare(run, model, &rows->scorer);
    if (!r.all)
        vem_i_scorer_prepare(run, model, &rows->priced);
    rows->unit = vem_i_cap_bounds_of(view->mass, view->n, clusters, 1).unit;
    for (int32_t c = 0; c < clusters; c++)
        rows->first[c] = VEM_I_NO_ROW;
    for (int64_t i = 0; i < view->n; i++) {
        if (labels[i] < 0 || labels[i] >= clusters)
            return vem_i_fail(run, VEM_BAD_DATA,
                              "No cluster is near enough to be told from the others: "
                              "rescale the data.");
        enter(rows, (uint32_t)i, labels[i]);
    }
    return VEM_OK;
}
