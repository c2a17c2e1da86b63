/* What does not go together in a search for the number of clusters, as a sentence that says what does. */
#include "api/select.h"

#include "fit/presets.h"
#include "model/family.h"
#include "select/select.h"

/* What methods are for, of which sentences name those that are. */
static int takes_prior(const vem_i_select_type *type)
{
    return type->takes_prior;
}

static int softens(const vem_i_select_type *type)
{
    return type->softens;
}

static int lists(const vem_i_select_type *type)
{
    return type->listed;
}

static int takes_all(const vem_i_select_type *type)
{
    return !type->takes;
}

/* Any density: clusters that are inserted one by one need no evidence of theirs. */
static int takes_shapes(const vem_i_select_type *type)
{
    return type->inserts;
}

/* The numbers of a sweep. */
static vem_status check_numbers(vem_i_run *run, const vem_data *data,
                                const vem_select_options *s)
{
    char names[VEM_I_METHODS];
    if (!vem_i_select_type_of((int)s->method)->listed)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Several numbers of clusters are for the method %s.",
                          vem_i_select_names(lists, names));
    if (s->number_count < 1)
        return vem_i_fail(run, VEM_BAD_OPTION, "There is no number of clusters to fit.");
    for (int64_t k = 0; k < s->number_count; k++)
        if (s->numbers[k] < 1 || (k > 0 && s->numbers[k] <= s->numbers[k - 1]))
            return vem_i_fail(run, VEM_BAD_OPTION,
                              "Numbers of clusters are at least 1 and ascend, but %d "
                              "comes%s.",
                              s->numbers[k], k > 0 ? " after one that is no less" : "");
    if (s->numbers[s->number_count - 1] > data->n)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "There are fewer rows than clusters: %lld rows, %d clusters.",
                          (long long)data->n, s->numbers[s->number_count - 1]);
    return VEM_OK;
}

vem_status vem_i_select_check(vem_i_run *run, const vem_data *data, const vem_options *o,
                              const vem_select_options *s)
{
    const vem_i_select_type *method = vem_i_select_type_of((int)s->method);
    char names[VEM_I_METHODS], shaped[VEM_I_METHODS];
    if (!method)
        return vem_i_fail(run, VEM_BAD_OPTION, "There is no method number %d.",
                          (int)s->method);
    const int32_t most = s->max_clusters ? s->max_clusters : method->most;
    const vem_i_family *family = vem_i_family_of((int)o->family);
    const int density = family && vem_i_has_shapes(family);
    if (s->min_clusters < 0 || s->max_clusters < 0)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--min-clusters is %d and --max-clusters %d, but neither may be "
            "less than 1.",
            s->min_clusters, s->max_clusters);
    if (most > 0 && s->min_clusters > most)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--min-clusters is %d, but --max-clusters is %d%s.",
                          s->min_clusters, most, s->max_clusters ? "" : " by default");
    if (data->sparse.starts && method->takes)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "The rows are sparse, and --method %s finds clusters of dense "
                          "ones: --method %s --family multinomial (poisson, bernoulli) "
                          "finds how many there are of counts.",
                          vem_i_select_name(s->method),
                          vem_i_select_names(takes_all, names));
    if (family && method->takes && !method->takes(family))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--family is %s, but with --method %s it is %s; --method %s "
                          "takes any family%s%s%s.",
                          vem_choice_name("family", (int)o->family),
                          vem_i_select_name(s->method), method->families,
                          vem_i_select_names(takes_all, names), density ? ", " : "",
                          density ? vem_i_select_names(takes_shapes, shaped) : "",
                          density ? " any of Gaussian clusters" : "");
    if (o->clusters != VEM_AUTO || o->algorithm != VEM_AUTO || o->restarts != 1)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "%s has no part in a search for the number of clusters: leave "
            "it out%s.",
            o->clusters != VEM_AUTO    ? "--clusters"
            : o->algorithm != VEM_AUTO ? "--algorithm"
                                       : "--restarts",
            o->clusters != VEM_AUTO || o->algorithm != VEM_AUTO
                ? ""
                : ", and fit the number that is found with --restarts; another "
                  "--seed is another search");
    if (vem_i_cap_of(o) > 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--balance is %g, but it is the labels of one fit that keep a "
                          "number: use --balance auto here, and the number in the fit of "
                          "as many clusters as are found.",
                          o->balance);
    if (o->metric != VEM_METRIC_L2)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--metric is %s, but numbers of clusters are compared by "
                          "likelihoods of rows in space: use --normalize here, and "
                          "--metric in the fit of the number that is found.",
                          vem_choice_name("metric", o->metric));
    if (method->takes_prior && o->prior == VEM_PRIOR_FLAT)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior is flat, but with this method the weights of clusters "
                          "have a prior of their own, --prior-count.");
    if (o->prior == VEM_PRIOR_EVEN)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--prior is even, which keeps the weights of a model to start "
                          "from, but a search for the number of clusters finds weights "
                          "of its own: leave --prior out.");
    if (s->prior && !method->takes_prior)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "A prior is for methods of the evidence, %s.",
                          vem_i_select_names(takes_prior, names));
    if (method->held && o->held != VEM_AUTO && o->held != method->held)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--held is %lld, but with this method each row is in one "
                          "cluster.",
                          (long long)o->held);
    if (o->finish == VEM_FINISH_SOFT && method->held && !method->softens)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--finish is soft, but with --method %s each row is in one "
                          "cluster; %s let rows share them in the end.",
                          vem_i_select_name(s->method),
                          vem_i_select_names(softens, names));
    if (method->stateless && run->ctx->checkpoint.path)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "A sweep over numbers of clusters keeps no state: "
                          "--checkpoint and --resume do not go with it.");
    if (!(s->holdout >= 0 && s->holdout < 1))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--holdout is %g, but it must lie between 0 and 1.",
                          s->holdout);
    /* On a coreset all processes do the same, whatever the method. */
    if (run->comm && (o->coreset == VEM_AUTO || o->coreset >= data->n))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "Over several processes numbers of clusters are compared on a "
                          "coreset: say --coreset with fewer than the %lld rows.",
                          (long long)data->n);
    return s->numbers ? check_numbers(run, data, s) : VEM_OK;
}
