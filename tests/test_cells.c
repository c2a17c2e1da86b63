/* The laws of cells: a cut of the tree instead of the rows.
 *
 *     F never falls, neither in a step nor when cells are divided; F is at most the likelihood of
 *     all rows; a coarser cut has no larger F; cells of single rows are the rows; a weight of 2
 *     is the row twice; threads change no bit; a fit that was left goes on to the same bits. */
#include "checkpoints.h"
#include "data/cells.h"
#include "engine.h"
#include "run.h"

enum { ROWS = 300, CELLS = 64, CLUSTERS = 5, STEPS = 60 };

static double slack(vem_precision precision, double f, int32_t d)
{
    return (precision == VEM_SINGLE ? 1e-6 : 1e-9) * fmax(fabs(f), d);
}

/* ---- every family and search ---- */

typedef struct way {
    int search;
    int64_t held;
} way;
static const way ways[] = {{VEM_SEARCH_ALL, CLUSTERS}, {VEM_SEARCH_CLOSEST, 1},
                           {VEM_SEARCH_CLOSEST, 2},    {VEM_SEARCH_EXACT, 2},
                           {VEM_SEARCH_ESTIMATED, 2},  {VEM_SEARCH_GROUPS, 1},
                           {VEM_SEARCH_GROUPS, 2}};
enum { WAYS = sizeof ways / sizeof *ways };

static vem_options options_of(vem_family_kind family, const way *w,
                              vem_precision precision)
{
    vem_options o =
        grid_options(CLUSTERS, family,
                     vem_family_shared(family) ? VEM_PRIOR_FLAT : VEM_PRIOR_FREE, w->held,
                     precision, STEPS);
    o.search = w->search;
    o.tolerance = 1e-5;
    o.cells = CELLS;
    o.depth = 4;
    return o;
}

static const vem_family_kind gaussians[] = {VEM_ISO_SHARED,  VEM_ISO,
                                            VEM_DIAG,        VEM_FULL,
                                            VEM_DIAG_SHARED, VEM_FULL_SHARED};
enum { GAUSSIANS = sizeof gaussians / sizeof *gaussians };

static void check_law(const grid_data *data, const vem_options *o, const char *what,
                      int64_t *refined)
{
    vem_model *start = grid_start(ctx, data, (vem_family_kind)o->family, CLUSTERS);
    grid_fit fit = grid_run(ctx, data, o, start);
    const vem_precision precision = (vem_precision)o->precision;
    for (int64_t t = 1; t < fit.trace_count; t++) {
        const double before = fit.trace[t - 1].free_energy,
                     now = fit.trace[t].free_energy;
        const char *move = fit.trace[t - 1].move;
        *refined += move && strcmp(move, "refine") == 0;
        if (!(now >= before - slack(precision, before, data->d)))
            fail_msg("F falls from %.17g to %.17g in step %d (%s): %s", before, now,
                     (int)fit.trace[t].step, move ? move : "no move", what);
    }
    const vem_scores s = grid_score(ctx, fit.model, data, (int32_t)o->held, VEM_DOUBLE);
    const double f = fit.summary->free_energy;
    if (!(s.log_likelihood >= f - slack(precision, f, data->d)))
        fail_msg("F is %.17g, above the log-likelihood %.17g: %s", f, s.log_likelihood,
                 what);
    assert_true(fit.summary->items <= CELLS && fit.labels == NULL);
    assert_int_equal(fit.summary->cells, fit.summary->items);
    assert_true(fit.summary->gap_se == 0); /* so few rows are all looked at */
    grid_assert_near(fit.summary->gap, s.log_likelihood - f,
                     100 * slack(precision, f, data->d), what);
    grid_fit_free(&fit);
    vem_model_free(start);
}

static void law_of_f(void **state)
{
    (void)state;
    int64_t refined = 0, cases = 0;
    static const int32_t columns[] = {1, 2, 3, 9};
    for (int k = 0; k < VEM_FAMILIES; k++)
        for (int w = 0; w < WAYS; w++)
            for (int set = 0; set < SET_COUNT; set++) {
                const int number = (int)cases++;
                const vem_family_kind family = (vem_family_kind)k;
                if (number % grid_stride())
                    continue;
                const int32_t d = columns[(number + set) % 4];
                const grid_weights weights = (grid_weights)(number % WEIGHTS_COUNT);
                const vem_precision precision = number % 3 ? VEM_DOUBLE : VEM_SINGLE;
                if (!grid_has_rows(family, d))
                    continue;
                grid_data data = grid_data_new((grid_set)set, weights, ROWS, d, 7);
                grid_suit(family, &data);
                const vem_options o = options_of(family, &ways[w], precision);
                char what[160];
                snprintf(what, sizeof what, "%s, search %s, held %d, %s, %s, d %d, %s",
                         vem_choice_name("family", (int)family),
                         vem_choice_name("search", ways[w].search), (int)ways[w].held,
                         grid_set_names[set], grid_weights_names[weights], d,
                         vem_choice_name("precision", (int)precision));
                check_law(&data, &o, what, &refined);
                grid_data_free(&data);
            }
    assert_true(refined > cases / grid_stride());
}

/* ---- beside the rows, step by step ---- */

typedef struct pair {
    engine rows;
    vem_i_cells *cells;
    vem_i_em em; /* of the cells */
} pair;

static void must(vem_status status)
{
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
}

static void pair_new(pair *p, const grid_data *data, const vem_options *options,
                     const vem_model *start, int32_t depth)
{
    engine_new(&p->rows, ctx, data, options, start);
    const vem_i_family *family = vem_i_family_of((int)options->family);
    const vem_i_cells_request request = {.kind = family->needs,
                                         .most = data->n,
                                         .depth = depth};
    must(vem_i_cells_new(run_of(ctx), &p->rows.points->view, &request, &p->cells));
    p->em = (vem_i_em){.run = run_of(ctx),
                       .options = &p->rows.options,
                       .view = vem_i_cells_view(p->cells, family->needs),
                       .constraints = p->rows.em.constraints};
    must(vem_model_copy(ctx, p->rows.em.model, &p->em.model));
    vem_i_cells_stretch(p->cells, 1);
    const vem_i_search_spec search = vem_i_search_for(&p->rows.options, 1);
    must(vem_i_em_new(&p->em, &search));
    vem_i_cells_stretch(p->cells, 0);
    vem_i_em_resize(&p->em);
}

static void pair_free(pair *p)
{
    vem_i_em_free(&p->em);
    vem_model_free(p->em.model);
    vem_i_cells_free(p->cells);
    engine_free(&p->rows);
}

static double expect(vem_i_em *em)
{
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    const vem_progress news = {.phase = "em"};
    const vem_i_estep_result e =
        vem_i_estep_run(em->estep, &em->posterior, NULL, &news, 0);
    return e.log_sum / em->view->total_mass - 0.5 * em->scorer.base +
           vem_i_view_log_jacobian(em->view);
}

static void maximize(vem_i_em *em)
{
    vem_i_estep_collect(em->estep, &em->posterior, &em->stats);
    em->scorer.family->maximize(em->run, &em->scorer, &em->stats, &em->constraints,
                                em->model);
}

/* With one row, or rows that are alike, in each cell. */
static void cells_of_rows_are_rows(void **state)
{
    (void)state;
    for (int k = 0; k < GAUSSIANS; k++)
        for (int set = SET_OVERLAPPING; set <= SET_DUPLICATES; set++) {
            grid_data data = grid_data_new((grid_set)set, WEIGHTS_REAL, 200, 3, 3);
            vem_model *start = grid_start(ctx, &data, gaussians[k], CLUSTERS);
            const vem_options o = grid_options(CLUSTERS, gaussians[k], VEM_PRIOR_FREE,
                                               CLUSTERS, VEM_DOUBLE, 10);
            pair p;
            pair_new(&p, &data, &o, start, VEM_I_CELLS_DEPTH);
            assert_int_equal(p.cells->cut.count, set == SET_DUPLICATES ? 67 : 200);
            for (int step = 0; step < 6; step++) {
                const double rows = engine_expect(&p.rows, (vem_i_step_plan){0});
                const double cells = expect(&p.em);
                grid_assert_near(cells, rows, 1e-11 * fmax(1, fabs(rows)), "F");
                engine_collect(&p.rows);
                engine_maximize(&p.rows, 1);
                maximize(&p.em);
                grid_assert_models(p.em.model, p.rows.em.model, 1e-8, "the model");
            }
            pair_free(&p);
            vem_model_free(start);
            grid_data_free(&data);
        }
}

/* One model, cuts of all depths; and the moments that a cut gives for it are those of its rows. */
static void coarser_is_lower(void **state)
{
    (void)state;
    for (int k = 0; k < GAUSSIANS; k++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_INTEGER, 400, 2, 5);
        vem_model *start = grid_start(ctx, &data, gaussians[k], CLUSTERS);
        const vem_options o = grid_options(CLUSTERS, gaussians[k], VEM_PRIOR_FREE,
                                           CLUSTERS, VEM_DOUBLE, 10);
        double last = -INFINITY, exact = 0;
        for (int32_t depth = 0; depth < 12; depth++) {
            pair p;
            pair_new(&p, &data, &o, start, depth);
            const double f = expect(&p.em);
            exact = engine_expect(&p.rows, (vem_i_step_plan){0});
            assert_true(f >= last - 1e-12 * fabs(f) && f <= exact + 1e-12 * fabs(f));
            last = f;
            pair_free(&p);
        }
        assert_true(exact - last < 0.05);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* With one cluster and any cut the first M-step finds mean and shape of all rows: their moments are
 * in the cells. */
static void moments_are_kept(void **state)
{
    (void)state;
    for (int k = 0; k < GAUSSIANS; k++)
        for (int32_t depth = 0; depth < 5; depth++) {
            grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_REAL, 300, 4, 9);
            vem_model *start = grid_start(ctx, &data, gaussians[k], 1);
            const vem_options o =
                grid_options(1, gaussians[k], VEM_PRIOR_FREE, 1, VEM_DOUBLE, 10);
            pair p;
            pair_new(&p, &data, &o, start, depth);
            engine_expect(&p.rows, (vem_i_step_plan){0});
            expect(&p.em);
            engine_collect(&p.rows);
            engine_maximize(&p.rows, 1);
            maximize(&p.em);
            const vem_model *cells = p.em.model, *rows = p.rows.em.model;
            for (int64_t j = 0; j < data.d; j++) /* about the origin of the view */
                grid_assert_near(cells->means[j], rows->means[j], 1e-10, "the mean");
            assert_true(grid_close(cells->variances, rows->variances,
                                   vem_model_variance_count(rows), 1e-9));
            pair_free(&p);
            vem_model_free(start);
            grid_data_free(&data);
        }
}

/* ---- whole fits ---- */

static void weight_two_is_twice(void **state)
{
    (void)state;
    grid_data once = grid_data_new(SET_OVERLAPPING, WEIGHTS_INTEGER, ROWS, 3, 4);
    grid_data twice = {.n = 2 * ROWS, .d = 3};
    twice.x = grid_zeros(2 * ROWS * 3, sizeof(double));
    twice.weights = grid_zeros(2 * ROWS, sizeof(double));
    for (int64_t i = 0; i < 2 * ROWS; i++) {
        memcpy(twice.x + i * 3, once.x + i / 2 * 3, 3 * sizeof(double));
        twice.weights[i] = once.weights[i / 2];
    }
    for (int64_t i = 0; i < ROWS; i++)
        once.weights[i] *= 2;
    vem_model *start = grid_start(ctx, &once, VEM_FULL, CLUSTERS);
    const vem_options o = options_of(VEM_FULL, &ways[0], VEM_DOUBLE);
    grid_fit a = grid_run(ctx, &once, &o, start), b = grid_run(ctx, &twice, &o, start);
    assert_int_equal(a.summary->steps, b.summary->steps);
    grid_assert_near(a.summary->free_energy, b.summary->free_energy, 1e-10, "F");
    grid_assert_models(a.model, b.model, 1e-7, "the model");
    grid_fit_free(&a);
    grid_fit_free(&b);
    vem_model_free(start);
    grid_data_free(&once);
    grid_data_free(&twice);
}

/* Enough rows that all passes run in pieces. */
static void threads_change_nothing(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, 30000, 3, 4);
    for (int w = 0; w < WAYS; w += 2) {
        vem_options o = options_of(VEM_FULL, &ways[w], VEM_SINGLE);
        o.cells = 2000;
        o.depth = VEM_AUTO;
        o.seeding = VEM_SEED_PLUSPLUS;
        grid_fit first = {0};
        for (int t = 0; t < 4; t++) {
            o.threads = threads[t];
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            if (t == 0) {
                first = fit;
                continue;
            }
            assert_same_bits(&fit, &first, vem_choice_name("search", o.search));
            grid_fit_free(&fit);
        }
        grid_fit_free(&first);
    }
    grid_data_free(&data);
}

/* Left after every step, and gone on with. */
static void resumed(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 2000, 2, 8);
    const path_name path = path_of("cells", 0);
    for (int w = 0; w < WAYS; w++) {
        vem_options o = options_of(VEM_DIAG, &ways[w], VEM_DOUBLE);
        o.cells = 300;
        o.tolerance = 1e-4;
        vem_model *start = grid_start(ctx, &data, VEM_DIAG, CLUSTERS);
        keep_at(NULL, 0, 0);
        grid_fit whole = grid_run(ctx, &data, &o, start);
        watcher w1 = {.path = path.text};
        remove(path.text); /* of the search before */
        keep_at(path.text, 0, 0);
        vem_ctx_set_progress(ctx, watch, &w1);
        grid_fit kept = grid_run(ctx, &data, &o, start);
        assert_same_bits(&kept, &whole, "with a checkpoint");
        vem_ctx_set_progress(ctx, NULL, NULL);
        int64_t copies = 0;
        for (int64_t s = 1; s <= w1.steps && s <= MOST_COPIES; s++) {
            const path_name copy = path_of("copy", s);
            if (access(copy.text, F_OK) != 0)
                continue;
            keep_at(copy.text, 1e9, 1);
            grid_fit again = grid_run(ctx, &data, &o, start);
            assert_same_bits(&again, &whole, "resumed");
            grid_fit_free(&again);
            copies++;
        }
        assert_true(copies > 2);
        keep_at(NULL, 0, 0);
        grid_fit_free(&kept);
        grid_fit_free(&whole);
        vem_model_free(start);
    }
    grid_data_free(&data);
}

/* The paper's own way: 4 cells first, one more at a time. */
static void one_at_a_time(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, 1000, 2, 6);
    vem_options o = options_of(VEM_FULL, &ways[0], VEM_DOUBLE);
    o.depth = 2;
    o.expand = 1;
    o.max_steps = 300;
    vem_model *start = grid_start(ctx, &data, VEM_FULL, CLUSTERS);
    grid_fit fit = grid_run(ctx, &data, &o, start);
    int64_t refined = 0, pairs = 0;
    for (int64_t t = 0; t < fit.trace_count; t++) {
        const char *move = fit.trace[t].move;
        const int refines = move && strcmp(move, "refine") == 0;
        const int rests = refines || t == fit.trace_count - 1;
        assert_int_equal(fit.trace[t].pairs, (4 + refined) * CLUSTERS);
        /* Where it rests, the children of all cells as well. */
        pairs += fit.trace[t].pairs * (rests ? 3 : 1);
        assert_int_equal(fit.trace[t].moved, refines);
        refined += refines;
    }
    assert_int_equal(fit.summary->scored_pairs, pairs);
    assert_true(refined > 0);
    assert_int_equal(fit.summary->items, 4 + refined);
    grid_fit_free(&fit);
    vem_model_free(start);
    grid_data_free(&data);
}

/* What restarts looked at before changes nothing of a later one: as many nodes as all need. */
static void restarts_do_not_meet(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, 3000, 3, 6);
    vem_options o = options_of(VEM_FULL, &ways[0], VEM_DOUBLE);
    o.seeding = VEM_SEED_PLUSPLUS;
    o.cells = 40;
    o.gap = 0;
    o.max_steps = 100;
    o.restarts = 12;
    const path_name path = path_of("restarts", 0);
    keep_at(NULL, 0, 0);
    grid_fit whole = grid_run(ctx, &data, &o, NULL);
    assert_int_equal(whole.summary->cells, 40);
    for (int64_t stop = 100; stop < 900; stop += 350) {
        watcher w = {.stop_at = stop};
        keep_at(path.text, 0, 0);
        vem_ctx_set_progress(ctx, watch, &w);
        grid_fit some = grid_run(ctx, &data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        keep_at(path.text, 1e9, 1);
        grid_fit rest = grid_run(ctx, &data, &o, NULL);
        assert_same_bits(&rest, &whole, "restarts that were stopped");
        grid_fit_free(&some);
        grid_fit_free(&rest);
    }
    keep_at(NULL, 0, 0);
    grid_fit_free(&whole);
    grid_data_free(&data);
}

static void refuse(const vem_options *o, const char *part)
{
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, ROWS, 2, 6);
    grid_fit fit = {0};
    assert_int_equal(grid_try(ctx, &data, o, NULL, &fit), VEM_BAD_OPTION);
    if (!strstr(vem_ctx_message(ctx), part))
        fail_msg("%s", vem_ctx_message(ctx));
    grid_data_free(&data);
}

static void refusals(void **state)
{
    (void)state;
    vem_options o = options_of(VEM_FULL, &ways[0], VEM_DOUBLE);
    o.cells = 4 * CLUSTERS - 1;
    refuse(&o, "--cells is 19");
    o.cells = CELLS;
    o.depth = 7;
    refuse(&o, "--depth is 7");
    o.depth = 2;
    refuse(&o, "--depth 2 gives 4 first cells");
    o.cells = o.depth = VEM_AUTO;
    o.expand = 1;
    refuse(&o, "--expand needs --cells");
    o.expand = VEM_AUTO;
    o.algorithm = VEM_ALGORITHM_GREEDY;
    o.search = VEM_SEARCH_ESTIMATED;
    o.held = 2;
    refuse(&o, "--search is estimated");
}

/* Divided until the bound is near enough, and no further. */
static void until_the_gap(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 3000, 2, 6);
    vem_options o = options_of(VEM_FULL, &ways[0], VEM_DOUBLE);
    vem_model *start = grid_start(ctx, &data, VEM_FULL, CLUSTERS);
    int64_t before = 0;
    o.cells = 2999;
    o.max_steps = 1000;
    for (o.gap = 0.3; o.gap > 0.001; o.gap /= 4) {
        grid_fit fit = grid_run(ctx, &data, &o, start);
        assert_true(fit.summary->gap <= o.gap && fit.summary->gap >= 0);
        assert_true(fit.summary->cells >= before && fit.summary->cells < 2999);
        int64_t asked = fit.summary->scored_pairs;
        for (int64_t t = 0; t < fit.trace_count; t++)
            asked -= fit.trace[t].pairs;
        assert_true(asked >= (2 * 3000 + fit.summary->cells) * CLUSTERS);
        before = fit.summary->cells;
        grid_fit_free(&fit);
    }
    vem_model_free(start);
    grid_data_free(&data);
}

/* As many cells as rows: no tree at all. */
static void all_rows(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, ROWS, 2, 6);
    vem_options o = options_of(VEM_FULL, &ways[0], VEM_DOUBLE), plain = o;
    plain.cells = plain.depth = VEM_AUTO;
    o.cells = ROWS;
    vem_model *start = grid_start(ctx, &data, VEM_FULL, CLUSTERS);
    grid_fit a = grid_run(ctx, &data, &o, start), b = grid_run(ctx, &data, &plain, start);
    assert_same_bits(&a, &b, "as many cells as rows");
    grid_fit_free(&a);
    grid_fit_free(&b);
    vem_model_free(start);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_of_f),
        cmocka_unit_test(cells_of_rows_are_rows),
        cmocka_unit_test(coarser_is_lower),
        cmocka_unit_test(moments_are_kept),
        cmocka_unit_test(weight_two_is_twice),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(resumed),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(until_the_gap),
        cmocka_unit_test(restarts_do_not_meet),
        cmocka_unit_test(refusals),
        cmocka_unit_test(all_rows),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
