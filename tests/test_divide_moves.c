/* Every move of a search for the number of clusters is needed: where one was made, F rose by it, as the
 * trace tells; and soft searches end where rows share clusters. */
#define CONTEXT_THREADS 2
#include "context.h"
#include "selecting.h"

enum { SETS = 12 };

/* How much of F all moves of this name gained, from the step before to the next move, or the end. */
static double gained_by(const vem_report *report, const char *name, int64_t *times)
{
    const vem_trace_step *trace = vem_report_trace(report);
    const int64_t count = vem_report_trace_count(report);
    double sum = 0;
    for (int64_t t = 0; t < count; t++) {
        int64_t next = t + 1;
        if (!trace[t].move || strcmp(trace[t].move, name) != 0)
            continue;
        while (next + 1 < count && !trace[next].move)
            next++;
        assert_true(next < count);
        sum += trace[next].free_energy - trace[t].free_energy;
        ++*times;
    }
    return sum;
}

static void every_move_gains(void **state)
{
    (void)state;
    static const char *const names[] = {"split", "join", "resplit", "settle"};
    static const vem_select_method methods[] = {VEM_SELECT_ICL, VEM_SELECT_BAYES,
                                                VEM_SELECT_BAYES, VEM_SELECT_VB};
    double gain[4] = {0};
    int64_t times[4] = {0};
    for (int32_t k = 0; k < SETS; k++) {
        grid_data data =
            heaps(6 + k, 60 + 10 * (k % 4), 2 + k % 3, 3 + 0.25 * k, k % 2, NULL);
        const vem_options o = options(VEM_FULL);
        found f = find(&data, methods[k % 4], &o, 0, 0);
        for (int m = 0; m < 4; m++)
            gain[m] += gained_by(f.report, names[m], &times[m]);
        found_free(&f);
        grid_data_free(&data);
    }
    for (int m = 0; m < 4; m++)
        if (!(gain[m] > 1e-6))
            fail_msg("%s: %d times, and F rose by %g", names[m], (int)times[m], gain[m]);
}

/* Between two near heaps rows belong to both: wholly in one they would push the means apart. */
static void soft_searches_share_rows(void **state)
{
    (void)state;
    grid_data data = heaps(2, 400, 2, 2.5, 0, NULL);
    const vem_options o = options(VEM_FULL);
    double apart[2], f[2];
    for (int k = 0; k < 2; k++) {
        found one = find(&data, k ? VEM_SELECT_VB : VEM_SELECT_BAYES, &o, 2, 2);
        const double *means = vem_model_means(one.model);
        assert_int_equal(vem_model_clusters(one.model), 2);
        assert_true((vem_report_options(one.report)->held > 1) == k);
        apart[k] = hypot(means[2] - means[0], means[3] - means[1]);
        f[k] = vem_report_summary(one.report)->free_energy;
        found_free(&one);
    }
    assert_true(f[1] > f[0]);
    assert_true(apart[1] < apart[0] - 0.1);
    grid_data_free(&data);
}

/* Where measuring all mixtures of a path on all rows would take more distances than the
 * search did, they are measured on a sample, and say so; the chosen one is measured as
 * asked. */
static void measuring_a_path_is_bounded(void **state)
{
    (void)state;
    const vem_options o = options(VEM_DIAG);
    int sampled = 0, exact = 0;
    for (int large = 0; large < 2; large++) {
        grid_data data = heaps(81, large ? 400 : 40, 4, 15, 0, NULL);
        found f = find(&data, VEM_SELECT_BAYES, &o, 0, 0);
        const int32_t count = vem_path_count(f.path);
        const vem_summary *s = vem_report_summary(f.report);
        double clusters = 0;
        for (int32_t i = 0; i < count; i++)
            clusters += vem_path_at(f.path, i)->clusters;
        const int is_long =
            data.n > 4096 && 2.0 * (double)data.n * clusters > (double)s->scored_pairs;
        for (int32_t i = 0; i < count; i++) {
            const vem_path_point *p = vem_path_at(f.path, i);
            assert_true(isfinite(p->log_likelihood));
            if (p->clusters == vem_path_chosen(f.path)) /* as all rows say */
                assert_true(p->log_likelihood == s->log_likelihood && p->bic == s->bic &&
                            p->log_likelihood_se == 0);
            else
                assert_int_equal(p->log_likelihood_se > 0, is_long);
        }
        assert_true(s->log_likelihood_se == 0);
        sampled += is_long;
        exact += !is_long;
        found_free(&f);
        grid_data_free(&data);
    }
    assert_int_equal(sampled, 1);
    assert_int_equal(exact, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_move_gains),
        cmocka_unit_test(soft_searches_share_rows),
        cmocka_unit_test(measuring_a_path_is_bounded),
    };
    return cmocka_run_group_tests_name("divide_moves", tests, set_up, tear_down);
}
