/* Between a few and many runs, so that their work is a share of that of a fit of all rows; the
 * sample is large enough to tell the maxima apart. Everything is a function of the sizes. */
#include "fit/starts_plan.h"

#include <math.h>

#include "base/memory.h"
#include "fit/presets.h"
#include "model/family.h"

/* Rows of the sample for each cluster, and with shapes; of a full covariance, for each column. */
enum { EACH = 256, EACH_SHAPED = 512, EACH_COLUMN = 16, EACH_COUNTS = 128, LARGER = 8 };
/* Rows at least; where there are very many, this many. */
enum { LEAST = 2048, MANY = 8192, VERY = 16, EIGHTH = 8 };
/* Runs: at most so many; at least so many, and one more for so many clusters. Between them their
 * work is a share of that of a fit of all rows. */
enum { MOST = 18, FEWEST = 3, FEWEST_FOR = 16 };
enum { MOST_SHAPED = 16, MOST_FULL = 24, FEWEST_SHAPED = 4 };
static const double SHARE = 3.5, SHARE_SHAPED = 5;
/* Of a coreset, which is asked for to save time. */
static const double SHARE_REDUCED = 3;
/* Steps of a run at most. They are not those of --max-steps, as a seeding is not. */
enum { STEPS = 100 };
/* Up to this many clusters half of the runs of k-means are fresh, above it two: there, moving
 * clusters finds more. Of mixtures a quarter. */
enum { FRESH_CLUSTERS = 16, FRESH = 2 };
/* Full covariances: products of one step of every run together. Runs that take more, which is
 * several seconds of one core, and more than a step over all rows, are too expensive. */
static const double EXPENSIVE = 7.5e8;
/* What a step does for a mean of a cluster whatever the rows (its part in the statistics, its
 * maximum, its logarithm), in products of a row with a cluster: of 2^20 columns, as perf counts it. */
static const double MAXIMIZE = 10;
/* A step of fewer products is over before other threads are awake. */
double vem_i_starts_light = 1e7;

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Products in a step over the rows. */
static double work_of(const vem_options *o, int64_t rows, int32_t d)
{
    return (double)rows * (double)o->clusters * d *
           (vem_i_takes_products(vem_i_family_of(o->family)) ? d : 1);
}

static int64_t most_runs(const vem_i_family *family)
{
    return vem_i_takes_products(family) ? MOST_FULL
           : vem_i_is_plain(family)     ? MOST
                                        : MOST_SHAPED;
}

static int64_t fresh_runs(const vem_i_family *family, int64_t clusters, int64_t runs)
{
    if (!family->has_places)
        return (runs + 1) / 2;
    if (!vem_i_is_plain(family))
        return most_of(runs / 4, FRESH);
    return clusters <= FRESH_CLUSTERS ? (runs + 1) / 2 : FRESH;
}

/* Statistics and means of all columns are made in every step: as much as so many rows take. Beside
 * sparse rows that may be nearly all there is to do. */
static double rows_of_columns(int32_t d, int64_t row_values)
{
    return row_values < d ? MAXIMIZE * (double)d / (double)row_values : 0;
}

vem_i_starts_plan vem_i_starts_of(const vem_options *o, int ours, int reduced, int64_t n,
                                  int32_t d, int64_t row_values)
{
    vem_i_starts_plan p = {0};
    if (!ours || !vem_i_wants_starts(o))
        return p;
    const vem_i_family *family = vem_i_family_of(o->family);
    const int shaped = !vem_i_is_plain(family);
    const int64_t k = o->clusters;
    int64_t each = !family->has_places ? EACH_COUNTS : shaped ? EACH_SHAPED : EACH;
    if (vem_i_has_matrices(family))
        each = most_of(each, EACH_COLUMN * (int64_t)d);
    p.rows = most_of(each * k, most_of(LEAST, least_of(MANY, n / VERY)));
    if (p.rows > n / 2)
        p.rows = n;
    const int64_t larger = LARGER * most_of(each, EACH) * k;
    if (larger < n / 2)
        p.larger = most_of(larger, n / EIGHTH);
    const double columns = rows_of_columns(d, row_values);
    const double share = (reduced  ? SHARE_REDUCED
                          : shaped ? SHARE_SHAPED
                                   : SHARE) *
                         ((double)n + columns) /
                         ((double)(p.rows > 0 ? p.rows : 1) + columns);
    const int64_t fewest = reduced  ? FEWEST
                           : shaped ? FEWEST_SHAPED
                                    : FEWEST + k / FEWEST_FOR;
    const int64_t most = most_runs(family);
    p.runs = share < (double)fewest ? fewest
             : share > (double)most ? most
                                    : (int64_t)share;
    if (vem_i_takes_products(family)) {
        const double work = work_of(o, p.rows, d);
        const double affordable = fmax(EXPENSIVE, work_of(o, n, d)) / work;
        if (affordable < (double)fewest)
            return (vem_i_starts_plan){0};
        p.runs = affordable < (double)p.runs ? (int64_t)affordable : p.runs;
    }
    p.fresh = fresh_runs(family, k, p.runs);
    return p;
}

vem_i_starts_plan vem_i_starts_on_cells(const vem_options *o, int ours, int32_t d)
{
    vem_i_starts_plan p = {0};
    if (!ours || !vem_i_wants_starts(o))
        return p;
    const vem_i_family *family = vem_i_family_of(o->family);
    p.rows = INT64_C(1) << o->depth;
    if (p.rows > o->cells)
        p.rows = o->cells;
    const double affordable = EXPENSIVE / work_of(o, p.rows, d);
    p.runs = most_runs(family);
    if (affordable < (double)p.runs)
        p.runs = (int64_t)affordable;
    if (p.runs < FEWEST)
        return (vem_i_starts_plan){0};
    p.fresh = fresh_runs(family, o->clusters, p.runs);
    return p;
}

vem_status vem_i_starts_room_new(vem_i_run *run, vem_i_shape shape, int64_t items,
                                 vem_i_starts_room *room)
{
    const size_t rows = shape.family->has_places ? 0 : (size_t)shape.clusters + 1;
    *room = (vem_i_starts_room){0};
    const vem_i_room list[] = {{&room->work, (size_t)items, sizeof(double), 0},
                               {&room->seen, rows, (size_t)shape.d * sizeof(double), 0}};
    return vem_i_take_rooms(run, list, VEM_I_COUNT(list));
}

void vem_i_starts_room_free(vem_i_starts_room *room)
{
    vem_i_free(room->work);
    vem_i_free(room->seen);
    *room = (vem_i_starts_room){0};
}

vem_options vem_i_starts_options(const vem_options *resolved)
{
    /* Where all clusters have one shape k-means finds what soft fits need (docs/math/swaps.md). */
    vem_options o = vem_i_is_plain(vem_i_family_of(resolved->family))
                        ? vem_i_hard_start(resolved)
                        : *resolved;
    o.init_steps = 0;
    o.finish = VEM_FINISH_SOFT;
    o.balance = VEM_BALANCE_NONE;
    o.empty = VEM_EMPTY_RESEED; /* no cluster may be lost before the fit begins */
    o.max_steps = STEPS;
    return o;
}

int vem_i_starts_are_light(const vem_options *o, const vem_i_starts_plan *plan, int32_t d)
{
    return work_of(o, plan->rows, d) < vem_i_starts_light;
}
