/* Statistics in parts: each block of items keeps its own, from the last time it was looked at.
 *
 * Incremental EM (Neal and Hinton 1998; Thiesson, Meek and Heckerman 2001) makes an M-step after
 * every block. The posteriors of block b are those of the model that was there when its turn came,
 * and
 *
 *     F(q, theta) = sum_b H_b - V(sum_b T_b, theta) / 2        (model/expected.c)
 *
 * rises when one block gets its best posteriors, and again when theta is made for the sum. T_b are
 * moments about the means of that model; the sum is taken anew each time, about those of now
 * (stats.h: shift), so that nothing drifts. */
#ifndef VEM_EM_BLOCKS_H
#define VEM_EM_BLOCKS_H

#include "base/record.h"
#include "model/family.h"

typedef struct vem_i_blocks {
    vem_i_run *run;
    int64_t count; /* of them, */
    int64_t
        used; /* of which the first have items: the others keep statistics of nothing */
    int32_t capacity;
    vem_i_stats *stats;
    double *about;   /* count x capacity x d: what the moments are about */
    double *entropy; /* H_b, with the mass of the items */
    double *work;    /* d per thread */
    int known;       /* all of them are there, */
    int mixed;       /* but not of one model */
} vem_i_blocks;

/* For the scorer's family, which sees shapes from now on (spread.h). */
vem_status vem_i_blocks_new(vem_i_run *run, const vem_i_scorer *scorer, int64_t count,
                            vem_i_blocks **blocks);
void vem_i_blocks_free(vem_i_blocks *blocks);
/* Block b is the sum of these parts, taken with the scorer as it is; log_sum: as in estep.h. */
void vem_i_blocks_take(vem_i_blocks *blocks, int64_t b, const vem_i_scorer *scorer,
                       const vem_i_stats *parts, int64_t count, double log_sum);
/* All of them, about what the scorer takes moments about. */
void vem_i_blocks_sum(const vem_i_blocks *blocks, const vem_i_scorer *scorer,
                      vem_i_stats *stats);
/* F of all items with the posteriors they have, as the log sum of an E-step; stats: the sum. */
double vem_i_blocks_log_sum(const vem_i_blocks *blocks, const vem_i_scorer *scorer,
                            const vem_i_stats *stats);
void vem_i_blocks_record(vem_i_record *record, vem_i_blocks *blocks, int32_t clusters);

#endif
