/* What a state says about the fit that wrote it. Records that read refuse what is not of
 * this fit, with a sentence about what differs. */
#ifndef VEM_FIT_CHECKPOINT_INSIDE_H
#define VEM_FIT_CHECKPOINT_INSIDE_H

#include "fit/checkpoint.h"
#include "fit/presets.h"

/* 0 for no model. */
uint64_t vem_i_checkpoint_sum_model(const vem_model *model);
/* Over what depends on all rows, and over some rows. */
uint64_t vem_i_checkpoint_sum_rows(const vem_view *view);
void vem_i_checkpoint_record_owner(vem_i_record *record, vem_i_checkpoint *checkpoint);
void vem_i_checkpoint_record_rows(vem_i_record *record, vem_i_checkpoint *checkpoint);
/* Restarts so far. */
void vem_i_checkpoint_record_fit(vem_i_record *record, vem_i_checkpoint *checkpoint);

#endif
