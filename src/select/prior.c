/* What is chosen where the caller says nothing:
 *
 *     m0 = the mean of all rows,  xi0 = 0.01,  phi0 = 1,
 *     eta0 = D + 1 for matrices, 2 for numbers,  B0 = eta0 xi0 diag(v) ,
 *
 * v the variances of the columns over all rows (with one variance for all columns their
 * mean): prior clusters of a tenth of the deviation of the data, worth one row of
 * evidence or so. Mean and variances are those that a few rows far away cannot move
 * (data/middle.c): one row at 1e8 would make all others look like one cluster. Multiplying a column by a factor multiplies B0 with it, so that labels
 * stay and -log evidence grows by N log of the factor. A constant column has a deviation
 * of the size of its value, or 1. */
#include "select/prior.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/structs.h"
#include "data/points.h"
#include "model/units.h"

static const double STRENGTH = 0.01, COUNT = 1;

/* Numbers whose logarithms and gamma functions keep their digits beside those of rows. */
static const double LEAST = 1e-9, MOST = 1e9, FARTHEST = 1e75;

static vem_status check_size(vem_i_run *run, const char *what, double value)
{
    if (value >= LEAST && value <= MOST)
        return VEM_OK;
    return vem_i_fail(run, VEM_BAD_OPTION,
                      "The prior %s is %g, but it must lie between %g and %g.", what,
                      value, LEAST, MOST);
}

static double scale_of(const vem_view *view, int64_t j)
{
    return view->scale ? view->scale[j] : 1;
}

static vem_status set_mean(vem_i_run *run, const vem_view *view, const double *asked,
                           double *mean)
{
    for (int64_t j = 0; j < view->d; j++) {
        mean[j] = (asked[j] - view->origin[j]) / scale_of(view, j);
        if (!(fabs(mean[j]) <= FARTHEST))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "The prior mean of column %lld is not finite, or too far "
                              "from all rows.",
                              (long long)j + 1);
    }
    return VEM_OK;
}

/* Mean and scale as they are where nobody says. */
static vem_status choose(vem_i_run *run, const vem_view *view, double factor,
                         vem_i_conjugate *c)
{
    const int64_t d = view->d;
    double *variances = NULL, variance;
    vem_status status = vem_i_take(run, &variances, (size_t)d, sizeof *variances);
    if (status == VEM_OK)
        status = vem_i_view_middle(run, view, c->mean, variances, &variance);
    if (status == VEM_OK && vem_i_is_round(c->family))
        variances[0] = variance > 0 ? variance : 1;
    for (int32_t j = 0; status == VEM_OK && j < vem_i_square_count(c->family, view->d);
         j++)
        c->scale[vem_i_shape_at(c->family, view->d, j)] = factor * variances[j];
    vem_i_free(variances);
    return status;
}

static vem_status set_scale(vem_i_run *run, const vem_view *view,
                            const vem_prior_options *asked, vem_i_conjugate *c)
{
    const int64_t d = view->d, values = asked->scale_values;
    const int round = vem_i_is_round(c->family), matrix = vem_i_takes_products(c->family);
    if (!vem_i_shape_from(c->family, view->d, asked->scale, values, c->scale))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The prior scale has %lld values, but there may be 1%s%s.",
                          (long long)values, round ? "" : ", one for each column",
                          matrix ? ", or a matrix" : "");
    for (int64_t i = 0; matrix && i < d; i++)
        for (int64_t j = 0; j < i; j++)
            if (c->scale[i * d + j] != c->scale[j * d + i])
                return vem_i_fail(run, VEM_BAD_OPTION,
                                  "The prior scale is no symmetric matrix: row %lld, "
                                  "column %lld.",
                                  (long long)i + 1, (long long)j + 1);
    for (int64_t j = 1; round && j < d; j++)
        if (scale_of(view, j) != scale_of(view, 0))
            return vem_i_fail(
                run, VEM_BAD_OPTION,
                "With --standardize the columns have units of their own, and "
                "one variance for all of them has none: no --prior-scale for "
                "family %s.",
                vem_choice_name("family", (int)c->family->kind));
    vem_i_shape_to_view(c->family, view->d, view->scale, c->scale);
    return VEM_OK;
}

vem_status vem_i_prior_new(vem_i_run *run, const vem_view *view,
                           const vem_i_family *family, const vem_prior_options *asked,
                           vem_i_conjugate *c)
{
    vem_prior_options o = {0};
    vem_status status = VEM_OK;
    if (asked)
        status = vem_i_struct_in(run, "vem_prior_options", asked, &o, sizeof o);
    if (status == VEM_OK)
        status = vem_i_conjugate_new(run, family, view->d, c);
    if (status != VEM_OK)
        return status;
    c->mass_unit = view->mass_unit;
    c->strength = o.strength != 0 ? o.strength : STRENGTH;
    c->count = o.count != 0 ? o.count : COUNT;
    c->dof = o.dof != 0 ? o.dof : vem_i_takes_products(family) ? view->d + 1.0 : 2;
    status = check_size(run, "strength", c->strength);
    if (status == VEM_OK)
        status = check_size(run, "count", c->count);
    if (status == VEM_OK && c->dof > MOST)
        status = check_size(run, "number of degrees of freedom", c->dof);
    if (status == VEM_OK && o.mean && o.mean_values != view->d)
        status = vem_i_fail(run, VEM_BAD_OPTION,
                            "The prior mean has %lld values, but there are %d columns.",
                            (long long)o.mean_values, view->d);
    if (status == VEM_OK && (!o.mean || !o.scale))
        status = choose(run, view, c->dof * c->strength, c);
    if (status == VEM_OK && o.mean)
        status = set_mean(run, view, o.mean, c->mean);
    if (status == VEM_OK && o.scale)
        status = set_scale(run, view, &o, c);
    if (status == VEM_OK)
        status = vem_i_conjugate_settle(run, c);
    if (status != VEM_OK)
        vem_i_conjugate_free(c);
    return status;
}
