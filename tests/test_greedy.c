/* Clusters that are inserted: golden values of partial EM on cells (tests/golden/greedy.json), and
 * its laws for every family. */
#include <jansson.h>

#include "engine.h"
#include "moves/candidate.h"
#include "moves/moves.h"
#include "run.h"

#define CONTEXT_THREADS 2
#include "context.h"

/* ---- golden values ---- */

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

static size_t flatten(const json_t *value, double *out, size_t at)
{
    if (json_is_number(value)) {
        out[at] = json_number_value(value);
        return at + 1;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        at = flatten(json_array_get(value, i), out, at);
    return at;
}

static void list(const json_t *object, const char *key, double *out)
{
    assert_true(flatten(json_object_get(object, key), out, 0) > 0);
}

static void near_all(const json_t *object, const char *key, const double *found)
{
    double expected[16];
    const size_t n = flatten(json_object_get(object, key), expected, 0);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        grid_assert_near(found[i], expected[i], 1e-9 * fmax(1, fabs(expected[i])), key);
}

enum { CELLS = 4, D = 2 };

/* The cells of the golden file as a view. */
typedef struct cells {
    double mean[CELLS * D], mass[CELLS], spread[CELLS * 3], zero[D], one[D];
    vem_view view;
} cells;

static void cells_of(const json_t *root, cells *c)
{
    *c = (cells){.one = {1, 1}};
    for (size_t i = 0; i < CELLS; i++) {
        const json_t *cell = json_array_get(json_object_get(root, "cells"), i);
        double outer[4], *m = c->mean + i * D;
        list(cell, "mean", m);
        list(cell, "n", c->mass + i);
        list(cell, "outer", outer);
        c->spread[3 * i] = outer[0] - m[0] * m[0];
        c->spread[3 * i + 1] = outer[2] - m[1] * m[0];
        c->spread[3 * i + 2] = outer[3] - m[1] * m[1];
    }
    c->view = (vem_view){.kernels = ctx->kernels_double,
                         .x = c->mean,
                         .n = CELLS,
                         .ld = D,
                         .d = D,
                         .global_n = CELLS,
                         .spread_kind = VEM_I_SPREAD_FULL,
                         .spread = c->spread,
                         .spread_ld = 3,
                         .mass = c->mass,
                         .mass_unit = 1,
                         .total_mass = 12,
                         .used = CELLS,
                         .variance = 1,
                         .origin = c->zero,
                         .deviations = c->one};
}

/* The mixture of one cluster: by an M-step of what all cells hold. */
static void begin_golden(vem_i_em *em, const cells *c, const vem_options *o)
{
    vem_i_shape shape = vem_i_shape_of(vem_i_family_of(VEM_FULL), 1, D);
    shape.capacity = 2;
    *em = (vem_i_em){.run = run_of(ctx),
                     .options = o,
                     .view = &c->view,
                     .constraints = {.prior = VEM_PRIOR_FREE,
                                     .relax = 1,
                                     .floor = 1e-12,
                                     .total_mass = 12}};
    assert_int_equal(vem_i_model_blank(em->run, shape, &em->model), VEM_OK);
    vem_i_model_set_variance(em->model, 1);
    const vem_i_search_spec search = vem_i_search_for(o, 1);
    assert_int_equal(vem_i_em_new(em, &search), VEM_OK);
}

static void expect_golden(vem_i_em *em)
{
    vem_progress told = {.phase = "em"};
    vem_i_scorer_prepare(em->run, em->model, &em->scorer);
    vem_i_estep_run(em->estep, &em->posterior, NULL, &told, 0);
}

static void check_steps(const json_t *root, vem_i_em *em, vem_i_candidates *t)
{
    static const uint32_t items[] = {0, 1}; /* Ps */
    const vem_i_share share = {items, em->view->mass, 2, 6, 0};
    const json_t *steps = json_object_get(root, "steps");
    vem_model *pair = vem_i_candidates_pair(t, 0);
    double total = 0, fk[CELLS];
    list(root, "Fk", fk);
    for (int i = 0; i < CELLS; i++)
        total += fk[i];
    for (size_t k = 0; k < json_array_size(steps); k++) {
        const json_t *step = json_array_get(steps, k);
        double gain[2], count[2], bound;
        for (int h = 0; h < 2 && k == 0; h++) {
            list(step, "m", pair->means + (size_t)h * D);
            list(step, "C", pair->variances + (size_t)h * D * D);
            list(step, "a", pair->weights + h);
        }
        vem_i_candidates_step(t, &share, 0, gain, count);
        for (int h = 0; h < 2; h++) {
            bound = gain[h] + total;
            near_all(step, "bound_total", &bound);
            near_all(step, "a_new", pair->weights + h);
            near_all(step, "m_new", pair->means + (size_t)h * D);
            near_all(step, "C_new", pair->variances + (size_t)h * D * D);
        }
    }
}

static void partial_em_has_golden_values(void **state)
{
    (void)state;
    json_t *root = golden("greedy.json");
    cells c;
    vem_i_em em;
    vem_i_candidates *t;
    vem_options o = grid_options(2, VEM_FULL, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 20);
    o.blocks = 1;
    cells_of(root, &c);
    begin_golden(&em, &c, &o);
    assert_int_equal(vem_i_candidates_new(&em, &t), VEM_OK);
    expect_golden(&em);
    vem_i_estep_collect(em.estep, &em.posterior, &em.stats);
    em.scorer.family->maximize(em.run, &em.scorer, &em.stats, &em.constraints, em.model);
    expect_golden(&em);
    double fk[CELLS], f = 0;
    for (int i = 0; i < CELLS; i++)
        fk[i] = c.mass[i] * (em.posterior.log_sums[i] - 0.5 * em.scorer.base);
    near_all(root, "Fk", fk);
    check_steps(root, &em, t);
    /* Inserted. */
    const json_t *inserted = json_object_get(root, "inserted");
    const vem_model *pair = vem_i_candidates_pair(t, 0);
    const double a = pair->weights[0];
    vem_i_model_put(pair, 0, em.model, 1);
    em.model->weights[0] *= 1 - a;
    near_all(inserted, "p", em.model->weights);
    near_all(inserted, "m", em.model->means);
    near_all(inserted, "C", em.model->variances);
    expect_golden(&em);
    for (int i = 0; i < CELLS; i++)
        f += c.mass[i] * (em.posterior.log_sums[i] - 0.5 * em.scorer.base);
    near_all(root, "F_after_insert", &f);
    vem_i_candidates_free(t);
    vem_i_em_free(&em);
    vem_model_free(em.model);
    json_decref(root);
}

/* ---- laws of partial EM and of the move ---- */

enum { ROWS = 160, ROOM = 7 };

typedef struct setting {
    vem_family_kind family;
    vem_prior_kind prior;
    vem_precision precision;
    grid_set set;
    grid_weights weights;
    int held, d; /* held 0: all */
} setting;

static const char *name_of(const setting *s)
{
    static char text[200];
    snprintf(text, sizeof text, "%s, prior %d, precision %d, %s, %s, held %d, d %d",
             vem_choice_name("family", (int)s->family), (int)s->prior, (int)s->precision,
             grid_set_names[s->set], grid_weights_names[s->weights], s->held, s->d);
    return text;
}

static vem_options options_of(const setting *s)
{
    vem_options o = grid_options(s->held ? ROOM : 1, s->family, s->prior,
                                 s->held ? s->held : 1, s->precision, 50);
    if (!s->held)
        o.search = VEM_SEARCH_ALL;
    return o;
}

static double slack_of(const setting *s, double f)
{
    return (s->precision == VEM_SINGLE ? 1e-5 : 1e-9) * fmax(1, fabs(f));
}

/* A few steps, so that the mixture is near a maximum. */
static double settle(engine *e, const setting *s, double least)
{
    double f = least;
    for (int k = 0; k < 6; k++) {
        const double now = engine_expect(e, (vem_i_step_plan){0});
        if (!(now >= f - slack_of(s, now)))
            fail_msg("F falls from %.12g to %.12g: %s", f, now, name_of(s));
        f = now;
        if (k < 5) {
            engine_collect(e);
            engine_maximize(e, 1);
        }
    }
    return f;
}

/* The bound of every pair in the place of every cluster never falls. */
static void check_bounds(engine *e, const setting *s, vem_i_candidates *t)
{
    uint32_t items[ROWS];
    double weights[ROWS];
    vem_i_em *em = &e->em;
    for (int32_t c = 0; c < em->model->clusters; c++) {
        vem_i_splittable cluster = {.items = items, .cluster = c};
        vem_i_share share = {items, weights, 0, 0, c};
        for (int64_t i = 0; i < em->view->n; i++)
            if (em->posterior.held[i * em->posterior.width] == c) {
                items[cluster.n] = (uint32_t)i;
                weights[cluster.n] = vem_i_view_mass(em->view, i);
                share.mass += weights[cluster.n++];
            }
        share.n = cluster.n;
        for (int64_t pair = 0; pair < 3; pair++) {
            const vem_model *found;
            int32_t which;
            double before[2] = {-INFINITY, -INFINITY}, gain[2], count[2];
            vem_i_candidates_try(t, &cluster, pair, 1, 0, &found, &which);
            for (int steps = 0; steps < 8; steps++) {
                vem_i_candidates_step(t, &share, 0, gain, count);
                for (int h = 0; h < 2; h++) {
                    if (gain[h] < before[h] - slack_of(s, em->free_energy) * ROWS)
                        fail_msg("the bound falls from %.12g to %.12g: %s", before[h],
                                 gain[h], name_of(s));
                    before[h] = gain[h];
                }
            }
        }
    }
}

static void insert_some(const setting *s)
{
    grid_data data = grid_data_new(s->set, s->weights, ROWS, s->d, 31);
    const vem_options o = options_of(s);
    vem_model *start = grid_start(ctx, &data, s->family, 1);
    engine e;
    vem_i_em *em = &e.em;
    int inserted = 0;
    engine_new_with_room(&e, ctx, &data, &o, start, ROOM);
    vem_i_candidates *t;
    assert_int_equal(vem_i_candidates_new(em, &t), VEM_OK);
    vem_i_listed *listed = &em->moves[VEM_I_MOVES - 1];
    listed->move = &vem_i_move_insert;
    assert_int_equal(listed->move->create(em, &listed->state), VEM_OK);
    const vem_trace_step line = {.step = 1};
    assert_int_equal(vem_i_trace_add(em->run, &em->trace, &line), VEM_OK);
    double *sums = em->posterior.log_sums; /* of the move; those of t are the same */
    double f = settle(&e, s, -INFINITY);
    while (em->model->clusters < ROOM) {
        double promised;
        const int32_t before = em->model->clusters;
        em->step++;
        em->posterior.log_sums = sums;
        if (vem_i_move_try(listed, &promised) < 0) {
            assert_int_equal(em->model->clusters, before);
            break;
        }
        inserted++;
        assert_int_equal(em->model->clusters, before + 1);
        const double now = vem_i_em_again(em);
        const double bound = f + promised / em->view->total_mass;
        if (!(now >= f))
            fail_msg("F falls from %.12g to %.12g: %s", f, now, name_of(s));
        /* Lists lose what the new cluster takes the place of; halves have no bound. */
        if (em->search->dense && !em->model->family->shared &&
            !(now >= bound - slack_of(s, now)))
            fail_msg("F is %.12g, below the bound %.12g: %s", now, bound, name_of(s));
        if (!em->search->dense)
            engine_assert_sets(&e);
        f = settle(&e, s, now);
    }
    em->posterior.log_sums = sums;
    if (s->set == SET_SEPARATED && s->prior == VEM_PRIOR_FREE && inserted < 2)
        fail_msg("only %d clusters were inserted: %s", inserted, name_of(s));
    vem_i_candidates_free(t);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

static void insertions_raise_f(void **state)
{
    (void)state;
    const int families = grid_shaped_count(), count = families * SET_COUNT * 3;
    for (int index = 0; index < count; index += grid_stride()) {
        setting s = {.family = grid_shaped(index % families),
                     .set = (grid_set)(index / families % SET_COUNT)};
        const int held[] = {0, 1, 3};
        s.held = held[index / families / SET_COUNT];
        s.prior = index % 4 == 3 ? VEM_PRIOR_FLAT : VEM_PRIOR_FREE;
        s.precision = index % 5 == 2 ? VEM_SINGLE : VEM_DOUBLE;
        s.weights = (grid_weights)(index / 3 % WEIGHTS_COUNT);
        s.d = index % 7 == 0 ? 5 : 2;
        if (s.set == SET_OFFSET && s.precision == VEM_SINGLE)
            s.precision = VEM_DOUBLE;
        insert_some(&s);
    }
}

static void bounds_never_fall(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family)
        for (int held = 0; held < 2; held++) {
            const setting s = {.family = (vem_family_kind)family,
                               .prior = VEM_PRIOR_FREE,
                               .precision = VEM_DOUBLE,
                               .set = SET_HEAVY,
                               .weights = WEIGHTS_REAL,
                               .held = held,
                               .d = 2};
            grid_data data = grid_data_new(s.set, s.weights, ROWS, s.d, 5);
            vem_options o = options_of(&s);
            vem_model *start = grid_start(ctx, &data, s.family, 2);
            o.clusters = 2;
            if (o.held > 1 || !held)
                o.held = held ? 1 : 2;
            engine e;
            vem_i_candidates *t;
            engine_new(&e, ctx, &data, &o, start);
            assert_int_equal(vem_i_candidates_new(&e.em, &t), VEM_OK);
            settle(&e, &s, -INFINITY);
            check_bounds(&e, &s, t);
            vem_i_candidates_free(t);
            e.em.posterior.log_sums = NULL;
            engine_free(&e);
            vem_model_free(start);
            grid_data_free(&data);
        }
}

/* One step of partial EM from the same pair, of rows that weigh 2 or are there twice. */
static void step_twice(int twice, vem_family_kind family, vem_model **pair,
                       double gain[2])
{
    enum { N = 40 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, 3, 8);
    grid_data used = {.n = twice ? 2 * N : N, .d = 3};
    used.x = grid_zeros(used.n * 3, sizeof(double));
    used.weights = twice ? NULL : grid_zeros(N, sizeof(double));
    for (int64_t i = 0; i < used.n; i++) {
        memcpy(used.x + i * 3, data.x + i % N * 3, 3 * sizeof(double));
        if (used.weights)
            used.weights[i] = 2;
    }
    const vem_options o = grid_options(1, family, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 9);
    vem_model *start = grid_start(ctx, &data, family, 1);
    engine e;
    vem_i_candidates *t;
    uint32_t items[2 * N];
    double weights[2 * N], count[2];
    engine_new(&e, ctx, &used, &o, start);
    assert_int_equal(vem_i_candidates_new(&e.em, &t), VEM_OK);
    engine_expect(&e, (vem_i_step_plan){0});
    vem_i_share share = {items, weights, 0, 0, 0};
    for (int64_t i = 0; i < used.n; i++)
        if (i % N < N / 2) {
            weights[share.n] = vem_i_view_mass(e.em.view, i);
            share.mass += weights[share.n];
            items[share.n++] = (uint32_t)i;
        }
    *pair = NULL;
    for (int32_t h = 0; h < 2; h++) {
        vem_model *p = vem_i_candidates_pair(t, 0);
        vem_i_model_put(e.em.model, 0, p, h);
        memcpy(p->variances, e.em.model->variances,
               vem_model_variance_count(e.em.model) * sizeof(double));
        p->weights[h] = 0.25;
        p->means[h * 3] += h - 0.5;
    }
    vem_i_candidates_step(t, &share, 0, gain, count);
    gain[0] /= e.em.view->total_mass;
    gain[1] /= e.em.view->total_mass;
    assert_int_equal(vem_model_copy(ctx, vem_i_candidates_pair(t, 0), pair), VEM_OK);
    vem_i_candidates_free(t);
    e.em.posterior.log_sums = NULL;
    engine_free(&e);
    vem_model_free(start);
    free(used.x);
    free(used.weights);
    grid_data_free(&data);
}

static void weight_two_is_the_row_twice(void **state)
{
    (void)state;
    GRID_EACH_SHAPED (family) {
        vem_model *a, *b;
        double gains[2][2];
        step_twice(0, (vem_family_kind)family, &a, gains[0]);
        step_twice(1, (vem_family_kind)family, &b, gains[1]);
        grid_assert_models(a, b, 1e-10, "weight 2 and the row twice");
        for (int h = 0; h < 2; h++)
            grid_assert_near(gains[0][h], gains[1][h], 1e-10, "gain");
        vem_model_free(a);
        vem_model_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partial_em_has_golden_values),
        cmocka_unit_test(bounds_never_fall),
        cmocka_unit_test(insertions_raise_f),
        cmocka_unit_test(weight_two_is_the_row_twice),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
