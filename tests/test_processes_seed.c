/* Seeds of several processes are those of one, to the bit: every seeding, and the loops that begin with it. */
#define CONTEXT_THREADS 1
#include "processes.h"

enum { D = 3, N = 9137 };

#include "processes_fit.h"

static void check(const grid_data *rows, const vem_options *o, int most)
{
    process some[MOST], one[1];
    fit_by(1, rows, o, NULL, one);
    const vem_summary *s = vem_report_summary(one[0].report);
    for (int size = 2; size <= most; size++) {
        fit_by(size, rows, o, NULL, some);
        for (int r = 0; r < size; r++) {
            const vem_summary *t = vem_report_summary(some[r].report);
            assert_same(&some[r], one);
            assert_int_equal(t->seed_pairs, s->seed_pairs);
            assert_int_equal(t->scored_pairs, s->scored_pairs);
        }
        free_all(some, size);
    }
    free_all(one, 1);
}

static void seeds_are_those_of_one(void **state)
{
    (void)state;
    for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_TWO_LEVEL; seeding++)
        for (int weights = WEIGHTS_NONE; weights < WEIGHTS_COUNT; weights++) {
            grid_data rows = grid_data_new(weights % 2 ? SET_HEAVY : SET_OVERLAPPING,
                                           (grid_weights)weights, N, D, 31);
            vem_options o = grid_options(70, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1,
                                         weights % 2 ? VEM_DOUBLE : VEM_SINGLE, 1);
            o.search = VEM_SEARCH_CLOSEST;
            o.seeding = seeding;
            check(&rows, &o, 4); /* the start */
            o.max_steps = 3;
            o.init_steps = 1;
            check(&rows, &o, 2);
            grid_data_free(&rows);
        }
}

/* Rows of counts are seeded by roots, and by a sample of them. */
static void seeds_of_counts(void **state)
{
    (void)state;
    GRID_EACH_COUNTS (family)
        for (int seeding = VEM_SEED_RANDOM; seeding <= VEM_SEED_AFKMC2; seeding++) {
            grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_INTEGER, N, D, 32);
            grid_suit((vem_family_kind)family, &rows);
            vem_options o = grid_options(3, (vem_family_kind)family, VEM_PRIOR_FREE, 3,
                                         VEM_DOUBLE, 2);
            o.seeding = seeding;
            check(&rows, &o, 3);
            grid_data_free(&rows);
        }
}

/* Fewer buckets than processes: some own none, and have no rows to draw from. */
static void some_own_no_bucket(void **state)
{
    (void)state;
    grid_data rows = grid_data_new(SET_OVERLAPPING, WEIGHTS_REAL, N, D, 33);
    vem_options o = grid_options(8, VEM_ISO_SHARED, VEM_PRIOR_FLAT, 1, VEM_SINGLE, 2);
    o.search = VEM_SEARCH_CLOSEST;
    o.seeding = VEM_SEED_TWO_LEVEL;
    check(&rows, &o, 4);
    grid_data_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_are_those_of_one),
        cmocka_unit_test(seeds_of_counts),
        cmocka_unit_test(some_own_no_bucket),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
