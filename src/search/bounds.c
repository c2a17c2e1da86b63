/* Items that cannot change need not be scored.
 *
 * An item x holds cluster a and was scored against a list. Of the others of the list none was
 * nearer than `lower`, and none has moved farther than s since. So each of them is now at a
 * distance of lower - s at least, and if the cost of a, by direct differences, is no more than
 * that of such a distance, whatever a tile would propose loses against a: the item stays. Nothing
 * else is asked of the tile, so what is held, F and the model have the same bits as if every item
 * had been scored (docs/math/bounds.md).
 *
 * Roundings. u: the unit roundoff; s = vem_i_sum_steps(d). Costs are v = k |x - m|^2, k the same
 * for all clusters.
 *
 *   needed   Computed by direct differences, v(c) >= k |x - c|^2 (1 - (s + 8) u) - least, with
 *            least = D times the smallest normal number, for squares that vanish. So
 *            v(c) >= v(a), both as computed, where |x - c| >= r and
 *                r^2 = ((v(a) + least) / k + least) / (1 - (s + 8) u).
 *   reached  A tile takes dots about an origin o: with y = x - o and n = c - o, rounded,
 *                |v'(c) / k - |y - n|^2| <= e (|y|^2 + |n|^2),   e = (d + s + 16) u:
 *            s u of the product, d u of the squared lengths, as kernels sum them. Let R^2 be the
 *            least v'(c) / k of the others. Then all of them are at L at least, where
 *                L = sqrt(R^2 - e (|y|^2 + r^2)) - 4 u (|y| + r),    r = |y| + R.
 *            For if |x - c| < L, then |y - n| < L + 2 u (|y| + |y - n|), as y and n are rounded, so
 *            |y - n|^2 < R^2 - e (|y|^2 + r^2) and |n| < r; hence v'(c) / k < R^2, which was the
 *            least. However far other clusters lie, they do not enter.
 *   moved    In double from means of T, and a little more.
 *
 * Bounds are plain distances, rounded down to floats, and moves rounded up. Where clusters have
 * weights (a free prior, prices) costs are no function of the distance alone, and every item is
 * scored; so it is in few dimensions, where a pair costs less than what is known about it. */
#include "search/bounds.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "coarse/nearest.h"
#include "data/together.h"

enum { ARRAYS = 6, TOGETHER = 64 /* clusters */ };

int32_t vem_i_bounds_columns = 256;

/* ---- memory ---- */

static void list_arrays(vem_i_bounds *b, size_t n, size_t clusters, size_t groups,
                        size_t row, vem_i_room *list)
{
    const size_t index = sizeof(int32_t);
    const vem_i_room arrays[ARRAYS] = {
        {&b->lower, n, sizeof *b->lower, 0},
        {&b->of, n, index, 0},
        {&b->means, clusters, row, 0},
        {&b->groups, clusters, index, 0},
        {&b->near, groups, VEM_I_TOP_MAX * index, 0},
        {&b->moved, clusters, sizeof *b->moved, 0},
    };
    memcpy(list, arrays, sizeof arrays);
}

static int serves(const vem_i_search *search)
{
    return search->spec.held == 1 && vem_i_is_plain(search->scorer->family) &&
           vem_i_by_dots(search->scorer) &&
           search->view->spread_kind == VEM_I_SPREAD_NONE &&
           !vem_i_view_is_sparse(search->view) && search->view->d >= vem_i_bounds_columns;
}

vem_status vem_i_bounds_new(const vem_i_search *search, const vem_i_hierarchy *h,
                            vem_i_bounds *bounds)
{
    vem_i_room list[ARRAYS];
    vem_i_bounds b = {0};
    if (!serves(search))
        return VEM_OK;
    list_arrays(&b, (size_t)search->view->n, (size_t)h->clusters, (size_t)h->most_groups,
                (size_t)h->d * h->kernels->element, list);
    const vem_status status = vem_i_take_rooms(search->run, list, ARRAYS);
    if (status == VEM_OK)
        *bounds = b;
    else
        vem_i_free_rooms(list, ARRAYS);
    return status;
}

void vem_i_bounds_free(vem_i_bounds *b)
{
    vem_i_room list[ARRAYS];
    list_arrays(b, 0, 0, 0, 0, list);
    vem_i_free_rooms(list, ARRAYS);
}

/* ---- a step ---- */

typedef struct task {
    const vem_i_bounds *bounds;
    const vem_i_scorer *scorer;
} task;

static float up(double value)
{
    const float stored = (float)value;
    return (double)stored < value ? nextafterf(stored, INFINITY) : stored;
}

/* How far clusters went. A mean that stays goes nowhere; squares that vanish go as far as the
 * smallest number whose square does not. */
static void measure_moves(void *arg, int64_t number, int thread)
{
    (void)thread;
    const task *t = arg;
    const vem_i_scorer *s = t->scorer;
    const int64_t d = s->d, end = (number + 1) * TOGETHER;
    for (int64_t c = number * TOGETHER; c < end && c < s->clusters; c++) {
        double sum = 0;
        int away = 0;
        for (int64_t j = 0; j < d; j++) {
            const double step = vem_i_value(s->kernels, s->means, c * s->ldc + j) -
                                vem_i_value(s->kernels, t->bounds->means, c * d + j);
            away |= step != 0;
            sum += step * step;
        }
        const double more = 1 + ((double)d + 16) * DBL_EPSILON;
        t->bounds->moved[c] = away ? up(sqrt(sum + (double)d * DBL_MIN) * more) : 0;
    }
}

static int is_plain(const vem_i_scorer *s)
{
    for (int64_t c = 0; c < s->clusters; c++)
        if (vem_i_value(s->kernels, s->bias, c) != 0 ||
            vem_i_value(s->kernels, s->scale, c) != vem_i_value(s->kernels, s->scale, 0))
            return 0;
    return 1;
}

void vem_i_bounds_begin(vem_i_bounds *b, const vem_i_search *search,
                        const vem_i_hierarchy *h)
{
    const vem_i_scorer *s = search->scorer;
    const vem_i_kernels *kernels = s->kernels;
    const int single = kernels->precision == VEM_SINGLE;
    b->plain = b->of != NULL && is_plain(s);
    b->usable = b->plain && b->known && b->n == search->view->n &&
                b->clusters == s->clusters && h->clusters == s->clusters;
    b->known = 0; /* until the step is over */
    if (!b->plain)
        return;
    b->n = search->view->n;
    b->clusters = s->clusters;
    b->scorer = s;
    /* A little more where d is so large that u d counts. */
    b->unit = (single ? FLT_EPSILON : DBL_EPSILON) / 2;
    b->unit *= 1.01 * (1 + b->unit * s->d);
    b->least = s->d * (double)(single ? FLT_MIN : DBL_MIN);
    b->dots = b->unit * (s->d + vem_i_sum_steps(s->d) + 16);
    b->per_cost = 1 / vem_i_value(kernels, s->scale, 0);
    const double direct = 1 - b->unit * (vem_i_sum_steps(s->d) + 8);
    b->needed_slope = b->per_cost / direct;
    b->needed_more = b->least / direct;
    if (b->usable)
        vem_i_parallel_light(search->run, vem_i_shards(s->clusters, TOGETHER),
                             2.0 * TOGETHER * s->d, measure_moves, &(task){b, s});
}

void vem_i_bounds_end(vem_i_bounds *b, const vem_i_hierarchy *h)
{
    if (!b->plain)
        return;
    const vem_i_scorer *s = b->scorer;
    const size_t row = (size_t)s->d * s->kernels->element;
    for (int64_t c = 0; c < s->clusters; c++)
        memcpy((char *)b->means + (size_t)c * row,
               (const char *)s->means + (size_t)(c * s->ldc) * s->kernels->element, row);
    memcpy(b->groups, h->group_of, (size_t)s->clusters * sizeof *b->groups);
    memcpy(b->near, h->near, (size_t)h->groups * VEM_I_TOP_MAX * sizeof *b->near);
    b->group_count = h->groups;
    b->near_count = h->near_count;
    b->known = 1;
}

int vem_i_bounds_list(const vem_i_bounds *b, vem_i_kept list[2])
{
    if (!b->plain)
        return 0;
    list[0] = (vem_i_kept){b->lower, (size_t)b->n * sizeof *b->lower};
    list[1] = (vem_i_kept){b->of, (size_t)b->n * sizeof *b->of};
    return 2;
}

void vem_i_bounds_forget(vem_i_bounds *b)
{
    b->known = 0;
}

/* ---- the record ---- */

/* What a state says must be possible; whether it is true only its writer knows. States of before
 * there were bounds say nothing. */
void vem_i_bounds_record(vem_i_record *r, vem_i_bounds *b, const vem_i_hierarchy *h,
                         const vem_view *view, int32_t clusters)
{
    int64_t count = b->near_count, groups = b->group_count;
    if (!b->of)
        return;
    if (r->reading && !vem_i_record_is_next(r, "bounds")) {
        b->known = 0;
        return;
    }
    vem_i_record_int(r, "bounds", &b->known, 0, 1);
    if (r->status != VEM_OK || !b->known)
        return;
    vem_i_record_row_floats(r, view, "lower", b->lower, 0, INFINITY);
    vem_i_record_row_indices(r, view, "lower_of", b->of, 1, -1, clusters - 1);
    vem_i_record_elements(r, "means_then", b->means, (size_t)clusters * (size_t)h->d,
                          h->kernels->element, -DBL_MAX, DBL_MAX);
    vem_i_record_count(r, "group_count_then", &groups, 1, h->most_groups);
    vem_i_record_indices(r, "groups_then", b->groups, (size_t)clusters, 0, groups - 1);
    vem_i_record_count(r, "near_count_then", &count, 1, VEM_I_TOP_MAX);
    for (int64_t g = 0; r->status == VEM_OK && g < groups; g++)
        vem_i_record_indices(r, "near_then", b->near + g * VEM_I_TOP_MAX, (size_t)count,
                             -1, groups - 1);
    b->group_count = (int32_t)groups;
    b->near_count = (int32_t)count;
    b->n = view->n;
    b->clusters = clusters;
    if (r->status != VEM_OK)
        b->known = 0;
}
