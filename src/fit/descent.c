/* --algorithm moore-em: the tree that is walked in every step, and what cannot be asked beside it. */
#include "fit/presets.h"
#include "model/family.h"

/* The tree: so many nodes at the bottom for each cluster, and no fewer than these, as far as each of
 * them has some rows. */
enum { EACH = 256, LEAST = 8192, ROWS_EACH = 2, DEEPEST = 28 };
static const double TAU = 0.5;

int vem_i_descends(const vem_options *o)
{
    return o->algorithm == VEM_ALGORITHM_MOORE_EM;
}

vem_status vem_i_settle_descent(vem_i_run *run, int64_t rows, vem_options *o)
{
    if (!vem_i_descends(o))
        return o->tau == VEM_AUTO
                   ? VEM_OK
                   : vem_i_fail(run, VEM_BAD_OPTION,
                                "--tau needs --algorithm moore-em, whose rule it is.");
    if (o->tau == VEM_AUTO)
        o->tau = TAU;
    if (o->cells == VEM_AUTO && o->depth == VEM_AUTO) {
        const int64_t each = EACH * o->clusters, most = rows / ROWS_EACH;
        o->cells = each > LEAST ? each : LEAST;
        o->cells = o->cells < most ? o->cells : most > 0 ? most : 1;
        if (o->cells < 4 * o->clusters) /* few rows: as many of them as clusters need */
            o->cells = 4 * o->clusters;
    } else if (o->cells == VEM_AUTO) {
        o->cells = INT64_C(1) << o->depth;
    }
    if (o->depth == VEM_AUTO)
        for (o->depth = 0; o->depth < DEEPEST && (INT64_C(2) << o->depth) <= o->cells;)
            o->depth++;
    return VEM_OK;
}

vem_status vem_i_check_descent(vem_i_run *run, const vem_options *o)
{
    if (!vem_i_descends(o))
        return VEM_OK;
    if (!vem_i_has_shapes(vem_i_family_of(o->family)))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "--family is %s, but --algorithm moore-em bounds the densities "
            "of Gaussians in boxes: one of iso, diag, full and their shared "
            "forms.",
            vem_choice_name("family", o->family));
    if (!vem_i_holds_all(o) || o->blocks > 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--algorithm moore-em looks for its cells anew in every step: "
                          "it needs --search all and one block.");
    if (o->expand != VEM_AUTO || o->gap != VEM_AUTO)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "--%s is about cells that are divided where the fit rests, but "
                          "--algorithm moore-em looks for them anew in every step.",
                          o->expand != VEM_AUTO ? "expand" : "gap");
    return VEM_OK;
}
