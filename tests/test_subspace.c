/* Fits along leading principal axes (coarse/leading.h): they know which axes serve, F never falls,
 * in the loop along them or where all columns come back, and the bits are the same for any
 * number of threads, with the rows in a file, and after an interruption. Where axes do not
 * serve, or rows have few columns, everything is as it was. */
#include "checkpoints.h"
#include "coarse/leading.h"
#include "engine.h"
#include "fit/programme.h"
#include "fit/report.h"
#include "run.h"
#include "subspace_rows.h"

enum { ROWS = 16384, COLUMNS = 256, CLUSTERS = 128, RANK = 12 };

static int32_t axes_of(const grid_fit *fit)
{
    return fit->report->axes;
}

static void assert_rises(const grid_fit *fit, const char *what)
{
    for (int64_t t = 0; t + 1 < fit->trace_count; t++) {
        const double now = fit->trace[t].free_energy,
                     next = fit->trace[t + 1].free_energy;
        if (!(next >= now - 1e-6 * fmax(1, fabs(now))))
            fail_msg("%s: F falls from %.17g to %.17g after step %d", what, now, next,
                     (int)t + 1);
    }
}

/* ---- the axes ---- */

typedef struct seen {
    engine e;
    grid_data data;
    vem_model *start;
    vem_i_leading leading;
} seen;

/* The rows as a fit sees them, along their axes. */
static void look(seen *s, grid_data data)
{
    vem_options o =
        grid_options(CLUSTERS, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 3);
    *s = (seen){.data = data, .start = grid_start(ctx, &data, VEM_ISO_SHARED, CLUSTERS)};
    engine_new(&s->e, ctx, &s->data, &o, s->start);
    assert_int_equal(vem_i_leading_new(run_of(ctx), s->e.em.view,
                                       vem_i_leading_most(data.n, data.d, CLUSTERS),
                                       CLUSTERS, &s->leading),
                     VEM_OK);
}

static void look_no_more(seen *s)
{
    vem_i_leading_free(&s->leading);
    engine_free(&s->e);
    vem_model_free(s->start);
    grid_data_free(&s->data);
}

static double square(const vem_view *view, int64_t i)
{
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++)
        sum += pow(vem_i_value(view->kernels, vem_i_view_row(view, i), j), 2);
    return sum;
}

/* Axes are of unit length and at right angles, and what they leave out of the rows is what the view
 * says, or hardly more. */
static void axes_are_what_they_say(void **state)
{
    (void)state;
    for (int weighted = 0; weighted < 2; weighted++) {
        seen s;
        look(&s, rows_of_rank(weighted ? WEIGHTS_REAL : WEIGHTS_NONE, ROWS, COLUMNS, RANK,
                              0.3));
        const vem_view *view = s.e.em.view, *along = &s.leading.points->view;
        const int64_t m = s.leading.axes, d = view->d;
        assert_int_equal(m, 32);
        assert_int_equal(along->d, m);
        assert_int_equal(along->beyond.columns, d - m);
        for (int64_t a = 0; a < m; a++)
            for (int64_t b = 0; b <= a; b++) {
                double dot = 0;
                for (int64_t j = 0; j < d; j++)
                    dot += vem_i_value(view->kernels, s.leading.basis, a * d + j) *
                           vem_i_value(view->kernels, s.leading.basis, b * d + j);
                assert_true(fabs(dot - (a == b)) < 1e-5);
            }
        double rest = 0, whole = 0;
        for (int64_t i = 0; i < view->n; i++) {
            const double w = vem_i_view_mass(view, i), all = square(view, i),
                         part = square(along, i);
            assert_true(part <= all * 1.0001);
            assert_true(w == vem_i_view_mass(along, i));
            rest += w * (all - part);
            whole += w * all;
        }
        assert_true(rest <= along->beyond.square * view->total_mass);
        assert_true(rest + 1e-5 * whole >= along->beyond.square * view->total_mass);
        look_no_more(&s);
    }
}

/* Nearest of the means of a fit, in the columns of a view; and how far it is in all of them. */
static double distance(const vem_view *view, int64_t i, const double *mean)
{
    double sum = 0;
    for (int64_t j = 0; j < view->d; j++)
        sum += pow(vem_i_value(view->kernels, vem_i_view_row(view, i), j) - mean[j], 2);
    return sum;
}

static int32_t nearest(const vem_view *view, int64_t i, const double *means)
{
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t c = 0; c < CLUSTERS; c++) {
        const double far = distance(view, i, means + (int64_t)c * view->d);
        if (far < least) {
            least = far;
            best = c;
        }
    }
    return best;
}

/* A row that goes to the nearest mean along the axes loses less than the rule allows; nothing where the
 * axes are all there is. */
static void rows_lose_less_than_the_rule_allows(void **state)
{
    (void)state;
    enum { EVERY = 16 };
    for (int exact = 0; exact < 2; exact++) {
        seen s;
        look(&s, rows_of_rank(WEIGHTS_NONE, ROWS, COLUMNS, RANK, exact ? 0 : 0.3));
        const vem_view *view = s.e.em.view, *along = &s.leading.points->view;
        double *means = grid_zeros(CLUSTERS, COLUMNS * sizeof(double));
        double *narrow = grid_zeros(CLUSTERS, COLUMNS * sizeof(double));
        double *counts = grid_zeros(CLUSTERS, sizeof(double)), lost = 0, all = 0;
        for (int64_t i = 0; i < ROWS; i++) { /* of a made partition */
            const int64_t c = i * 7 % 150 % CLUSTERS;
            counts[c]++;
            for (int64_t j = 0; j < COLUMNS; j++)
                means[c * COLUMNS + j] +=
                    vem_i_value(view->kernels, vem_i_view_row(view, i), j);
        }
        for (int64_t c = 0; c < CLUSTERS; c++) {
            for (int64_t j = 0; j < COLUMNS; j++)
                means[c * COLUMNS + j] /= counts[c];
            for (int64_t k = 0; k < along->d; k++)
                for (int64_t j = 0; j < COLUMNS; j++)
                    narrow[c * along->d + k] +=
                        means[c * COLUMNS + j] *
                        vem_i_value(view->kernels, s.leading.basis, k * COLUMNS + j);
        }
        for (int64_t i = 0; i < ROWS; i += EVERY) {
            const int64_t found = nearest(along, i, narrow),
                          best = nearest(view, i, means);
            all += distance(view, i, means + best * COLUMNS);
            lost += distance(view, i, means + found * COLUMNS) -
                    distance(view, i, means + best * COLUMNS);
        }
        if (!(lost >= 0 && lost <= (exact ? 1e-6 : 1.2e-3) * all))
            fail_msg("%g of %g is lost", lost, all);
        free(means);
        free(narrow);
        free(counts);
        look_no_more(&s);
    }
}

/* ---- where they serve ---- */

static void only_where_they_serve(void **state)
{
    (void)state;
    assert_int_equal(vem_i_leading_most(1 << 20, 255, 4096), 0);
    assert_int_equal(vem_i_leading_most(1 << 20, 128, 4096), 0);
    assert_int_equal(vem_i_leading_most(1 << 20, 256, 4096), 64);
    assert_int_equal(vem_i_leading_most(1 << 20, 1536, 4096), 192);
    assert_int_equal(vem_i_leading_most(16383, 512, 4096), 0);
    assert_int_equal(vem_i_leading_most(16384, 512, 127), 0);
    static const struct {
        int32_t d, rank;
        double noise;
        int serves;
    } sets[] = {{COLUMNS, RANK, 0.3, 1},
                {COLUMNS - 1, RANK, 0.3, 0}, /* few columns */
                {COLUMNS, RANK, 20, 0}};     /* alike in all directions */
    for (int k = 0; k < 3; k++) {
        grid_data data =
            rows_of_rank(WEIGHTS_NONE, ROWS, sets[k].d, sets[k].rank, sets[k].noise);
        vem_options o = subspace_options(CLUSTERS);
        o.max_steps = 6;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(axes_of(&fit) > 0, sets[k].serves);
        assert_int_equal(strstr(vem_report_choices(fit.report), "principal axes") != NULL,
                         sets[k].serves);
        assert_rises(&fit, "few columns");
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
}

/* A row that lies far away where the sample did not look keeps the cluster of its own that it would
 * have: then there are no axes. */
static void far_rows_are_seen(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        grid_data data = rows_of_rank(WEIGHTS_NONE, ROWS, COLUMNS, RANK, 0.3);
        const int64_t far = 4321;
        data.x[far * COLUMNS + 17] = k ? 1e12 : 1e4;
        vem_options o = subspace_options(CLUSTERS);
        o.max_steps = 12;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        assert_int_equal(axes_of(&fit), 0);
        for (int64_t i = 0; i < ROWS; i++)
            assert_true(i == far || fit.labels[i] != fit.labels[far]);
        assert_rises(&fit, "far rows");
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
}

/* ---- the law ---- */

static void spoil(grid_data *data, int how)
{
    for (int64_t i = 0; i < data->n; i++) {
        double *row = data->x + i * data->d;
        if (how == 1) /* constant columns */
            for (int64_t j = 0; j < data->d; j += 3)
                row[j] = 5;
        if (how == 2 && i >= data->n / 16) /* duplicates */
            memcpy(row, data->x + i % (data->n / 16) * data->d,
                   (size_t)data->d * sizeof *row);
        if (how == 3) /* far from the origin */
            for (int64_t j = 0; j < data->d; j++)
                row[j] += 1e5;
    }
}

static void free_energy_never_falls(void **state)
{
    (void)state;
    static const grid_weights weights[] = {WEIGHTS_NONE, WEIGHTS_REAL, WEIGHTS_ZEROS};
    for (int i = 0; i < 7; i++) {
        char what[32];
        snprintf(what, sizeof what, "case %d", i);
        grid_data data =
            rows_of_rank(weights[i % 3], ROWS, COLUMNS, RANK, i == 4 ? 0 : 0.3);
        spoil(&data, i < 4 ? i : 0);
        vem_options o = subspace_options(i == 5 ? 1000 : CLUSTERS);
        o.seed = 1 + i;
        if (i == 5) {
            o.prior = VEM_PRIOR_FREE;
            o.held = 1;
            o.precision = VEM_DOUBLE;
        }
        if (i == 6)
            o.max_steps = 5;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        if (i == 6) /* the limit ends the loop along axes behind its swaps */
            assert_string_equal(fit.trace[3].move, "swap");
        if (axes_of(&fit) == 0)
            fail_msg("%s: no axes", what);
        assert_rises(&fit, what);
        /* The last steps are those of the means of all columns. */
        vem_scores scores =
            grid_score(ctx, fit.model, &data, 1, (vem_precision)o.precision);
        assert_true(isfinite(scores.quantization_error));
        grid_fit_free(&fit);
        grid_data_free(&data);
    }
}

static double error_of(grid_fit *fit, const grid_data *data)
{
    const double error =
        grid_score(ctx, fit->model, data, 1, VEM_SINGLE).quantization_error;
    grid_fit_free(fit);
    return error;
}

/* As good as a fit that never left any column out, where the limit of steps ends the loop along axes,
 * too. */
static void error_is_that_of_all_columns(void **state)
{
    (void)state;
    static const int64_t limits[] = {40, 3, 5};
    double led[3] = {0}, plain[3] = {0};
    for (int seed = 1; seed <= 2; seed++) {
        grid_data data = rows_of_rank(WEIGHTS_NONE, ROWS, COLUMNS, RANK, 0.3);
        for (int k = 0; k < 3; k++) {
            vem_options o = subspace_options(CLUSTERS);
            o.seed = seed;
            o.max_steps = limits[k];
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            assert_true(axes_of(&fit) > 0);
            led[k] += error_of(&fit, &data);
            /* The same by a preset, which makes no loop along axes. */
            o.algorithm = VEM_ALGORITHM_KMEANS;
            o.search = VEM_SEARCH_GROUPS;
            o.swaps = 8;
            o.seeding = VEM_SEED_TWO_LEVEL;
            o.tolerance = 1e-6;
            fit = grid_run(ctx, &data, &o, NULL);
            assert_int_equal(axes_of(&fit), 0);
            plain[k] += error_of(&fit, &data);
        }
        grid_data_free(&data);
    }
    for (int k = 0; k < 3; k++)
        if (!(led[k] <= 1.005 * plain[k]))
            fail_msg("%d steps: %.9g, in all columns %.9g", (int)limits[k], led[k],
                     plain[k]);
}

/* ---- bits ---- */

static void same_bits_for_any_threads_and_in_a_file(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7, 2};
    for (int weighted = 0; weighted < 2; weighted++) {
        grid_data data = rows_of_rank(weighted ? WEIGHTS_REAL : WEIGHTS_NONE, ROWS,
                                      COLUMNS, RANK, 0.3);
        vem_options o = subspace_options(CLUSTERS);
        grid_fit first = {0};
        for (int k = 0; k < 5; k++) {
            o.threads = threads[k];
            ctx->spills_all = k == 4;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            ctx->spills_all = 0;
            assert_true(axes_of(&fit) > 0);
            if (k == 0) {
                first = fit;
                continue;
            }
            assert_same_bits(&first, &fit, k == 4 ? "in a file" : "threads");
            grid_fit_free(&fit);
        }
        grid_fit_free(&first);
        grid_data_free(&data);
    }
}

static void check_interrupted(const grid_data *data, const vem_options *o,
                              const grid_fit *whole, int64_t k, const char *path)
{
    char what[64];
    for (int stops = 0; stops < 2; stops++) {
        snprintf(what, sizeof what, "%s step %lld", stops ? "stopped in" : "from before",
                 (long long)k);
        if (stops) {
            watcher stop = {.stop_at = k};
            keep_at(path, 1e9, 0);
            vem_ctx_set_progress(ctx, watch, &stop);
            grid_fit stopped = grid_run(ctx, data, o, NULL);
            vem_ctx_set_progress(ctx, NULL, NULL);
            assert_int_equal(stopped.summary->outcome, VEM_OUTCOME_STOPPED);
            assert_true(stopped.labels[0] >= 0);
            grid_fit_free(&stopped);
        }
        keep_at(stops ? path : path_of("copy", k).text, 1e9, 1);
        grid_fit resumed = grid_run(ctx, data, o, NULL);
        keep_at(NULL, 0, 0);
        assert_true(resumed.summary->resumed_step > 0);
        assert_int_equal(axes_of(&resumed), axes_of(whole));
        assert_same_bits(whole, &resumed, what);
        grid_fit_free(&resumed);
    }
}

static void same_bits_after_an_interruption(void **state)
{
    (void)state;
    for (int restarts = 1; restarts <= 2; restarts++) {
        grid_data data = rows_of_rank(WEIGHTS_REAL, ROWS, COLUMNS, RANK, 0.3);
        vem_options o = subspace_options(CLUSTERS);
        o.restarts = restarts;
        o.max_steps = 9;
        grid_fit whole = grid_run(ctx, &data, &o, NULL);
        const path_name file = path_of("state", 0);
        watcher w = {.path = file.text};
        keep_at(file.text, 0, 0);
        vem_ctx_set_progress(ctx, watch, &w);
        grid_fit kept = grid_run(ctx, &data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_same_bits(&whole, &kept, "kept");
        grid_fit_free(&kept);
        const int64_t stride = 3 * restarts * grid_stride();
        for (int64_t k = restarts == 1 ? 1 : w.steps / 2; k <= w.steps; k += stride)
            check_interrupted(&data, &o, &whole, k, file.text);
        grid_fit_free(&whole);
        grid_data_free(&data);
    }
}

/* A fit with this limit and then, from its state, with more steps: the same as with these at once. Where
 * did it go on: in the last steps (1), along axes (0), or at the beginning (-1)? */
static int goes_on(const grid_data *data, vem_options o, int64_t limit,
                   const grid_fit *whole)
{
    const path_name file = path_of("limited", 0);
    char what[32];
    snprintf(what, sizeof what, "after %d steps", (int)limit);
    remove(file.text);
    const int64_t all = o.max_steps;
    o.max_steps = limit;
    o.threads = 1 + limit % 2;
    keep_at(file.text, 1e9, 0);
    grid_fit few = grid_run(ctx, data, &o, NULL);
    assert_int_equal(few.summary->steps, limit);
    /* Once more with the same limit. */
    keep_at(file.text, 1e9, 1);
    grid_fit more = grid_run(ctx, data, &o, NULL);
    assert_same_bits(&few, &more, what);
    grid_fit_free(&more);
    grid_fit_free(&few);
    o.max_steps = all;
    o.threads = 2 - limit % 2;
    more = grid_run(ctx, data, &o, NULL);
    keep_at(NULL, 0, 0);
    assert_same_bits(whole, &more, what);
    const int64_t step = more.summary->resumed_step;
    grid_fit_free(&more);
    return step == 0 ? -1 : step == limit;
}

/* A limit that cuts the loop along axes short, at its end, in the last steps: more steps give what they
 * would have given at once. */
static void more_steps_are_the_same_fit(void **state)
{
    (void)state;
    grid_data data = rows_of_rank(WEIGHTS_NONE, ROWS, COLUMNS, RANK, 0.3);
    vem_options o = subspace_options(CLUSTERS);
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(whole.summary->outcome, VEM_OUTCOME_CONVERGED);
    int64_t along = VEM_I_LEADING_STEPS, last = whole.summary->steps - 1;
    assert_int_equal(goes_on(&data, o, 1, &whole), -1);
    assert_int_equal(goes_on(&data, o, along, &whole), 0);
    assert_int_equal(goes_on(&data, o, 5, &whole), 0); /* swaps end the loop along axes */
    assert_int_equal(goes_on(&data, o, last, &whole), 1);
    while (last - along > 1) { /* where the last steps begin */
        const int64_t middle = (along + last) / 2;
        *(goes_on(&data, o, middle, &whole) ? &last : &along) = middle;
    }
    grid_fit_free(&whole);
    grid_data_free(&data);
}

/* In several fits the limit has shaped those before the one at work. */
static void more_steps_of_restarts_are_refused(void **state)
{
    (void)state;
    grid_data data = rows_of_rank(WEIGHTS_NONE, ROWS, COLUMNS, RANK, 0.3);
    vem_options o = subspace_options(CLUSTERS);
    const path_name file = path_of("restarts", 0);
    o.restarts = 2;
    o.max_steps = 4;
    keep_at(file.text, 1e9, 0);
    grid_fit whole = grid_run(ctx, &data, &o, NULL), more;
    keep_at(file.text, 1e9, 1);
    more = grid_run(ctx, &data, &o, NULL); /* the second is there */
    assert_same_bits(&whole, &more, "restarts");
    assert_true(more.summary->resumed_step > 0);
    grid_fit_free(&more);
    for (o.max_steps = 1; o.max_steps <= 9; o.max_steps += o.max_steps == 1 ? 2 : 6) {
        assert_int_equal(grid_try(ctx, &data, &o, NULL, &more), VEM_BAD_OPTION);
        assert_non_null(strstr(vem_ctx_message(ctx), "max-steps"));
    }
    keep_at(NULL, 0, 0);
    grid_fit_free(&whole);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_what_they_say),
        cmocka_unit_test(rows_lose_less_than_the_rule_allows),
        cmocka_unit_test(only_where_they_serve),
        cmocka_unit_test(far_rows_are_seen),
        cmocka_unit_test(free_energy_never_falls),
        cmocka_unit_test(error_is_that_of_all_columns),
        cmocka_unit_test(same_bits_for_any_threads_and_in_a_file),
        cmocka_unit_test(same_bits_after_an_interruption),
        cmocka_unit_test(more_steps_are_the_same_fit),
        cmocka_unit_test(more_steps_of_restarts_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
