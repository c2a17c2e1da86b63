/* Shared candidate lists: the state behind `--search groups`.
 *
 * The items stand in the order of the cluster they hold first (tour.h); the clusters in
 * two levels (hierarchy.h). A step either shares one list among the items of a group of
 * clusters, or probes the cells nearest to each item. Both score dense tiles. */
#ifndef VEM_SEARCH_GROUPS_H
#define VEM_SEARCH_GROUPS_H

#include "base/record.h"
#include "search/hierarchy.h"
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
/* Most cells an item may probe. */
enum { VEM_I_PROBE_MAX = 64 };

/* What one thread works with: a few clusters together in memory, and lists for items. */
typedef struct vem_i_lister {
    vem_i_scorer some; /* the clusters gathered */
    const void *origin;
    int32_t *list; /* candidates, C at most */
    int32_t count;
    int32_t place; /* whose list it is; -1: none */
    void *costs;   /* (held + 1) rows of a packed block */
    int32_t *index;
    void *tile;          /* VEM_I_TILE rows */
    void *cell_costs;    /* probe rows of a packed block: cells nearest to its items */
    int32_t *cell_index; /* the same */
    int32_t *cells;      /* probe rows of VEM_I_GROUP_ITEMS: which cells */
    void *near_means, *near_norms; /* the cells near one, together */
    int32_t *starts;               /* cells + 1 */
    int32_t *chosen;               /* items by cell: columns of the block */
    uint32_t *items;               /* a packed block: items of the view */
    int32_t *far;                  /* columns that probe, and their items */
    uint32_t *far_items;
} vem_i_lister;

typedef struct vem_i_groups {
    vem_ctx *ctx;
    vem_i_hierarchy hierarchy;
    vem_i_tour tour;
    int32_t reach, most_probe;
    int probe;   /* cells an item tries in this step; 0: shared lists */
    double far;  /* only items of at least this cost probe; -inf: all */
    int sorted;  /* the hierarchy is in order: nothing moved inside it */
    int ordered; /* the tour is in the order of the hierarchy and of what is held */
    int listed;  /* the nearest groups are known */
    vem_i_lister *listers; /* per thread */
} vem_i_groups;

vem_status vem_i_groups_new(vem_ctx *ctx, const vem_i_search *search,
                            const vem_view *view, const vem_i_scorer *scorer,
                            vem_i_groups **groups);
void vem_i_groups_free(vem_i_groups *groups);
uint64_t vem_i_groups_bytes(const vem_ctx *ctx, const vem_i_search *search,
                            vem_family_kind family, int64_t n, int32_t clusters,
                            int32_t d, const vem_i_kernels *kernels);

/* What a step does. */
typedef struct vem_i_groups_plan {
    int probe;  /* cells probed per item; 0: shared lists */
    int fresh;  /* the lists are found anew even if there are some */
    double far; /* only items of at least this cost probe; -INFINITY: all */
} vem_i_groups_plan;

/* Before the items of a step: `held` (n x width) is what they hold, NULL: nothing yet.
 * Returns the distances taken. */
int64_t vem_i_groups_prepare(vem_i_groups *groups, const vem_i_scorer *scorer,
                             const int32_t *held, int32_t width,
                             const vem_i_groups_plan *plan);
/* After a step: the items in the order of what they hold now. */
void vem_i_groups_order(vem_i_groups *groups, const int32_t *held, int32_t width);
/* Items from `position` on, before `end`, that are looked at together. */
int32_t vem_i_groups_stretch(const vem_i_groups *groups, int64_t position, int64_t end,
                             int32_t *place);
/* What the next step needs to know; `held` (n x width, NULL: nothing yet) was recorded
 * before. */
void vem_i_groups_record(vem_i_record *record, vem_i_groups *groups, int32_t clusters,
                         const int32_t *held, int32_t width);

#endif
