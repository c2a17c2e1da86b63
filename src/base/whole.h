/* Work in parts whose progress is told as one: it goes from 0 to all rows once.
 *
 * A verb that takes rows chunk by chunk, and each chunk in several passes, begins a whole; every
 * chunk narrows it to its own share. What the passes then tell of themselves is told as rows of
 * the whole, and never falls. */
#ifndef VEM_BASE_WHOLE_H
#define VEM_BASE_WHOLE_H

#include "base/run.h"

/* The first to begin owns it (returns 1, to be given to the end); inside, it stays as it is. */
int vem_i_whole_begin(vem_i_run *run, const char *phase, int64_t rows);
void vem_i_whole_end(vem_i_run *run, int owner);
/* What comes now is from `from` to `to` of what it was, in so many passes; gives back what it was,
 * for vem_i_whole_widen. */
vem_i_whole vem_i_whole_narrow(vem_i_run *run, double from, double to, int passes);
void vem_i_whole_widen(vem_i_run *run, const vem_i_whole *was);

/* What a pass tells, in terms of the whole, if there is one. */
void vem_i_whole_tell(vem_i_run *run, vem_progress *told);

#endif
