/* The over-relaxed M-step: the means go a times as far as the maximum is. About the new
 * means the squared error is  S - (2 a - a^2) W |delta|^2;  the variances are the ones that
 * belong to these means, and F rises for 1 <= a < 2. */
#include "engine.h"
#include "run.h"

#define CONTEXT_THREADS 1
#include "context.h"

enum { D = 3, C = 4, N = 500 };

/* Mass, first and second moments (a matrix) of what cluster c holds about `mean`. */
static double moments(const engine *e, int32_t c, const double *mean, double first[D],
                      double second[D][D])
{
    const vem_i_posterior *p = &e->em.posterior;
    const vem_view *view = e->em.view;
    double mass = 0;
    memset(first, 0, D * sizeof *first);
    memset(second, 0, D * sizeof *second);
    for (int64_t entry = 0; entry < p->n * p->width; entry++) {
        if (p->held[entry] != c)
            continue;
        int64_t item = entry / p->width;
        double w =
            p->q ? vem_i_value(view->kernels, p->q, entry) : vem_i_view_mass(view, item);
        double x[D];
        mass += w;
        for (int j = 0; j < D; j++) {
            x[j] = vem_i_value(view->kernels, vem_i_view_row(view, item), j) - mean[j];
            first[j] += w * x[j];
        }
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++)
                second[j][k] += w * x[j] * x[k];
    }
    return mass;
}

static double trace_of(double second[D][D])
{
    double sum = 0;
    for (int j = 0; j < D; j++)
        sum += second[j][j];
    return sum;
}

static void assert_relaxed(engine *e, double relax, const char *what)
{
    vem_model *model = e->em.model;
    double before[C * D], pooled = 0, first[D], second[D][D];
    memcpy(before, model->means, sizeof before);
    engine_maximize(e, relax);
    for (int32_t c = 0; c < C; c++) {
        const double *mean = model->means + c * D;
        double mass = moments(e, c, before + c * D, first, second), shift = 0;
        double about_old = trace_of(second);
        assert_true(mass > 0);
        for (int j = 0; j < D; j++) {
            double delta = first[j] / mass;
            shift += delta * delta;
            grid_assert_near(mean[j], before[c * D + j] + relax * delta, 1e-10, what);
        }
        moments(e, c, mean, first, second);
        double about_new = trace_of(second);
        grid_assert_near(about_new,
                         about_old - (2 * relax - relax * relax) * mass * shift,
                         1e-9 * about_old, what);
        pooled += about_new;
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++) {
                if (model->family->kind == VEM_FULL)
                    grid_assert_near(model->variances[(c * D + j) * D + k],
                                     second[j][k] / mass, 1e-9, what);
                else if (model->family->kind == VEM_DIAG && j == k)
                    grid_assert_near(model->variances[c * D + j], second[j][j] / mass,
                                     1e-9, what);
            }
        if (model->family->kind == VEM_ISO)
            grid_assert_near(model->variances[c], about_new / (D * mass), 1e-9, what);
    }
    if (model->family->kind == VEM_ISO_SHARED)
        grid_assert_near(model->variances[0], pooled / (D * e->em.view->total_mass), 1e-9,
                         what);
}

static void relaxed_steps(void **state)
{
    (void)state;
    static const double relax[] = {1, 1.2, 1.5, 1.9, 1.99};
    GRID_EACH_SHAPED (family)
        for (int prior = VEM_PRIOR_FLAT; prior <= VEM_PRIOR_FREE; prior++)
            for (int held = 1; held <= 3; held++)
                for (int k = 0; k < 5; k++) {
                    char what[100];
                    snprintf(what, sizeof what, "family %d, prior %d, held %d, relax %g",
                             family, prior, held, relax[k]);
                    grid_data data =
                        grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, N, D, 101);
                    vem_model *start = grid_start(ctx, &data, (vem_family_kind)family, C);
                    vem_options o =
                        grid_options(C, (vem_family_kind)family, (vem_prior_kind)prior,
                                     held, VEM_DOUBLE, 5);
                    engine e;
                    engine_new(&e, ctx, &data, &o, start);
                    for (int step = 0; step < 3; step++) {
                        double f = engine_expect(&e, (vem_i_step_plan){0});
                        engine_collect(&e);
                        assert_relaxed(&e, relax[k], what);
                        vem_i_scorer_prepare(run_of(ctx), e.em.model, &e.em.scorer);
                        double g = vem_i_em_again(&e.em); /* for fixed sets */
                        if (!(g > f))
                            fail_msg("F goes from %.15g to %.15g: %s", f, g, what);
                    }
                    engine_free(&e);
                    vem_model_free(start);
                    grid_data_free(&data);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relaxed_steps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
