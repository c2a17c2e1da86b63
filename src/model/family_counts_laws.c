/* What families of counts say besides the contract: counts.h. The likelihoods are in
 * family_counts.c.
 *
 * The floor. A value that a cluster has not seen would be impossible there. With E = --floor and m
 * the mean of all rows (multinomial: the share of the column in all counts),
 *
 *     bernoulli     E m_j <= t_cj  and  E (1 - m_j) <= 1 - t_cj
 *     poisson       E m_j <= r_cj
 *     multinomial   E m_j <= t_cj
 *
 * and none of these below 1e-12. The objective is concave in each t_cj or r_cj, so that clamping is
 * the exact maximum under the constraint; of multinomial, whose t add up to 1, it is
 * t_cj = max(E m_j, f_cj / z) with the z that makes them do so. F never falls by it. */
#include "model/counts.h"

#include <math.h>

#include "model/family.h"

/* ---- base measures ---- */

/* log x! - (x + 1/2) log x + x - log(2 pi) / 2, for x >= 16. */
static double stirling(double x)
{
    const double y = 1 / (x * x);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y / 1680))) / x;
}

/* log x! of a whole number: exact products for small ones, then Stirling's series. */
static double log_factorial(double x)
{
    if (x < 2)
        return 0;
    if (x < 16) {
        double product = 2;
        for (int k = 3; k <= (int)x; k++)
            product *= k;
        return log(product);
    }
    return (x + 0.5) * log(x) - x + 0.5 * VEM_I_LOG_2PI + stirling(x);
}

/* log x! - x log x + x, which is small beside either. */
static double factorial_rest(double x)
{
    if (x == 0)
        return 0;
    return x < 16 ? log_factorial(x) - x * log(x) + x
                  : 0.5 * (log(x) + VEM_I_LOG_2PI) + stirling(x);
}

static double base_poisson(const double *row, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum -= log_factorial(row[j]);
    return sum;
}

static double total_of(const double *row, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += row[j];
    return sum;
}

/* log n! - sum_j log x_j!; of large counts, where the terms are many digits larger than what is left
 * of them, without those that cancel as n = sum_j x_j:
 *     sum_j x_j log(n / x_j) + rest(n) - sum_j rest(x_j). */
static double base_multinomial(const double *row, int32_t d)
{
    static const double LARGE = 0x1p20;
    const double total = total_of(row, d);
    if (total < LARGE)
        return log_factorial(total) + base_poisson(row, d);
    double sum = factorial_rest(total);
    for (int32_t j = 0; j < d; j++)
        if (row[j] > 0)
            sum += row[j] * log1p((total - row[j]) / row[j]) - factorial_rest(row[j]);
    return sum;
}

/* ---- the floor ---- */

/* A model that is scored has no other floor than the type's, and no rows to take means from
 * (metrics/chunks.c). */
static double mean_of_all(const vem_i_constraints *constraints, int32_t j)
{
    return constraints->units ? constraints->units[j] : 1;
}

static double least_of(const vem_i_constraints *constraints, double mean)
{
    const double least =
        constraints->floor * mean; /* fmax would be a call for each column */
    return least > VEM_I_LEAST_MEAN ? least : VEM_I_LEAST_MEAN;
}

static void limit_bernoulli(const vem_i_constraints *constraints, int32_t d, double *mean)
{
    for (int32_t j = 0; j < d; j++) {
        const double all = mean_of_all(constraints, j);
        const double least = least_of(constraints, all),
                     most = 1 - least_of(constraints, 1 - all);
        mean[j] = mean[j] > least ? mean[j] : least;
        mean[j] = mean[j] < most ? mean[j] : most;
    }
}

static void limit_poisson(const vem_i_constraints *constraints, int32_t d, double *mean)
{
    for (int32_t j = 0; j < d; j++) {
        const double least = least_of(constraints, mean_of_all(constraints, j));
        mean[j] = mean[j] > least ? mean[j] : least;
    }
}

/* Sums of many columns, in so many parts that do not wait for each other: column j goes to part
 * j % LANES, on every machine. */
enum { LANES = 8 };

static double sum_lanes(const double *lanes)
{
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static double total_in_lanes(const double *row, int32_t d)
{
    double lanes[LANES] = {0};
    int32_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int32_t l = 0; l < LANES; l++)
            lanes[l] += row[j + l];
    for (; j < d; j++)
        lanes[j % LANES] += row[j];
    return sum_lanes(lanes);
}

/* The floor of a column in the sums of multinomial: a share of its mean, so large at least. */
static double floor_of(const double *units, int32_t j, double share)
{
    const double least = (units ? units[j] : 1) * share;
    return least > VEM_I_LEAST_MEAN ? least : VEM_I_LEAST_MEAN;
}

/* With means times `factor`: the sum of those above their floor, and of the floors of the others. */
static void part_by_floor(const double *mean, const double *units, int32_t d,
                          double share, double factor, double *above, double *floors)
{
    double free[LANES] = {0}, held[LANES] = {0};
    int32_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int32_t l = 0; l < LANES; l++) {
            const double least = floor_of(units, j + l, share);
            const int is_free = mean[j + l] * factor > least;
            free[l] += is_free ? mean[j + l] : 0;
            held[l] += is_free ? 0 : least;
        }
    for (; j < d; j++) {
        const double least = floor_of(units, j, share);
        const int is_free = mean[j] * factor > least;
        free[j % LANES] += is_free ? mean[j] : 0;
        held[j % LANES] += is_free ? 0 : least;
    }
    *above = sum_lanes(free);
    *floors = sum_lanes(held);
}

/* The factor 1 / z falls as more columns are at their floor, so none of them leaves it again. A
 * mean of nothing (rows without counts) is that of all rows. */
static void limit_multinomial(const vem_i_constraints *constraints, int32_t d,
                              double *mean)
{
    const double *units = constraints->units;
    double all = units ? total_in_lanes(units, d) : d, total = total_in_lanes(mean, d);
    all = all > 0 ? all : 1;
    const double share = constraints->floor / all;
    if (!(total > 0)) {
        for (int32_t j = 0; j < d; j++)
            mean[j] = fmax(mean_of_all(constraints, j) / all, VEM_I_LEAST_MEAN);
        total = total_in_lanes(mean, d);
    }
    double factor = 1 / total, before;
    do {
        double above, floors;
        part_by_floor(mean, units, d, share, factor, &above, &floors);
        before = factor;
        factor = above > 0 && floors < 1 ? (1 - floors) / above : 0;
    } while (factor < before);
    for (int32_t j = 0; j < d; j++) {
        const double least = floor_of(units, j, share), scaled = mean[j] * before;
        mean[j] = scaled > least ? scaled : least;
    }
    total = total_in_lanes(mean, d);
    for (int32_t j = 0; j < d; j++)
        mean[j] /= total;
}

void vem_i_begin_at_row(const vem_i_family *family, const vem_i_constraints *constraints,
                        int32_t d, double *mean)
{
    if (constraints->sphere.origin)
        vem_i_sphere_place(&constraints->sphere, d, mean);
    if (!family->of_counts)
        return;
    const double total = total_of(mean, d), all = total_of(constraints->units, d);
    const int shares = family->of_counts->shares;
    const double row = shares && total > 0 ? 0.5 / total : 0.5,
                 rest = shares && all > 0 ? 0.5 / all : 0.5;
    for (int32_t j = 0; j < d; j++)
        mean[j] = row * mean[j] + rest * constraints->units[j];
    family->of_counts->limit(constraints, d, mean);
}

int vem_i_excludes_rows(const vem_i_constraints *constraints, const vem_model *model)
{
    const vem_i_counts *counts = model->family->of_counts;
    const int64_t d = model->d;
    for (int64_t i = 0; counts && i < model->clusters * d; i++) {
        const double mean = model->means[i], unit = constraints->units[i % d];
        if (unit > 0 && !(mean > 0))
            return 1;
        if (counts->most == 1 && !counts->shares && unit < 1 && !(mean < 1))
            return 1;
    }
    return 0;
}

/* ---- seeding: squared distances of roots are Hellinger's, and those of bits are Hamming's ---- */

static void roots(double *row, int32_t d)
{
    for (int32_t j = 0; j < d; j++)
        row[j] = sqrt(row[j]);
}

static void roots_of_shares(double *row, int32_t d)
{
    const double total = total_of(row, d);
    for (int32_t j = 0; total > 0 && j < d; j++)
        row[j] = sqrt(row[j] / total);
}

/* ---- describing and drawing ---- */

static double variance_bernoulli(double mean)
{
    return mean * (1 - mean);
}

static double variance_poisson(double mean)
{
    return mean;
}

static double affinity_bernoulli(const double *a, const double *b, int32_t d,
                                 double total)
{
    double sum = 0;
    (void)total;
    for (int32_t j = 0; j < d; j++)
        sum += log(sqrt(a[j] * b[j]) + sqrt((1 - a[j]) * (1 - b[j])));
    return fmin(sum, 0);
}

static double affinity_poisson(const double *a, const double *b, int32_t d, double total)
{
    double sum = 0;
    (void)total;
    for (int32_t j = 0; j < d; j++) {
        const double apart = sqrt(a[j]) - sqrt(b[j]);
        sum -= apart * apart / 2;
    }
    return sum;
}

static double affinity_multinomial(const double *a, const double *b, int32_t d,
                                   double total)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += sqrt(a[j] * b[j]);
    return sum > 0 ? fmin(total * log(sum), 0) : -INFINITY;
}

/* From the most probable number outwards, until the sum of probabilities reaches a uniform one. */
static double draw_poisson_at(vem_i_rng *rng, double rate)
{
    const double u = vem_i_rng_uniform(rng);
    double low = floor(rate), high = low;
    double p_low = exp(low * log(rate) - rate - log_factorial(low)), p_high = p_low;
    double sum = p_low;
    while (sum < u && (p_low > 0 || p_high > 0)) {
        const double next_high = p_high * rate / (high + 1),
                     next_low = low > 0 ? p_low * low / rate : 0;
        if (!(next_high > 0) && !(next_low > 0))
            break;
        if (next_high >= next_low) {
            p_high = next_high;
            high++;
            sum += p_high;
            if (sum >= u)
                return high;
        } else {
            p_low = next_low;
            low--;
            sum += p_low;
            if (sum >= u)
                return low;
        }
    }
    return floor(rate);
}

static void draw_bernoulli(vem_i_rng *rng, const double *mean, int32_t d, double total,
                           double *row)
{
    (void)total;
    for (int32_t j = 0; j < d; j++)
        row[j] = vem_i_rng_uniform(rng) < mean[j];
}

static void draw_poisson(vem_i_rng *rng, const double *mean, int32_t d, double total,
                         double *row)
{
    (void)total;
    for (int32_t j = 0; j < d; j++)
        row[j] = draw_poisson_at(rng, mean[j]);
}

/* A total drawn from Poisson's law and shared out is the same as columns drawn from it. */
static void draw_multinomial(vem_i_rng *rng, const double *mean, int32_t d, double total,
                             double *row)
{
    for (int32_t j = 0; j < d; j++)
        row[j] = draw_poisson_at(rng, fmax(total * mean[j], 1e-300));
}

/* The largest count that doubles tell from its neighbors: 2^53 may have been 2^53 + 1. */
#define MOST_COUNT 9007199254740991.0

const vem_i_counts vem_i_counts_bernoulli = {
    .support = {1, "family bernoulli takes only 0 and 1", NULL},
    .most = 1,
    .limit = limit_bernoulli,
    .variance = variance_bernoulli,
    .log_affinity = affinity_bernoulli,
    .draw = draw_bernoulli};
const vem_i_counts vem_i_counts_poisson = {
    .support = {MOST_COUNT, "family poisson takes only whole numbers from 0 to 2^53 - 1",
                base_poisson},
    .most = INFINITY,
    .limit = limit_poisson,
    .stabilize = roots,
    .variance = variance_poisson,
    .log_affinity = affinity_poisson,
    .draw = draw_poisson};
const vem_i_counts vem_i_counts_multinomial = {
    .support = {MOST_COUNT,
                "family multinomial takes only whole numbers from 0 to 2^53 - 1",
                base_multinomial},
    .shares = 1,
    .most = 1,
    .limit = limit_multinomial,
    .stabilize = roots_of_shares,
    .variance = variance_bernoulli,
    .log_affinity = affinity_multinomial,
    .draw = draw_multinomial};
