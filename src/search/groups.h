/* Shared candidate lists: the state behind `--search groups`.
 *
 * The items stand in the order of the cluster they hold first (tour.h); the clusters in
 * two levels (hierarchy.h). A step either shares one list among the items of a group of
 * clusters, or probes the buckets nearest to each item. Both score dense tiles. */
#ifndef VEM_SEARCH_GROUPS_H
#define VEM_SEARCH_GROUPS_H

#include "coarse/hierarchy.h"
#include "search/bounds.h"
#include "search/search.h"
#include "search/tour.h"

/* Items whose candidates are found together, at most. */
enum { VEM_I_GROUP_ITEMS = 4096 };
/* Clusters gathered at a time. */
#ifndef VEM_SMALL_HIERARCHY
enum { VEM_I_SHORTLIST = 512 };
#else
enum { VEM_I_SHORTLIST = 4 };
#endif

/* What one thread works with: a few clusters together in memory, and lists for items. */
typedef struct vem_i_lister {
    vem_i_scorer some; /* the clusters gathered */
    const void *origin;
    int32_t *before; /* what the items of the block held */
    int32_t group;   /* whose list they share */
    int32_t *list;   /* candidates, C at most */
    int32_t count;
    int32_t place;           /* whose list it is; -1: none */
    const int32_t *gathered; /* `list`, or `ranked`; NULL: neither */
    /* The same beside that of the step before: what came, then the others, the one that moved
     * farthest first; how far, with room for the sort. */
    int32_t *ranked, came;
    float *moves;
    int32_t *steps; /* per item: how much of that it must meet to stay, */
    double *needed; /* where the others must lie for that */
    /* Of the items scored last: squared lengths, and the two best. */
    void *norms, *best;
    int32_t *best_index;
    int32_t scored; /* items scored against the whole list */
    void *costs;    /* (held + 1) rows of a packed block */
    int32_t *index;
    void *tile;         /* VEM_I_TILE rows */
    void *bucket_costs; /* probe rows of a packed block: buckets nearest to its items */
    int32_t *bucket_index;         /* the same */
    int32_t *buckets;              /* probe rows of VEM_I_GROUP_ITEMS: which buckets */
    void *near_means, *near_norms; /* the buckets near one, together */
    int32_t *starts;               /* buckets + 1 */
    int32_t *chosen;               /* items by bucket: columns of the block */
    uint32_t *items;               /* a packed block: items of the view */
    int32_t *far;                  /* columns that are scored, and their items */
    uint32_t *far_items;
} vem_i_lister;

typedef struct vem_i_groups {
    vem_i_search search;
    vem_i_hierarchy hierarchy;
    vem_i_tour tour,
        halo; /* of its own items; of those that another process counts, which come after
                              them (data/together.h) */
    vem_i_bounds bounds;
    int probe;    /* buckets an item tries in this step; 0: shared lists */
    double far;   /* only items of at least this cost probe; -inf: all */
    int sorted;   /* the hierarchy is in order: nothing moved inside it */
    int ordered;  /* the tour is in the order of the hierarchy and of what is held */
    int listed;   /* the nearest groups are known */
    int relisted; /* in this step they were found anew */
} vem_i_groups;

/* The entries of its type; all but `find` are about the state (groups_state.c). */
void vem_i_groups_find(vem_i_search *search, vem_i_block *block, const int32_t *before);

/* ---- groups.c, for the lists ---- */

static inline void *vem_i_lister_column(const vem_i_block *block, void *rows, int64_t at)
{
    return (char *)rows + (size_t)at * block->view->kernels->element;
}
/* Make lister->some hold these clusters of the scorer, about `origin` where dots are taken. */
void vem_i_lister_gather(vem_i_lister *lister, const vem_i_scorer *scorer,
                         const int32_t *list, int32_t count, const void *origin);
vem_i_items vem_i_lister_pack(const vem_i_lister *lister, const vem_i_block *block,
                              const uint32_t *list, int32_t n);
/* Packed items against the gathered clusters, numbered from `first`, into the lists of their
 * columns. */
void vem_i_lister_score(const vem_i_lister *lister, const vem_i_block *block,
                        const vem_i_items *items, const int32_t *columns, int32_t first,
                        int32_t top, void *costs, int32_t *index);
/* Of the first n columns: from numbers in a list to clusters. */
void vem_i_lister_name(vem_i_block *block, const int32_t *list, int32_t n, int32_t top);
/* What was found for the `count` chosen items (`far`) goes to their columns; the others have
 * nothing. */
void vem_i_lister_put_back(const vem_i_lister *lister, vem_i_block *block, int32_t count,
                           int32_t top);

/* ---- groups_lists.c ---- */

/* Items of the block, whose first cluster is in lister->group, against the list of that, into
 * their lists of `top`. before: what they hold, scored already; NULL: nothing. */
void vem_i_groups_try_list(const vem_i_groups *groups, vem_i_lister *lister,
                           vem_i_block *block, const int32_t *before, int32_t top);
/* What they hold now is known: what was scored gets its bounds. */
void vem_i_groups_note(const vem_i_groups *groups, const vem_i_lister *lister,
                       const vem_i_block *block);

#endif
