/* A lightweight coreset (docs/math/coresets.md) of a view, about its origin instead of the mean of
 * its items. They are the same but where a few rows lie far away (src/data/origin.c); the draws are
 * unbiased about any origin. With weights w, W = sum w and S = sum w |x|^2
 *
 *     q_i = w_i / (2 W) + w_i |x_i|^2 / (2 S),     a draw of item i weighs w_i / (N' q_i).
 *
 * Of counts, for which no square is a distance, q_i = w_i / W. One pass takes the sums of shards of items; then each shard finds the draws that fall into
 * its part of the running sum, and their items. */
#include "data/subset.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "data/coreset.h"
#include "data/subset_apart.h"
#include "data/together.h"

enum { SHARD = VEM_I_SUBSET_SHARD };

typedef struct drawing {
    const vem_view *view;
    int64_t size;
    int even;                 /* by the weights alone */
    double *masses, *squares; /* of each shard */
    double *before;      /* each shard, and the end: sum of q of the shards before it */
    double *places;      /* size + 1 */
    double mass, square; /* W, S */
    int64_t from, to;    /* shards that are counted here (data/together.h): */
    int64_t first, end;  /* draws that fall into them */
    vem_i_drawn out;
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
    const vem_i_drawn *out = &g->out;
    const int64_t at = draw - out->first;
    if (out->bounds) {
        out->bounds[at] = view->sparse.starts[item];
        out->bounds[g->size + at] = view->sparse.ends[item];
    } else {
        vem_i_view_copy(view, item, (char *)out->x + (size_t)at * row);
    }
    if (view->log_base)
        out->log_base[at] = view->log_base[item];
    out->mass[at] = vem_i_view_mass(view, item) / (q * (double)g->size);
}

static void draw_shard(void *arg, int64_t number, int thread)
{
    const drawing *g = arg;
    const int64_t shard = g->from + number, end = begin_of(g, shard + 1);
    int64_t draw = vem_i_places_below(g->places, 0, g->size, g->before[shard]);
    const int64_t last =
        vem_i_places_below(g->places, draw, g->size, g->before[shard + 1]);
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

/* Goes on with the sum of q. */
static void go_on(void *arg, void *state)
{
    drawing *g = arg;
    double *sum = state;
    for (int64_t s = g->from; s < g->to; s++) {
        g->before[s] = *sum;
        *sum += chance(g, g->masses[s], g->squares[s]);
    }
    g->before[g->to] = *sum;
}

/* A shard without mass has no draws, and the last that has takes the rest. */
static void end_sums(vem_i_run *run, drawing *g)
{
    const int64_t number = g->view->first / SHARD; /* of the first shard, in the whole */
    int64_t least = 0; /* minus the shards up to the last one with a mass */
    for (int64_t s = g->from; s < g->to; s++)
        least = g->masses[s] > 0 ? -(number + s + 1) : least;
    if (run->comm)
        run->comm->combine(run->comm, VEM_I_LEAST_INT, &least, 1);
    for (int64_t s = g->from; s <= g->to; s++)
        if (number + s >= -least)
            g->before[s] = INFINITY;
}

/* Where the draws fall: the running sum goes through the processes. */
static void place_all(vem_i_run *run, drawing *g, uint64_t seed)
{
    const double work = (double)SHARD * (2.0 * g->view->d + 4);
    double sum = 0;
    vem_i_parallel_light(run, vem_i_view_shards(g->view, SHARD), work, sum_shard, g);
    g->mass = vem_i_view_sum(run, g->view, SHARD, g->masses);
    g->square = vem_i_view_sum(run, g->view, SHARD, g->squares);
    vem_i_own_shards(g->view->first, vem_i_view_own(g->view), SHARD, &g->from, &g->to);
    if (run->comm)
        vem_i_comm_turn(run->comm, &sum, sizeof sum, go_on, g);
    else
        go_on(g, &sum);
    end_sums(run, g);
    vem_i_draw_places(run, seed, g->size, g->places);
    g->first = vem_i_places_below(g->places, 0, g->size, g->before[g->from]);
    g->end = vem_i_places_below(g->places, g->first, g->size, g->before[g->to]);
}

static void draw_all(vem_i_run *run, drawing *g)
{
    const double work = (double)SHARD * (2.0 * g->view->d + 4);
    vem_i_parallel_light(run, g->to - g->from, work, draw_shard, g);
}

/* Masses and log base measures, one after the other. */
typedef struct weighing {
    const vem_i_points *made;
    int64_t own;
} weighing;

static void weigh(void *arg, void *sums)
{
    const weighing *w = arg;
    double *mass = sums, *base = mass + 1;
    for (int64_t i = 0; i < w->own; i++) {
        *mass += w->made->mass[i];
        *base += w->made->log_base ? w->made->mass[i] * w->made->log_base[i] : 0;
    }
}

/* Variances stay those of all items: floors are shares of them. */
static void describe(vem_i_run *run, const vem_view *view, int64_t size,
                     const vem_i_span *place, vem_i_points *made)
{
    double sums[2] = {0};
    weighing w = {made, place ? place->count - place->halo : size};
    made->view = vem_i_view_drawn(view, made->x, view->d, size);
    made->view.mass = made->mass;
    if (place) {
        made->view.first = place->first;
        made->view.n = place->count;
        made->view.halo = place->halo;
        vem_i_comm_turn(run->comm, sums, sizeof sums, weigh, &w);
    } else {
        weigh(&w, sums);
    }
    made->view.total_mass = sums[0];
    if (view->log_base) {
        made->view.log_base = made->log_base;
        made->view.log_base_mean = sums[1] / sums[0];
    }
    if (made->bounds) {
        made->view.sparse = view->sparse;
        made->view.sparse.starts = made->bounds;
        made->view.sparse.ends = made->bounds + made->view.n;
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

static vem_i_drawn rows_of(const vem_view *view, const vem_i_points *made)
{
    return (vem_i_drawn){.row = (size_t)view->d * view->kernels->element,
                         .x = made->x,
                         .mass = made->mass,
                         .log_base = made->log_base,
                         .bounds = made->bounds};
}

/* The draws of several processes: to where they are wanted. */
static vem_status draw_apart(vem_i_run *run, drawing *g, const vem_i_span *place,
                             vem_i_points *made)
{
    vem_i_points own = {0};
    if (!place) { /* by all */
        g->out = rows_of(g->view, made);
        vem_i_drawn_clear(&g->out, g->size);
        draw_all(run, g);
        return vem_i_drawn_join(run, &g->out, g->size);
    }
    vem_status status = take_rows(run, g->view, g->end - g->first, &own);
    if (status == VEM_OK) {
        g->out = rows_of(g->view, &own);
        g->out.first = g->first;
        draw_all(run, g);
        const vem_i_drawn wanted = rows_of(g->view, made);
        status = vem_i_drawn_move(run, &g->out, g->end - g->first, place, &wanted);
    }
    vem_i_free(own.x);
    vem_i_free(own.mass);
    vem_i_free(own.log_base);
    vem_i_free(own.bounds);
    return status;
}

vem_status vem_i_subset_new(vem_i_run *run, const vem_view *view, int64_t size, int even,
                            uint64_t seed, const vem_i_span *place, vem_i_points **subset)
{
    assert(!place || !vem_i_view_is_sparse(view)); /* bounds are not moved */
    drawing g = {.view = view, .size = size, .even = even};
    const size_t shards = (size_t)vem_i_view_shards(view, SHARD);
    vem_i_points *made = NULL;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status == VEM_OK)
        status = take_rows(run, view, place ? place->count : size, made);
    if (status == VEM_OK)
        status = vem_i_take(run, &g.places, (size_t)size + 1, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(run, &g.masses, 3 * shards + 1, sizeof(double));
    if (status == VEM_OK && !run->counted) {
        g.squares = g.masses + shards;
        g.before = g.squares + shards;
        place_all(run, &g, seed);
        if (run->comm) {
            status = draw_apart(run, &g, place, made);
        } else {
            g.out = rows_of(view, made);
            draw_all(run, &g);
        }
        if (status == VEM_OK)
            describe(run, view, size, place, made);
    }
    vem_i_free(g.places);
    vem_i_free(g.masses);
    if (status == VEM_OK)
        *subset = made;
    else
        vem_i_points_free(made);
    return status;
}

vem_status vem_i_subset_all(vem_i_run *run, const vem_view *view, vem_i_points **all)
{
    const int64_t n = view->global_n, own = vem_i_view_own(view);
    vem_i_points *made = NULL;
    vem_status status = vem_i_take_structs(run, &made, 1, sizeof *made);
    if (status == VEM_OK)
        status = take_rows(run, view, n, made);
    if (status == VEM_OK && !run->counted) {
        const vem_i_drawn out = rows_of(view, made);
        vem_i_drawn_clear(&out, n);
        for (int64_t i = 0; i < own; i++) {
            if (out.bounds) {
                out.bounds[view->first + i] = view->sparse.starts[i];
                out.bounds[n + view->first + i] = view->sparse.ends[i];
            } else {
                vem_i_view_copy(view, i,
                                (char *)out.x + (size_t)(view->first + i) * out.row);
            }
            out.mass[view->first + i] = vem_i_view_mass(view, i);
            if (out.log_base)
                out.log_base[view->first + i] = view->log_base[i];
        }
        status = vem_i_drawn_join(run, &out, n);
        made->view = *view;
        made->view.x = made->x;
        made->view.stored = VEM_I_STORED_PLAIN;
        made->view.ld = view->d;
        made->view.n = n;
        made->view.first = made->view.halo = 0;
        made->view.mass = view->mass ? made->mass : NULL;
        made->view.log_base = made->log_base;
        if (made->bounds) {
            made->view.sparse.starts = made->bounds;
            made->view.sparse.ends = made->bounds + n;
        }
    }
    if (status == VEM_OK)
        *all = made;
    else
        vem_i_points_free(made);
    return status;
}

void vem_i_subset_join(vem_i_points *s)
{
    vem_view *view = &s->view;
    const size_t row = (size_t)view->d * view->kernels->element;
    char *x = s->x, *last = x;
    int64_t kept = 0;
    for (int64_t i = 1; i < view->n; i++) {
        const char *next = x + (size_t)i * row;
        if (memcmp(last, next, row) == 0) {
            s->mass[kept] += s->mass[i];
            continue;
        }
        kept++;
        last += row;
        memmove(last, next, row);
        s->mass[kept] = s->mass[i];
        if (s->log_base)
            s->log_base[kept] = s->log_base[i];
    }
    view->n = view->used = view->global_n = kept + 1;
}
