/* An insertion that F did not confirm is taken back, and the next best comes: prices never rise from one to the
 * next, and in the end there is none. */
#define CONTEXT_THREADS 1
#include "engine.h"

#include "context.h"
#include "moves/moves.h"

enum { N = 600, D = 2, CLUSTERS = 4, MOST = 200 };

/* The bits of the means. */
static uint64_t digest_of(const vem_model *model)
{
    uint64_t digest = 0xcbf29ce484222325;
    const unsigned char *bytes = (const unsigned char *)model->means;
    for (size_t i = 0; i < (size_t)model->clusters * D * sizeof(double); i++)
        digest = (digest ^ bytes[i]) * 0x100000001b3;
    return digest;
}

static void try_them_all(vem_family_kind family, int held, vem_search_kind search)
{
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_NONE, N, D, 51);
    vem_options o = grid_options(CLUSTERS, family, VEM_PRIOR_FREE, held, VEM_DOUBLE, 10);
    o.search = search;
    vem_model *start = grid_start(ctx, &data, family, CLUSTERS);
    engine e;
    engine_new_with_room(&e, ctx, &data, &o, start, CLUSTERS + 1);
    const double f = engine_expect(&e, (vem_i_step_plan){.probe = 2});
    engine_collect(&e);
    void *state = NULL;
    const vem_i_move *move = &vem_i_move_insert;
    assert_int_equal(move->create(&e.em, &state), VEM_OK);
    const uint64_t before = digest_of(e.em.model);
    double last = INFINITY, price;
    int count = 0;
    for (; (price = move->price(state)) > 0; count++) {
        assert_true(count < MOST && price <= last && isfinite(price));
        last = price;
        assert_int_equal(move->make(state), 1);
        assert_int_equal(e.em.model->clusters, CLUSTERS + 1);
        assert_true(digest_of(e.em.model) != before);
        move->undo(state);
        assert_int_equal(e.em.model->clusters, CLUSTERS);
        assert_true(digest_of(e.em.model) == before);
        grid_assert_near(vem_i_em_again(&e.em), f, 1e-12 * fabs(f), "taken back");
    }
    assert_true(count > 1);
    assert_true(move->price(state) == 0);
    move->free(state);
    engine_free(&e);
    vem_model_free(start);
    grid_data_free(&data);
}

static void the_next_best_comes(void **state)
{
    (void)state;
    try_them_all(VEM_FULL, CLUSTERS, VEM_SEARCH_ALL);
    try_them_all(VEM_DIAG, CLUSTERS, VEM_SEARCH_ALL);
    try_them_all(VEM_DIAG, 2, VEM_SEARCH_CLOSEST);
    try_them_all(VEM_ISO, 1, VEM_SEARCH_CLOSEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_next_best_comes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
