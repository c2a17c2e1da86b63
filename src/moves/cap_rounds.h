/* Labels that keep a number, with a model that follows (docs/math/balance.md). */
#ifndef VEM_MOVES_CAP_ROUNDS_H
#define VEM_MOVES_CAP_ROUNDS_H

#include "data/view.h"
#include "model/contract.h"
#include "model/model.h"

/* In rounds the cap becomes less, means become
 * those of the labels, and prices weights. *moved: how many rows have other labels now;
 * 0: nothing has changed. *free_energy: of what they hold then. */
vem_status vem_i_cap_rounds(vem_i_run *run, const vem_view *view,
                            const vem_i_constraints *constraints, double cap,
                            vem_model *model, int32_t *labels, int64_t *moved, int *kept,
                            double *free_energy);

#endif
