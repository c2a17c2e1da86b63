/* What is beside the best partition on its path: one cluster more, the best division that
 * there is, and a few fewer, by the best joins, one after the other. They are not swept
 * again, so that they cost a little more than they might; but how much the best is better
 * than others can be told. Where items share clusters the cost of a partition is not that
 * of the mixture, and a loop follows each. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "select/divide_inside.h"

enum { FEWER = 8, FEWER_SOFT = 2 }; /* joins */

void vem_i_divide_offer(vem_i_divider *t, vem_model **model, double worth)
{
    const double least =
        t->better ? t->better_worth
                  : t->free_energy + vem_i_divide_enough(t) / t->objective->total;
    if (!(worth > least)) /* several joins can gain where one does not */
        return;
    vem_model_free(t->better);
    t->better = *model;
    memcpy(t->better_labels, t->first, (size_t)t->view->n * sizeof *t->first);
    t->better_worth = worth;
    *model = NULL;
}

/* t->next, as a mixture of the path. */
static vem_status add(vem_i_divider *t)
{
    vem_i_tally all = {0};
    vem_model *model = NULL;
    for (int32_t c = 0; c < t->next.count; c++)
        all = vem_i_tally_add(all, 1, t->next.tallies[c]);
    t->next.all = all;
    vem_status status =
        vem_i_partition_model(t->run, t->objective, t->view->kernels, &t->next, &model);
    const double worth = vem_i_view_log_shift(t->view) -
                         vem_i_objective_total(t->objective, all) / t->objective->total;
    if (status == VEM_OK && !vem_i_divide_alone(t)) {
        status = vem_i_divide_try(t, model);
        vem_model_free(model);
        return status;
    }
    if (status == VEM_OK && isfinite(worth))
        status = vem_i_path_add(t->run, t->selection->fits->path, model, worth, t->steps);
    if (status == VEM_OK)
        vem_i_divide_offer(t, &model, worth);
    vem_model_free(model);
    return status;
}

int vem_i_divide_best(vem_i_divider *t)
{
    const int32_t least = t->least, most = t->most, clusters = t->groups.count;
    int made = 0;
    if (clusters >= most)
        return 0;
    for (int32_t c = 0; c < clusters; c++)
        t->groups.seen[c] = NAN;
    t->least = t->most = clusters + 1;
    if (vem_i_price_divisions(t) && t->count > 0) {
        int64_t best = 0;
        for (int64_t k = 1; k < t->count; k++)
            if (vem_i_by_gain(&t->moves[k], &t->moves[best]) < 0)
                best = k;
        t->moves[0] = t->moves[best];
        vem_i_make_moves(t, 1);
        vem_i_moved_labels(t, 1, t->labels);
        made = t->next.count == clusters + 1;
    }
    t->least = least;
    t->most = most;
    return made;
}

/* The best join, after which the groups are those. */
static vem_status add_fewer(vem_i_divider *t, double *work, int *done)
{
    vem_i_change *pairs = NULL;
    int64_t count = 0;
    vem_status status = vem_i_price_pairs(t, &pairs, &count);
    *done = count == 0;
    if (status == VEM_OK && count > 0) {
        vem_i_partition *next = &t->next;
        t->moves[0] = pairs[0];
        vem_i_make_moves(t, 1);
        vem_i_moved_labels(t, 1, t->first);
        next->tallies[next->count - 1] =
            vem_i_group_tally(t->objective, vem_i_partition_at(next, next->count - 1),
                              work);
        status = add(t);
        memcpy(t->groups.groups, next->groups,
               (size_t)(next->count * next->stride) * sizeof(double));
        memcpy(t->groups.tallies, next->tallies,
               (size_t)next->count * sizeof *next->tallies);
        t->groups.count = next->count;
        t->groups.all = next->all;
    }
    vem_i_free(pairs);
    return status;
}

vem_status vem_i_divide_beside(vem_i_divider *t)
{
    double *work = NULL;
    int done = 0;
    const int fewer = vem_i_divide_alone(t) ? FEWER : FEWER_SOFT;
    if (t->objective->tests || t->fixed)
        return VEM_OK;
    vem_status status =
        vem_i_take(t->run, &work, 1 + (size_t)vem_i_objective_work(t->objective),
                   sizeof(double));
    if (status == VEM_OK)
        status = vem_i_divide_best(t) ? add(t) : VEM_OK;
    memcpy(t->first, t->labels, (size_t)t->view->n * sizeof *t->first);
    for (int k = 0; status == VEM_OK && k < fewer && !done; k++) {
        if (vem_i_divide_is_over(t) || t->groups.count <= t->least)
            break;
        status = add_fewer(t, work, &done);
    }
    vem_i_free(work);
    return status;
}
