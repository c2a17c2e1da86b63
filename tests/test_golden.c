/* Golden values of tests/golden, to 1e-9: one E-step and one M-step through the pieces of
 * the engine, and the same numbers again through vem_fit, vem_assign and vem_score. */
#include <jansson.h>

#include "data/points.h"
#include "em/estep.h"
#include "grid.h"
#include "model/units.h"
#include "run.h"
#include "seed/seed.h"

#include "context.h"

static const double TOLERANCE = 1e-9;

static void near(double value, double expected, const char *what)
{
    grid_assert_near(value, expected, TOLERANCE * fmax(1, fabs(expected)), what);
}

/* ---- Reading ---- */

static json_t *golden(const char *name)
{
    const char *source = getenv("VEM_SOURCE");
    char path[512];
    json_error_t error;
    snprintf(path, sizeof path, "%s/tests/golden/%s", source ? source : ".", name);
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s: %s", path, error.text);
    return root;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* Numbers of nested lists, row by row; how many there are. */
static size_t flatten(const json_t *value, double *out, size_t at)
{
    if (json_is_number(value)) {
        assert_true(at < 256);
        out[at] = json_number_value(value);
        return at + 1;
    }
    assert_true(json_is_array(value));
    for (size_t i = 0; i < json_array_size(value); i++)
        at = flatten(json_array_get(value, i), out, at);
    return at;
}

static size_t list(const json_t *object, const char *key, double out[256])
{
    return flatten(json_object_get(object, key), out, 0);
}

/* ---- One step through the pieces ---- */

typedef struct step {
    vem_data *rows;
    vem_i_points *points;
    vem_model *model; /* about the origin of the view */
    vem_i_scorer scorer;
    vem_i_search_spec search;
    vem_i_posterior posterior;
    vem_i_stats stats;
    vem_i_estep *estep;
    vem_i_estep_result result;
} step;

static step step_new(const double *x, int64_t n, const double *weights,
                     const vem_model *model, int32_t held, double margin)
{
    step s = {0};
    int32_t c = model->clusters, d = model->d;
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, n, d, 0, 0, &s.rows), VEM_OK);
    assert_int_equal(vem_data_set_weights(ctx, s.rows, weights, n), VEM_OK);
    vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), s.rows, &request, &s.points), VEM_OK);
    const vem_view *view = &s.points->view;
    s.search = vem_i_search_closest(c, held, margin);
    assert_int_equal(vem_i_model_to_view(run_of(ctx), model, view, model->family,
                                         &s.model),
                     VEM_OK);
    assert_int_equal(vem_i_scorer_new(run_of(ctx), view->kernels,
                                      vem_i_shape_of(model->family, c, d), &s.scorer),
                     VEM_OK);
    assert_int_equal(vem_i_posterior_new(run_of(ctx), view, &s.search, &s.posterior),
                     VEM_OK);
    assert_int_equal(vem_i_stats_new(run_of(ctx), vem_i_shape_of(model->family, c, d),
                                     &s.stats),
                     VEM_OK);
    return s;
}

static void step_run(step *s)
{
    vem_progress told = {.phase = "em"};
    assert_int_equal(vem_i_estep_new(run_of(ctx), &s->points->view, &s->scorer,
                                     &s->search, 1, &s->estep),
                     VEM_OK);
    vem_i_scorer_prepare(run_of(ctx), s->model, &s->scorer);
    s->result = vem_i_estep_run(s->estep, &s->posterior, &s->stats, &told, 0);
}

static void step_maximize(step *s, vem_prior_kind prior)
{
    vem_i_constraints constraints = {.prior = prior,
                                     .relax = 1,
                                     .floor = 1e-150,
                                     .total_mass = s->points->view.total_mass};
    s->scorer.family->maximize(run_of(ctx), &s->scorer, &s->stats, &constraints,
                               s->model);
    assert_int_equal(vem_i_model_to_data(run_of(ctx), &s->points->view, s->model),
                     VEM_OK);
}

static double step_free_energy(const step *s)
{
    const vem_view *view = &s->points->view;
    return view->mass_unit *
           (s->result.log_sum - 0.5 * view->total_mass * s->scorer.base);
}

static void step_free(step *s)
{
    vem_i_estep_free(s->estep);
    vem_i_posterior_free(&s->posterior);
    vem_i_scorer_free(&s->scorer);
    vem_i_stats_free(&s->stats);
    vem_model_free(s->model);
    vem_i_points_free(s->points);
    vem_data_free(s->rows);
}

/* Held clusters in order, and their probabilities times the mass. */
static void check_posterior(const step *s, const double *weights, const double *held,
                            const double *q, int64_t n, int32_t width)
{
    if (s->search.dense) {
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(s->posterior.held[i], (int32_t)held[i * width]);
        return;
    }
    const double unit = s->points->view.mass_unit;
    for (int64_t e = 0; e < n * width; e++) {
        assert_int_equal(s->posterior.held[e], (int32_t)held[e]);
        if (s->posterior.q)
            near(((const double *)s->posterior.q)[e] * unit, weights[e / width] * q[e],
                 "q");
    }
}

/* The same E-step and M-step through the public verbs: a fit of one step reports F of the
 * start, one of two steps gives the next model. */
static void check_fit(const double *x, int64_t n, const double *weights,
                      const vem_model *start, vem_prior_kind prior, int32_t held,
                      double free_energy, const vem_model *next)
{
    double mass = 0;
    grid_data data = {n, start->d, NULL, NULL};
    data.x = malloc((size_t)(n * start->d) * sizeof(double));
    data.weights = malloc((size_t)n * sizeof(double));
    memcpy(data.x, x, (size_t)(n * start->d) * sizeof(double));
    memcpy(data.weights, weights, (size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        mass += weights[i];
    vem_options o =
        grid_options(start->clusters, start->family->kind, prior, held, VEM_DOUBLE, 1);
    o.floor = 1e-300;
    grid_fit fit = grid_run(ctx, &data, &o, start);
    near(fit.summary->free_energy * mass, free_energy, "F of a fit of one step");
    near(grid_score(ctx, start, &data, held, VEM_DOUBLE).free_energy * mass, free_energy,
         "F of a score");
    grid_fit_free(&fit);
    o.max_steps = 2;
    fit = grid_run(ctx, &data, &o, start);
    grid_assert_models(fit.model, next, TOLERANCE, "the model of a fit of two steps");
    grid_fit_free(&fit);
    grid_data_free(&data);
}

/* F_sum with given sets, from the new model: the M-step alone. */
static double same_sets(const double *x, const double *weights, const double *held,
                        int64_t n, int32_t width, const vem_model *model)
{
    double total = 0, s2 = model->variances[0], d = model->d;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t r = 0; r < width; r++) {
            double e = 0;
            for (int32_t j = 0; j < model->d; j++)
                e += pow(x[i * model->d + j] -
                             model->means[(int32_t)held[i * width + r] * model->d + j],
                         2);
            sum += exp(-e / (2 * s2));
        }
        total +=
            weights[i] * (log(sum) - log(model->clusters) - d / 2 * log(2 * M_PI * s2));
    }
    return total;
}

/* ---- The files ---- */

static void truncated_em(void **state)
{
    (void)state;
    json_t *root = golden("truncated_em.json"), *c;
    double x[256], mu[256], w[256], held[256], q[256], expected[256];
    int64_t n = (int64_t)list(root, "Y", x) / 2;
    int32_t clusters = (int32_t)list(root, "mu", mu) / 2;
    double s2 = number(root, "sigma2"), mass = 0;
    vem_model *start = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, clusters, 2, mu, NULL, &s2,
                                   &start),
                     VEM_OK);
    size_t i;
    json_array_foreach(json_object_get(root, "cases"), i, c)
    {
        int32_t width = (int32_t)number(c, "Cprime");
        list(c, "weights", w);
        list(c, "K_sorted_by_distance", held);
        list(c, "q", q);
        step s = step_new(x, n, w, start, width, 0);
        step_run(&s);
        mass = s.points->view.total_mass;
        check_posterior(&s, w, held, q, n, width);
        near(step_free_energy(&s), number(c, "F_sum"), "F");
        near(s.result.distance * s2 / (2 * mass), number(c, "sigma2_init_eq8"), "HFL 8");
        list(c, "mass", expected);
        for (int32_t k = 0; k < clusters; k++)
            near(*vem_i_stats_mass(&s.stats, k) * s.points->view.mass_unit, expected[k],
                 "mass");
        step_maximize(&s, VEM_PRIOR_FLAT);
        list(c, "mu_new", expected);
        for (int32_t k = 0; k < 2 * clusters; k++)
            near(s.model->means[k], expected[k], "mean");
        near(s.model->variances[0], number(c, "sigma2_new"), "variance");
        near(same_sets(x, w, held, n, width, s.model), number(c, "F_after_M_same_K"),
             "F after the M-step");
        check_fit(x, n, w, start, VEM_PRIOR_FLAT, width, number(c, "F_sum"), s.model);
        step_free(&s);
    }
    vem_model_free(start);
    json_decref(root);
}

static void general_gmm(void **state)
{
    (void)state;
    const char *const kinds[] = {"", "isoflex", "diag", "full"};
    json_t *root = golden("general_gmm.json"), *c;
    double x[256], mu[256], pi[256], v[256], held[256], q[256], joint[256], expected[256];
    double ones[256], soft[64];
    int32_t order[64];
    int64_t n = (int64_t)list(root, "Y", x) / 2;
    int32_t clusters = (int32_t)list(root, "pi", pi);
    list(root, "mu", mu);
    for (int k = 0; k < 256; k++)
        ones[k] = 1;
    size_t i;
    json_array_foreach(json_object_get(root, "cases"), i, c)
    {
        int32_t width = (int32_t)number(c, "Cprime");
        const char *kind = json_string_value(json_object_get(c, "kind"));
        int family = VEM_ISO;
        while (strcmp(kinds[family], kind) != 0)
            family++;
        vem_model *start = NULL;
        list(c, "Sigma", v);
        assert_int_equal(vem_model_new(ctx, (vem_family_kind)family, clusters, 2, mu, pi,
                                       v, &start),
                         VEM_OK);
        list(c, "K", held);
        list(c, "q", q);
        list(c, "log_joint", joint);
        step s = step_new(x, n, ones, start, width, 0);
        step_run(&s);
        check_posterior(&s, ones, held, q, n, width);
        near(step_free_energy(&s), number(c, "F_sum"), "F");
        step_maximize(&s, VEM_PRIOR_FREE);
        list(c, "pi_new", expected);
        for (int32_t k = 0; k < clusters; k++)
            near(s.model->weights[k], expected[k], "weight");
        list(c, "mu_new", expected);
        for (int32_t k = 0; k < 2 * clusters; k++)
            near(s.model->means[k], expected[k], "mean");
        size_t shapes = list(c, "Sigma_new", expected);
        for (size_t k = 0; k < shapes; k++)
            near(s.model->variances[k], expected[k], "covariance");
        check_fit(x, n, ones, start, VEM_PRIOR_FREE, width, number(c, "F_sum"), s.model);
        /* Probabilities of all clusters, from the log joints. */
        assert_int_equal(vem_assign(ctx, start, s.rows, clusters, VEM_DOUBLE, order,
                                    soft),
                         VEM_OK);
        for (int64_t e = 0; e < n * clusters; e++) {
            const double *row = joint + e / clusters * clusters;
            double sum = 0;
            for (int32_t k = 0; k < clusters; k++)
                sum += exp(row[k]);
            near(soft[e], exp(row[order[e]]) / sum, "probability");
        }
        step_free(&s);
        vem_model_free(start);
    }
    json_decref(root);
}

static void kmeans(void **state)
{
    (void)state;
    json_t *root = golden("kmeans.json");
    double x[256], mu[256], centers[256], labels[256], s2 = 1;
    grid_data data = {.n = (int64_t)list(root, "Y", x) / 2, .d = 2, .x = x};
    int32_t clusters = (int32_t)list(root, "mu_init", mu) / 2;
    list(root, "centres", centers);
    list(root, "labels", labels);
    vem_model *start = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, clusters, 2, mu, NULL, &s2,
                                   &start),
                     VEM_OK);
    vem_options o;
    vem_options_init(&o);
    o.algorithm = VEM_ALGORITHM_KMEANS;
    grid_fit fit = grid_run(ctx, &data, &o, start);
    assert_int_equal(fit.summary->outcome, VEM_OUTCOME_CONVERGED);
    for (int64_t i = 0; i < data.n; i++)
        assert_int_equal(fit.labels[i], (int32_t)labels[i]);
    for (int32_t k = 0; k < 2 * clusters; k++)
        near(vem_model_means(fit.model)[k], centers[k], "center");
    near(vem_model_variances(fit.model)[0], number(root, "sigma2"), "variance");
    near(fit.summary->free_energy, number(root, "F13"), "F");
    vem_scores scores = grid_score(ctx, fit.model, &data, 1, VEM_DOUBLE);
    near(scores.quantization_error, number(root, "J"), "J");
    near(scores.log_likelihood, number(root, "loglik_per_point"), "log-likelihood");
    near(scores.free_energy, number(root, "F13"), "F of the score");
    grid_fit_free(&fit);
    vem_model_free(start);
    json_decref(root);
}

static void lazy(void **state)
{
    (void)state;
    json_t *root = golden("lazy.json"), *c;
    double x[256], mu[256], before[256], after[256], ones[256], s2 = 1.7;
    int64_t n = (int64_t)list(root, "Y", x) / 2;
    int32_t clusters = (int32_t)list(root, "mu", mu) / 2;
    list(root, "labels", before);
    for (int k = 0; k < 256; k++)
        ones[k] = 1;
    vem_model *start = NULL;
    assert_int_equal(vem_model_new(ctx, VEM_ISO_SHARED, clusters, 2, mu, NULL, &s2,
                                   &start),
                     VEM_OK);
    size_t k;
    json_array_foreach(json_object_get(root, "cases"), k, c)
    {
        step s = step_new(x, n, ones, start, 1, number(c, "eps"));
        for (int64_t i = 0; i < n; i++)
            s.posterior.held[i] = (int32_t)before[i];
        s.posterior.known = 1;
        step_run(&s);
        list(c, "new_labels", after);
        int64_t changed = 0;
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(s.posterior.held[i], (int32_t)after[i]);
            changed += after[i] != before[i];
        }
        assert_int_equal(s.result.changed, changed);
        step_free(&s);
    }
    vem_model_free(start);
    json_decref(root);
}

static void seeding(void **state)
{
    (void)state;
    json_t *root = golden("coreset_seeding.json"), *c;
    double x[256], w[256], q[256], to_first[256], draws[256], u[256], key[256], out[8];
    int64_t n = (int64_t)list(root, "X", x) / 2;
    size_t k;
    list(root, "kmeanspp_D2_after_first", to_first);
    json_array_foreach(json_object_get(root, "afkmc2"), k, c)
    {
        list(c, "weights", w);
        list(c, "q", q);
        list(c, "u", u);
        list(c, "key", key);
        int64_t length = (int64_t)list(c, "candidates", draws);
        int64_t first = (int64_t)number(c, "first");
        double mass = 0, weighted = 0, keys[16];
        ctx->kernels_double->distances(x, 2, n, 2, x + 2 * first, 2, 1, out, n);
        for (int64_t i = 0; i < n; i++) {
            near(out[i], to_first[i], "D2 after the first center");
            mass += w[i];
            weighted += w[i] * out[i];
        }
        for (int64_t i = 0; i < n; i++)
            near(vem_i_afkmc2_proposal(w[i], out[i], mass, weighted), q[i], "proposal");
        for (int64_t j = 0; j < length; j++) {
            int64_t i = (int64_t)draws[j];
            keys[j] = w[i] * out[i] / q[i];
            near(keys[j], key[j], "key");
        }
        assert_int_equal((int64_t)draws[vem_i_afkmc2_chain(keys, u, length)],
                         (int64_t)number(c, "chosen"));
    }
    json_decref(root);
}

/* One cell of three points under families of counts: the sum of q-weighted means is the bound F. */
static void families_of_counts(void **state)
{
    (void)state;
    json_t *root = golden("families.json");
    double prior[256], x[256], theta[256], wanted[256], wanted_q[256];
    list(root, "prior", prior);
    const vem_family_kind families[] = {VEM_BERNOULLI, VEM_POISSON, VEM_MULTINOMIAL};
    for (int f = 0; f < 3; f++) {
        const vem_family_kind family = families[f];
        const json_t *c = json_object_get(root, vem_choice_name("family", family));
        const int32_t d = (int32_t)list(c, "theta", theta) / 2;
        const int64_t n = (int64_t)list(c, "x", x) / d;
        list(c, "avg_loglik", wanted);
        list(c, "q", wanted_q);
        vem_model *model = NULL;
        vem_data *rows = NULL;
        vem_i_points *points = NULL;
        assert_int_equal(vem_model_new(ctx, family, 2, d, theta, prior, NULL, &model),
                         VEM_OK);
        assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, x, n, d, 0, 0, &rows), VEM_OK);
        const vem_i_points_request request = {.precision = VEM_DOUBLE,
                                              .support = vem_i_support_of(model->family),
                                              .phase = "read"};
        assert_int_equal(vem_i_points_new(run_of(ctx), rows, &request, &points), VEM_OK);
        /* The cell: the mean of the points, their mass, their mean log base measure. */
        double mean[8] = {0}, mass = (double)n, base = points->view.log_base_mean,
               cost[2];
        for (int64_t i = 0; i < n * d; i++)
            mean[i % d] += x[i] / mass;
        vem_view cell = points->view;
        cell.x = mean;
        cell.n = cell.used = cell.global_n = 1;
        cell.mass = &mass;
        cell.log_base = &base;
        const int32_t index[2] = {0, 1};
        vem_i_scorer scorer;
        assert_int_equal(vem_i_scorer_new(run_of(ctx), cell.kernels,
                                          vem_i_model_shape(model), &scorer),
                         VEM_OK);
        vem_i_scorer_prepare(run_of(ctx), model, &scorer);
        const vem_i_items items = vem_i_items_at(&cell, 0, NULL, 1);
        for (int32_t k = 0; k < 2; k++) {
            model->family->score_pairs(&scorer, &items, 1, index + k, cost + k, 1);
            near(-(cost[k] + scorer.base) / 2 - log(prior[k]) + base, wanted[k],
                 "the mean log-likelihood of a cell");
        }
        vem_i_posterior posterior = {0};
        vem_i_stats stats = {0};
        vem_i_estep *estep = NULL;
        const vem_i_search_spec all = vem_i_search_closest(2, 2, 0);
        const vem_progress told = {.phase = "em"};
        assert_int_equal(vem_i_posterior_new(run_of(ctx), &cell, &all, &posterior),
                         VEM_OK);
        assert_int_equal(vem_i_stats_new(run_of(ctx), vem_i_model_shape(model), &stats),
                         VEM_OK);
        assert_int_equal(vem_i_estep_new(run_of(ctx), &cell, &scorer, &all, 1, &estep),
                         VEM_OK);
        const vem_i_estep_result e = vem_i_estep_run(estep, &posterior, &stats, &told, 0);
        near(e.log_sum + mass * (vem_i_view_log_shift(&cell) - 0.5 * scorer.base),
             number(c, "F"), "F of a cell");
        for (int32_t k = 0; k < 2; k++)
            near(*vem_i_stats_mass(&stats, k) / mass, wanted_q[k], "q of a cell");
        vem_i_estep_free(estep);
        vem_i_stats_free(&stats);
        vem_i_posterior_free(&posterior);
        vem_i_scorer_free(&scorer);
        vem_i_points_free(points);
        vem_data_free(rows);
        vem_model_free(model);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_em), cmocka_unit_test(general_gmm),
        cmocka_unit_test(kmeans),       cmocka_unit_test(lazy),
        cmocka_unit_test(seeding),      cmocka_unit_test(families_of_counts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
