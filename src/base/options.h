/* Options inside the library: checks. */
#ifndef VEM_BASE_OPTIONS_H
#define VEM_BASE_OPTIONS_H

#include "base/run.h"

/* Every option lies within its bounds, or is left open where that is allowed. */
vem_status vem_i_options_check(vem_i_run *run, const vem_options *options);

/* Is this the name of an option, as the command writes it, without dashes? */
int vem_i_option_is(const char *name);

/* Does a search try every cluster for every row (VEM_SEARCH_TABLE)? */
int vem_i_search_is_whole(int search);

#endif
