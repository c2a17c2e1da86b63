/* Options inside the library: checks. */
#ifndef VEM_BASE_OPTIONS_H
#define VEM_BASE_OPTIONS_H

#include "base/run.h"

/* The options of a program, which may have fewer than we have (those are as by default) or more (which
 * must be 0), as a whole struct of ours. Its size is that of the program's, or of ours where that is
 * less: a copy that goes back has it. */
vem_status vem_i_options_in(vem_i_run *run, const vem_options *given, vem_options *ours);
/* The other way: into a struct of so many bytes. */
void vem_i_options_out(const vem_options *ours, size_t size, vem_options *given);

/* Every option lies within its bounds, or is left open where that is allowed. */
vem_status vem_i_options_check(vem_i_run *run, const vem_options *options);

/* Is this the name of an option, as the command writes it, without dashes? */
int vem_i_option_is(const char *name);

/* Does a search try every cluster for every row (VEM_SEARCH_TABLE)? */
int vem_i_search_is_whole(int search);

#endif
