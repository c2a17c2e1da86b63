/* Parts of an attempt. */
#ifndef VEM_FIT_ATTEMPT_INSIDE_H
#define VEM_FIT_ATTEMPT_INSIDE_H

#include "fit/attempt.h"

/* The least variance that all clusters and columns may share in the family of the fit. */
double vem_i_attempt_least_variance(const vem_i_attempt *attempt);
/* Of so many clusters; with room for all that are asked for where they are inserted. */
vem_i_shape vem_i_attempt_shape(const vem_i_attempt *attempt, int family,
                                int32_t clusters);
/* attempt->start (units of the data) becomes attempt->model. */
vem_status vem_i_attempt_convert(vem_i_attempt *attempt);
/* Rows become attempt->model; where the search is served by it they are put in order. */
vem_status vem_i_attempt_seed(vem_i_attempt *attempt, const vem_options *options);
/* From now on the rows are looked at along their leading axes, where the programme has a loop
 * along them and they serve. */
vem_status vem_i_attempt_look_along(vem_i_attempt *attempt);
/* And again in all columns: rows in the order of the clusters, and these from along the axes. */
vem_status vem_i_attempt_lift(vem_i_attempt *attempt);
/* The loop after that begins with the means of what is held: as good as they can be, so that F does not fall. */
void vem_i_attempt_take_held(vem_i_em *em);
/* The starts have found what this stage would; nor have far rows crowded their sample, where it is for that. */
int vem_i_attempt_spares(const vem_i_attempt *attempt, const vem_i_stage *stage);
/* Labels that keep a number, where it is asked for, and in the order of the data. */
vem_status vem_i_attempt_end(vem_i_attempt *attempt);
/* Rows go into random blocks, where it is asked for (blocks.c). */
vem_status vem_i_attempt_shuffle(vem_i_attempt *attempt);
/* Everything but the loop it is in. Read, it leaves the rows in order and a blank model of
 * the loop's family and clusters. */
void vem_i_attempt_record(vem_i_record *record, vem_i_attempt *attempt);

#endif
