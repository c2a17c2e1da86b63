/* Rows of very many columns that are all alike: sums whose roundings have one sign. F never
 * falls, k-means ends, and labels are nearest, at every number of columns. */
#include "grid.h"

#include "context.h"

typedef enum kind { LEVEL, NOISE, RAMP, KINDS } kind;

typedef struct size {
    int32_t d;
    int64_t n, clusters;
} size;

static const size sizes[] = {
    {512, 600, 80}, {1024, 900, 100}, {4096, 240, 40}, {16384, 60, 12}, {100000, 24, 6}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* a_i (1, ..., 1), the same with a little noise, or a_i (0, ..., 1); floats. */
static grid_data rows_of(kind which, const size *s)
{
    grid_data data = {.n = s->n, .d = s->d};
    data.x = malloc((size_t)s->n * (size_t)s->d * sizeof *data.x);
    vem_i_rng rng = vem_i_rng_at(11, VEM_RNG_TEST, 0, (uint64_t)which);
    for (int64_t i = 0; i < s->n; i++) {
        double a = vem_i_rng_uniform(&rng);
        for (int64_t j = 0; j < s->d; j++) {
            double v = which == RAMP ? a * (double)j / s->d : a;
            /* Any little noise will do; a normal one would take longer than the fit. */
            if (which == NOISE)
                v +=
                    1e-4 *
                    ((double)((uint32_t)(i * 7919 + j) * 2654435761U >> 8) / 8388608 - 1);
            data.x[i * s->d + j] = (double)(float)v;
        }
    }
    return data;
}

static double square(const double *x, const double *y, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* Labels by sums in double: nearest to within what direct differences in single can tell. */
static void check_nearest(const grid_data *data, const vem_model *model,
                          const int32_t *labels, const char *what)
{
    const double *means = vem_model_means(model);
    int32_t clusters = vem_model_clusters(model), d = data->d;
    for (int64_t i = 0; i < data->n; i++) {
        const double *x = data->x + i * d;
        double own = square(x, means + (int64_t)labels[i] * d, d);
        for (int32_t c = 0; c < clusters; c++) {
            double other = square(x, means + (int64_t)c * d, d);
            if (other < own * (1 - 1e-5) - 1e-12 * d)
                fail_msg("row %d has label %d at %.9g, but %d lies at %.9g (%s)", (int)i,
                         labels[i], own, c, other, what);
        }
    }
}

static void check_law(const grid_fit *fit, const char *what)
{
    for (int64_t t = 1; t < fit->trace_count; t++) {
        double before = fit->trace[t - 1].free_energy, now = fit->trace[t].free_energy;
        if (now < before - 1e-6 * fabs(before))
            fail_msg("F falls from %.17g to %.17g in step %d (%s)", before, now,
                     (int)t + 1, what);
    }
}

static void run(const size *s, kind which, int64_t held, vem_search_kind search,
                vem_precision precision)
{
    char what[120];
    snprintf(what, sizeof what, "%d columns, kind %d, %d held, search %d, precision %d",
             s->d, (int)which, (int)held, (int)search, (int)precision);
    grid_data data = rows_of(which, s);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, (int32_t)s->clusters);
    vem_options options = grid_options(s->clusters, VEM_ISO_SHARED, VEM_PRIOR_FLAT, held,
                                       precision, held == 1 ? 100 : 15);
    options.search = (int)search;
    grid_fit fit = grid_run(ctx, &data, &options, start);
    check_law(&fit, what);
    if (held == 1 && search == VEM_SEARCH_CLOSEST) {
        if (fit.summary->outcome != VEM_OUTCOME_CONVERGED)
            fail_msg("k-means does not end (%s)", what);
        check_nearest(&data, fit.model, fit.labels, what);
    }
    vem_data *rows = grid_borrow(ctx, &data);
    int32_t *labels = grid_zeros(s->n, sizeof *labels);
    assert_int_equal(vem_assign(ctx, fit.model, rows, 1, precision, labels, NULL),
                     VEM_OK);
    check_nearest(&data, fit.model, labels, what);
    free(labels);
    vem_data_free(rows);
    grid_fit_free(&fit);
    vem_model_free(start);
    grid_data_free(&data);
}

static void hard(void **state)
{
    (void)state;
    for (int s = 0; s<SIZES; s += grid_stride()> 1 ? 2 : 1)
        for (int which = 0; which < KINDS; which++)
            run(&sizes[s], (kind)which, 1, VEM_SEARCH_CLOSEST, VEM_SINGLE);
}

static void hard_in_double(void **state)
{
    (void)state;
    run(&sizes[2], LEVEL, 1, VEM_SEARCH_CLOSEST, VEM_DOUBLE);
}

static void soft(void **state)
{
    (void)state;
    const vem_search_kind searches[] = {VEM_SEARCH_CLOSEST, VEM_SEARCH_GROUPS,
                                        VEM_SEARCH_EXACT, VEM_SEARCH_ESTIMATED};
    for (int s = 1; s<SIZES; s += grid_stride()> 1 ? 2 : 1) {
        for (int k = 0; k < 4; k++)
            run(&sizes[s], LEVEL, 3, searches[k], VEM_SINGLE);
        run(&sizes[s], NOISE, sizes[s].clusters, VEM_SEARCH_ALL, VEM_SINGLE);
        run(&sizes[s], RAMP, 1, VEM_SEARCH_GROUPS, VEM_SINGLE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard),
        cmocka_unit_test(hard_in_double),
        cmocka_unit_test(soft),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
