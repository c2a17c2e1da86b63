/* Special functions and the evidence of clusters, against golden values (special.json, bkm.json) and
 * against each other: a fit under a conjugate prior ends where minus F is minus the log evidence of its
 * labels, in every family that has one, and F never falls on the way. */
#include "golden.h"

#include "engine.h"
#include "model/evidence.h"
#include "model/moments.h"
#include "model/special.h"
#include "run.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { ROWS = 12, D = 2, CLUSTERS = 3, MOST = 64 };

static void special_functions_have_golden_values(void **state)
{
    (void)state;
    json_t *root = golden_read("special.json");
    double x[MOST], found[MOST];
    const size_t n = golden_list(root, "x", x);
    for (size_t i = 0; i < n; i++)
        found[i] = vem_i_digamma(x[i]);
    golden_near(root, "digamma", found);
    for (size_t i = 0; i < n; i++)
        found[i] = vem_i_log_gamma(x[i]);
    golden_near(root, "lgamma", found);
    const json_t *list = json_object_get(root, "lgamma_D");
    assert_true(json_array_size(list) > 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const double at = golden_number(one, "x");
        const int32_t d = (int32_t)golden_number(one, "D");
        found[0] = vem_i_log_gamma_of(at, d);
        golden_near(one, "value", found);
        const double h = 1e-4, slope = (vem_i_log_gamma_of(at + h, d) -
                                        vem_i_log_gamma_of(at - h, d)) /
                                       (2 * h);
        grid_assert_near(vem_i_digamma_of(at, d), slope, 1e-4 * fmax(1, fabs(slope)),
                         "psi_D");
    }
    json_decref(root);
}

/* The rows of the file with its labels as what they hold, and its prior in the units of the view. */
typedef struct labelled {
    json_t *root;
    engine e;
    vem_i_conjugate prior;
    double x[ROWS * D];
    int32_t labels[ROWS];
} labelled;

static void labelled_new(labelled *l, vem_family_kind family)
{
    double z[ROWS];
    l->root = golden_read("bkm.json");
    assert_non_null(l->root);
    golden_list(l->root, "X", l->x);
    golden_list(l->root, "z", z);
    for (int i = 0; i < ROWS; i++)
        l->labels[i] = (int32_t)z[i];
    const grid_data data = {.n = ROWS, .d = D, .x = l->x};
    vem_options o = grid_options(CLUSTERS, family, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 1);
    vem_model *start = grid_start(ctx, &data, family, CLUSTERS);
    engine_new(&l->e, ctx, &data, &o, start);
    vem_model_free(start);
    const json_t *hyper = json_object_get(l->root, "hyper");
    double b[D * D];
    vem_i_conjugate *p = &l->prior;
    assert_int_equal(vem_i_conjugate_new(run_of(ctx), vem_i_family_of(family), D, p),
                     VEM_OK);
    p->strength = golden_number(hyper, "xi0");
    p->dof = golden_number(hyper, "eta0");
    p->count = golden_number(hyper, "phi0");
    golden_list(hyper, "m0", p->mean);
    golden_list(hyper, "B0", b);
    for (int j = 0; j < D; j++)
        p->mean[j] -= l->e.points->view.origin[j];
    for (int64_t k = 0; k < vem_i_shape_values(p->family, D); k++)
        p->scale[k] = family == VEM_DIAG ? b[k * (D + 1)] : b[k];
    assert_int_equal(vem_i_conjugate_settle(run_of(ctx), p), VEM_OK);
    l->e.em.constraints.conjugate = p;
    vem_i_posterior_start(&l->e.em.posterior, l->labels);
    vem_i_scorer_prepare(run_of(ctx), l->e.em.model, &l->e.em.scorer);
    engine_collect(&l->e);
}

static void labelled_free(labelled *l)
{
    vem_i_conjugate_free(&l->prior);
    engine_free(&l->e);
    json_decref(l->root);
}

/* Minus the log evidence of what is held; of the clusters in `each`. */
static double evidence(labelled *l, double *each)
{
    vem_i_em *em = &l->e.em;
    double mean[D], scatter[D * D], work[256], sum = 0, clusters = 0;
    assert_true(vem_i_covariance_work(l->prior.family, l->prior.d) <= 256);
    for (int32_t c = 0; c < em->model->clusters; c++) {
        double about[D];
        for (int j = 0; j < D; j++)
            about[j] = vem_i_about(&em->scorer, c, j);
        const double mass =
            vem_i_moments_of(&em->stats, c, l->prior.family, about, mean, scatter);
        each[c] = vem_i_evidence_of(&l->prior, mass, mean, scatter, work);
        sum += each[c];
        clusters += mass > 0;
    }
    return sum + vem_i_evidence_count(&l->prior, ROWS, clusters);
}

static void evidence_has_golden_values(void **state)
{
    (void)state;
    labelled l;
    double each[CLUSTERS];
    labelled_new(&l, VEM_FULL);
    double f = evidence(&l, each);
    golden_near(l.root, "Fc", each);
    golden_near(l.root, "F", &f);
    engine_maximize(&l.e, 1);
    /* r_c up to what all clusters share. */
    double costs[ROWS * CLUSTERS];
    golden_list(l.root, "costs", costs);
    for (int i = 0; i < ROWS; i++)
        for (int32_t c = 1; c < CLUSTERS; c++)
            grid_assert_near(engine_log_joint(&l.e, i, 0) - engine_log_joint(&l.e, i, c),
                             costs[i * CLUSTERS + c] - costs[i * CLUSTERS], 1e-9,
                             "labelling cost");
    const json_t *posterior = json_object_get(l.root, "posterior");
    for (int32_t c = 0; c < CLUSTERS; c++) {
        const json_t *p = json_array_get(posterior, (size_t)c);
        double mean[D], b[D * D];
        for (int j = 0; j < D; j++)
            mean[j] = l.e.em.model->means[c * D + j] + l.e.points->view.origin[j];
        for (int k = 0; k < D * D; k++)
            b[k] = vem_i_cluster_shape(l.e.em.model, c)[k] * golden_number(p, "eta");
        golden_near(p, "m", mean);
        golden_near(p, "B", b);
    }
    /* The labels of the next sweep, and where it ends. */
    double next[ROWS];
    engine_expect(&l.e, (vem_i_step_plan){0});
    golden_list(l.root, "z_next", next);
    for (int i = 0; i < ROWS; i++)
        assert_int_equal(l.e.em.posterior.held[i], (int)next[i]);
    engine_collect(&l.e);
    f = evidence(&l, each);
    golden_near(l.root, "F_z_next_K3", &f);
    labelled_free(&l);
}

/* F never falls, and ends at the evidence of the labels. */
static void fits_end_at_the_evidence(void **state)
{
    (void)state;
    const vem_family_kind families[] = {VEM_ISO, VEM_DIAG, VEM_FULL};
    for (int k = 0; k < 3; k++) {
        labelled l;
        double each[CLUSTERS], before = -INFINITY, now = -INFINITY;
        labelled_new(&l, families[k]);
        const double first = evidence(&l, each);
        int steps = 0;
        do {
            before = now;
            engine_maximize(&l.e, 1);
            now = engine_expect(&l.e, (vem_i_step_plan){0});
            assert_true(now >= before - 1e-12 * fabs(before));
            engine_collect(&l.e);
        } while (now > before + 1e-14 && ++steps < 100);
        assert_true(steps > 0 && steps < 100);
        const double f = evidence(&l, each);
        assert_true(f <= first);
        grid_assert_near(-ROWS * now, f, 1e-9, "F is the evidence");
        labelled_free(&l);
    }
}

/* The M-steps between blocks are under the prior, too: F never falls from epoch to epoch. */
static void epochs_under_a_prior(void **state)
{
    (void)state;
    enum { MANY = 400, BLOCKS = 5 };
    const vem_family_kind families[] = {VEM_ISO, VEM_DIAG, VEM_FULL};
    for (int k = 0; k < 3; k++) {
        grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, MANY, D, 4);
        vem_model *start = grid_start(ctx, &data, families[k], CLUSTERS);
        vem_options o =
            grid_options(CLUSTERS, families[k], VEM_PRIOR_FREE, CLUSTERS, VEM_DOUBLE, 30);
        vem_i_conjugate p;
        engine e;
        o.blocks = BLOCKS;
        o.tolerance = 1e-9;
        engine_new(&e, ctx, &data, &o, start);
        assert_int_equal(vem_i_conjugate_new(run_of(ctx), vem_i_family_of(families[k]), D,
                                             &p),
                         VEM_OK);
        p.mass_unit = 1;
        p.strength = 20; /* far from what the rows say alone */
        p.dof = 40;
        p.count = 5;
        for (int64_t s = 0; s < vem_i_shape_values(p.family, D); s++)
            p.scale[s] = families[k] == VEM_FULL && s % (D + 1) ? 0 : 30;
        assert_int_equal(vem_i_conjugate_settle(run_of(ctx), &p), VEM_OK);
        e.em.constraints.conjugate = &p;
        /* From a model of that M-step, whose offset is known. */
        engine_expect(&e, (vem_i_step_plan){0});
        engine_collect(&e);
        engine_maximize(&e, 1);
        assert_int_equal(vem_i_em_run(&e.em), VEM_OK);
        assert_true(e.em.trace.count > 3);
        for (int64_t t = 1; t < e.em.trace.count; t++) {
            const double before = e.em.trace.steps[t - 1].free_energy,
                         now = e.em.trace.steps[t].free_energy;
            if (!(now >= before - 1e-10 * fabs(before)))
                fail_msg("F falls from %.15g to %.15g in epoch %d", before, now, (int)t);
        }
        vem_i_conjugate_free(&p);
        engine_free(&e);
        vem_model_free(start);
        grid_data_free(&data);
    }
}

/* Columns that are independent are one-dimensional clusters, each with its own Wishart. */
static void columns_are_wisharts_of_one_dimension(void **state)
{
    (void)state;
    const vem_family_kind families[] = {VEM_ISO, VEM_DIAG, VEM_FULL};
    const double mean[] = {0.7, -1.9}, scatter[] = {3.1, 5.9}, scale[] = {0.8, 0.3};
    double single[2], both = 0, work[64];
    for (int k = 0; k < 3; k++)
        for (int32_t j = 0; j < 2; j++) {
            vem_i_conjugate p;
            assert_int_equal(vem_i_conjugate_new(run_of(ctx),
                                                 vem_i_family_of(families[k]), 1, &p),
                             VEM_OK);
            p.strength = 0.2;
            p.dof = 1.7;
            p.count = 0.9;
            p.scale[0] = scale[j];
            assert_int_equal(vem_i_conjugate_settle(run_of(ctx), &p), VEM_OK);
            const double f = vem_i_evidence_of(&p, 6, &mean[j], &scatter[j], work);
            if (k == 0)
                single[j] = f;
            grid_assert_near(f, single[j], 1e-12, "one column");
            vem_i_conjugate_free(&p);
        }
    vem_i_conjugate p;
    assert_int_equal(vem_i_conjugate_new(run_of(ctx), vem_i_family_of(VEM_DIAG), 2, &p),
                     VEM_OK);
    p.strength = 0.2;
    p.dof = 1.7;
    p.count = 0.9;
    memcpy(p.scale, scale, sizeof scale);
    assert_int_equal(vem_i_conjugate_settle(run_of(ctx), &p), VEM_OK);
    both = vem_i_evidence_of(&p, 6, mean, scatter, work);
    grid_assert_near(both,
                     single[0] + single[1] + vem_i_log_gamma(6.9) - vem_i_log_gamma(0.9),
                     1e-11, "two columns");
    assert_true(vem_i_evidence_of(&p, 0, mean, scatter, work) == 0);
    vem_i_conjugate_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_functions_have_golden_values),
        cmocka_unit_test(evidence_has_golden_values),
        cmocka_unit_test(fits_end_at_the_evidence),
        cmocka_unit_test(epochs_under_a_prior),
        cmocka_unit_test(columns_are_wisharts_of_one_dimension),
    };
    return cmocka_run_group_tests_name("evidence", tests, set_up, tear_down);
}
