/* Shared by the files that score lists: tiles (groups_lists.c), and who meets them
 * (groups_stay.c). */
#ifndef VEM_SEARCH_GROUPS_INSIDE_H
#define VEM_SEARCH_GROUPS_INSIDE_H

#include "search/groups.h"

/* The first n chosen items (`far`) against the first `count` clusters of `list`, which is that of
 * the lister or its other order: the two best of each as numbers in it (`best_index`), and what
 * they cost (`best`). Lists that are gathered whole. */
void vem_i_lister_meet(const vem_i_groups *groups, vem_i_lister *lister,
                       vem_i_block *block, const int32_t *list, int32_t count, int32_t n);

/* Of item k of those: no cluster that it met but this one is nearer than so. list: as it met. */
static inline float vem_i_lister_reached(const vem_i_groups *g, const vem_i_lister *l,
                                         int32_t k, const int32_t *list, int32_t cluster)
{
    const vem_i_kernels *kernels = g->hierarchy.kernels;
    const int32_t best = l->best_index[k];
    const int64_t row = best >= 0 && list[best] == cluster ? VEM_I_GROUP_ITEMS : 0;
    return vem_i_bounds_reached(&g->bounds, vem_i_value(kernels, l->best, row + k),
                                vem_i_value(kernels, l->norms, k));
}

/* Chooses the items of the block that may change: the others have new bounds, and stay. fresh: the
 * list was made just now. Returns how many. */
int32_t vem_i_groups_choose_unsure(const vem_i_groups *groups, vem_i_lister *lister,
                                   vem_i_block *block, const int32_t *before, int fresh);

#endif
