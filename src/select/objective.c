/* Under a conjugate prior a cluster costs minus its log evidence (evidence.c). Without
 * one it is what the rows say against it at its best parameters, each row wholly in its
 * cluster, and the price of these,
 *
 *     N log(W / N) + N / 2 (D log 2 pi + log|Sigma| + tr(Sigma^-1 S) / N) + price p_c ,
 *
 * Sigma = S / N, raised to the floor (floor.c), without which the trace is D N; W the mass of
 * all rows and p_c its weight, mean and shape, and with too few rows very much: with price =
 * 1/2 log W the classification likelihood with the penalty of BIC, which is ICL.
 *
 * Where clusters share one variance (k-means with BIC, the model of X-means) that is
 *
 *     sum_c N_c log(W / N_c) + W D / 2 log(2 pi s) + D (W - K) / 2 + price (K (D + 1)) ,
 *
 * s = J / (D (W - K)), J the scatter of all: no sum over clusters, but one over three
 * numbers that are. With s at the floor J / (2 s) stands for D (W - K) / 2. */
#include "select/objective.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

/* What a row costs that a cluster lacks: more than any number of them gains. */
static const double FEW = 1e9;

int64_t vem_i_group_stride(const vem_i_objective *o)
{
    return 1 + o->d + vem_i_second_count(o->family, o->d);
}

void vem_i_group_join(const vem_i_objective *o, const double *a, const double *b,
                      double *out)
{
    const int64_t d = o->d, values = vem_i_second_count(o->family, o->d);
    const double mass = a[0] + b[0], share = mass > 0 ? b[0] / mass : 0;
    const double *s = a + 1 + d, *t = b + 1 + d;
    double *u = out + 1 + d, square = 0;
    for (int64_t i = 0, at = 0; i < d; i++) {
        const double e = b[1 + i] - a[1 + i];
        square += e * e;
        if (o->family->axes == 2)
            for (int64_t j = 0; j <= i; j++, at++)
                u[at] = s[at] + t[at] + a[0] * share * e * (b[1 + j] - a[1 + j]);
        else if (o->family->axes == 1)
            u[i] = s[i] + t[i] + a[0] * share * e * e;
    }
    for (int64_t k = 0; o->family->axes == 0 && k < values; k++)
        u[k] = s[k] + t[k] + a[0] * share * square;
    for (int64_t i = 0; i < d; i++) /* last: out may be a or b */
        out[1 + i] = a[1 + i] + share * (b[1 + i] - a[1 + i]);
    out[0] = mass;
}

int64_t vem_i_objective_work(const vem_i_objective *o)
{
    const int64_t d = o->d;
    if (o->constraints.conjugate)
        return vem_i_evidence_work(o->constraints.conjugate);
    return o->family->axes == 2 ? d * d + vem_i_floor_work(o->d) : 0;
}

/* log s + variance / s - 1, s at least the floor. */
static double log_variance(double variance, double floor)
{
    return variance < floor ? log(floor) + variance / floor - 1 : log(variance);
}

/* log|Sigma| + tr(Sigma^-1 S) / N - D. few: rows that no matrix can be told from. */
static double log_det_and_trace(const vem_i_objective *o, double mass,
                                const double *scatter, int few, double *work)
{
    const vem_i_constraints *limits = &o->constraints;
    const int64_t d = o->d;
    double sum = 0;
    if (o->family->axes == 0)
        return (double)d * log_variance(scatter[0] / (mass * (double)d),
                                        vem_i_floor_shared(limits, o->d));
    if (o->family->axes == 1) {
        for (int64_t j = 0; j < d; j++)
            sum += log_variance(scatter[j] / mass, vem_i_floor_column(limits, j));
        return sum;
    }
    if (few) { /* that is counted apart: what the columns say is enough to tell such groups apart */
        for (int64_t j = 0; j < d; j++)
            sum += log_variance(scatter[j * (j + 3) / 2] / mass,
                                vem_i_floor_column(limits, j));
        return sum;
    }
    for (int64_t i = 0, at = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++, at++)
            work[i * d + j] = work[j * d + i] = scatter[at] / mass;
    const double lacks = vem_i_floor_covariance(work, o->d, limits, work + d * d);
    vem_i_cholesky(work, o->d);
    for (int64_t j = 0; j < d; j++)
        sum += 2 * log(work[j * d + j]);
    return sum - lacks;
}

/* Rows that a shape can be told from: without a prior fewer would lie in a plane, or
 * nearly so, and the likelihood has no bound there. */
static double fewest(const vem_i_objective *o)
{
    return o->family->axes == 2 ? 2.0 * (o->d + 1) : 4;
}

double vem_i_group_lack(const vem_i_objective *o, const double *group)
{
    const double few = fewest(o) - group[0] * o->mass_unit;
    return o->constraints.conjugate || o->family->shared || !(group[0] > 0 && few > 0)
               ? 0
               : FEW * few;
}

static double cost_of(const vem_i_objective *o, const double *group, double *work)
{
    const double mass = group[0], n = mass * o->mass_unit;
    const double *scatter = group + 1 + o->d;
    if (o->constraints.conjugate)
        return vem_i_evidence_of(o->constraints.conjugate, mass, group + 1, scatter,
                                 work);
    const double numbers = (double)(1 + o->d + vem_i_second_count(o->family, o->d));
    if (o->family->shared)
        return n * log(o->total / n);
    const double lack = vem_i_group_lack(o, group);
    return lack + n * log(o->total / n) +
           0.5 * n *
               (o->d * (VEM_I_LOG_2PI + 1) +
                log_det_and_trace(o, mass, scatter, lack > 0, work)) +
           o->price * numbers;
}

vem_i_tally vem_i_group_tally(const vem_i_objective *o, const double *group, double *work)
{
    if (!(group[0] > 0))
        return (vem_i_tally){0};
    return (vem_i_tally){.cost = cost_of(o, group, work),
                         .scatter =
                             o->family->shared ? group[1 + o->d] * o->mass_unit : 0,
                         .clusters = 1};
}

vem_i_tally vem_i_tally_add(vem_i_tally a, double sign, vem_i_tally b)
{
    return (vem_i_tally){a.cost + sign * b.cost, a.scatter + sign * b.scatter,
                         a.clusters + sign * b.clusters};
}

double vem_i_objective_total(const vem_i_objective *o, vem_i_tally t)
{
    if (o->constraints.conjugate)
        return t.cost + vem_i_evidence_count(o->constraints.conjugate,
                                             o->total / o->mass_unit, t.clusters);
    if (!o->family->shared)
        return t.cost - o->price; /* one weight is known by the others */
    const double d = o->d, rows = o->total - t.clusters;
    if (!(rows > 0))
        return INFINITY;
    const double best = t.scatter / (d * rows),
                 variance = fmax(best, vem_i_floor_shared(&o->constraints, o->d));
    return t.cost + 0.5 * o->total * d * (VEM_I_LOG_2PI + log(variance)) +
           0.5 * (variance > best ? t.scatter / variance : d * rows) +
           o->price * t.clusters * (d + 1);
}
