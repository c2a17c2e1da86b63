/* E-steps in which the search labels all items at once (search/boxes.h). With one
 * cluster for each item
 *
 *     F = sum_i w_i (-v(i, label) / 2 - base / 2),
 *
 * and the sum of costs comes with the statistics, which are those of the M-step too.
 * Wherever what is held changes afterwards (search->labelled is 0 then) they are
 * collected from that, as ever. */
#include <string.h>

#include "em/estep_inside.h"

vem_status vem_i_labels_new(vem_i_estep *t)
{
    return t->search->labels
               ? vem_i_stats_new(t->run, vem_i_scorer_shape(t->scorer), &t->labelled)
               : VEM_OK;
}

int vem_i_labels_run(vem_i_estep *t, vem_i_posterior *posterior, const vem_progress *told,
                     int may_skip, vem_i_estep_result *result)
{
    vem_i_labelled done;
    if (!t->labelled.block || t->search->extra || posterior->log_sums)
        return 0;
    if (!t->type->label(t->search, posterior->held, posterior->known, told, may_skip,
                        &t->labelled, &done))
        return 0;
    result->skipped = done.skipped;
    result->pairs += done.bounds + done.scored;
    result->changed = done.changed;
    result->distance = done.cost;
    result->log_sum = -0.5 * done.cost;
    t->search->labelled = !done.skipped;
    return 1;
}

void vem_i_labels_collect(const vem_i_estep *t, vem_i_stats *stats)
{
    memcpy(stats->block, t->labelled.block,
           (size_t)stats->clusters * (size_t)stats->stride * sizeof *stats->block);
}

void vem_i_estep_enter(vem_i_estep *t, vem_i_posterior *posterior)
{
    vem_i_estep_result none = {0};
    const int labelled = t->search->labelled;
    if (t->search->spec.dense && !t->blocks)
        vem_i_estep_again(t, posterior, NULL);
    else if (labelled)
        vem_i_labels_run(t, posterior, NULL, 0, &none);
}
