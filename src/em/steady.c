/* When S - N delta^2 loses its digits.
 *
 * The M-step has N, f = sum w q (x - a) and S = sum w q (x - a)^2 about some a, the old mean
 * as a rule, and wants T = S - N delta^2 about a + delta, delta = f / N. Sums have relative
 * errors of e at most (kernels.h: chains of 64 roundings u of the compute type):
 *
 *     |error of S| <= e S,   |error of f| <= e sum w q |x - a| <= e sqrt(N S)
 *     =>  |error of T| <= e S + 2 |delta| e sqrt(N S) <= 3 e S          (N delta^2 <= S)
 *
 * to first order. F is flat at its maximum: a variance that is off by a share t costs about
 * t^2 / 4 per dimension and unit of mass. So T is good enough when 3 e S <= t T, with
 * t = 2^-10 in single and 2^-15 in double precision: 2e-7 and 2e-10 of F. A variance at its
 * floor needs no more than that of the floor.
 *
 * Otherwise the moments are taken again about a + delta, as a number of the compute type.
 * There delta is a rounding, and T as good as S. A start 3,000 deviations away in float32, or
 * 10^9 in float64, costs one such pass; steps of a usual fit are shorter than the spread
 * and cost none.
 *
 * One variance for all clusters, or one for each column, is lost by the sums over clusters: a
 * cluster counts as too far when its N delta^2 alone would take more than its share of the room
 * there is. For matrices any direction may be the narrow one: their floor is what is compared. */
#include "em/steady.h"

#include <string.h>

#include "base/memory.h"

/* Each pass leaves of a step what rounding does; a second one is for the rarest cases. */
enum { PASSES = 4 };

/* e of float sums: no more than 64 additions in a row, and what products, weights and the
 * vector's lanes add, before the sum goes on in double (docs/math/numerics.md). */
#define FLOAT_SUM_ERROR (80 * 0x1p-24)

/* Largest S / T that keeps the digits. Full covariances are summed in double anyway. */
static double largest_ratio(const vem_i_scorer *scorer)
{
    const int single =
        scorer->kernels->precision == VEM_SINGLE && !vem_i_takes_products(scorer->family);
    return single ? 0x1p-10 / (3 * FLOAT_SUM_ERROR) : 0x1p-15 / (3 * VEM_I_SUM_ERROR);
}

/* What is judged of a cluster: its values, one for each variance there is. Where clusters share
 * their variances, T is that of all. */
typedef struct judge {
    const vem_i_scorer *scorer;
    const vem_i_stats *stats;
    const vem_i_constraints *constraints;
    double ratio;
    int matrix;     /* any direction is a value */
    int32_t values; /* else: d, the columns, or 1, their sum */
    int pooled;     /* by all clusters */
    double sum;     /* then, of one value: T of all clusters, no less than the floor */
    double
        *columns; /* the same of each column: the scratch in which its family adds them */
} judge;

static double square_step(const vem_i_stats *stats, int32_t c)
{
    const double mass = *vem_i_stats_mass(stats, c), *first = vem_i_stats_first(stats, c);
    double sum = 0;
    for (int32_t j = 0; j < stats->d; j++)
        sum += (first[j] / mass) * (first[j] / mass);
    return sum;
}

/* tr S of cluster c. */
static double trace(const judge *t, int32_t c)
{
    const vem_i_family *family = t->scorer->family;
    double sum = 0;
    for (int64_t j = 0; j < vem_i_square_count(family, t->stats->d); j++)
        sum += vem_i_stats_second(t->stats, c)[vem_i_square_at(family, j)];
    return sum;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* S, N delta^2 and the floor of a value. */
static double about_old(const judge *t, int32_t c, int32_t value)
{
    return t->values > 1
               ? vem_i_stats_second(t->stats,
                                    c)[vem_i_square_at(t->scorer->family, value)]
               : trace(t, c);
}

static double gone(const judge *t, int32_t c, int32_t value)
{
    const double mass = *vem_i_stats_mass(t->stats, c);
    const double first = vem_i_stats_first(t->stats, c)[value];
    return t->values > 1 ? first * (first / mass) : mass * square_step(t->stats, c);
}

static double least(const judge *t, int32_t value, double mass)
{
    const int32_t d = t->stats->d;
    return t->values > 1 ? vem_i_floor_column(t->constraints, value) * mass
                         : vem_i_floor_shared(t->constraints, d) * d * mass;
}

static int too_far(const judge *t, int32_t c)
{
    const double mass = *vem_i_stats_mass(t->stats, c);
    if (!(mass > 0))
        return 0;
    if (t->matrix) {
        const double *first = vem_i_stats_first(t->stats, c);
        double most = 0;
        for (int32_t j = 0; j < t->stats->d; j++)
            most += (first[j] / mass) * (first[j] / mass) /
                    vem_i_floor_column(t->constraints, j);
        return most > t->ratio;
    }
    for (int32_t v = 0; v < t->values; v++) {
        const double step = gone(t, c, v);
        if (t->pooled) {
            const double all = t->values > 1 ? t->columns[v] : t->sum;
            if (step > t->ratio * all * (mass / t->constraints->total_mass))
                return 1;
        } else {
            const double old = about_old(t, c, v);
            if (old > t->ratio * greater(old - step, least(t, v, mass)))
                return 1;
        }
    }
    return 0;
}

static double pool(const judge *t, int32_t value)
{
    double sum = 0;
    for (int32_t c = 0; c < t->stats->clusters; c++)
        if (*vem_i_stats_mass(t->stats, c) > 0)
            sum += about_old(t, c, value) - gone(t, c, value);
    return greater(sum, least(t, value, t->constraints->total_mass));
}

static judge judge_of(const vem_i_scorer *scorer, const vem_i_stats *stats,
                      const vem_i_constraints *constraints)
{
    const int free = !constraints->shared;
    judge t = {.scorer = scorer,
               .stats = stats,
               .constraints = constraints,
               .ratio = largest_ratio(scorer),
               .matrix = free && vem_i_takes_products(scorer->family),
               .values = free && vem_i_is_diagonal(scorer->family) ? stats->d : 1,
               .pooled = constraints->shared || scorer->family->shared,
               .columns = scorer->work};
    if (t.pooled && t.values == 1)
        t.sum = pool(&t, 0);
    for (int32_t v = 0; t.pooled && t.values > 1 && v < t.values; v++)
        t.columns[v] = pool(&t, v);
    return t;
}

static int any_too_far(const judge *t)
{
    for (int32_t c = 0; c < t->stats->clusters; c++)
        if (too_far(t, c))
            return 1;
    return 0;
}

/* Moments of these clusters will be about where they go. Returns whether one of them can
 * still come nearer. */
static int approach(const judge *t, double *mean, uint8_t *only)
{
    const vem_i_scorer *scorer = t->scorer;
    int some = 0;
    for (int32_t c = 0; c < t->stats->clusters; c++) {
        only[c] = 0;
        if (!too_far(t, c))
            continue;
        const double mass = *vem_i_stats_mass(t->stats, c);
        for (int32_t j = 0; j < t->stats->d; j++)
            mean[j] = vem_i_value(scorer->kernels, scorer->about, c * scorer->ldc + j) +
                      vem_i_stats_first(t->stats, c)[j] / mass;
        only[c] = (uint8_t)vem_i_scorer_approach(scorer, c, mean);
        some |= only[c];
    }
    return some;
}

vem_status vem_i_steady_room_new(vem_i_run *run, vem_i_scorer *scorer, int32_t clusters,
                                 vem_i_steady_room *room)
{
    *room = (vem_i_steady_room){0};
    const vem_i_room list[] = {
        {&room->only, (size_t)clusters, sizeof *room->only, 0},
        {&room->mean, (size_t)scorer->d, sizeof *room->mean, 0},
    };
    const vem_status status = vem_i_scorer_part(run, scorer);
    return status == VEM_OK ? vem_i_take_rooms(run, list, VEM_I_COUNT(list)) : status;
}

void vem_i_steady_room_free(vem_i_steady_room *room)
{
    vem_i_free(room->only);
    vem_i_free(room->mean);
}

vem_status vem_i_steady(vem_i_run *run, vem_i_estep *estep, vem_i_posterior *posterior,
                        const vem_i_constraints *constraints, vem_i_scorer *scorer,
                        vem_i_stats *stats, int64_t *pairs)
{
    if (!vem_i_has_shapes(scorer->family))
        return VEM_OK;
    judge t = judge_of(scorer, stats, constraints);
    if (!any_too_far(&t))
        return VEM_OK;
    vem_i_steady_room room;
    const vem_status status = vem_i_steady_room_new(run, scorer, stats->clusters, &room);
    for (int pass = 0;
         status == VEM_OK && pass < PASSES && approach(&t, room.mean, room.only);
         pass++) {
        *pairs += vem_i_estep_recollect(estep, posterior, room.only, stats);
        t = judge_of(scorer, stats, constraints);
    }
    vem_i_steady_room_free(&room);
    return status;
}
