/* Clusters that are added to a running loop, up to the capacity of its shape: every family and
 * search, after the E-step as after the M-step, with drops and swaps between. */
#include "em/undo.h"
#include "engine.h"
#include "moves/moves.h"
#include "run.h"

#define CONTEXT_THREADS 2
#include "context.h"

enum { FEW = 4, ROOM = 9, ROWS = 120 };

typedef struct setting {
    vem_family_kind family;
    vem_prior_kind prior;
    vem_precision precision;
    int search, held, d;
    int before_m; /* clusters are added between E- and M-step */
} setting;

static const char *name_of(const setting *s)
{
    static char text[200];
    snprintf(text, sizeof text, "%s, %s, prior %d, precision %d, held %d, d %d, %s",
             vem_choice_name("family", (int)s->family),
             vem_choice_name("search", s->search), (int)s->prior, (int)s->precision,
             s->held, s->d, s->before_m ? "after E" : "after M");
    return text;
}

/* F per unit of mass where each item holds the best `held` of all clusters. */
static double best_free_energy(const engine *e, int32_t held)
{
    double total = 0;
    const int32_t clusters = e->em.model->clusters;
    for (int64_t i = 0; i < e->em.view->n; i++) {
        double joint[ROOM] = {0}, sum = 0;
        for (int32_t c = 0; c < clusters; c++) {
            joint[c] = engine_log_joint(e, i, c);
            for (int32_t k = c; k > 0 && joint[k] > joint[k - 1]; k--) {
                const double swap = joint[k];
                joint[k] = joint[k - 1];
                joint[k - 1] = swap;
            }
        }
        const double most = joint[0];
        for (int32_t c = 0; c < clusters && c < held; c++)
            sum += exp(joint[c] - most);
        const double w = vem_i_view_mass(e->em.view, i);
        total += w > 0 ? w * (most + log(sum)) : 0;
    }
    return total / e->em.view->total_mass;
}

/* The item that is least probable. */
static int64_t farthest(const engine *e)
{
    int64_t found = 0;
    double least = INFINITY;
    for (int64_t i = 0; i < e->em.view->n; i++) {
        double most = -INFINITY;
        for (int32_t c = 0; c < e->em.model->clusters; c++)
            most = fmax(most, engine_log_joint(e, i, c));
        if (most < least && vem_i_view_mass(e->em.view, i) > 0) {
            least = most;
            found = i;
        }
    }
    return found;
}

/* One cluster more, on an item that holds it from now on, with the shape of the cluster that had
 * it, whose number is returned. */
static int32_t add_cluster(engine *e, int64_t item)
{
    vem_i_em *em = &e->em;
    vem_model *m = em->model;
    const int32_t from = em->posterior.held[item * em->posterior.width];
    const int32_t c = m->clusters;
    vem_i_model_put(m, from, m, c);
    assert_int_equal(m->clusters, c + 1);
    for (int64_t j = 0; j < m->d; j++)
        m->means[c * (int64_t)m->d + j] =
            vem_i_value(em->view->kernels, vem_i_view_row(em->view, item), j);
    m->weights[from] = m->weights[c] = 0.5 * m->weights[from];
    for (int32_t k = 0; em->constraints.prior == VEM_PRIOR_FLAT && k <= c; k++)
        m->weights[k] = 1.0 / m->clusters;
    if (!em->search->dense)
        em->posterior.held[(item + 1) * em->posterior.width - 1] = c;
    return from;
}

static void insert(engine *e, int64_t item)
{
    const int32_t c = e->em.model->clusters;
    vem_i_estep_beside(e->em.estep, c, add_cluster(e, item));
}

/* The same, and back: as a move does that F did not confirm, before the search is told. */
static void insert_and_undo(engine *e, const setting *s)
{
    vem_i_em *em = &e->em;
    vem_i_undo undo;
    const int32_t before = em->model->clusters;
    const double f = vem_i_em_again(em);
    assert_int_equal(vem_i_undo_new(em, em->posterior.width, &undo), VEM_OK);
    vem_i_undo_save(&undo, em);
    add_cluster(e, 0);
    vem_i_scorer_prepare(run_of(e->ctx), em->model, &em->scorer);
    vem_i_em_again(em);
    vem_i_undo_restore(&undo, em);
    vem_i_undo_free(&undo);
    assert_int_equal(em->model->clusters, before);
    vem_i_scorer_prepare(run_of(e->ctx), em->model, &em->scorer);
    grid_assert_near(vem_i_em_again(em), f, 1e-12 * fabs(f), name_of(s));
}

/* F of an E-step: no less than before, and what it should be where the search tries all. */
static double expect(engine *e, const setting *s, int look_further, double least)
{
    const double f =
        engine_expect(e, (vem_i_step_plan){.probe = 2, .look_further = look_further});
    const double slack = (s->precision == VEM_SINGLE ? 1e-5 : 1e-9) * fmax(1, fabs(f));
    if (!(f >= least - slack))
        fail_msg("F falls from %.12g to %.12g: %s", least, f, name_of(s));
    const int32_t held = e->em.search->dense ? ROOM : s->held;
    if (e->em.search->whole)
        grid_assert_near(f, best_free_energy(e, held), slack, name_of(s));
    if (!e->em.search->dense)
        engine_assert_sets(e);
    return f;
}

/* Every item counts once; a new cluster holds something, to begin with. */
static void collect(engine *e, const setting *s, int fresh)
{
    double mass = 0;
    const int32_t clusters = e->em.model->clusters;
    engine_collect(e);
    assert_int_equal(e->em.stats.clusters, clusters);
    for (int32_t c = 0; c < clusters; c++)
        mass += *vem_i_stats_mass(&e->em.stats, c);
    grid_assert_near(mass, e->em.view->total_mass, 1e-5 * mass, name_of(s));
    if (fresh && !(*vem_i_stats_mass(&e->em.stats, clusters - 1) > 0))
        fail_msg("the new cluster holds nothing: %s", name_of(s));
}

/* A step in which a cluster is added, and one more. F counts from there. */
static void step_with_insert(engine *e, const setting *s)
{
    vem_i_em *em = &e->em;
    double f = expect(e, s, 0, -INFINITY);
    if (s->before_m) {
        insert_and_undo(e, s);
        insert(e, farthest(e));
        vem_i_scorer_prepare(run_of(e->ctx), em->model, &em->scorer);
        f = vem_i_em_again(em);
        collect(e, s, 1);
        engine_maximize(e, 1);
    } else {
        engine_collect(e);
        engine_maximize(e, 1);
        insert(e, farthest(e));
        /* What is held, with the clusters as they are now. */
        f = em->search->dense ? -INFINITY : engine_free_energy(e);
    }
    for (int step = 0; step < 2; step++) {
        f = expect(e, s, 0, f);
        collect(e, s, !s->before_m && step == 0);
        engine_maximize(e, 1);
    }
}

/* The second cluster goes as if it held nothing: its items have to look for another. */
static void drop_one(engine *e, const setting *s)
{
    vem_i_em *em = &e->em;
    const int32_t before = em->model->clusters;
    const vem_i_listed *listed = &em->moves[em->moves[0].move != &vem_i_move_drop];
    double promised;
    expect(e, s, 0, -INFINITY);
    engine_collect(e);
    engine_maximize(e, 1);
    *vem_i_stats_mass(&em->stats, 1) = 0;
    const int64_t gone = vem_i_move_try(listed, &promised);
    assert_true(gone >= 1 && em->model->clusters == before - gone);
}

static void swap_some(engine *e, const setting *s)
{
    double promised, f = expect(e, s, 1, -INFINITY);
    engine_swap(e, &promised);
    engine_assert_sets(e);
    engine_collect(e);
    engine_maximize(e, 1);
    expect(e, s, 0, f);
}

static void grow(const setting *s)
{
    grid_data data = grid_data_new(SET_HEAVY, s->held > 1 ? WEIGHTS_REAL : WEIGHTS_NONE,
                                   ROWS, s->d, 77);
    vem_model *start = grid_start(ctx, &data, s->family, FEW);
    vem_options o = grid_options(FEW, s->family, s->prior, s->held, s->precision, 20);
    o.search = s->search;
    o.held = s->search == VEM_SEARCH_ALL ? FEW : s->held;
    vem_options resolved; /* the searches that take it */
    o.reach = 3;
    if (vem_options_resolve(ctx, &o, ROWS, s->d, VEM_FLOAT64, &resolved) != VEM_OK)
        o.reach = VEM_AUTO;
    o.empty = VEM_EMPTY_DROP;
    o.swaps = s->search != VEM_SEARCH_ALL;
    engine e;
    engine_new_with_room(&e, ctx, &data, &o, start, ROOM);
    assert_int_equal(e.em.scorer.capacity, ROOM);
    while (e.em.model->clusters < ROOM)
        step_with_insert(&e, s);
    if (o.swaps)
        swap_some(&e, s);
    drop_one(&e, s);
    while (e.em.model->clusters < ROOM)
        step_with_insert(&e, s);
    if (o.swaps)
        swap_some(&e, s);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

/* Where nothing weighs anything every cluster is empty: none is dropped. */
static void the_last_clusters_stay(void **state)
{
    (void)state;
    grid_data data = grid_data_new(SET_HEAVY, WEIGHTS_NONE, ROWS, 3, 77);
    vem_model *start = grid_start(ctx, &data, VEM_DIAG, FEW);
    vem_options o = grid_options(FEW, VEM_DIAG, VEM_PRIOR_FREE, 1, VEM_DOUBLE, 20);
    double promised, weights[FEW];
    engine e;
    o.empty = VEM_EMPTY_DROP;
    engine_new(&e, ctx, &data, &o, start);
    engine_expect(&e, (vem_i_step_plan){0});
    engine_collect(&e);
    engine_maximize(&e, 1);
    for (int32_t c = 0; c < FEW; c++)
        *vem_i_stats_mass(&e.em.stats, c) = 0;
    memcpy(weights, e.em.model->weights, sizeof weights);
    assert_int_equal(vem_i_move_try(&e.em.moves[0], &promised), -1);
    assert_int_equal(e.em.model->clusters, FEW);
    assert_memory_equal(weights, e.em.model->weights, sizeof weights);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

static void loops_take_more_clusters(void **state)
{
    (void)state;
    const int families = grid_shaped_count(), count = families * VEM_SEARCH_COUNT * 2 * 2;
    for (int index = 0; index < count; index += grid_stride()) {
        int at = index;
        setting s = {.family = grid_shaped(at % families)};
        s.search = (at /= families) % VEM_SEARCH_COUNT;
        s.held = (at /= VEM_SEARCH_COUNT) % 2 ? 3 : 1;
        s.before_m = at / 2;
        /* The others in turn: these do not meet. */
        s.prior = index % 3 ? VEM_PRIOR_FREE : VEM_PRIOR_FLAT;
        s.precision = index % 5 % 2 ? VEM_SINGLE : VEM_DOUBLE;
        /* Closest goes by differences, and for plain clusters in many columns by dots. */
        s.d = s.family == VEM_ISO_SHARED ? 17 : 3;
        grow(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_take_more_clusters),
                                       cmocka_unit_test(the_last_clusters_stay)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
