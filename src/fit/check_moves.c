/* What does not go together: moves, finishes and families that were asked for and would be ignored. */
#include "fit/presets.h"
#include "model/family.h"

/* What families of counts do without. */
static vem_status check_counts(vem_i_run *run, const vem_options *asked,
                               const vem_options *out)
{
    const char *family = vem_choice_name("family", out->family);
    const vem_i_family *contract = vem_i_family_of(out->family);
    if (!contract->may_be_scaled && (out->standardize || out->normalize))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--%s makes other numbers of counts, and family %s takes counts "
            "as they are.",
            out->standardize ? "standardize" : "normalize", family);
    if (!contract->has_places && asked->swaps > 0)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--swaps is %lld, but swaps are weighed by distances, which family "
            "%s has none of; several starts are made without them.",
            (long long)asked->swaps, family);
    return VEM_OK;
}

/* What is proved of means on a sphere, and of nothing else (docs/math/cosine.md). */
static vem_status check_metric(vem_i_run *run, const vem_options *asked,
                               const vem_options *out)
{
    if (out->metric != VEM_METRIC_COSINE)
        return VEM_OK;
    if (!vem_i_is_plain(vem_i_family_of(out->family)))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--metric is cosine, but family %s has shapes that directions do "
            "not have: it is for --family iso-shared, whose clusters are "
            "round and alike; --normalize goes with any family.",
            vem_choice_name("family", out->family));
    if (out->standardize)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--metric is cosine, but --standardize divides columns by their "
            "deviations, and rows have other directions then: standardize "
            "them before, or leave it out.");
    if (!vem_i_is_ours(asked) && (vem_i_grows(out) || vem_i_descends(asked)))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--metric is cosine, but --algorithm %s places clusters by "
                          "distances in space.",
                          vem_choice_name("algorithm", asked->algorithm));
    return VEM_OK;
}

vem_status vem_i_check_moves(vem_i_run *run, const vem_options *asked,
                             const vem_options *out)
{
    const vem_status status = check_metric(run, asked, out);
    if (status != VEM_OK)
        return status;
    if (out->finish == VEM_FINISH_HARD &&
        (!vem_i_is_plain(vem_i_family_of(out->family)) || out->prior != VEM_PRIOR_FLAT))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--finish hard needs --family iso-shared and --prior flat: it "
                          "ends with k-means.");
    if (vem_i_grows(out) && !vem_i_has_shapes(vem_i_family_of(out->family)))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--family is %s, but greedy (the method of vem select) inserts clusters with "
            "variances: one of iso, diag, full and their shared forms.",
            vem_choice_name("family", out->family));
    if (vem_i_grows(out) && vem_i_by_neighbors(out))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--search is %s, but --algorithm greedy begins with one cluster, "
            "which has no neighbors: use all, closest or groups.",
            vem_choice_name("search", out->search));
    if (asked->swaps > 0 && vem_i_grows(out))
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--swaps is %lld, but with --algorithm greedy clusters are "
                          "inserted, not swapped.",
                          (long long)asked->swaps);
    if (vem_i_grows(out) && asked->seeding != VEM_AUTO &&
        asked->seeding != VEM_SEED_RANDOM)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--seeding is %s, but --algorithm greedy begins with one "
                          "cluster, which needs "
                          "no seeds: the others are inserted where F gains most.",
                          vem_choice_name("seeding", asked->seeding));
    if (asked->swaps > 0 && out->margin > 0)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--swaps is %lld, but with a --margin rows do not hold what "
                          "is nearest to them, and a swap cannot be weighed.",
                          (long long)asked->swaps);
    return check_counts(run, asked, out);
}
