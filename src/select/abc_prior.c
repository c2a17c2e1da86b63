/* What the prior of agglomerative clustering is where it is left open (Kurihara and
 * Welling's bottom-up search), beside what a selection chooses (prior.c):
 *
 *     m0 = the mean,  xi0 = 0.01,  eta0 = D (1 where columns are apart),  phi0 = 2,
 *     B0 = 0.01 b eta0 I,  b = dmin^2 / D,
 *
 * the last with the eta0 that is taken, also where that was given, as in prior.c;
 * dmin the mean of the three least distances of about N / 10 random pairs of rows,
 * equal ones left out: clusters are expected to be as small as the least distances
 * between rows, not as large as the data. So nothing depends on a common
 * unit of all columns, or on the origin; on units of single columns it does, as
 * distances and linkages do (--standardize takes them away).
 *
 * A B0 that is no matrix is kept by column, as that of the family with variances: rows
 * of many columns need no D x D numbers. */
#include <math.h>

#include "base/rng.h"
#include "base/structs.h"
#include "select/abc.h"
#include "select/prior.h"

static const double STRENGTH = 0.01, COUNT = 2, SCALE = 0.01;
enum { LEAST_PAIRS = 10, MOST_PAIRS = 1000000, TRIES = 20 };

static double squared_distance(const double *a, const double *b, int32_t d)
{
    double sum = 0;
    for (int32_t j = 0; j < d; j++)
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/* The mean of the three least distances above 0; of all rows equal: 1. Where most rows
 * are equal, more pairs are looked at. */
static double least_distance(const vem_view *view, uint64_t seed)
{
    vem_i_rng rng = vem_i_rng_at(seed, VEM_RNG_PAIRS, 0, 0);
    const int64_t tenth = view->n / 10;
    const int64_t pairs = tenth < LEAST_PAIRS  ? LEAST_PAIRS
                          : tenth > MOST_PAIRS ? MOST_PAIRS
                                               : tenth;
    double least[3] = {INFINITY, INFINITY, INFINITY};
    for (int64_t k = 0; k < TRIES * pairs && (k < pairs || least[0] == INFINITY); k++) {
        const int64_t i = (int64_t)vem_i_rng_below(&rng, (uint64_t)view->n);
        const int64_t j = (int64_t)vem_i_rng_below(&rng, (uint64_t)view->n);
        double distance = sqrt(
            squared_distance(vem_i_view_row(view, i), vem_i_view_row(view, j), view->d));
        for (int place = 0; distance > 0 && place < 3; place++)
            if (distance < least[place]) {
                const double farther = least[place];
                least[place] = distance;
                distance = farther;
            }
    }
    double sum = 0;
    int count = 0;
    for (; count < 3 && least[count] < INFINITY; count++)
        sum += least[count];
    if (count > 0)
        return sum / count;
    return view->variance > 0 ? sqrt(view->variance * view->d) : 1;
}

/* The family whose shapes B0 has: for a matrix, or what is none of the kinds that there
 * are, the one asked for. */
static const vem_i_family *shape_of(const vem_i_family *family, const vem_view *view,
                                    const vem_prior_options *given)
{
    const int64_t values = given->scale ? given->scale_values : 1;
    if (!vem_i_takes_products(family) || (values != 1 && values != view->d))
        return family;
    for (int kind = 0; kind < VEM_FAMILIES; kind++)
        if (vem_i_is_diagonal(vem_i_family_of(kind)) &&
            vem_i_has_evidence(vem_i_family_of(kind)))
            return vem_i_family_of(kind);
    return family;
}

static void set_scale(const vem_view *view, uint64_t seed, vem_i_conjugate *prior)
{
    const double distance = least_distance(view, seed);
    for (int32_t j = 0; j < vem_i_square_count(prior->family, view->d); j++)
        prior->scale[vem_i_shape_at(prior->family, view->d, j)] =
            SCALE * prior->dof * (distance * distance / (double)view->d);
}

vem_status vem_i_abc_prior_new(vem_i_run *run, const vem_view *view,
                               const vem_i_family *family, const vem_prior_options *asked,
                               uint64_t seed, vem_i_conjugate *prior)
{
    vem_prior_options given = {.size = sizeof given};
    vem_status status = VEM_OK;
    *prior = (vem_i_conjugate){0};
    if (asked)
        status = vem_i_struct_in(run, "vem_prior_options", asked, &given, sizeof given);
    if (status != VEM_OK)
        return status;
    given.size = sizeof given;
    const vem_i_family *shape = shape_of(family, view, &given);
    if (run->counted)
        return vem_i_conjugate_new(run, shape, view->d, prior);
    given.strength = given.strength != 0 ? given.strength : STRENGTH;
    given.count = given.count != 0 ? given.count : COUNT;
    if (given.dof == 0)
        given.dof = vem_i_takes_products(family) ? view->d : 1;
    status = vem_i_prior_new(run, view, shape, &given, prior);
    if (status == VEM_OK && !given.scale) {
        set_scale(view, seed, prior);
        status = vem_i_conjugate_settle(run, prior);
    }
    if (status == VEM_OK && vem_i_takes_products(family) && !(prior->dof > view->d - 1))
        status = vem_i_fail(
            run, VEM_BAD_OPTION,
            "The prior has %g degrees of freedom, but there must be more than %d.",
            prior->dof, view->d - 1);
    prior->mass_unit = 1; /* masses of a tree are the caller's */
    if (status != VEM_OK)
        vem_i_conjugate_free(prior);
    return status;
}
