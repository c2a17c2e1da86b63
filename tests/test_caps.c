/* What a number of --balance comes to: how many rows, or how much mass, a cluster may hold. */
#define CONTEXT_THREADS 1
#include "context.h"

#include "moves/cap_bounds.h"

enum { MOST = 40 };

/* Rows that weigh the same are counted, whatever they weigh; those without weight are not there. */
static void rows_that_weigh_the_same(void **state)
{
    (void)state;
    static const double caps[] = {1, 1.1, 1.25, 1.5, 2, 3};
    for (int64_t n = 1; n <= MOST; n++)
        for (int32_t clusters = 1; clusters <= 6 && clusters <= n; clusters++)
            for (size_t k = 0; k < sizeof caps / sizeof *caps; k++)
                for (int weighed = 0; weighed < 3; weighed++) {
                    double mass[MOST + 5];
                    const int64_t absent = weighed == 2 ? 5 : 0;
                    for (int64_t i = 0; i < n + absent; i++)
                        mass[i] = i % 4 == 1 && i / 4 < absent ? 0 : 2.5;
                    int64_t count = 0;
                    for (int64_t i = 0; i < n + absent; i++)
                        count += mass[i] > 0;
                    if (!weighed)
                        count = n;
                    const vem_i_cap_bounds b =
                        vem_i_cap_bounds_of(weighed ? mass : NULL, n + absent, clusters,
                                            caps[k]);
                    /* In whole rows: floor and ceil of count / clusters. */
                    const int64_t low = count / clusters,
                                  high = (count + clusters - 1) / clusters;
                    const double most = floor(caps[k] * (double)count / clusters + 1e-9);
                    assert_int_equal(b.alike, 1);
                    assert_true(b.unit == (weighed ? 2.5 : 1));
                    assert_int_equal(b.count, count);
                    assert_true(b.most == fmax(most, (double)high));
                    assert_true(b.full == b.most);
                    assert_true(b.least == (caps[k] == 1 ? (double)low : 0));
                }
}

/* Others have a share of all the mass. The last row that a cluster takes may go beyond it, but a heavy
 * row lets no other cluster keep more. */
static void rows_that_weigh_something(void **state)
{
    (void)state;
    const double mass[] = {1, 0, 2, 3, 0.5, 0, 1.5};
    const vem_i_cap_bounds b = vem_i_cap_bounds_of(mass, 7, 2, 1.5);
    assert_int_equal(b.alike, 0);
    assert_true(b.unit == 1);
    assert_int_equal(b.count, 5);
    assert_true(fabs(b.full - 1.5 * 8 / 2) < 1e-9);
    assert_true(b.most >= b.full && fabs(b.most - b.full) < 1e-9);
    assert_true(b.least == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_weigh_the_same),
        cmocka_unit_test(rows_that_weigh_something),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
