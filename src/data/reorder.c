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
    if (status == VEM_OK && !run->counted) /* fits: the first did */
        status = vem_i_spill_new(run, (size_t)n * row + rest, &made);
    if (status == VEM_OK && !run->counted) {
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
    vem_i_mapping *spill = NULL;
    const int64_t n = points->view.n;
    const size_t row = (size_t)points->view.d * vem_i_view_element(&points->view);
    vem_status status = reorder_spill(run, points->x, row * (size_t)length, n / length,
                                      row * (size_t)(n % length), order, &spill);
    if (status != VEM_OK || run->counted)
        return status;
    vem_i_mapping_free(points->spill);
    points->spill = spill;
    points->view.x = points->x = spill->bytes;
    points->view.spill = spill;
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
    if (status == VEM_OK && !run->counted)
        vem_i_parallel_light(run, (int64_t)stripes, 50.0 * (double)n, walk, &t);
    vem_i_free(t.seen);
    vem_i_free(t.held);
    return status;
}

/* Sparse rows stay where they are: where each begins and ends is put in order. */
static vem_status keep_bounds(vem_i_run *run, vem_i_points *points)
{
    vem_view *view = &points->view;
    const size_t n = (size_t)view->n;
    const vem_status status = vem_i_take(run, &points->bounds, n, 2 * sizeof(int64_t));
    if (status != VEM_OK || run->counted)
        return status;
    memcpy(points->bounds, view->sparse.starts, n * sizeof(int64_t));
    memcpy(points->bounds + n, view->sparse.ends, n * sizeof(int64_t));
    view->sparse.starts = points->bounds;
    view->sparse.ends = points->bounds + n;
    return VEM_OK;
}

vem_status vem_i_points_keep_order(vem_i_run *run, vem_i_points *points)
{
    const vem_view *view = &points->view;
    vem_status status = VEM_OK;
    if (!points->rows) {
        status = vem_i_take(run, &points->rows, (size_t)view->n, sizeof(uint32_t));
        for (int64_t i = 0; status == VEM_OK && points->rows && i < view->n; i++)
            points->rows[i] = (uint32_t)i;
    }
    if (status == VEM_OK && vem_i_view_is_sparse(view) && !points->bounds)
        status = keep_bounds(run, points);
    return status;
}

/* Some numbers for each item. */
typedef struct column {
    void *x;
    size_t row; /* bytes; 0: there are none */
} column;

vem_status vem_i_points_reorder(vem_i_run *run, vem_i_points *points,
                                const uint32_t *order, int64_t length)
{
    const vem_view *view = &points->view;
    const int sparse = vem_i_view_is_sparse(view);
    /* A failure in between is the end of the fit, and of these points. */
    vem_status status = vem_i_points_keep_order(run, points);
    const uint64_t kept = vem_i_counted(run);
    uint64_t most = kept;
    if (status == VEM_OK && points->spill) {
        status = reorder_spilled(run, points, order, length);
        most = vem_i_count_back(run, kept);
    }
    const size_t bound = sparse ? sizeof(int64_t) : 0;
    const column list[] = {
        {points->x,
         sparse || points->spill ? 0 : (size_t)view->d * vem_i_view_element(view)},
        {points->bounds, bound},
        {points->bounds ? points->bounds + view->n : NULL, bound},
        {points->mass, points->mass ? sizeof(double) : 0},
        {points->log_base, points->log_base ? sizeof(double) : 0},
        {points->rows, sizeof(uint32_t)},
    };
    for (size_t k = 0; status == VEM_OK && k < VEM_I_COUNT(list); k++) {
        if (list[k].row == 0)
            continue;
        status = permute(run, list[k].x, (size_t)length * list[k].row, view->n / length,
                         order);
        const uint64_t some = vem_i_count_back(run, kept);
        most = some > most ? some : most;
    }
    vem_i_count_least(run, most);
    return status;
}
