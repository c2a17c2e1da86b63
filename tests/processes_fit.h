/* Fits of several processes, which are threads, and that they are those of one. After the columns `D`. */
#ifndef VEM_TESTS_PROCESSES_FIT_H
#define VEM_TESTS_PROCESSES_FIT_H

#include "processes.h"

typedef struct process {
    vem_i_comm comm;
    const grid_data *rows;
    vem_options options;
    const vem_model *start; /* or NULL */
    vem_status status;
    char message[512];
    vem_model *model;
    vem_report *report;
} process;

static inline void *fit(void *arg)
{
    process *p = arg;
    vem_ctx *own;
    assert_int_equal(vem_ctx_new(&own), VEM_OK);
    vem_ctx_set_threads(own, 1);
    if (p->comm.size > 1)
        own->comm = &p->comm;
    vem_data *data = grid_borrow(own, p->rows);
    p->status = vem_fit(own, data, &p->options, p->start, &p->model, &p->report);
    snprintf(p->message, sizeof p->message, "%s", vem_ctx_message(own));
    vem_data_free(data);
    vem_ctx_free(own);
    return NULL;
}

static inline void fit_by(int size, const grid_data *rows, const vem_options *o,
                          const vem_model *start, process *all)
{
    for (int r = 0; r < size; r++)
        all[r] = (process){.comm = process_of(r, size),
                           .rows = rows,
                           .options = *o,
                           .start = start};
    run_processes(size, fit, all, sizeof *all);
    for (int r = 0; r < size; r++)
        if (all[r].status != VEM_OK)
            fail_msg("%d of %d: %s", r, size, all[r].message);
}

static inline void free_all(process *all, int size)
{
    for (int r = 0; r < size; r++) {
        vem_model_free(all[r].model);
        vem_report_free(all[r].report);
    }
}

static inline void assert_same(const process *a, const process *b)
{
    const vem_summary *s = vem_report_summary(a->report),
                      *t = vem_report_summary(b->report);
    const size_t clusters = (size_t)vem_model_clusters(b->model);
    assert_int_equal(vem_model_clusters(a->model), clusters);
    assert_memory_equal(vem_model_means(a->model), vem_model_means(b->model),
                        clusters * D * sizeof(double));
    assert_memory_equal(vem_model_weights(a->model), vem_model_weights(b->model),
                        clusters * sizeof(double));
    assert_int_equal(vem_model_variance_count(a->model),
                     vem_model_variance_count(b->model));
    assert_memory_equal(vem_model_variances(a->model), vem_model_variances(b->model),
                        vem_model_variance_count(b->model) * sizeof(double));
    assert_int_equal(s->steps, t->steps);
    assert_true(s->free_energy == t->free_energy);
}

#endif
