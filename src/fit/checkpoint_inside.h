/* What a state says about the fit that wrote it. Records that read refuse what is not of
 * this fit, with a sentence about what differs. */
#ifndef VEM_FIT_CHECKPOINT_INSIDE_H
#define VEM_FIT_CHECKPOINT_INSIDE_H

#include "fit/checkpoint.h"
#include "fit/presets.h"

/* 0 for no model. */
uint64_t vem_i_checkpoint_sum_model(const vem_model *model);
/* Over what depends on all rows, and over some rows. */
uint64_t vem_i_checkpoint_sum_rows(const vem_i_run *run, const vem_view *view);
void vem_i_checkpoint_record_owner(vem_i_record *record, vem_i_checkpoint *checkpoint);
void vem_i_checkpoint_record_rows(vem_i_record *record, vem_i_checkpoint *checkpoint);
/* Of several processes the first one has the file (checkpoint_together.c): is this it, and what it says. */
int vem_i_checkpoint_is_first(const vem_i_run *run);
int vem_i_checkpoint_told(const vem_i_run *run, int first);
/* vem_i_state_open and vem_i_state_create, for all of them. */
vem_status vem_i_checkpoint_open_state(vem_i_run *run, const char *path,
                                       vem_i_state_file *from);
vem_status vem_i_checkpoint_create_state(vem_i_run *run, const char *path,
                                         vem_i_state_file *file);
/* Restarts so far. */
void vem_i_checkpoint_record_fit(vem_i_record *record, vem_i_checkpoint *checkpoint);

#endif
