/* What must not matter, or must matter in a known way: weights against copies of rows,
 * the order of rows and clusters, the scale of the weights, the units of the data, and
 * how the rows are cut. From common starts, to rounding. */
#include "data/points.h"
#include "em/estep.h"
#include "grid.h"
#include "model/units.h"
#include "run.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { ROWS = 150, CLUSTERS = 5, STEPS = 6 };

/* One point of this file's smaller grid: family x prior x held x dimension. */
typedef struct point {
    grid_case c;
    grid_data data;
    vem_model *start;
    vem_options options;
} point;

enum { POINTS = VEM_FAMILIES * 2 * 3 * 2 };

static point point_at(int index, grid_weights weights)
{
    const int32_t held[] = {1, 2, CLUSTERS};
    point p;
    p.c = (grid_case){.family = (vem_family_kind)(index % VEM_FAMILIES),
                      .prior = (vem_prior_kind)(index / VEM_FAMILIES % 2),
                      .held = held[index / (2 * VEM_FAMILIES) % 3],
                      .clusters = CLUSTERS,
                      .precision = VEM_DOUBLE,
                      .weights = weights,
                      .d = index / (6 * VEM_FAMILIES) ? 18 : 2,
                      .set = SET_OVERLAPPING};
    if (!grid_has_rows(p.c.family, p.c.d))
        p.c.d = 8;
    p.data = grid_data_new(p.c.set, weights, ROWS, p.c.d, 31);
    grid_suit(p.c.family, &p.data);
    p.start = grid_start(ctx, &p.data, p.c.family, CLUSTERS);
    p.options =
        grid_options(CLUSTERS, p.c.family, p.c.prior, p.c.held, VEM_DOUBLE, STEPS);
    return p;
}

/* Counts have none, and are not centered. */
static int has_units(int index)
{
    return vem_family_axes((vem_family_kind)(index % VEM_FAMILIES)) >= 0;
}

static void point_free(point *p)
{
    vem_model_free(p->start);
    grid_data_free(&p->data);
}

/* The same model and F after the same steps, and F apart by `shift`. */
static void assert_same(const point *p, const grid_fit *a, const grid_fit *b)
{
    const char *name = grid_name(&p->c);
    double f = b->summary->free_energy;
    assert_int_equal(a->summary->steps, b->summary->steps);
    grid_assert_near(a->summary->free_energy, f, 1e-9 * fmax(1, fabs(f)), name);
    grid_assert_models(a->model, b->model, 1e-8, name);
}

static void weight_two_is_the_row_twice(void **state)
{
    (void)state;
    for (int kind = WEIGHTS_INTEGER; kind <= WEIGHTS_ZEROS; kind++)
        for (int i = 0; i < POINTS; i++) {
            point p = point_at(i, (grid_weights)kind);
            int32_t d = p.data.d;
            grid_data copies = {.d = d, .x = grid_zeros(3 * ROWS * d, sizeof(double))};
            for (int64_t r = 0; r < ROWS; r++)
                for (int times = 0; times < (int)p.data.weights[r]; times++)
                    memcpy(copies.x + copies.n++ * d, p.data.x + r * d,
                           (size_t)d * sizeof(double));
            grid_fit weighted = grid_run(ctx, &p.data, &p.options, p.start);
            grid_fit copied = grid_run(ctx, &copies, &p.options, p.start);
            assert_same(&p, &weighted, &copied);
            for (int64_t r = 0, at = 0; r < ROWS; at += (int)p.data.weights[r++])
                if (p.data.weights[r] > 0)
                    assert_int_equal(weighted.labels[r], copied.labels[at]);
            grid_fit_free(&weighted);
            grid_fit_free(&copied);
            grid_data_free(&copies);
            point_free(&p);
        }
}

/* A row of weight 0 may be anywhere, even far away. */
static void weight_zero_is_no_row(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        point p = point_at(i, WEIGHTS_REAL);
        int32_t d = p.data.d;
        grid_data more = {.n = ROWS + 40, .d = d};
        more.x = grid_zeros(more.n * d, sizeof(double));
        more.weights = grid_zeros(more.n, sizeof(double));
        memcpy(more.x, p.data.x, (size_t)(ROWS * d) * sizeof(double));
        memcpy(more.weights, p.data.weights, ROWS * sizeof(double));
        for (int64_t v = (int64_t)ROWS * d; v < more.n * d; v++)
            more.x[v] = 1e4 * cos((double)v);
        grid_data absent = {.n = 40, .d = d, .x = more.x + (int64_t)ROWS * d};
        grid_suit(p.c.family, &absent);
        grid_fit without = grid_run(ctx, &p.data, &p.options, p.start);
        grid_fit with = grid_run(ctx, &more, &p.options, p.start);
        assert_same(&p, &with, &without);
        assert_memory_equal(with.labels, without.labels, ROWS * sizeof(int32_t));
        grid_assert_near(with.summary->rows_used, ROWS, 0, "rows_used");
        grid_fit_free(&without);
        grid_fit_free(&with);
        grid_data_free(&more);
        point_free(&p);
    }
}

static void scale_of_weights(void **state)
{
    (void)state;
    const double factors[] = {1e-6, 3.7, 1e9};
    for (int i = 0; i < POINTS; i++) {
        point p = point_at(i, WEIGHTS_REAL);
        grid_fit plain = grid_run(ctx, &p.data, &p.options, p.start);
        for (int k = 0; k < 3; k++) {
            for (int64_t r = 0; r < ROWS; r++)
                p.data.weights[r] *= factors[k];
            grid_fit scaled = grid_run(ctx, &p.data, &p.options, p.start);
            assert_same(&p, &scaled, &plain);
            grid_fit_free(&scaled);
            for (int64_t r = 0; r < ROWS; r++)
                p.data.weights[r] /= factors[k];
        }
        grid_fit_free(&plain);
        point_free(&p);
    }
}

static void order_of_rows(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        point p = point_at(i, WEIGHTS_ZEROS);
        int32_t d = p.data.d;
        grid_data turned = {.n = ROWS, .d = d};
        turned.x = grid_zeros(ROWS * d, sizeof(double));
        turned.weights = grid_zeros(ROWS, sizeof(double));
        for (int64_t r = 0; r < ROWS; r++) {
            int64_t to = r * 77 % ROWS; /* 77 and 150 share no factor */
            memcpy(turned.x + to * d, p.data.x + r * d, (size_t)d * sizeof(double));
            turned.weights[to] = p.data.weights[r];
        }
        grid_fit plain = grid_run(ctx, &p.data, &p.options, p.start);
        grid_fit other = grid_run(ctx, &turned, &p.options, p.start);
        assert_same(&p, &other, &plain);
        for (int64_t r = 0; r < ROWS; r++)
            assert_int_equal(plain.labels[r], other.labels[r * 77 % ROWS]);
        grid_fit_free(&plain);
        grid_fit_free(&other);
        grid_data_free(&turned);
        point_free(&p);
    }
}

/* Cluster c of the result is cluster C-1-c of `model`. */
static vem_model *reversed(const vem_model *model)
{
    int32_t c = vem_model_clusters(model), d = vem_model_columns(model);
    const size_t count = vem_model_variance_count(model);
    const size_t shape =
        vem_family_shared(vem_model_family(model)) ? 0 : count / (size_t)c;
    double *means = grid_zeros(c * d, sizeof *means),
           *weights = grid_zeros(c, sizeof *weights);
    double *variances = grid_zeros((int64_t)count, sizeof *means);
    memcpy(variances, vem_model_variances(model), count * sizeof *means);
    for (int32_t k = 0; k < c; k++) {
        int32_t from = c - 1 - k;
        memcpy(means + k * d, vem_model_means(model) + from * d,
               (size_t)d * sizeof *means);
        weights[k] = vem_model_weights(model)[from];
        memcpy(variances + (size_t)k * shape,
               vem_model_variances(model) + (size_t)from * shape, shape * sizeof *means);
    }
    vem_model *made = NULL;
    assert_int_equal(vem_model_new(ctx, vem_model_family(model), c, d, means, weights,
                                   variances, &made),
                     VEM_OK);
    free(means);
    free(weights);
    free(variances);
    return made;
}

static void order_of_clusters(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        point p = point_at(i, WEIGHTS_REAL);
        /* Rows of counts may be equally far from two clusters, and go to the first of them. */
        if (!has_units(i) && p.c.held < CLUSTERS) {
            point_free(&p);
            continue;
        }
        vem_model *turned = reversed(p.start);
        grid_fit plain = grid_run(ctx, &p.data, &p.options, p.start);
        grid_fit other = grid_run(ctx, &p.data, &p.options, turned);
        vem_model *back = reversed(other.model);
        vem_model_free(other.model);
        other.model = back;
        assert_same(&p, &other, &plain);
        for (int64_t r = 0; has_units(i) && r < ROWS; r++)
            assert_int_equal(plain.labels[r], CLUSTERS - 1 - other.labels[r]);
        grid_fit_free(&plain);
        grid_fit_free(&other);
        vem_model_free(turned);
        point_free(&p);
    }
}

/* x -> a x + b: means follow, variances by a^2, F by -D log a. */
static void units_of_the_data(void **state)
{
    (void)state;
    const double a[] = {1, 1e-5, 300}, b[] = {1e4, 0, -7};
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < 3 && has_units(i); k++) {
            point p = point_at(i, WEIGHTS_REAL);
            grid_fit plain = grid_run(ctx, &p.data, &p.options, p.start);
            for (int64_t v = 0; v < ROWS * p.data.d; v++)
                p.data.x[v] = a[k] * p.data.x[v] + b[k];
            vem_model *start = grid_start(ctx, &p.data, p.c.family, CLUSTERS), *back;
            grid_fit moved = grid_run(ctx, &p.data, &p.options, start);
            int64_t means = CLUSTERS * p.data.d;
            int64_t shapes = (int64_t)vem_model_variance_count(plain.model);
            double *mean = grid_zeros(means, sizeof *mean);
            double *variance = grid_zeros(shapes, sizeof *mean);
            for (int64_t v = 0; v < means; v++)
                mean[v] = (vem_model_means(moved.model)[v] - b[k]) / a[k];
            for (int64_t v = 0; v < shapes; v++)
                variance[v] = vem_model_variances(moved.model)[v] / (a[k] * a[k]);
            assert_int_equal(vem_model_new(ctx, p.c.family, CLUSTERS, p.data.d, mean,
                                           vem_model_weights(moved.model), variance,
                                           &back),
                             VEM_OK);
            grid_assert_models(back, plain.model, 1e-7, grid_name(&p.c));
            grid_assert_near(moved.summary->free_energy + p.data.d * log(a[k]),
                             plain.summary->free_energy,
                             1e-8 * fmax(1, fabs(plain.summary->free_energy)),
                             grid_name(&p.c));
            assert_memory_equal(plain.labels, moved.labels, ROWS * sizeof(int32_t));
            free(mean);
            free(variance);
            vem_model_free(back);
            vem_model_free(start);
            grid_fit_free(&plain);
            grid_fit_free(&moved);
            point_free(&p);
        }
}

/* ---- Statistics add up ---- */

/* Statistics and F of `count` rows from `first` on, about a given origin. */
static double part(const point *p, int64_t first, int64_t count, const double *origin,
                   vem_i_stats *stats)
{
    vem_data *rows = NULL;
    vem_i_points *points = NULL;
    vem_model *inside = NULL;
    vem_i_scorer scorer;
    vem_i_posterior posterior;
    vem_i_estep *estep = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, p->data.x, ROWS, p->data.d, 0, 0,
                                     &rows),
                     VEM_OK);
    assert_int_equal(vem_data_set_weights(ctx, rows, p->data.weights, ROWS), VEM_OK);
    vem_i_points_request request = {.first = first,
                                    .count = count,
                                    .precision = VEM_DOUBLE,
                                    .origin = origin,
                                    .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
    const vem_view *view = &points->view;
    vem_i_search_spec search = p->c.held == CLUSTERS
                                   ? vem_i_search_all(CLUSTERS)
                                   : vem_i_search_closest(CLUSTERS, p->c.held, 0);
    assert_int_equal(vem_i_model_to_view(run_of(ctx), p->start, view,
                                         vem_i_family_of(p->c.family), &inside),
                     VEM_OK);
    assert_int_equal(vem_i_scorer_new(run_of(ctx), view->kernels,
                                      vem_i_shape_of(vem_i_family_of(p->c.family),
                                                     CLUSTERS, p->data.d),
                                      &scorer),
                     VEM_OK);
    assert_int_equal(vem_i_posterior_new(run_of(ctx), view, &search, &posterior), VEM_OK);
    assert_int_equal(vem_i_estep_new(run_of(ctx), view, &scorer, &search, 1, &estep),
                     VEM_OK);
    vem_i_scorer_prepare(run_of(ctx), inside, &scorer);
    vem_progress told = {.phase = "em"};
    vem_i_estep_result result = vem_i_estep_run(estep, &posterior, stats, &told, 0);
    double unit =
        view->mass_unit; /* each part has its own: back to that of the weights */
    for (int64_t v = 0; v < CLUSTERS * stats->stride; v++)
        stats->block[v] *= unit;
    vem_i_estep_free(estep);
    vem_i_posterior_free(&posterior);
    vem_i_scorer_free(&scorer);
    vem_model_free(inside);
    vem_i_points_free(points);
    vem_data_free(rows);
    return result.log_sum * unit;
}

static void halves_add_up(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++)
        for (int64_t cut = 1; cut < ROWS; cut += 58) {
            point p = point_at(i, WEIGHTS_ZEROS);
            double *origin = grid_zeros(p.data.d, sizeof *origin);
            vem_i_stats whole, one, two;
            assert_int_equal(vem_i_stats_new(run_of(ctx),
                                             vem_i_shape_of(vem_i_family_of(p.c.family),
                                                            CLUSTERS, p.data.d),
                                             &whole),
                             VEM_OK);
            assert_int_equal(vem_i_stats_new(run_of(ctx),
                                             vem_i_shape_of(vem_i_family_of(p.c.family),
                                                            CLUSTERS, p.data.d),
                                             &one),
                             VEM_OK);
            assert_int_equal(vem_i_stats_new(run_of(ctx),
                                             vem_i_shape_of(vem_i_family_of(p.c.family),
                                                            CLUSTERS, p.data.d),
                                             &two),
                             VEM_OK);
            double f = part(&p, 0, 0, origin, &whole);
            double f_one = part(&p, 0, cut, origin, &one);
            double f_two = part(&p, cut, ROWS - cut, origin, &two);
            grid_assert_near(f_one + f_two, f, 1e-11 * fabs(f), grid_name(&p.c));
            vem_i_stats_add(&one, &two);
            if (!grid_close(one.block, whole.block, (size_t)(CLUSTERS * whole.stride),
                            1e-12))
                fail_msg("the statistics of two parts are not those of the whole: %s",
                         grid_name(&p.c));
            vem_i_stats_free(&whole);
            vem_i_stats_free(&one);
            vem_i_stats_free(&two);
            free(origin);
            point_free(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weight_two_is_the_row_twice),
        cmocka_unit_test(weight_zero_is_no_row),
        cmocka_unit_test(scale_of_weights),
        cmocka_unit_test(order_of_rows),
        cmocka_unit_test(order_of_clusters),
        cmocka_unit_test(units_of_the_data),
        cmocka_unit_test(halves_add_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
