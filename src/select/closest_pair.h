/* The closest pair of a set that changes, under any symmetric distance.
 *
 * Objects are numbers below a capacity. The distance of two of them never changes
 * while both are in the set, and has the same bits whichever is named first. Three
 * ways to keep the closest pair, all of which hold O(N) numbers:
 *
 *     fastpair  every object knows its nearest of those with larger numbers (fastpair.c)
 *     conga     Eppstein's conga lines (conga.c)
 *     brute     every pair is measured whenever the closest is asked for (closest_pair.c)
 *
 * Of pairs that are equally close fastpair and brute give the one with the least
 * smaller number, then with the least larger one. Conga lines do not hold every such
 * pair: they give the first in that order of those they hold, so that another tree is
 * possible where distances are tied. */
#ifndef VEM_SELECT_CLOSEST_PAIR_H
#define VEM_SELECT_CLOSEST_PAIR_H

#include "base/memory.h"
#include "base/parallel.h"

typedef struct vem_i_distances {
    void *user;
    /* From one object to `count` others. Called from parallel tasks. */
    void (*measure)(const void *user, int32_t from, const int32_t *to, int64_t count,
                    double *out, int thread);
    double operations; /* that one of them takes, about */
} vem_i_distances;

/* a < b, distance; a -1: there is none. */
typedef struct vem_i_pair_found {
    int32_t a, b;
    double distance;
} vem_i_pair_found;

enum { VEM_I_CLOSEST_ROOMS = 3 };

struct vem_i_closest;
typedef struct vem_i_closest_type {
    size_t size; /* of the struct that begins with a vem_i_closest */
    /* The arrays that it keeps beside those of the set, at most VEM_I_CLOSEST_ROOMS: how
     * many. They are taken and given back with the set. NULL: none. */
    size_t (*rooms)(struct vem_i_closest *closest, vem_i_room *list);
    /* They are there: the set is empty. NULL: nothing is to be done. */
    void (*clear)(struct vem_i_closest *closest);
    /* The objects that are in the list of live ones now. */
    vem_status (*begin)(struct vem_i_closest *closest);
    vem_status (*inserted)(struct vem_i_closest *closest, int32_t object);
    vem_status (*removed)(struct vem_i_closest *closest, int32_t object);
    vem_status (*find)(struct vem_i_closest *closest, vem_i_pair_found *pair);
} vem_i_closest_type;

#define VEM_I_CLOSEST_TYPE(NAME, name, what)                                             \
    extern const vem_i_closest_type vem_i_closest_type_##name;
VEM_PAIRS_TABLE(VEM_I_CLOSEST_TYPE)
#undef VEM_I_CLOSEST_TYPE

typedef struct vem_i_closest {
    const vem_i_closest_type *type;
    vem_i_run *run;
    vem_i_distances distances;
    int32_t capacity;
    int32_t *live; /* objects of the set, ascending */
    int32_t count;
    int64_t evaluations; /* distances that were measured */
    vem_progress told;   /* how far its owner is: said again during long searches */
    /* For scans. */
    int32_t *list;
    vem_i_pair_found *best; /* of each piece of a scan */
} vem_i_closest;

/* An empty set of objects below `capacity`. */
vem_status vem_i_closest_new(vem_i_run *run, vem_pairs_method method,
                             const vem_i_distances *distances, int32_t capacity,
                             vem_i_closest **closest);
void vem_i_closest_free(vem_i_closest *closest);
/* Objects 0 .. count-1, at once, into the empty set. VEM_STOPPED, here and below: by
 * the progress function, or the deadline has passed. It is looked at after at most as
 * many distances as there are objects, and the set is of no use any more. */
vem_status vem_i_closest_begin(vem_i_closest *closest, int32_t count);
vem_status vem_i_closest_insert(vem_i_closest *closest, int32_t object);
vem_status vem_i_closest_remove(vem_i_closest *closest, int32_t object);
vem_status vem_i_closest_find(vem_i_closest *closest, vem_i_pair_found *pair);

/* ---- For the types ---- */

/* The nearest to `from` of a list, which does not hold it; of equally near ones the
 * first; a -1: the list is empty. VEM_OK or VEM_STOPPED. */
vem_status vem_i_closest_scan(vem_i_closest *closest, int32_t from, const int32_t *to,
                              int64_t count, vem_i_pair_found *found);
/* Shall the work go on? VEM_OK or VEM_STOPPED. */
vem_status vem_i_closest_look(const vem_i_closest *closest);
/* Is a better than b: nearer, or as near and before it? */
static inline int vem_i_pair_before(vem_i_pair_found a, vem_i_pair_found b)
{
    if (a.a < 0 || b.a < 0)
        return a.a >= 0;
    if (a.distance != b.distance)
        return a.distance < b.distance;
    return a.a != b.a ? a.a < b.a : a.b < b.b;
}
static inline vem_i_pair_found vem_i_pair_of(int32_t x, int32_t y, double distance)
{
    return (vem_i_pair_found){x < y ? x : y, x < y ? y : x, distance};
}
/* Where in the list of live objects the first of at least this number is. */
int32_t vem_i_closest_place(const vem_i_closest *closest, int32_t object);
/* Objects that a task of a parallel scan takes. */
enum { VEM_I_SCAN = 256 };

#endif
