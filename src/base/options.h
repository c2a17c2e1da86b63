/* Options inside the library: checks, and what a preset or the data fill in. */
#ifndef VEM_BASE_OPTIONS_H
#define VEM_BASE_OPTIONS_H

#include "base/ctx.h"

/* Every option lies within its bounds, or is left open where that is allowed. */
vem_status vem_i_options_check(vem_ctx *ctx, const vem_options *options);

#endif
