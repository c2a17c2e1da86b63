/* The best few clusters for some items: what one cluster, or a few that lie together, are
 * divided into. */
#ifndef VEM_SELECT_PARTS_H
#define VEM_SELECT_PARTS_H

#include "data/view.h"
#include "select/join.h"

typedef struct vem_i_parts vem_i_parts;

/* Scratch for all threads of the run, for stretches of at most `most` items. */
vem_status vem_i_parts_new(vem_i_run *run, const vem_view *view,
                           const vem_i_objective *objective, int64_t most,
                           vem_i_parts **parts);
void vem_i_parts_free(vem_i_parts *parts);

/* What was found for some items. */
typedef struct vem_i_division {
    int32_t count; /* of parts; 1: they are best together */
    double cost;   /* of all clusters then */
    int64_t pairs; /* (row, cluster) scores that it took */
} vem_i_division;

/* What is asked of it. The items are all that some clusters hold. */
typedef struct vem_i_dividing {
    const uint32_t *items; /* n, looked at in this order */
    int64_t n;
    vem_i_tally beside;  /* of all clusters beside these */
    int32_t least, most; /* parts */
    int few;             /* four parts at most are tried */
    uint8_t *part;       /* n, written: of each item */
} vem_i_dividing;

vem_i_division vem_i_parts_find(vem_i_parts *parts, const vem_i_dividing *asked,
                                int thread);
/* In two by 2-means, where the items' places between the two centers are no normal sample
 * (G-means); else the same as they are. The cost is not known. */
vem_i_division vem_i_parts_test(vem_i_parts *parts, const vem_i_dividing *asked,
                                int thread);
/* What columns are multiplied by where distances count (d); NULL: 1. */
const double *vem_i_parts_units(const vem_i_parts *parts);
/* The group of listed items, taken about a mean near them, and its tally. */
vem_i_tally vem_i_parts_gather(vem_i_parts *parts, const uint32_t *items, int64_t n,
                               const double *about, int thread, double *group);

#endif
