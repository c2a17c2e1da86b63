/* What rows of counts weigh before any cluster is known, against factorials in long double: small counts and
 * such as have more digits than what is left of them. */
#define CONTEXT_THREADS 1
#include "context.h"

#include "model/contract.h"
#include "model/counts.h"

static long double log_factorial(double x)
{
    return lgammal((long double)x + 1);
}

static void assert_base(const double *row, int32_t d)
{
    long double total = 0, each = 0;
    for (int32_t j = 0; j < d; j++) {
        total += row[j];
        each += log_factorial(row[j]);
    }
    const long double poisson = -each, multinomial = log_factorial((double)total) - each;
    const double p = vem_i_counts_poisson.support.log_base(row, d),
                 m = vem_i_counts_multinomial.support.log_base(row, d);
    if (!(fabsl(p - poisson) <= 1e-13L * (1 + each)))
        fail_msg("poisson: %.17g, not %.17Lg", p, poisson);
    /* The terms are as large as `each`; what is told has an error of its own size. */
    if (!(fabsl(m - multinomial) <= 1e-12L * (1 + fabsl(multinomial)) + 1e-18L * each))
        fail_msg("multinomial: %.17g, not %.17Lg", m, multinomial);
}

static void bases_of_rows(void **state)
{
    (void)state;
    static const double rows[][4] = {
        {0, 0, 0, 0},       {1, 0, 0, 0},          {1, 1, 0, 0},      {2, 1, 0, 5},
        {15, 16, 17, 0},    {1, 2, 3, 4},          {100, 0, 250, 7},  {1e5, 3e5, 17, 0},
        {0, 0x1p20, 0, 0},  {0, 0x1p20 - 1, 0, 1}, {1e6, 1e6, 0, 15}, {3e7, 16, 1, 0},
        {1e9, 1e9, 1e9, 0}, {1e12, 5, 0, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int32_t d = 1; d <= 4; d++)
            assert_base(rows[k], d);
}

/* The nearest mean that a floor allows: a share of the mean of all rows, and what comes behind the columns stays. */
static void means_are_limited(void **state)
{
    (void)state;
    enum { COLUMNS = 3, ROOM = COLUMNS + 2 };
    const double all[ROOM] = {0.5, 0.25, 0.125, 0.5, 0.5};
    const vem_i_constraints constraints = {.floor = 0.1, .units = all};
    for (int32_t d = 1; d <= COLUMNS; d++) {
        double rates[ROOM] = {0, 0.01, 7, 0, 0}, shares[ROOM] = {0, 1, 0.5, 0, 0};
        const double least[COLUMNS] = {0.05, 0.025, 0.0125},
                     most[COLUMNS] = {0.95, 0.925, 0.9125};
        vem_i_counts_poisson.limit(&constraints, d, rates);
        vem_i_counts_bernoulli.limit(&constraints, d, shares);
        const double rate[COLUMNS] = {least[0], least[1], 7},
                     share[COLUMNS] = {least[0], most[1], 0.5},
                     rates_were[ROOM] = {0, 0.01, 7, 0, 0},
                     shares_were[ROOM] = {0, 1, 0.5, 0, 0};
        for (int32_t j = 0; j < ROOM; j++) {
            grid_assert_near(rates[j], j < d ? rate[j] : rates_were[j], 1e-15, "rate");
            grid_assert_near(shares[j], j < d ? share[j] : shares_were[j], 1e-15,
                             "share");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bases_of_rows),
                                       cmocka_unit_test(means_are_limited)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
