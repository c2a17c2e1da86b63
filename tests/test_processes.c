/* Fits of several processes, which are threads here. Under --time the first one's clock decides, and all
 * end after the same step, with the bits of one process that makes so many. */
#define CONTEXT_THREADS 1
#include "processes.h"

#include "em/collect.h"

/* Every look takes a little; the clock of one process runs away, and that of another stands still. */
static _Atomic int64_t looks;
static double tick;
static _Thread_local double rate = 1;

double vem_i_clock(void)
{
    return 1e6 + rate * tick * (double)++looks;
}

enum { N = 9000, D = 3, CLUSTERS = 6 };

typedef struct process {
    vem_i_comm comm;
    const grid_data *rows;
    vem_options options;
    const char *state; /* the file of --checkpoint; NULL: none */
    int notices;
    vem_status status;
    char message[1024];
    vem_model *model;
    vem_report *report;
} process;

static void note(void *user, int warning, const char *sentence)
{
    process *p = user;
    assert_true(warning);
    assert_non_null(strstr(sentence, "The fit goes on without a new checkpoint"));
    p->notices++;
}

static void *fit(void *arg)
{
    process *p = arg;
    vem_ctx *own;
    vem_data *data;
    rate = p->comm.rank == 1 ? 1e6 : p->comm.rank == 2 ? 0 : 1;
    assert_int_equal(vem_ctx_new(&own), VEM_OK);
    vem_ctx_set_threads(own, 1);
    vem_ctx_set_dashes(own, 1);
    if (p->comm.size > 1)
        own->comm = &p->comm;
    const vem_checkpoint kept = {.size = sizeof kept,
                                 .path = p->state,
                                 .notice = note,
                                 .user = p};
    if (p->state)
        assert_int_equal(vem_ctx_set_checkpoint(own, &kept), VEM_OK);
    assert_int_equal(vem_data_borrow(own, VEM_FLOAT64, p->rows->x, N, D, 0, 0, &data),
                     VEM_OK);
    p->status = vem_fit(own, data, &p->options, NULL, &p->model, &p->report);
    memcpy(p->message, own->message, sizeof p->message);
    vem_data_free(data);
    vem_ctx_free(own);
    return NULL;
}

static void fit_by(int size, const grid_data *rows, const vem_options *o, process *all)
{
    for (int r = 0; r < size; r++)
        all[r] = (process){.comm = process_of(r, size), .rows = rows, .options = *o};
    run_processes(size, fit, all, sizeof *all);
}

static void free_all(process *all, int size)
{
    for (int r = 0; r < size; r++) {
        vem_model_free(all[r].model);
        vem_report_free(all[r].report);
    }
}

static void assert_same_model(const vem_model *a, const vem_model *b)
{
    const size_t variances =
        sizeof(double) *
        (vem_model_family(a) == VEM_DIAG ? (size_t)vem_model_clusters(a) * D : 1);
    assert_memory_equal(vem_model_means(a), vem_model_means(b),
                        (size_t)vem_model_clusters(a) * D * sizeof(double));
    assert_memory_equal(vem_model_weights(a), vem_model_weights(b),
                        (size_t)vem_model_clusters(a) * sizeof(double));
    assert_memory_equal(vem_model_variances(a), vem_model_variances(b), variances);
}

static vem_options endless(void)
{
    vem_options o =
        grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 1000000);
    o.seeding = VEM_SEED_PLUSPLUS;
    o.tolerance = 0;
    return o;
}

static void all_end_after_the_same_step(void **state)
{
    (void)state;
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    for (int size = 1; size <= 3; size++) {
        process some[MOST], one[1];
        vem_options o = endless();
        tick = 1e-3;
        o.time = 1;
        fit_by(size, &rows, &o, some);
        const vem_summary *first = vem_report_summary(some[0].report);
        assert_int_equal(first->outcome, VEM_OUTCOME_BUDGET);
        assert_in_range(first->steps, 2, 1000);
        o.time = VEM_AUTO;
        o.max_steps = first->steps;
        fit_by(1, &rows, &o, one);
        for (int r = 0; r < size; r++) {
            assert_int_equal(some[r].status, VEM_OK);
            assert_int_equal(vem_report_summary(some[r].report)->steps, o.max_steps);
            assert_same_model(some[r].model, one[0].model);
        }
        free_all(some, size);
        free_all(one, 1);
    }
    grid_data_free(&rows);
}

/* Whoever is late before there is a model says so, with the others. */
static void all_are_late_together(void **state)
{
    (void)state;
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    process some[MOST];
    vem_options o = endless();
    tick = 1;
    o.time = 2;
    fit_by(3, &rows, &o, some);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(some[r].status, VEM_STOPPED);
        assert_non_null(strstr(some[r].message, "--time 2 was over"));
        assert_non_null(strstr(some[r].message, "or fewer clusters would help"));
    }
    grid_data_free(&rows);
}

/* A state that cannot be written is told by the first one, once, and ends nobody. */
static void states_that_cannot_be_written_end_nobody(void **state)
{
    (void)state;
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    process some[MOST], one[1];
    vem_options o = endless();
    o.max_steps = 5;
    tick = 0;
    fit_by(1, &rows, &o, one);
    for (int r = 0; r < 3; r++)
        some[r] = (process){.comm = process_of(r, 3),
                            .rows = &rows,
                            .options = o,
                            .state = "no/such/folder/state"};
    run_processes(3, fit, some, sizeof *some);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(some[r].status, VEM_OK);
        assert_int_equal(some[r].notices, r == 0);
        assert_same_model(some[r].model, one[0].model);
    }
    free_all(some, 3);
    free_all(one, 1);
    grid_data_free(&rows);
}

/* Statistics of so many clusters are not kept for each shard: every cluster sums its own rows, some at
 * a time, wherever they lie, and begins anew with each wave of rows. */
static void clusters_sum_rows_of_several(void **state)
{
    (void)state;
    enum { FEW = 20 }; /* clusters, each with more rows than a lot */
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    process some[MOST], one[1];
    tick = 0;
    for (int wave = 0; wave < 2; wave++)
        for (int held = 1; held <= 3; held += 2) {
            vem_options o =
                grid_options(FEW, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held, VEM_SINGLE, 3);
            vem_i_collect_sharded = 0;
            vem_i_collect_wave = wave ? 4000 * held : INT64_C(1) << 22;
            o.search = VEM_SEARCH_CLOSEST;
            o.seeding = VEM_SEED_RANDOM;
            if (held > 1)
                o.family = VEM_DIAG;
            fit_by(1, &rows, &o, one);
            assert_int_equal(one[0].status, VEM_OK);
            for (int size = 2; size <= 5; size++) {
                fit_by(size, &rows, &o, some);
                for (int r = 0; r < size; r++) {
                    assert_int_equal(some[r].status, VEM_OK);
                    assert_same_model(some[r].model, one[0].model);
                }
                free_all(some, size);
            }
            free_all(one, 1);
        }
    vem_i_collect_wave = INT64_C(1) << 22;
    vem_i_collect_sharded = UINT64_C(64) << 20;
    grid_data_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_end_after_the_same_step),
        cmocka_unit_test(all_are_late_together),
        cmocka_unit_test(states_that_cannot_be_written_end_nobody),
        cmocka_unit_test(clusters_sum_rows_of_several),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
