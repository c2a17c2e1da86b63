/* What several processes do with clusters of which each has some rows only: swaps, seeds from samples and
 * the samples themselves, to the bits of one. They are threads here. */
#define CONTEXT_THREADS 1
#include "processes.h"

#include "data/points.h"
#include "data/subset.h"

enum { D = 3, SIZES = 4 };

#include "processes_fit.h"

/* Numbers of processes beside one; with some of these nobody's rows end where a block of rows does. */
static const int sizes[SIZES] = {2, 3, 5, 7};

/* Steps after which clusters were swapped. */
static int64_t swaps_of(const process *p)
{
    const vem_trace_step *trace = vem_report_trace(p->report);
    int64_t swaps = 0;
    for (int64_t i = 0; i < vem_report_trace_count(p->report); i++)
        swaps += trace[i].move && strcmp(trace[i].move, "swap") == 0;
    return swaps;
}

/* Twelve heaps far apart, one after the other. */
static grid_data blobs(int64_t n, grid_weights weights)
{
    grid_data rows = grid_data_new(SET_OVERLAPPING, weights, n, D, 11);
    for (int64_t i = 0; i < n; i++) {
        const int64_t heap = i * 7 % 12;
        rows.x[i * D] += 100.0 * (double)(heap % 3);
        rows.x[i * D + 1] += 100.0 * (double)(heap / 3 % 2);
        rows.x[i * D + 2] += 150.0 * (double)(heap / 6);
    }
    return rows;
}

/* Four clusters begin in one of the heaps, eight in one each, and three heaps have none. */
static vem_model *start_at(const grid_data *rows, vem_family_kind family)
{
    grid_data some = {.n = 12, .d = D, .x = malloc(12 * D * sizeof(double))};
    assert_non_null(some.x);
    for (int64_t c = 0; c < 12; c++)
        memcpy(some.x + c * D, rows->x + (c < 4 ? 12 * c : c) * D, D * sizeof(double));
    vem_model *start = grid_start(ctx, &some, family, 12);
    grid_data_free(&some);
    return start;
}

static void swaps_are_those_of_one(void **state)
{
    (void)state;
    static const struct {
        vem_family_kind family;
        vem_prior_kind prior;
        int held, precision;
        grid_weights weights;
    } cases[] = {
        {VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, WEIGHTS_NONE},
        {VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_DOUBLE, WEIGHTS_REAL},
        {VEM_ISO_SHARED, VEM_PRIOR_FREE, 3, VEM_DOUBLE, WEIGHTS_ZEROS},
        {VEM_DIAG, VEM_PRIOR_FREE, 3, VEM_DOUBLE, WEIGHTS_NONE},
        {VEM_FULL, VEM_PRIOR_FREE, 2, VEM_DOUBLE, WEIGHTS_INTEGER},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        grid_data rows = blobs(9137, cases[k].weights);
        process some[MOST], one[1];
        vem_options o = grid_options(12, cases[k].family, cases[k].prior, cases[k].held,
                                     (vem_precision)cases[k].precision, 12);
        o.search = VEM_SEARCH_CLOSEST;
        o.swaps = 4;
        vem_model *start = start_at(&rows, cases[k].family);
        fit_by(1, &rows, &o, start, one);
        assert_true(swaps_of(one) > 0);
        for (int i = 0; i < SIZES; i++) {
            fit_by(sizes[i], &rows, &o, start, some);
            for (int r = 0; r < sizes[i]; r++) {
                assert_same(&some[r], one);
                assert_int_equal(swaps_of(&some[r]), swaps_of(one));
            }
            free_all(some, sizes[i]);
        }
        free_all(one, 1);
        vem_model_free(start);
        grid_data_free(&rows);
    }
}

/* With nothing asked for but clusters: starts on a sample, and what follows them. */
static void fits_are_those_of_one(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        grid_data rows = grid_data_new(SET_SEPARATED, k % 2 ? WEIGHTS_REAL : WEIGHTS_NONE,
                                       9137, D, 12);
        process some[MOST], one[1];
        vem_options o;
        vem_options_init(&o);
        o.clusters = k < 2 ? 4 : 70;
        o.max_steps = 4;
        if (k >= 2)
            o.search = VEM_SEARCH_CLOSEST;
        fit_by(1, &rows, &o, NULL, one);
        for (int i = 0; i < SIZES; i += 2) {
            fit_by(sizes[i], &rows, &o, NULL, some);
            for (int r = 0; r < sizes[i]; r++)
                assert_same(&some[r], one);
            free_all(some, sizes[i]);
        }
        free_all(one, 1);
        grid_data_free(&rows);
    }
}

/* ---- samples ---- */

enum { ROWS = 9000, SHARD = VEM_I_SUBSET_SHARD, HALO = ROWS };

typedef struct drawer {
    vem_i_comm comm;
    const grid_data *rows;
    vem_i_span own, place; /* rows it has, and draws it wants */
    int64_t size;
    int even, all; /* it wants all draws */
    vem_i_points *points, *subset;
} drawer;

static void *draw(void *arg)
{
    drawer *p = arg;
    vem_ctx *own;
    vem_i_verb verb;
    assert_int_equal(vem_ctx_new(&own), VEM_OK);
    vem_ctx_set_threads(own, 1);
    vem_data *data = grid_borrow(own, p->rows);
    vem_i_run *run = vem_i_begin(own, &verb);
    if (p->comm.size > 1)
        run->comm = run->peers = &p->comm;
    const vem_i_points_request request = {.first = p->own.first,
                                          .count = p->own.count,
                                          .halo = p->own.halo,
                                          .whole = p->comm.size > 1 ? ROWS : 0,
                                          .precision = VEM_DOUBLE,
                                          .floor_share = 1e-6,
                                          .phase = "read"};
    assert_int_equal(vem_i_points_new(run, data, &request, &p->points), VEM_OK);
    assert_int_equal(vem_i_subset_new(run, &p->points->view, p->size, p->even, 3,
                                      p->all ? NULL : &p->place, &p->subset),
                     VEM_OK);
    vem_data_free(data);
    vem_ctx_free(own);
    return NULL;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of n in lots of `per`; behind it what is in the last lot of `halo` that begins in it. */
static vem_i_span part_of(int64_t n, int64_t per, int64_t halo, int rank, int size)
{
    const int64_t lots = (n + per - 1) / per, first = lots * rank / size * per,
                  end = least(lots * (rank + 1) / size * per, n),
                  last = least((end + halo - 1) / halo * halo, n);
    return (vem_i_span){first, last - first, last - end};
}

static void check_draws(const grid_data *rows, int size, int64_t draws, int even, int all)
{
    drawer one = {
        .comm = process_of(0, 1), .rows = rows, .size = draws, .even = even, .all = 1};
    drawer some[MOST];
    run_processes(1, draw, &one, sizeof one);
    for (int r = 0; r < size; r++) {
        some[r] = one;
        some[r].comm = process_of(r, size);
        some[r].own = part_of(ROWS, 1000, HALO, r, size);
        /* Cut elsewhere than what it has. */
        some[r].place = part_of(draws, 61, 100, r, size);
        some[r].all = all;
    }
    run_processes(size, draw, some, sizeof *some);
    const vem_view *whole = &one.subset->view;
    for (int r = 0; r < size; r++) {
        const vem_view *v = &some[r].subset->view;
        const int64_t first = all ? 0 : some[r].place.first;
        assert_int_equal(v->n, all ? draws : some[r].place.count);
        assert_true(v->total_mass == whole->total_mass);
        assert_memory_equal(v->mass, whole->mass + first, (size_t)v->n * sizeof(double));
        for (int64_t i = 0; i < v->n; i++)
            assert_memory_equal(vem_i_view_row(v, i), vem_i_view_row(whole, first + i),
                                D * sizeof(double));
        vem_i_points_free(some[r].subset);
        vem_i_points_free(some[r].points);
    }
    vem_i_points_free(one.subset);
    vem_i_points_free(one.points);
}

static void draws_are_those_of_one(void **state)
{
    (void)state;
    for (int weights = WEIGHTS_NONE; weights <= WEIGHTS_REAL; weights++) {
        grid_data rows = grid_data_new(SET_HEAVY, (grid_weights)weights, ROWS, D, 13);
        /* Whole shards without mass, the last of all rows among them. */
        for (int64_t i = 0; rows.weights && i < ROWS; i++)
            rows.weights[i] = i / SHARD == 3 || i / SHARD >= 7 ? 0 : rows.weights[i];
        for (int i = 0; i < SIZES; i++)
            for (int all = 0; all < 2; all++)
                for (int even = 0; even < 2; even++)
                    check_draws(&rows, sizes[i], 700, even, all);
        grid_data_free(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swaps_are_those_of_one),
        cmocka_unit_test(fits_are_those_of_one),
        cmocka_unit_test(draws_are_those_of_one),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
