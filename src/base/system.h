/* What the system says when it refuses. */
#ifndef VEM_BASE_SYSTEM_H
#define VEM_BASE_SYSTEM_H

#include "base/ctx.h"

/* "PATH could not be DONE: why." with the system's reason for `error` (an errno). */
vem_status vem_i_fail_system(vem_ctx *ctx, const char *path, const char *done, int error);

#endif
