/* --metric cosine: F never falls on any search, labels are those of the largest cosine, steps are those
 * of spherical k-means worked out plainly, and lengths of rows do not matter. */
#include "base/options.h"
#include "cosine.h"
#include "engine.h"
#include "run.h"

#define CONTEXT_THREADS 1
#include "context.h"

enum { N = 240, C = 5, STEPS = 12 };

/* The rows to length 1. */
static grid_data directions(const grid_data *data)
{
    grid_data unit = {data->n, data->d, grid_zeros(data->n * data->d, sizeof(double)),
                      data->weights};
    memcpy(unit.x, data->x, (size_t)(data->n * data->d) * sizeof(double));
    for (int64_t i = 0; i < data->n; i++) {
        const double length =
            sqrt(dot(unit.x + i * data->d, unit.x + i * data->d, data->d));
        for (int32_t j = 0; j < data->d; j++)
            unit.x[i * data->d + j] /= length;
    }
    return unit;
}

static double weight_of(const grid_data *data, int64_t i)
{
    return data->weights ? data->weights[i] : 1;
}

/* The cosine of each label is the largest there is, and the error is 2 sum w (1 - cos). */
static void assert_nearest(const grid_fit *fit, const grid_data *data, double share,
                           const char *what)
{
    const int32_t d = data->d;
    grid_data unit = directions(data);
    double error = 0, mass = 0;
    for (int64_t i = 0; i < data->n; i++) {
        const double *x = unit.x + i * d;
        double best = -2;
        for (int32_t c = 0; c < vem_model_clusters(fit->model); c++)
            best = fmax(best, dot(x, vem_model_means(fit->model) + (int64_t)c * d, d));
        const double held =
            dot(x, vem_model_means(fit->model) + (int64_t)fit->labels[i] * d, d);
        if (!(held >= best - share))
            fail_msg("row %d has the cosine %.17g, not %.17g: %s", (int)i, held, best,
                     what);
        error += weight_of(data, i) * 2 * (1 - best);
        mass += weight_of(data, i);
    }
    assert_true(fit->summary->quantization_error >= 0);
    grid_assert_near(fit->summary->quantization_error, error, share * mass, what);
    free(unit.x);
}

/* Every search, one and several held, both types, weights, columns and kinds of data. */
static void law_of_f(void **state)
{
    (void)state;
    static const grid_set sets[] = {SET_OVERLAPPING, SET_SEPARATED, SET_OFFSET,
                                    SET_HEAVY};
    static const int32_t columns[] = {2, 5, 17};
    int number = 0;
    for (int search = 0; search < VEM_SEARCH_COUNT; search++)
        for (int held = 1; held <= 2; held++)
            for (int weights = 0; weights < WEIGHTS_COUNT; weights++)
                for (int s = 0; s < 4; s++)
                    for (int k = 0; k < 6; k++) {
                        const int32_t d = columns[k % 3];
                        const vem_precision precision = k < 3 ? VEM_SINGLE : VEM_DOUBLE;
                        char what[120];
                        if (number++ % grid_stride())
                            continue;
                        if (sets[s] == SET_OFFSET && precision == VEM_SINGLE)
                            continue; /* angles of 1e-6: its digits end there */
                        snprintf(
                            what, sizeof what,
                            "search %s, held %d, weights %d, set %d, d %d, precision "
                            "%d",
                            vem_choice_name("search", search), held, weights, sets[s], d,
                            (int)precision);
                        grid_data data =
                            grid_data_new(sets[s], (grid_weights)weights, N, d, 5);
                        vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, C);
                        vem_options o = cosine(C, held, precision, STEPS);
                        o.search = search;
                        o.measure = VEM_MEASURE_EXACT;
                        if (search == VEM_SEARCH_ALL)
                            o.held = C;
                        if (search == VEM_SEARCH_GROUPS && held == 1)
                            o.swaps = 3;
                        grid_fit fit = grid_run(ctx, &data, &o, start);
                        const int single = precision == VEM_SINGLE;
                        assert_monotone(&fit, single ? 1e-6 : 1e-9, d, what);
                        assert_unit_means(fit.model, what);
                        if (held == 1 && o.held == 1 && vem_i_search_is_whole(search))
                            assert_nearest(&fit, &data, single ? 1e-6 : 1e-12, what);
                        grid_fit_free(&fit);
                        vem_model_free(start);
                        grid_data_free(&data);
                    }
}

/* Fits as they are without options, which have starts, swaps and lists, from rows. */
static void whole_fits(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const int32_t clusters = k < 2 ? 7 : 80;
        grid_data data = grid_data_new(SET_HEAVY, (grid_weights)k, 1500, 6, 8);
        vem_options o;
        vem_options_init(&o);
        o.clusters = clusters;
        o.metric = VEM_METRIC_COSINE;
        o.precision = k % 2 ? VEM_SINGLE : VEM_DOUBLE;
        o.measure = VEM_MEASURE_EXACT;
        o.tolerance = 1e-7;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_unit_means(fit.model, "whole fit");
        assert_int_equal(fit.options->normalize, 1);
        assert_monotone(&fit, k % 2 ? 1e-6 : 1e-9, 6, "whole fit");
        assert_true(fit.summary->quantization_error >= 0);
        int swapped = 0;
        for (int64_t t = 0; t < fit.trace_count; t++)
            swapped |= fit.trace[t].move && strcmp(fit.trace[t].move, "swap") == 0;
        assert_true(swapped || k < 2);
        /* Means of squared distances, put on the sphere afterwards, are no better. */
        o.metric = VEM_METRIC_L2;
        o.normalize = 1;
        grid_fit plain = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(vem_model_set_metric(ctx, plain.model, VEM_METRIC_COSINE),
                         VEM_OK);
        const vem_scores other = grid_score(ctx, plain.model, &data, 1, VEM_DOUBLE),
                         ours = grid_score(ctx, fit.model, &data, 1, VEM_DOUBLE);
        assert_true(ours.quantization_error <= 1.01 * other.quantization_error);
        grid_assert_near(ours.quantization_error, fit.summary->quantization_error,
                         1e-5 * ours.quantization_error, "score");
        assert_int_equal(vem_model_parameters(fit.model), clusters * 5 + 1);
        grid_fit_free(&fit);
        grid_fit_free(&plain);
        grid_data_free(&data);
    }
}

/* Steps beside those of spherical k-means in plain words. */
static void steps_worked_out(void **state)
{
    (void)state;
    for (int weights = 0; weights < WEIGHTS_COUNT; weights++)
        for (int32_t d = 2; d <= 9; d += 7) {
            grid_data data =
                grid_data_new(SET_OVERLAPPING, (grid_weights)weights, N, d, 21);
            grid_data unit = directions(&data);
            vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, C);
            double means[C * 9], sums[C * 9];
            int32_t labels[N];
            for (int64_t c = 0; c < C; c++) {
                const double *m = vem_model_means(start) + c * d;
                for (int32_t j = 0; j < d; j++)
                    means[c * d + j] = m[j] / sqrt(dot(m, m, d));
            }
            for (int64_t steps = 1; steps <= 6; steps++) {
                vem_options o = cosine(C, 1, VEM_DOUBLE, steps);
                grid_fit fit = grid_run(ctx, &data, &o, start);
                if (fit.summary->steps < steps) {
                    grid_fit_free(&fit);
                    break;
                }
                memset(sums, 0, sizeof sums);
                for (int64_t i = 0; i < N; i++) {
                    labels[i] = 0;
                    for (int32_t c = 1; c < C; c++)
                        if (dot(unit.x + i * d, means + c * d, d) >
                            dot(unit.x + i * d, means + labels[i] * d, d))
                            labels[i] = c;
                    for (int32_t j = 0; j < d; j++)
                        sums[labels[i] * d + j] +=
                            weight_of(&data, i) * unit.x[i * d + j];
                    assert_int_equal(fit.labels[i], labels[i]);
                }
                if (!grid_close(vem_model_means(fit.model), means, (size_t)(C * d),
                                1e-12))
                    fail_msg("step %d gives other means", (int)steps);
                for (int64_t c = 0; c < C; c++) {
                    const double length = sqrt(dot(sums + c * d, sums + c * d, d));
                    for (int32_t j = 0; length > 0 && j < d; j++)
                        means[c * d + j] = sums[c * d + j] / length;
                }
                grid_fit_free(&fit);
            }
            vem_model_free(start);
            free(unit.x);
            grid_data_free(&data);
        }
}

static void assert_same_bits(const grid_fit *a, const grid_fit *b, int64_t n,
                             const char *what)
{
    const size_t values =
        (size_t)vem_model_clusters(a->model) * (size_t)vem_model_columns(a->model);
    if (memcmp(vem_model_means(a->model), vem_model_means(b->model),
               values * sizeof(double)) != 0 ||
        memcmp(a->labels, b->labels, (size_t)n * sizeof *a->labels) != 0 ||
        a->summary->free_energy != b->summary->free_energy)
        fail_msg("other bits: %s", what);
}

static void threads_and_lengths(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        grid_data data =
            grid_data_new(SET_HEAVY, k % 2 ? WEIGHTS_REAL : WEIGHTS_NONE, 1200, 7, 3);
        vem_options o;
        vem_options_init(&o);
        o.clusters = k < 2 ? 6 : 90;
        o.metric = VEM_METRIC_COSINE;
        o.precision = k % 2 ? VEM_DOUBLE : VEM_SINGLE;
        o.max_steps = 25;
        o.threads = 1;
        grid_fit one = grid_run(ctx, &data, &o, NULL);
        static const int threads[] = {2, 3, 7};
        for (int t = 0; t < 3; t++) {
            o.threads = threads[t];
            grid_fit other = grid_run(ctx, &data, &o, NULL);
            assert_same_bits(&one, &other, data.n, "threads");
            grid_fit_free(&other);
        }
        o.threads = 1;
        for (int64_t i = 0; i < data.n; i++) /* lengths from 2^-400 to 2^400 */
            for (int32_t j = 0; j < data.d; j++)
                data.x[i * data.d + j] =
                    ldexp(data.x[i * data.d + j], (int)(i * 41 % 801) - 400);
        grid_fit scaled = grid_run(ctx, &data, &o, NULL);
        assert_same_bits(&one, &scaled, data.n, "powers of two");
        grid_fit_free(&scaled);
        for (int64_t i = 0; i < data.n; i++)
            for (int32_t j = 0; j < data.d; j++)
                data.x[i * data.d + j] =
                    ldexp(data.x[i * data.d + j], 400 - (int)(i * 41 % 801)) *
                    (1 + (double)(i % 17));
        vem_scores a = grid_score(ctx, one.model, &data, 1, VEM_DOUBLE);
        grid_fit factors = grid_run(ctx, &data, &o, one.model);
        vem_scores b = grid_score(ctx, factors.model, &data, 1, VEM_DOUBLE);
        assert_true(b.quantization_error <= a.quantization_error * (1 + 1e-6));
        grid_fit_free(&factors);
        grid_fit_free(&one);
        grid_data_free(&data);
    }
}

/* Weight 2 is the row twice. */
static void weights_repeat(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_INTEGER, 150, 4, 9);
    grid_data rows = {0, 4, grid_zeros(150 * 3 * 4, sizeof(double)), NULL};
    for (int64_t i = 0; i < data.n; i++)
        for (int k = 0; k < (int)data.weights[i]; k++)
            memcpy(rows.x + 4 * rows.n++, data.x + 4 * i, 4 * sizeof(double));
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, C);
    vem_options o = cosine(C, 1, VEM_DOUBLE, 30);
    grid_fit a = grid_run(ctx, &data, &o, start), b = grid_run(ctx, &rows, &o, start);
    grid_assert_models(a.model, b.model, 1e-10, "weights");
    grid_fit_free(&a);
    grid_fit_free(&b);
    vem_model_free(start);
    free(rows.x);
    grid_data_free(&data);
}

/* An over-relaxed step never lowers F, however far the old means were; swaps gain what they say. */
static void relaxed_steps_and_swaps(void **state)
{
    (void)state;
    for (int k = 0; k < 16; k++) {
        const vem_precision precision = k % 2 ? VEM_DOUBLE : VEM_SINGLE;
        const double share = k % 2 ? 1e-9 : 1e-6;
        grid_data data = grid_data_new(k & 4 ? SET_HEAVY : SET_SEPARATED,
                                       k & 2 ? WEIGHTS_REAL : WEIGHTS_NONE, N, 3 + k, 40);
        vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, 12);
        vem_options o = cosine(12, k & 8 ? 2 : 1, precision, 5);
        o.swaps = 2;
        engine e;
        engine_new(&e, ctx, &data, &o, start);
        double f = engine_expect(&e, (vem_i_step_plan){0}), promised;
        for (int step = 0; step < 4; step++) {
            engine_collect(&e);
            engine_maximize(&e, 1 + step * 0.33);
            const double now = engine_expect(&e, (vem_i_step_plan){.look_further = 1});
            if (!(now >= f - share * fmax(fabs(f), data.d)))
                fail_msg("F falls from %.12g to %.12g: relaxed by %g, case %d", f, now,
                         1 + step * 0.33, k);
            f = now;
        }
        if (engine_swap(&e, &promised) > 0) {
            const double now = vem_i_em_again(&e.em);
            if (!(now >= f + (k & 8 ? 0 : 0.999 * promised / e.em.view->total_mass) -
                             share * fmax(fabs(f), data.d)))
                fail_msg("swaps take F from %.12g to %.12g, and promised %.12g, case %d",
                         f, now, promised / e.em.view->total_mass, k);
        }
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_of_f),         cmocka_unit_test(whole_fits),
        cmocka_unit_test(steps_worked_out), cmocka_unit_test(threads_and_lengths),
        cmocka_unit_test(weights_repeat),   cmocka_unit_test(relaxed_steps_and_swaps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
