/* The laws of incremental EM: statistics kept in blocks, with an M-step after each of them.
 *
 *     F(q, theta) never falls, at no block and in no M-step between two; it is what the posteriors
 *     that the rows have give, worked out plainly; it is at most F of an E-step over all rows, which
 *     the last one is; one block is EM, to the bit; threads change no bit; a fit that was left goes
 *     on to the same bits. */
#include "checkpoints.h"
#include "engine.h"
#include "run.h"

enum { ROWS = 200, BLOCKS = 7, EACH = 29, CLUSTERS = 4, EPOCHS = 4 };

static double slack(vem_precision precision, double f, int32_t d)
{
    return (precision == VEM_SINGLE ? 1e-6 : 1e-9) * fmax(fabs(f), d);
}

static vem_options options_of(vem_family_kind family, vem_precision precision)
{
    vem_options o =
        grid_options(CLUSTERS, family,
                     vem_family_shared(family) ? VEM_PRIOR_FLAT : VEM_PRIOR_FREE,
                     CLUSTERS, precision, 60);
    o.tolerance = 1e-7;
    o.blocks = BLOCKS;
    return o;
}

/* ---- block by block ---- */

/* The posteriors of some rows under the model of now, worked out plainly. */
static void take_posteriors(const engine *e, int64_t from, int64_t to, double *q)
{
    for (int64_t i = from; i < to && i < e->em.view->n; i++) {
        double most = -INFINITY, sum = 0, *row = q + i * CLUSTERS;
        for (int32_t c = 0; c < CLUSTERS; c++)
            most = fmax(most, row[c] = engine_log_joint(e, i, c));
        for (int32_t c = 0; c < CLUSTERS; c++)
            sum += row[c] = exp(row[c] - most);
        for (int32_t c = 0; c < CLUSTERS; c++)
            row[c] /= sum;
    }
}

/* F of these posteriors and the model of now. */
static double plain_energy(const engine *e, const double *q)
{
    double sum = 0;
    for (int64_t i = 0; i < e->em.view->n; i++)
        for (int32_t c = 0; c < CLUSTERS; c++) {
            const double p = q[i * CLUSTERS + c];
            if (p > 0)
                sum += vem_i_view_mass(e->em.view, i) * p *
                       (engine_log_joint(e, i, c) - log(p));
        }
    return sum / e->em.view->total_mass;
}

static double energy_of(const engine *e, double log_sum)
{
    return log_sum / e->em.view->total_mass - 0.5 * e->em.scorer.base +
           vem_i_view_log_jacobian(e->em.view);
}

/* F is what it should be, and no less than before. */
static void check_energy(const engine *e, const double *q, double f, double *before,
                         const char *what)
{
    const double off = slack((vem_precision)e->options.precision, f, e->em.view->d);
    grid_assert_near(f, plain_energy(e, q), 10 * off, what);
    if (!(f >= *before - off))
        fail_msg("F falls from %.17g to %.17g: %s", *before, f, what);
    *before = f;
}

static void check_blocks(const grid_data *data, const vem_options *o, const char *what)
{
    vem_model *start = grid_start(ctx, data, (vem_family_kind)o->family, CLUSTERS);
    engine e;
    engine_new(&e, ctx, data, o, start);
    vem_i_em *em = &e.em;
    vem_i_blocks *blocks = vem_i_estep_blocks(em->estep);
    double *q = grid_zeros(ROWS * CLUSTERS, sizeof *q);
    assert_true(blocks && !blocks->known && blocks->count == BLOCKS);
    double f = engine_expect(&e, (vem_i_step_plan){0}), before = -INFINITY;
    take_posteriors(&e, 0, ROWS, q);
    check_energy(&e, q, f, &before, what);
    engine_collect(&e);
    /* Where all blocks are of one model the two ways to F agree. */
    assert_true(blocks->known && !blocks->mixed);
    check_energy(&e, q,
                 energy_of(&e, vem_i_blocks_log_sum(blocks, &em->scorer, &em->stats)),
                 &before, what);
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        for (int64_t b = 0; b < BLOCKS; b++) {
            engine_maximize(&e, 1);
            vem_i_scorer_prepare(em->run, em->model, &em->scorer);
            vem_i_blocks_sum(blocks, &em->scorer, &em->stats);
            f = energy_of(&e, vem_i_blocks_log_sum(blocks, &em->scorer, &em->stats));
            check_energy(&e, q, f, &before, what);
            const vem_i_estep_result r =
                vem_i_estep_run_block(em->estep, &em->posterior, b, &em->stats, 0);
            assert_int_equal(r.pairs,
                             CLUSTERS * (b < BLOCKS - 1 ? EACH : ROWS - b * EACH));
            take_posteriors(&e, b * EACH, (b + 1) * EACH, q);
            check_energy(&e, q, energy_of(&e, r.log_sum), &before, what);
        }
    assert_true(blocks->mixed);
    f = energy_of(&e, vem_i_estep_again(em->estep, &em->posterior, NULL).log_sum);
    assert_true(f >= before - slack((vem_precision)o->precision, f, data->d));
    assert_false(blocks->mixed);
    free(q);
    engine_free(&e);
    vem_model_free(start);
}

static void every_block(void **state)
{
    (void)state;
    static const int32_t columns[] = {1, 2, 3, 9};
    int number = 0;
    GRID_EACH_SHAPED (family)
        for (int set = 0; set < SET_COUNT; set++, number++) {
            if (number % grid_stride())
                continue;
            const vem_precision precision =
                number % 3 || set == SET_OFFSET ? VEM_DOUBLE : VEM_SINGLE;
            const int32_t d = columns[(family + set) % 4];
            const grid_weights weights = (grid_weights)(number % WEIGHTS_COUNT);
            grid_data data = grid_data_new((grid_set)set, weights, ROWS, d, 3);
            const vem_options o = options_of((vem_family_kind)family, precision);
            char what[160];
            snprintf(what, sizeof what, "%s, %s, %s, d %d, %s",
                     vem_choice_name("family", family), grid_set_names[set],
                     grid_weights_names[weights], d,
                     vem_choice_name("precision", (int)precision));
            check_blocks(&data, &o, what);
            grid_data_free(&data);
        }
}

/* ---- whole fits ---- */

static void check_fit(const grid_data *data, const vem_options *o, const char *what)
{
    vem_model *start = grid_start(ctx, data, (vem_family_kind)o->family, CLUSTERS);
    grid_fit fit = grid_run(ctx, data, o, start);
    const vem_precision precision = (vem_precision)o->precision;
    for (int64_t t = 1; t < fit.trace_count; t++) {
        const double before = fit.trace[t - 1].free_energy,
                     now = fit.trace[t].free_energy;
        if (!fit.trace[t - 1].move &&
            !(now >= before - slack(precision, before, data->d)))
            fail_msg("F falls from %.17g to %.17g in step %d: %s", before, now,
                     (int)fit.trace[t].step, what);
    }
    if (o->coreset == VEM_AUTO) {
        const vem_scores s = grid_score(ctx, fit.model, data, CLUSTERS, precision);
        const double f = fit.summary->free_energy, off = slack(precision, f, data->d);
        if (o->cells == VEM_AUTO)
            grid_assert_near(f, s.log_likelihood, off, what);
        else
            assert_true(f <= s.log_likelihood + off);
    }
    grid_fit_free(&fit);
    vem_model_free(start);
}

/* Rows, a coreset of them, cells of them; every family; empty clusters that are moved. */
static void law_of_f(void **state)
{
    (void)state;
    int number = 0;
    for (int family = 0; family < VEM_FAMILIES; family++)
        for (int view = 0; view < 3; view++)
            for (int set = 0; set < SET_COUNT; set++, number++) {
                const int32_t d = 2 + number % 2;
                if (number % grid_stride() || !grid_has_rows((vem_family_kind)family, d))
                    continue;
                const grid_weights weights = (grid_weights)(number % WEIGHTS_COUNT);
                grid_data data = grid_data_new((grid_set)set, weights, ROWS, d, 7);
                grid_suit((vem_family_kind)family, &data);
                vem_options o = options_of((vem_family_kind)family,
                                           number % 3 ? VEM_DOUBLE : VEM_SINGLE);
                o.empty = number % 3;
                if (view == 1)
                    o.coreset = 90;
                if (view == 2) {
                    o.cells = 80;
                    o.depth = 5;
                }
                char what[160];
                snprintf(what, sizeof what, "%s, %s, %s, d %d, view %d, %s",
                         vem_choice_name("family", family), grid_set_names[set],
                         grid_weights_names[weights], d, view,
                         vem_choice_name("precision", o.precision));
                check_fit(&data, &o, what);
                grid_data_free(&data);
            }
}

/* One block is EM; many find the same maximum here, in fewer passes. */
static void one_block_is_em(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_REAL, 3000, 2, 6);
    vem_options o = options_of(VEM_FULL, VEM_DOUBLE), named;
    o.algorithm = VEM_ALGORITHM_GMM;
    o.seeding = VEM_SEED_PLUSPLUS;
    o.blocks = VEM_AUTO;
    named = o;
    named.algorithm = VEM_ALGORITHM_INCREMENTAL_EM;
    named.blocks = 1;
    grid_fit em = grid_run(ctx, &data, &o, NULL),
             one = grid_run(ctx, &data, &named, NULL);
    assert_same_bits(&one, &em, "one block");
    named.blocks = VEM_AUTO;
    grid_fit many = grid_run(ctx, &data, &named, NULL);
    assert_int_equal(many.options->blocks, 25);
    assert_true(many.summary->steps < em.summary->steps);
    grid_assert_near(many.summary->free_energy, em.summary->free_energy, 1e-4, "25");
    grid_fit_free(&em);
    grid_fit_free(&one);
    grid_fit_free(&many);
    grid_data_free(&data);
}

/* Labels are those of the model that is given back, in the order of the rows. */
static void labels(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, 1000, 2, 6);
    vem_options o = options_of(VEM_DIAG, VEM_DOUBLE);
    o.tolerance = 1e-3; /* far from where nothing moves any more */
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    vem_data *rows = grid_borrow(ctx, &data);
    int32_t *assigned = grid_zeros(data.n, sizeof *assigned);
    assert_int_equal(vem_assign(ctx, fit.model, rows, 1, VEM_DOUBLE, assigned, NULL),
                     VEM_OK);
    assert_memory_equal(assigned, fit.labels, (size_t)data.n * sizeof *assigned);
    free(assigned);
    vem_data_free(rows);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

static void any_threads(void **state)
{
    (void)state;
    for (int family = 0; family < VEM_FAMILIES; family++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 3000, 3, 8);
        grid_suit((vem_family_kind)family, &data);
        vem_options o =
            options_of((vem_family_kind)family, family % 2 ? VEM_DOUBLE : VEM_SINGLE);
        grid_fit first = {0};
        o.max_steps = 8;
        for (int threads = 1; threads < 8; threads += threads < 3 ? 1 : 4) {
            o.threads = threads;
            grid_fit fit = grid_run(ctx, &data, &o, NULL);
            if (threads == 1) {
                first = fit;
                continue;
            }
            assert_same_bits(&fit, &first, vem_choice_name("family", family));
            grid_fit_free(&fit);
        }
        grid_fit_free(&first);
        grid_data_free(&data);
    }
}

/* Left after every step, and gone on with; also beyond the limit of steps it had. */
static void resumed(void **state)
{
    (void)state;
    const path_name path = path_of("blocks", 0);
    for (int celled = 0; celled < 2; celled++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 2000, 2, 8);
        vem_options o = options_of(VEM_FULL, VEM_DOUBLE);
        o.tolerance = 1e-5;
        if (celled)
            o.cells = 300;
        keep_at(NULL, 0, 0);
        grid_fit whole = grid_run(ctx, &data, &o, NULL);
        watcher w = {.path = path.text};
        keep_at(path.text, 0, 0);
        vem_ctx_set_progress(ctx, watch, &w);
        grid_fit kept = grid_run(ctx, &data, &o, NULL);
        vem_ctx_set_progress(ctx, NULL, NULL);
        assert_same_bits(&kept, &whole, "with a checkpoint");
        int64_t copies = 0;
        for (int64_t s = 1; s <= w.steps && s <= MOST_COPIES; s++) {
            const path_name copy = path_of("copy", s);
            if (access(copy.text, F_OK) != 0)
                continue;
            keep_at(copy.text, 1e9, 1);
            grid_fit again = grid_run(ctx, &data, &o, NULL);
            assert_same_bits(&again, &whole, "resumed");
            grid_fit_free(&again);
            copies++;
        }
        assert_true(copies > 2);
        vem_options few = o;
        few.max_steps = 3;
        keep_at(path.text, 0, 0);
        grid_fit some = grid_run(ctx, &data, &few, NULL);
        assert_int_equal(some.summary->steps, 3);
        keep_at(path.text, 1e9, 1);
        grid_fit rest = grid_run(ctx, &data, &o, NULL);
        assert_same_bits(&rest, &whole, "with more steps");
        keep_at(NULL, 0, 0);
        remove(path.text);
        grid_fit_free(&some);
        grid_fit_free(&rest);
        grid_fit_free(&kept);
        grid_fit_free(&whole);
        grid_data_free(&data);
    }
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
    vem_options o = options_of(VEM_FULL, VEM_DOUBLE);
    o.search = VEM_SEARCH_CLOSEST;
    o.held = 1;
    refuse(&o, "use --search all");
    o = options_of(VEM_FULL, VEM_DOUBLE);
    o.algorithm = VEM_ALGORITHM_GREEDY;
    refuse(&o, "--algorithm greedy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block),     cmocka_unit_test(law_of_f),
        cmocka_unit_test(one_block_is_em), cmocka_unit_test(labels),
        cmocka_unit_test(any_threads),     cmocka_unit_test(resumed),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
