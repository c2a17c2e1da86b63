/* Candidates for one cluster more. */
#ifndef VEM_MOVES_CANDIDATE_H
#define VEM_MOVES_CANDIDATE_H

#include "em/em.h"
#include "moves/split.h"

typedef struct vem_i_candidates vem_i_candidates;

/* Some items of the cluster that a candidate is looked for in, and what each stands for: its mass,
 * and that of others where they are a sample. */
typedef struct vem_i_share {
    const uint32_t *items;
    const double *weights;
    int64_t n;
    double mass; /* sum of the weights */
    int32_t cluster;
} vem_i_share;

/* After vem_i_em_new; the loop's E-steps tell the log sums of all items from now on. */
vem_status vem_i_candidates_new(vem_i_em *em, vem_i_candidates **candidates);
void vem_i_candidates_free(vem_i_candidates *candidates);
/* The log sums, within a step: its E-step is not made again. On cells refinement keeps them. */
void vem_i_candidates_record(vem_i_record *record, vem_i_candidates *candidates);

/* The better one of a pair, after so many steps: what the bound exceeds F by, in all (-inf: there
 * is none). `found`, good until the thread asks again: its cluster number `which` is the candidate,
 * its weight that in the new mixture. Where clusters share a shape, `found` has both halves of the
 * cluster, which take its place and its weight. The same bits every time it is asked between an E-step and
 * the next change of the model. */
double vem_i_candidates_try(vem_i_candidates *candidates, const vem_i_splittable *cluster,
                            int64_t pair, int steps, int thread, const vem_model **found,
                            int32_t *which);
/* (Row, cluster) scores of that, of each of its steps and in all. */
int64_t vem_i_candidates_pairs(const vem_i_candidates *candidates, int64_t items,
                               int steps);

/* For tests: the pair of a thread, to be set, and one step of partial EM from there. `gain`: by
 * how much the bounds exceed F as the pair was before the step; `items`: how many each has. */
vem_model *vem_i_candidates_pair(vem_i_candidates *candidates, int thread);
void vem_i_candidates_step(vem_i_candidates *candidates, const vem_i_share *share,
                           int thread, double gain[2], double items[2]);

#endif
