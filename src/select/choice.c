/* What the mixtures of a path are compared by, and by how much the chosen one is better
 * than the others.
 *
 *     F          free energy per unit of mass, M the mass of all rows
 *     evidence   M F, where F holds the log evidence of the rows (bayes, vb): more is better
 *     BIC, ICL   -2 M F, where F holds the likelihood and half of log M for each parameter;
 *                or, where the mixtures are not fitted by it (greedy), BIC as it was measured
 *     (gmeans)   M F; a test chooses
 *     margin     the difference to the best other one. Of log evidence it is the log of the
 *                odds of the two numbers of clusters; half of a difference of BIC
 *                approximates that */
#include <math.h>

#include "base/structs.h"
#include "select/select.h"

void vem_i_path_judge(const vem_i_select_type *method, double mass, vem_path *path)
{
    const double factor = method->lower ? -2 * mass : mass;
    path->method = method->kind;
    path->mass = mass;
    for (int32_t i = 0; i < path->count; i++) {
        vem_path_point *p = &path->points[i];
        p->objective = method->by_energy ? factor * p->free_energy : p->bic;
    }
}

vem_status vem_path_describe(vem_ctx *ctx, const vem_path *path,
                             vem_path_summary *summary)
{
    VEM_I_NEED(ctx, ctx, path, summary);
    vem_i_run *run = vem_i_within(ctx, &(vem_i_verb){0});
    vem_status status =
        vem_i_struct_check(run, "vem_path_summary", summary, sizeof *summary);
    if (status != VEM_OK)
        return status;
    const vem_i_select_type *method = vem_i_select_type_of((int)path->method);
    const int32_t at = vem_i_path_find(path, path->chosen);
    vem_path_summary s = {.size = sizeof s,
                          .method = path->method,
                          .criterion = method->last ? "free energy" : method->criterion,
                          .lower = method->lower,
                          .tested = method->last,
                          .count = path->count,
                          .clusters = path->chosen,
                          .objective = at < 0 ? NAN : path->points[at].objective,
                          .margin = NAN,
                          .mass = path->mass,
                          .limit = path->limit,
                          .measured = !method->by_energy,
                          .floored = path->floored};
    const int32_t next = s.tested ? -1 : vem_i_path_next(path, s.lower, &s.margin);
    if (next >= 0)
        s.next = path->points[next].clusters;
    double held_out = -INFINITY;
    for (int32_t i = 0; i < path->count; i++)
        if (path->points[i].held_out > held_out) { /* NAN: none were */
            held_out = path->points[i].held_out;
            s.held_out_clusters = path->points[i].clusters;
        }
    vem_i_struct_out(&s, summary, sizeof s);
    return VEM_OK;
}
