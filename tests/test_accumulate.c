/* Statistics that add up: parts and a merge are one step of a fit, for every family, prior,
 * number held, precision and weight; files give back what was written; what does not belong
 * together is refused. */
#include "io_test.h"

#include "data/points.h"
#include "grid.h"
#include "model/family.h"
#include "model/part.h"

static vem_ctx *ctx;

static int set_up(void **state)
{
    const int failed = io_setup(state);
    ctx = io_ctx;
    return failed || vem_ctx_set_threads(ctx, 1) != VEM_OK; /* many small steps */
}

enum { CLUSTERS = GRID_CLUSTERS };

/* Statistics of rows first .. end - 1. */
static vem_stats *part_of(const grid_data *data, int64_t first, int64_t end,
                          const vem_model *model, const vem_options *o)
{
    vem_data *rows = grid_borrow_rows(ctx, data, first, end);
    vem_stats *stats = NULL;
    const vem_status status = vem_accumulate(ctx, model, rows, o, &stats);
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
    vem_data_free(rows);
    return stats;
}

static vem_stats *sum_of_parts(const grid_data *data, const vem_model *model,
                               const vem_options *o)
{
    const int64_t cuts[] = {0, 2, data->n / 3, data->n - 7, data->n};
    vem_stats *sum = part_of(data, cuts[0], cuts[1], model, o);
    for (int i = 1; i < 4; i++) {
        vem_stats *part = part_of(data, cuts[i], cuts[i + 1], model, o);
        assert_int_equal(vem_stats_add(ctx, sum, part), VEM_OK);
        vem_stats_free(part);
    }
    return sum;
}

static void assert_step(const grid_data *data, const vem_options *o,
                        const vem_model *start, double tolerance, const char *name)
{
    vem_options two = *o;
    two.max_steps = 2;
    grid_fit fit = grid_run(ctx, data, &two, start);
    vem_options part = *o;
    part.standardize = 0;
    vem_stats *sum = sum_of_parts(data, start, &part);
    vem_stats_summary s = {.size = sizeof s};
    vem_model *next = NULL;
    vem_stats_describe(sum, &s);
    assert_int_equal(s.rows, data->n);
    assert_int_equal(s.parts, 4);
    assert_true(s.rows_used == (int64_t)fit.summary->rows_used);
    grid_assert_near(s.free_energy, fit.summary->free_energy_first,
                     tolerance * fmax(1, fabs(s.free_energy)), name);
    assert_int_equal(s.empty, fit.trace[0].empty);
    assert_int_equal(vem_stats_next(ctx, sum, &next), VEM_OK);
    if (fit.summary->steps == 2)
        grid_assert_models(next, fit.model, tolerance, name);
    assert_int_equal(vem_model_normalizes(next), vem_model_normalizes(fit.model));
    vem_model_free(next);
    vem_stats_free(sum);
    grid_fit_free(&fit);
}

static void a_sum_of_parts_is_a_step(void **state)
{
    (void)state;
    for (int i = 0; i < grid_count(); i += 11 * grid_stride()) {
        grid_case c = grid_at(i);
        if (!grid_has_rows(c.family, c.d))
            continue;
        grid_data data = grid_data_new(c.set, c.weights, 90, c.d, 7);
        grid_data seen = grid_data_new(c.set, c.weights, 90, c.d, 7);
        grid_suit(c.family, &data);
        grid_suit(c.family, &seen);
        vem_options o =
            grid_options(c.clusters, c.family, c.prior, c.held, c.precision, 2);
        o.normalize =
            i / 11 % 3 == 0 && c.set != SET_OFFSET && c.d > 1 && grid_is_shaped(c.family);
        for (int64_t k = 0; o.normalize && k < seen.n; k++)
            vem_i_normalize_row(seen.x + k * seen.d, seen.d);
        vem_model *start = grid_start(ctx, &seen, c.family, c.clusters);
        /* In single precision costs carry the rounding of squares about an origin, which
         * is not the same for a fit as for a part; a soft choice feels it. */
        const double tolerance = c.precision == VEM_SINGLE ? 5e-4 : 1e-9;
        assert_step(&data, &o, start, tolerance, grid_name(&c));
        vem_model_free(start);
        grid_data_free(&seen);
        grid_data_free(&data);
    }
}

/* A model with a scale, as --standardize makes one, is stepped in its own units. */
static void a_scale_is_kept(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int held = 1; held <= CLUSTERS; held += 2) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 90, 3, 9);
            for (int64_t i = 0; i < data.n; i++)
                data.x[i * 3] *= 100;
            vem_options o = grid_options(CLUSTERS, (vem_family_kind)family,
                                         VEM_PRIOR_FREE, held, VEM_DOUBLE, 1);
            o.standardize = 1;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_non_null(vem_model_scale(fit.model));
            assert_step(&data, &o, fit.model, 1e-9, "a model with a scale");
            grid_fit_free(&fit);
            grid_data_free(&data);
        }
}

/* An iso model may be stepped as any family that has balls for some of its shapes; flat weights replace the model's. */
static void a_richer_family(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 90, 3, 10);
    vem_options o = grid_options(CLUSTERS, VEM_ISO, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 3);
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int prior = 0;
             vem_i_can_express(vem_i_family_of(family), vem_i_family_of(VEM_ISO)) &&
             prior < 2;
             prior++) {
            o.family = family;
            o.prior = prior;
            assert_step(&data, &o, fit.model, 1e-9, "a richer family");
        }
    vem_data *rows = NULL;
    vem_stats *none = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, data.n, data.d, 0, 0,
                                     &rows),
                     VEM_OK);
    o.family = VEM_ISO_SHARED;
    assert_int_equal(vem_accumulate(ctx, fit.model, rows, &o, &none), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "cannot express"));
    vem_data_free(rows);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* The second moments of a cluster about its mean, from the definition. */
static void moments_are_about_the_model(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OFFSET, WEIGHTS_REAL, 60, 2, 12);
    vem_model *start = grid_start(ctx, &data, VEM_FULL, 3);
    for (int precision = VEM_SINGLE; precision <= VEM_DOUBLE; precision++) {
        vem_options o =
            grid_options(3, VEM_FULL, VEM_PRIOR_FREE, 1, (vem_precision)precision, 2);
        vem_stats *stats = part_of(&data, 0, data.n, start, &o);
        const double *mean = vem_model_means(start);
        double expected[3][6] = {{0}}, error = 0;
        for (int64_t i = 0; i < data.n; i++) {
            double nearest = INFINITY, w = data.weights[i];
            int best = 0;
            for (int c = 0; c < 3; c++) {
                const double a = data.x[2 * i] - mean[2 * c],
                             b = data.x[2 * i + 1] - mean[2 * c + 1];
                if (a * a + b * b < nearest) {
                    nearest = a * a + b * b;
                    best = c;
                }
            }
            const double a = data.x[2 * i] - mean[2 * best],
                         b = data.x[2 * i + 1] - mean[2 * best + 1];
            const double terms[6] = {w, w * a, w * b, w * a * a, w * a * b, w * b * b};
            for (int k = 0; k < 6; k++)
                expected[best][k] += terms[k];
            error += w * nearest;
        }
        const double tolerance = precision == VEM_SINGLE ? 1e-4 : 1e-9;
        for (int c = 0; c < 3; c++)
            assert_true(
                grid_close(vem_i_stats_mass(&stats->sums, c), expected[c], 6, tolerance));
        grid_assert_near(stats->squared_error, error, tolerance * error, "error");
        vem_stats_free(stats);
    }
    vem_model_free(start);
    grid_data_free(&data);
}

/* More rows than one chunk takes. */
static void several_chunks(void **state)
{
    enum { N = (1 << 24) + 1000 };
    (void)state;
    uint8_t *x = malloc(N);
    vem_data *rows = NULL;
    vem_model *model = NULL;
    vem_stats *stats = NULL;
    vem_options o = grid_options(3, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 2);
    const double means[3] = {10, 100, 220.5}, variance = 50;
    double mass[3] = {0}, first[3] = {0};
    for (int64_t i = 0; i < N; i++) {
        x[i] = (uint8_t)(i * 7919 >> 8);
        const int c = x[i] < 55 ? 0 : x[i] > 160 ? 2 : 1;
        mass[c]++;
        first[c] += x[i] - means[c];
    }
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, 3, 1, means, NULL, &variance,
                                   &model),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_UINT8, x, N, 1, 0, 0, &rows), VEM_OK);
    assert_int_equal(vem_accumulate(ctx, model, rows, &o, &stats), VEM_OK);
    for (int c = 0; c < 3; c++) {
        /* 55 is as far from 10 as from 100, and rounding may send it either way. */
        assert_true(fabs(*vem_i_stats_mass(&stats->sums, c) - mass[c]) <= N / 256 + 1);
        assert_true(fabs(*vem_i_stats_first(&stats->sums, c) - first[c]) <=
                    46.0 * (N / 256 + 1));
    }
    assert_int_equal(stats->rows, N);
    assert_true(stats->mass == N);
    vem_stats_free(stats);
    vem_data_free(rows);
    vem_model_free(model);
    free(x);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 5000,
                                       grid_is_shaped(family) ? 3 : 8, 13);
        grid_suit((vem_family_kind)family, &data);
        vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, CLUSTERS);
        for (int held = 1; held <= CLUSTERS; held += 4) {
            uint64_t digests[2];
            vem_options o = grid_options(CLUSTERS, (vem_family_kind)family,
                                         VEM_PRIOR_FREE, held, VEM_SINGLE, 2);
            for (int t = 0; t < 2; t++) {
                o.threads = t ? 3 : 1;
                vem_stats *stats = part_of(&data, 0, data.n, start, &o);
                digests[t] = vem_i_part_digest(stats);
                vem_stats_free(stats);
            }
            assert_true(digests[0] == digests[1]);
        }
        vem_model_free(start);
        grid_data_free(&data);
    }
}

static void empty_clusters_stay(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 60, 2, 14);
    const double means[6] = {data.x[0], data.x[1], 1e3 / 3, 2e3 / 7, data.x[10], 0.1};
    const double variances[12] = {1, 0.2, 0.2, 1, 3.0 / 7, 0.1, 0.1, 0.3, 1, 0, 0, 1};
    vem_model *start = NULL, *next = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_FULL, 3, 2, means, NULL, variances, &start),
                     VEM_OK);
    vem_options o = grid_options(3, VEM_FULL, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 2);
    vem_stats *stats = part_of(&data, 0, data.n, start, &o);
    vem_stats_summary s = {.size = sizeof s};
    vem_stats_describe(stats, &s);
    assert_true(s.empty >= 1);
    assert_int_equal(vem_stats_next(ctx, stats, &next), VEM_OK);
    assert_memory_equal(vem_model_means(next) + 2, means + 2, 2 * sizeof(double));
    assert_memory_equal(vem_model_variances(next) + 4, variances + 4, 4 * sizeof(double));
    assert_true(vem_model_weights(next)[1] == 0);
    vem_model_free(next);
    vem_stats_free(stats);
    vem_model_free(start);
    grid_data_free(&data);
}

/* ---- files ---- */

static void files_give_back_every_bit(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 90, 3, 15);
        grid_suit((vem_family_kind)family, &data);
        vem_options o = grid_options(CLUSTERS, (vem_family_kind)family, VEM_PRIOR_FREE, 2,
                                     VEM_SINGLE, 4);
        o.standardize = family % 2 && grid_is_shaped(family);
        o.normalize = family == VEM_DIAG;
        o.floor = 1e-6 / 3;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        o.standardize = 0;
        vem_stats *stats = part_of(&data, 0, data.n, fit.model, &o), *back = NULL;
        char why[256];
        const char *path = io_path("part.npz");
        assert_int_equal(vem_stats_write(ctx, stats, path), VEM_OK);
        assert_string_equal(vem_file_kind(path), "statistics");
        if (vem_stats_read(ctx, path, &back) != VEM_OK)
            fail_msg("%s", vem_ctx_message(ctx));
        assert_int_equal(vem_i_part_unlike(stats, back, why, sizeof why), 0);
        assert_int_equal(vem_i_part_differ(stats, back, why, sizeof why), 1);
        assert_non_null(strstr(why, "same rows"));
        assert_int_equal(vem_stats_add(ctx, stats, back), VEM_BAD_OPTION);
        assert_true(vem_i_part_digest(stats) == vem_i_part_digest(back));
        assert_int_equal(stats->pairs, back->pairs);
        assert_int_equal(stats->rows_used, back->rows_used);
        vem_model *none = NULL;
        assert_int_equal(vem_model_read(ctx, path, &none), VEM_BAD_DATA);
        assert_non_null(strstr(vem_ctx_message(ctx), "statistics"));
        vem_data *rows = NULL;
        assert_int_equal(vem_data_read(ctx, path, NULL, &rows), VEM_BAD_DATA);
        assert_non_null(strstr(vem_ctx_message(ctx), "statistics"));
        vem_stats_free(back);
        vem_stats_free(stats);
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
}

static void the_order_of_files_does_not_matter(void **state)
{
    (void)state;
    enum { PARTS = 4 };
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 80, 3, 16);
    vem_model *start = grid_start(ctx, &data, VEM_DIAG, CLUSTERS);
    vem_options o =
        grid_options(CLUSTERS, VEM_DIAG, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 2);
    const char *paths[PARTS];
    for (int i = 0; i < PARTS; i++) {
        char name[32];
        snprintf(name, sizeof name, "part%d.npz", i);
        paths[i] = io_path(name);
        vem_stats *part = part_of(&data, i * 20, (i + 1) * 20, start, &o);
        assert_int_equal(vem_stats_write(ctx, part, paths[i]), VEM_OK);
        vem_stats_free(part);
    }
    uint64_t digest = 0;
    for (int turn = 0; turn < PARTS; turn++) {
        const char *list[PARTS];
        vem_stats *sum = NULL;
        for (int i = 0; i < PARTS; i++)
            list[i] =
                paths[turn % 2 ? (PARTS - 1 - i + turn) % PARTS : (i + turn) % PARTS];
        assert_int_equal(vem_stats_merge(ctx, list, PARTS, &sum), VEM_OK);
        assert_true(turn == 0 || vem_i_part_digest(sum) == digest);
        digest = vem_i_part_digest(sum);
        assert_int_equal(sum->rows, 80);
        vem_stats_free(sum);
    }
    const char *twice[3] = {paths[0], paths[1], paths[0]};
    vem_stats *none = NULL;
    assert_int_equal(vem_stats_merge(ctx, twice, 3, &none), VEM_BAD_OPTION);
    assert_non_null(strstr(vem_ctx_message(ctx), "twice"));
    assert_int_equal(vem_stats_merge(ctx, twice, 0, &none), VEM_BAD_OPTION);
    assert_null(none);
    vem_model_free(start);
    grid_data_free(&data);
}

/* ---- what does not belong together ---- */

static void differences_are_named(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 60, 2, 17);
    vem_model *start = grid_start(ctx, &data, VEM_ISO, CLUSTERS),
              *other = grid_start(ctx, &data, VEM_ISO, CLUSTERS - 1);
    vem_options o = grid_options(CLUSTERS, VEM_ISO, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 2);
    vem_stats *base = part_of(&data, 0, 30, start, &o);
    static const char *const words[] = {"--held 2",    "--floor",          "--prior",
                                        "--precision", "--normalize",      "--family",
                                        "clusters",    "different models", "--search"};
    for (int k = 0; k < 9; k++) {
        vem_options changed = o;
        const vem_model *model = k == 6 ? other : start;
        vem_model *moved = NULL;
        changed.held = k == 0 ? 3 : k == 8 ? CLUSTERS : 2;
        changed.floor = k == 1 ? 1e-5 : o.floor;
        changed.prior = k == 2 ? VEM_PRIOR_FLAT : VEM_PRIOR_FREE;
        changed.precision = k == 3 ? VEM_SINGLE : VEM_DOUBLE;
        changed.normalize = k == 4;
        changed.family = k == 5 ? VEM_DIAG : VEM_ISO;
        changed.clusters = VEM_AUTO;
        changed.search = k == 8 ? VEM_SEARCH_ALL : VEM_SEARCH_CLOSEST;
        if (k == 7) {
            assert_int_equal(vem_model_copy(ctx, start, &moved), VEM_OK);
            moved->means[3] = nextafter(moved->means[3], INFINITY);
            model = moved;
        }
        vem_stats *part = part_of(&data, 30, 60, model, &changed);
        const uint64_t before = vem_i_part_digest(base);
        assert_int_equal(vem_stats_add(ctx, base, part), VEM_BAD_OPTION);
        if (!strstr(vem_ctx_message(ctx), words[k]))
            fail_msg("%s: %s", words[k], vem_ctx_message(ctx));
        assert_true(vem_i_part_digest(base) == before);
        vem_stats_free(part);
        vem_model_free(moved);
    }
    vem_stats_free(base);
    vem_model_free(start);
    vem_model_free(other);
    grid_data_free(&data);
}

static void options_that_make_no_sense(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 60, 2, 18);
    vem_model *start = grid_start(ctx, &data, VEM_ISO_SHARED, CLUSTERS);
    vem_data *rows = NULL, *narrow = NULL;
    vem_stats *none = NULL;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, data.n, data.d, 0, 0,
                                     &rows),
                     VEM_OK);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data.x, data.n, 1, 0, 0, &narrow),
                     VEM_OK);
    static const char *const words[] = {"coreset", "standardize", "search",  "search",
                                        "search",  "margin",      "clusters"};
    for (int k = 0; k < 7; k++) {
        vem_options o;
        vem_options_init(&o);
        o.coreset = k == 0 ? 20 : VEM_AUTO;
        o.standardize = k == 1;
        if (k >= 2 && k <= 4)
            o.search = VEM_SEARCH_EXACT + k - 2;
        o.algorithm = k == 5 ? VEM_ALGORITHM_LAZY_KMEANS : VEM_AUTO;
        o.clusters = k == 6 ? CLUSTERS + 1 : VEM_AUTO;
        assert_int_equal(vem_accumulate(ctx, start, rows, &o, &none), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), words[k]));
    }
    vem_options o;
    vem_options_init(&o);
    assert_int_equal(vem_accumulate(ctx, start, narrow, &o, &none), VEM_BAD_DATA);
    assert_int_equal(vem_accumulate(ctx, NULL, rows, &o, &none), VEM_BAD_OPTION);
    double weights[60];
    for (int i = 0; i < 60; i++)
        weights[i] = 1e-290;
    assert_int_equal(vem_data_set_weights(ctx, rows, weights, 60), VEM_OK);
    assert_int_equal(vem_accumulate(ctx, start, rows, &o, &none), VEM_BAD_DATA);
    assert_non_null(strstr(vem_ctx_message(ctx), "weights"));
    assert_null(none);
    vem_data_free(rows);
    vem_data_free(narrow);
    vem_model_free(start);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_of_parts_is_a_step),
        cmocka_unit_test(a_scale_is_kept),
        cmocka_unit_test(a_richer_family),
        cmocka_unit_test(moments_are_about_the_model),
        cmocka_unit_test(several_chunks),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(empty_clusters_stay),
        cmocka_unit_test(files_give_back_every_bit),
        cmocka_unit_test(the_order_of_files_does_not_matter),
        cmocka_unit_test(differences_are_named),
        cmocka_unit_test(options_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, set_up, io_teardown);
}
