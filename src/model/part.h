/* What is known of some rows under one model: the noun vem_stats.
 *
 * The sums (stats.h) are in the units of the data and about `about`, in double, so that they
 * add up whatever view and type the E-step had. That is the mean of `model` as a rule, and
 * near the rows themselves where they lie so far from it that their spread would be lost in
 * the rounding of the squares (em/steady.h). The
 * second moments of shapes without columns are in the units of distances, that is, divided
 * by the squares of the model's scale where it has one; the others never are. */
#ifndef VEM_MODEL_PART_H
#define VEM_MODEL_PART_H

#include "model/marks.h"
#include "model/model.h"
#include "model/stats.h"

struct vem_stats {
    vem_model *model; /* the E-step was made with it; no meta */
    /* How the E-step was made, and how the M-step will be. */
    vem_prior_kind prior;
    vem_search_kind search;
    vem_precision precision;
    int32_t held;
    double floor; /* as a share of the variance of all rows (floor.c) */
    /* What adds up. */
    vem_i_stats sums;
    double *about; /* C x d, in the units of the data */
    double mass;
    double free_energy;   /* the sum, not per unit of mass */
    double squared_error; /* sum_i w_i sum_c q_ic |x_i - mu_c|^2 */
    int64_t rows, rows_used, pairs, parts;
    vem_i_marks marks; /* which parts these are; one where older files do not tell */
};

/* Zeroed sums for a model, which is taken over, also on failure. */
vem_status vem_i_part_new(vem_i_run *run, vem_model *model, vem_stats **part);
/* Why the two cannot be added up, as the end of a sentence; 0: they can. unlike: by how they
 * were made; differ: also by what both hold. */
int vem_i_part_unlike(const vem_stats *a, const vem_stats *b, char *why, size_t size);
int vem_i_part_differ(const vem_stats *a, const vem_stats *b, char *why, size_t size);
/* to += from, or a sentence why that is no sum. */
vem_status vem_i_part_add(vem_i_run *run, vem_stats *to, const vem_stats *from);
/* Adds `from`, a cluster's moments (as in stats.h) about `about` (d values, units of the data)
 * to cluster c. Moments about two places become moments about the mean of all. work:
 * vem_i_part_work doubles. */
void vem_i_part_join(vem_stats *part, int32_t c, const double *from, const double *about,
                     double *work);
int64_t vem_i_part_work(const vem_stats *part);
/* Are some moments about another place than the mean of the model? */
int vem_i_part_moved(const vem_stats *part);
/* A number that all arrays of the model go into, and one of the sums. */
uint64_t vem_i_model_digest(const vem_model *model);
uint64_t vem_i_part_digest(const vem_stats *part);
/* One of the model, of how the step was made, and of the rows. */
uint64_t vem_i_part_fingerprint(const vem_stats *part);
/* The model after the M-step (part_next.c), in the units of the data. There is some mass. */
vem_status vem_i_part_next(vem_i_run *run, const vem_stats *part, vem_model **model);
/* Every sum is finite, no mass or variance is negative, and the masses add up to the whole. */
int vem_i_part_is_sound(const vem_stats *part);

#endif
