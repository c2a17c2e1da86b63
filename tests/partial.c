#include "partial.h"
#include "run.h"

#include "model/units.h"

/* ---- The engine's E-step in pieces ---- */

void partial_new(partial *p, vem_ctx *ctx, const grid_data *data, const vem_model *model,
                 vem_i_search_spec search)
{
    *p = (partial){.ctx = ctx};
    int32_t c = vem_model_clusters(model), d = data->d;
    vem_family_kind family = vem_model_family(model);
    assert_int_equal(vem_data_borrow(ctx, VEM_FLOAT64, data->x, data->n, d, 0, 0,
                                     &p->rows),
                     VEM_OK);
    if (data->weights)
        assert_int_equal(vem_data_set_weights(ctx, p->rows, data->weights, data->n),
                         VEM_OK);
    vem_i_points_request request = {.precision = VEM_DOUBLE, .phase = "read"};
    assert_int_equal(vem_i_points_new(run_of(ctx), p->rows, &request, &p->points),
                     VEM_OK);
    const vem_view *view = &p->points->view;
    assert_int_equal(vem_i_model_to_view(run_of(ctx), model, view,
                                         vem_i_family_of(family), &p->model),
                     VEM_OK);
    assert_int_equal(vem_i_scorer_new(run_of(ctx), view->kernels,
                                      vem_i_shape_of(vem_i_family_of(family), c, d),
                                      &p->scorer),
                     VEM_OK);
    assert_int_equal(vem_i_posterior_new(run_of(ctx), view, &search, &p->posterior),
                     VEM_OK);
    assert_int_equal(vem_i_stats_new(run_of(ctx),
                                     vem_i_shape_of(vem_i_family_of(family), c, d),
                                     &p->stats),
                     VEM_OK);
    assert_int_equal(vem_i_estep_new(run_of(ctx), view, &p->scorer, &search, 1,
                                     &p->estep),
                     VEM_OK);
    assert_int_equal(vem_i_search_new(run_of(ctx), &search, view, &p->scorer, &p->search),
                     VEM_OK);
    p->graph = (vem_i_graph *)p->search;
    p->candidates = vem_i_graph_candidates(&search);
    p->tried = grid_zeros(view->n * p->candidates, sizeof(int32_t));
}

void partial_free(partial *p)
{
    vem_i_search_free(p->search);
    vem_i_estep_free(p->estep);
    vem_i_posterior_free(&p->posterior);
    vem_i_scorer_free(&p->scorer);
    vem_i_stats_free(&p->stats);
    vem_i_points_free(p->points);
    vem_data_free(p->rows);
    vem_model_free(p->model);
    free(p->tried);
}

void partial_hold(partial *p, const int32_t *held)
{
    size_t count = (size_t)(p->posterior.n * p->posterior.width);
    memcpy(p->posterior.held, held, count * sizeof *held);
    p->posterior.known = 1;
}

static void note_tried(partial *p, const vem_i_block *block)
{
    for (int32_t i = 0; i < block->n; i++) {
        int32_t *row = p->tried + (block->first + i) * p->candidates;
        for (int32_t r = 0; r < p->candidates; r++)
            row[r] = -1;
        for (int32_t r = 0; r < p->candidates; r++) {
            int32_t c = block->trial[(int64_t)r * block->capacity + i];
            if (c < 0)
                break;
            row[r] = c;
        }
    }
}

void partial_find(partial *p)
{
    const vem_i_search_type *type = p->search->spec.type;
    const vem_i_step_plan plan = {0};
    vem_i_block *block = &p->search->blocks[0];
    int64_t n = p->points->view.n, per_shard = p->search->shard;
    vem_i_scorer_prepare(run_of(p->ctx), p->model, &p->scorer);
    p->pairs = type->prepare(p->search, &plan, 0, NULL);
    for (int64_t begin = 0; begin < n; begin += per_shard) {
        int64_t end = begin + per_shard < n ? begin + per_shard : n;
        block->pairs = 0;
        if (type->begin_shard)
            type->begin_shard(p->search, block, 0);
        for (int64_t i = begin; i < end; i += block->n) {
            /* The search fills only as many rows as its longest list has. */
            memset(block->trial, -1,
                   (size_t)block->capacity * (size_t)p->candidates * sizeof(int32_t));
            const int32_t *before =
                type->next_block(p->search, block, i, end,
                                 p->posterior.known ? p->posterior.held : NULL);
            type->find(p->search, block, before);
            note_tried(p, block);
            vem_i_posterior_store(&p->posterior, block);
        }
        p->pairs += block->pairs;
        if (p->search->wave) {
            type->end_shard(p->search, block, 0);
            type->end_wave(p->search, 1);
        }
    }
    p->posterior.known = 1;
}

void partial_settle(partial *p)
{
    if (p->search->spec.type->settle)
        p->search->spec.type->settle(p->search, 1);
}

vem_i_search_spec partial_spec(int kind, int32_t clusters, int32_t held, int32_t reach,
                               int32_t explore, uint64_t seed)
{
    const vem_options o = {.search = kind,
                           .clusters = clusters,
                           .held = held,
                           .reach = reach,
                           .explore = explore};
    return vem_i_search_for(&o, seed);
}

double partial_normalize(partial *p)
{
    const vem_view *view = &p->points->view;
    vem_i_estep_result e = vem_i_estep_again(p->estep, &p->posterior, &p->stats);
    return e.log_sum / view->total_mass - 0.5 * p->scorer.base +
           vem_i_view_log_jacobian(view);
}

void partial_maximize(partial *p, vem_prior_kind prior)
{
    vem_i_constraints constraints = {.prior = prior,
                                     .relax = 1,
                                     .floor = 1e-6 * p->points->view.variance,
                                     .total_mass = p->points->view.total_mass};
    p->scorer.family->maximize(run_of(p->ctx), &p->scorer, &p->stats, &constraints,
                               p->model);
}

void partial_evidence(const partial *p, int32_t c, int32_t t, double *sum, int *count)
{
    const vem_i_estimated *g = (const vem_i_estimated *)p->graph;
    const vem_i_slot *slots = g->evidence + (int64_t)c * g->slots;
    *sum = 0;
    *count = 0;
    for (int32_t s = 0; s < g->used[c]; s++)
        if (slots[s].other == t) {
            assert_int_equal(*count, 0); /* one average per pair */
            *sum = slots[s].sum;
            *count = slots[s].count;
        }
}

/* ---- The paper's algorithm, with all its averages ---- */

naive_partial naive_partial_new(const grid_data *data, const vem_model *start,
                                int32_t held, int32_t reach, int32_t explore,
                                uint64_t seed)
{
    int32_t clusters = vem_model_clusters(start);
    naive_partial p = {.data = data,
                       .clusters = clusters,
                       .held = held,
                       .reach = reach,
                       .explore = explore,
                       .seed = seed,
                       .variance = *vem_model_variances(start)};
    p.means = grid_zeros((int64_t)clusters * data->d, sizeof(double));
    p.holds = grid_zeros(data->n * held, sizeof(int32_t));
    p.graph = grid_zeros((int64_t)clusters * reach, sizeof(int32_t));
    memcpy(p.means, vem_model_means(start),
           (size_t)(clusters * data->d) * sizeof(double));
    for (int64_t i = 0; i < data->n; i++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_HELD, 0, (uint64_t)i);
        vem_i_rng_distinct(&rng, clusters, -1, held, p.holds + i * held);
    }
    for (int32_t c = 0; c < clusters; c++) {
        vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_GRAPH, 0, (uint64_t)c);
        p.graph[c * reach] = c;
        vem_i_rng_distinct(&rng, clusters, c, reach - 1, p.graph + c * reach + 1);
    }
    return p;
}

void naive_partial_free(naive_partial *p)
{
    free(p->means);
    free(p->holds);
    free(p->graph);
}

static double weight_of(const grid_data *data, int64_t i)
{
    return data->weights ? data->weights[i] : 1;
}

static double distance2(const naive_partial *p, int64_t i, int32_t c)
{
    double sum = 0;
    for (int32_t j = 0; j < p->data->d; j++) {
        double e = p->data->x[i * p->data->d + j] - p->means[c * p->data->d + j];
        sum += e * e;
    }
    return sum;
}

/* far[c]: squared distance of item i from a cluster it tries, -1 for the others. */
static int32_t try_for(const naive_partial *p, int64_t i, double *far)
{
    int32_t count = 0;
    for (int32_t c = 0; c < p->clusters; c++)
        far[c] = -1;
    for (int32_t r = 0; r < p->held; r++)
        for (int32_t k = 0; k < p->reach; k++)
            far[p->graph[p->holds[i * p->held + r] * p->reach + k]] = 0;
    vem_i_rng rng =
        vem_i_rng_at(p->seed, VEM_RNG_EXPLORE, (uint32_t)p->step, (uint64_t)i);
    for (int32_t k = 0; k < p->explore; k++)
        far[vem_i_rng_below(&rng, (uint64_t)p->clusters)] = 0;
    for (int32_t c = 0; c < p->clusters; c++)
        if (far[c] == 0) {
            far[c] = distance2(p, i, c);
            count++;
        }
    return count;
}

static void hold_nearest(naive_partial *p, int64_t i, const double *far)
{
    int32_t *holds = p->holds + i * p->held;
    for (int32_t r = 0; r < p->held; r++) {
        int32_t best = -1;
        for (int32_t c = 0; c < p->clusters; c++) {
            int taken = far[c] < 0;
            for (int32_t s = 0; s < r && !taken; s++)
                taken = holds[s] == c;
            if (!taken && (best < 0 || far[c] < far[best]))
                best = c;
        }
        holds[r] = best;
    }
}

/* G_c: c, then by average distance, then what it was before, in order. */
static void neighbors_of(naive_partial *p, int32_t c, const double *sums,
                         const int32_t *counts)
{
    int32_t reach = p->reach, kept = 1, *row = p->graph + c * reach;
    int32_t *before = grid_zeros(reach, sizeof *before);
    char *in = grid_zeros(p->clusters, 1);
    memcpy(before, row, (size_t)reach * sizeof *before);
    in[c] = 1;
    for (; kept < reach; kept++) {
        int32_t best = -1;
        for (int32_t t = 0; t < p->clusters; t++)
            if (!in[t] && counts[t] &&
                (best < 0 || sums[t] / counts[t] < sums[best] / counts[best]))
                best = t;
        for (int32_t k = 1; k < reach && best < 0; k++)
            best = in[before[k]] ? -1 : before[k];
        row[kept] = best;
        in[best] = 1;
    }
    free(before);
    free(in);
}

void naive_partial_estep(naive_partial *p)
{
    int32_t clusters = p->clusters;
    int64_t square = (int64_t)clusters * clusters;
    double *sums = grid_zeros(square, sizeof *sums), total = 0, mass = 0;
    int32_t *counts = grid_zeros(square, sizeof *counts);
    double *far = grid_zeros(clusters, sizeof *far);
    int32_t *touched = grid_zeros(clusters, sizeof *touched);
    p->step++;
    p->pairs = 0;
    for (int64_t i = 0; i < p->data->n; i++) {
        double w = weight_of(p->data, i), sum = 0;
        p->pairs += try_for(p, i, far);
        hold_nearest(p, i, far);
        int32_t *holds = p->holds + i * p->held, nearest = holds[0];
        if (w <= 0)
            continue;
        touched[nearest] = 1;
        for (int32_t t = 0; t < clusters; t++)
            if (t != nearest && far[t] >= 0) {
                sums[(int64_t)nearest * clusters + t] += sqrt(far[t]);
                counts[(int64_t)nearest * clusters + t]++;
            }
        for (int32_t r = 0; r < p->held; r++)
            sum += exp((far[nearest] - far[holds[r]]) / (2 * p->variance));
        total += w * (log(sum) - far[nearest] / (2 * p->variance));
        mass += w;
    }
    p->free_energy = total / mass - log(clusters) -
                     0.5 * p->data->d * log(6.283185307179586477 * p->variance);
    for (int32_t c = 0; c < clusters; c++)
        if (touched[c])
            neighbors_of(p, c, sums + (int64_t)c * clusters,
                         counts + (int64_t)c * clusters);
    free(sums);
    free(counts);
    free(far);
    free(touched);
}

void naive_partial_mstep(naive_partial *p)
{
    int32_t d = p->data->d, clusters = p->clusters;
    double *first = grid_zeros((int64_t)clusters * d, sizeof *first);
    double *masses = grid_zeros(clusters, sizeof *masses), mass = 0, second = 0;
    double *q = grid_zeros(p->data->n * p->held, sizeof *q);
    for (int64_t i = 0; i < p->data->n; i++) {
        const int32_t *holds = p->holds + i * p->held;
        double w = weight_of(p->data, i), sum = 0, least = distance2(p, i, holds[0]);
        for (int32_t r = 0; r < p->held; r++)
            sum += q[i * p->held + r] =
                exp((least - distance2(p, i, holds[r])) / (2 * p->variance));
        for (int32_t r = 0; r < p->held; r++) {
            q[i * p->held + r] *= w / sum;
            masses[holds[r]] += q[i * p->held + r];
            for (int32_t j = 0; j < d; j++)
                first[holds[r] * d + j] += q[i * p->held + r] * p->data->x[i * d + j];
        }
        mass += w;
    }
    for (int32_t c = 0; c < clusters; c++)
        for (int32_t j = 0; j < d && masses[c] > 0; j++)
            p->means[c * d + j] = first[c * d + j] / masses[c];
    for (int64_t i = 0; i < p->data->n; i++)
        for (int32_t r = 0; r < p->held; r++)
            second += q[i * p->held + r] * distance2(p, i, p->holds[i * p->held + r]);
    p->variance = second / (d * mass);
    free(first);
    free(masses);
    free(q);
}

/* ---- Fits
 * ------------------------------------------------------------------------------- */

vem_options partial_options(int kind, int64_t clusters, int family, int64_t held,
                            int64_t reach, int64_t explore, int64_t max_steps)
{
    vem_options o = grid_options(clusters, (vem_family_kind)family, VEM_PRIOR_FLAT, held,
                                 VEM_DOUBLE, max_steps);
    o.search = kind;
    o.reach = reach;
    o.explore = explore;
    o.seeding = VEM_SEED_RANDOM;
    return o;
}

void partial_assert_sound(const grid_fit *fit)
{
    for (int64_t t = 1; t < fit->trace_count; t++) {
        double before = fit->trace[t - 1].free_energy, now = fit->trace[t].free_energy;
        if (fit->trace[t - 1].moved == 0 &&
            !(now >= before - 1e-9 * fmax(1, fabs(before))))
            fail_msg("F falls from %.17g to %.17g in step %d", before, now,
                     (int)fit->trace[t].step);
    }
    assert_true(isfinite(fit->summary->free_energy));
    for (int64_t i = 0; i < fit->summary->n; i++)
        assert_in_range(fit->labels[i], 0, vem_model_clusters(fit->model) - 1);
}
