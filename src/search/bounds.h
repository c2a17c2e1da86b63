/* What hard items know about the clusters of the list they were scored against: how near the
 * best of the others may be. From that follows, step after step, which of them cannot change
 * (bounds.c). Of clusters that differ in their means alone. */
#ifndef VEM_SEARCH_BOUNDS_H
#define VEM_SEARCH_BOUNDS_H

#include <float.h>
#include <math.h>

#include "coarse/hierarchy.h"
#include "search/search.h"

typedef struct vem_i_bounds {
    /* For all n items, and the clusters they knew; NULL: none are kept. */
    float *lower;    /* no other cluster of the list lay nearer than that */
    int32_t *of;     /* the cluster the item held, whose list that was; -1: not known */
    void *means;     /* C x d of T: means at that time, */
    int32_t *groups; /* C: groups, */
    int32_t *near;   /* and which were near which, as in the hierarchy */
    int32_t group_count, near_count;
    int64_t n;
    int32_t clusters;
    int known; /* these are filled */
    /* The step at hand. */
    int plain;  /* costs are scaled squared distances and no more: bounds can be taken, */
    int usable; /* and those of the step before serve */
    float *moved;                     /* C: how far each mean went since, at most */
    double per_cost;                  /* squared distance for a cost of 1 */
    double needed_slope, needed_more; /* of the square of what is needed */
    double dots;                      /* e, u, and the smallest square */
    double unit, least;
    const vem_i_scorer *scorer;
} vem_i_bounds;

/* Columns from which there are bounds; with fewer a pair costs less than what is known about it.
 * Tests take others: nothing changes but the count of pairs. */
extern int32_t vem_i_bounds_columns;

/* Room, where items hold one cluster and clusters are plain (none is taken otherwise). */
vem_status vem_i_bounds_new(const vem_i_search *search, const vem_i_hierarchy *hierarchy,
                            vem_i_bounds *bounds);
void vem_i_bounds_free(vem_i_bounds *bounds);

/* Before and after a step with lists, in which every item is looked at. */
void vem_i_bounds_begin(vem_i_bounds *bounds, const vem_i_search *search,
                        const vem_i_hierarchy *hierarchy);
void vem_i_bounds_end(vem_i_bounds *bounds, const vem_i_hierarchy *hierarchy);
/* What a step with lists has noted of the items. Returns how many blocks that is. */
int vem_i_bounds_list(const vem_i_bounds *bounds, vem_i_kept list[2]);
/* Clusters have other numbers. */
void vem_i_bounds_forget(vem_i_bounds *bounds);
void vem_i_bounds_record(vem_i_record *record, vem_i_bounds *bounds,
                         const vem_i_hierarchy *hierarchy, const vem_view *view,
                         int32_t clusters);

/* How far the others must be, at least, for an item to stay with the cluster of this cost. */
static inline double vem_i_bounds_needed(const vem_i_bounds *b, double cost)
{
    return sqrt((cost + b->least) * b->needed_slope + b->needed_more) * (1 + 0x1p-50);
}

/* Never more, and a number of 0 or more. */
static inline float vem_i_bounds_down(double bound)
{
    if (!(bound >= (double)FLT_MIN))
        return 0;
    if (bound > (double)FLT_MAX)
        return isinf(bound) ? INFINITY : FLT_MAX;
    return (float)bound * (1 - 0x1p-23F);
}

/* The bound after others have moved so far. */
static inline float vem_i_bounds_after(float lower, double moved)
{
    return vem_i_bounds_down((double)lower - moved);
}

/* How far they may have moved for that to be as far as needed; below 0: it is not in any case. */
static inline double vem_i_bounds_room(float lower, double needed)
{
    return (double)lower * (1 - 0x1p-21) - needed; /* what `after` loses, and more */
}

/* No cluster with at least this cost in a tile is nearer to the item than so. square: |x - o|^2
 * of the item about the origin of the tile. */
static inline float vem_i_bounds_reached(const vem_i_bounds *b, double cost,
                                         double square)
{
    if (!(cost < INFINITY))
        return INFINITY; /* there is no other */
    const double most = (cost > 0 ? cost : 0) * b->per_cost;
    const double own = sqrt(square * (1 + b->dots)), reach = own + sqrt(most);
    const double rest = most - b->dots * (own * own + reach * reach) - b->least;
    return rest > 0 ? vem_i_bounds_down(sqrt(rest) - 4 * b->unit * (own + reach)) : 0;
}

#endif
