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
    return vem_i_stats_stride(o->family, o->d);
}

int64_t vem_i_objective_work(const vem_i_objective *o)
{
    return vem_i_covariance_work(o->family, o->d);
}

/* Rows that a shape can be told from: without a prior fewer would lie in a plane, or
 * nearly so, and the likelihood has no bound there. */
static double fewest(const vem_i_objective *o)
{
    return vem_i_takes_products(o->family) ? 2.0 * (o->d + 1) : 4;
}

double vem_i_group_lack(const vem_i_objective *o, const double *group)
{
    const double few = fewest(o) - group[0] * o->mass_unit;
    return o->constraints.conjugate || o->family->shared || !(group[0] > 0 && few > 0)
               ? 0
               : FEW * few;
}

/* That one more cluster has. */
static double numbers_of(const vem_i_objective *o)
{
    return (double)(vem_i_parameter_count(o->family, VEM_PRIOR_FREE, 2, o->d) -
                    vem_i_parameter_count(o->family, VEM_PRIOR_FREE, 1, o->d));
}

static double cost_of(const vem_i_objective *o, const double *group, double *work)
{
    const double mass = group[0], n = mass * o->mass_unit;
    const double *scatter = group + 1 + o->d;
    if (o->constraints.conjugate)
        return vem_i_evidence_of(o->constraints.conjugate, mass, group + 1, scatter,
                                 work);
    if (o->family->shared)
        return n * log(o->total / n);
    const double lack = vem_i_group_lack(o, group);
    return lack + n * log(o->total / n) +
           0.5 * n *
               (o->d * (VEM_I_LOG_2PI + 1) +
                vem_i_floor_log_det(o->family, o->d, &o->constraints, mass, scatter,
                                    lack > 0, work)) +
           o->price * numbers_of(o);
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
