/* What memory held before does not matter. */
#include "memory_digests.h"

/* The bits of a fit do not depend on it, whatever the seeding and the search; with more clusters than
 * are looked at together anywhere. */
static void memory_as_it_comes(void **state)
{
    (void)state;
    enum { MANY = 600, CLUSTERS = 150, D = 3 };
    grid_data data = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, MANY, D, 87);
    vem_data *all = grid_borrow(ctx, &data);
    for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL; seeding++)
        for (int search = VEM_SEARCH_CLOSEST; search < VEM_SEARCH_COUNT; search++) {
            vem_options o =
                grid_options(CLUSTERS, VEM_ISO, VEM_PRIOR_FREE, 2, VEM_DOUBLE, 3);
            uint64_t digests[3] = {1, 1, 1};
            o.seeding = seeding;
            o.search = search;
            for (int i = 0; i < 3; i++) {
                vem_model *made = NULL;
                filling = i == 0 ? 0 : i == 1 ? 0x3f : 0xff;
                const vem_status status = vem_fit(ctx, all, &o, NULL, &made, NULL);
                filling = -1;
                if (status != VEM_OK)
                    fail_msg("%s", vem_ctx_message(ctx));
                mix_model(&digests[i], made);
                vem_model_free(made);
            }
            if (digests[0] != digests[1] || digests[0] != digests[2])
                fail_msg("seeding %d, search %d depend on what memory held", seeding,
                         search);
        }
    vem_data_free(all);
    grid_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_as_it_comes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
