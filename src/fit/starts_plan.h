/* How many starts on a sample of how many rows (docs/math/starts.md). */
#ifndef VEM_FIT_STARTS_PLAN_H
#define VEM_FIT_STARTS_PLAN_H

#include "base/run.h"
#include "model/contract.h"

/* What is tried before the loops over all rows. */
typedef struct vem_i_starts_plan {
    int64_t rows; /* of the sample; as many as there are, or cells: no sample is drawn */
    int64_t larger; /* rows of the sample on which the best goes on; 0: none */
    int64_t runs;   /* fits of the sample, at most */
    int64_t
        fresh; /* the first runs, from a seeding; the others move clusters of the best */
} vem_i_starts_plan;

/* What the sample missed; from PLACES on the starts are given up. */
typedef enum vem_i_missed {
    VEM_I_MISSED_NONE,
    VEM_I_MISSED_SOME,   /* perhaps: far rows took many of its draws. Swaps look again */
    VEM_I_MISSED_PLACES, /* fewer distinct rows than clusters */
    VEM_I_MISSED_CROWD,  /* as SOME, and no loop of the fit can swap */
    VEM_I_MISSED_ROWS    /* rows that count are not like those of the sample */
} vem_i_missed;

/* By the sizes alone. runs = 0: there are no starts. `ours`: no preset, and no model to start
 * from; `reduced`: the items are a coreset; row_values: that a row has, d or of sparse rows fewer. */
vem_i_starts_plan vem_i_starts_of(const vem_options *resolved, int ours, int reduced,
                                  int64_t n, int32_t d, int64_t row_values);
/* The same where the items are cells: on the first of them, which are few already. */
vem_i_starts_plan vem_i_starts_on_cells(const vem_options *resolved, int ours, int32_t d);
/* Products of a step on the sample below which one thread makes it; tests change it. */
extern double vem_i_starts_light;
/* What a move of clusters needs. */
typedef struct vem_i_starts_room {
    double *work; /* one per item */
    double *
        seen; /* of counts: the means of the best, and a row, as distances see them; or NULL */
} vem_i_starts_room;

vem_status vem_i_starts_room_new(vem_i_run *run, vem_i_shape shape, int64_t items,
                                 vem_i_starts_room *room);
void vem_i_starts_room_free(vem_i_starts_room *room);
/* The options of a run. */
vem_options vem_i_starts_options(const vem_options *resolved);
/* Is a step of these runs done by the time other threads are awake? */
int vem_i_starts_are_light(const vem_options *resolved, const vem_i_starts_plan *plan,
                           int32_t d);

#endif
