/* Very fast EM: cells from the root down in every step, posteriors at their means. It may lower F, so
 * what is held here is what is left: bounds over boxes hold, nodes are divided by the rule and no
 * others, F is what these posteriors give and a lower bound of the likelihood, it ends, threads change
 * no bit, and a fit that was left goes on to the same bits. */
#include "checkpoints.h"
#include "data/cells.h"
#include "engine.h"
#include "model/box.h"
#include "model/units.h"
#include "moves/descend.h"
#include "run.h"

enum { ROWS = 600, CLUSTERS = 4, DEPTH = 5 };

static const vem_family_kind gaussians[] = {VEM_ISO_SHARED,  VEM_ISO,
                                            VEM_DIAG,        VEM_FULL,
                                            VEM_DIAG_SHARED, VEM_FULL_SHARED};
enum { GAUSSIANS = sizeof gaussians / sizeof *gaussians };

static void must(vem_status status)
{
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(ctx));
}

static vem_options options_of(vem_family_kind family)
{
    vem_options o =
        grid_options(CLUSTERS, family, VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 40);
    o.algorithm = VEM_ALGORITHM_MOORE_EM;
    o.depth = DEPTH;
    o.tolerance = 1e-5;
    return o;
}

/* A loop over cells in the test's hands. */
typedef struct loop {
    engine rows;
    vem_i_cells *cells;
    vem_i_em em;
    vem_i_descent *descent;
} loop;

static void loop_new(loop *p, const grid_data *data, vem_family_kind kind, double tau)
{
    vem_options o = options_of(kind);
    vem_model *start = grid_start(ctx, data, kind, CLUSTERS);
    o.tau = tau;
    engine_new(&p->rows, ctx, data, &o, start);
    const vem_i_family *family = vem_i_family_of((int)kind);
    const vem_i_cells_request request = {.kind = family->needs,
                                         .most = 1 << DEPTH,
                                         .depth = DEPTH,
                                         .boxes = 1};
    must(vem_i_cells_new(run_of(ctx), &p->rows.points->view, &request, &p->cells));
    p->em = (vem_i_em){.run = run_of(ctx),
                       .options = &p->rows.options,
                       .max_steps = p->rows.options.max_steps,
                       .view = vem_i_cells_view(p->cells, family->needs),
                       .constraints = p->rows.em.constraints};
    must(vem_model_copy(ctx, p->rows.em.model, &p->em.model));
    vem_i_cells_stretch(p->cells, 1);
    const vem_i_search_spec search = vem_i_search_for(&p->rows.options, 1);
    must(vem_i_em_new(&p->em, &search));
    must(vem_i_descent_new(&p->em, p->cells, tau, &p->descent));
    vem_i_cells_stretch(p->cells, 0);
    vem_i_em_resize(&p->em);
    vem_model_free(start);
}

static void loop_free(loop *p)
{
    vem_i_em_free(&p->em);
    vem_i_descent_free(p->descent);
    vem_model_free(p->em.model);
    vem_i_cells_free(p->cells);
    engine_free(&p->rows);
}

/* log p(x|c) in the units of the view, plainly. */
static double log_density(const vem_model *model, int32_t c, const double *x)
{
    const int64_t d = model->d;
    double l[9], z[3], sum = (double)d * log(6.283185307179586477);
    for (int64_t i = 0; i < d; i++) {
        z[i] = x[i] - model->means[c * d + i];
        for (int64_t j = 0; j <= i; j++) {
            double value = vem_i_model_covariance(model, c, (int32_t)i, (int32_t)j);
            for (int64_t k = 0; k < j; k++)
                value -= l[i * d + k] * l[j * d + k];
            l[i * d + j] = i == j ? sqrt(value) : value / l[j * d + j];
            z[i] -= j < i ? l[i * d + j] * z[j] : 0;
        }
        z[i] /= l[i * d + i];
        sum += z[i] * z[i] + 2 * log(l[i * d + i]);
    }
    return -0.5 * sum;
}

/* <log p(x|c)> of a cell: a Gaussian of the same mean, with the trace term from differences of a
 * quadratic, e'Pe = 2 [ log p(m) - log p at m + e ] about the mean of the cluster. */
static double log_density_of_cell(const vem_model *model, int32_t c, const vem_view *view,
                                  int64_t cell)
{
    const int64_t d = model->d;
    const double *mean = vem_i_view_row(view, cell), *mu = model->means + c * d;
    const double *spread = (const double *)view->spread + cell * view->spread_ld;
    const double top = log_density(model, c, mu);
    double trace = 0, form[3][3];
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) {
            double x[3] = {mu[0], mu[1], d > 2 ? mu[2] : 0};
            x[i] += 1;
            x[j] += i == j ? 0 : 1;
            form[i][j] = 2 * (top - log_density(model, c, x));
        }
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double p =
                i == j ? form[i][i] : 0.5 * (form[i][j] - form[i][i] - form[j][j]);
            if (view->spread_kind == VEM_I_SPREAD_FULL)
                trace += (i == j ? 1 : 2) * p * spread[i * (i + 1) / 2 + j];
            else if (i == j && view->spread_kind == VEM_I_SPREAD_DIAG)
                trace += p * spread[i];
            else if (i == 0) /* all columns have one precision */
                trace += p * spread[0];
        }
    return log_density(model, c, mean) - 0.5 * trace;
}

/* F of the posteriors at the means, plainly. */
static double plain_energy(const loop *p)
{
    const vem_view *view = p->em.view;
    const vem_model *model = p->em.model;
    double sum = 0;
    for (int64_t a = 0; a < view->n; a++) {
        double q[CLUSTERS], most = -INFINITY, total = 0;
        for (int32_t c = 0; c < CLUSTERS; c++) {
            q[c] =
                log(model->weights[c]) + log_density(model, c, vem_i_view_row(view, a));
            most = fmax(most, q[c]);
        }
        for (int32_t c = 0; c < CLUSTERS; c++)
            total += q[c] = exp(q[c] - most);
        for (int32_t c = 0; c < CLUSTERS; c++)
            if ((q[c] /= total) > 0)
                sum += view->mass[a] * q[c] *
                       (log(model->weights[c]) + log_density_of_cell(model, c, view, a) -
                        log(q[c]));
    }
    return sum / view->total_mass + vem_i_view_log_jacobian(view);
}

static double expect(loop *p)
{
    vem_i_em *em = &p->em;
    const vem_progress news = {.phase = "em"};
    vem_i_em_observe(em, VEM_I_STEP_BEGINS);
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    const vem_i_estep_result e =
        vem_i_estep_run(em->estep, &em->posterior, &em->stats, &news, 0);
    return e.log_sum / em->view->total_mass - 0.5 * em->scorer.base +
           vem_i_view_log_jacobian(em->view);
}

/* A point of a box: a corner as often as not. */
static void draw(vem_i_rng *rng, const double *box, int32_t d, double *x)
{
    for (int32_t j = 0; j < d; j++) {
        const double u = vem_i_rng_uniform(rng);
        const double t = u < 0.3 ? 0 : u > 0.7 ? 1 : (u - 0.3) / 0.4;
        x[j] = box[j] + t * (box[d + j] - box[j]);
    }
}

/* ---- bounds ---- */

static void bounds_hold(void **state)
{
    (void)state;
    vem_i_rng rng = vem_i_rng_at(5, VEM_RNG_TEST, 0, 0);
    for (int k = 0; k < GAUSSIANS; k++)
        for (int32_t d = 2; d <= 3; d++) {
            grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, ROWS, d, 3);
            loop p;
            loop_new(&p, &data, gaussians[k], 0.5);
            for (int step = 0; step < 4; step++) { /* shapes grow apart */
                expect(&p);
                p.em.scorer.family->maximize(p.em.run, &p.em.scorer, &p.em.stats,
                                             &p.em.constraints, p.em.model);
            }
            vem_i_scorer_prepare(p.em.run, p.em.model, &p.em.scorer);
            for (int trial = 0; trial < 100; trial++) {
                const int32_t c = trial % CLUSTERS;
                double box[6], work[12], x[3], least = INFINITY, most = 0;
                for (int32_t j = 0; j < d; j++) {
                    box[j] = 3 * vem_i_rng_normal(&rng);
                    box[d + j] = box[j] + 2 * vem_i_rng_uniform(&rng);
                }
                const vem_i_box_bounds b =
                    vem_i_box_bounds_of(&p.em.scorer, c, box, work);
                const double top =
                    log_density(p.em.model, c, p.em.model->means + (int64_t)c * d);
                for (int draws = 0; draws < 2000; draws++) {
                    draw(&rng, box, d, x);
                    const double form = 2 * (top - log_density(p.em.model, c, x));
                    least = fmin(least, form);
                    most = fmax(most, form);
                }
                const double off = 1e-9 * (1 + most);
                assert_true(b.low <= least + off && b.low >= 0);
                assert_true(b.high >= most - off);
                assert_true(b.high <= most + off); /* corners were drawn */
                assert_true(b.low >= least - 0.1 * (1 + least));
            }
            loop_free(&p);
            grid_data_free(&data);
        }
}

/* ---- the walk ---- */

/* How far the density of some cluster varies in the box of a node, as a share of its weight, by points
 * of it. */
static double variation(const loop *p, vem_i_rng *rng, int32_t node)
{
    const vem_i_tree *tree = p->cells->tree;
    const int32_t d = p->em.view->d;
    double unit = 0, largest = 0;
    const double *box = (const double *)tree->boxes + (int64_t)node * 2 * d;
    for (int32_t j = 0; j < d; j++)
        unit += p->em.view->deviations ? log(p->em.view->deviations[j])
                                       : 0.5 * log(p->em.view->variance);
    for (int32_t c = 0; c < CLUSTERS; c++) {
        double least = INFINITY, most = 0, x[3];
        for (int draws = 0; draws < 500; draws++) {
            draw(rng, box, d, x);
            const double p_x = exp(log_density(p->em.model, c, x) + unit);
            least = fmin(least, p_x);
            most = fmax(most, p_x);
        }
        largest = fmax(largest, (most - least) / p->em.model->weights[c]);
    }
    return largest;
}

/* The nodes above and in the cut, from the root. */
static int64_t check_walk(const loop *p, vem_i_rng *rng, double tau, int32_t node,
                          int64_t *divided)
{
    const vem_i_tree *tree = p->cells->tree;
    for (int64_t a = 0; a < p->cells->cut.count; a++)
        if (p->cells->cut.nodes[a] == node) {
            if (tree->left[node] >= 0)
                assert_true(variation(p, rng, node) <= tau * (1 + 1e-9));
            return tree->rows[node];
        }
    assert_true(tree->left[node] >= 0);
    /* A few points may miss the extremes, not by much. */
    assert_true(variation(p, rng, node) > 0.5 * tau);
    ++*divided;
    return check_walk(p, rng, tau, tree->left[node], divided) +
           check_walk(p, rng, tau, tree->left[node] + 1, divided);
}

static void nodes_are_divided_by_the_rule(void **state)
{
    (void)state;
    vem_i_rng rng = vem_i_rng_at(6, VEM_RNG_TEST, 0, 0);
    static const double taus[] = {0, 0.1, 0.5, 2, 1e300};
    for (int k = 0; k < GAUSSIANS; k++)
        for (int t = 0; t < 5; t++) {
            grid_data data =
                grid_data_new(SET_SEPARATED, WEIGHTS_REAL, ROWS, 2 + k % 2, 3);
            loop p;
            loop_new(&p, &data, gaussians[k], taus[t]);
            for (int step = 0; step < 5; step++) {
                int64_t divided = 0;
                const double f = expect(&p);
                const int64_t rows = check_walk(&p, &rng, taus[t], 0, &divided);
                assert_int_equal(rows, ROWS);
                assert_int_equal(p.em.view->n, divided + 1);
                grid_assert_near(f, plain_energy(&p), 1e-7 * fmax(1, fabs(f)), "F");
                if (taus[t] == 0)
                    assert_int_equal(divided + 1, p.cells->firsts);
                if (taus[t] > 1e6)
                    assert_int_equal(divided, 0);
                p.em.scorer.family->maximize(p.em.run, &p.em.scorer, &p.em.stats,
                                             &p.em.constraints, p.em.model);
                for (int32_t c = 0; c < CLUSTERS; c++)
                    if (!(p.em.model->weights[c] > 1e-6))
                        step = 5; /* the plain sums have no room for these */
            }
            loop_free(&p);
            grid_data_free(&data);
        }
}

/* ---- whole fits ---- */

static void fits(void **state)
{
    (void)state;
    for (int k = 0; k < GAUSSIANS; k++)
        for (int set = 0; set < SET_COUNT; set++)
            for (int deep = 0; deep < 2; deep++) {
                grid_data data = grid_data_new((grid_set)set,
                                               (grid_weights)((k + set) % WEIGHTS_COUNT),
                                               ROWS, 2 + set % 2, 7);
                vem_options o = options_of(gaussians[k]);
                o.precision = (k + set) % 3 ? VEM_DOUBLE : VEM_SINGLE;
                if (deep)
                    o.depth = VEM_AUTO; /* as deep as there are rows for */
                vem_model *start = grid_start(ctx, &data, gaussians[k], CLUSTERS);
                grid_fit fit = grid_run(ctx, &data, &o, start);
                const vem_scores s =
                    grid_score(ctx, fit.model, &data, CLUSTERS, VEM_DOUBLE);
                const double f = fit.summary->free_energy;
                assert_true(fit.summary->steps <= 40);
                assert_true(fit.summary->cells > 0 &&
                            fit.summary->cells <= (deep ? ROWS / 2 : 1 << DEPTH));
                assert_true(f <= s.log_likelihood + 1e-6 * fmax(fabs(f), 3));
                grid_assert_near(fit.summary->gap, s.log_likelihood - f,
                                 1e-4 * fmax(fabs(f), 3), "the gap");
                for (int64_t t = 0; t + 1 < fit.trace_count; t++) {
                    assert_string_equal(fit.trace[t].move, "descend");
                    assert_int_equal(fit.trace[t + 1].pairs,
                                     CLUSTERS * (fit.trace[t].moved + 1));
                }
                grid_fit_free(&fit);
                vem_model_free(start);
                grid_data_free(&data);
            }
}

static void any_threads(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 5000, 3, 8);
    vem_options o = options_of(VEM_FULL);
    o.seeding = VEM_SEED_PLUSPLUS;
    o.depth = 10;
    grid_fit first = {0};
    for (int threads = 1; threads < 8; threads += threads < 3 ? 1 : 4) {
        o.threads = threads;
        grid_fit fit = grid_run(ctx, &data, &o, NULL);
        if (threads == 1) {
            first = fit;
            continue;
        }
        assert_same_bits(&fit, &first, "threads");
        grid_fit_free(&fit);
    }
    grid_fit_free(&first);
    grid_data_free(&data);
}

static void resumed(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, 2000, 2, 8);
    const path_name path = path_of("descend", 0);
    vem_options o = options_of(VEM_FULL);
    o.seeding = VEM_SEED_PLUSPLUS;
    o.depth = 8;
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
    assert_true(some.summary->steps == 3 && whole.summary->steps > 3);
    keep_at(path.text, 1e9, 1);
    grid_fit rest = grid_run(ctx, &data, &o, NULL);
    assert_same_bits(&rest, &whole, "with more steps");
    keep_at(NULL, 0, 0);
    grid_fit_free(&some);
    grid_fit_free(&rest);
    grid_fit_free(&kept);
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
    vem_options o = options_of(VEM_POISSON);
    refuse(&o, "--family is poisson");
    o = options_of(VEM_FULL);
    o.expand = 1;
    refuse(&o, "--expand is about cells");
    o = options_of(VEM_FULL);
    o.search = VEM_SEARCH_CLOSEST;
    o.held = 2;
    refuse(&o, "--search all");
    o = options_of(VEM_FULL);
    o.blocks = 3;
    refuse(&o, "one block");
    o = options_of(VEM_FULL);
    o.algorithm = VEM_ALGORITHM_GMM;
    o.depth = VEM_AUTO;
    o.tau = 1;
    refuse(&o, "--tau needs");
}

/* What is held, weighed again with the scorer as it is, has the F of the step: posteriors at means
 * are not the best ones, and their F needs the statistics (em.h: moves are judged by this). */
static void weighed_again(void **state)
{
    (void)state;
    for (int f = 0; f < GAUSSIANS; f++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, ROWS, 3, 5);
        loop p;
        loop_new(&p, &data, gaussians[f], 0.5);
        p.rows.options.max_steps = 1;
        must(vem_i_em_run(&p.em));
        const double now = p.em.free_energy;
        grid_assert_near(vem_i_em_again(&p.em), now, 1e-12 * fabs(now), "weighed again");
        loop_free(&p);
        grid_data_free(&data);
    }
}

/* Swaps are made by the k-means before it, and none in its own steps, whose F is no price. */
static void swaps_come_before(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_SEPARATED, WEIGHTS_NONE, ROWS, 2, 6);
    vem_options o = options_of(VEM_FULL);
    o.swaps = 5;
    grid_fit fit = grid_run(ctx, &data, &o, NULL);
    int64_t own = 0;
    const vem_trace_step *trace = vem_report_trace(fit.report);
    for (int64_t t = 0; t < vem_report_trace_count(fit.report); t++) {
        const char *move = trace[t].move;
        own += move && strcmp(move, "descend") == 0;
        if (move && strcmp(move, "swap") == 0)
            assert_int_equal(own, 0);
    }
    assert_true(own > 0);
    grid_fit_free(&fit);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold),   cmocka_unit_test(nodes_are_divided_by_the_rule),
        cmocka_unit_test(fits),          cmocka_unit_test(any_threads),
        cmocka_unit_test(resumed),       cmocka_unit_test(refusals),
        cmocka_unit_test(weighed_again), cmocka_unit_test(swaps_come_before),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
