#include "engine.h"
#include "run.h"

#include "model/evidence.h"
#include "model/units.h"
#include "moves/moves.h"

static void must(const engine *e, vem_status status)
{
    if (status != VEM_OK)
        fail_msg("%s", vem_ctx_message(e->ctx));
}

/* The model moves to one that has room for more clusters. */
static void make_room(engine *e, int32_t capacity)
{
    vem_model *narrow = e->em.model;
    vem_i_shape shape = vem_i_model_shape(narrow);
    shape.capacity = capacity;
    must(e, vem_i_model_blank(run_of(e->ctx), shape, &e->em.model));
    vem_i_model_assign(narrow, e->em.model);
    vem_model_free(narrow);
}

void engine_new_with_room(engine *e, vem_ctx *ctx, const grid_data *data,
                          const vem_options *options, const vem_model *start,
                          int32_t capacity)
{
    memset(e, 0, sizeof *e);
    e->ctx = ctx;
    must(e, vem_data_borrow(ctx, VEM_FLOAT64, data->x, data->n, data->d, 0, 0, &e->rows));
    if (data->weights)
        must(e, vem_data_set_weights(ctx, e->rows, data->weights, data->n));
    must(e,
         vem_options_resolve(ctx, options, data->n, data->d, VEM_FLOAT64, &e->options));
    vem_i_points_request request = {.precision = (vem_precision)e->options.precision,
                                    .normalize = vem_i_normalize_of(&e->options),
                                    .phase = "read"};
    must(e, vem_i_points_new(run_of(ctx), e->rows, &request, &e->points));
    const vem_view *view = &e->points->view;
    const int priced = e->options.balance != VEM_BALANCE_NONE && !(options->swaps > 0);
    if (priced)
        e->options.prior = VEM_PRIOR_EVEN;
    double floor = e->options.floor * view->variance;
    e->em = (vem_i_em){.run = run_of(ctx),
                       .options = &e->options,
                       .max_steps = e->options.max_steps,
                       .view = view,
                       .priced = priced,
                       .constraints = {.prior = (vem_prior_kind)e->options.prior,
                                       .relax = 1,
                                       .floor = floor,
                                       .total_mass = view->total_mass}};
    must(e, vem_i_model_to_view(run_of(ctx), start, view,
                                vem_i_family_of(e->options.family), &e->em.model));
    if (e->options.metric == VEM_METRIC_COSINE) {
        e->em.constraints.sphere = (vem_i_sphere){view->origin, 1};
        for (int64_t c = 0; c < e->em.model->clusters; c++)
            vem_i_sphere_place(&e->em.constraints.sphere, data->d,
                               e->em.model->means + c * data->d);
    }
    if (capacity > e->em.model->clusters)
        make_room(e, capacity);
    const vem_i_search_spec search = vem_i_search_for(&e->options, 1);
    must(e, vem_i_em_new(&e->em, &search));
    must(e, vem_i_moves_new(&e->em, e->options.swaps > 0));
}

void engine_new(engine *e, vem_ctx *ctx, const grid_data *data,
                const vem_options *options, const vem_model *start)
{
    engine_new_with_room(e, ctx, data, options, start, 0);
}

void engine_free(engine *e)
{
    vem_i_em_free(&e->em);
    vem_model_free(e->em.model);
    vem_i_points_free(e->points);
    vem_data_free(e->rows);
}

double engine_expect(engine *e, vem_i_step_plan plan)
{
    vem_i_em *em = &e->em;
    vem_i_scorer_prepare(run_of(e->ctx), em->model, &em->scorer);
    vem_i_estep_plan(em->estep, &plan);
    vem_progress told = {.phase = "em"};
    vem_i_estep_result r = vem_i_estep_run(em->estep, &em->posterior, NULL, &told, 0);
    em->free_energy = r.log_sum / em->view->total_mass - 0.5 * em->scorer.base +
                      em->model->offset + vem_i_view_log_jacobian(em->view);
    return em->free_energy;
}

void engine_collect(engine *e)
{
    vem_i_estep_collect(e->em.estep, &e->em.posterior, &e->em.stats);
}

void engine_maximize(engine *e, double relax)
{
    vem_i_em *em = &e->em;
    em->constraints.relax = relax;
    vem_i_maximize(run_of(e->ctx), &em->scorer, &em->stats, &em->constraints, em->model);
}

int64_t engine_swap(engine *e, double *promised)
{
    assert_true(e->em.moves[0].move == &vem_i_move_swap);
    const int64_t moved = vem_i_move_try(&e->em.moves[0], promised);
    return moved > 0 ? moved : 0;
}

enum { MOST_COLUMNS = 40 };

/* The covariance of a cluster, whatever the family; lower triangle. */
static void covariance_of(const vem_model *model, int32_t cluster, double *matrix)
{
    const int64_t d = model->d;
    for (int32_t i = 0; i < d; i++)
        for (int32_t j = 0; j <= i; j++)
            matrix[i * d + j] = vem_i_model_covariance(model, cluster, i, j);
}

double engine_log_joint_of(const engine *e, const vem_model *model, int64_t item,
                           int32_t cluster)
{
    const vem_view *view = e->em.view;
    double l[MOST_COLUMNS * MOST_COLUMNS], z[MOST_COLUMNS], log_det = 0, square = 0;
    int64_t d = model->d;
    assert_true(d <= MOST_COLUMNS);
    covariance_of(model, cluster, l);
    /* Sigma = L L',  z = L^-1 (x - mu), row by row. */
    for (int64_t i = 0; i < d; i++) {
        double sum = vem_i_value(view->kernels, vem_i_view_row(view, item), i) -
                     model->means[cluster * d + i];
        for (int64_t j = 0; j <= i; j++) {
            double value = l[i * d + j];
            for (int64_t k = 0; k < j; k++)
                value -= l[i * d + k] * l[j * d + k];
            l[i * d + j] = i == j ? sqrt(value) : value / l[j * d + j];
            sum -= j < i ? l[i * d + j] * z[j] : 0;
        }
        z[i] = sum / l[i * d + i];
        square += z[i] * z[i];
        log_det += 2 * log(l[i * d + i]);
    }
    return log(model->weights[cluster]) -
           0.5 * (square + log_det + (double)d * log(6.283185307179586477)) +
           vem_i_view_log_jacobian(view);
}

double engine_log_joint(const engine *e, int64_t item, int32_t cluster)
{
    return engine_log_joint_of(e, e->em.model, item, cluster);
}

double engine_free_energy(const engine *e)
{
    const vem_i_posterior *p = &e->em.posterior;
    double total = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double most = -INFINITY, sum = 0;
        for (int32_t r = 0; r < p->width; r++)
            if (p->held[i * p->width + r] >= 0)
                most = fmax(most, engine_log_joint(e, i, p->held[i * p->width + r]));
        for (int32_t r = 0; r < p->width; r++)
            if (p->held[i * p->width + r] >= 0)
                sum += exp(engine_log_joint(e, i, p->held[i * p->width + r]) - most);
        double w = vem_i_view_mass(e->em.view, i);
        total += w > 0 ? w * (most + log(sum)) : 0;
    }
    return total / e->em.view->total_mass;
}

void engine_assert_sets(const engine *e)
{
    const vem_i_posterior *p = &e->em.posterior;
    for (int64_t i = 0; i < p->n; i++) {
        const int32_t *held = p->held + i * p->width;
        int32_t some = 0;
        for (int32_t r = 0; r < p->width; r++) {
            assert_in_range(held[r] + 1, 0, e->em.model->clusters);
            some += held[r] >= 0;
            for (int32_t s = 0; s < r; s++)
                if (held[r] >= 0 && held[r] == held[s])
                    fail_msg("item %d holds cluster %d twice", (int)i, held[r]);
        }
        assert_true(some > 0);
    }
}
