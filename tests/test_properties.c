/* The law of F on the whole grid: every family, prior, number of held clusters,
 * precision, kind of weights, dimension and kind of data, from a common start.
 *
 *     F never falls;  F is at most the log-likelihood;  the model given back is the one
 *     whose F is reported;  variances respect the floor;  weights sum to 1;
 *     and in double every step is the step of the naive EM beside it. */
#include <float.h>

#include "naive.h"

#define CONTEXT_THREADS 1
#include "context.h"

enum { ROWS = 120, STEPS = 8 };

/* F is a log density: its zero is a matter of units, so its size is at least that of one
 * nat per dimension. */
static double slack(const grid_case *c, double f)
{
    return (c->precision == VEM_SINGLE ? 1e-6 : 1e-9) * fmax(fabs(f), c->d);
}

/* Full covariances in single precision: scores lose the square root of the condition, so
 * two ways to the same F agree only to the digits that are left. */
static double conditioning(const grid_case *c, const grid_data *data,
                           const vem_model *model)
{
    if (vem_family_axes(c->family) < 2 || c->precision != VEM_SINGLE ||
        c->set != SET_HEAVY)
        return 0;
    double widest = 0, floor = 1e-6 * grid_variance(data);
    for (size_t i = 0; i < vem_model_variance_count(model); i++)
        widest = fmax(widest, vem_model_variances(model)[i]);
    return c->d * (double)FLT_EPSILON * sqrt(widest / floor);
}

static void check_monotone(const grid_case *c, const grid_fit *fit)
{
    for (int64_t t = 1; t < fit->trace_count; t++) {
        double before = fit->trace[t - 1].free_energy, now = fit->trace[t].free_energy;
        if (fit->trace[t - 1].moved > 0)
            continue;
        if (!(now >= before - slack(c, before)))
            fail_msg("F falls from %.17g to %.17g in step %d: %s", before, now,
                     (int)fit->trace[t].step, grid_name(c));
    }
}

static void check_model(const grid_case *c, const grid_data *data, const vem_model *model)
{
    double floors[GRID_COLUMNS], sum = 0;
    grid_floors(data, c->family, 1e-6 * (1 - 1e-9), floors);
    const double *v = vem_model_variances(model);
    size_t d = (size_t)c->d;
    for (size_t i = 0; i < vem_model_variance_count(model); i++) {
        int on_diagonal = vem_family_axes(c->family) < 2 || i % (d * d) % (d + 1) == 0;
        if (on_diagonal && !(v[i] >= floors[i % d]))
            fail_msg("a variance is %g, below the floor %g: %s", v[i], floors[i % d],
                     grid_name(c));
    }
    for (int32_t k = 0; k < vem_model_clusters(model); k++)
        sum += vem_model_weights(model)[k];
    grid_assert_near(sum, 1, c->precision == VEM_SINGLE ? 1e-6 : 1e-12, grid_name(c));
}

static void law_of_f(void **state)
{
    (void)state;
    for (int i = 0; i < grid_count(); i += grid_stride()) {
        grid_case c = grid_at(i);
        if (!grid_has_rows(c.family, c.d))
            continue;
        grid_data data = grid_data_new(c.set, c.weights, ROWS, c.d, 11);
        grid_suit(c.family, &data);
        vem_model *start = grid_start(ctx, &data, c.family, c.clusters);
        vem_options o =
            grid_options(c.clusters, c.family, c.prior, c.held, c.precision, STEPS);
        grid_fit fit = grid_run(ctx, &data, &o, start);
        double f = fit.summary->free_energy;
        vem_scores s = grid_score(ctx, fit.model, &data, c.held, c.precision);
        check_monotone(&c, &fit);
        check_model(&c, &data, fit.model);
        double tolerance = 2 * slack(&c, f) + conditioning(&c, &data, fit.model);
        grid_assert_near(s.free_energy, f, tolerance, grid_name(&c));
        if (!(s.log_likelihood >= f - tolerance))
            fail_msg("F is %.17g, above the log-likelihood %.17g: %s", f,
                     s.log_likelihood, grid_name(&c));
        if (c.held == c.clusters)
            grid_assert_near(s.log_likelihood, f, tolerance, grid_name(&c));
        grid_fit_free(&fit);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* Steps of the engine beside steps of the naive EM, until the latter meets a matrix it
 * does not clamp. */
static void compare_steps(const grid_case *c, const grid_data *data)
{
    vem_model *start = grid_start(ctx, data, c->family, c->clusters);
    double floors[GRID_COLUMNS];
    grid_floors(data, c->family, 1e-6, floors);
    naive_model naive = naive_from(start, c->prior, c->held, floors);
    int32_t *labels = calloc((size_t)data->n, sizeof *labels);
    double *wq = calloc((size_t)(data->n * c->clusters), sizeof *wq), f;
    size_t means = (size_t)(c->clusters * c->d);
    double *variances = calloc(means * (size_t)c->d, sizeof *variances);
    for (int64_t steps = 1; steps <= 4; steps++) {
        vem_options o =
            grid_options(c->clusters, c->family, c->prior, c->held, VEM_DOUBLE, steps);
        grid_fit fit = grid_run(ctx, data, &o, start);
        assert_true(naive_estep(&naive, data, &f, labels, wq));
        int longer = fit.summary->steps == steps; /* it had not converged before */
        if (longer) {
            grid_assert_near(fit.summary->free_energy, f, 1e-9 * fmax(fabs(f), c->d),
                             grid_name(c));
            naive_variances(&naive, variances);
            if (!grid_close(vem_model_means(fit.model), naive.means, means, 1e-9) ||
                !grid_close(vem_model_weights(fit.model), naive.weights,
                            (size_t)c->clusters, 1e-9) ||
                !grid_close(vem_model_variances(fit.model), variances,
                            vem_model_variance_count(fit.model), 1e-7))
                fail_msg("step %d gives another model: %s", (int)steps, grid_name(c));
            for (int64_t i = 0; i < data->n; i++)
                if (fit.labels[i] != labels[i])
                    fail_msg("row %d has label %d, not %d: %s", (int)i, fit.labels[i],
                             labels[i], grid_name(c));
        }
        grid_fit_free(&fit);
        if (!longer || !naive_mstep(&naive, data, wq))
            break;
    }
    free(labels);
    free(wq);
    free(variances);
    naive_free(&naive);
    vem_model_free(start);
}

static void steps_are_those_of_the_naive_em(void **state)
{
    (void)state;
    for (int i = 0; i < grid_count(); i += grid_stride()) {
        grid_case c = grid_at(i);
        /* Few columns of small numbers make ties, in which roundings decide. */
        if (c.precision == VEM_SINGLE || c.d > 17 ||
            (!grid_is_shaped(c.family) && c.d < 8))
            continue;
        grid_data data = grid_data_new(c.set, c.weights, ROWS, c.d, 11);
        grid_suit(c.family, &data);
        compare_steps(&c, &data);
        grid_data_free(&data);
    }
}

/* Lists longer than the kernels keep: the costs of all clusters, those beyond the held
 * ones struck out. Also many clusters beside the tile of the closest search. */
static void long_lists(void **state)
{
    (void)state;
    const int32_t held[] = {1, 5, 63, 64, 65, 69, 70};
    for (int family = VEM_ISO_SHARED; family <= VEM_DIAG; family++)
        for (size_t h = 0; h < sizeof held / sizeof *held; h++)
            for (int32_t d = 3; d <= 20; d += 17) {
                grid_case c = {.family = (vem_family_kind)family,
                               .prior = VEM_PRIOR_FREE,
                               .held = held[h],
                               .clusters = 70,
                               .precision = VEM_DOUBLE,
                               .weights = WEIGHTS_REAL,
                               .d = d};
                grid_data data = grid_data_new(c.set, c.weights, 300, c.d, 12);
                compare_steps(&c, &data);
                grid_data_free(&data);
            }
}

static int same_bits(const grid_fit *a, const grid_fit *b, int64_t n)
{
    size_t c = (size_t)vem_model_clusters(a->model),
           d = (size_t)vem_model_columns(a->model), real = sizeof(double);
    return a->summary->free_energy == b->summary->free_energy &&
           !memcmp(vem_model_means(a->model), vem_model_means(b->model), c * d * real) &&
           !memcmp(vem_model_variances(a->model), vem_model_variances(b->model),
                   vem_model_variance_count(a->model) * real) &&
           (n == 0 || !memcmp(a->labels, b->labels, (size_t)n * sizeof *a->labels));
}

static void holding_all_is_searching_all(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, ROWS, 17, 13);
            grid_suit((vem_family_kind)family, &data);
            vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, 6);
            vem_options o = grid_options(6, (vem_family_kind)family, VEM_PRIOR_FREE, 6,
                                         (vem_precision)precision, 6);
            grid_fit all = grid_run(ctx, &data, &o, start);
            o.search = VEM_SEARCH_CLOSEST;
            grid_fit closest = grid_run(ctx, &data, &o, start);
            assert_true(same_bits(&all, &closest, data.n));
            grid_fit_free(&all);
            grid_fit_free(&closest);
            vem_model_free(start);
            grid_data_free(&data);
        }
}

/* The table of what can be combined: every line of VEM_SEARCH_TABLE and VEM_FAMILY_TABLE, the views
 * below, the weightings of grid.h, both precisions, few and many columns. */
typedef enum view_kind {
    VIEW_POINTS = 0,
    VIEW_SPILLED, /* rows rest in a temporary file */
    VIEW_CORESET,
    VIEW_CELLS, /* of a tree, divided on the way */
    VIEW_COUNT
} view_kind;
static const char *const view_names[VIEW_COUNT] = {"points", "spilled", "coreset",
                                                   "cells"};

enum {
    COMBINATIONS = VEM_SEARCH_COUNT * VEM_FAMILIES * VIEW_COUNT * WEIGHTS_COUNT * 2 * 2
};

typedef struct combination {
    int search, family, view, weights, precision, d;
} combination;

static combination combination_at(int i)
{
    combination c;
    c.search = i % VEM_SEARCH_COUNT, i /= VEM_SEARCH_COUNT;
    c.family = i % VEM_FAMILIES, i /= VEM_FAMILIES;
    c.view = i % VIEW_COUNT, i /= VIEW_COUNT;
    c.weights = i % WEIGHTS_COUNT, i /= WEIGHTS_COUNT;
    c.precision = i % 2;
    c.d = i / 2 ? 20 : 3;
    return c;
}

/* F never falls, every row has a label, and threads change nothing. */
static void check_combination(const combination *c, vem_options *o, const grid_data *data,
                              const vem_model *start)
{
    const double tolerance = c->precision == VEM_SINGLE ? 1e-6 : 1e-9;
    grid_fit fits[2];
    ctx->spills_all = c->view == VIEW_SPILLED;
    for (int t = 0; t < 2; t++) {
        o->threads = t ? 3 : 1;
        fits[t] = grid_run(ctx, data, o, start);
    }
    ctx->spills_all = 0;
    const vem_trace_step *trace = fits[0].trace;
    assert_true(fits[0].trace_count > 1);
    for (int64_t t = 1; t < fits[0].trace_count; t++) {
        const double before = trace[t - 1].free_energy, now = trace[t].free_energy;
        if (trace[t - 1].moved == 0 &&
            !(now >= before - tolerance * fmax(1, fabs(before))))
            fail_msg("F falls from %.17g to %.17g: search %s, family %s, %s, %s, "
                     "precision %d, %d columns",
                     before, now, vem_choice_name("search", c->search),
                     vem_choice_name("family", c->family), view_names[c->view],
                     grid_weights_names[c->weights], c->precision, c->d);
    }
    /* Items of a coreset or a cut are no rows: whoever wants labels assigns them afterwards. */
    const int64_t labelled =
        c->view == VIEW_CORESET || c->view == VIEW_CELLS ? 0 : data->n;
    for (int64_t i = 0; i < labelled; i++)
        assert_in_range(fits[0].labels[i], 0, vem_model_clusters(fits[0].model) - 1);
    assert_true(same_bits(&fits[0], &fits[1], labelled));
    grid_fit_free(&fits[0]);
    grid_fit_free(&fits[1]);
}

static void every_combination_obeys_the_law(void **state)
{
    (void)state;
    enum { CLUSTERS = 9 };
    for (int i = 0; i < COMBINATIONS; i += grid_stride()) {
        const combination c = combination_at(i);
        if (!grid_has_rows((vem_family_kind)c.family, c.d))
            continue;
        grid_data data =
            grid_data_new(SET_OVERLAPPING, (grid_weights)c.weights, 400, c.d, 14);
        const vem_family_kind family = (vem_family_kind)c.family;
        grid_suit(family, &data);
        vem_model *start = grid_start(ctx, &data, family, CLUSTERS);
        vem_options o = grid_options(CLUSTERS, family, VEM_PRIOR_FREE, 1 + i % 3,
                                     (vem_precision)c.precision, 8);
        o.search = c.search;
        if (c.search == VEM_SEARCH_ALL) /* holds all by its name */
            o.held = CLUSTERS;
        if (c.view == VIEW_CORESET)
            o.coreset = 250;
        if (c.view == VIEW_CELLS)
            o.cells = 100;
        check_combination(&c, &o, &data, start);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_obeys_the_law), cmocka_unit_test(law_of_f),
        cmocka_unit_test(steps_are_those_of_the_naive_em), cmocka_unit_test(long_lists),
        cmocka_unit_test(holding_all_is_searching_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
