/* A lightweight coreset (docs/math/coresets.md) of a view, about its origin instead of the mean of
 * its items. They are the same but where a few rows lie far away (src/data/origin.c); the draws are
 * unbiased about any origin. With weights w, W = sum w and S = sum w |x|^2
 *
 *     q_i = w_i / (2 W) + w_i |x_i|^2 / (2 S),     a draw of item i weighs w_i / (N' q_i).
 *
 * Of counts, for which no square is a distance, q_i = w_i / W. One pass takes the sums of shards of items; then each shard finds the draws that fall into
 * its part of the running sum, and their items. */
#include "data/subset.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/coreset.h"

enum { SHARD = 1024 };

typedef struct drawing {
    const vem_view *view;
    int64_t size;
    int even;                 /* by the weights alone */
    double *masses, *squares; /* of each shard */
    double *before;           /* each shard: sum of q of the shards before it */
    double *places;           /* size + 1 */
    double mass, square;      /* W, S */
    vem_i_points *out;
} drawing;

static double square_of(const drawing *g, int64_t item)
{
    if (g->even)
        return 0;
    const vem_view *view = g->view;
    double sum = 0;
    if (view->stored) {
        for (int32_t j = 0; j < view->d; j++) {
            const double x = vem_i_view_value(view, item, j);
            sum += x * x;
        }
        return sum;
    }
    const void *row = vem_i_view_row(view, item);
    if (view->kernels->precision == VEM_SINGLE)
        for (int32_t j = 0; j < view->d; j++) {
            const double x = ((const float *)row)[j];
            sum += x * x;
        }
    else
        for (int32_t j = 0; j < view->d; j++) {
            const double x = ((const double *)row)[j];
            sum += x * x;
        }
    return sum;
}

static int64_t begin_of(const drawing *g, int64_t shard)
{
    return vem_i_view_shard(g->view, SHARD, shard);
}

static void sum_shard(void *arg, int64_t shard, int thread)
{
    const drawing *g = arg;
    const int64_t end = begin_of(g, shard + 1);
    double mass = 0, square = 0;
    (void)thread;
    for (int64_t i = begin_of(g, shard); i < end; i++) {
        const double w = vem_i_view_mass(g->view, i);
        mass += w;
        square += w * square_of(g, i);
    }
    g->masses[shard] = mass;
    g->squares[shard] = square;
}

/* q_i of an item. All in one place: no spread, and weights alone count. */
static double chance(const drawing *g, double mass, double square)
{
    return g->square > 0 ? 0.5 * (mass / g->mass + square / g->square) : mass / g->mass;
}

static void put(const drawing *g, int64_t draw, int64_t item, double q)
{
    const vem_view *view = g->view;
    const size_t row = (size_t)view->d * view->kernels->element;
    if (g->out->bounds) {
        g->out->bounds[draw] = view->sparse.starts[item];
        g->out->bounds[g->size + draw] = view->sparse.ends[item];
    } else {
        vem_i_view_copy(view, item, (char *)g->out->x + (size_t)draw * row);
    }
    if (view->log_base)
        g->out->log_base[draw] = view->log_base[item];
    g->out->mass[draw] = vem_i_view_mass(view, item) / (q * (double)g->size);
}

static void draw_shard(void *arg, int64_t shard, int thread)
{
    const drawing *g = arg;
    const int64_t shards = vem_i_view_shards(g->view, SHARD),
                  end = begin_of(g, shard + 1);
    int64_t draw = vem_i_places_below(g->places, 0, g->size, g->before[shard]);
    int64_t last = shard + 1 == shards ? g->size
                                       : vem_i_places_below(g->places, draw, g->size,
                                                            g->before[shard + 1]);
    double sum = g->before[shard], q_kept = 0;
    int64_t kept = -1;
    (void)thread;
    for (int64_t i = begin_of(g, shard); i < end && draw < last; i++) {
        const double w = vem_i_view_mass(g->view, i);
        if (!(w > 0))
            continue;
        kept = i;
        q_kept = chance(g, w, w * square_of(g, i));
        sum += q_kept;
        for (; draw < last && g->places[draw] < sum; draw++)
            put(g, draw, i, q_kept);
    }
    /* What rounding left over at the end of the shard. */
    for (; draw < last; draw++)
        put(g, draw, kept, q_kept);
}

static void draw_all(vem_i_run *run, drawing *g, uint64_t seed)
{
    const int64_t shards = vem_i_view_shards(g->view, SHARD);
    const double work = (double)SHARD * (2.0 * g->view->d + 4);
    vem_i_parallel_light(run, shards, work, sum_shard, g);
    g->mass = vem_i_sum(g->masses, shards);
    g->square = vem_i_sum(g->squares, shards);
    double sum = 0;
    for (int64_t s = 0; s < shards; s++) {
        g->before[s] = sum;
        sum += chance(g, g->masses[s], g->squares[s]);
    }
    /* A shard without mass has no draws, and the last that has takes the rest. */
    for (int64_t s = shards - 1; s >= 0 && !(g->masses[s] > 0); s--)
        g->before[s] = INFINITY;
    vem_i_draw_places(run, seed, g->size, g->places);
    vem_i_parallel_light(run, shards, work, draw_shard, g);
}

/* Variances stay those of all items: floors are shares of them. */
static void describe(const vem_view *view, int64_t size, vem_i_points *made)
{
    double mass = 0, base = 0;
    made->view = vem_i_view_drawn(view, made->x, view->d, size);
    made->view.mass = made->mass;
    for (int64_t i = 0; i < size; i++) {
        mass += made->mass[i];
        base += view->log_base ? made->mass[i] * made->log_base[i] : 0;
    }
    made->view.total_mass = mass;
    if (view->log_base) {
        made->view.log_base = made->log_base;
        made->view.log_base_mean = base / mass;
    }
    if (made->bounds) {
        made->view.sparse = view->sparse;
        made->view.sparse.starts = made->bounds;
        made->view.sparse.ends = made->bounds + size;
    }
}

static vem_status take_rows(vem_i_run *run, const vem_view *view, int64_t size,
                            vem_i_points *made)
{
    const size_t n = (size_t)size;
    vem_status status =
        vem_i_view_is_sparse(view)
            ? vem_i_take(run, &made->bounds, n, 2 * sizeof(int64_t))
            : vem_i_take(run, &made->x, n, (size_t)view->d * view->kernels->element);
    if (status == VEM_OK && view->log_base)
        status = vem_i_take(run, &made->log_base, n, sizeof(double));
    return status == VEM_OK ? vem_i_take(run, &made->mass, n, sizeof(double)) : status;
}

vem_status vem_i_subset_new(vem_i_run *run, const vem_view *view, int64_t size, int even,
                            uint64_t seed, vem_i_points **subset)
{
    drawing g = {.view = view, .size = size, .even = even};
    const size_t shards = (size_t)vem_i_view_shards(view, SHARD);
    vem_i_points *made = NULL;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status == VEM_OK)
        status = take_rows(run, view, size, made);
    if (status == VEM_OK)
        status = vem_i_take(run, &g.places, (size_t)size + 1, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(run, &g.masses, 3 * shards, sizeof(double));
    if (status == VEM_OK && !run->counted) {
        g.squares = g.masses + shards;
        g.before = g.squares + shards;
        g.out = made;
        draw_all(run, &g, seed);
        describe(view, size, made);
    }
    vem_i_free(g.places);
    vem_i_free(g.masses);
    if (status == VEM_OK)
        *subset = made;
    else
        vem_i_points_free(made);
    return status;
}
