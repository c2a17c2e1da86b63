/* What a state says about the fit that wrote it. Records that read refuse what is not of
 * this fit, with a sentence about what differs. */
#ifndef VEM_API_KEEPER_INSIDE_H
#define VEM_API_KEEPER_INSIDE_H

#include "api/keeper.h"
#include "base/options.h"

/* 0 for no model. */
uint64_t vem_i_keeper_sum_model(const vem_model *model);
/* Over what depends on all rows, and over some rows. */
uint64_t vem_i_keeper_sum_rows(const vem_view *view);
void vem_i_keeper_record_owner(vem_i_record *record, vem_i_keeper *keeper);
void vem_i_keeper_record_rows(vem_i_record *record, vem_i_keeper *keeper);
/* Restarts so far. */
void vem_i_keeper_record_fit(vem_i_record *record, vem_i_keeper *keeper);

#endif
