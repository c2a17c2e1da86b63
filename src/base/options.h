/* Options inside the library: checks, and what a preset or the data fill in. */
#ifndef VEM_BASE_OPTIONS_H
#define VEM_BASE_OPTIONS_H

#include "base/ctx.h"

/* Every option lies within its bounds, or is left open where that is allowed. */
vem_status vem_i_options_check(vem_ctx *ctx, const vem_options *options);

/* Up to this many held clusters the closest search keeps lists (src/search/search.h). */
enum { VEM_I_LISTED_MAX = 64 };

/* Are all clusters kept for every row? Then there is no list of what is held. */
int vem_i_holds_all(const vem_options *resolved);

/* Loops of one fit besides the one asked for (src/api/course.h). `ours`: no preset. */
int vem_i_wants_hard_start(const vem_options *resolved, int ours);
vem_options vem_i_hard_start(const vem_options *resolved);
/* Where all clusters are kept for every row and swaps are wanted: after the hard start the
 * same family with few clusters for each row, which can swap. `steps`: made before it. */
int vem_i_wants_listed_start(const vem_options *resolved);
vem_options vem_i_listed_start(const vem_options *resolved, int64_t steps);
/* Few clusters: several starts on a sample come first (src/api/starts.h). */
int vem_i_wants_starts(const vem_options *resolved);
vem_options vem_i_hard_finish(const vem_options *resolved);

#endif
