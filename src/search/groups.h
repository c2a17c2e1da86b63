/* Shared candidate lists: the state behind `--search groups`.
 *
 * The items stand in the order of the cluster they hold first (tour.h); the clusters in
 * two levels (hierarchy.h). A step either shares one list among the items of a group of
 * clusters, or probes the buckets nearest to each item. Both score dense tiles. */
#ifndef VEM_SEARCH_GROUPS_H
#define VEM_SEARCH_GROUPS_H

#include "coarse/hierarchy.h"
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
    int32_t place; /* whose list it is; -1: none */
    void *costs;   /* (held + 1) rows of a packed block */
    int32_t *index;
    void *tile;         /* VEM_I_TILE rows */
    void *bucket_costs; /* probe rows of a packed block: buckets nearest to its items */
    int32_t *bucket_index;         /* the same */
    int32_t *buckets;              /* probe rows of VEM_I_GROUP_ITEMS: which buckets */
    void *near_means, *near_norms; /* the buckets near one, together */
    int32_t *starts;               /* buckets + 1 */
    int32_t *chosen;               /* items by bucket: columns of the block */
    uint32_t *items;               /* a packed block: items of the view */
    int32_t *far;                  /* columns that probe, and their items */
    uint32_t *far_items;
} vem_i_lister;

typedef struct vem_i_groups {
    vem_i_search search;
    vem_i_hierarchy hierarchy;
    vem_i_tour tour;
    int probe;   /* buckets an item tries in this step; 0: shared lists */
    double far;  /* only items of at least this cost probe; -inf: all */
    int sorted;  /* the hierarchy is in order: nothing moved inside it */
    int ordered; /* the tour is in the order of the hierarchy and of what is held */
    int listed;  /* the nearest groups are known */
} vem_i_groups;

/* The entries of its type; all but `find` are about the state (groups_state.c). */
void vem_i_groups_find(vem_i_search *search, vem_i_block *block, const int32_t *before);

#endif
