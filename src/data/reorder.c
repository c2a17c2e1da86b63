/* Rows put into another order: row i takes what row order[i] had.
 *
 * In memory this is done in place. The permutation is walked cycle by cycle; the columns are
 * cut into stripes that know nothing of each other, so that threads can share the work.
 *
 * Rows in a temporary file go to a second one, and the first goes away. They are read in
 * their order and written where they belong: an order by clusters is ascending within each
 * of them, so that only as many pages as there are clusters are written to at a time.
 *
 * Sparse rows are the data's own and stay; the view looks at them in another order. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/residence.h"
#include "base/spill.h"
#include "data/points.h"

enum { STRIPES = 8, LEAST_BYTES = 64 };

typedef struct task {
    char *x;
    size_t row, stripe;
    int64_t n;
    const uint32_t *order;
    uint64_t *seen; /* per stripe: a bit per row */
    char *held;     /* per stripe: part of a row */
} task;

static int64_t words(int64_t n)
{
    return (n + 63) / 64;
}

static void walk(void *arg, int64_t stripe, int thread)
{
    (void)thread;
    const task *t = arg;
    size_t from = (size_t)stripe * t->stripe, left = t->row - from;
    size_t size = left < t->stripe ? left : t->stripe;
    uint64_t *seen = t->seen + stripe * words(t->n);
    char *x = t->x + from, *held = t->held + from;
    memset(seen, 0, (size_t)words(t->n) * sizeof *seen);
    for (int64_t i = 0; i < t->n; i++) {
        if (seen[i / 64] >> (i % 64) & 1 || t->order[i] == i)
            continue;
        memcpy(held, x + (size_t)i * t->row, size);
        int64_t at = i;
        for (int64_t next = t->order[at]; next != i; at = next, next = t->order[at]) {
            __builtin_prefetch(x + (size_t)t->order[next] * t->row);
            memcpy(x + (size_t)at * t->row, x + (size_t)next * t->row, size);
            seen[next / 64] |= UINT64_C(1) << (next % 64);
        }
        memcpy(x + (size_t)at * t->row, held, size);
    }
}

/* ---- from file to file ---- */

enum { ROWS_PER_TASK = 1024, CHECK_ROWS = 64 };

typedef struct move {
    vem_i_run *run;
    const char *from;
    char *to;
    size_t row;
    int64_t n;
    const uint32_t *place; /* where a row goes */
} move;

static void move_rows(void *arg, int64_t number, int thread)
{
    const move *m = arg;
    const int64_t begin = number * ROWS_PER_TASK;
    const int64_t end = begin + ROWS_PER_TASK < m->n ? begin + ROWS_PER_TASK : m->n;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        memcpy(m->to + (size_t)m->place[i] * m->row, m->from + (size_t)i * m->row,
               m->row);
        if (i % CHECK_ROWS == 0) /* each of them may have brought in a page */
            vem_i_residence_check(m->run);
    }
}

/* A second temporary file with n rows of `row` bytes in this order, and the rest behind them. */
static vem_status reorder_spill(vem_i_run *run, const void *x, size_t row, int64_t n,
                                size_t rest, const uint32_t *order, vem_i_mapping **spill)
{
    uint32_t *place = NULL;
    vem_i_mapping *made = NULL;
    vem_status status = vem_i_take(run, &place, (size_t)n, sizeof *place);
    if (status == VEM_OK)
        status =
            vem_i_spill_new(run, (size_t)n * row + rest, &made); /* fits: the first did */
    if (status == VEM_OK) {
        for (int64_t i = 0; i < n; i++)
            place[order[i]] = (uint32_t)i;
        move m = {
            .run = run, .from = x, .to = made->bytes, .row = row, .n = n, .place = place};
        vem_i_parallel_light(run, vem_i_shards(n, ROWS_PER_TASK),
                             ROWS_PER_TASK * (double)row, move_rows, &m);
        memcpy((char *)made->bytes + (size_t)n * row, (const char *)x + (size_t)n * row,
               rest);
        *spill = made;
    }
    vem_i_free(place);
    return status;
}

static vem_status reorder_spilled(vem_i_run *run, vem_i_points *points,
                                  const uint32_t *order, int64_t length)
{
    vem_i_mapping *spill;
    const int64_t n = points->view.n;
    const size_t row = (size_t)points->view.d * vem_i_view_element(&points->view);
    vem_status status = reorder_spill(run, points->x, row * (size_t)length, n / length,
                                      row * (size_t)(n % length), order, &spill);
    if (status != VEM_OK)
        return status;
    vem_i_mapping_free(points->spill);
    points->spill = spill;
    points->view.x = points->x = spill->bytes;
    return VEM_OK;
}

/* ---- in place ---- */

static vem_status permute(vem_i_run *run, void *x, size_t row, int64_t n,
                          const uint32_t *order)
{
    task t = {.x = x, .row = row, .n = n, .order = order};
    size_t stripes = row / LEAST_BYTES;
    stripes = stripes < 1 ? 1 : stripes > STRIPES ? STRIPES : stripes;
    if (stripes > (size_t)run->threads)
        stripes = (size_t)run->threads; /* the result is the same for any number */
    t.stripe = (row / stripes + LEAST_BYTES - 1) / LEAST_BYTES * LEAST_BYTES;
    stripes = (row + t.stripe - 1) / t.stripe;
    vem_status status =
        vem_i_take(run, &t.seen, stripes, (size_t)words(n) * sizeof *t.seen);
    if (status == VEM_OK)
        status = vem_i_take(run, &t.held, stripes, t.stripe);
    if (status == VEM_OK)
        vem_i_parallel_light(run, (int64_t)stripes, 50.0 * (double)n, walk, &t);
    vem_i_free(t.seen);
    vem_i_free(t.held);
    return status;
}

/* Sparse rows stay where they are: where each begins and ends is put in order. */
static vem_status reorder_sparse(vem_i_run *run, vem_i_points *points,
                                 const uint32_t *order, int64_t length)
{
    vem_view *view = &points->view;
    const size_t n = (size_t)view->n;
    if (!points->bounds) {
        const vem_status status =
            vem_i_take(run, &points->bounds, n, 2 * sizeof(int64_t));
        if (status != VEM_OK)
            return status;
        memcpy(points->bounds, view->sparse.starts, n * sizeof(int64_t));
        memcpy(points->bounds + n, view->sparse.ends, n * sizeof(int64_t));
        view->sparse.starts = points->bounds;
        view->sparse.ends = points->bounds + n;
    }
    const size_t row = (size_t)length * sizeof(int64_t);
    const vem_status status = permute(run, points->bounds, row, view->n / length, order);
    return status == VEM_OK
               ? permute(run, points->bounds + n, row, view->n / length, order)
               : status;
}

vem_status vem_i_points_reorder(vem_i_run *run, vem_i_points *points,
                                const uint32_t *order, int64_t length)
{
    vem_view *view = &points->view;
    const int64_t n = view->n / length;
    const size_t items = (size_t)length;
    vem_status status = VEM_OK;
    if (!points->rows) {
        status = vem_i_take(run, &points->rows, (size_t)view->n, sizeof(uint32_t));
        for (int64_t i = 0; status == VEM_OK && i < view->n; i++)
            points->rows[i] = (uint32_t)i;
    }
    /* A failure in between is the end of the fit, and of these points. */
    if (status == VEM_OK)
        status =
            vem_i_view_is_sparse(view) ? reorder_sparse(run, points, order, length)
            : points->spill
                ? reorder_spilled(run, points, order, length)
                : permute(run, points->x,
                          items * (size_t)view->d * vem_i_view_element(view), n, order);
    if (status == VEM_OK && points->mass)
        status = permute(run, points->mass, items * sizeof(double), n, order);
    if (status == VEM_OK && points->log_base)
        status = permute(run, points->log_base, items * sizeof(double), n, order);
    if (status == VEM_OK)
        status = permute(run, points->rows, items * sizeof(uint32_t), n, order);
    return status;
}
