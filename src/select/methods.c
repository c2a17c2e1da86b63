/* Methods that divide and join clusters: which objective, and which fits.
 *
 *     bayes   evidence, each row in one cluster        vb    evidence, soft
 *     icl     likelihood and BIC's price, one cluster   bic   likelihood and BIC's price, soft
 *     kmeans-bic  round clusters of one variance, BIC's price      gmeans  the same, divided by a
 * test */
#include <math.h>

#include "base/memory.h"
#include "fit/presets.h"
#include "model/units.h"
#include "select/divide.h"
#include "select/prior.h"

static void leave_open(vem_options *o)
{
    if (o->family == VEM_AUTO)
        o->family = vem_i_mixture_family();
    if (o->prior == VEM_AUTO)
        o->prior = VEM_PRIOR_FREE;
    if (o->empty == VEM_AUTO)
        o->empty = VEM_EMPTY_DROP;
}

static void prepare_hard(vem_options *o)
{
    leave_open(o);
    o->held =
        o->finish == VEM_FINISH_SOFT ? VEM_AUTO : 1; /* of the steps that take most */
}

/* k-means. */
static void prepare_round(vem_options *o)
{
    if (o->family == VEM_AUTO)
        o->family = vem_i_round_family();
    if (o->prior == VEM_AUTO)
        o->prior = VEM_PRIOR_FLAT;
    if (o->empty == VEM_AUTO)
        o->empty = VEM_EMPTY_DROP;
    o->held = 1;
}

double vem_i_select_unit(const vem_view *view, int reduced)
{
    double squares = 0;
    if (!reduced)
        return view->mass_unit;
    for (int64_t i = 0; i < view->n; i++)
        squares += vem_i_view_mass(view, i) * vem_i_view_mass(view, i);
    return fmin(view->mass_unit, view->total_mass / squares);
}

vem_status vem_i_select_check_total(vem_i_run *run, double total, double least)
{
    static const double MOST = 1e100;
    static const double SLACK = 1e-9; /* shares add up to 1, by chance to a little more */
    if (total > least * (1 + SLACK) && total <= MOST)
        return VEM_OK;
    return vem_i_fail(
        run, VEM_BAD_DATA,
        "The weights of all rows add up to %g, but they count as rows here: "
        "multiply them, so that they add up to more than %g and at most %g.",
        total, least, MOST);
}

vem_i_objective vem_i_selection_objective(const vem_i_selection *s)
{
    const vem_view *view = s->fits->view;
    const vem_options *o = &s->fits->programme->options;
    const vem_i_family *family = vem_i_family_of(o->family);
    const double unit = vem_i_select_unit(view, s->fits->programme->reduced);
    return (vem_i_objective){.family = family,
                             .d = view->d,
                             .constraints = vem_i_constraints_of(view, o, family),
                             .mass_unit = unit,
                             .total = view->total_mass * unit};
}

static vem_status run_evidence(vem_i_selection *s)
{
    vem_i_objective objective = vem_i_selection_objective(s);
    vem_i_conjugate conjugate;
    vem_status status = vem_i_prior_new(s->fits->run, s->fits->view, objective.family,
                                        s->select->prior, &conjugate);
    if (status != VEM_OK)
        return status;
    conjugate.mass_unit = objective.mass_unit;
    objective.constraints.conjugate = &conjugate;
    status = vem_i_divide(s, &objective);
    vem_i_conjugate_free(&conjugate);
    return status;
}

/* Clusters with shapes of their own have evidence, and likelihoods of their own. */
static int takes_shapes(const vem_i_family *family)
{
    return vem_i_has_evidence(family);
}

static int takes_round(const vem_i_family *family)
{
    return vem_i_is_plain(family);
}

/* What a parameter costs by BIC: of the objective, and of the loops' F per unit of
 * mass. */
static void set_price(vem_i_objective *o)
{
    o->price = 0.5 * log(fmax(o->total, 2));
    o->constraints.price = o->price / o->total;
}

static vem_status run_kmeans(vem_i_selection *s, int tests)
{
    vem_i_objective objective = vem_i_selection_objective(s);
    set_price(&objective);
    objective.tests = tests;
    return vem_i_divide(s, &objective);
}

static vem_status run_test(vem_i_selection *s)
{
    if (s->fits->programme->reduced || s->fits->cells)
        return vem_i_fail(s->fits->run, VEM_BAD_OPTION,
                          "gmeans tests rows, not what stands for several: --coreset and "
                          "--cells do not go with it.");
    return run_kmeans(s, 1);
}

static vem_status run_round(vem_i_selection *s)
{
    return run_kmeans(s, 0);
}

static vem_status run_criterion(vem_i_selection *s)
{
    vem_i_objective objective = vem_i_selection_objective(s);
    if (s->fits->programme->options.prior == VEM_PRIOR_FLAT)
        return vem_i_fail(
            s->fits->run, VEM_BAD_OPTION,
            "--prior is flat, but bic and icl fit the weights of clusters.");
    set_price(&objective);
    return vem_i_divide(s, &objective);
}

#define DIVIDES                                                                          \
    {                                                                                    \
        "no seeding and no starts: it begins with one cluster, and clusters are "        \
        "divided "                                                                       \
        "and joined; the search of each loop suits the clusters it has.",                \
            "stops when no division, no join and no new division of two clusters gains." \
    }
#define TESTS                                                                            \
    {                                                                                    \
        "no seeding and no starts: it begins with one cluster, and clusters are "        \
        "divided "                                                                       \
        "in two; the search of each loop suits the clusters it has.",                    \
            "stops when a test finds the rows of every cluster to be a normal sample."   \
    }

const vem_i_select_type vem_i_select_type_bayes = {.kind = VEM_SELECT_BAYES,
                                                   .criterion = "log evidence",
                                                   .by_energy = 1,
                                                   .held = 1,
                                                   .softens = 1,
                                                   .takes_prior = 1,
                                                   .takes = takes_shapes,
                                                   .families = "full, diag or iso",
                                                   .told = DIVIDES,
                                                   .prepare = prepare_hard,
                                                   .bytes = vem_i_divide_bytes,
                                                   .run = run_evidence};
const vem_i_select_type vem_i_select_type_vb = {.kind = VEM_SELECT_VB,
                                                .criterion = "log evidence",
                                                .by_energy = 1,
                                                .takes_prior = 1,
                                                .takes = takes_shapes,
                                                .families = "full, diag or iso",
                                                .told = DIVIDES,
                                                .prepare = leave_open,
                                                .bytes = vem_i_divide_bytes,
                                                .run = run_evidence};
const vem_i_select_type vem_i_select_type_bic = {.kind = VEM_SELECT_BIC,
                                                 .criterion = "BIC",
                                                 .lower = 1,
                                                 .by_energy = 1,
                                                 .takes = takes_shapes,
                                                 .families = "full, diag or iso",
                                                 .told = DIVIDES,
                                                 .prepare = leave_open,
                                                 .bytes = vem_i_divide_bytes,
                                                 .run = run_criterion};
const vem_i_select_type vem_i_select_type_icl = {.kind = VEM_SELECT_ICL,
                                                 .criterion = "hard ICL",
                                                 .held = 1,
                                                 .softens = 1,
                                                 .lower = 1,
                                                 .by_energy = 1,
                                                 .takes = takes_shapes,
                                                 .families = "full, diag or iso",
                                                 .told = DIVIDES,
                                                 .prepare = prepare_hard,
                                                 .bytes = vem_i_divide_bytes,
                                                 .run = run_criterion};
const vem_i_select_type vem_i_select_type_kmeans_bic = {.kind = VEM_SELECT_KMEANS_BIC,
                                                        .criterion = "hard BIC",
                                                        .by_energy = 1,
                                                        .lower = 1,
                                                        .held = 1,
                                                        .takes = takes_round,
                                                        .families =
                                                            "iso-shared, as k-means has",
                                                        .told = DIVIDES,
                                                        .prepare = prepare_round,
                                                        .bytes = vem_i_divide_bytes,
                                                        .run = run_round};
const vem_i_select_type vem_i_select_type_gmeans = {.kind = VEM_SELECT_GMEANS,
                                                    .criterion = "last",
                                                    .last = 1,
                                                    .by_energy = 1,
                                                    .held = 1,
                                                    .takes = takes_round,
                                                    .families =
                                                        "iso-shared, as k-means has",
                                                    .told = TESTS,
                                                    .prepare = prepare_round,
                                                    .bytes = vem_i_divide_test_bytes,
                                                    .run = run_test};
