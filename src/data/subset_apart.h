/* Draws that several processes have made, each of its own items, become those of all, or go to where they
 * are wanted. */
#ifndef VEM_DATA_SUBSET_APART_H
#define VEM_DATA_SUBSET_APART_H

#include "base/run.h"

/* Rows of a whole that one of several processes has: `count` from `first` on, the last `halo` of them
 * those of the next one too (data/together.h). */
typedef struct vem_i_span {
    int64_t first, count, halo;
} vem_i_span;

/* Arrays of draws, of which the first is number `first`. */
typedef struct vem_i_drawn {
    int64_t first;
    size_t row; /* bytes of one in x */
    void *x;
    double *mass, *log_base; /* log_base: NULL where there is none */
    int64_t *
        bounds; /* of sparse rows, instead of x: where they begin and end, among what all processes
                        have */
} vem_i_drawn;

/* All of them, of which each process has some, and nothing in the places of others (clear). */
void vem_i_drawn_clear(const vem_i_drawn *all, int64_t size);
vem_status vem_i_drawn_join(vem_i_run *run, const vem_i_drawn *all, int64_t size);
/* From `count` that are here, in the order of the processes, to those that are wanted here (wanted->first
 * is not looked at). */
vem_status vem_i_drawn_move(vem_i_run *run, const vem_i_drawn *here, int64_t count,
                            const vem_i_span *place, const vem_i_drawn *wanted);

#endif
