/* What several processes do each for itself, whatever its context knows of the others (vem/mpi.h names
 * the calls that they make together). They are threads here. */
#define CONTEXT_THREADS 1
#include "processes.h"

enum { N = 9000, D = 3, CLUSTERS = 4, SIZE = 2 };

typedef struct process {
    vem_i_comm comm;
    const double *rows;
    vem_options options;
    const vem_model *before; /* it is updated; NULL: a stream */
    vem_status status;
    vem_model *model;
    vem_report *report;
} process;

static void take(vem_ctx *own, process *p)
{
    vem_data *data;
    assert_int_equal(vem_data_borrow(own, VEM_FLOAT64, p->rows, N, D, 0, 0, &data),
                     VEM_OK);
    if (p->before) {
        p->status = vem_update(own, data, &p->options, p->before, &p->model, &p->report,
                               NULL, NULL);
    } else {
        const vem_stream_options how = {.size = sizeof how, .bucket = 200};
        vem_stream *stream;
        assert_int_equal(vem_stream_new(own, &how, &stream), VEM_OK);
        assert_int_equal(vem_stream_add(own, stream, data), VEM_OK);
        p->status =
            vem_stream_model(own, stream, &p->options, NULL, &p->model, &p->report);
        vem_stream_free(stream);
    }
    vem_data_free(data);
}

static void *work(void *arg)
{
    process *p = arg;
    vem_ctx *own;
    assert_int_equal(vem_ctx_new(&own), VEM_OK);
    vem_ctx_set_threads(own, 1);
    if (p->comm.size > 1)
        own->comm = &p->comm;
    take(own, p);
    vem_ctx_free(own);
    return NULL;
}

static void assert_same(const process *a, const process *b)
{
    assert_int_equal(a->status, VEM_OK);
    const int32_t *labels = vem_report_labels(a->report),
                  *others = vem_report_labels(b->report);
    assert_memory_equal(vem_model_means(a->model), vem_model_means(b->model),
                        CLUSTERS * D * sizeof(double));
    assert_int_equal(labels == NULL, others == NULL);
    if (labels)
        assert_memory_equal(labels, others,
                            (size_t)vem_report_summary(a->report)->n * sizeof *labels);
}

static void free_process(process *p)
{
    vem_model_free(p->model);
    vem_report_free(p->report);
}

/* One process has the rows, and the other the same turned about: each finds what it finds where it is
 * alone. */
static void compare(const grid_data *rows, const double *turned, const vem_model *before)
{
    process together[SIZE], alone[SIZE];
    for (int r = 0; r < SIZE; r++) {
        process p = {.rows = r ? turned : rows->x,
                     .options = grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, CLUSTERS,
                                             VEM_DOUBLE, 8),
                     .before = before};
        p.options.seeding = VEM_SEED_PLUSPLUS;
        alone[r] = together[r] = p;
        alone[r].comm = process_of(0, 1);
        together[r].comm = process_of(r, SIZE);
        work(&alone[r]);
    }
    run_processes(SIZE, work, together, sizeof *together);
    for (int r = 0; r < SIZE; r++) {
        assert_same(&together[r], &alone[r]);
        free_process(&together[r]);
        free_process(&alone[r]);
    }
}

static void each_does_its_own(void **state)
{
    (void)state;
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 5);
    double *turned = malloc((size_t)N * D * sizeof *turned);
    vem_options o =
        grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 3);
    assert_non_null(turned);
    for (int i = 0; i < N * D; i++)
        turned[i] = -rows.x[i];
    grid_fit before = grid_run(ctx, &rows, &o, NULL);
    compare(&rows, turned, NULL);
    compare(&rows, turned, before.model);
    grid_fit_free(&before);
    free(turned);
    grid_data_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_does_its_own)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
