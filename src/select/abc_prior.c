/* The prior of agglomerative clustering where it is left open (Kurihara and Welling's
 * bottom-up search):
 *
 *     m0 = the mean,  xi0 = 0.01,  eta0 = D (1 where columns are apart),  phi0 = 2,
 *     B0 = 0.01 b eta0 I,  b = dmin^2 / D,
 *
 * dmin the mean of the three least distances of about N / 10 random pairs of rows,
 * equal ones left out: clusters are expected to be as small as the least distances
 * between rows, not as large as the data. So nothing depends on a common
 * unit of all columns, or on the origin; on units of single columns it does. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/structs.h"
#include "select/abc.h"

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

static vem_status check(vem_i_run *run, const vem_i_abc_prior *p,
                        const vem_i_family *family, int32_t d)
{
    const double least = family->axes == 2 ? d - 1 : 0;
    const int columns = family->axes == 0 ? p->scale_count == 1
                                          : p->scale_count == 1 || p->scale_count == d;
    if (!(p->strength > 0 && isfinite(p->strength)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior-strength is %g, but it must be positive.",
                          p->strength);
    if (!(p->count > 0 && isfinite(p->count)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior-count is %g, but it must be positive.", p->count);
    if (!(p->dof > least && isfinite(p->dof)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior-dof is %g, but it must be more than %g for %d "
                          "column%s.",
                          p->dof, least, d, d == 1 ? "" : "s");
    if (!columns && !(family->axes == 2 && p->scale_count == (int64_t)d * d))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior-scale has %lld values, but there must be %s.",
                          (long long)p->scale_count,
                          family->axes == 2   ? "one, one for each column, or a matrix"
                          : family->axes == 1 ? "one, or one for each column"
                                              : "one");
    for (int32_t j = 0; j < d; j++)
        if (!isfinite(p->mean[j]))
            return vem_i_fail(run, VEM_BAD_OPTION, "--prior-mean is not finite.");
    for (int64_t k = 0; k < p->scale_count; k++) {
        const int matrix = p->scale_count > d, diagonal = !matrix || k % (d + 1) == 0;
        if (!isfinite(p->scale[k]) || (diagonal && !(p->scale[k] > 0)))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "--prior-scale is %g%s, but it must be positive.",
                              p->scale[k], matrix ? " on its diagonal" : "");
    }
    return VEM_OK;
}

static double unit_of(const vem_view *view, int64_t column)
{
    return view->scale ? view->scale[column] : 1;
}

/* B0 in the units of the view. One number for all columns stays one, unless columns
 * have units of their own. */
static void set_scale(const vem_view *view, const vem_i_family *family,
                      const vem_prior_options *given, uint64_t seed, vem_i_abc_prior *p)
{
    const int64_t d = view->d;
    if (!given->scale) {
        const double distance = least_distance(view, seed);
        const double each = family->axes == 2 ? (double)d : 1;
        p->scale_count = 1;
        p->scale[0] = 0.01 * each * (distance * distance / (double)d);
        return;
    }
    p->scale_count = given->scale_values;
    if (p->scale_count == 1) {
        p->scale[0] = given->scale[0] / (unit_of(view, 0) * unit_of(view, 0));
        for (int64_t j = 1; family->axes > 0 && j < d; j++)
            if (unit_of(view, j) != unit_of(view, 0))
                p->scale_count = d;
    }
    for (int64_t k = 0; p->scale_count > 1 && k < p->scale_count; k++) {
        const int64_t i = p->scale_count == d ? k : k / d;
        const int64_t j = p->scale_count == d ? k : k % d;
        p->scale[k] = given->scale[given->scale_values == 1 ? 0 : k] /
                      (unit_of(view, i) * unit_of(view, j));
    }
}

static void set_mean(const vem_view *view, const double *given, double *mean)
{
    if (given) {
        for (int32_t j = 0; j < view->d; j++)
            mean[j] = (given[j] - view->origin[j]) / unit_of(view, j);
        return;
    }
    double mass = 0;
    memset(mean, 0, (size_t)view->d * sizeof *mean);
    for (int64_t i = 0; i < view->n; i++) {
        const double *x = vem_i_view_row(view, i), weight = vem_i_view_mass(view, i);
        mass += weight;
        for (int32_t j = 0; weight > 0 && j < view->d; j++)
            mean[j] += weight / mass * (x[j] - mean[j]);
    }
}

vem_status vem_i_abc_prior_new(vem_i_run *run, const vem_view *view,
                               const vem_i_family *family, const vem_prior_options *asked,
                               uint64_t seed, vem_i_abc_prior *prior)
{
    const int64_t d = view->d;
    vem_prior_options known = {0};
    const vem_prior_options *given = &known;
    *prior = (vem_i_abc_prior){0};
    vem_status status =
        asked ? vem_i_struct_in(run, "vem_prior_options", asked, &known, sizeof known)
              : VEM_OK;
    if (status != VEM_OK)
        return status;
    const int64_t room = given->scale && given->scale_values > d ? d * d : d;
    prior->strength = given->strength != 0 ? given->strength : 0.01;
    prior->dof = given->dof != 0 ? given->dof : family->axes == 2 ? (double)d : 1;
    prior->count = given->count != 0 ? given->count : 2;
    if (given->scale && given->scale_values != 1 && given->scale_values != d &&
        given->scale_values != d * d)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior-scale has %lld values, but there must be 1, %lld or "
                          "%lld.",
                          (long long)given->scale_values, (long long)d,
                          (long long)(d * d));
    status = vem_i_take(run, &prior->mean, (size_t)d, sizeof(double));
    if (status == VEM_OK)
        status = vem_i_take(run, &prior->scale, (size_t)room, sizeof(double));
    if (status == VEM_OK && !run->counted) {
        set_mean(view, given->mean, prior->mean);
        set_scale(view, family, given, seed, prior);
        status = check(run, prior, family, view->d);
    }
    if (status != VEM_OK)
        vem_i_abc_prior_free(prior);
    return status;
}

void vem_i_abc_prior_free(vem_i_abc_prior *prior)
{
    vem_i_free(prior->mean);
    vem_i_free(prior->scale);
    *prior = (vem_i_abc_prior){0};
}
