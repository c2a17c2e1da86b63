/* Even clusters: the loop in which prices change, and what --balance does not go with. */
#include "fit/presets.h"

#include "base/names.h"
#include "model/family.h"
#include "search/search.h"

vem_options vem_i_balanced(const vem_options *resolved)
{
    vem_options o = *resolved;
    o.prior = VEM_PRIOR_EVEN;
    o.swaps = 0;
    o.init_steps = 0;
    if (vem_i_search_type_of(o.search)->label) /* which does not tell the next best */
        o.search = vem_i_whole_search(&o);
    return o;
}

static vem_status refuse(vem_i_run *run, const vem_options *o, const char *why)
{
    char value[32];
    vem_options_get(o, "balance", value, sizeof value);
    return vem_i_fail(run, VEM_BAD_OPTION, "--balance is %s, but %s", value, why);
}

vem_status vem_i_check_balance(vem_i_run *run, int64_t n, int reduced,
                               const vem_options *o)
{
    const vem_i_family *family = vem_i_family_of(o->family);
    if (o->balance == VEM_BALANCE_NONE)
        return VEM_OK;
    if (!vem_i_is_round(family))
        return refuse(run, o, "prices of clusters are for --family iso-shared or iso.");
    if (o->held > 1)
        return refuse(run, o,
                      "prices are weighed by rows that have one cluster each: use --held "
                      "1, and another search than all.");
    if (o->prior != VEM_PRIOR_FLAT)
        return refuse(run, o,
                      "it begins with clusters of equal weight, and sets the weights "
                      "itself: use --prior flat.");
    if (o->margin > 0)
        return refuse(run, o,
                      "with a --margin rows do not hold what is nearest to them, and "
                      "prices cannot be weighed.");
    if (o->cells > 0)
        return refuse(run, o,
                      "cells of a tree are too coarse for the borders of clusters: use "
                      "--cells 0.");
    if (vem_i_grows(o))
        return refuse(run, o, "it is for fits, whose number of clusters is known.");
    if (reduced && vem_i_cap_of(o) > 0)
        return refuse(run, o,
                      "a fit on a coreset has no labels of all rows that could keep a "
                      "number: use --balance soft, or all rows.");
    if (n >= UINT32_MAX && vem_i_cap_of(o) > 0) /* which is no row */
        return refuse(run, o,
                      "a number is kept for fewer than 4,294,967,295 rows: use --balance "
                      "soft, or fewer rows.");
    return VEM_OK;
}
