/* How fits say that they ended: by their rule, whatever they do on the way (clusters that are inserted, cells
 * that are divided), or by their steps; never by a limit of time that nobody gave. */
#define CONTEXT_THREADS 1
#include "asked.h"

enum { N = 1200, D = 2 };

static const struct {
    const char *asked;
    vem_outcome outcome;
} cases[] = {
    {"clusters=4 algorithm=kmeans", VEM_OUTCOME_CONVERGED},
    {"clusters=4 algorithm=kmeans max_steps=2", VEM_OUTCOME_STEP_LIMIT},
    {"clusters=4", VEM_OUTCOME_CONVERGED},
    {"clusters=4 family=full", VEM_OUTCOME_CONVERGED},
    {"clusters=4 algorithm=gmm max_steps=3", VEM_OUTCOME_STEP_LIMIT},
    {"clusters=4 algorithm=greedy", VEM_OUTCOME_CONVERGED},
    {"clusters=4 algorithm=greedy family=diag", VEM_OUTCOME_CONVERGED},
    {"clusters=4 algorithm=greedy family=iso-shared search=closest held=1",
     VEM_OUTCOME_CONVERGED},
    {"clusters=4 algorithm=greedy family=diag cells=200", VEM_OUTCOME_CONVERGED},
    {"clusters=4 family=diag cells=200", VEM_OUTCOME_CONVERGED},
    {"clusters=4 algorithm=kd-em", VEM_OUTCOME_CONVERGED},
    {"clusters=4 algorithm=incremental-em", VEM_OUTCOME_CONVERGED},
    {"clusters=70", VEM_OUTCOME_CONVERGED},
};

static void how_fits_end(void **state)
{
    (void)state;
    grid_data grid = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, N, D, 41);
    vem_data *data = grid_borrow(ctx, &grid);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const vem_options asked = asked_of(cases[k].asked);
        vem_report *report = NULL;
        vem_model *model = NULL;
        if (vem_fit(ctx, data, &asked, NULL, &model, &report) != VEM_OK)
            fail_msg("%s: %s", cases[k].asked, vem_ctx_message(ctx));
        const vem_summary *s = vem_report_summary(report);
        if (s->outcome != cases[k].outcome)
            fail_msg("%s: %s after %d steps", cases[k].asked,
                     vem_outcome_name(s->outcome), (int)s->steps);
        assert_int_equal(s->clusters, asked.clusters);
        vem_report_free(report);
        vem_model_free(model);
    }
    vem_data_free(data);
    grid_data_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_fits_end)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
