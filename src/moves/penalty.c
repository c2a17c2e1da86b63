/* What uneven sizes cost:  t / C sum_c f(x_c),  x_c = C n_c / W,  with
 *
 *     f(x) = x log x - x,     f'(x) = log x,
 *
 * and below a sixteenth of the mean its tangent there, as the log has no end. (The - x is the same in sum
 * for all sizes.) t is a multiple of the median gap: how far behind its best cluster, in nats, the next
 * best is for half of the mass. */
#include "moves/penalty.h"

#include <math.h>
#include <stdlib.h>

#include "data/together.h"

static const double LEAST_SIZE = 1.0 / 16;
/* t as a multiple of the median gap. Strong is more than most rows can bear: t becomes
 * smaller where the E-step goes too far, and so ends near what they can. */
static const double SOFT = 1, STRONG = 3;

double vem_i_penalty_slope(double x)
{
    return log(fmax(x, LEAST_SIZE));
}

double vem_i_penalty(double x)
{
    return x >= LEAST_SIZE ? x * log(x) - x : x * log(LEAST_SIZE) - LEAST_SIZE;
}

double vem_i_penalty_of(const vem_i_em *em, const double *sizes)
{
    const int32_t clusters = em->model->clusters;
    double penalty = 0;
    for (int32_t c = 0; c < clusters; c++)
        penalty += vem_i_penalty(sizes[c] * clusters / em->view->total_mass) / clusters;
    return penalty;
}

double vem_i_penalty_rounding(const vem_i_em *em)
{
    return em->view->kernels->precision == VEM_SINGLE ? 1e-6 : 1e-9;
}

static int compare(const void *a, const void *b)
{
    const double x = ((const vem_i_told_gap *)a)->gap,
                 y = ((const vem_i_told_gap *)b)->gap;
    return (x > y) - (x < y);
}

/* Zeros where there is no gap. */
static vem_i_told_gap told_by(const vem_i_em *em, int64_t i)
{
    const double gap = vem_i_value(em->view->kernels, em->posterior.gap, i);
    const double mass = vem_i_view_mass(em->view, i);
    const int has = mass > 0 && em->posterior.next[i] >= 0 && gap > 0 && isfinite(gap);
    return has ? (vem_i_told_gap){gap, mass} : (vem_i_told_gap){0};
}

/* By mass: an item of weight 2 is two items. */
static double median_gap(const vem_i_em *em, vem_i_told_gap *told)
{
    const int64_t n = em->view->global_n,
                  wanted = n < VEM_I_PENALTY_TOLD ? n : VEM_I_PENALTY_TOLD;
    int64_t count = 0, at = 0;
    double all = 0, below = 0;
    for (int64_t k = 0; k < wanted; k++)
        told[k] = vem_i_view_has(em->view, n * k / wanted)
                      ? told_by(em, n * k / wanted - em->view->first)
                      : (vem_i_told_gap){0};
    if (em->run->comm) /* each item is one's own, and those of others are 0 */
        em->run->comm->combine(em->run->comm, VEM_I_OR_BYTES, told,
                               (size_t)wanted * sizeof *told);
    for (int64_t k = 0; k < wanted; k++)
        if (told[k].gap > 0) {
            all += told[k].mass;
            told[count++] = told[k];
        }
    if (count == 0)
        return 0;
    qsort(told, (size_t)count, sizeof *told, compare);
    for (; at < count - 1 && below + told[at].mass <= 0.5 * all; at++)
        below += told[at].mass;
    return told[at].gap;
}

double vem_i_penalty_strength(const vem_i_em *em, vem_i_told_gap *room)
{
    const int soft = em->options->balance == VEM_BALANCE_SOFT;
    return median_gap(em, room) * (soft ? SOFT : STRONG);
}
